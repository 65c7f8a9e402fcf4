/* SPDX-License-Identifier: MIT */
/*
 * The user's browser, which shows the page of the file that is played.
 */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

#include "play/player.h"

/*
 * Have it open `url`: the first that there is of the programs in $BROWSER, which
 * are separated by colons and may have %s where the URL is to stand; else
 * xdg-open.  Returns 0, or a status after the reason was said.
 */
int browser_open(struct player *p, const char *url);

/* Look whether that program has ended, which says nothing of the browser: most
 * pass the URL on to one that runs.  It is not ended with us. */
void browser_look(struct player *p);

#endif

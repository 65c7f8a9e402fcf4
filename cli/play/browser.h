/* SPDX-License-Identifier: MIT */
/*
 * Opens the page of a file in the user's browser.
 */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

#include "play/player.h"

/*
 * Opens `url` with the first available program in $BROWSER, or with xdg-open.
 * $BROWSER is a list of commands separated by colons, in which %s stands for
 * the URL.  Returns 0; after a failure, prints the error and returns the exit
 * status.
 */
int browser_open(struct player *p, const char *url);

/* Checks whether that program has ended.  This does not show whether the
 * browser has ended, because most programs pass the URL to a running browser.
 * The program is not killed when this process ends. */
void browser_look(struct player *p);

#endif

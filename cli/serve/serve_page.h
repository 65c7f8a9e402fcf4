/* SPDX-License-Identifier: MIT */
/*
 * The pages beside the files: a list of them with live figures, and a playlist.
 */
#ifndef CLI_SERVE_PAGE_H
#define CLI_SERVE_PAGE_H

#include <stdio.h>

#include "serve/catalog.h"

void serve_page_put(FILE *to, struct catalog *s);

/* `host` is how the client calls us: "127.0.0.1:8080". */
void serve_playlist_put(FILE *to, const struct catalog *s, const char *host);

#endif

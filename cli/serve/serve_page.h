/* SPDX-License-Identifier: MIT */
/*
 * Writes the pages of xdownload serve: a list of the files with live
 * statistics, and a playlist.
 */
#ifndef CLI_SERVE_PAGE_H
#define CLI_SERVE_PAGE_H

#include <stdio.h>

#include "serve/catalog.h"

void serve_page_put(FILE *to, struct catalog *s);

/* Writes the playlist.  `host` is the address that the client uses for this
 * server: "127.0.0.1:8080". */
void serve_playlist_put(FILE *to, const struct catalog *s, const char *host);

#endif

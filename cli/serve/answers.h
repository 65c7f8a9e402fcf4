/* SPDX-License-Identifier: MIT */
/*
 * What `serve` answers to a request that may be made: pages, and its files.
 *
 * Threads: the connection's.
 */
#ifndef CLI_ANSWERS_H
#define CLI_ANSWERS_H

#include <stdbool.h>

#include <microhttpd.h>

#include "http/answer.h"
#include "serve/board.h"
#include "serve/events.h"
#include "serve/disconnects.h"
#include "serve/catalog.h"

struct answer answer_page(struct catalog *s);

/* What the page loads: one of page_files, or 404. */
struct answer answer_page_file(const char *name);

/* The events of the page, until it is closed; 503 if too many pages are open. */
struct answer answer_events(struct MHD_Connection *c, struct events *e);

/* To what a page says of its player: 204; 400 if it makes no sense, 409 if
 * another page plays the file. */
struct answer answer_player(struct MHD_Connection *c, struct board *b,
                            const struct catalog *s);

struct answer answer_playlist(const struct catalog *s, const char *host);

/*
 * The file, or with `is_get` the range of it that the request asks for; 503 if
 * too many are open.
 * Blocks: until its size is known, or the client has gone.  `catalog` and `l`
 *         live as long as the answer.
 */
struct answer answer_catalog_file(struct MHD_Connection *c,
                                  struct catalog *catalog,
                                  struct catalog_file *f, bool is_get,
                                  struct disconnects *l);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Responses of xdownload serve: its pages and the served files.
 *
 * Threads: call these functions on the thread of the connection.
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

/* Responds with one of page_files, or 404. */
struct answer answer_page_file(const char *name);

/* Sends events until the page is closed.  Responds with 503 if too many pages
 * are open. */
struct answer answer_events(struct MHD_Connection *c, struct events *e);

/* Handles a report of a page about its player.  Responds with 204; with 400 if
 * the report is invalid; or with 409 if another page is playing the file. */
struct answer answer_player(struct MHD_Connection *c, struct board *b,
                            const struct catalog *s);

struct answer answer_playlist(const struct catalog *s, const char *host);

/*
 * Responds with the file, or if `is_get` is true with the requested range.
 * Responds with 503 if too many files are open.
 * Blocks: until the size is known or the client has gone.  `catalog` and `l`
 * must outlive the response.
 */
struct answer answer_catalog_file(struct MHD_Connection *c,
                                  struct catalog *catalog,
                                  struct catalog_file *f, bool is_get,
                                  struct disconnects *l);

#endif

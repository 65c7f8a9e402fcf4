/* SPDX-License-Identifier: MIT */
/*
 * What is answered to a request that may be made.
 *
 * Threads: the connection's.
 */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <stdbool.h>

#include <microhttpd.h>

#include "serve/board.h"
#include "serve/events.h"
#include "serve/disconnects.h"
#include "serve/catalog.h"

struct answer {
    unsigned status;
    struct MHD_Response *response; /* NULL: none; the connection is to be
                                      closed */
};

/* A sentence for that status. */
struct answer answer_status(unsigned status);

/* The same to a client that may not ask; the connection is closed: a page that
 * goes by many names would take all that there are. */
struct answer answer_refusal(unsigned status);

/* To OPTIONS: what pages of other origins ask before they ask for a range. */
struct answer answer_options(void);

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
struct answer answer_file(struct MHD_Connection *c, struct catalog *catalog,
                          struct catalog_file *f, bool is_get,
                          struct disconnects *l);

void answer_header(struct MHD_Response *r, const char *name, const char *value);

#endif

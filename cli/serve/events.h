/* SPDX-License-Identifier: MIT */
/*
 * Server-sent events (WHATWG HTML, 9.2): each event is published once, and sent
 * to all pages that listen, each by the thread of its connection.
 *
 *     publish() --> the latest event --> a copy for each listener --> its socket
 *
 * A listener gets the latest event alone, never a queue of them: one that takes
 * its time misses those between, and one that takes longer than EVENT_S for an
 * event is dropped.  publish() waits for no listener.
 *
 * Threads: any.
 */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <microhttpd.h>

/* So many pages at a time: each has a thread and a copy of an event. */
#define EVENTS_LISTENERS_MAX 16

struct events;

/* NULL without memory. */
struct events *events_new(void);

/* After all responses have been destroyed.  NULL does nothing. */
void events_free(struct events *e);

/* Whether a page listens. */
bool events_are_wanted(struct events *e);

/* The next event, with its "data:" and its empty line.
 * Ownership: `text`, from malloc(), is taken. */
void events_publish(struct events *e, char *text, size_t len);

/* A response that lasts until the client leaves, or events_end(); NULL: too many
 * listen, or there is no memory.  The caller destroys it. */
struct MHD_Response *events_response(struct events *e,
                                     struct MHD_Connection *c);

/* All responses end, those that are yet to be made too. */
void events_end(struct events *e);

#endif

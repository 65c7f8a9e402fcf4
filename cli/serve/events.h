/* SPDX-License-Identifier: MIT */
/*
 * Server-sent events (WHATWG HTML section 9.2).  An event is published once and
 * is sent to all listening pages.  The thread of each connection sends it.
 *
 *     publish() --> latest event --> a copy for each listener --> its socket
 *
 * A listener only gets the latest event; there is no queue.  Slow listeners
 * miss events, and a listener that takes longer than EVENT_S for an event is
 * disconnected. publish() never waits for listeners.
 *
 * Threads: any.
 */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <microhttpd.h>

/* Limit of listening pages.  Each page needs a thread and a copy of an
 * event. */
#define EVENTS_LISTENERS_MAX 16

struct events;

/* Creates the event source.  Returns NULL if memory runs out. */
struct events *events_new(void);

/* Call it after all responses were destroyed.  If `e` is NULL, does nothing. */
void events_free(struct events *e);

/* Returns whether a page is listening. */
bool events_are_wanted(struct events *e);

/* Publishes an event.  The text includes "data:" and the empty line.
 * Ownership: takes `text`, which is from malloc(). */
void events_publish(struct events *e, char *text, size_t len);

/* Returns a response that lasts until the client leaves or events_end() is
 * called.  Returns NULL if too many pages are listening, or memory runs out.
 * The caller destroys the response. */
struct MHD_Response *events_response(struct events *e,
                                     struct MHD_Connection *c);

/* Ends all responses, including responses that are created later. */
void events_end(struct events *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Checks the headers of a response, and decides whether the bytes that follow
 * are wanted.
 */
#ifndef XD_ENGINE_HEAD_H
#define XD_ENGINE_HEAD_H

struct xd_engine;
struct xd_head;
struct xd_lane;
struct xd_worker;

/*
 * Processes the response headers of the request on `lane`.  Returns 0, or an
 * error if the response is refused.
 * Threads: the worker's; takes engine.lock.
 */
int xd_head_learned(struct xd_worker *w, struct xd_lane *lane,
                    const struct xd_head *head);

/* Stores the media type (or NULL) of a response with bytes of the file.  Later
 * responses of another type are treated as error pages.  If memory runs out,
 * later responses may have any type.  Threads: the worker's; takes
 * engine.lock. */
void xd_head_type_learned(struct xd_engine *e, struct xd_lane *lane,
                          const char *media_type);

#endif

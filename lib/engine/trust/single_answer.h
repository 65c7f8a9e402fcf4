/* SPDX-License-Identifier: MIT */
/*
 * The whole file in one answer of one depot.
 *
 * A load balancer over two files has no file to be fetched in parts, and yet it
 * gives one of them to a client that asks for all of it.  When no depot is left,
 * and one was dropped because its file or its size differed between answers,
 * everything is asked for again, by one request without a range to that
 * depot.  If the answer breaks off, another one goes on with it only if it is of
 * the same file; else all begins again, a few times.
 *
 * Only for files that no hash proves: what left through a pipe cannot be taken
 * back.  Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_SINGLE_ANSWER_H
#define XD_ENGINE_SINGLE_ANSWER_H

#include <stdbool.h>

struct xd_engine;

/* The scheduler cannot get some byte.  True: all is to be asked for again, as
 * soon as no request is left. */
bool xd_single_answer_begins_locked(struct xd_engine *e);

/* No request is left: before the next scheduler is made, and after that, which
 * may ask no depot but `only`. */
void xd_single_answer_prepare_locked(struct xd_engine *e, unsigned only);
void xd_single_answer_begin_locked(struct xd_engine *e, unsigned only);

#endif

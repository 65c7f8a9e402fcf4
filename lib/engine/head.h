/* SPDX-License-Identifier: MIT */
/*
 * What the head of an answer says of its source, and of its file: whether the
 * bytes that follow are wanted.
 */
#ifndef XD_ENGINE_HEAD_H
#define XD_ENGINE_HEAD_H

struct xd_head;
struct xd_lane;
struct xd_worker;

/* Of the request that `lane` carries; 0, or why its bytes are refused.
 * Threads: the worker's; takes engine.lock. */
int xd_head_learned(struct xd_worker *w, struct xd_lane *lane,
                    const struct xd_head *head);

#endif

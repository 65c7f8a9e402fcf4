/* SPDX-License-Identifier: MIT */
/*
 * A player without a picture: it begins after --prebuffer, consumes --rate to
 * the end, goes on with the next file at once, and writes nothing.  What is not
 * here when it is due stops it until it is.
 */
#ifndef CLI_PLAY_SIMULATED_H
#define CLI_PLAY_SIMULATED_H

#include "play/playlist.h"

/* Play one file to its end, or until a signal.  Returns a status after a failure
 * was reported.  `trace`, if it is not NULL, records it. */
int play_simulated(const struct args *a, struct xd_reader *r,
                   struct trace_run *trace);

/* Likewise all files, from the one that the list has been turned to on.  One
 * that fails ends no other: the status is that of the first. */
int play_simulated_list(struct playlist *list);

#endif

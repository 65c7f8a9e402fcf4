/* SPDX-License-Identifier: MIT */
/*
 * A simulated player.  It starts after --prebuffer, consumes bytes at --rate
 * until the end, and continues with the next file at once.  It stalls while
 * bytes are missing.  It has no picture and no output.
 */
#ifndef CLI_PLAY_SIMULATED_H
#define CLI_PLAY_SIMULATED_H

#include "play/playlist.h"

/* Plays one file to its end, or until a signal.  Records it in `trace`, unless
 * NULL.  Returns a status; prints failures. */
int play_simulated(const struct args *a, struct xd_reader *r,
                   struct trace_run *trace);

/* Plays all files, starting with the current file of the list.  Continues after
 * a failure.  Returns the status of the first failure. */
int play_simulated_list(struct playlist *list);

#endif

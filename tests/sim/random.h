/* SPDX-License-Identifier: MIT */
/*
 * Scenarios of any kind, as text, so that one that matters can be kept, and be
 * tried over a real network.  The same seed gives the same text.
 */
#ifndef XD_TESTS_SIM_RANDOM_H
#define XD_TESTS_SIM_RANDOM_H

#include <stdint.h>

#include "base/text.h"

/* 1 to 20 depots, rates over three decades, round trips of 1 to 300 ms; loss,
 * jitter, links, changes, silences, deaths; the first depot survives.  Returns
 * the size of a file that takes some seconds. */
uint64_t xd_random_scenario(struct xd_text *out, uint64_t seed);

/* Likewise, with round trips of 300 to 800 ms. */
uint64_t xd_random_far_scenario(struct xd_text *out, uint64_t seed);

/* Likewise, with depots in different tiers, of which some own each object with
 * others. */
uint64_t xd_random_tiered_scenario(struct xd_text *out, uint64_t seed);

enum xd_bad_kind {
    XD_BAD_SLOW,
    XD_BAD_LOSSY,
    XD_BAD_DEAD,    /* never answers */
    XD_BAD_REFUSES, /* connections */
    XD_BAD_SILENT,  /* good, until it says nothing any longer */
    XD_BAD_STUTTERS,
    XD_BAD_LIES,
    XD_N_BAD_KINDS
};

const char *xd_bad_kind_name(enum xd_bad_kind kind);

/* A depot to add before or behind those of a scenario; its name is "bad". */
void xd_random_bad_depot(struct xd_text *out, enum xd_bad_kind kind,
                         uint64_t seed);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Compares the bytes of two requests to one depot at junctions: where the
 * requests meet.
 *
 *     request 1  |---------------->|
 *     request 2               |....|------------>     .... lead
 *
 * A server may state the right range and send other bytes.  If no hash proves
 * the bytes, each request begins XD_LEAD_BYTES before its range.  This lead is
 * compared with the bytes that another request to the same depot delivered
 * there, as soon as these are stored.  If they differ, the whole file is
 * requested from that depot in one request, or the depot is not used again
 * (single_answer.h).  The lead itself is never stored.
 */
#ifndef XD_ENGINE_JUNCTIONS_H
#define XD_ENGINE_JUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

struct xd_depot_source;
struct xd_engine;

/* Length of a lead.  It is unlikely that different data of this length is equal
 * by chance. */
#define XD_LEAD_BYTES 16u

struct xd_junction {
    unsigned depot;
    uint64_t at; /* byte of the file after the lead */
    unsigned char lead[XD_LEAD_BYTES];
};

/* Junctions that were not compared yet.  Guarded by engine.lock. */
struct xd_junctions {
    struct xd_junction *list;
    size_t n, capacity;
    unsigned n_read; /* number of junctions whose stored bytes are being read */
};

void xd_junctions_fini(struct xd_junctions *j);

/* Returns how many bytes before the range a request to `s` should begin:
 * XD_LEAD_BYTES or 0. */
unsigned xd_junctions_lead_locked(const struct xd_engine *e,
                                  const struct xd_depot_source *s,
                                  struct xd_range range);

/* Adds the lead of a request that starts at `at`.  If memory runs out, this
 * lead is not compared. */
void xd_junctions_add_locked(struct xd_engine *e, unsigned depot, uint64_t at,
                             const unsigned char lead[XD_LEAD_BYTES]);

/* Compares all leads for which the other request's bytes are stored, and bans a
 * depot that contradicts itself.  Releases engine.lock while it reads. */
void xd_junctions_check_locked(struct xd_engine *e);

/* Returns true while leads are being compared, because the file is not complete
 * before that. */
bool xd_junctions_hold_locked(const struct xd_engine *e);

/* Drops all leads, because all bytes are fetched again. */
void xd_junctions_forget_locked(struct xd_engine *e);

#endif

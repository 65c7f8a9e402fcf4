/* SPDX-License-Identifier: MIT */
/*
 * Verifies pieces in virtual time.  session/blame.h decides what to do about a
 * wrong piece.
 *
 * A depot that lies has only wrong bytes.  So no actual bytes are simulated;
 * the origin of a byte tells whether it is right.
 */
#ifndef XD_SIM_TRUST_H
#define XD_SIM_TRUST_H

#include "session/blame.h"

struct xd_run;

struct xd_trust {
    struct xd_pieces pieces;
    struct xd_blame blame;
    bool *is_banned; /* one flag for each depot */
};

/* Returns 0 or NOMEM.  Call fini() in any case. */
int xd_trust_start(struct xd_run *r);
void xd_trust_fini(struct xd_trust *t);

/* Returns whether the depot's bytes are wrong. */
bool xd_trust_lies(const struct xd_run *r, unsigned depot);

/* Call when the range is stored.  May end requests. */
void xd_trust_written(struct xd_run *r, struct xd_range range);

/* Discards bytes that just arrived, but keeps bytes of the range that other
 * depots have delivered. */
void xd_trust_reject(struct xd_run *r, struct xd_range range);

/* Marks stored bytes as missing again. */
void xd_trust_discard(struct xd_run *r, struct xd_range range,
                      enum xd_discard_reason why);

/* Bans a depot and discards its unverified bytes. */
void xd_trust_ban(struct xd_run *r, unsigned depot);

/* Call when a depot can be asked for the whole file. */
void xd_trust_joined(struct xd_run *r, unsigned depot);

/* Callback of the driver when no depot can be asked for `byte`.  Returns true
 * if one can be asked for it now. */
bool xd_trust_ask_another(void *run, uint64_t byte);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Pieces and their hashes in virtual time: which bytes are right, and what
 * follows from a wrong piece, as session/blame.h decides.
 *
 * A depot that lies has every byte wrong, so that no byte has to be there: its
 * origin says whether it is right.
 */
#ifndef XD_SIM_TRUST_H
#define XD_SIM_TRUST_H

#include "session/blame.h"

struct xd_run;

struct xd_trust {
    struct xd_pieces pieces;
    struct xd_blame blame;
    bool *is_banned; /* each depot */
};

/* 0 or NOMEM; fini() in any case. */
int xd_trust_start(struct xd_run *r);
void xd_trust_fini(struct xd_trust *t);

/* Whether the depot's bytes are wrong. */
bool xd_trust_lies(const struct xd_run *r, unsigned depot);

/* All of it is stored.  May end fetches. */
void xd_trust_written(struct xd_run *r, struct xd_range range);

/* It does not count; but what others have delivered of it is here. */
void xd_trust_reject(struct xd_run *r, struct xd_range range);

/* Stored bytes are missing again. */
void xd_trust_discard(struct xd_run *r, struct xd_range range,
                      enum xd_discard_reason why);

/* Neither the depot nor what of its bytes nothing proves is used any more. */
void xd_trust_ban(struct xd_run *r, unsigned depot);

/* A depot can be asked for the whole file. */
void xd_trust_joined(struct xd_run *r, unsigned depot);

/* No depot can be asked for `byte`: true: another is now.  Of the driver. */
bool xd_trust_ask_another(void *run, uint64_t byte);

#endif

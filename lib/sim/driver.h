/* SPDX-License-Identifier: MIT */
/*
 * A session at work: events go in, actions come out and are carried out by
 * some world, and every step is checked against the rules.
 */
#ifndef XD_SIM_DRIVER_H
#define XD_SIM_DRIVER_H

#include "ledger/ledger.h"
#include "session/session.h"
#include "sim/rules.h"

struct xd_driver {
    /* Set by its user. */
    void *world;
    void (*carry_out)(void *world, const struct xd_sched_action *a);
    bool (*ask_another)(void *world, uint64_t byte); /* no depot can be asked
                                                        for it: true: another
                                                        is now; or NULL */
    /* No depot can be asked for the range: how much of it, from its beginning, may
     * come in another way; or NULL. */
    struct xd_range (*coming)(void *world, struct xd_range range);
    void (*check)(void *world); /* every byte is here: steps the session; NULL:
                                    nothing is to be proved of the whole */
    void (*begin_round)(void *world); /* no request may be left; likewise */
    void (*spoil)(struct xd_sched_action *a); /* before the rules see it, or
                                                 NULL (tests of the rules) */
    bool is_unchecked; /* there are no rules; not where gaps may be left */
    /* Kept here. */
    struct xd_ledger ledger;
    struct xd_session session; /* its line is its user's to make */
    struct xd_rules *rules;    /* NULL: the run is unchecked */
    xd_usec now;
    bool is_over, is_complete, is_endless, failed;
    enum xd_rule broken;
};

/* Make the first scheduler, or another when no request is left, which knows what
 * the ledger does.  0 or NOMEM; fini() in any case. */
int xd_driver_begin(struct xd_driver *d, const struct xd_layout *layout,
                    const struct xd_sched_options *o, struct xd_range wanted);
void xd_driver_fini(struct xd_driver *d);

/* At d->now, which its user moves. */
void xd_driver_take_event(struct xd_driver *d, struct xd_sched_event ev);

/* What no depot could deliver may have become possible. */
void xd_driver_ask_again(struct xd_driver *d);

/* Decide and carry out until there is nothing more to do; returns until
 * when. */
xd_usec xd_driver_act(struct xd_driver *d);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Runs a session: passes events to it, lets a world carry out its actions, and
 * checks every step against the rules.
 */
#ifndef XD_SIM_DRIVER_H
#define XD_SIM_DRIVER_H

#include "ledger/ledger.h"
#include "session/session.h"
#include "sim/rules.h"

struct xd_driver {
    /* Set by the user. */
    void *world;
    void (*carry_out)(void *world, const struct xd_sched_action *a);
    /* Called when no depot can be asked for a byte.  Returns true if one can be
     * asked for it now.  May be NULL. */
    bool (*ask_another)(void *world, uint64_t byte);
    /* Called when no depot can be asked for the range.  Returns the first
     * part of the range that may still arrive, for example as parity.  May
     * be NULL. */
    struct xd_range (*coming)(void *world, struct xd_range range);
    /* Called when every byte has arrived.  It must step the session.  NULL: the
     * whole file is not checked. */
    void (*check)(void *world);
    void (*begin_round)(void *world); /* called when no request is left */
    /* changes an action before the rules see it, to test the rules; or NULL */
    void (*spoil)(struct xd_sched_action *a);
    /* do not check the rules; cannot be combined with has_gaps of the
     * scheduler's options */
    bool is_unchecked;
    /* Maintained by the driver. */
    struct xd_ledger ledger;
    struct xd_session session; /* the caller creates session.line */
    struct xd_rules *rules; /* checker of the rules; NULL: nothing is checked */
    xd_usec now;
    bool is_over, is_complete, is_endless, failed;
    enum xd_rule broken;
};

/* Creates the first scheduler, or another one when no request is left.  It
 * starts with the state of the ledger.  Returns 0 or NOMEM.  Call fini() in any
 * case. */
int xd_driver_begin(struct xd_driver *d, const struct xd_layout *layout,
                    const struct xd_sched_options *o, struct xd_range wanted);
void xd_driver_fini(struct xd_driver *d);

/* Handles an event at d->now, which the user advances. */
void xd_driver_take_event(struct xd_driver *d, struct xd_sched_event ev);

/* Call when depots may be able to deliver bytes that none could before. */
void xd_driver_ask_again(struct xd_driver *d);

/* Decides and carries out actions until there is nothing to do.  Returns when
 * to call it again. */
xd_usec xd_driver_act(struct xd_driver *d);

#endif

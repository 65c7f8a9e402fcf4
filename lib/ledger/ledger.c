/* SPDX-License-Identifier: MIT */
#include "ledger/ledger.h"

#include <xdownload/error.h>

#include "base/check.h"

/* The states of enum xd_byte_state by the letters of ledger.h.  X marks a
 * transition that must not happen. */
enum { M, A, R, G, W, V, S, L, X };

/* For each transition, the new states of the old states M, A, R, G, W, V, S,
 * L. */
static const struct xd_run_change changes[] = {
    [XD_ASSIGN] = {.to = {A, A, R, G, W, V, S, L}},
    [XD_RELEASE] = {.to = {M, M, R, G, W, V, S, L}},
    [XD_RECEIVE] = {.to = {R, R, R, G, W, V, R, L}},
    [XD_LOSE] = {.to = {M, A, M, G, W, V, S, L}},
    [XD_CLAIM] = {.to = {G, G, G, X, X, X, X, X}},
    [XD_WRITTEN] = {.to = {X, X, X, W, X, V, X, X}}, /* V: the end of a repair
                                                        has restored the byte
                                                        meanwhile */
    [XD_VERIFY] = {.to = {V, V, V, X, V, V, V, L}},
    [XD_DISCARD] = {.to = {M, A, M, G, M, M, M, M}},
    [XD_OUTDATE] = {.to = {M, M, M, G, S, S, S, M}},
    [XD_EVICT] = {.to = {M, A, R, G, W, L, M, L}},
    [XD_SET_ASIDE] = {.to = {X, X, X, X, X, M, X, X}},
    [XD_RESTORE] = {.to = {V, V, V, V, V, V, V, V}}};

/* Gives bytes the state XD_ORIGIN_DEPOT, and those without an origin a
 * depot. */
static const struct xd_run_change give_origin = {.to = {1, 1, 1, 1, 1, 1, 1, 1},
                                                 .sets_depot = true};

void xd_ledger_fini(struct xd_ledger *l)
{
    xd_runs_fini(&l->states);
    xd_runs_fini(&l->origins);
}

int xd_ledger_change(struct xd_ledger *l, enum xd_transition t,
                     struct xd_range r)
{
    unsigned illegal = 0;

    for (unsigned i = 0; i < XD_N_STATES; i++)
        illegal |= (unsigned)(changes[t].to[i] == X) << i;
    XD_ASSERT(!illegal || xd_runs_are(&l->states, ~illegal, r));
    return xd_runs_change(&l->states, r, &changes[t]);
}

int xd_ledger_discard(struct xd_ledger *l, struct xd_range r,
                      enum xd_discard_reason why)
{
    struct xd_run_change take_origin = {
        .to = {0, (uint8_t)(XD_ORIGIN_DISCARDED + why), 2, 3, 4, 5, 6, 7},
        .sets_depot = true,
        .depot = XD_NO_DEPOT};
    const uint64_t before = l->origins.bytes[XD_ORIGIN_DEPOT];
    const uint64_t held = l->held > 0 ? xd_ledger_bytes_of(l, XD_HELD, r) : 0;

    if (xd_runs_reserve(&l->states, 1) < 0 ||
        xd_runs_change(&l->origins, r, &take_origin) < 0)
        return XD_E_NOMEM;
    l->held -= held;
    l->discarded[why] += before - l->origins.bytes[XD_ORIGIN_DEPOT];
    return xd_ledger_change(l, XD_DISCARD, r);
}

const char *xd_discard_reason_text(enum xd_discard_reason why)
{
    static const char *const texts[] = {
        [XD_DISCARD_BAD_PIECE] = "their piece does not match its hash",
        [XD_DISCARD_BAD_FILE] = "the file does not match its hash",
        [XD_DISCARD_BANNED] = "their depot is banned",
        [XD_DISCARD_CHANGED] = "another program has changed them",
        [XD_DISCARD_RESTARTED] = "the file is fetched from its beginning again",
        [XD_DISCARD_DROPPED] = "they have left the memory"};

    return texts[why];
}

bool xd_ledger_was_discarded(const struct xd_ledger *l, uint64_t byte,
                             enum xd_discard_reason *out_why)
{
    struct xd_run_of_bytes run = xd_runs_at(&l->origins, byte);

    if (run.state < XD_ORIGIN_DISCARDED)
        return false;
    *out_why = (enum xd_discard_reason)(run.state - XD_ORIGIN_DISCARDED);
    return true;
}

int xd_ledger_written(struct xd_ledger *l, struct xd_range r, unsigned depot)
{
    struct xd_run_change by = give_origin;
    const uint64_t before = l->origins.bytes[XD_ORIGIN_DEPOT];

    by.depot = depot;
    if (depot != XD_NO_DEPOT && (xd_runs_reserve(&l->states, 1) < 0 ||
                                 xd_runs_change(&l->origins, r, &by) < 0))
        return XD_E_NOMEM;
    if (depot == XD_HELD)
        l->held += l->origins.bytes[XD_ORIGIN_DEPOT] - before;
    return xd_ledger_change(l, XD_WRITTEN, r);
}

int xd_ledger_reserve(struct xd_ledger *l, size_t n)
{
    return xd_runs_reserve(&l->states, n);
}

struct xd_range xd_ledger_next(const struct xd_ledger *l, unsigned states,
                               struct xd_range within)
{
    return xd_runs_next(&l->states, states, within);
}

struct xd_range xd_ledger_next_gap(const struct xd_ledger *l, unsigned states,
                                   struct xd_range within)
{
    return xd_runs_next(&l->states, ~states, within);
}

uint64_t xd_ledger_first_gap(const struct xd_ledger *l, unsigned states,
                             struct xd_range within)
{
    return xd_runs_first_gap(&l->states, states, within);
}

bool xd_ledger_has(const struct xd_ledger *l, unsigned states,
                   struct xd_range r)
{
    return xd_runs_are(&l->states, states, r);
}

uint64_t xd_ledger_count(const struct xd_ledger *l, unsigned states,
                         struct xd_range r)
{
    return xd_runs_count(&l->states, states, r);
}

uint64_t xd_ledger_bytes(const struct xd_ledger *l, unsigned states)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < XD_N_STATES; i++)
        bytes += states >> i & 1 ? l->states.bytes[i] : 0;
    return bytes;
}

uint64_t xd_ledger_bytes_of(const struct xd_ledger *l, unsigned depot,
                            struct xd_range r)
{
    uint64_t bytes = 0;

    while (!xd_range_is_empty(r)) {
        struct xd_range run = xd_runs_next_of(&l->origins, depot, r);

        bytes += xd_range_length(run);
        r.begin = run.end;
    }
    return bytes;
}

/* SPDX-License-Identifier: MIT */
/*
 * The ledger as plainly as can be: an array with one entry for each byte.
 * tests/fuzz/fuzz_ledger.c holds the ledger against it, too.
 */
#ifndef XD_TESTS_LEDGER_MODEL_H
#define XD_TESTS_LEDGER_MODEL_H

#include "ledger/ledger.h"

#define MODEL_BYTES 64
#define MODEL_DEPOTS 3
#define MODEL_TRANSITIONS (XD_RESTORE + 1)

struct model {
    uint64_t base; /* of byte 0; the ledger's others stay missing */
    struct {
        enum xd_byte_state state;
        unsigned depot;
        int why; /* it was discarded, or -1: it was not, or is written again */
    } bytes[MODEL_BYTES];
    uint64_t discarded[XD_N_DISCARD_REASONS];
};

static inline void model_init(struct model *m, uint64_t base)
{
    *m = (struct model){.base = base};
    for (unsigned i = 0; i < MODEL_BYTES; i++) {
        m->bytes[i].state = XD_BYTE_MISSING;
        m->bytes[i].depot = XD_NO_DEPOT;
        m->bytes[i].why = -1;
    }
}

static inline bool model_is(const struct model *m, unsigned i, unsigned states)
{
    return states >> m->bytes[i].state & 1;
}

static inline struct xd_range model_range(const struct model *m, unsigned begin,
                                          unsigned end)
{
    return (struct xd_range){m->base + begin, m->base + end};
}

/* The last of MODEL_DEPOTS is an earlier run. */
static inline unsigned model_origin(unsigned i)
{
    return i == MODEL_DEPOTS - 1 ? XD_HELD : i;
}

/* Whether a byte may meet the transition. */
static inline bool model_is_legal(const struct model *m, unsigned transition,
                                  unsigned i)
{
    enum xd_byte_state s = m->bytes[i].state;

    switch (transition) {
    case XD_CLAIM:
        return s < XD_BYTE_WRITING;
    case XD_WRITTEN:
        return s == XD_BYTE_WRITING || s == XD_BYTE_VERIFIED;
    case XD_VERIFY:
        return s != XD_BYTE_WRITING;
    case XD_SET_ASIDE:
        return s == XD_BYTE_VERIFIED;
    }
    return true;
}

static inline enum xd_byte_state model_next(enum xd_byte_state s,
                                            unsigned transition)
{
    bool is_stored =
        s == XD_BYTE_WRITTEN || s == XD_BYTE_VERIFIED || s == XD_BYTE_STALE;

    if (s == XD_BYTE_WRITING && transition != XD_RESTORE)
        return transition == XD_WRITTEN ? XD_BYTE_WRITTEN : s;
    switch (transition) {
    case XD_ASSIGN:
        return s == XD_BYTE_MISSING ? XD_BYTE_ASSIGNED : s;
    case XD_RELEASE:
        return s == XD_BYTE_ASSIGNED ? XD_BYTE_MISSING : s;
    case XD_RECEIVE:
        return s <= XD_BYTE_ASSIGNED || s == XD_BYTE_STALE ? XD_BYTE_RECEIVED
                                                           : s;
    case XD_LOSE:
        return s == XD_BYTE_RECEIVED ? XD_BYTE_MISSING : s;
    case XD_CLAIM:
        return XD_BYTE_WRITING;
    case XD_VERIFY:
        return s == XD_BYTE_EVICTED ? s : XD_BYTE_VERIFIED;
    case XD_DISCARD:
        return s == XD_BYTE_ASSIGNED ? s : XD_BYTE_MISSING;
    case XD_OUTDATE:
        return is_stored ? XD_BYTE_STALE : XD_BYTE_MISSING;
    case XD_EVICT:
        return s == XD_BYTE_VERIFIED ? XD_BYTE_EVICTED
               : s == XD_BYTE_STALE  ? XD_BYTE_MISSING
                                     : s;
    case XD_SET_ASIDE:
        return XD_BYTE_MISSING;
    case XD_RESTORE:
        return XD_BYTE_VERIFIED;
    }
    return s;
}

static inline void model_discard(struct model *m, unsigned i, int why)
{
    if (m->bytes[i].depot != XD_NO_DEPOT) {
        m->bytes[i].why = why;
        m->discarded[why]++;
    }
    m->bytes[i].depot = XD_NO_DEPOT;
}

static inline void model_write(struct model *m, unsigned i, unsigned depot)
{
    if (m->bytes[i].depot == XD_NO_DEPOT)
        m->bytes[i].depot = depot;
    m->bytes[i].why = -1;
}

/* The same to both, if it is legal; returns what the ledger does. */
static inline int model_change(struct model *m, struct xd_ledger *l,
                               unsigned transition, unsigned begin,
                               unsigned end, unsigned depot,
                               enum xd_discard_reason why)
{
    struct xd_range r = model_range(m, begin, end);

    for (unsigned i = begin; i < end; i++)
        if (!model_is_legal(m, transition, i))
            return 0;
    for (unsigned i = begin; i < end; i++) {
        m->bytes[i].state = model_next(m->bytes[i].state, transition);
        if (transition == XD_DISCARD)
            model_discard(m, i, (int)why);
        else if (transition == XD_WRITTEN)
            model_write(m, i, depot);
    }
    if (transition == XD_DISCARD)
        return xd_ledger_discard(l, r, why);
    if (transition == XD_WRITTEN)
        return xd_ledger_written(l, r, depot);
    return xd_ledger_change(l, (enum xd_transition)transition, r);
}

/* The first run of bytes from `begin` to `end` that are in `states`, or not. */
static inline struct xd_range model_run(const struct model *m, unsigned states,
                                        bool is_in, unsigned begin,
                                        unsigned end)
{
    unsigned last;

    while (begin < end && model_is(m, begin, states) != is_in)
        begin++;
    for (last = begin; last < end && model_is(m, last, states) == is_in;)
        last++;
    return model_range(m, begin, last);
}

/* The first run of one depot, if that is `depot` or that is XD_NO_DEPOT. */
static inline struct xd_range model_depot(const struct model *m, unsigned depot,
                                          unsigned begin, unsigned end)
{
    unsigned last;

    while (begin < end &&
           (m->bytes[begin].depot == XD_NO_DEPOT ||
            (depot != XD_NO_DEPOT && m->bytes[begin].depot != depot)))
        begin++;
    for (last = begin;
         last < end && m->bytes[last].depot == m->bytes[begin].depot;)
        last++;
    return model_range(m, begin, last);
}

static inline bool model_same(struct xd_range a, struct xd_range b)
{
    return a.begin == b.begin && a.end == b.end;
}

/* Whether the ledger says the same of the bytes from `begin` to `end`. */
static inline bool model_agrees(const struct model *m,
                                const struct xd_ledger *l, unsigned states,
                                unsigned depot, unsigned begin, unsigned end)
{
    struct xd_range r = model_range(m, begin, end);
    struct xd_range first = model_depot(m, XD_NO_DEPOT, begin, end);
    uint64_t in_range = 0, of_depot = 0, in_all = 0, held = 0;
    unsigned got = XD_NO_DEPOT;

    states &= ~(1u << XD_BYTE_MISSING);
    for (unsigned i = 0; i < MODEL_BYTES; i++) {
        in_all += model_is(m, i, states);
        in_range += model_is(m, i, states) && i >= begin && i < end;
        of_depot += m->bytes[i].depot == depot && i >= begin && i < end;
        held += m->bytes[i].depot == XD_HELD;
    }
    return xd_ledger_bytes(l, states) == in_all &&
           xd_ledger_count(l, states, r) == in_range &&
           xd_ledger_bytes_of(l, depot, r) == of_depot && l->held == held &&
           xd_ledger_has(l, states, r) == (in_range == end - begin) &&
           model_same(xd_ledger_next(l, states, r),
                      model_run(m, states, true, begin, end)) &&
           model_same(xd_ledger_next_gap(l, states, r),
                      model_run(m, states, false, begin, end)) &&
           model_same(xd_runs_next_depot(&l->origins, r, &got), first) &&
           (first.begin == first.end ||
            got == m->bytes[first.begin - m->base].depot) &&
           model_same(xd_runs_next_of(&l->origins, depot, r),
                      model_depot(m, depot, begin, end));
}

static inline bool model_agrees_on_discards(const struct model *m,
                                            const struct xd_ledger *l)
{
    enum xd_discard_reason why;

    for (unsigned i = 0; i < XD_N_DISCARD_REASONS; i++)
        if (l->discarded[i] != m->discarded[i])
            return false;
    for (unsigned i = 0; i < MODEL_BYTES; i++) {
        bool was = xd_ledger_was_discarded(l, m->base + i, &why);

        if (was != (m->bytes[i].why >= 0) ||
            (was && (int)why != m->bytes[i].why))
            return false;
    }
    return true;
}

/* Whether `run` is that of byte i, which begins there if that differs from the
 * one before. */
static inline bool model_is_run(const struct model *m, struct xd_range run,
                                unsigned i, bool differs)
{
    return run.begin <= m->base + i && m->base + i < run.end &&
           (i == 0 || differs == (run.begin == m->base + i));
}

/* Whether every run of the ledger is as long as it can be. */
static inline bool model_has_whole_runs(const struct model *m,
                                        const struct xd_ledger *l)
{
    for (unsigned i = 0, before = 0; i < MODEL_BYTES; before = i++) {
        struct xd_run_of_bytes state = xd_runs_at(&l->states, m->base + i);
        struct xd_run_of_bytes origin = xd_runs_at(&l->origins, m->base + i);

        if (state.state != m->bytes[i].state ||
            origin.depot != m->bytes[i].depot ||
            !model_is_run(m, state.range, i,
                          m->bytes[i].state != m->bytes[before].state) ||
            !model_is_run(m, origin.range, i,
                          m->bytes[i].depot != m->bytes[before].depot ||
                              m->bytes[i].why != m->bytes[before].why))
            return false;
    }
    return true;
}

#endif

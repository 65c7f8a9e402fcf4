/* SPDX-License-Identifier: MIT */
#include "engine/readers/drop.h"

#include "base/error.h"
#include "engine/engine.h"
#include "engine/trust/discard.h"
#include "engine/readers/window.h"

static int protect(struct xd_rangeset *s, struct xd_range r)
{
    return xd_range_is_empty(r) ? 0 : xd_rangeset_add(s, r);
}

/* Returns the last bytes that were read.  They are kept for comparison in case
 * the file grows (trust/growing.h). */
static struct xd_range last_handed_out(const struct xd_engine *e)
{
    const uint64_t end = e->readers.handed_out;
    struct xd_range last = {end, end};

    if (e->dest.output->is_read_once && end > e->wanted.begin)
        last.begin = end > e->wanted.begin + XD_SAMPLE_BYTES
                         ? end - XD_SAMPLE_BYTES
                         : e->wanted.begin;
    return last;
}

/* Finds all bytes that must be kept: bytes that a reader needs or is copying,
 * and bytes that are being hashed. */
static int find_protected(const struct xd_engine *e, struct xd_rangeset *out)
{
    const struct xd_readers *all = &e->readers;
    const struct xd_pieces *p = &e->verify.pieces;
    int rc = protect(out, all->head.range) | protect(out, all->tail.range) |
             protect(out, e->verify.reading) |
             protect(out, e->sampler.reading) |
             protect(out, last_handed_out(e));

    for (size_t i = 0; i < all->n && rc == 0; i++) {
        const struct xd_reader *r = all->list[i];
        uint64_t at = xd_engine_byte_at(e, r->position);

        rc = protect(out, r->demand.range) | protect(out, r->copied) |
             protect(out, xd_coded_unfinished(e, r->demand.range)) |
             protect(out, (struct xd_range){at, at + XD_PROBE_BYTES});
        if (r->has_former)
            rc |= protect(out, r->former);
    }
    for (size_t i = 0; i < p->n && rc == 0; i++)
        if (p->states[i] == XD_PIECE_QUEUED || p->states[i] == XD_PIECE_HASHED)
            rc = protect(out, xd_pieces_range(p, i));
    return rc;
}

/* Returns the chunks that lie completely in the range. */
static struct xd_range whole_chunks(const struct xd_engine *e,
                                    struct xd_range r)
{
    uint64_t begin = r.begin - e->wanted.begin, end = r.end - e->wanted.begin;

    begin =
        (begin + XD_BOUNDED_CHUNK - 1) / XD_BOUNDED_CHUNK * XD_BOUNDED_CHUNK;
    end = end / XD_BOUNDED_CHUNK * XD_BOUNDED_CHUNK;
    return (struct xd_range){e->wanted.begin + begin, e->wanted.begin + end};
}

static void leave_locked(struct xd_engine *e, struct xd_range r)
{
    if (xd_ledger_change(&e->ledger, XD_EVICT, r) < 0)
        xd_engine_fail_nomem_locked(e);
}

/* Drops bytes.  Bytes of two kinds cannot be fetched again: bytes that a pipe
 * has read, and bytes of a file of unknown size, which is fetched by a single
 * request. */
static void drop_locked(struct xd_engine *e, struct xd_range r)
{
    struct xd_error why = {0};

    xd_bounded_sink_drop(e->readers.store, r.begin - e->wanted.begin,
                         r.end - e->wanted.begin);
    if (e->dest.output->is_read_once && r.end <= e->readers.handed_out) {
        leave_locked(e, r);
        return;
    }
    if (e->depots.size != XD_SIZE_UNKNOWN) {
        xd_discard_locked(e, r, XD_DISCARD_DROPPED);
        return;
    }
    leave_locked(e, r);
    xd_fail(&why, XD_E_NOREPLICA,
            "byte %llu has left the memory, and of a file of unknown size a "
            "part cannot be fetched again",
            (unsigned long long)(r.begin - e->wanted.begin));
    e->readers.gap_error = why;
    if (xd_rangeset_add(&e->readers.gaps, r) < 0)
        xd_engine_fail_nomem_locked(e);
}

void xd_readers_drop_locked(struct xd_engine *e)
{
    struct xd_rangeset safe = {0};
    struct xd_range rest = e->wanted, run, gap;
    const bool is_known = find_protected(e, &safe) == 0;

    if (!is_known)
        rest.end = rest.begin; /* dropped later */
    while (is_known &&
           (run = xd_coded_leave_locked(e, &safe), !xd_range_is_empty(run))) {
        run = whole_chunks(e, run);
        xd_bounded_sink_drop(e->readers.store, run.begin - e->wanted.begin,
                             run.end - e->wanted.begin);
    }
    while (run = xd_ledger_next(&e->ledger, XD_BYTES_STORED, rest),
           !xd_range_is_empty(run)) {
        gap = xd_rangeset_next_gap(&safe, run);
        rest.begin = gap.end;
        gap = whole_chunks(e, gap);
        if (!xd_range_is_empty(gap))
            drop_locked(e, gap);
    }
    xd_rangeset_fini(&safe);
}

/* SPDX-License-Identifier: MIT */
#include "engine/readers/look.h"

#include "base/error.h"
#include "engine/engine.h"
#include "engine/trust/unverified.h"

bool xd_look_has_size_locked(const struct xd_engine *e)
{
    return !e->session.size_probe && e->wanted.end != XD_SIZE_UNKNOWN;
}

static bool has_failed_locked(const struct xd_engine *e)
{
    return xd_engine_is_over_locked(e) && e->error.code != XD_OK;
}

int xd_look_trouble_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;

    if (r->is_interrupted)
        return xd_fail(&r->error, XD_E_CANCELED, "the reader was interrupted");
    if (!has_failed_locked(e))
        return 0;
    r->error = e->error;
    return e->error.code;
}

int xd_look_fail_revoked(struct xd_reader *r)
{
    r->error = r->revoked;
    return r->error.code;
}

/* Returns true if the reader is at the end of the file, and the hash or the
 * samples of the file have been checked. */
static bool is_at_end_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;
    xd_usec now = xd_now();

    if (!xd_look_has_size_locked(e) ||
        r->position != xd_range_length(e->wanted))
        return false;
    if (xd_unverified_is_whole_file(r) && xd_sampler_is_pending_locked(e)) {
        if (r->end_by == 0)
            r->end_by = now + XD_SAMPLER_WAIT;
        if (now < r->end_by)
            return false;
    }
    return !xd_session_is_running(&e->session) || !e->verify.whole ||
           xd_ledger_bytes(&e->ledger, XD_BYTES_READABLE) <
               xd_range_length(e->wanted);
}

/* Returns the end of the bytes that the reader may have at once.  If the next
 * bytes are from a depot that no other depot has confirmed yet, sets r->end_by
 * to the time at which the reader gets them anyway. */
static uint64_t undelayed_to_locked(struct xd_reader *r, struct xd_range range)
{
    struct xd_engine *e = r->engine;

    r->end_by = 0;
    while (!xd_range_is_empty(range)) {
        const struct xd_run_of_bytes run =
            xd_runs_at(&e->ledger.origins, range.begin);

        if (run.depot < e->depots.n &&
            xd_sampler_delays_locked(e, run.depot, &r->end_by))
            break;
        range.begin = run.range.end < range.end ? run.range.end : range.end;
    }
    return range.begin;
}

int xd_look_locked(struct xd_reader *r, size_t len, struct xd_range *out)
{
    struct xd_engine *e = r->engine;
    uint64_t at = xd_engine_byte_at(e, r->position);
    struct xd_range rest = {at, e->wanted.end};

    *out = rest;
    if (r->is_interrupted)
        return xd_look_trouble_locked(r);
    if (r->revoked.code != XD_OK)
        return xd_look_fail_revoked(r);
    if (xd_look_has_size_locked(e) && at > e->wanted.end)
        return xd_fail(&r->error, XD_E_INVAL,
                       "byte %llu lies behind the end, which is at %llu",
                       (unsigned long long)r->position,
                       (unsigned long long)xd_range_length(e->wanted));
    out->end = xd_engine_readable_to_locked(e, at);
    if (e->session.size_probe || xd_range_is_empty(*out)) {
        int rc = xd_look_trouble_locked(r);

        out->end = out->begin;
        /* If the whole file is wrong, the reader must not see its end.  A wrong
         * piece elsewhere in the file does not matter to this reader. */
        if (is_at_end_locked(r) &&
            (rc != XD_E_CORRUPT || e->readers.gaps.n > 0)) {
            r->error = (struct xd_error){0};
            return 0;
        }
        if (rc < 0)
            return rc;
        if (!xd_rangeset_contains(&e->readers.gaps,
                                  (struct xd_range){at, at + 1}))
            return XD_E_AGAIN;
        r->error = e->readers.gap_error;
        return r->error.code;
    }
    if (xd_range_length(*out) > len)
        out->end = out->begin + len;
    out->end = undelayed_to_locked(r, *out);
    return len > 0 && xd_range_is_empty(*out) ? XD_E_AGAIN : 0;
}

bool xd_look_is_ready_locked(struct xd_reader *r)
{
    const struct xd_error error = r->error; /* error of the last call */
    struct xd_range unused;
    bool is_ready = true;

    switch (r->awaits) {
    case READER_AWAITS_NOTHING:
        break;
    case READER_AWAITS_BYTES:
        is_ready = xd_look_locked(r, 1, &unused) != XD_E_AGAIN;
        break;
    case READER_AWAITS_SIZE:
        is_ready =
            xd_look_has_size_locked(r->engine) || xd_look_trouble_locked(r) < 0;
        break;
    }
    r->error = error;
    return is_ready;
}

/* SPDX-License-Identifier: MIT */
#include "engine/trust/unverified.h"

#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"

typedef unsigned long long ull;

int xd_unverified_note_locked(struct xd_reader *r, struct xd_range range)
{
    const struct xd_verify *v = &r->engine->verify;

    if (xd_pieces_cover(&v->pieces, range))
        return 0;
    return xd_runs_copy_depots(&r->unverified, &r->engine->ledger.origins,
                               range);
}

bool xd_unverified_is_whole_file(const struct xd_reader *r)
{
    return r->unverified.bytes[1] == xd_range_length(r->engine->wanted);
}

/* Returns the first byte of `range` that no piece covers; range.end if there is
 * none. */
static uint64_t first_unproved(const struct xd_pieces *p, struct xd_range range)
{
    size_t i = xd_pieces_find(p, range.begin);
    uint64_t at = range.begin;

    while (i < p->n && at < range.end) {
        struct xd_range piece = xd_pieces_range(p, i++);

        if (piece.begin > at)
            break;
        at = piece.end;
    }
    return at < range.end ? at : range.end;
}

/* Returns the first byte of `range` that no piece covers and that the depot
 * delivered; range.end if there is none. */
static uint64_t find(const struct xd_engine *e, const struct xd_runs *o,
                     unsigned depot, struct xd_range range)
{
    struct xd_range run;
    uint64_t at;

    while (run = xd_runs_next_of(o, depot, range),
           at = first_unproved(&e->verify.pieces, run),
           !xd_range_is_empty(run) && at == run.end)
        range.begin = run.end;
    return at;
}

static void fail_reader_locked(struct xd_reader *r, uint64_t byte,
                               const struct xd_error *why)
{
    struct xd_engine *e = r->engine;

    if (r->revoked.code != XD_OK)
        return;
    xd_fail_because(&r->revoked, XD_E_CORRUPT, why,
                    "what was read from byte %llu on is not to be trusted: %s",
                    (ull)(byte - e->wanted.begin), why->msg);
    xd_engine_log_locked(e, XD_LOG_WARN, "%s", r->revoked.msg);
}

static void fail_pipe_locked(struct xd_engine *e, uint64_t byte,
                             const struct xd_error *why)
{
    struct xd_error error = {0};

    xd_fail_because(
        &error, XD_E_CORRUPT, why,
        "what was written out from byte %llu on is not to be trusted: %s",
        (ull)(byte - e->wanted.begin), why->msg);
    xd_engine_fail_locked(e, &error);
}

void xd_unverified_revoke_locked(struct xd_engine *e, unsigned depot,
                                 struct xd_range range,
                                 const struct xd_error *why)
{
    struct xd_error error = *why;
    uint64_t at;

    if (depot < e->depots.n) /* not bytes from an earlier run, whose depots are
                                unknown */
        xd_error_locate(&error, e->depots.list[depot]->host,
                        e->depots.list[depot]->shown_url);

    for (size_t i = 0; i < e->readers.n; i++) {
        struct xd_reader *r = e->readers.list[i];

        at = find(e, &r->unverified, depot, range);
        if (at < range.end && e->dest.output->is_read_once)
            fail_pipe_locked(e, at, &error);
        else if (at < range.end)
            fail_reader_locked(r, at, &error);
    }
    xd_engine_wake_readers_locked(e);
}

/* SPDX-License-Identifier: MIT */
#include "engine/trust/repair.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/trust/discard.h"
#include "engine/sched_events.h"
#include "engine/trust/unverified.h"

#define CHUNK ((size_t)64 * 1024) /* bytes compared at a time */

static struct xd_repair_depot look(const void *engine, unsigned depot)
{
    const struct xd_engine *e = engine;
    const struct xd_depot *d = e->depots.list[depot];

    return (struct xd_repair_depot){d->is_banned,
                                    d->bytes_held >= e->depots.size};
}

void xd_repair_begin(struct xd_engine *e)
{
    e->repair = (struct xd_repair){
        .ledger = &e->ledger, .wanted = &e->wanted, .world = e, .look = look};
}

/* ---- decisions of session/repair.h ---- */

static void fetch_held_locked(struct xd_engine *e)
{
    struct xd_error why = {0};

    xd_fail(&why, XD_E_CORRUPT,
            "the file does not match its %s: the bytes from an earlier run "
            "are fetched again",
            e->verify.whole_algorithm);
    xd_engine_log_locked(e, XD_LOG_WARN, "%s", why.msg);
    xd_unverified_revoke_locked(e, XD_HELD, e->wanted, &why);
    xd_discard_held_locked(e);
    xd_engine_step_locked(
        e, (struct xd_session_event){.kind = XD_SESSION_DISCARDED});
}

static void begin_round_locked(struct xd_engine *e,
                               const struct xd_repair_action *a)
{
    const char *host = e->depots.list[a->depot]->host;

    if (a->kind == XD_REPAIR_SUSPECT)
        xd_engine_log_locked(e, XD_LOG_INFO,
                             "the file does not match its %s: what %s "
                             "delivered is fetched from others",
                             e->verify.whole_algorithm, host);
    else
        xd_engine_log_locked(e, XD_LOG_INFO,
                             "the file does not match its %s: all of it is "
                             "fetched from %s alone",
                             e->verify.whole_algorithm, host);
    e->dest.target = e->dest.sink;
    xd_engine_step_locked(
        e, (struct xd_session_event){.kind = XD_SESSION_RESTART,
                                     .round = {.kind = XD_ROUND_REPAIR}});
}

/* Confirms that the depot sent wrong bytes: the hash of the file matches with
 * the bytes of other depots instead. */
static void confirm_bad_locked(struct xd_engine *e, unsigned depot,
                               struct xd_range where)
{
    const struct xd_rangeset *exchanged = &e->repair.exchanged;
    struct xd_depot *d = e->depots.list[depot];
    struct xd_error why = {0};

    xd_fail(&why, XD_E_CORRUPT,
            "%s: sent wrong bytes within %llu-%llu: without them the %s of the "
            "file matches",
            d->shown_url, (unsigned long long)where.begin,
            (unsigned long long)(where.end - 1), e->verify.whole_algorithm);
    xd_error_locate(&why, d->host, d->shown_url);
    xd_depot_note_failure(d, &why);
    xd_depots_set_state(&e->depots, d, XD_DEPOT_FAILED);
    xd_engine_log_locked(e, XD_LOG_WARN, "%s", why.msg);
    for (size_t i = 0; i < exchanged->n; i++)
        xd_unverified_revoke_locked(e, depot, exchanged->ranges[i], &why);
}

static void give_up_locked(struct xd_engine *e)
{
    struct xd_error error = {0};

    xd_verify_fail_locked(
        e,
        e->dest.scratch && e->depots.n > 1
            ? "; neither leaving out a depot nor taking it from one alone helps"
            : "",
        &error);
    xd_engine_fail_locked(e, &error);
}

static void carry_out_locked(struct xd_engine *e,
                             const struct xd_repair_action *a)
{
    switch (a->kind) {
    case XD_REPAIR_FETCH_HELD:
        fetch_held_locked(e);
        break;
    case XD_REPAIR_SUSPECT:
    case XD_REPAIR_FETCH_ALONE:
        begin_round_locked(e, a);
        break;
    case XD_REPAIR_CHECK:
        xd_engine_step_locked(
            e, (struct xd_session_event){.kind = XD_SESSION_REPLACED});
        break;
    case XD_REPAIR_BLAME:
        confirm_bad_locked(e, a->depot, a->range);
        break;
    case XD_REPAIR_FINISH:
        xd_engine_step_locked(
            e, (struct xd_session_event){.kind = XD_SESSION_MATCHED});
        break;
    case XD_REPAIR_GIVE_UP:
        give_up_locked(e);
        break;
    case XD_REPAIR_NO_MEMORY:
        xd_engine_fail_nomem_locked(e);
        break;
    case XD_REPAIR_PREPARE:
    case XD_REPAIR_EXCHANGE: /* done without the lock */
    case XD_REPAIR_NOTHING:
        break;
    }
}

/* Advances as far as possible under the lock.  Returns true if the keeper must
 * carry out *out. */
static bool advance_locked(struct xd_engine *e, struct xd_repair_action *out)
{
    while (!xd_engine_is_over_locked(e)) {
        *out = xd_repair_next(&e->repair, e->depots.n);
        if (out->kind == XD_REPAIR_PREPARE || out->kind == XD_REPAIR_EXCHANGE)
            return true;
        if (out->kind == XD_REPAIR_NOTHING)
            return false;
        carry_out_locked(e, out);
    }
    return false;
}

/* ---- work of the keeper without the lock ---- */

/* Exchanges a chunk of the two sinks if it differs.  Returns 0 or an error. */
static int exchange_chunk(struct xd_engine *e, struct xd_range at,
                          unsigned char *one, unsigned char *other,
                          struct xd_error *err)
{
    uint64_t offset = at.begin - e->wanted.begin;
    size_t len = (size_t)xd_range_length(at);
    int rc = xd_sink_read(e->dest.sink, offset, one, len, err);

    if (rc == 0)
        rc = xd_sink_read(e->dest.scratch, offset, other, len, err);
    if (rc < 0 || memcmp(one, other, len) == 0)
        return rc;
    if (xd_rangeset_add(&e->repair.exchanged, at) < 0)
        return xd_fail_nomem(err);
    rc = xd_sink_write(e->dest.sink, offset, other, len, err);
    if (rc == 0)
        rc = xd_sink_write(e->dest.scratch, offset, one, len, err);
    return rc;
}

static int exchange(struct xd_engine *e, struct xd_range rest,
                    struct xd_error *err)
{
    unsigned char *copies = xd_alloc(2, CHUNK);
    int rc = copies ? 0 : xd_fail_nomem(err);

    while (rc == 0 && !xd_range_is_empty(rest)) {
        struct xd_range chunk = rest;

        if (xd_range_length(chunk) > CHUNK)
            chunk.end = chunk.begin + CHUNK;
        rc = exchange_chunk(e, chunk, copies, copies + CHUNK, err);
        rest.begin = chunk.end;
    }
    xd_free(copies);
    return rc;
}

static int carry_out(struct xd_engine *e, const struct xd_repair_action *a,
                     struct xd_error *err)
{
    if (a->kind == XD_REPAIR_EXCHANGE)
        return exchange(e, a->range, err);
    if (e->dest.scratch)
        return 0;
    return xd_scratch_sink_new(&e->dest.scratch, e->dest.sink, err);
}

/* ---- events ---- */

void xd_repair_complete_locked(struct xd_engine *e)
{
    e->dest.target = e->dest.sink;
    if (xd_repair_is_fetching(&e->repair))
        xd_repair_fetched(&e->repair);
    else
        e->verify.n_read_back = 0;
    xd_engine_step_locked(
        e, (struct xd_session_event){.kind = XD_SESSION_COMPLETE,
                                     .is_to_be_checked =
                                         xd_verify_has_check_locked(e)});
}

void xd_repair_outvoted_locked(struct xd_engine *e, unsigned depot)
{
    struct xd_repair_action a;

    if (xd_repair_outvoted(&e->repair, depot))
        advance_locked(e, &a);
}

bool xd_repair_gives_up_locked(struct xd_engine *e)
{
    struct xd_repair_action a;

    if (!xd_repair_unavailable(&e->repair))
        return false;
    advance_locked(e, &a);
    return true;
}

void xd_repair_joined_locked(struct xd_engine *e, unsigned depot)
{
    if (xd_repair_avoids(&e->repair, depot))
        xd_report_banned_locked(e, depot);
}

void xd_repair_prepare_locked(struct xd_engine *e)
{
    e->dest.target = e->dest.scratch;
    if (xd_repair_set_aside(&e->repair) < 0)
        xd_engine_fail_nomem_locked(e);
}

void xd_repair_fetch_locked(struct xd_engine *e)
{
    struct xd_range rest = e->wanted;

    for (unsigned i = 0; i < e->depots.n; i++)
        xd_repair_joined_locked(e, i);
    while (!xd_range_is_empty(rest)) {
        struct xd_range run = xd_ledger_next(&e->ledger, XD_BYTES_STORED, rest);

        if (!xd_range_is_empty(run))
            xd_report_verified_locked(e, run);
        rest.begin = run.end;
    }
}

bool xd_repair_can_work_locked(const struct xd_engine *e)
{
    return e->session.phase == XD_PHASE_CHECK ||
           e->session.phase == XD_PHASE_COMPARE;
}

/* Handles the result of the check.  While the signature was checked, bytes may
 * have been discarded, or the download may have been cancelled. */
static void judge_signature_locked(struct xd_engine *e,
                                   const struct xd_signature_check *check)
{
    struct xd_error error = {0};
    int rc = xd_verify_give_signature_locked(e, check, &error);

    if (e->session.phase != XD_PHASE_CHECK)
        return;
    if (rc < 0)
        xd_engine_fail_locked(e, &error);
    else
        xd_repair_right(&e->repair);
}

/* Checks the hashes, and reports a wrong file to the repair. */
static bool judge_hashes_locked(struct xd_engine *e)
{
    if (xd_verify_judge_locked(e, NULL) == 0)
        return true;
    xd_repair_wrong(&e->repair, e->verify.pieces.n == 0 && e->dest.path &&
                                    e->depots.size != XD_SIZE_UNKNOWN);
    return false;
}

void xd_repair_work_locked(struct xd_engine *e)
{
    struct xd_signature_check check;
    struct xd_repair_action a;
    struct xd_error error = {0};
    int rc;

    if (e->session.phase == XD_PHASE_CHECK && judge_hashes_locked(e)) {
        check = xd_verify_take_signature_locked(e);
        xd_engine_unlock(e);
        xd_verify_check_signature(&check);
        xd_engine_lock(e);
        judge_signature_locked(e, &check);
    }
    while (advance_locked(e, &a)) {
        xd_engine_unlock(e);
        rc = carry_out(e, &a, &error);
        xd_engine_lock(e);
        if (rc < 0)
            xd_engine_fail_locked(e, &error);
    }
}

#include "engine/trust/repair.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/trust/discard.h"
#include "engine/sched_events.h"
#include "engine/trust/unverified.h"

#define CHUNK ((size_t)64 * 1024) /* of two copies that are compared */
#define MOST_SOLE 2               /* rounds, of at most one file each */

void xd_repair_fini(struct xd_repair *r)
{
    xd_sink_free(r->scratch);
    xd_rangeset_fini(&r->theirs);
    xd_rangeset_fini(&r->exchanged);
    xd_rangeset_fini(&r->differed);
    *r = (struct xd_repair){0};
}

static bool is_refetching(const struct xd_engine *e)
{
    return e->session.phase == XD_PHASE_REFETCH;
}

void xd_repair_complete_locked(struct xd_engine *e)
{
    if (is_refetching(e))
        e->dest.target = e->dest.sink;
    else
        e->verify.n_read_back = 0;
    xd_engine_step_locked(
        e, (struct xd_session_event){
               .kind = XD_SESSION_COMPLETE,
               .is_to_be_checked =
                   (e->verify.whole || xd_verify_reads_back_locked(e)) &&
                   e->dest.kind != XD_OUTPUT_PIPE});
}

bool xd_repair_can_work_locked(const struct xd_engine *e)
{
    return e->session.phase == XD_PHASE_CHECK ||
           e->session.phase == XD_PHASE_COMPARE;
}

static uint64_t bytes_of(const struct xd_engine *e, unsigned depot)
{
    return xd_ledger_bytes_of(&e->ledger, depot, e->wanted);
}

/* It gave something and was not suspected yet. */
static bool may_be_suspected(const struct xd_engine *e, unsigned depot)
{
    return !e->depots.list[depot]->was_suspected && bytes_of(e, depot) > 0;
}

/* Of those that may be suspected; XD_HELD: there is none. */
static unsigned who_gave_least(const struct xd_engine *e)
{
    unsigned found = XD_HELD;

    for (unsigned i = 0; i < e->depots.n; i++) {
        if (may_be_suspected(e, i) &&
            (found == XD_HELD || bytes_of(e, i) < bytes_of(e, found)))
            found = i;
    }
    return found;
}

/* A depot in the minority comes first. */
static bool choose_suspect(struct xd_engine *e)
{
    struct xd_repair *r = &e->repair;
    unsigned suspect = r->outvoted;

    if (suspect == XD_HELD || !may_be_suspected(e, suspect))
        suspect = who_gave_least(e);
    if (suspect == XD_HELD)
        return false;
    r->suspect = suspect;
    e->depots.list[suspect]->was_suspected = true;
    r->is_disputed = false;
    return true;
}

static void all_is_here_locked(struct xd_engine *e)
{
    if (xd_ledger_change(&e->ledger, XD_RESTORE, e->wanted) < 0)
        xd_engine_fail_nomem_locked(e);
}

/* Whether another's bytes are to be compared with what `depot` delivered. */
static bool is_set_aside(const struct xd_repair *r, unsigned depot)
{
    return r->sole != XD_HELD ? depot != r->sole : depot == r->suspect;
}

/* The suspect's bytes count as missing for the time of a round. */
static int set_aside(struct xd_engine *e)
{
    struct xd_repair *r = &e->repair;
    struct xd_range rest = e->wanted, run;
    unsigned depot;

    xd_rangeset_fini(&r->theirs);
    xd_rangeset_fini(&r->exchanged);
    while (run = xd_runs_next_depot(&e->ledger.origins, rest, &depot),
           !xd_range_is_empty(run)) {
        rest.begin = run.end;
        if (is_set_aside(r, depot) &&
            (xd_rangeset_add(&r->theirs, run) < 0 ||
             xd_ledger_change(&e->ledger, XD_SET_ASIDE, run) < 0))
            return XD_E_NOMEM;
    }
    return 0;
}

/* No depot is bad, or more than one is: the file stays as it came. */
static void end_in_vain_locked(struct xd_engine *e)
{
    struct xd_error error = {0};

    xd_verify_fail_locked(
        e,
        e->depots.n > 1
            ? "; neither leaving out a depot nor taking it from one alone helps"
            : "",
        &error);
    xd_engine_fail_locked(e, &error);
}

static void log_suspect_locked(struct xd_engine *e)
{
    xd_engine_log_locked(e, XD_LOG_INFO,
                         "the file does not match its %s: what %s delivered is "
                         "fetched from others",
                         e->verify.whole_algorithm,
                         e->depots.list[e->repair.suspect]->host);
}

/* Those that agree with the depot whose file was wrong need not be tried. */
static void drop_equals(struct xd_engine *e)
{
    const struct xd_rangeset *differed = &e->repair.differed;

    for (unsigned i = 0; i < e->depots.n; i++) {
        bool differs = bytes_of(e, i) == 0;

        for (size_t j = 0; j < differed->n && !differs; j++)
            differs =
                xd_ledger_bytes_of(&e->ledger, i, differed->ranges[j]) > 0;
        if (!differs)
            e->depots.list[i]->was_sole = true;
    }
}

/* The next depot to take the whole file from; false: there is none. */
static bool choose_sole(struct xd_engine *e)
{
    struct xd_repair *r = &e->repair;
    unsigned found = XD_HELD;

    if (r->sole != XD_HELD && !is_refetching(e))
        drop_equals(e);
    for (unsigned i = 0; i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];

        if (d->was_sole || d->is_banned || d->bytes_held < e->depots.size)
            continue;
        if (found == XD_HELD || (i == r->outvoted && found != r->outvoted))
            found = i;
    }
    r->sole = found;
    if (found == XD_HELD || r->n_sole == MOST_SOLE)
        return false;
    e->depots.list[found]->was_sole = true;
    r->n_sole++;
    r->is_disputed = true; /* no vote counts any more */
    return true;
}

static void suspect_next_locked(struct xd_engine *e)
{
    all_is_here_locked(e);
    if (e->repair.sole == XD_HELD && choose_suspect(e)) {
        log_suspect_locked(e);
    } else if (choose_sole(e)) {
        xd_engine_log_locked(e, XD_LOG_INFO,
                             "the file does not match its %s: all of it is "
                             "fetched from %s alone",
                             e->verify.whole_algorithm,
                             e->depots.list[e->repair.sole]->host);
    } else {
        end_in_vain_locked(e);
        return;
    }
    xd_engine_step_locked(
        e, (struct xd_session_event){.kind = XD_SESSION_RESTART,
                                     .round = {.kind = XD_ROUND_REPAIR}});
}

bool xd_repair_compares_locked(const struct xd_engine *e)
{
    return is_refetching(e) && !e->repair.is_disputed && e->depots.n > 2;
}

void xd_repair_outvoted_locked(struct xd_engine *e, unsigned depot)
{
    struct xd_repair *r = &e->repair;

    if (r->sole != XD_HELD || !may_be_suspected(e, depot))
        return;
    r->outvoted = depot;
    if (!is_refetching(e))
        return;
    e->depots.list[r->suspect]->was_suspected = false;
    e->dest.target = e->dest.sink;
    suspect_next_locked(e);
}

bool xd_repair_gives_up_locked(struct xd_engine *e)
{
    if (!is_refetching(e))
        return false;
    e->dest.target = e->dest.sink;
    suspect_next_locked(e);
    return true;
}

void xd_repair_joined_locked(struct xd_engine *e, unsigned depot)
{
    const struct xd_repair *r = &e->repair;

    if (is_refetching(e) &&
        (r->sole != XD_HELD ? depot != r->sole : depot == r->suspect))
        xd_report_banned_locked(e, depot);
}

void xd_repair_prepare_locked(struct xd_engine *e)
{
    e->dest.target = e->repair.scratch;
    if (set_aside(e) < 0)
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

/* Exchange the bytes of two sinks where they differ.  Returns 0 or an error. */
static int exchange_chunk(struct xd_engine *e, struct xd_range at,
                          unsigned char *one, unsigned char *other,
                          struct xd_error *err)
{
    uint64_t offset = at.begin - e->wanted.begin;
    size_t len = (size_t)xd_range_length(at);
    int rc = xd_sink_read(e->dest.sink, offset, one, len, err);

    if (rc == 0)
        rc = xd_sink_read(e->repair.scratch, offset, other, len, err);
    if (rc < 0 || memcmp(one, other, len) == 0)
        return rc;
    if (xd_rangeset_add(&e->repair.exchanged, at) < 0)
        return xd_fail_nomem(err);
    rc = xd_sink_write(e->dest.sink, offset, other, len, err);
    if (rc == 0)
        rc = xd_sink_write(e->repair.scratch, offset, one, len, err);
    return rc;
}

/* The end of the part of `chunk` that one depot delivered, so that what differs
 * is one's alone. */
static uint64_t end_of_run(struct xd_engine *e, struct xd_range chunk)
{
    struct xd_range run;
    unsigned depot;

    xd_engine_lock(e);
    run = xd_runs_next_depot(&e->ledger.origins, chunk, &depot);
    xd_engine_unlock(e);
    return run.begin == chunk.begin ? run.end : chunk.end;
}

/* Without the lock: only the keeper touches what is here. */
static int exchange(struct xd_engine *e, const struct xd_rangeset *ranges,
                    struct xd_error *err)
{
    unsigned char *copies = xd_alloc(2, CHUNK);
    int rc = copies ? 0 : xd_fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < ranges->n; i++) {
        struct xd_range at = ranges->ranges[i];

        while (rc == 0 && !xd_range_is_empty(at)) {
            struct xd_range chunk = at;

            if (xd_range_length(chunk) > CHUNK)
                chunk.end = chunk.begin + CHUNK;
            chunk.end = end_of_run(e, chunk);
            rc = exchange_chunk(e, chunk, copies, copies + CHUNK, err);
            at.begin = chunk.end;
        }
    }
    xd_free(copies);
    return rc;
}

static void compare_locked(struct xd_engine *e)
{
    struct xd_error error = {0};
    int rc;

    xd_engine_unlock(e);
    rc = exchange(e, &e->repair.theirs, &error);
    xd_engine_lock(e);
    if (rc < 0) {
        xd_engine_fail_locked(e, &error);
    } else if (e->repair.exchanged.n == 0) {
        xd_rangeset_fini(&e->repair.differed);
        suspect_next_locked(e);
    } else {
        all_is_here_locked(e);
        xd_engine_step_locked(
            e, (struct xd_session_event){.kind = XD_SESSION_REPLACED});
    }
}

/* The hash holds, with another's bytes in place of the suspect's. */
static void confirm_bad_locked(struct xd_engine *e)
{
    struct xd_depot *d = e->depots.list[e->repair.suspect];
    struct xd_range where = e->repair.exchanged.ranges[0];
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
    for (size_t i = 0; i < e->repair.exchanged.n; i++)
        xd_unverified_revoke_locked(e, e->repair.suspect,
                                    e->repair.exchanged.ranges[i], &why);
}

/* The hash holds, with the sole depot's bytes in place of all others'. */
static void confirm_others_bad_locked(struct xd_engine *e)
{
    struct xd_repair *r = &e->repair;
    struct xd_range rest = e->wanted, run, wrong;
    unsigned depot;

    for (; run = xd_runs_next_depot(&e->ledger.origins, rest, &depot),
           !xd_range_is_empty(run);
         rest.begin = run.end) {
        wrong = xd_rangeset_next(&r->exchanged, run);
        if (depot == XD_HELD || depot == r->sole || xd_range_is_empty(wrong) ||
            e->depots.list[depot]->state == XD_DEPOT_FAILED)
            continue;
        r->suspect = depot;
        confirm_bad_locked(e);
    }
}

/* Other bytes have taken the place of those that were wrong. */
static void discard_exchanged_locked(struct xd_engine *e)
{
    const struct xd_rangeset *exchanged = &e->repair.exchanged;

    for (size_t i = 0; i < exchanged->n; i++)
        if (xd_ledger_discard(&e->ledger, exchanged->ranges[i],
                              XD_DISCARD_BAD_FILE) < 0)
            xd_engine_fail_nomem_locked(e);
    if (exchanged->n > 0)
        all_is_here_locked(e);
}

/* The first time: what is needed to repair.  Errors: IO, NOMEM. */
static int prepare_locked(struct xd_engine *e, struct xd_error *err)
{
    struct xd_repair *r = &e->repair;
    int rc;

    if (r->scratch)
        return 0;
    r->outvoted = r->sole = XD_HELD;
    xd_engine_unlock(e);
    rc = xd_scratch_sink_new(&r->scratch, e->dest.sink, err);
    xd_engine_lock(e);
    return rc;
}

/* The other's bytes did not help: give the suspect's back. */
static int put_back_locked(struct xd_engine *e, struct xd_error *err)
{
    struct xd_rangeset ranges = e->repair.exchanged;
    int rc;

    e->repair.exchanged = (struct xd_rangeset){0};
    xd_engine_unlock(e);
    rc = exchange(e, &ranges, err);
    xd_engine_lock(e);
    xd_rangeset_fini(&e->repair.exchanged);
    xd_rangeset_fini(&e->repair.differed);
    e->repair.differed = ranges;
    return rc;
}

/* It is not known which depots delivered the bytes of an earlier run: they are
 * fetched again before any depot is suspected.  False: there are none. */
static bool fetch_held_locked(struct xd_engine *e)
{
    struct xd_error why = {0};

    if (xd_verify_held_bytes_locked(e) == 0)
        return false;
    xd_fail(&why, XD_E_CORRUPT,
            "the file does not match its %s: what an earlier run received is "
            "fetched again",
            e->verify.whole_algorithm);
    xd_engine_log_locked(e, XD_LOG_WARN, "%s", why.msg);
    xd_unverified_revoke_locked(e, XD_HELD, e->wanted, &why);
    xd_discard_held_locked(e);
    xd_engine_step_locked(
        e, (struct xd_session_event){.kind = XD_SESSION_DISCARDED});
    return true;
}

static void judge_locked(struct xd_engine *e)
{
    struct xd_error error = {0}, trouble = {0};

    if (xd_verify_judge_locked(e, &error) == 0) {
        if (e->repair.exchanged.n > 0 && e->repair.sole == XD_HELD)
            confirm_bad_locked(e);
        else if (e->repair.exchanged.n > 0)
            confirm_others_bad_locked(e);
        discard_exchanged_locked(e);
        xd_engine_step_locked(
            e, (struct xd_session_event){.kind = XD_SESSION_MATCHED});
        return;
    }
    if (fetch_held_locked(e))
        return;
    if (e->verify.pieces.n > 0 || !e->dest.path ||
        e->depots.size == XD_SIZE_UNKNOWN) {
        xd_engine_fail_locked(e, &error);
    } else if (prepare_locked(e, &trouble) < 0 ||
               put_back_locked(e, &trouble) < 0) {
        xd_engine_fail_locked(e, &trouble);
    } else {
        suspect_next_locked(e);
    }
}

void xd_repair_work_locked(struct xd_engine *e)
{
    if (e->session.phase == XD_PHASE_COMPARE)
        compare_locked(e);
    else
        judge_locked(e);
}

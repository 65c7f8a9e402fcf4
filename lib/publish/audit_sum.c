/* SPDX-License-Identifier: MIT */
/* Computes verdicts, reasons and sums from what was read. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/routes.h"
#include "publish/audit_risk.h"
#include "publish/audit_run.h"

typedef unsigned long long ull;

/* ---- facts ---- */

static int vote(struct xd_audit *a)
{
    struct xd_audit_shown *shown = xd_alloc(a->n + 1, sizeof *shown);
    size_t n = 0;
    int rc;

    if (!shown)
        return XD_E_NOMEM;
    for (size_t i = 0; i < a->n; i++) {
        if (a->replicas[i].shown.states)
            /* the copy shares the cell states with the replica, so the vote
             * changes both */
            shown[n++] = a->replicas[i].shown;
    }
    rc = xd_audit_vote(&a->cells, shown, n);
    xd_free(shown);
    return rc;
}

static uint64_t bytes_in(const struct xd_audit *a,
                         const struct xd_audit_replica *r,
                         enum xd_cell_state state)
{
    const struct xd_audit_extent *e = r->shown.extent;
    uint64_t bytes = 0;

    for (size_t k = 0; r->shown.states && k < e->n; k++) {
        if (r->shown.states[k] == state)
            bytes += xd_range_length(xd_audit_cell_of(&a->cells, e, k)->at);
    }
    return bytes;
}

static int count(const struct xd_audit *a, struct xd_audit_replica *r)
{
    r->facts.bytes_wrong = bytes_in(a, r, XD_CELL_WRONG);
    r->facts.bytes_disputed = bytes_in(a, r, XD_CELL_DISPUTED);
    r->bytes_right = bytes_in(a, r, XD_CELL_RIGHT);
    if (!r->shown.states)
        return 0;
    return xd_audit_bytes_in(&a->cells, &r->shown, XD_CELL_WRONG, &r->wrong);
}

/* Returns the modification time on which all correct replicas of the file
 * agree, or 0. */
static int64_t common_time(const struct xd_audit *a)
{
    int64_t time = 0;

    for (size_t i = 0; i < a->n_of_file; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];

        if (r->modified == 0 || r->facts.bytes_wrong > 0 ||
            r->facts.differs_in_size || r->bytes_right == 0)
            continue;
        if (time != 0 && r->modified != time)
            return 0;
        time = r->modified;
    }
    return time;
}

static double rate_of(const struct xd_audit *a, size_t depot)
{
    const struct xd_audit_line *line = &a->lines[depot];

    return a->options.net.limit_rate == 0
               ? xd_audit_rate(line->bytes, line->received_in)
               : 0;
}

/* Computes the rate of each depot.  Returns the median, or 0. */
static double measure(struct xd_audit *a)
{
    double *list = xd_alloc(a->n_depots + 1, sizeof *list), median;

    if (!list)
        return -1;
    for (size_t i = 0; i < a->n_depots; i++)
        list[i] = a->depots[i].bytes_per_s = rate_of(a, i);
    median = xd_audit_median(list, a->n_depots);
    xd_free(list);
    return median;
}

static void complete_facts(const struct xd_audit *a, struct xd_audit_replica *r,
                           int64_t time, double median)
{
    struct xd_audit_facts *f = &r->facts;
    const struct xd_audit_line *line = &a->lines[r->depot];
    bool was_recorded = r->expires_at != 0 && r->expires_at <= xd_unix_time();

    f->is_older = !xd_audit_is_parity(a, r) && time != 0 && r->modified != 0 &&
                  r->modified < time;
    f->is_line_down = a->is_line_down;
    f->is_expired |= f->has_failed && f->is_refused && was_recorded;
    f->answered_after = line->answered_after;
    f->received_in = line->received_in;
    f->bytes_per_s = a->depots[r->depot].bytes_per_s;
    f->median_bytes_per_s = median;
}

/* Returns whether the connection of this machine is probably down: no depot has
 * answered, although there are several.  With a single depot, the depot itself
 * may be down, so it also checks whether this machine has a route to the
 * Internet. */
static bool line_is_down(const struct xd_audit *a)
{
    const struct xd_audit_replica *first = NULL;
    bool has_others = false;

    for (size_t i = 0; i < a->n; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];

        if (r->is_left_out)
            continue;
        if (r->facts.has_answered || !r->facts.is_unanswered)
            return false;
        has_others |= first && first->depot != r->depot;
        first = first ? first : r;
    }
    return first && (has_others || !xd_routes_lead_out());
}

/* ---- reasons ---- */

static void explain_stale(struct xd_text *t, const struct xd_audit *a,
                          const struct xd_audit_replica *r)
{
    uint64_t expected =
        r->object_size != XD_SIZE_UNKNOWN ? r->object_size : a->size;

    if (r->facts.has_changed)
        xd_text_addf(t, "it has changed while it was read");
    else if (!r->facts.differs_in_size)
        xd_text_addf(t, "its bytes differ, and it is older than the others");
    else if (r->stated_size == XD_SIZE_UNKNOWN || r->stated_size == expected ||
             xd_audit_is_parity(a, r))
        xd_text_addf(t, "it ends before the bytes that it should hold");
    else
        xd_text_addf(t, "it has %llu bytes instead of %llu",
                     (ull)r->stated_size, (ull)expected);
}

static void explain_slow(struct xd_text *t, const struct xd_audit_replica *r)
{
    const struct xd_audit_facts *f = &r->facts;

    if (f->answered_after > XD_AUDIT_ANSWER_MOST)
        xd_text_addf(t, "its depot answers after %.1f s",
                     xd_seconds(f->answered_after));
    else
        xd_text_addf(t,
                     "its depot delivers %.1f KiB/s, and half of the depots "
                     "%.1f KiB/s or more",
                     f->bytes_per_s / 1024, f->median_bytes_per_s / 1024);
}

/* Only a URL that is signed with the owner's keys can read a private copy. */
static void explain_denied(struct xd_text *t, const struct xd_audit_replica *r)
{
    xd_text_addf(t, "%s: access is denied%s", r->error ? r->error : "its depot",
                 xd_url_is_presigned(r->url)
                     ? " to the keys that signed the request: check "
                       "s3-access-key, s3-secret-key and s3-endpoint, and the "
                       "clock of this machine"
                     : ", for the request had neither a signature of S3 nor a "
                       "login that is good there");
}

static void explain(struct xd_text *t, const struct xd_audit *a,
                    const struct xd_audit_replica *r)
{
    switch (r->verdict) {
    case XD_AUDIT_OK:
        break;
    case XD_AUDIT_SKIPPED:
        xd_text_addf(t, "%s", r->error);
        break;
    case XD_AUDIT_SLOW:
        explain_slow(t, r);
        break;
    case XD_AUDIT_UNRANGED:
        xd_text_addf(t, "its depot sends no ranges");
        break;
    case XD_AUDIT_DISPUTED:
        xd_text_addf(t,
                     "its %s from that of another depot, and there is no "
                     "hash and no majority",
                     r->facts.is_disputed ? "size differs" : "content differs");
        break;
    case XD_AUDIT_LYING:
        xd_text_addf(t, "%llu of %llu bytes read are wrong, the first at %llu",
                     (ull)r->facts.bytes_wrong, (ull)r->bytes_read,
                     (ull)(r->wrong.ranges[0].begin - xd_audit_base(a, r)));
        break;
    case XD_AUDIT_STALE:
        explain_stale(t, a, r);
        break;
    case XD_AUDIT_EXPIRED:
        xd_text_addf(t, "its allocation has expired");
        break;
    case XD_AUDIT_DENIED:
        explain_denied(t, r);
        break;
    case XD_AUDIT_DEAD:
    case XD_AUDIT_UNREACHED:
        xd_text_addf(t, "%s",
                     r->error ? r->error : "its depot does not answer");
        break;
    }
}

static int judge(const struct xd_audit *a, struct xd_audit_replica *r)
{
    struct xd_text t = {0};

    r->verdict = xd_audit_judge(&r->facts);
    explain(&t, a, r);
    r->reason = t.s;
    return t.failed ? XD_E_NOMEM : 0;
}

/* ---- bytes at risk ---- */

struct holdings {
    struct xd_audit_holding *list; /* NULL: only count the holdings */
    size_t n;
};

static void add_holding(struct holdings *h, struct xd_range at, size_t depot)
{
    if (h->list)
        h->list[h->n] = (struct xd_audit_holding){at, depot};
    h->n++;
}

/* Adds the right bytes of a replica that was read in full and has some wrong or
 * disputed bytes. */
static void add_right(struct holdings *h, const struct xd_audit *a,
                      const struct xd_audit_replica *r)
{
    const struct xd_audit_extent *e = r->shown.extent;

    for (size_t k = 0; r->shown.states && k < e->n; k++) {
        if (r->shown.states[k] == XD_CELL_RIGHT)
            add_holding(h, xd_audit_cell_of(&a->cells, e, k)->at, r->depot);
    }
}

static void find_holdings(struct holdings *h, const struct xd_audit *a)
{
    h->n = 0;
    for (size_t i = 0; i < a->n_of_file; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];

        if (xd_audit_verdict_is_usable(r->verdict))
            add_holding(h, r->shown.extent->at, r->depot);
        else if (a->is_full && (r->verdict == XD_AUDIT_LYING ||
                                r->verdict == XD_AUDIT_DISPUTED))
            add_right(h, a, r);
    }
}

/* Collects the parity shards with a usable replica, sorted by stripe.  A shard
 * with any wrong byte does not count. */
static size_t find_parity(struct xd_audit_parity *list,
                          const struct xd_audit *a)
{
    size_t n = 0;

    for (size_t i = a->n_of_file; i < a->n; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];
        const struct xd_audit_shard *s =
            &a->shards[r->extent - a->n_extents_of_file];

        if (xd_audit_verdict_is_usable(r->verdict))
            list[n++] =
                (struct xd_audit_parity){s->stripe, s->number, r->depot};
    }
    return n;
}

static int remove_all(struct xd_rangeset *from, const struct xd_rangeset *s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->n; i++)
        rc = xd_rangeset_remove(from, s->ranges[i]);
    return rc;
}

/* Finds the bytes whose only good copies are in replicas that are wrong
 * elsewhere.  These are the bytes without a usable replica that are not lost
 * and do not depend on parity. */
static int find_scattered(struct xd_audit *a)
{
    struct xd_rangeset *s = &a->scattered;
    int rc = xd_rangeset_add(s, (struct xd_range){0, a->size});

    for (size_t i = 0; rc == 0 && i < a->n_of_file; i++)
        if (xd_audit_verdict_is_usable(a->replicas[i].verdict))
            rc = xd_rangeset_remove(s, a->replicas[i].shown.extent->at);
    if (rc == 0)
        rc = remove_all(s, &a->risk.none);
    return rc < 0 ? rc : remove_all(s, &a->risk.restorable);
}

static int find_risk(struct xd_audit *a)
{
    struct holdings h = {0};
    struct xd_audit_parity *parity;
    int rc = XD_E_NOMEM;

    if (a->size == XD_SIZE_UNKNOWN || a->is_line_down)
        return 0;
    find_holdings(&h, a);
    h.list = xd_alloc(h.n + 1, sizeof *h.list);
    parity = xd_alloc(a->n - a->n_of_file + 1, sizeof *parity);
    if (h.list && parity) {
        find_holdings(&h, a);
        rc = xd_audit_find_risk(
            &(struct xd_audit_held){.list = h.list,
                                    .n = h.n,
                                    .n_depots = a->n_depots,
                                    .size = a->size,
                                    .parity = parity,
                                    .n_parity = find_parity(parity, a),
                                    .stripes = a->stripes,
                                    .n_stripes = a->n_stripes},
            &a->risk);
    }
    xd_free(h.list);
    xd_free(parity);
    return rc < 0 ? rc : find_scattered(a);
}

int xd_audit_conclude(struct xd_audit *a)
{
    double median = measure(a);
    int rc = median < 0 ? XD_E_NOMEM : vote(a);
    int64_t time;

    a->is_line_down = line_is_down(a);

    for (size_t i = 0; rc == 0 && i < a->n; i++)
        rc = count(a, &a->replicas[i]);
    time = common_time(a);
    for (size_t i = 0; rc == 0 && i < a->n; i++) {
        complete_facts(a, &a->replicas[i], time, median);
        rc = judge(a, &a->replicas[i]);
    }
    return rc < 0 ? rc : find_risk(a);
}

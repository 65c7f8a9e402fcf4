/* SPDX-License-Identifier: MIT */
#include "publish/audit_run.h"

#include <xdpublish/probe.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/trust/copies_vote.h"
#include "os/clock.h"
#include "transfer/registry.h"

/* For an object of unknown size: two bytes show whether its depot supports
 * ranges. */
#define LOOK_BYTES 2

/* ---- expiry of IBP allocations ---- */

static void take_probed(const struct xd_audit *a, struct xd_audit_replica *r,
                        const struct xd_probed *p)
{
    uint64_t end = r->object_offset + xd_range_length(a->extents[r->extent].at);

    if (p->state != XD_PROBE_ANSWERED)
        return;
    r->expires_at = xd_unix_time() + p->lifetime_s;
    r->facts.is_expired = p->lifetime_s == 0;
    if (r->framing)
        end = r->framing->offset + r->framing->length;
    r->facts.differs_in_size = p->written < end;
}

static int probe(struct xd_audit *a, struct xd_error *err)
{
    struct xd_probed probed = {.struct_size = sizeof probed};
    struct xd_probe *p;
    bool can_any = false;
    size_t i = 0;
    int rc;

    for (size_t k = 0; k < a->n; k++) {
        const struct xd_transport_kind *kind =
            xd_transport_kind_of(a->replicas[k].url);

        can_any |= kind && kind->can_probe;
    }
    if (!can_any)
        return 0;
    rc = xd_probe_new(&p, a->manifest, a->file, &a->options, err);
    if (rc < 0)
        return rc;
    for (size_t e = 0; e < a->n_extents_of_file; e++) {
        for (size_t k = 0; xd_probe_get(p, e, k, &probed) == 0; k++, i++)
            take_probed(a, &a->replicas[i], &probed);
    }
    for (size_t s = 0; s < a->n_shards; s++) {
        for (size_t k = 0;
             xd_probe_get_shard(p, a->shards[s].stripe, a->shards[s].number, k,
                                &probed) == 0;
             k++, i++)
            take_probed(a, &a->replicas[i], &probed);
    }
    xd_probe_free(p);
    return 0;
}

/* ---- size of the file ---- */

static bool is_to_be_read(const struct xd_audit_replica *r)
{
    return !r->is_left_out && !r->facts.is_expired &&
           !r->facts.differs_in_size && !r->facts.is_disputed;
}

static struct xd_request request_for(const struct xd_audit_replica *r)
{
    return (struct xd_request){.url = r->url,
                               .reach = r->reach,
                               .object_size = XD_SIZE_UNKNOWN,
                               .framing = r->framing,
                               .wants_size = true,
                               .takes_encoded =
                                   xd_url_names_compressed(r->url)};
}

static int run_reads(struct xd_audit *a, struct xd_audit_reads *reads,
                     struct xd_audit_read *list, size_t n, struct xd_error *err)
{
    struct xd_audit_handler handler = xd_audit_hashing;
    int rc = 0;

    handler.user = a;
    if (n > 0)
        rc = xd_audit_reads_run(reads, list, n, a->lines, a->n_depots, &handler,
                                err);
    return rc == 0 && a->has_no_memory ? xd_fail_nomem(err) : rc;
}

/* Finds the size on which more than half of the depots agree.  Depots that
 * state no size are ignored. */
static int find_size(struct xd_audit *a)
{
    struct xd_copy *list = xd_alloc(a->n + 1, sizeof *list);
    struct xd_copies_vote vote;

    if (!list)
        return XD_E_NOMEM;
    for (size_t i = 0; i < a->n; i++) {
        const struct xd_audit_replica *r = &a->replicas[i];

        list[i] =
            (struct xd_copy){.url = r->url,
                             .has_answered = r->stated_size != XD_SIZE_UNKNOWN,
                             .size = r->stated_size};
    }
    vote = xd_copies_vote(list, a->n);
    if (a->size == XD_SIZE_UNKNOWN && vote.is_decided)
        a->size = list[vote.file].size;
    for (size_t i = 0; i < a->n; i++) {
        struct xd_audit_replica *r = &a->replicas[i];

        if (r->stated_size == XD_SIZE_UNKNOWN)
            continue;
        r->facts.has_failed = false;
        r->facts.differs_in_size =
            a->size != XD_SIZE_UNKNOWN && r->stated_size != a->size;
        r->facts.is_disputed = a->size == XD_SIZE_UNKNOWN;
        r->object_size = a->size;
    }
    xd_free(list);
    return 0;
}

/* Asks the depots for the size of the file.  Called if all replicas are whole
 * copies. */
static int look(struct xd_audit *a, struct xd_audit_reads *reads,
                struct xd_error *err)
{
    struct xd_audit_read *list;
    size_t n = 0;
    int rc;

    if (a->size != XD_SIZE_UNKNOWN && a->size > 0)
        return 0;
    list = xd_alloc(a->n + 1, sizeof *list);
    if (!list)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < a->n; i++) {
        if (!is_to_be_read(&a->replicas[i]))
            continue;
        list[n] =
            (struct xd_audit_read){.request = request_for(&a->replicas[i]),
                                   .depot = a->replicas[i].depot,
                                   .replica = i};
        list[n++].request.length = LOOK_BYTES;
    }
    rc = run_reads(a, reads, list, n, err);
    xd_free(list);
    if (rc == 0 && find_size(a) < 0)
        rc = xd_fail_nomem(err);
    if (rc == 0 && a->size != XD_SIZE_UNKNOWN && a->n_extents > 0)
        a->extents[0].at.end = a->size;
    return rc;
}

/* ---- the bytes of the replicas ---- */

static int plan_cells(struct xd_audit *a, struct xd_error *err)
{
    const struct xd_model_pieces *pieces = a->model->rare->pieces;
    struct xd_audit_plan plan = {.size = a->size, .is_full = a->is_full};
    int rc;

    if (a->cell_bytes == 0 && a->choose_cell_bytes)
        a->cell_bytes = a->choose_cell_bytes(a->size);
    plan.cell_bytes = a->cell_bytes;

    if (pieces && xd_hash_strength(pieces->algorithm) >= 0) {
        a->piece_algorithm = pieces->algorithm;
        plan.piece_bytes = pieces->piece_bytes;
    }
    rc = xd_audit_cells_init(&a->cells, &plan, a->extents, a->n_extents);
    if (rc == XD_E_INVAL)
        return xd_fail(err, rc,
                       "%s: its %zu extents overlap in too many ways to be "
                       "compared",
                       a->model->path ? a->model->path : "the file",
                       a->n_extents);
    return rc < 0 ? xd_fail_nomem(err) : 0;
}

/* The reads of a replica; adjacent cells are read together. */
struct planning {
    struct xd_audit *audit;
    struct xd_audit_read *list; /* NULL: only count the reads */
    size_t n;
};

static void add_read(struct planning *p, size_t replica, struct xd_range at,
                     size_t first, size_t n_cells)
{
    const struct xd_audit *a = p->audit;
    const struct xd_audit_replica *r = &a->replicas[replica];
    struct xd_request q = request_for(r);

    q.offset = r->object_offset + at.begin - a->extents[r->extent].at.begin;
    q.length = xd_range_length(at);
    q.object_size = r->object_size;
    if (p->list)
        p->list[p->n] = (struct xd_audit_read){.request = q,
                                               .depot = r->depot,
                                               .replica = replica,
                                               .first_cell = first,
                                               .n_cells = n_cells,
                                               .reads_whole = a->is_full};
    p->n++;
}

/* The beginning of an object may be sent without a range.  Reading the last
 * byte shows whether the depot supports ranges. */
static void add_look(struct planning *p, size_t replica)
{
    const struct xd_audit_replica *r = &p->audit->replicas[replica];
    struct xd_range at = p->audit->extents[r->extent].at;

    if (xd_range_length(at) < 2)
        return;
    at.begin = at.end - 1;
    add_read(p, replica, at, 0, 0);
    if (p->list)
        p->list[p->n - 1].reads_whole = false;
}

static void add_cells(struct planning *p, size_t replica)
{
    const struct xd_audit *a = p->audit;
    const struct xd_audit_extent *e = &a->extents[a->replicas[replica].extent];
    struct xd_range at;

    for (size_t k = 0, first; k < e->n;) {
        at = xd_audit_cell_of(&a->cells, e, k)->at;
        first = k++;
        while (k < e->n &&
               xd_audit_cell_of(&a->cells, e, k)->at.begin == at.end)
            at.end = xd_audit_cell_of(&a->cells, e, k++)->at.end;
        if (first == 0 && k == e->n)
            add_look(p, replica);
        add_read(p, replica, at, first, k - first);
    }
}

static void plan_reads(struct planning *p)
{
    p->n = 0;
    for (size_t i = 0; i < p->audit->n; i++) {
        if (is_to_be_read(&p->audit->replicas[i]))
            add_cells(p, i);
    }
}

static int read_cells(struct xd_audit *a, struct xd_audit_reads *reads,
                      struct xd_error *err)
{
    struct planning p = {.audit = a};
    int rc;

    if (a->size == XD_SIZE_UNKNOWN || a->size == 0)
        return 0;
    rc = plan_cells(a, err);
    if (rc < 0)
        return rc;
    plan_reads(&p);
    p.list = xd_alloc(p.n + 1, sizeof *p.list);
    if (!p.list)
        return xd_fail_nomem(err);
    plan_reads(&p);
    rc = run_reads(a, reads, p.list, p.n, err);
    xd_free(p.list);
    return rc;
}

int xd_audit_run(struct xd_audit *a, struct xd_error *err)
{
    const xd_usec began = xd_now();
    struct xd_audit_reads *reads;
    int rc = probe(a, err);

    if (rc < 0)
        return rc;
    /* xd_probe_new() has used up some of the time */
    if (a->options.max_time > 0)
        a->options.max_time -=
            xd_earlier(xd_now() - began, a->options.max_time - 1);
    if (a->n > 0) {
        rc = xd_audit_reads_new(&reads, &a->options, a->n_depots, err);
        if (rc < 0)
            return rc;
        rc = look(a, reads, err);
        if (rc == 0)
            rc = read_cells(a, reads, err);
        rc = xd_audit_reads_end(reads, rc, err);
    }
    if (rc == 0 && xd_audit_conclude(a) < 0)
        rc = xd_fail_nomem(err);
    return rc;
}

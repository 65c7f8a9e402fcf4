/* SPDX-License-Identifier: MIT */
#include "publish/audit_run.h"

#include <stdlib.h>
#include <string.h>
#include <xdownload/checksums.h>
#include <xdownload/probe.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/trust/copies_vote.h"
#include "os/clock.h"
#include "transfer/registry.h"

/* Of an object of unknown size: two bytes show whether its depot sends ranges. */
#define LOOK_BYTES 2

/* ---- what there is ---- */

/* Whether the options leave it out: its verdict's reason, in r->error.  Errors:
 * NOMEM. */
static int leave_out(const struct xd_audit *a, struct xd_audit_replica *r)
{
    const struct xd_choice choice = xd_options_choice(&a->options);
    const struct xd_transport_kind *kind = xd_transport_kind_of(r->url);
    const char *why = NULL;
    int is_refused = xd_choice_refuses(&choice, r->url, &why);

    if (is_refused < 0)
        return XD_E_NOMEM;
    if (is_refused == 0)
        why = NULL;
    if (is_refused == 0 && kind && kind->reads_machine &&
        !a->options.allow_file)
        why = "files of this machine are read with allow-file only";
    if (!why)
        return 0;
    r->is_left_out = r->facts.is_left_out = true;
    r->error = xd_strdup(why);
    return r->error ? 0 : XD_E_NOMEM;
}

static int take_replica(struct xd_audit *a, size_t extent, size_t place)
{
    const struct xd_replica row = xd_model_replica_row(a->model, place);
    const enum xd_reach *reaches = a->model->rare->reaches;
    struct xd_audit_replica *r = &a->replicas[a->n++];

    *r = (struct xd_audit_replica){.url = &a->model->urls[place],
                                   .extent = extent,
                                   .object_offset = row.offset,
                                   .object_size = row.object_size,
                                   .framing = row.framing,
                                   .expires_at = row.expires_at,
                                   .stated_size = XD_SIZE_UNKNOWN};
    if (reaches)
        r->reach = reaches[place];
    r->shown =
        (struct xd_audit_shown){.url = r->url, .extent = &a->extents[extent]};
    xd_rangeset_init(&r->wrong);
    return leave_out(a, r);
}

static int take_replicas(struct xd_audit *a)
{
    const struct xd_model_file *f = a->model;
    const size_t n = xd_model_n_replicas(f);
    int rc = 0;

    a->replicas = xd_alloc(n + 1, sizeof *a->replicas);
    a->extents = xd_alloc(f->n_extents + 1, sizeof *a->extents);
    if (!a->replicas || !a->extents)
        return XD_E_NOMEM;
    a->n_extents = f->n_extents;
    for (size_t i = 0; rc == 0 && i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        a->extents[i].at.begin = e->offset;
        a->extents[i].at.end =
            e->length == XD_SIZE_UNKNOWN ? e->offset : e->offset + e->length;
        for (size_t k = 0; rc == 0 && k < e->n_replicas; k++)
            rc = take_replica(a, i, e->first_replica + k);
    }
    return rc;
}

static int by_depot(const void *x, const void *y)
{
    const struct xd_audit_replica *a = *(struct xd_audit_replica *const *)x;
    const struct xd_audit_replica *b = *(struct xd_audit_replica *const *)y;
    int c = xd_url_compare_depots(a->url, b->url);

    return c != 0 ? c : (a > b) - (a < b);
}

/* Number the depots as they come in the manifest. */
static int take_depots(struct xd_audit *a)
{
    struct xd_audit_replica **sorted = xd_alloc(a->n + 1, sizeof *sorted);
    size_t *firsts = xd_alloc(a->n + 1, sizeof *firsts);

    a->depots = xd_alloc(a->n + 1, sizeof *a->depots);
    a->lines = xd_alloc(a->n + 1, sizeof *a->lines);
    if (!sorted || !firsts || !a->depots || !a->lines)
        goto fail;
    for (size_t i = 0; i < a->n; i++)
        sorted[i] = &a->replicas[i];
    qsort(sorted, a->n, sizeof *sorted, by_depot);
    /* The first replica of each depot, in the place of all. */
    for (size_t i = 0; i < a->n; i++) {
        size_t own = (size_t)(sorted[i] - a->replicas);

        firsts[own] = i > 0 && xd_url_compare_depots(sorted[i - 1]->url,
                                                     sorted[i]->url) == 0
                          ? firsts[sorted[i - 1] - a->replicas]
                          : own;
    }
    for (size_t i = 0; i < a->n; i++) {
        struct xd_audit_replica *r = &a->replicas[i];

        r->depot = a->replicas[firsts[i]].depot;
        if (firsts[i] != i)
            continue;
        r->depot = a->n_depots;
        a->depots[a->n_depots].url = r->url;
        a->lines[a->n_depots].answered_after = XD_NEVER;
        a->depots[a->n_depots++].name = xd_url_depot(r->url);
        if (!a->depots[r->depot].name)
            goto fail;
    }
    xd_free(sorted);
    xd_free(firsts);
    return 0;

fail:
    xd_free(sorted);
    xd_free(firsts);
    return XD_E_NOMEM;
}

/* The strongest hash of the file that can be computed. */
static void take_hash(struct xd_audit *a, const char *whole_with)
{
    const struct xd_model_file *f = a->model;
    int best = -1;

    a->whole_with = whole_with;
    for (size_t i = 0; i < f->n_hashes; i++) {
        int strength = xd_hash_strength(f->hashes[i].algorithm);

        if (strength <= best ||
            (whole_with && strcmp(whole_with, f->hashes[i].algorithm) != 0))
            continue;
        best = strength;
        a->whole_with = f->hashes[i].algorithm;
        a->whole_hex = f->hashes[i].hex;
    }
}

int xd_audit_begin(struct xd_audit **out, struct xd_manifest *m, size_t file,
                   bool is_full, uint64_t cell_bytes, const char *whole_with,
                   const struct xd_options *o, struct xd_error *err)
{
    struct xd_audit *a;

    *out = NULL;
    if (file >= m->n_files)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    a = xd_alloc(1, sizeof *a);
    if (!a || xd_options_copy(&a->options, o) < 0) {
        xd_free(a);
        return xd_fail_nomem(err);
    }
    a->manifest = xd_manifest_ref(m);
    a->model = &m->files[file];
    a->file = file;
    a->is_full = is_full;
    a->cell_bytes = cell_bytes;
    a->size = a->model->size;
    take_hash(a, whole_with);
    if (take_replicas(a) < 0 || take_depots(a) < 0) {
        xd_audit_free(a);
        return xd_fail_nomem(err);
    }
    *out = a;
    return 0;
}

/* ---- how long it lives ---- */

static void take_probed(struct xd_audit_replica *r, const struct xd_probed *p,
                        uint64_t end)
{
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
    for (size_t e = 0; e < a->n_extents; e++) {
        for (size_t k = 0; xd_probe_get(p, e, k, &probed) == 0; k++, i++)
            take_probed(&a->replicas[i], &probed,
                        a->replicas[i].object_offset +
                            xd_range_length(a->extents[e].at));
    }
    xd_probe_free(p);
    return 0;
}

/* ---- how long the file is ---- */

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

/* The size that more than half of the depots state that state one. */
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

/* All replicas are whole copies. */
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

/* ---- their bytes ---- */

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

/* The reads of one replica: cells that touch are one. */
struct planning {
    struct xd_audit *audit;
    struct xd_audit_read *list; /* NULL: they are only counted */
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

/* What begins an object may come without a range: its last byte shows whether
 * the depot sends any. */
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
    if (a->options.max_time > 0) /* of which the probes have had their part */
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

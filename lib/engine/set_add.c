/* SPDX-License-Identifier: MIT */
#include "engine/set_add.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/check.h"
#include "base/choice.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/string_hash.h"
#include "command/manifests.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/join.h"
#include "engine/sched_events.h"
#include "engine/trust/signed.h"
#include "engine/via.h"
#include "engine/via_ask.h"
#include "manifest/builder.h"
#include "manifest/join.h"
#include "transfer/registry.h"

/* Number of pieces to expect per file.  Most short files only have a hash of
 * the whole file. */
#define PIECES_OF_A_FILE 8

/* ---- table of paths ---- */

/* Returns the slot with the path, or the empty slot for it. */
static uint32_t *find_slot(const struct xd_set *s, const char *path)
{
    size_t at = xd_string_hash(path, strlen(path)) % s->n_slots;

    while (s->slots[at] != 0 &&
           strcmp(s->places[s->slots[at] - 1].path, path) != 0)
        at = (at + 1) % s->n_slots;
    return &s->slots[at];
}

static int make_room(struct xd_engine *e, size_t most)
{
    struct xd_set *s = &e->set;
    const size_t n = s->n + most;

    if (xd_make_room(&s->places, s->n, n, sizeof *s->places) < 0 ||
        xd_make_room(&s->files, s->n, n, sizeof *s->files) < 0 ||
        xd_verify_expect_locked(e, PIECES_OF_A_FILE * most) < 0)
        return XD_E_NOMEM;
    s->origins = xd_alloc(most, sizeof *s->origins);
    s->slots = xd_alloc(2 * n, sizeof *s->slots);
    if (!s->origins || !s->slots)
        return XD_E_NOMEM;
    s->n_slots = 2 * n;
    for (size_t i = 0; i < s->n; i++)
        *find_slot(s, s->places[i].path) = (uint32_t)i + 1;
    return 0;
}

static int expect_locked(struct xd_engine *e, size_t most, struct xd_error *err)
{
    struct xd_set *s = &e->set;

    if (!e->dest.output->has_many_files || most == 0 ||
        most > XD_SET_MOST_ADDED || s->most > 0)
        return xd_fail(err, XD_E_INVAL,
                       "files are added to a download of many, which expects "
                       "1 to %d",
                       XD_SET_MOST_ADDED);
    if (xd_options_have_blocks(&e->options))
        return xd_fail(err, XD_E_INVAL,
                       "algorithm: of these only adaptive takes files that are "
                       "added");
    if (e->session.phase != XD_PHASE_NEW)
        return xd_fail(err, XD_E_STATE, "the download was started");
    if (make_room(e, most) < 0 || xd_mutex_init(&s->adding) < 0)
        return xd_fail_nomem(err);
    s->most = s->n + most;
    s->is_open = true;
    return 0;
}

int xd_set_expect(struct xd_engine *e, size_t most, struct xd_error *err)
{
    int rc;

    xd_engine_lock(e);
    rc = expect_locked(e, most, err);
    xd_engine_unlock(e);
    return rc;
}

/* ---- checks of a new file ---- */

/* A file to be added. */
struct addition {
    struct xd_manifest *manifest;
    size_t file;
    const struct xd_model_file *model;
    struct xd_joined_proof proof;
    size_t i; /* index in the set */
    struct xd_rangeset held;
};

static bool is_usable(const struct xd_engine *e, const struct xd_url *url)
{
    const struct xd_transport_kind *kind = xd_transport_kind_of(url);
    const struct xd_choice choice = xd_options_choice(&e->options);
    const char *why;

    return kind && !kind->reads_machine &&
           xd_choice_refuses(&choice, url, &why) == 0;
}

static int check_sources(const struct xd_engine *e, const struct addition *a,
                         struct xd_error *err)
{
    const struct xd_model_file *f = a->model;

    for (size_t i = 0; i < f->extents[0].n_replicas; i++)
        if (is_usable(e, &f->urls[f->extents[0].first_replica + i]))
            return 0;
    return xd_fail(err, XD_E_NOREPLICA,
                   "%s: no replica lies on a depot that can be fetched from",
                   f->path);
}

static int check_file(const struct xd_engine *e, const struct addition *a,
                      struct xd_error *err)
{
    const struct xd_signature_keys keys = xd_signed_keys(&e->options);

    if (!xd_manifest_can_join(a->manifest, a->file) || !a->model->path)
        return xd_fail(
            err, XD_E_INVAL,
            "file number %zu of the manifest cannot be part of a set", a->file);
    if (xd_signature_is_asked(&keys) && !xd_signed_by(a->manifest, a->file))
        return xd_fail(
            err, XD_E_INVAL,
            "%s cannot be part of this set: it has no hash from a signed "
            "text",
            a->model->path);
    return check_sources(e, a, err);
}

static int check_state_locked(const struct xd_engine *e,
                              const struct addition *a, struct xd_error *err)
{
    const struct xd_set *s = &e->set;
    const struct xd_pieces *p = &e->verify.pieces;

    if (!s->is_open || xd_engine_is_over_locked(e))
        return xd_fail(err, XD_E_STATE,
                       "the download takes no more files: it has ended, or "
                       "that was said");
    if (s->n == s->most || a->proof.n > p->capacity - p->n)
        return xd_fail(err, XD_E_INVAL,
                       "%s: there is no room for it: of so many files no more "
                       "than %zu were expected, with %d pieces each",
                       a->model->path, s->most - s->n_first, PIECES_OF_A_FILE);
    if (*find_slot(s, a->model->path) != 0)
        return xd_fail(err, XD_E_INVAL,
                       "%s: another file of the download has that path",
                       a->model->path);
    return 0;
}

/* Fills in the place of the new file, which no other thread uses yet. */
static int prepare_locked(struct xd_engine *e, struct addition *a,
                          struct xd_error *err)
{
    struct xd_set *s = &e->set;
    int rc = check_state_locked(e, a, err);

    if (rc < 0)
        return rc;
    a->i = s->n;
    s->places[a->i] = (struct xd_set_place){.unused = 0};
    s->files[a->i] = (struct xd_set_file){.next = 0};
    rc = xd_set_place_file(s, a->i, a->manifest, a->file, err);
    if (rc == 0 && s->places[a->i].range.end > XD_FILE_MAX)
        rc = xd_fail(err, XD_E_INVAL, "the files are too long together");
    return rc;
}

/* Checks the disk, without the lock. */
static int look_at_disk(struct xd_engine *e, struct addition *a,
                        struct xd_error *err)
{
    struct xd_set *s = &e->set;
    struct xd_error why = {0};
    bool has_part = false;
    int rc = 0;

    if (!e->options.force)
        rc = xd_set_look_at_place(s, a->i, err);
    if (rc < 0 || !s->sink)
        return rc;
    xd_set_sink_extend(s->sink, a->i + 1);
    if (!s->places[a->i].hashes || s->files[a->i].is_there)
        return 0;
    rc = xd_set_look_at_part(s, a->i, &has_part, err);
    if (rc < 0 || !has_part ||
        xd_set_sink_find(s->sink, a->i, &a->held, &why) == 0)
        return rc;
    return xd_set_refuse(s, a->i, &why, err);
}

/* ---- placing a new file ---- */

static int add_sources_locked(struct xd_engine *e, const struct addition *a,
                              struct xd_range range)
{
    const struct xd_model_file *f = a->model;
    bool is_new = false;

    for (size_t i = 0; i < f->extents[0].n_replicas; i++) {
        const uint32_t k = f->extents[0].first_replica + (uint32_t)i;
        struct xd_depot *depot;

        if (!is_usable(e, &f->urls[k]))
            continue;
        if (xd_join_make_room_locked(e) < 0 ||
            xd_depots_append(&e->depots, range, f, k, &depot, &is_new) < 0)
            return XD_E_NOMEM;
        if (depot->is_banned)
            continue;
        xd_join_depot_locked(e, depot, is_new, range,
                             f->replicas[k].max_connections);
    }
    if (xd_via_add_file_locked(e, range, f))
        xd_join_via_locked(e, e->depots.via->files[e->depots.via->n_files - 1]);
    return 0;
}

static void count_in_locked(struct xd_engine *e, const struct addition *a)
{
    struct xd_set *s = &e->set;
    const struct xd_range range = s->places[a->i].range;

    s->origins[a->i - s->n_first] =
        (struct xd_set_origin){xd_manifest_ref(a->manifest), a->file};
    xd_set_count_file_locked(s, a->i);
    *find_slot(s, a->model->path) = (uint32_t)a->i + 1;
    if (!xd_pieces_add(&e->verify.pieces, range, &a->proof))
        XD_ASSERT(false); /* memory was reserved, and no other thread adds
                             files */
    e->depots.size = e->wanted.end = range.end;
    e->depots.max_connections = xd_stricter_limit(
        e->depots.max_connections, a->model->rare->max_connections);
}

static int append_locked(struct xd_engine *e, const struct addition *a,
                         struct xd_error *err)
{
    const struct xd_range range = e->set.places[a->i].range;

    if (!e->set.is_open || xd_engine_is_over_locked(e))
        return xd_fail(err, XD_E_STATE, "the download has ended");
    count_in_locked(e, a);
    xd_report_extended_locked(e, range);
    if (e->set.files[a->i].is_unsized)
        xd_report_unsized_locked(e, range);
    if (add_sources_locked(e, a, range) < 0)
        xd_engine_fail_nomem_locked(e);
    xd_set_begin_file_locked(e, a->i);
    for (size_t i = 0; i < a->held.n; i++)
        xd_verify_held_locked(
            e, (struct xd_range){range.begin + a->held.ranges[i].begin,
                                 range.begin + a->held.ranges[i].end});
    if (xd_engine_is_over_locked(e)) /* out of memory */
        return xd_fail_nomem(err);
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_decide_later_locked(e);
    return 0;
}

/* Removes a file that could not be added. */
static void forget_locked(struct xd_engine *e, const struct addition *a)
{
    struct xd_set *s = &e->set;

    if (a->i < s->n) /* the download has failed for lack of memory */
        return;
    xd_free(s->places[a->i].hashes);
    s->places[a->i].hashes = NULL;
    xd_kept_error_free(s->files[a->i].error);
    s->files[a->i].error = NULL;
}

static int add_prepared(struct xd_engine *e, struct addition *a,
                        struct xd_error *err)
{
    int rc = look_at_disk(e, a, err);

    xd_engine_lock(e);
    if (rc == 0)
        rc = append_locked(e, a, err);
    if (rc < 0)
        forget_locked(e, a);
    xd_engine_unlock(e);
    return rc;
}

static int add(struct xd_engine *e, struct addition *a, struct xd_error *err)
{
    int rc;

    xd_engine_lock(e);
    rc = prepare_locked(e, a, err);
    xd_engine_unlock(e);
    return rc == 0 ? add_prepared(e, a, err) : rc;
}

int xd_set_add(struct xd_engine *e, struct xd_manifest *m, size_t file,
               struct xd_error *err)
{
    struct addition a = {.manifest = m, .file = file};
    int rc;

    if (e->set.most == 0)
        return xd_fail(err, XD_E_INVAL, "the download expects no more files");
    if (file >= m->n_files)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    a.model = &m->files[file];
    rc = check_file(e, &a, err);
    if (rc < 0)
        return rc;
    xd_manifest_file_proof(m, file, &a.proof);
    xd_mutex_lock(&e->set.adding);
    rc = add(e, &a, err);
    xd_mutex_unlock(&e->set.adding);
    xd_rangeset_fini(&a.held);
    return rc;
}

void xd_set_no_more(struct xd_engine *e)
{
    xd_engine_lock(e);
    e->set.is_open = false;
    xd_engine_decide_later_locked(e);
    xd_cond_signal(&e->bytes_ready);
    xd_engine_unlock(e);
}

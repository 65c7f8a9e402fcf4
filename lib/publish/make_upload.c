/* SPDX-License-Identifier: MIT */
/* How an upload is made before it starts, and released. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/text.h"
#include "io/random.h"
#include "publish/open_store.h"
#include "publish/upload.h"

#define EXTENT_BYTES ((uint64_t)256 << 20)
#define LEAST_STRIPE ((uint64_t)1 << 20)
#define STRIPES_PER_STORE 32u /* so that a slow one is late by little */

/* Of a piece: not less, and no more pieces than that, until they are as long as
 * no reader would like to fetch again. */
#define LEAST_PIECE ((uint64_t)256 << 10)
#define MOST_PIECES 2048u
#define MOST_PIECE ((uint64_t)64 << 20)

/* ---- what is wanted ---- */

static const char *format_of(const struct xd_upload_wish *w)
{
    static const char *const endings[] = {".meta4", ".metalink"};
    const size_t len = strlen(w->manifest);

    if (w->format)
        return w->format;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);

        if (len >= n && strcmp(w->manifest + len - n, endings[i]) == 0)
            return "metalink";
    }
    return "exnode";
}

/* A whole number of stripes' lengths: of 1 MiB. */
static uint64_t extent_bytes(const struct xd_upload_wish *w, uint64_t size,
                             unsigned copies, bool is_metalink)
{
    uint64_t bytes;

    if (w->extent_bytes > 0)
        return w->extent_bytes;
    if (is_metalink) /* which has only copies of the whole file */
        return size > 0 ? size : 1;
    if (!w->stripes)
        return EXTENT_BYTES;
    bytes = size / (w->n_stores * STRIPES_PER_STORE) * copies;
    bytes -= bytes % LEAST_STRIPE;
    if (bytes < LEAST_STRIPE)
        return LEAST_STRIPE;
    return bytes < EXTENT_BYTES ? bytes : EXTENT_BYTES;
}

static uint64_t piece_bytes(uint64_t size)
{
    uint64_t bytes = LEAST_PIECE;

    while (bytes < MOST_PIECE && size / bytes > MOST_PIECES)
        bytes *= 2;
    return bytes;
}

static unsigned copies_of(const struct xd_upload_wish *w)
{
    if (w->copies > 0)
        return w->copies;
    return w->stripes ? 1 : (unsigned)w->n_stores;
}

static int check_wish(const struct xd_upload_wish *w, struct xd_error *err)
{
    if (w->n_stores == 0)
        return xd_fail(err, XD_E_INVAL, "no store is given to put it on");
    if (!w->manifest || w->manifest[0] == '\0')
        return xd_fail(err, XD_E_INVAL, "no manifest is given to write");
    if (copies_of(w) > w->n_stores)
        return xd_fail(
            err, XD_E_INVAL,
            "%u copies are wanted, but no store gets two copies, and "
            "only %zu %s given",
            copies_of(w), w->n_stores, w->n_stores == 1 ? "is" : "are");
    return 0;
}

/* ---- stores ---- */

static int open_store(struct xd_upload_worker *w, const char *text,
                      uint64_t lifetime_s, struct xd_error *err)
{
    struct xd_url url;
    int rc;

    if (!xd_url_parse(&url, text))
        return xd_fail(err, XD_E_INVAL, "%s: not the URL of a store", text);
    rc = xd_open_store(&w->store, &url, &w->upload->options, lifetime_s, err);
    if (rc == 0)
        w->stats.url = xd_store_name(w->store);
    return rc;
}

static int make_lanes(struct xd_upload_worker *w, struct xd_error *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < XD_UPLOAD_LANES; i++) {
        struct xd_upload_lane *lane = &w->lanes[i];

        lane->worker = w;
        lane->number = i;
        lane->bytes = xd_alloc(XD_UPLOAD_SAMPLE, 1);
        rc = lane->bytes ? xd_hasher_new(&lane->sent, "sha-256", err)
                         : xd_fail_nomem(err);
    }
    return rc;
}

static int make_workers(struct xd_upload *u, const struct xd_upload_wish *wish,
                        struct xd_error *err)
{
    int rc = 0;

    u->workers = xd_alloc(wish->n_stores, sizeof *u->workers);
    if (!u->workers)
        return xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < wish->n_stores; i++) {
        struct xd_upload_worker *w = &u->workers[i];

        w->upload = u;
        w->index = i;
        w->handler = (struct xd_tasks_handler){
            .user = w, .read = xd_lane_read, .end = xd_lane_note_end};
        w->stats.struct_size = sizeof w->stats;
        u->n_workers++;
        rc = open_store(w, wish->stores[i], wish->lifetime_s, err);
        if (rc == 0)
            rc = make_lanes(w, err);
        for (size_t k = 0; rc == 0 && k < i; k++)
            if (strcmp(u->workers[k].stats.url, w->stats.url) == 0)
                rc = xd_fail(err, XD_E_INVAL, "%s: the store is given twice",
                             w->stats.url);
    }
    return rc;
}

/* ---- what is there ---- */

static int make_note(struct xd_upload *u, uint64_t extent, struct xd_error *err)
{
    unsigned char bits[(XD_INVENTORY_NAME_SIZE - 1) / 2];
    int rc = xd_random_fill(bits, sizeof bits, err);

    for (size_t i = 0; rc == 0 && i < sizeof bits; i++)
        snprintf(u->note.name + 2 * i, 3, "%02x", bits[i]);
    u->note.extent_bytes = extent;
    snprintf(u->note.stamp, sizeof u->note.stamp, "%s",
             xd_origin_stamp(u->origin));
    return rc;
}

/* Whether what an earlier run has left is gone on with: *out.  Errors: IO (there
 * is something else), STATE. */
static int look_at_inventory(const struct xd_upload *u, const char *path,
                             bool *out, struct xd_error *err)
{
    const struct xd_manifest *there = xd_inventory_manifest(u->inventory);
    struct xd_inventory_note note;

    *out = false;
    if (!there)
        return 0;
    if (!xd_inventory_is_unfinished(u->inventory, &note)) {
        if (u->options.force)
            return 0;
        return xd_fail(err, XD_E_IO,
                       "%s: there is a manifest of that name already: to "
                       "replace it, use --force",
                       path);
    }
    if (there->files[0].size == xd_origin_size(u->origin) &&
        strcmp(note.stamp, xd_origin_stamp(u->origin)) == 0) {
        *out = true;
        return 0;
    }
    if (u->options.force)
        return 0;
    return xd_fail(err, XD_E_STATE,
                   "%s is not the file whose upload was begun, or was changed "
                   "since: to begin anew, use --force",
                   u->file_name);
}

/* ---- the plan ---- */

static int add_extents(struct xd_upload *u, uint64_t size, struct xd_error *err)
{
    int rc = 0;

    for (uint64_t at = 0; rc == 0 && at < size;) {
        const uint64_t left = size - at;
        const uint64_t n =
            left < u->note.extent_bytes ? left : u->note.extent_bytes;

        rc =
            xd_plan_add(u->plan, (struct xd_range){at, at + n}, u->copies, err);
        u->bytes_total += n * u->copies;
        at += n;
    }
    return rc;
}

/* The store that a replica of the manifest lies on; n_workers: none of ours. */
static size_t store_of(const struct xd_upload *u, const struct xd_model_file *f,
                       size_t place)
{
    const struct xd_exnode_part *part =
        f->rare->mappings ? f->rare->mappings[place] : NULL;
    size_t i = 0;

    while (i < u->n_workers &&
           (!part || !part->manage ||
            !xd_store_has(u->workers[i].store, part->manage)))
        i++;
    return i;
}

/* One that an earlier run has made counts, where it is one of our extents. */
static void count_replica(struct xd_upload *u, const struct xd_model_extent *e,
                          size_t store)
{
    const size_t i = (size_t)(e->offset / u->note.extent_bytes);
    const uint64_t length = e->length;

    if (store == u->n_workers || e->offset % u->note.extent_bytes != 0 ||
        i >= xd_plan_n_extents(u->plan) ||
        length != xd_range_length(xd_plan_range(u->plan, i)) ||
        !xd_plan_hold(u->plan, i, store))
        return;
    if (e->sha256)
        snprintf(u->expected[i], sizeof u->expected[i], "%s", e->sha256);
    u->workers[store].stats.bytes += length;
    u->workers[store].stats.extents++;
    u->bytes_done += length;
    u->bytes_resumed += length;
}

static void count_replicas(struct xd_upload *u)
{
    const struct xd_model_file *f =
        &xd_inventory_manifest(u->inventory)->files[0];

    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++)
            count_replica(u, e, store_of(u, f, e->first_replica + k));
    }
}

static int make_pieces(struct xd_upload *u, uint64_t size, struct xd_error *err)
{
    struct xd_model_pieces *p = &u->pieces;

    *p = (struct xd_model_pieces){
        .algorithm = "sha-256", .piece_bytes = piece_bytes(size), .stride = 65};
    p->n = (size_t)((size + p->piece_bytes - 1) / p->piece_bytes);
    p->hex = xd_alloc(p->n + 1, p->stride);
    return p->hex ? 0 : xd_fail_nomem(err);
}

static int make_plan(struct xd_upload *u, bool stripes, bool goes_on,
                     struct xd_error *err)
{
    const uint64_t size = xd_origin_size(u->origin);
    int rc = xd_plan_new(&u->plan, u->n_workers, stripes, err);

    if (rc == 0)
        rc = add_extents(u, size, err);
    if (rc == 0)
        rc = make_pieces(u, size, err);
    if (rc < 0)
        return rc;
    u->digests = xd_alloc(xd_plan_n_extents(u->plan) + 1, sizeof *u->digests);
    u->expected = xd_alloc(xd_plan_n_extents(u->plan) + 1, sizeof *u->expected);
    if (!u->digests || !u->expected)
        return xd_fail_nomem(err);
    if (goes_on)
        count_replicas(u);
    return 0;
}

/* ---- life ---- */

static int init(struct xd_upload *u, const struct xd_options *o,
                struct xd_error *err)
{
    u->hold = XD_HOLD_NONE;
    if (xd_options_copy(&u->options, o) < 0)
        return xd_fail_nomem(err);
    if (xd_mutex_init(&u->lock) < 0)
        goto free_options;
    if (xd_cond_init(&u->work_ready) < 0)
        goto free_lock;
    if (xd_cond_init(&u->kept) < 0)
        goto free_work_ready;
    if (xd_cond_init(&u->ended) < 0)
        goto free_kept;
    if (xd_budget_init(&u->budget, u->options.net.limit_rate) < 0)
        goto free_ended;
    if (xd_log_init(&u->log, u->options.log, u->options.log_user) < 0)
        goto free_budget;
    return 0;

free_budget:
    xd_budget_fini(&u->budget);
free_ended:
    xd_cond_fini(&u->ended);
free_kept:
    xd_cond_fini(&u->kept);
free_work_ready:
    xd_cond_fini(&u->work_ready);
free_lock:
    xd_mutex_fini(&u->lock);
free_options:
    xd_options_fini(&u->options);
    return xd_fail_nomem(err);
}

static int make(struct xd_upload *u, const char *path,
                const struct xd_upload_wish *wish, struct xd_error *err)
{
    const char *format = format_of(wish);
    struct xd_inventory_note noted;
    bool goes_on = false;
    int rc = xd_origin_open(&u->origin, path, err);

    if (rc == 0) {
        u->file_name = xd_strdup(xd_path_name(path));
        u->copies = copies_of(wish);
        rc = u->file_name ? xd_net_context_new(&u->context, err)
                          : xd_fail_nomem(err);
    }
    if (rc == 0)
        rc = make_workers(u, wish, err);
    if (rc == 0)
        rc = xd_hold_take(&u->hold, wish->manifest, err);
    if (rc == 0)
        rc = xd_inventory_open(&u->inventory, wish->manifest, format, err);
    if (rc == 0)
        rc = look_at_inventory(u, wish->manifest, &goes_on, err);
    if (rc == 0)
        rc = make_note(u,
                       extent_bytes(wish, xd_origin_size(u->origin), u->copies,
                                    strcmp(format, "metalink") == 0),
                       err);
    if (rc == 0 && goes_on && xd_inventory_is_unfinished(u->inventory, &noted))
        u->note = noted;
    if (rc == 0)
        rc = xd_inventory_begin(u->inventory, &u->note, !goes_on, u->file_name,
                                xd_origin_size(u->origin), err);
    if (rc == 0)
        rc = make_plan(u, wish->stripes, goes_on, err);
    if (rc == 0 && u->options.records) {
        u->records = xd_alloc(XD_UPLOAD_RECORDS, sizeof *u->records);
        rc = u->records ? 0 : xd_fail_nomem(err);
    }
    return rc;
}

int xd_upload_new(struct xd_upload **out, const char *path,
                  const struct xd_upload_wish *wish, const struct xd_options *o,
                  struct xd_error *err)
{
    struct xd_upload_wish w;
    struct xd_upload *u;
    int rc;

    *out = NULL;
    xd_copy_in(&w, sizeof w, wish);
    rc = check_wish(&w, err);
    if (rc < 0)
        return rc;
    u = xd_alloc(1, sizeof *u);
    if (!u)
        return xd_fail_nomem(err);
    rc = init(u, o, err);
    if (rc < 0) {
        xd_free(u);
        return rc;
    }
    rc = make(u, path, &w, err);
    if (rc < 0) {
        xd_upload_unmake(u);
        return rc;
    }
    *out = u;
    return 0;
}

void xd_upload_unmake(struct xd_upload *u)
{
    for (size_t i = 0; i < u->n_workers; i++) {
        struct xd_upload_worker *w = &u->workers[i];

        xd_tasks_free(w->tasks);
        for (unsigned k = 0; k < XD_UPLOAD_LANES; k++)
            xd_lane_fini(&w->lanes[k]);
        xd_store_free(w->store);
    }
    xd_hold_give(&u->hold);
    xd_free(u->workers);
    xd_net_context_free(u->context);
    xd_plan_free(u->plan);
    xd_inventory_free(u->inventory);
    xd_origin_free(u->origin);
    xd_free(u->file_name);
    xd_free(u->digests);
    xd_free(u->expected);
    xd_free(u->pieces.hex);
    xd_free(u->records);
    xd_log_fini(&u->log);
    xd_budget_fini(&u->budget);
    xd_cond_fini(&u->ended);
    xd_cond_fini(&u->kept);
    xd_cond_fini(&u->work_ready);
    xd_mutex_fini(&u->lock);
    xd_options_fini(&u->options);
    xd_free(u);
}

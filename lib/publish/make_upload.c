/* SPDX-License-Identifier: MIT */
#include "publish/make_upload.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/text.h"
#include "io/random.h"
#include "os/exit.h"
#include "publish/make_parity.h"
#include "publish/open_store.h"
#include "publish/overlaps.h"

#define LEAST_STRIPE ((uint64_t)1 << 20)
/* Extents per store.  This is enough for stores of different speed to finish at
 * about the same time. */
#define STRIPES_PER_STORE 32u

/* ---- what is wanted ---- */

unsigned xd_wish_copies(const struct xd_upload_wish *w)
{
    if (w->copies > 0)
        return w->copies;
    return w->stripes || w->code ? 1 : (unsigned)w->n_stores;
}

const char *xd_wish_format(const struct xd_upload_wish *w)
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

/* With `stripes`, extents are whole MiB.  A Metalink can describe only copies
 * of the whole file. */
uint64_t xd_wish_extent_bytes(const struct xd_upload_wish *w, uint64_t size)
{
    uint64_t bytes;

    if (w->extent_bytes > 0)
        return w->extent_bytes;
    if (strcmp(xd_wish_format(w), "metalink") == 0)
        return size > 0 ? size : 1;
    if (!w->stripes)
        return XD_UPLOAD_EXTENT;
    bytes = size / (w->n_stores * STRIPES_PER_STORE) * xd_wish_copies(w);
    bytes -= bytes % LEAST_STRIPE;
    if (bytes < LEAST_STRIPE)
        return LEAST_STRIPE;
    return bytes < XD_UPLOAD_EXTENT ? bytes : XD_UPLOAD_EXTENT;
}

static int check_wish(const struct xd_upload_wish *w, struct xd_error *err)
{
    if (w->n_stores == 0)
        return xd_fail(err, XD_E_INVAL, "no store is given to put it on");
    if (!w->manifest || w->manifest[0] == '\0')
        return xd_fail(err, XD_E_INVAL, "no manifest is given to write");
    if (xd_wish_copies(w) > w->n_stores)
        return xd_fail(err, XD_E_INVAL,
                       "%u copies are wanted, but no store gets two copies, "
                       "and only %zu %s given",
                       xd_wish_copies(w), w->n_stores,
                       w->n_stores == 1 ? "is" : "are");
    return 0;
}

/* ---- creating and releasing ---- */

static int init(struct xd_upload *u, const struct xd_options *o,
                struct xd_error *err)
{
    u->hold = XD_HOLD_NONE;
    u->process = xd_exit_process();
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

int xd_upload_begin(struct xd_upload **out, struct xd_upload_wish *out_wish,
                    const struct xd_upload_wish *wish,
                    const struct xd_options *o, struct xd_error *err)
{
    struct xd_upload *u;
    int rc;

    *out = NULL;
    rc = xd_copy_in(out_wish, sizeof *out_wish, wish, "xd_upload_wish", err);
    if (rc == 0)
        rc = check_wish(out_wish, err);
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
    rc = xd_upload_take_code(u, out_wish, err);
    if (rc < 0) {
        xd_upload_unmake(u);
        return rc;
    }
    u->copies = xd_wish_copies(out_wish);
    u->presign_s = out_wish->presign_s;
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
        xd_free(w->was_sent);
        xd_store_free(w->store);
    }
    xd_hold_give(&u->hold);
    xd_free(u->workers);
    xd_net_context_free(u->context);
    for (size_t i = 0; u->parity && i <= u->n_workers; i++)
        xd_parity_reads_free(u->parity[i]);
    xd_free(u->parity);
    xd_upload_line_fini(&u->line);
    xd_free(u->stripes);
    xd_plan_free(u->plan);
    xd_inventory_free(u->inventory);
    xd_origin_free(u->origin);
    xd_heal_fini(&u->heal);
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
    xd_cancel_free(u->removal);
    xd_free(u);
}

/* ---- stores, and the manifests ---- */

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

/* Checks that the store can presign URLs that live for `seconds`.  Errors:
 * INVAL. */
static int check_presign(const struct xd_upload_worker *w, uint64_t seconds,
                         struct xd_error *err)
{
    const uint64_t most = xd_store_most_presign(w->store);

    if (seconds == 0 || seconds <= most)
        return 0;
    if (most == 0)
        return xd_fail(err, XD_E_INVAL,
                       "%s: only S3 has URLs that are presigned", w->stats.url);
    return xd_fail(err, XD_E_INVAL,
                   "%s: a presigned URL is good for %llu s at most, and %llu "
                   "are wanted",
                   w->stats.url, (unsigned long long)most,
                   (unsigned long long)seconds);
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
        w->handler = (struct xd_tasks_handler){.user = w,
                                               .read = xd_lane_read,
                                               .may_send = xd_lane_may_send,
                                               .end = xd_lane_note_end};
        w->stats.struct_size = sizeof w->stats;
        u->n_workers++;
        rc = open_store(w, wish->stores[i], wish->lifetime_s, err);
        if (rc == 0)
            rc = check_presign(w, wish->presign_s, err);
        if (rc == 0)
            rc = make_lanes(w, err);
        for (size_t k = 0; rc == 0 && k < i; k++)
            if (strcmp(u->workers[k].stats.url, w->stats.url) == 0)
                rc = xd_fail(err, XD_E_INVAL, "%s: the store is given twice",
                             w->stats.url);
    }
    return rc;
}

int xd_upload_open(struct xd_upload *u, const struct xd_upload_wish *wish,
                   struct xd_error *err)
{
    int rc = xd_net_context_new(&u->context, err);

    if (rc == 0)
        rc = make_workers(u, wish, err);
    if (rc == 0)
        rc = xd_hold_take(&u->hold, wish->manifest, err);
    if (rc == 0)
        rc = xd_inventory_open(&u->inventory, wish->manifest,
                               xd_wish_format(wish), err);
    if (rc == 0)
        rc = xd_plan_new(&u->plan, u->n_workers, wish->stripes || wish->code,
                         err);
    return rc;
}

int xd_upload_make_name(struct xd_upload *u, struct xd_error *err)
{
    unsigned char bits[(XD_INVENTORY_NAME_SIZE - 1) / 2];
    const int rc = xd_random_fill(bits, sizeof bits, err);

    for (size_t i = 0; rc == 0 && i < sizeof bits; i++)
        snprintf(u->note.name + 2 * i, 3, "%02x", bits[i]);
    return rc;
}

int xd_upload_make_note(struct xd_upload *u, uint64_t extent_bytes,
                        struct xd_error *err)
{
    const int rc = xd_upload_make_name(u, err);

    u->note.extent_bytes = extent_bytes;
    snprintf(u->note.stamp, sizeof u->note.stamp, "%s",
             xd_origin_stamp(u->origin));
    return rc;
}

/* ---- extents ---- */

int xd_upload_add_extents(struct xd_upload *u, struct xd_range range,
                          unsigned wanted, struct xd_error *err)
{
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(range)) {
        const uint64_t left = xd_range_length(range);
        const uint64_t most =
            u->note.extent_bytes -
            (u->cut_bytes > 0 ? range.begin % u->cut_bytes : 0);
        const uint64_t n = left < most ? left : most;

        rc = xd_plan_add(u->plan,
                         (struct xd_range){range.begin, range.begin + n},
                         wanted, err);
        u->bytes_total += n * wanted;
        range.begin += n;
    }
    return rc;
}

size_t xd_upload_store_of(const struct xd_upload *u,
                          const struct xd_model_file *f, size_t place)
{
    const struct xd_replica row = xd_model_replica_row(f, place);
    const char *own = xd_model_manage(f, place);
    const char *manage = own ? own : row.url;
    size_t i = 0;

    while (i < u->n_workers && !xd_store_has(u->workers[i].store, manage))
        i++;
    return i;
}

static int make_parity_reads(struct xd_upload *u, struct xd_error *err)
{
    int rc = 0;

    u->parity = xd_alloc(u->n_workers + 1, sizeof(struct xd_parity_reads *));
    if (!u->parity)
        return xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i <= u->n_workers; i++)
        rc = xd_parity_reads_new(&u->parity[i], u->origin, i, &u->line, err);
    return rc;
}

int xd_upload_make_room(struct xd_upload *u, struct xd_error *err)
{
    const size_t n = xd_plan_n_extents(u->plan) + 1;

    if (xd_plan_sort(u->plan, err) < 0)
        return XD_E_NOMEM;
    u->digests = xd_alloc(n, sizeof *u->digests);
    u->expected = xd_alloc(n, sizeof *u->expected);
    if (u->options.records)
        u->records = xd_alloc(XD_UPLOAD_RECORDS, sizeof *u->records);
    if (!u->digests || !u->expected || (u->options.records && !u->records))
        return xd_fail_nomem(err);
    for (size_t i = 0; i < u->n_workers; i++) {
        u->workers[i].was_sent = xd_alloc(n, sizeof(bool));
        if (!u->workers[i].was_sent)
            return xd_fail_nomem(err);
    }
    return u->line.n > 0 ? make_parity_reads(u, err) : 0;
}

void xd_upload_count_extent(struct xd_upload *u, size_t i, const char *sha256,
                            size_t store)
{
    struct xd_store_stats *stats = &u->workers[store].stats;
    const uint64_t length = xd_range_length(xd_plan_range(u->plan, i));

    if (!xd_plan_hold(u->plan, i, store))
        return;
    if (sha256)
        snprintf(u->expected[i], sizeof u->expected[i], "%s", sha256);
    stats->bytes += length;
    stats->extents++;
    u->bytes_done += length;
    u->bytes_resumed += length;
    xd_heal_count(&u->heal, i);
}

/* Passes in which existing replicas are counted as copies of the plan.  A
 * replica that could be a copy of several extents counts in the first suitable
 * pass: as a shard if its host has no other shard of the stripe, otherwise as
 * an extra copy. */
enum count { COUNT_SHARDS, COUNT_MORE, COUNT_ALL };

static bool may_count(const struct xd_upload *u, size_t extent, size_t store,
                      enum count which)
{
    switch (which) {
    case COUNT_SHARDS:
        return !xd_plan_is_more(u->plan, extent) &&
               xd_plan_may_get(u->plan, extent, store);
    case COUNT_MORE:
        return xd_plan_is_more(u->plan, extent) &&
               xd_heal_wants(&u->heal, extent);
    case COUNT_ALL:
        break;
    }
    return xd_heal_wants(&u->heal, extent);
}

/* Counts the replicas of extent `extent_of` of the file as copies of extent
 * `extent` of the plan. */
static void count_replicas_of(struct xd_upload *u,
                              const struct xd_model_file *f, size_t extent,
                              size_t extent_of, struct xd_there *there,
                              enum count which)
{
    const struct xd_model_extent *e = &f->extents[extent_of];
    const struct xd_range range = {e->offset, e->offset + e->length};
    const struct xd_range planned = xd_plan_range(u->plan, extent);
    const bool is_same =
        planned.begin == range.begin && planned.end == range.end;

    if (xd_range_is_empty(xd_range_clip(planned, range)))
        return;
    for (size_t i = e->first_replica; i < e->first_replica + e->n_replicas;
         i++) {
        if (!there[i].is_there || there[i].store == u->n_workers)
            continue;
        if (there[i].counts && is_same &&
            may_count(u, extent, there[i].store, which)) {
            xd_upload_count_extent(u, extent, xd_model_sha256(f, extent_of),
                                   there[i].store);
            there[i].counts = false;
        } else if (which == COUNT_ALL) {
            xd_plan_forbid(u->plan, extent, there[i].store);
        }
    }
}

static int count_which(struct xd_upload *u, const struct xd_model_file *f,
                       struct xd_there *there, enum count which,
                       struct xd_error *err)
{
    struct xd_overlaps of;
    const int rc = xd_overlaps_init(&of, f, err);

    for (size_t i = 0; rc == 0 && i < xd_plan_n_extents(u->plan); i++) {
        const size_t extent = xd_plan_sorted(u->plan, i);

        xd_overlaps_move(&of, xd_plan_range(u->plan, extent));
        for (size_t k = 0; k < of.n; k++)
            count_replicas_of(u, f, extent, of.list[k], there, which);
    }
    xd_overlaps_fini(&of);
    return rc;
}

int xd_upload_count_replicas(struct xd_upload *u, const struct xd_model_file *f,
                             struct xd_there *there, struct xd_error *err)
{
    const size_t n = xd_model_n_replicas(f);
    int rc = 0;

    for (size_t i = 0; i < n; i++)
        there[i].store =
            there[i].is_there ? xd_upload_store_of(u, f, i) : u->n_workers;
    if (u->line.n > 0 && u->heal.n > 0)
        rc = count_which(u, f, there, COUNT_SHARDS, err);
    if (rc == 0 && u->line.n > 0 && u->heal.n > 0)
        rc = count_which(u, f, there, COUNT_MORE, err);
    return rc < 0 ? rc : count_which(u, f, there, COUNT_ALL, err);
}

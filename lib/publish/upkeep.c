/* SPDX-License-Identifier: MIT */
#include "publish/upkeep.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/copy_out.h"
#include "command/manifests.h"
#include "os/file.h"

/* ---- opening ---- */

/* Finds the format for writing the public manifest. */
static int format_of(const char **out, const struct xd_manifest *m,
                     const char *path, struct xd_error *err)
{
    static const char *const formats[][2] = {{"exnode", "exnode"},
                                             {"metalink4", "metalink"}};

    if (m->n_files != 1)
        return xd_fail(err, XD_E_MANIFEST,
                       "%s: has %zu files: only a manifest of one can be kept "
                       "up",
                       path, m->n_files);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(m->format, formats[i][0]) == 0) {
            *out = formats[i][1];
            return 0;
        }
    }
    return xd_fail(err, XD_E_MANIFEST,
                   "%s: is written neither as an exNode nor as a Metalink of "
                   "version 4: convert it first, with show --format",
                   path);
}

static int check(struct xd_upkeep *u, struct xd_error *err)
{
    const char *private_path = xd_inventory_private_path(u->inventory);
    struct xd_inventory_note note;

    u->manifest = xd_inventory_manifest(u->inventory);
    if (!u->manifest || u->manifest->n_files != 1)
        return xd_fail(err, XD_E_MANIFEST, "%s: is no manifest of one file",
                       u->path);
    u->file = &u->manifest->files[0];
    if (xd_inventory_is_unfinished(u->inventory, &note))
        return xd_fail(err, XD_E_STATE,
                       "%s: its upload is not complete: let it come to its end "
                       "first",
                       private_path);
    return xd_inventory_check_public(u->inventory, err);
}

static bool is_private_name(const char *path)
{
    static const char end[] = ".private.xnd";
    const size_t len = strlen(path), n = sizeof end - 1;

    return len >= n && strcmp(path + len - n, end) == 0;
}

static int open_manifests(struct xd_upkeep *u, struct xd_error *err)
{
    struct xd_manifest *given = NULL;
    const char *format = NULL;
    int rc = xd_hold_take(&u->hold, u->path, err);

    if (rc == 0)
        rc = xd_manifest_read(&given, u->path, err);
    if (rc == 0)
        rc = format_of(&format, given, u->path, err);
    if (rc == 0)
        rc = xd_inventory_open(&u->inventory, u->path, format, err);
    if (rc == 0)
        rc = check(u, err);
    xd_manifest_unref(given);
    return rc;
}

int xd_upkeep_open(struct xd_upkeep **out, const char *path,
                   const struct xd_options *o, struct xd_error *err)
{
    struct xd_upkeep *u;
    int rc;

    if (!path || path[0] == '\0' || is_private_name(path))
        return xd_fail(err, XD_E_INVAL,
                       "%s: give the manifest that is handed out: the private "
                       "one beside it is found by its name",
                       path ? path : "(none)");
    if (!xd_path_exists(path))
        return xd_fail(err, XD_E_IO, "%s: there is no such manifest", path);
    u = xd_alloc(1, sizeof *u);
    if (!u || xd_options_copy(&u->options, o) < 0) {
        xd_free(u);
        return xd_fail_nomem(err);
    }
    u->path = path;
    u->hold = XD_HOLD_NONE;
    rc = open_manifests(u, err);
    if (rc < 0) {
        xd_upkeep_free(u);
        return rc;
    }
    *out = u;
    return 0;
}

void xd_upkeep_close(struct xd_upkeep *u)
{
    xd_hold_give(&u->hold);
    u->path = NULL;
}

/* ---- rows ---- */

const char *xd_upkeep_manage(const struct xd_upkeep *u,
                             const struct xd_model_file *f, size_t place)
{
    return xd_inventory_is_private(u->inventory) ? xd_model_manage(f, place)
                                                 : NULL;
}

const char *xd_upkeep_manage_parity(const struct xd_upkeep *u,
                                    const struct xd_model_shard_replica *r)
{
    return xd_inventory_is_private(u->inventory) ? r->manage : NULL;
}

struct xd_upkeep_row *xd_upkeep_add(struct xd_upkeep *u, struct xd_range range,
                                    const struct xd_url *url,
                                    const char *manage)
{
    struct xd_upkeep_row *rows =
        xd_grow(u->rows, u->n, &u->capacity, sizeof *rows);

    if (!rows)
        return NULL;
    u->rows = rows;
    rows += u->n;
    *rows = (struct xd_upkeep_row){
        .range = range, .place = SIZE_MAX, .job = XD_UPKEEP_NO_JOB};
    rows->shown_url = url ? xd_url_public(url) : xd_strdup("");
    rows->object.manage = manage ? xd_strdup(manage) : NULL;
    u->n++;
    return rows->shown_url && (!manage || rows->object.manage) ? rows : NULL;
}

struct xd_upkeep_row *xd_upkeep_add_parity(struct xd_upkeep *u,
                                           const struct xd_model_stripe *s,
                                           const struct xd_model_shard *shard,
                                           size_t i)
{
    const size_t k = shard->first_replica + i;
    struct xd_upkeep_row *row = xd_upkeep_add(
        u, (struct xd_range){s->offset, s->offset + s->length},
        &s->replicas[k].url, xd_upkeep_manage_parity(u, &s->replicas[k]));

    if (!row)
        return NULL;
    row->place = s->first_place + k;
    row->stripe = s;
    row->shard = shard->number;
    return row;
}

void xd_upkeep_fail(struct xd_upkeep_row *row, enum xd_upkeep_state state,
                    const struct xd_error *why)
{
    xd_kept_error_free(row->error);
    row->state = state;
    row->error = xd_error_keep(why);
}

/* ---- the manifests ---- */

int xd_upkeep_write(struct xd_upkeep *u, struct xd_error *err)
{
    struct xd_inventory *b = u->inventory;
    char *private_text, *public_text;
    int rc;

    xd_inventory_begin_drop(b);
    rc = xd_inventory_texts(b, !xd_inventory_has_pending(b), &private_text,
                            &public_text, err);
    if (rc < 0)
        return rc;
    if (!public_text)
        rc = xd_fail(err, XD_E_BUG, "%s: some bytes would have no replica",
                     u->path);
    if (rc == 0)
        rc = xd_inventory_write(
            b, xd_inventory_is_private(b) ? private_text : NULL, public_text,
            err);
    xd_manifest_text_free(private_text);
    xd_manifest_text_free(public_text);
    return rc;
}

/* ---- public functions ---- */

void xd_upkeep_get(const struct xd_upkeep *u, struct xd_upkeep_sum *out)
{
    const struct xd_upkeep_sum sum = {
        .struct_size = sizeof sum,
        .n = u->n,
        .bytes_proved = u->bytes_proved,
        .has_private = xd_inventory_is_private(u->inventory),
        .private_path = xd_inventory_private_path(u->inventory)};

    xd_copy_out(out, &sum, sizeof sum);
}

int xd_upkeep_replica(const struct xd_upkeep *u, size_t i,
                      struct xd_upkept *out)
{
    const struct xd_upkeep_row *row = &u->rows[i];
    struct xd_upkept upkept;

    if (i >= u->n)
        return XD_E_INVAL;
    upkept = (struct xd_upkept){
        .struct_size = sizeof upkept,
        .state = row->state,
        .url = row->shown_url,
        .store = row->store ? xd_store_name(row->store) : NULL,
        .begin = row->range.begin,
        .end = row->range.end,
        .expires_at = row->expires_at > 0 ? (uint64_t)row->expires_at : 0,
        .limit_s = row->limit,
        .is_parity = row->stripe != NULL,
        .stripe = row->stripe ? row->stripe->number : 0,
        .shard = row->shard,
        .error = row->error ? row->error->msg : NULL};
    xd_copy_out(out, &upkept, sizeof upkept);
    return 0;
}

void xd_upkeep_free(struct xd_upkeep *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->n; i++) {
        xd_free(u->rows[i].shown_url);
        xd_object_fini(&u->rows[i].object);
        xd_kept_error_free(u->rows[i].error);
    }
    xd_free(u->rows);
    xd_jobs_fini(u->jobs, u->n_jobs);
    xd_free(u->jobs);
    xd_stores_fini(&u->stores);
    xd_inventory_free(u->inventory);
    xd_hold_give(&u->hold);
    xd_options_fini(&u->options);
    xd_free(u);
}

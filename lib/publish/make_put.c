/* SPDX-License-Identifier: MIT */
/* Sets up the upload of a file of this machine that has no manifest yet. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "manifest/parse.h"
#include "publish/make_hashes.h"
#include "publish/make_parity.h"
#include "publish/make_upload.h"

static bool is_of_file(const struct xd_upload *u,
                       const struct xd_manifest *there,
                       const struct xd_inventory_note *note)
{
    return there->files[0].size == xd_origin_size(u->origin) &&
           strcmp(note->stamp, xd_origin_stamp(u->origin)) == 0;
}

/* Sets *out to true if an earlier run is to be resumed.  Errors: IO (another
 * file's manifest exists), STATE. */
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
    if (is_of_file(u, there, &note)) {
        const int rc = xd_upload_check_code(u, &there->files[0], err);

        *out = rc == 0;
        return u->options.force ? 0 : rc;
    }
    if (u->options.force)
        return 0;
    return xd_fail(err, XD_E_STATE,
                   "%s is not the file whose upload was begun, or was changed "
                   "since: to begin anew, use --force",
                   u->file_name);
}

/* When a manifest is replaced, its objects stay on their stores, and somebody
 * may be reading them.  So this function saves a copy of the private manifest,
 * which has the names of the objects.  The user is told even with --quiet,
 * because the user pays for the objects. */
static int keep_replaced(struct xd_upload *u, struct xd_error *err)
{
    char *path;
    const int rc = xd_inventory_keep_replaced(u->inventory, &path, err);

    if (rc == 0 && path)
        xd_log(&u->log, XD_LOG_ERROR,
               "%s: what an earlier upload has placed stays on its stores: %s "
               "names these objects now",
               xd_inventory_private_path(u->inventory), path);
    xd_free(path);
    return rc;
}

static int make_pieces(struct xd_upload *u, uint64_t size, uint64_t piece_bytes,
                       struct xd_error *err)
{
    struct xd_model_pieces *p = &u->pieces;

    *p = (struct xd_model_pieces){
        .algorithm = "sha-256", .piece_bytes = piece_bytes, .stride = 65};
    p->n = (size_t)((size + p->piece_bytes - 1) / p->piece_bytes);
    p->hex = xd_alloc(p->n + 1, p->stride);
    return p->hex ? 0 : xd_fail_nomem(err);
}

/* Counts the replicas in the manifest.  This upload has made all of them. */
static int count_replicas(struct xd_upload *u, struct xd_error *err)
{
    const struct xd_model_file *f =
        &xd_inventory_manifest(u->inventory)->files[0];
    const size_t n = xd_model_n_replicas(f);
    struct xd_there *there = xd_alloc(n + 1, sizeof *there);
    int rc;

    if (!there)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        there[i] = (struct xd_there){.is_there = true, .counts = true};
    rc = xd_upload_count_replicas(u, f, there, err);
    xd_free(there);
    return rc;
}

/* Returns the file in the manifest of the earlier run, or NULL if this run does
 * not continue it. */
static const struct xd_model_file *file_of(const struct xd_upload *u,
                                           bool goes_on)
{
    return goes_on ? &xd_inventory_manifest(u->inventory)->files[0] : NULL;
}

/* Largest number of bytes that an object takes in the private manifest in
 * practice. */
#define OBJECT_TEXT 1000

/* Checks that a later run can read the manifest: it must not be longer than the
 * limit for reading. */
static int check_length(const struct xd_upload *u, struct xd_error *err)
{
    const uint64_t n = (uint64_t)xd_plan_n_extents(u->plan) * u->copies;

    if (n <= XD_MANIFEST_MAX / OBJECT_TEXT)
        return 0;
    return xd_fail(err, XD_E_INVAL,
                   "the manifest of %llu objects would be longer than 64 MiB: "
                   "longer objects (extent) are fewer",
                   (unsigned long long)n);
}

static int make_plan(struct xd_upload *u, bool goes_on, struct xd_error *err)
{
    const uint64_t size = xd_origin_size(u->origin);
    uint64_t extent_bytes = u->note.extent_bytes; /* already fits the pieces */
    const uint64_t piece_bytes =
        xd_make_fitting_piece_bytes(size, &extent_bytes);
    int rc = xd_upload_make_line(u, file_of(u, goes_on), extent_bytes,
                                 piece_bytes, err);

    if (rc == 0 && u->coding.k > 0)
        rc = xd_upload_plan_shards(u, err);
    else if (rc == 0)
        rc = xd_upload_add_extents(u, (struct xd_range){0, size}, u->copies,
                                   err);
    if (rc == 0)
        rc = check_length(u, err);
    if (rc == 0)
        rc = make_pieces(u, size, piece_bytes, err);
    if (rc == 0)
        rc = xd_upload_make_room(u, err);
    if (rc == 0 && goes_on)
        rc = count_replicas(u, err);
    if (rc == 0 && goes_on)
        xd_upload_count_shards(u);
    return rc;
}

/* Chooses the length of extents, or of shards, so that no piece spans two
 * extents or shards. */
static int choose_length(const struct xd_upload *u,
                         const struct xd_upload_wish *wish, uint64_t *out,
                         struct xd_error *err)
{
    const uint64_t size = xd_origin_size(u->origin);
    int rc = 0;

    if (u->coding.k == 0)
        *out = xd_wish_extent_bytes(wish, size);
    else
        rc = xd_coding_shard_bytes(out, u->coding, size, wish->extent_bytes,
                                   err);
    if (rc == 0 && u->coding.k > 0)
        *out = xd_coding_even(u->coding, size, *out, xd_make_piece_bytes(size));
    if (rc == 0)
        (void)xd_make_fitting_piece_bytes(size, out);
    return rc;
}

static int make(struct xd_upload *u, const char *path,
                const struct xd_upload_wish *wish, struct xd_error *err)
{
    struct xd_inventory_note noted;
    bool goes_on = false;
    uint64_t extent_bytes = 0;
    int rc = xd_origin_open(&u->origin, path, err);

    if (rc == 0 && strcmp(path, wish->manifest) == 0)
        rc = xd_fail(err, XD_E_INVAL,
                     "%s: its manifest cannot have the name of the file", path);
    if (rc < 0)
        return rc;
    u->makes_manifest = true;
    u->file_name = xd_strdup(xd_path_name(path));
    rc = u->file_name ? xd_upload_open(u, wish, err) : xd_fail_nomem(err);
    if (rc == 0)
        rc = look_at_inventory(u, wish->manifest, &goes_on, err);
    if (rc == 0)
        rc = choose_length(u, wish, &extent_bytes, err);
    if (rc == 0)
        rc = xd_upload_make_note(u, extent_bytes, err);
    if (rc == 0 && goes_on && xd_inventory_is_unfinished(u->inventory, &noted))
        u->note = noted;
    if (rc == 0 && !goes_on)
        rc = keep_replaced(u, err);
    if (rc == 0)
        rc = xd_inventory_begin(u->inventory, &u->note, !goes_on, u->file_name,
                                xd_origin_size(u->origin), err);
    return rc == 0 ? make_plan(u, goes_on, err) : rc;
}

int xd_upload_new(struct xd_upload **out, const char *path,
                  const struct xd_upload_wish *wish, const struct xd_options *o,
                  struct xd_error *err)
{
    struct xd_upload_wish w;
    struct xd_upload *u;
    int rc = xd_upload_begin(&u, &w, wish, o, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    rc = make(u, path, &w, err);
    if (rc < 0) {
        xd_upload_unmake(u);
        return rc;
    }
    *out = u;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Makes more copies of a file in a manifest from its existing replicas. */
#include "publish/make_copies.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "publish/make_parity.h"
#include "publish/make_upload.h"
#include "publish/signed_reads.h"

const struct xd_model_file *xd_copies_file(const struct xd_upload *u)
{
    return &xd_inventory_manifest(u->inventory)->files[0];
}

/* Fails because an interrupted command must be completed first.  After an
 * interrupted `put`, the manifest does not describe the whole file.  Only
 * `check --heal` can handle the objects that a heal has made.  After an
 * interrupted `add --parity`, stripes that have no parity yet would be lost. */
static int fail_incomplete(const char *path,
                           const struct xd_inventory_note *note,
                           struct xd_error *err)
{
    const char *what = "upload", *command = "put";

    if (note->command == XD_COMMAND_HEAL) {
        what = "heal";
        command = "check --heal";
    } else if (note->command == XD_COMMAND_PARITY) {
        what = "parity";
        command = "add --parity";
    }
    return xd_fail(err, XD_E_STATE,
                   "%s: its %s is not complete: give the same %s again first",
                   path, what, command);
}

/* Decides whether to resume an interrupted run, or to refuse this command.
 * Copies made by an interrupted `add` are kept and do not prevent another
 * command. */
static int look_at_note(struct xd_upload *u, const char *path,
                        const struct xd_inventory_note *note,
                        enum xd_inventory_command command, bool *out_goes_on,
                        struct xd_error *err)
{
    *out_goes_on =
        note->stamp[0] == '\0' &&
        (note->command == command || note->command == XD_COMMAND_UNKNOWN);
    if (*out_goes_on)
        u->note = *note;
    else if (note->command != XD_COMMAND_ADD)
        return fail_incomplete(path, note, err);
    else
        xd_inventory_forget_own(u->inventory);
    return 0;
}

/* Checks the existing manifest.  *out_goes_on is true if this run resumes an
 * interrupted run of the same command.  Errors: IO, INVAL, STATE. */
static int look_at_inventory(struct xd_upload *u, const char *path,
                             enum xd_inventory_command command,
                             bool *out_goes_on, struct xd_error *err)
{
    int rc = 0;

    const struct xd_manifest *there = xd_inventory_manifest(u->inventory);
    struct xd_inventory_note note;

    *out_goes_on = false;
    if (!there)
        return xd_fail(err, XD_E_IO, "%s: there is no such manifest", path);
    if (there->n_files != 1)
        return xd_fail(err, XD_E_INVAL,
                       "%s: it describes %zu files, of which one at a time can "
                       "get copies",
                       path, there->n_files);
    if (xd_inventory_is_unfinished(u->inventory, &note))
        rc = look_at_note(u, path, &note, command, out_goes_on, err);
    u->note.command = command;
    return rc;
}

/* Sets the name of the file for messages. */
static int name_file(struct xd_upload *u, const char *path,
                     struct xd_error *err)
{
    const struct xd_model_file *f = xd_copies_file(u);
    const char *name = xd_model_name(f);

    u->file_name = xd_strdup(name ? name : path);
    return u->file_name ? 0 : xd_fail_nomem(err);
}

int xd_copies_open(struct xd_upload *u, const struct xd_upload_wish *wish,
                   enum xd_inventory_command command, bool *out_goes_on,
                   struct xd_error *err)
{
    int rc = xd_upload_open(u, wish, err);

    if (rc == 0)
        rc = look_at_inventory(u, wish->manifest, command, out_goes_on, err);
    u->goes_on = *out_goes_on;
    if (rc == 0)
        rc = xd_inventory_check_public(u->inventory, err);
    return rc == 0 ? name_file(u, wish->manifest, err) : rc;
}

/* Makes extents multiples of the manifest's pieces.  Then all bytes of a piece
 * come from one host, so a wrong piece shows which host is bad.  A file with
 * parity is cut at its shards instead.  A resumed upload keeps its extents. */
static void fit_pieces(struct xd_upload *u, bool goes_on)
{
    const struct xd_model_file *f = xd_copies_file(u);
    uint64_t *extent = &u->note.extent_bytes, piece;

    if (!f->rare->pieces || f->rare->n_stripes > 0)
        return;
    piece = f->rare->pieces->piece_bytes;
    /* For a Metalink, the extent is the whole file and is not rounded. */
    if (!goes_on && *extent < f->size)
        *extent = *extent < piece ? piece : *extent - *extent % piece;
    if (*extent % piece == 0)
        u->cut_bytes = piece;
}

int xd_copies_begin(struct xd_upload *u, struct xd_manifest *good,
                    const struct xd_upload_wish *wish, bool goes_on,
                    struct xd_error *err)
{
    struct xd_manifest *m = NULL;
    uint64_t shard_bytes = 0;
    int rc = xd_signed_reads(&m, good, u->inventory, &u->options, err);

    if (rc == 0)
        rc = xd_origin_fetch(&u->origin, m, 0, &u->options, u->n_workers + 1,
                             err);
    xd_manifest_unref(m);
    if (rc == 0 && !goes_on)
        rc = xd_upload_make_note(
            u, xd_wish_extent_bytes(wish, xd_origin_size(u->origin)), err);
    if (rc == 0)
        fit_pieces(u, goes_on);
    if (rc == 0)
        rc = xd_inventory_begin(u->inventory, &u->note, false, u->file_name,
                                xd_origin_size(u->origin), err);
    if (rc == 0 && u->coding.k > 0)
        rc = xd_coding_shard_bytes(&shard_bytes, u->coding,
                                   xd_origin_size(u->origin),
                                   wish->extent_bytes, err);
    if (rc == 0)
        rc = xd_upload_make_line(u, xd_copies_file(u), shard_bytes, 1, err);
    return rc;
}

/* ---- preparing the upload ---- */

static int count_copies(struct xd_upload *u, bool goes_on, struct xd_error *err)
{
    const struct xd_model_file *f = xd_copies_file(u);
    const size_t n = xd_model_n_replicas(f);
    struct xd_there *there = xd_alloc(n + 1, sizeof *there);
    int rc;

    if (!there)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        there[i] = (struct xd_there){
            .is_there = true,
            .counts = goes_on &&
                      xd_inventory_is_own(u->inventory, xd_model_manage(f, i))};
    rc = xd_upload_count_replicas(u, f, there, err);
    xd_free(there);
    return rc;
}

static int make_copies(struct xd_upload *u, const struct xd_upload_wish *wish,
                       struct xd_error *err)
{
    const bool adds_parity = wish->code != NULL;
    bool goes_on = false;
    int rc = xd_copies_open(u, wish,
                            adds_parity ? XD_COMMAND_PARITY : XD_COMMAND_ADD,
                            &goes_on, err);

    if (rc == 0)
        rc = xd_upload_check_parity(u, xd_copies_file(u), goes_on, err);
    if (rc == 0)
        rc = xd_copies_begin(u, xd_inventory_manifest(u->inventory), wish,
                             goes_on, err);
    if (rc == 0 && adds_parity)
        rc = xd_upload_plan_parity(u, xd_copies_file(u), err);
    else if (rc == 0)
        rc = xd_upload_add_extents(
            u, (struct xd_range){0, xd_origin_size(u->origin)}, u->copies, err);
    if (rc == 0)
        rc = xd_upload_make_room(u, err);
    if (rc == 0 && adds_parity)
        xd_upload_count_shards(u);
    if (rc == 0 && !adds_parity)
        rc = count_copies(u, goes_on, err);
    return rc;
}

int xd_upload_new_copies(struct xd_upload **out,
                         const struct xd_upload_wish *wish,
                         const struct xd_options *o, struct xd_error *err)
{
    struct xd_upload_wish w;
    struct xd_upload *u;
    int rc = xd_upload_begin(&u, &w, wish, o, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    rc = make_copies(u, &w, err);
    if (rc < 0) {
        xd_upload_unmake(u);
        return rc;
    }
    *out = u;
    return 0;
}

int xd_upload_readable(struct xd_manifest **out, struct xd_manifest *m,
                       const char *path, const struct xd_options *o,
                       struct xd_error *err)
{
    struct xd_inventory *own = NULL;
    struct xd_error ignored;
    struct xd_options defaults;
    int rc = xd_inventory_open(&own, path, NULL, &ignored);

    *out = NULL;
    if (rc == XD_E_NOMEM)
        return xd_fail_nomem(err);
    if (rc < 0) { /* use presigned URLs only for our own manifest */
        *out = xd_manifest_ref(m);
        return 0;
    }
    xd_options_init(&defaults);
    rc = xd_signed_reads(out, m, own, o ? o : &defaults, err);
    xd_inventory_free(own);
    return rc;
}

bool xd_upload_has_heal(const char *path)
{
    struct xd_inventory *inventory;
    struct xd_inventory_note note;
    struct xd_error ignored;
    bool has;

    if (xd_inventory_open(&inventory, path, NULL, &ignored) < 0)
        return false;
    has = xd_inventory_is_unfinished(inventory, &note) &&
          note.command == XD_COMMAND_HEAL;
    xd_inventory_free(inventory);
    return has;
}

int xd_upload_manifest(struct xd_manifest **out, const char *path,
                       struct xd_error *err)
{
    struct xd_inventory *inventory;
    int rc = xd_inventory_open(&inventory, path, NULL, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    if (!xd_inventory_manifest(inventory))
        rc = xd_fail(err, XD_E_IO, "%s: there is no such manifest", path);
    if (rc == 0)
        rc = xd_inventory_check_public(inventory, err);
    if (rc == 0)
        *out = xd_manifest_ref(xd_inventory_manifest(inventory));
    xd_inventory_free(inventory);
    return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * Downloads of several files.
 */
#include <xdownload/download.h>

#include "base/copy_out.h"
#include "base/error.h"
#include "command/manifests.h"
#include "engine/engine.h"
#include "engine/lifetime.h"
#include "engine/set_add.h"
#include "engine/trust/signed.h"
#include "manifest/join.h"

/* Checks that a signed text has a hash of each file, if signatures are
 * required.  Signatures of files are not possible here, because they are
 * compared with whole files, which is done only for a file that is downloaded
 * alone. */
static int check_signed(const struct xd_manifest *m, const size_t *files,
                        size_t n, const struct xd_options *o,
                        struct xd_error *err)
{
    const struct xd_signature_keys keys = xd_signed_keys(o);

    for (size_t i = 0; xd_signature_is_asked(&keys) && i < n; i++)
        if (!xd_signed_by(m, files[i]))
            return xd_fail(err, XD_E_INVAL,
                           "file number %zu of the manifest cannot be one of "
                           "many: no hash of it is from a signed text",
                           files[i]);
    return 0;
}

static int check(const struct xd_manifest *m, const size_t *files, size_t n,
                 const struct xd_options *o, struct xd_error *err)
{
    if (n == 0)
        return xd_fail(err, XD_E_INVAL, "a set of no files");
    for (size_t i = 0; i < n; i++)
        if (!xd_manifest_can_join(m, files[i]))
            return xd_fail(err, XD_E_INVAL,
                           "file number %zu of the manifest cannot be one of "
                           "many: that takes a size, and replicas of all of "
                           "it that one hash proves",
                           files[i]);
    if (o && !xd_options_want_all(o))
        return xd_fail(err, XD_E_INVAL, "range: is for one file");
    return o ? check_signed(m, files, n, o, err) : 0;
}

int xd_download_new_set(struct xd_download **out, struct xd_manifest *m,
                        const size_t *files, size_t n, size_t n_more,
                        const char *directory, const struct xd_options *o,
                        struct xd_error *err)
{
    struct xd_manifest *joined;
    struct xd_engine *e = NULL;
    int rc = check(m, files, n, o, err);

    *out = NULL;
    if (rc == 0)
        rc = xd_manifest_join(&joined, m, files, n, err);
    if (rc < 0)
        return rc;
    rc = xd_engine_new(&e, joined, 0, &xd_output_set, NULL, -1, o, err);
    xd_manifest_unref(joined);
    if (rc == 0)
        rc = xd_set_init(&e->set, m, files, n, directory, err);
    if (rc == 0)
        xd_set_report_unsized_locked(e);
    if (rc == 0 && n_more > 0)
        rc = xd_set_expect(e, n_more, err);
    if (rc < 0) {
        xd_engine_unref(e);
        return rc;
    }
    *out = (struct xd_download *)e;
    return 0;
}

static enum xd_file_state state_of(enum xd_set_state state)
{
    switch (state) {
    case XD_SET_WANTED:
        return XD_FILE_WAITING;
    case XD_SET_COMPLETE:
        return XD_FILE_COMPLETE;
    case XD_SET_NAMED:
        return XD_FILE_DONE;
    case XD_SET_FAILED:
        return XD_FILE_FAILED;
    case XD_SET_LEFT:
        break;
    }
    return XD_FILE_SEPARATE;
}

static const char *proof_of(const struct xd_engine *e, struct xd_range file)
{
    const struct xd_pieces *p = &e->verify.pieces;
    const size_t i = xd_pieces_find(p, file.begin);

    return i < p->n && xd_pieces_range(p, i).begin < file.end
               ? xd_pieces_algorithm(p, i)
               : NULL;
}

static const char *signed_by(const struct xd_engine *e, size_t i)
{
    const struct xd_set *s = &e->set;
    const struct xd_manifest *of;
    size_t file;

    if (i >= s->n_first)
        return xd_signed_by(s->origins[i - s->n_first].manifest,
                            s->origins[i - s->n_first].file);
    file = xd_manifest_joined_file(e->depots.manifest, i, &of);
    return xd_signed_by(of, file);
}

int xd_download_file_progress(struct xd_download *d, size_t i,
                              struct xd_file_progress *out)
{
    struct xd_engine *e = (struct xd_engine *)d;
    struct xd_file_progress p = {.state = XD_FILE_WAITING};
    const struct xd_set_place *place;

    xd_engine_lock(e);
    if (i >= e->set.n) {
        xd_engine_unlock(e);
        return XD_E_INVAL;
    }
    place = &e->set.places[i];
    p.path = place->path;
    p.begin = place->range.begin;
    p.bytes_total =
        e->set.files[i].is_unsized ? XD_SIZE_UNKNOWN : xd_set_place_size(place);
    p.state = state_of(e->set.files[i].state);
    if (p.state == XD_FILE_SEPARATE)
        p.bytes_total = e->set.files[i].longer > 0 ? e->set.files[i].longer
                                                   : XD_SIZE_UNKNOWN;
    if (p.state == XD_FILE_FAILED)
        p.error = xd_kept_error_get(e->set.files[i].error);
    if (p.state == XD_FILE_DONE)
        p.verified = proof_of(e, place->range);
    if (p.verified)
        p.signed_by = signed_by(e, i);
    p.bytes_done =
        xd_ledger_count(&e->ledger, XD_BYTES_DONE,
                        (struct xd_range){place->range.begin,
                                          place->range.end - place->unused});
    xd_engine_unlock(e);
    xd_copy_out(out, &p, sizeof p);
    return 0;
}

int xd_download_add_file(struct xd_download *d, struct xd_manifest *m,
                         size_t file, struct xd_error *err)
{
    return xd_set_add((struct xd_engine *)d, m, file, err);
}

void xd_download_end_files(struct xd_download *d)
{
    xd_set_no_more((struct xd_engine *)d);
}

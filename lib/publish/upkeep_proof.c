/* SPDX-License-Identifier: MIT */
/* Proves that replicas hold the file: the downloader reads the whole file and
 * compares it with the hashes in the manifest. */
#include <stdio.h>

#include "base/alloc.h"
#include "manifest/hashes.h"
#include "os/clock.h"
#include "publish/origin.h"
#include "publish/signed_reads.h"
#include "publish/upkeep.h"

#define BLOCK ((size_t)256 << 10) /* bytes read at a time */

bool xd_upkeep_can_prove(const struct xd_upkeep *u)
{
    const struct xd_model_file *f = u->file;

    for (size_t i = 0; i < f->n_hashes; i++)
        if (xd_algorithm_is_strong(f->hashes[i].algorithm))
            return true;
    return f->rare->pieces &&
           xd_algorithm_is_strong(f->rare->pieces->algorithm);
}

/* Copies the user's options, except options that would skip bytes or checks. */
static int proof_options(struct xd_options *out, const struct xd_options *o)
{
    struct xd_options plain;

    if (xd_options_copy(out, o) < 0)
        return XD_E_NOMEM;
    xd_options_init(&plain);
    out->range = plain.range;
    out->no_final_check = 0;
    xd_free(out->keep);
    out->keep = NULL;
    xd_options_fini(&plain);
    return 0;
}

static void report_proof(const struct xd_upkeep *u, xd_usec *reported)
{
    char line[80];

    if (!u->options.log || xd_now() < *reported + XD_SECOND)
        return;
    *reported = xd_now();
    snprintf(line, sizeof line, "reading what stays, %d%%",
             (int)((double)u->bytes_proved * 100 / (double)u->file->size));
    u->options.log(u->options.log_user, XD_LOG_STATUS, line);
}

static int read_all(struct xd_upkeep *u, struct xd_origin *origin, char *block,
                    struct xd_error *err)
{
    const uint64_t size = xd_origin_size(origin);
    xd_usec reported = xd_now();
    int rc = 0;

    while (rc == 0 && u->bytes_proved < size) {
        const uint64_t left = size - u->bytes_proved;
        const size_t n = left < BLOCK ? (size_t)left : BLOCK;

        rc = xd_origin_read(origin, 0, u->bytes_proved, block, n, err);
        u->bytes_proved += rc == 0 ? n : 0;
        report_proof(u, &reported);
    }
    return rc;
}

/* Reads the whole file, and then once more at its end, because only that read
 * reports whether all bytes were correct. */
static int prove_manifest(struct xd_upkeep *u, struct xd_manifest *m,
                          struct xd_error *err)
{
    struct xd_manifest *readable = NULL;
    struct xd_origin *origin = NULL;
    struct xd_options o;
    char *block = xd_alloc(BLOCK, 1);
    int rc;

    if (!block || proof_options(&o, &u->options) < 0) {
        xd_free(block);
        return xd_fail_nomem(err);
    }
    rc = xd_signed_reads(&readable, m, u->inventory, &o, err);
    if (rc == 0)
        rc = xd_origin_fetch(&origin, readable, 0, &o, 1, err);
    if (rc == 0)
        rc = read_all(u, origin, block, err);
    if (rc == 0)
        rc = xd_origin_end(origin, 0, err);
    xd_origin_free(origin);
    xd_manifest_unref(readable);
    xd_options_fini(&o);
    xd_free(block);
    return rc;
}

int xd_upkeep_prove(struct xd_upkeep *u, struct xd_manifest *m,
                    struct xd_error *err)
{
    struct xd_error why;
    int rc;

    if (u->file->size == 0)
        return 0;
    if (!xd_upkeep_can_prove(u))
        return xd_fail(err, XD_E_INVAL,
                       "%s: has no SHA-256 or better, by which the copies that "
                       "stay could be proved, and nothing was dropped: to drop "
                       "from the manifests alone, keep the objects "
                       "(keep-objects)",
                       u->path);
    rc = prove_manifest(u, m, &why);
    if (rc == 0)
        return 0;
    return xd_fail_because(err, (enum xd_code)rc, &why,
                           "nothing was dropped, for the copies that stay are "
                           "not proved: %s",
                           why.msg);
}

/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xdpublish/audit.h>
#include <xdpublish/parity.h>
#include <xdpublish/upload.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "args/interruptible.h"
#include "check/check_json.h"
#include "check/check_table.h"
#include "command/manifests.h"
#include "common/json.h"
#include "common/status.h"
#include "common/words.h"
#include "put/put.h"

/* The files to check, from number `first` on. */
struct checking {
    const struct args *args;
    struct xd_manifest *manifest;
    size_t first, n;
    struct xd_audit **audits; /* one for each file */
};

static int look(void *user, struct xd_error *err)
{
    const struct checking *c = user;
    const struct xd_audit_options what = {.struct_size = sizeof what,
                                          .is_full = c->args->full};
    struct xd_manifest *readable;
    int rc = xd_upload_readable(&readable, c->manifest, c->args->inputs[0],
                                c->args->options, err);

    for (size_t i = 0; rc == 0 && i < c->n; i++)
        rc = xd_audit_new(&c->audits[i], readable, c->first + i, &what,
                          c->args->options, err);
    xd_manifest_unref(readable);
    return rc;
}

static bool is_sound(const struct xd_audit *audit)
{
    struct xd_audit_sum sum = {.struct_size = sizeof sum};

    xd_audit_get(audit, &sum);
    return sum.n_usable + sum.n_skipped == sum.n_replicas &&
           sum.bytes_with_none == 0 && (sum.n_usable > 0 || sum.size == 0);
}

/* Returns whether this machine has no connection.  Then the audit shows nothing
 * about the depots. */
static bool is_line_down(const struct xd_audit *audit)
{
    struct xd_audit_sum sum = {.struct_size = sizeof sum};
    struct xd_audited_depot d = {.struct_size = sizeof d};
    size_t i = 0;

    xd_audit_get(audit, &sum);
    if (!sum.is_line_down)
        return false;
    while (xd_audit_depot(audit, i, &d) == 0 && d.verdict != XD_AUDIT_UNREACHED)
        i++;
    words_error("no depot can be reached, as if the network of this machine "
                "were down: %s",
                d.reason != NULL ? d.reason : "none answers");
    return true;
}

static int print(const struct checking *c)
{
    int status = STATUS_COMPLETE;

    for (size_t i = 0; i < c->n; i++) {
        if (is_line_down(c->audits[i])) {
            status = STATUS_FAILED;
            continue;
        }
        if (!c->args->json && !c->args->quiet)
            check_table(c->args, c->manifest, c->first + i, c->audits[i]);
        if (!is_sound(c->audits[i]))
            status = STATUS_FAILED;
    }
    return status;
}

static int make_heal(struct xd_upload **out, void *user,
                     const struct xd_upload_wish *wish,
                     const struct xd_options *o, struct xd_error *err)
{
    return xd_upload_new_heal(out, user, wish, o, err);
}

typedef int runs_fn(const struct xd_audit *audit, size_t i, uint64_t *out_begin,
                    uint64_t *out_end);

static int lost_run(const struct xd_audit *audit, size_t i, uint64_t *out_begin,
                    uint64_t *out_end)
{
    return xd_audit_at_risk(audit, 0, i, out_begin, out_end);
}

/* Returns whether the extent overlaps any of the ranges reported by `runs`. */
static bool has_some(const struct xd_audit *audit, runs_fn *runs,
                     const struct xd_extent *e)
{
    uint64_t begin, end;

    for (size_t i = 0; runs(audit, i, &begin, &end) == 0; i++)
        if (begin < e->offset + e->length && e->offset < end)
            return true;
    return false;
}

/* Counts of what a heal cannot repair. */
struct left {
    /* replicas that could not be accessed; their state is unknown */
    size_t n_denied;
    size_t n_parity;    /* replicas of stripes that are lost */
    size_t n_scattered; /* extents without a single completely good copy */
    bool has_more;      /* there are other replicas that a heal can replace */
};

/* Counts one replica of an audit.  `lost` is true if its stripe is lost. */
static void count_left(struct left *left, const struct xd_audited *r, bool lost)
{
    if (r->verdict == XD_AUDIT_SKIPPED || r->verdict == XD_AUDIT_UNREACHED ||
        xd_audit_verdict_is_usable(r->verdict))
        return;
    left->n_denied += r->verdict == XD_AUDIT_DENIED;
    left->has_more |= r->verdict != XD_AUDIT_DENIED && !lost;
}

static void count_parity(const struct checking *c, struct left *left)
{
    const struct xd_audit *audit = c->audits[0];
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_audited_stripe found = {.struct_size = sizeof found};
    struct xd_audited r = {.struct_size = sizeof r};

    for (size_t i = 0; xd_manifest_stripe(c->manifest, c->first, i, &s) == 0 &&
                       xd_audit_stripe(audit, i, &found) == 0;
         i++)
        for (size_t k = s.k; k < s.n; k++)
            for (size_t j = 0; xd_audit_shard_replica(audit, i, k, j, &r) == 0;
                 j++) {
                const bool lost = found.n_losses < 0;

                count_left(left, &r, lost);
                left->n_parity += lost && r.verdict != XD_AUDIT_SKIPPED &&
                                  r.verdict != XD_AUDIT_DENIED &&
                                  !xd_audit_verdict_is_usable(r.verdict);
            }
}

static struct left what_is_left(const struct checking *c)
{
    const struct xd_audit *audit = c->audits[0];
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_audited r = {.struct_size = sizeof r};
    struct left left = {.n_parity = 0};

    for (size_t i = 0; xd_manifest_extent(c->manifest, c->first, i, &e) == 0;
         i++) {
        const bool lost = has_some(audit, lost_run, &e);
        const bool scattered = !lost &&
                               !has_some(audit, xd_audit_restorable, &e) &&
                               has_some(audit, xd_audit_scattered, &e);

        left.n_scattered += scattered;
        for (size_t k = 0; xd_audit_replica(audit, i, k, &r) == 0; k++)
            count_left(&left, &r, lost || scattered);
    }
    count_parity(c, &left);
    return left;
}

static int conclude_heal(const struct checking *c, const struct left *left)
{
    struct xd_audit_sum sum = {.struct_size = sizeof sum};

    xd_audit_get(c->audits[0], &sum);
    if (left->n_denied > 0)
        words_error("access is denied to %zu %s: what is there is not known, "
                    "so that %s in the manifests (drop would remove %s)",
                    left->n_denied,
                    left->n_denied == 1 ? "replica" : "replicas",
                    left->n_denied == 1 ? "it stays" : "they stay",
                    left->n_denied == 1 ? "it" : "them");
    if (sum.bytes_with_none > 0)
        words_error("of %" PRIu64 " bytes no depot has a good copy, so that "
                    "they cannot be replaced",
                    sum.bytes_with_none);
    if (left->n_parity > 0)
        words_error(
            "%zu %s of parity cannot be used, and %s: the bytes that "
            "it is computed of are lost",
            left->n_parity, left->n_parity == 1 ? "replica" : "replicas",
            left->n_parity == 1 ? "stays as it is" : "stay as they are");
    if (left->n_scattered > 0)
        words_error("no copy of %zu %s is right as a whole, and %s as %s: a "
                    "download may still put the right bytes together",
                    left->n_scattered,
                    left->n_scattered == 1 ? "extent" : "extents",
                    left->n_scattered == 1 ? "it stays" : "they stay",
                    left->n_scattered == 1 ? "it is" : "they are");
    return left->n_denied + left->n_parity + left->n_scattered > 0 ||
                   sum.bytes_with_none > 0
               ? STATUS_FAILED
               : STATUS_COMPLETE;
}

/* Replaces unusable replicas if there is a good copy.  Also completes an
 * interrupted heal, even if no replica needs to be replaced. */
static int heal(const struct checking *c, struct json *json)
{
    struct xd_file file = {.struct_size = sizeof file};
    const char *path = c->args->inputs[0];
    const struct left left = what_is_left(c);
    const bool goes_on = xd_upload_has_heal(path);
    int status = STATUS_COMPLETE;

    if (xd_manifest_file(c->manifest, c->first, &file) < 0 ||
        (is_sound(c->audits[0]) && !goes_on))
        return STATUS_COMPLETE;
    if (left.has_more || goes_on)
        status = put_run(c->args, file.name != NULL ? file.name : path, path,
                         make_heal, c->audits[0], json);
    return status == STATUS_COMPLETE ? conclude_heal(c, &left) : status;
}

static int report(struct checking *c)
{
    struct xd_audit_sum sum = {.struct_size = sizeof sum};
    struct json json, *j = c->args->json ? &json : NULL;

    if (j != NULL)
        check_json_begin(j, c->manifest, c->first, c->audits, c->n);
    int status = print(c);
    xd_audit_get(c->audits[0], &sum);
    if (c->args->publish.heals && !sum.is_line_down) {
        if (j != NULL)
            json_open_object(j, "heal");
        status = heal(c, j);
        if (j != NULL)
            json_close_object(j);
    }
    if (j != NULL)
        json_finish(j);
    return status;
}

static int check_files(struct checking *c)
{
    struct xd_error err;

    c->audits = calloc(c->n + 1, sizeof *c->audits);
    if (c->audits == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    const int rc = interruptible_run(c->args, look, c, &err);
    const int status = rc < 0 ? interruptible_fail(c->args, &err) : report(c);
    for (size_t i = 0; i < c->n; i++)
        xd_audit_free(c->audits[i]);
    free(c->audits);
    return status;
}

static int check_manifest(const struct args *a, struct xd_manifest *m)
{
    struct checking c = {.args = a, .manifest = m, .n = xd_manifest_n_files(m)};

    if (a->file != NULL) {
        const int status = choose_file(&c.first, a, m, a->inputs[0]);
        if (status != 0)
            return status;
        c.n = 1;
    }
    return check_files(&c);
}

static int check_inputs(const struct args *a, const struct inputs *in)
{
    struct xd_manifest *m;

    if (in->n > 1)
        return words_usage("check takes one manifest, and %zu are given",
                           in->n);
    int status = inputs_require_manifest(in, 0, &m);
    if (status != 0)
        return status;
    status = check_manifest(a, m);
    xd_manifest_unref(m);
    return status;
}

/* ---- the public manifest after a heal ---- */

/* Returns whether a replica of the first file has this URL. */
static bool has_url(const struct xd_manifest *m, const char *url)
{
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_replica r = {.struct_size = sizeof r};

    for (size_t i = 0; xd_manifest_extent(m, 0, i, &e) == 0; i++)
        for (size_t k = 0; xd_manifest_replica(m, 0, i, k, &r) == 0; k++)
            if (strcmp(r.url, url) == 0)
                return true;
    return false;
}

/* Returns true if the manifest has a replica that `own` lacks.  The replicas of
 * both usually have the same order, so most are found at the first
 * comparison. */
static bool has_others(const struct xd_manifest *m,
                       const struct xd_manifest *own)
{
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_replica r = {.struct_size = sizeof r}, same = r;

    for (size_t i = 0; xd_manifest_extent(m, 0, i, &e) == 0; i++)
        for (size_t k = 0; xd_manifest_replica(m, 0, i, k, &r) == 0; k++)
            if ((xd_manifest_replica(own, 0, i, k, &same) < 0 ||
                 strcmp(r.url, same.url) != 0) &&
                !has_url(own, r.url))
                return true;
    return false;
}

/* Checks the copies that are not in the private manifest.  A heal does not
 * replace them, and the audit of the private manifest does not include them. */
static int check_others(const struct args *a, struct xd_manifest *m)
{
    struct xd_audit *audit = NULL;
    struct checking c = {.args = a, .manifest = m, .n = 1, .audits = &audit};
    struct xd_error err;
    const int rc = interruptible_run(a, look, &c, &err);
    int status = rc < 0 ? interruptible_fail(a, &err) : STATUS_COMPLETE;

    if (rc == 0 && !is_sound(audit)) {
        words_error("%s names copies that cannot be used, and that the private "
                    "manifest beside it does not have, so that they are not "
                    "replaced: 'xdownload check' without --heal lists them",
                    a->inputs[0]);
        status = STATUS_FAILED;
    }
    xd_audit_free(audit);
    return status;
}

/* Returns STATUS_COMPLETE if the public manifest is as good as the private
 * manifest.  (A heal works with the private manifest.) */
static int check_public(const struct args *a)
{
    struct xd_manifest *own, *m;
    struct inputs in;
    struct xd_error err;
    int status = inputs_init(&in, a, NULL);

    if (status == 0)
        status = inputs_require_manifest(&in, 0, &m);
    if (status == 0) {
        if (xd_upload_manifest(&own, a->inputs[0], &err) == 0) {
            if (has_others(m, own))
                status = check_others(a, m);
            xd_manifest_unref(own);
        }
        xd_manifest_unref(m);
    }
    inputs_fini(&in);
    return status;
}

/* Checks the private manifest if there is one, because its replicas can be
 * replaced. */
static int check_own(const struct args *a)
{
    struct xd_manifest *m;
    struct xd_error err;
    int status;

    if (xd_upload_manifest(&m, a->inputs[0], &err) < 0) {
        words_error("%s", err.msg);
        return status_of(err.code);
    }
    status = check_manifest(a, m);
    xd_manifest_unref(m);
    return status == STATUS_COMPLETE ? check_public(a) : status;
}

int check_depots(const struct args *a)
{
    struct inputs in;

    if (a->publish.heals)
        return check_own(a);

    int status = inputs_init(&in, a, NULL);
    if (status == 0)
        status = check_inputs(a, &in);
    inputs_fini(&in);
    return status;
}

/* SPDX-License-Identifier: MIT */
#include "check/check_json.h"

#include <stdio.h>
#include <string.h>
#include <xdpublish/parity.h>

#include "common/json.h"
#include "common/text.h"

/* An extent of the file or a shard of a stripe; both have replicas. */
struct holder {
    const struct xd_manifest *manifest;
    size_t file;
    const struct xd_audit *audit;
    bool is_shard;
    /* number of the extent; or number of the stripe, and number of the shard */
    size_t at, shard;
};

static void put_run(struct json *j, uint64_t begin, uint64_t end)
{
    json_open_object(j, NULL);
    json_count(j, "offset", begin);
    json_count(j, "length", end - begin);
    json_close_object(j);
}

static void put_losses(struct json *j, int n)
{
    char number[16];

    snprintf(number, sizeof number, "%d", n);
    json_literal(j, "losses_borne", number);
}

static void put_depot(struct json *j, const struct xd_audited_depot *d)
{
    json_open_object(j, NULL);
    json_string(j, "depot", d->name);
    json_string(j, "verdict", xd_audit_verdict_name(d->verdict));
    json_string(j, "reason", d->reason);
    json_count(j, "replicas", d->n_replicas);
    json_count(j, "usable", d->n_usable);
    json_count(j, "bytes_held", d->bytes_held);
    json_count(j, "bytes_read", d->bytes_read);
    json_count(j, "bytes_wrong", d->bytes_wrong);
    json_time(j, "answer_s",
              d->answer_usec == XD_SIZE_UNKNOWN ? -1
                                                : (double)d->answer_usec / 1e6);
    json_time(j, "bytes_per_s", d->bytes_per_s > 0 ? d->bytes_per_s : -1);
    json_positive(j, "expires_at", d->expires_at);
    json_close_object(j);
}

/* Writes a URL without the parts that grant access: an IBP capability, or the
 * query. */
static void put_url(struct json *j, const char *url)
{
    char shown[TEXT_URL_SIZE];

    if (strncmp(url, "ibp:", 4) == 0) {
        json_null(j, "url");
        return;
    }
    text_without_password(shown, url);
    shown[strcspn(shown, "?#")] = '\0';
    json_string(j, "url", shown);
}

static void put_wrong(struct json *j, const struct holder *h, size_t replica)
{
    uint64_t begin, end;

    json_open_array(j, "wrong");
    for (size_t i = 0;
         (h->is_shard
              ? xd_audit_shard_wrong(h->audit, h->at, h->shard, replica, i,
                                     &begin, &end)
              : xd_audit_wrong(h->audit, h->at, replica, i, &begin, &end)) == 0;
         i++)
        put_run(j, begin, end);
    json_close_array(j);
}

static void put_found(struct json *j, const struct xd_audited *r)
{
    json_string(j, "depot", r->depot_name);
    json_string(j, "verdict", xd_audit_verdict_name(r->verdict));
    json_string(j, "reason", r->reason);
    json_size(j, "object_size", r->object_size);
    json_string(j, "validator", r->validator);
    json_positive(j, "modified", r->modified > 0 ? (uint64_t)r->modified : 0);
    if (r->has_answered)
        json_bool(j, "ranges", !r->has_no_ranges);
    else
        json_null(j, "ranges");
    json_positive(j, "expires_at", r->expires_at);
    json_count(j, "bytes_read", r->bytes_read);
    json_count(j, "bytes_right", r->bytes_right);
    json_count(j, "bytes_wrong", r->bytes_wrong);
    json_count(j, "bytes_disputed", r->bytes_disputed);
}

/* Gets replica number `i` from the manifest and from the audit.  Returns false
 * past the last replica. */
static bool get_replica(const struct holder *h, size_t i,
                        struct xd_replica *out, struct xd_audited *out_found)
{
    *out = (struct xd_replica){.struct_size = sizeof *out};
    *out_found = (struct xd_audited){.struct_size = sizeof *out_found};
    if (h->is_shard)
        return xd_audit_shard_replica(h->audit, h->at, h->shard, i,
                                      out_found) == 0 &&
               xd_manifest_shard_replica(h->manifest, h->file, h->at, h->shard,
                                         i, out) == 0;
    return xd_audit_replica(h->audit, h->at, i, out_found) == 0 &&
           xd_manifest_replica(h->manifest, h->file, h->at, i, out) == 0;
}

static void put_replicas(struct json *j, const struct holder *h)
{
    struct xd_replica replica;
    struct xd_audited found;

    json_open_array(j, "replicas");
    for (size_t i = 0; get_replica(h, i, &replica, &found); i++) {
        json_open_object(j, NULL);
        put_url(j, replica.url);
        put_found(j, &found);
        put_wrong(j, h, i);
        json_close_object(j);
    }
    json_close_array(j);
}

static void put_extents(struct json *j, struct holder h)
{
    struct xd_extent e = {.struct_size = sizeof e};

    json_open_array(j, "extents");
    for (; xd_manifest_extent(h.manifest, h.file, h.at, &e) == 0; h.at++) {
        json_open_object(j, NULL);
        json_count(j, "offset", e.offset);
        json_size(j, "length", e.length);
        put_replicas(j, &h);
        json_close_object(j);
    }
    json_close_array(j);
}

static void put_shards(struct json *j, struct holder h, size_t n)
{
    json_open_array(j, "shards");
    for (; h.shard < n; h.shard++) {
        json_open_object(j, NULL);
        json_count(j, "number", h.shard);
        json_bool(j, "good", xd_audit_shard_is_good(h.audit, h.at, h.shard));
        put_replicas(j, &h);
        json_close_object(j);
    }
    json_close_array(j);
}

/* Writes the stripes.  Leaves out shards if this machine has no connection,
 * because their state is unknown then. */
static void put_stripes(struct json *j, struct holder h, bool is_line_down)
{
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_audited_stripe found = {.struct_size = sizeof found};

    h.is_shard = true;
    json_open_array(j, "stripes");
    for (;
         !is_line_down && xd_manifest_stripe(h.manifest, h.file, h.at, &s) == 0;
         h.at++) {
        xd_audit_stripe(h.audit, h.at, &found);
        json_open_object(j, NULL);
        json_count(j, "number", s.number);
        json_count(j, "offset", s.offset);
        json_count(j, "length", s.length);
        json_count(j, "k", s.k);
        json_count(j, "n", s.n);
        json_count(j, "good", found.n_good);
        put_losses(j, found.n_losses);
        put_shards(j, h, s.n);
        json_close_object(j);
    }
    json_close_array(j);
}

#define RESTORABLE SIZE_MAX

/* Writes the ranges with `n_copies` good copies, or the ranges that only parity
 * can restore. */
static void put_runs(struct json *j, const char *name,
                     const struct xd_audit *audit, size_t n_copies,
                     uint64_t bytes)
{
    uint64_t begin, end;

    json_open_object(j, name);
    json_count(j, "bytes", bytes);
    json_open_array(j, "runs");
    for (size_t i = 0;
         (n_copies == RESTORABLE
              ? xd_audit_restorable(audit, i, &begin, &end)
              : xd_audit_at_risk(audit, n_copies, i, &begin, &end)) == 0;
         i++)
        put_run(j, begin, end);
    json_close_array(j);
    json_close_object(j);
}

static void put_file(struct json *j, const struct xd_manifest *m, size_t file,
                     const struct xd_audit *audit)
{
    struct xd_audit_sum sum = {.struct_size = sizeof sum};
    struct xd_audited_depot d = {.struct_size = sizeof d};
    struct xd_file f = {.struct_size = sizeof f};

    if (xd_manifest_file(m, file, &f) < 0)
        return;
    xd_audit_get(audit, &sum);
    json_open_object(j, NULL);
    json_string(j, "path", f.path);
    json_size(j, "size", sum.size);
    json_bool(j, "full", sum.is_full);
    json_string(j, "algorithm", sum.algorithm);
    json_count(j, "replicas", sum.n_replicas);
    json_count(j, "usable", sum.n_usable);
    json_count(j, "skipped", sum.n_skipped);
    json_bool(j, "line_down", sum.is_line_down);
    put_runs(j, "one_good_copy", audit, 1, sum.bytes_with_one);
    put_runs(j, "no_good_copy", audit, 0, sum.bytes_with_none);
    put_runs(j, "restorable", audit, RESTORABLE, sum.bytes_restorable);
    if (sum.n_stripes > 0 && !sum.is_line_down)
        put_losses(j, sum.n_losses);
    else
        json_null(j, "losses_borne");
    json_open_array(j, "depots");
    for (size_t i = 0; xd_audit_depot(audit, i, &d) == 0; i++)
        put_depot(j, &d);
    json_close_array(j);
    const struct holder holder = {m, file, audit, false, 0, 0};
    put_extents(j, holder);
    put_stripes(j, holder, sum.is_line_down);
    json_close_object(j);
}

void check_json_begin(struct json *j, const struct xd_manifest *m, size_t first,
                      struct xd_audit *const *audits, size_t n)
{
    json_begin(j, stdout);
    json_open_array(j, "files");
    for (size_t i = 0; i < n; i++)
        put_file(j, m, first + i, audits[i]);
    json_close_array(j);
}

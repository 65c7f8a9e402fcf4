/* SPDX-License-Identifier: MIT */
#include "check/check_json.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/text.h"

static void put_run(struct json *j, uint64_t begin, uint64_t end)
{
    json_open_object(j, NULL);
    json_count(j, "offset", begin);
    json_count(j, "length", end - begin);
    json_close_object(j);
}

static void put_expiry(struct json *j, uint64_t at)
{
    json_size(j, "expires_at", at != 0 ? at : XD_SIZE_UNKNOWN);
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
    if (d->answer_usec == XD_SIZE_UNKNOWN)
        json_null(j, "answer_s");
    else
        json_number(j, "answer_s", (double)d->answer_usec / 1e6);
    if (d->bytes_per_s > 0)
        json_number(j, "bytes_per_s", d->bytes_per_s);
    else
        json_null(j, "bytes_per_s");
    put_expiry(j, d->expires_at);
    json_close_object(j);
}

/* A capability of IBP grants access, and so may the query of a URL. */
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

static void put_wrong(struct json *j, const struct xd_audit *audit,
                      size_t extent, size_t replica)
{
    uint64_t begin, end;

    json_open_array(j, "wrong");
    for (size_t i = 0;
         xd_audit_wrong(audit, extent, replica, i, &begin, &end) == 0; i++)
        put_run(j, begin, end);
    json_close_array(j);
}

/* Of one replica, all but its wrong bytes. */
static void put_found(struct json *j, const struct xd_replica *row,
                      const struct xd_audited *r)
{
    put_url(j, row->url);
    json_string(j, "depot", r->depot_name);
    json_string(j, "verdict", xd_audit_verdict_name(r->verdict));
    json_string(j, "reason", r->reason);
    json_size(j, "object_size", r->object_size);
    json_string(j, "validator", r->validator);
    json_size(j, "modified",
              r->modified > 0 ? (uint64_t)r->modified : XD_SIZE_UNKNOWN);
    if (r->has_answered)
        json_bool(j, "ranges", !r->has_no_ranges);
    else
        json_null(j, "ranges");
    put_expiry(j, r->expires_at);
    json_count(j, "bytes_read", r->bytes_read);
    json_count(j, "bytes_right", r->bytes_right);
    json_count(j, "bytes_wrong", r->bytes_wrong);
    json_count(j, "bytes_disputed", r->bytes_disputed);
}

static void put_replicas(struct json *j, const struct xd_manifest *m,
                         size_t file, size_t extent,
                         const struct xd_audit *audit)
{
    struct xd_replica row = {.struct_size = sizeof row};
    struct xd_audited r = {.struct_size = sizeof r};

    json_open_array(j, "replicas");
    for (size_t k = 0; xd_audit_replica(audit, extent, k, &r) == 0; k++) {
        if (xd_manifest_replica(m, file, extent, k, &row) < 0)
            break;
        json_open_object(j, NULL);
        put_found(j, &row, &r);
        put_wrong(j, audit, extent, k);
        json_close_object(j);
    }
    json_close_array(j);
}

static void put_extents(struct json *j, const struct xd_manifest *m,
                        size_t file, const struct xd_audit *audit)
{
    struct xd_extent e = {.struct_size = sizeof e};

    json_open_array(j, "extents");
    for (size_t i = 0; xd_manifest_extent(m, file, i, &e) == 0; i++) {
        json_open_object(j, NULL);
        json_count(j, "offset", e.offset);
        json_size(j, "length", e.length);
        put_replicas(j, m, file, i, audit);
        json_close_object(j);
    }
    json_close_array(j);
}

static void put_wrong_of_shard(struct json *j, const struct xd_audit *audit,
                               size_t stripe, size_t shard, size_t replica)
{
    uint64_t begin, end;

    json_open_array(j, "wrong");
    for (size_t i = 0; xd_audit_shard_wrong(audit, stripe, shard, replica, i,
                                            &begin, &end) == 0;
         i++)
        put_run(j, begin, end);
    json_close_array(j);
}

static void put_losses(struct json *j, int n)
{
    char number[16];

    snprintf(number, sizeof number, "%d", n);
    json_literal(j, "losses_borne", number);
}

static void put_shard(struct json *j, const struct xd_manifest *m, size_t file,
                      size_t stripe, size_t shard, const struct xd_audit *audit)
{
    struct xd_replica row = {.struct_size = sizeof row};
    struct xd_audited r = {.struct_size = sizeof r};

    json_open_object(j, NULL);
    json_count(j, "number", shard);
    json_bool(j, "good", xd_audit_shard_is_good(audit, stripe, shard));
    json_open_array(j, "replicas");
    for (size_t k = 0; xd_audit_shard_replica(audit, stripe, shard, k, &r) == 0;
         k++) {
        if (xd_manifest_shard_replica(m, file, stripe, shard, k, &row) < 0)
            break;
        json_open_object(j, NULL);
        put_found(j, &row, &r);
        put_wrong_of_shard(j, audit, stripe, shard, k);
        json_close_object(j);
    }
    json_close_array(j);
    json_close_object(j);
}

/* Nothing is known of shards if the line was down. */
static void put_stripes(struct json *j, const struct xd_manifest *m,
                        size_t file, const struct xd_audit *audit,
                        bool is_line_down)
{
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_audited_stripe found = {.struct_size = sizeof found};

    json_open_array(j, "stripes");
    for (size_t i = 0; !is_line_down && xd_manifest_stripe(m, file, i, &s) == 0;
         i++) {
        xd_audit_stripe(audit, i, &found);
        json_open_object(j, NULL);
        json_count(j, "number", s.number);
        json_count(j, "offset", s.offset);
        json_count(j, "length", s.length);
        json_count(j, "k", s.k);
        json_count(j, "n", s.n);
        json_count(j, "good", found.n_good);
        put_losses(j, found.n_losses);
        json_open_array(j, "shards");
        for (size_t k = 0; k < s.n; k++)
            put_shard(j, m, file, i, k, audit);
        json_close_array(j);
        json_close_object(j);
    }
    json_close_array(j);
}

static void put_restorable(struct json *j, const struct xd_audit *audit,
                           uint64_t bytes)
{
    uint64_t begin, end;

    json_open_object(j, "restorable");
    json_count(j, "bytes", bytes);
    json_open_array(j, "runs");
    for (size_t i = 0; xd_audit_restorable(audit, i, &begin, &end) == 0; i++)
        put_run(j, begin, end);
    json_close_array(j);
    json_close_object(j);
}

static void put_risk(struct json *j, const char *name,
                     const struct xd_audit *audit, size_t n_depots,
                     uint64_t bytes)
{
    uint64_t begin, end;

    json_open_object(j, name);
    json_count(j, "bytes", bytes);
    json_open_array(j, "runs");
    for (size_t i = 0; xd_audit_at_risk(audit, n_depots, i, &begin, &end) == 0;
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
    put_risk(j, "one_good_copy", audit, 1, sum.bytes_with_one);
    put_risk(j, "no_good_copy", audit, 0, sum.bytes_with_none);
    put_restorable(j, audit, sum.bytes_restorable);
    if (sum.n_stripes > 0 && !sum.is_line_down)
        put_losses(j, sum.n_losses);
    else
        json_null(j, "losses_borne");
    json_open_array(j, "depots");
    for (size_t i = 0; xd_audit_depot(audit, i, &d) == 0; i++)
        put_depot(j, &d);
    json_close_array(j);
    put_extents(j, m, file, audit);
    put_stripes(j, m, file, audit, sum.is_line_down);
    json_close_object(j);
}

void check_json(const struct xd_manifest *m, size_t first,
                struct xd_audit *const *audits, size_t n)
{
    struct json j;

    json_init(&j, stdout);
    json_open_object(&j, NULL);
    json_open_array(&j, "files");
    for (size_t i = 0; i < n; i++)
        put_file(&j, m, first + i, audits[i]);
    json_close_array(&j);
    json_close_object(&j);
    json_end(&j);
}

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

static void put_found(struct json *j, const struct xd_audited *r)
{
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
    struct xd_audited_depot d = {.struct_size = sizeof d};

    json_open_array(j, "replicas");
    for (size_t k = 0; xd_audit_replica(audit, extent, k, &r) == 0; k++) {
        if (xd_manifest_replica(m, file, extent, k, &row) < 0)
            break;
        xd_audit_depot(audit, r.depot, &d);
        json_open_object(j, NULL);
        put_url(j, row.url);
        json_string(j, "depot", d.name);
        put_found(j, &r);
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
    json_open_array(j, "depots");
    for (size_t i = 0; xd_audit_depot(audit, i, &d) == 0; i++)
        put_depot(j, &d);
    json_close_array(j);
    put_extents(j, m, file, audit);
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

/* SPDX-License-Identifier: MIT */
#include "upkeep/upkeep_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "common/units.h"
#include "common/words.h"

/* each message is compared with at most this many messages before it */
#define MOST_REASONS 20

size_t upkeep_count(const struct xd_upkeep *u, enum xd_upkeep_state state)
{
    struct xd_upkept r = {.struct_size = sizeof r};
    size_t n = 0;

    for (size_t i = 0; xd_upkeep_replica(u, i, &r) == 0; i++)
        n += r.state == state;
    return n;
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void put_count(const struct xd_upkeep *u, enum xd_upkeep_state state,
                      const char *words)
{
    const size_t n = upkeep_count(u, state);

    if (n > 0)
        fprintf(stderr, "%zu replica%s %s\n", n, plural(n), words);
}

/* Returns true if one of the replicas before this one has the same error. */
static bool was_said(const struct xd_upkeep *u, size_t i,
                     const struct xd_upkept *r)
{
    struct xd_upkept before = {.struct_size = sizeof before};

    for (size_t k = i; k-- > 0 && k + MOST_REASONS > i;) {
        if (xd_upkeep_replica(u, k, &before) < 0 || before.error == NULL)
            continue;
        if (strcmp(before.error, r->error) == 0)
            return true;
    }
    return false;
}

static void put_reasons(const struct xd_upkeep *u)
{
    struct xd_upkept r = {.struct_size = sizeof r};
    size_t n = 0;

    for (size_t i = 0; xd_upkeep_replica(u, i, &r) == 0; i++) {
        if (r.error == NULL || was_said(u, i, &r))
            continue;
        words_warning(n, "%s", r.error);
        n++;
    }
    words_end_warnings(n);
}

static void put_dropped(const struct xd_upkeep *u, const char *path)
{
    struct xd_upkeep_sum sum = {.struct_size = sizeof sum};
    char proved[UNITS_SIZE];

    xd_upkeep_get(u, &sum);
    if (sum.bytes_proved > 0)
        fprintf(stderr, "what stays was read and proved: %s\n",
                units_size(proved, sum.bytes_proved));
    fprintf(stderr, "%zu replica%s dropped from %s\n", sum.n, plural(sum.n),
            path);
    if (upkeep_count(u, XD_UPKEEP_DONE) > 0)
        fprintf(stderr, "%zu of them removed from the store\n",
                upkeep_count(u, XD_UPKEEP_DONE));
    if (upkeep_count(u, XD_UPKEEP_KEPT) > 0)
        fprintf(stderr, "%zu of them stay%s on the server%s\n",
                upkeep_count(u, XD_UPKEEP_KEPT),
                upkeep_count(u, XD_UPKEEP_KEPT) == 1 ? "s" : "",
                sum.has_private ? ""
                                : ": no private manifest says by what they "
                                  "are managed");
    put_count(u, XD_UPKEEP_FAILED,
              "could not be removed: no manifest names them any more");
}

/* Prints how many replicas were renewed, and when the first of them expires. */
static void put_renewed(const struct xd_upkeep *u)
{
    struct xd_upkept r = {.struct_size = sizeof r};
    uint64_t first = 0;
    char date[32] = "";
    size_t n = 0;

    for (size_t i = 0; xd_upkeep_replica(u, i, &r) == 0; i++) {
        if (r.state != XD_UPKEEP_DONE)
            continue;
        n++;
        if (first == 0 || r.expires_at < first)
            first = r.expires_at;
    }
    const time_t at = (time_t)first;
    struct tm tm;
    if (first > 0 && gmtime_r(&at, &tm) != NULL)
        strftime(date, sizeof date, ", until %Y-%m-%d %H:%M:%S UTC", &tm);
    fprintf(stderr, "%zu replica%s renewed%s\n", n, plural(n), date);
    put_count(u, XD_UPKEEP_ENDLESS,
              upkeep_count(u, XD_UPKEEP_ENDLESS) == 1
                  ? "needs no renewal: its store never deletes"
                  : "need no renewal: their stores never delete");
    put_count(u, XD_UPKEEP_BEYOND,
              "not renewed: their stores do not keep objects for so long");
    put_count(u, XD_UPKEEP_UNMANAGED,
              "not renewed: the manifests name no way to do it");
    put_count(u, XD_UPKEEP_FAILED, "not renewed: their stores have failed");
}

void upkeep_put_words(const struct xd_upkeep *u, bool drops, const char *path)
{
    put_reasons(u);
    if (drops)
        put_dropped(u, path);
    else
        put_renewed(u);
}

static const char *const state_words[] = {
    [XD_UPKEEP_DONE] = "done",           [XD_UPKEEP_KEPT] = "kept",
    [XD_UPKEEP_ENDLESS] = "endless",     [XD_UPKEEP_BEYOND] = "beyond",
    [XD_UPKEEP_UNMANAGED] = "unmanaged", [XD_UPKEEP_FAILED] = "failed"};

static void put_replica(struct json *j, const struct xd_upkept *r)
{
    json_open_object(j, NULL);
    json_string(j, "state",
                r->state < sizeof state_words / sizeof *state_words
                    ? state_words[r->state]
                    : "unknown");
    json_string(j, "url", r->url);
    json_string(j, "store", r->store);
    json_count(j, "begin", r->begin);
    json_count(j, "end", r->end);
    json_size(j, "stripe", r->is_parity ? r->stripe : XD_SIZE_UNKNOWN);
    json_size(j, "shard", r->is_parity ? r->shard : XD_SIZE_UNKNOWN);
    json_count(j, "expires_at", r->expires_at);
    json_count(j, "limit_s", r->limit_s);
    json_string(j, "error", r->error);
    json_close_object(j);
}

void upkeep_put_json(const struct xd_upkeep *u, const char *path)
{
    struct xd_upkeep_sum sum = {.struct_size = sizeof sum};
    struct xd_upkept r = {.struct_size = sizeof r};
    struct json j;

    xd_upkeep_get(u, &sum);
    json_begin(&j, stdout);
    json_string(&j, "manifest", path);
    json_string(&j, "private_manifest",
                sum.has_private ? sum.private_path : NULL);
    json_count(&j, "bytes_proved", sum.bytes_proved);
    json_open_array(&j, "replicas");
    for (size_t i = 0; xd_upkeep_replica(u, i, &r) == 0; i++)
        put_replica(&j, &r);
    json_close_array(&j);
    json_finish(&j);
}

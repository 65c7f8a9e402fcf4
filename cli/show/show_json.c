/* SPDX-License-Identifier: MIT */
#include "show/show_json.h"

#include <string.h>
#include <xdpublish/parity.h>

#include "common/json.h"
#include "common/text.h"

/* Returns true if an earlier hash of the file has this algorithm.  Names in a
 * JSON object must be unique. */
static bool was_named(const struct xd_manifest *m, size_t file, size_t i,
                      const char *algorithm)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t k = 0; k < i; k++)
        if (xd_manifest_hash(m, file, k, &hash) == 0 &&
            strcmp(hash.algorithm, algorithm) == 0)
            return true;
    return false;
}

static void put_hashes(struct json *j, const struct xd_manifest *m, size_t file)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    json_open_object(j, "hashes");
    for (size_t i = 0; xd_manifest_hash(m, file, i, &hash) == 0; i++)
        if (!was_named(m, file, i, hash.algorithm))
            json_string(j, hash.algorithm, hash.hex);
    json_close_object(j);
}

static void put_pieces(struct json *j, const struct xd_file *f)
{
    if (f->n_pieces == 0) {
        json_null(j, "pieces");
        return;
    }
    json_open_object(j, "pieces");
    json_string(j, "algorithm", f->piece_algorithm);
    json_count(j, "length", f->piece_bytes);
    json_count(j, "count", f->n_pieces);
    json_close_object(j);
}

/* Writes the rights as letters of "rwm" (read, write, manage). */
static void put_rights(struct json *j, unsigned rights)
{
    char letters[4] = "", *to = letters;

    if (rights & XD_MAY_READ)
        *to++ = 'r';
    if (rights & XD_MAY_WRITE)
        *to++ = 'w';
    if (rights & XD_MAY_MANAGE)
        *to++ = 'm';
    *to = '\0';
    json_string(j, "rights", rights != 0 ? letters : NULL);
}

static void put_probed(struct json *j, const struct xd_probed *p)
{
    const bool is_answered = p->state == XD_PROBE_ANSWERED;

    if (p->state == XD_PROBE_NONE) {
        json_null(j, "probe");
        return;
    }
    json_open_object(j, "probe");
    json_string(j, "capability", p->right == XD_MAY_READ ? "read" : "manage");
    json_size(j, "expires_in", is_answered ? p->lifetime_s : XD_SIZE_UNKNOWN);
    json_size(j, "written", is_answered ? p->written : XD_SIZE_UNKNOWN);
    json_size(j, "allocated", is_answered ? p->allocated : XD_SIZE_UNKNOWN);
    json_string(j, "error", p->error);
    json_close_object(j);
}

static void put_replica(struct json *j, const struct xd_replica *r,
                        const struct xd_probed *probed)
{
    char url[TEXT_URL_SIZE];

    json_open_object(j, NULL);
    json_string(j, "url", text_without_password(url, r->url));
    json_count(j, "offset", r->offset);
    if (r->priority == XD_PRIORITY_NONE)
        json_null(j, "priority");
    else
        json_count(j, "priority", r->priority);
    json_string(j, "location", r->location);
    json_positive(j, "max_connections", r->max_connections);
    put_rights(j, r->rights);
    json_string(j, "expires", r->expires);
    json_string(j, "functions", r->functions);
    put_probed(j, probed);
    json_close_object(j);
}

static void put_extent(struct json *j, const struct xd_manifest *m, size_t file,
                       size_t i, const struct xd_probe *probe)
{
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_replica replica = {.struct_size = sizeof replica};
    struct xd_probed probed = {.struct_size = sizeof probed};

    if (xd_manifest_extent(m, file, i, &extent) < 0)
        return;
    json_open_object(j, NULL);
    json_count(j, "offset", extent.offset);
    json_size(j, "length", extent.length);
    json_open_array(j, "replicas");
    for (size_t k = 0; xd_manifest_replica(m, file, i, k, &replica) == 0; k++) {
        if (probe != NULL)
            xd_probe_get(probe, i, k, &probed);
        put_replica(j, &replica, &probed);
    }
    json_close_array(j);
    json_close_object(j);
}

/* Writes a shard.  Leaves out parity shards without a hash, because the
 * manifest does not list them. */
static void put_shard(struct json *j, const struct xd_manifest *m, size_t file,
                      size_t stripe, const struct xd_stripe *s, size_t i,
                      const struct xd_probe *probe)
{
    struct xd_shard shard = {.struct_size = sizeof shard};
    struct xd_replica replica = {.struct_size = sizeof replica};
    struct xd_probed probed = {.struct_size = sizeof probed};

    if (xd_manifest_shard(m, file, stripe, i, &shard) < 0 ||
        (i >= s->k && !shard.sha256))
        return;
    json_open_object(j, NULL);
    json_count(j, "number", i);
    json_size(j, "offset", i < s->k ? shard.offset : XD_SIZE_UNKNOWN);
    json_count(j, "length", shard.length);
    json_string(j, "sha256", shard.sha256);
    json_open_array(j, "replicas");
    for (size_t k = 0;
         xd_manifest_shard_replica(m, file, stripe, i, k, &replica) == 0; k++) {
        if (probe != NULL)
            xd_probe_get_shard(probe, stripe, i, k, &probed);
        put_replica(j, &replica, &probed);
    }
    json_close_array(j);
    json_close_object(j);
}

static void put_stripes(struct json *j, const struct xd_manifest *m,
                        size_t file, const struct xd_probe *probe)
{
    struct xd_stripe s = {.struct_size = sizeof s};

    json_open_array(j, "stripes");
    for (size_t i = 0; xd_manifest_stripe(m, file, i, &s) == 0; i++) {
        json_open_object(j, NULL);
        json_count(j, "number", s.number);
        json_count(j, "offset", s.offset);
        json_count(j, "length", s.length);
        json_count(j, "k", s.k);
        json_count(j, "n", s.n);
        json_count(j, "shard_length", s.shard_bytes);
        json_count(j, "losses", s.n_losses);
        json_open_array(j, "shards");
        for (size_t k = 0; k < s.n; k++)
            put_shard(j, m, file, i, &s, k, probe);
        json_close_array(j);
        json_close_object(j);
    }
    json_close_array(j);
}

static void put_file(struct json *j, const struct xd_manifest *m, size_t file,
                     const struct xd_probe *probe)
{
    struct xd_file f = {.struct_size = sizeof f};

    if (xd_manifest_file(m, file, &f) < 0)
        return;
    json_open_object(j, NULL);
    json_string(j, "name", f.name);
    json_string(j, "path", f.path);
    json_size(j, "size", f.size);
    put_hashes(j, m, file);
    put_pieces(j, &f);
    json_positive(j, "max_connections", f.max_connections);
    json_open_array(j, "extents");
    for (size_t i = 0; i < f.n_extents; i++)
        put_extent(j, m, file, i, probe);
    json_close_array(j);
    put_stripes(j, m, file, probe);
    json_close_object(j);
}

void show_json(const struct xd_manifest *m, size_t first, size_t end,
               struct xd_probe *const *probes)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_array(&j, "files");
    for (size_t i = first; i < end; i++)
        put_file(&j, m, i, probes[i - first]);
    json_close_array(&j);
    json_finish(&j);
}

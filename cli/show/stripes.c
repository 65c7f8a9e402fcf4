/* SPDX-License-Identifier: MIT */
#include "show/stripes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdpublish/parity.h>

#include "common/text.h"
#include "common/units.h"
#include "show/mappings.h"

#define LABEL "  %-10s "

/* Limits of the kinds and hosts that are listed.  If there are more, only their
 * number or existence is printed. */
#define KINDS_MAX 4
#define HOSTS_MAX 16

/* Stripes that differ only in their position in the file. */
struct kind {
    struct xd_stripe first;
    size_t n;
};

struct hosts {
    char *names[HOSTS_MAX];
    size_t n;
    bool are_more;
};

static const char *host_of(char out[TEXT_URL_SIZE], const struct xd_replica *r)
{
    text_host(out, r->url);
    return out[0] != '\0' ? out : "this machine";
}

static bool are_alike(const struct xd_stripe *a, const struct xd_stripe *b)
{
    return a->k == b->k && a->n == b->n && a->shard_bytes == b->shard_bytes &&
           a->n_losses == b->n_losses;
}

static void put_code(const struct xd_stripe *s)
{
    char size[UNITS_SIZE];

    printf("any %u of %u shards of %s, ", s->k, s->n,
           units_size(size, s->shard_bytes));
    if (s->n_losses > 0)
        printf("%u may be lost", s->n_losses);
    else
        fputs("none may be lost", stdout);
}

static void put_kinds(const struct xd_manifest *m, size_t file)
{
    struct kind kinds[KINDS_MAX] = {{.n = 0}};
    struct xd_stripe s = {.struct_size = sizeof s};
    size_t n = 0, others = 0;

    for (size_t i = 0; xd_manifest_stripe(m, file, i, &s) == 0; i++) {
        size_t k = 0;

        while (k < n && !are_alike(&kinds[k].first, &s))
            k++;
        if (k == n && n < KINDS_MAX)
            kinds[n++].first = s;
        if (k < n)
            kinds[k].n++;
        else
            others++;
    }
    for (size_t k = 0; k < n; k++) {
        printf(LABEL "%zu: ", k == 0 ? "stripes" : "", kinds[k].n);
        put_code(&kinds[k].first);
        putchar('\n');
    }
    if (others > 0)
        printf(LABEL "%zu others\n", "", others);
}

static void add_host(struct hosts *hosts, const struct xd_replica *r)
{
    char room[TEXT_URL_SIZE];
    const char *host = host_of(room, r);

    for (size_t i = 0; i < hosts->n; i++)
        if (strcmp(hosts->names[i], host) == 0)
            return;
    if (hosts->n < HOSTS_MAX)
        hosts->names[hosts->n] = strdup(host);
    if (hosts->n < HOSTS_MAX && hosts->names[hosts->n] != NULL)
        hosts->n++;
    else
        hosts->are_more = true;
}

static void add_hosts_of(struct hosts *hosts, const struct xd_manifest *m,
                         size_t file, size_t stripe, const struct xd_stripe *s)
{
    struct xd_replica r = {.struct_size = sizeof r};

    for (size_t k = s->k; k < s->n; k++)
        for (size_t i = 0;
             xd_manifest_shard_replica(m, file, stripe, k, i, &r) == 0; i++)
            add_host(hosts, &r);
}

static void put_hosts(const struct xd_manifest *m, size_t file)
{
    struct hosts hosts = {.n = 0};
    struct xd_stripe s = {.struct_size = sizeof s};

    for (size_t i = 0; xd_manifest_stripe(m, file, i, &s) == 0; i++)
        add_hosts_of(&hosts, m, file, i, &s);
    printf(LABEL, "parity");
    fputs(hosts.n > 0 ? "on " : "nowhere", stdout);
    for (size_t i = 0; i < hosts.n; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        text_put(stdout, hosts.names[i]);
        free(hosts.names[i]);
    }
    puts(hosts.are_more ? " and others" : "");
}

void stripes_put(const struct xd_manifest *m, size_t file)
{
    struct xd_stripe s = {.struct_size = sizeof s};

    if (xd_manifest_stripe(m, file, 0, &s) < 0)
        return;
    put_kinds(m, file);
    put_hosts(m, file);
}

/* ---- each shard ---- */

static void put_replica(const struct xd_replica *r, const struct xd_probed *p)
{
    char host[TEXT_URL_SIZE];

    printf("         %c%c%c  ", r->rights & XD_MAY_READ ? 'r' : '-',
           r->rights & XD_MAY_WRITE ? 'w' : '-',
           r->rights & XD_MAY_MANAGE ? 'm' : '-');
    text_put(stdout, host_of(host, r));
    if (r->offset > 0)
        printf("  from byte %" PRIu64, r->offset);
    if (r->expires != NULL) {
        fputs("  ", stdout);
        text_put(stdout, r->expires);
    }
    mappings_put_probed(p);
    putchar('\n');
}

/* Prints a shard.  Parity shards that the manifest lists have a hash; nothing
 * is known about other parity shards. */
static void put_shard(const struct xd_manifest *m, size_t file, size_t stripe,
                      const struct xd_stripe *s, size_t i,
                      const struct xd_probe *probe)
{
    struct xd_shard shard = {.struct_size = sizeof shard};
    struct xd_replica r = {.struct_size = sizeof r};
    struct xd_probed p = {.struct_size = sizeof p};

    if (xd_manifest_shard(m, file, stripe, i, &shard) < 0 ||
        (i >= s->k && !shard.sha256))
        return;
    printf("    %4zu ", i);
    if (i >= s->k)
        puts(shard.n_replicas > 0 ? "parity" : "parity, nowhere");
    else if (shard.length > 0)
        printf("bytes %" PRIu64 "-%" PRIu64 "\n", shard.offset,
               shard.offset + shard.length - 1);
    else
        puts("no bytes");
    for (size_t k = 0;
         xd_manifest_shard_replica(m, file, stripe, i, k, &r) == 0; k++) {
        if (probe != NULL)
            xd_probe_get_shard(probe, stripe, i, k, &p);
        put_replica(&r, &p);
    }
}

void stripes_put_shards(const struct xd_manifest *m, size_t file,
                        const struct xd_probe *probe)
{
    struct xd_stripe s = {.struct_size = sizeof s};

    for (size_t i = 0; xd_manifest_stripe(m, file, i, &s) == 0; i++) {
        printf("  stripe %" PRIu64 ", bytes %" PRIu64 "-%" PRIu64 ": ",
               s.number, s.offset, s.offset + s.length - 1);
        put_code(&s);
        putchar('\n');
        for (size_t k = 0; k < s.n; k++)
            put_shard(m, file, i, &s, k, probe);
    }
}

/* SPDX-License-Identifier: MIT */
#include "show/mappings.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <xdpublish/parity.h>

#include "common/text.h"
#include "common/units.h"
#include "common/words.h"

/* A warning is printed if less than this time in seconds remains until the
 * expiry: one day. */
#define SOON 86400

/* A mapping of the manifest. */
struct mapping {
    size_t number;
    struct xd_extent extent;
    struct xd_replica replica;
    /* the answer of the depot; its state is XD_PROBE_NONE if it was not
     * asked */
    struct xd_probed probed;
};

typedef void mapping_fn(void *user, const struct mapping *mapping);

/* Calls `fn` for all mappings with a known position in the file. */
static void visit(const struct xd_manifest *m, size_t file,
                  const struct xd_probe *probe, mapping_fn *fn, void *user)
{
    struct mapping at = {.extent = {.struct_size = sizeof at.extent},
                         .replica = {.struct_size = sizeof at.replica},
                         .probed = {.struct_size = sizeof at.probed}};

    for (size_t i = 0; xd_manifest_extent(m, file, i, &at.extent) == 0; i++)
        for (size_t j = 0; at.extent.length != XD_SIZE_UNKNOWN &&
                           xd_manifest_replica(m, file, i, j, &at.replica) == 0;
             j++) {
            if (probe != NULL)
                xd_probe_get(probe, i, j, &at.probed);
            fn(user, &at);
            at.number++;
        }
}

static void put_text(const char *text)
{
    if (text != NULL) {
        fputs("  ", stdout);
        text_put(stdout, text);
    }
}

void mappings_put_probed(const struct xd_probed *p)
{
    char left[UNITS_SIZE];

    switch (p->state) {
    case XD_PROBE_NONE:
        return;
    case XD_PROBE_ANSWERED:
        printf("  expires in %s, %" PRIu64 " of %" PRIu64 " bytes written",
               units_lifetime(left, p->lifetime_s), p->written, p->allocated);
        break;
    case XD_PROBE_FAILED:
        put_text(p->error);
        break;
    }
    if (p->right == XD_MAY_READ)
        fputs(" (asked by its read capability)", stdout);
}

static void put_mapping(void *user, const struct mapping *at)
{
    const struct xd_replica *r = &at->replica;
    char host[TEXT_URL_SIZE];

    (void)user;
    printf("  %4zu %c%c%c %12" PRIu64 " %12" PRIu64, at->number,
           r->rights & XD_MAY_READ ? 'r' : '-',
           r->rights & XD_MAY_WRITE ? 'w' : '-',
           r->rights & XD_MAY_MANAGE ? 'm' : '-', at->extent.offset,
           at->extent.length);
    put_text(text_host(host, r->url));
    put_text(r->expires);
    put_text(r->functions);
    mappings_put_probed(&at->probed);
    putchar('\n');
}

void mappings_put(const struct xd_manifest *m, size_t file,
                  const struct xd_probe *probe)
{
    visit(m, file, probe, put_mapping, NULL);
}

/* State of the warnings. */
struct warnings {
    uint64_t now; /* seconds since 1970 */
    size_t n;
};

/* Warns if the replica has expired or will soon expire, according to the
 * manifest.  `what` tells what is stored on `host`. */
static void warn_of_recorded(struct warnings *w, const struct xd_replica *r,
                             const struct xd_probed *p, const char *what,
                             const char *host)
{
    const char *more = p->state == XD_PROBE_NONE
                           ? ": --probe asks whether it was extended"
                           : "";
    char left[UNITS_SIZE];

    if (r->expires_at == 0 || r->expires_at > w->now + SOON)
        return;
    if (r->expires_at <= w->now)
        words_warning(w->n++, "%s on %s expired at %s, as recorded%s", what,
                      host, r->expires, more);
    else
        words_warning(w->n++, "%s on %s expires in %s, as recorded%s", what,
                      host, units_lifetime(left, r->expires_at - w->now), more);
}

static void warn(struct warnings *w, const struct xd_replica *r,
                 const struct xd_probed *p, const char *what)
{
    char left[UNITS_SIZE], host[TEXT_URL_SIZE];

    text_host(host, r->url);
    if (p->state != XD_PROBE_ANSWERED)
        warn_of_recorded(w, r, p, what, host);
    else if (p->lifetime_s <= SOON)
        words_warning(w->n++,
                      "%s on %s expires in %s: extend it, or fetch the file",
                      what, host, units_lifetime(left, p->lifetime_s));
}

static void warn_of_mapping(void *user, const struct mapping *at)
{
    char what[64];

    snprintf(what, sizeof what, "mapping %zu", at->number);
    warn(user, &at->replica, &at->probed, what);
}

static void warn_of_shard(struct warnings *w, const struct xd_manifest *m,
                          size_t file, size_t stripe, size_t shard,
                          const char *what, const struct xd_probe *probe)
{
    struct xd_replica r = {.struct_size = sizeof r};
    struct xd_probed p = {.struct_size = sizeof p};

    for (size_t i = 0;
         xd_manifest_shard_replica(m, file, stripe, shard, i, &r) == 0; i++) {
        if (probe != NULL)
            xd_probe_get_shard(probe, stripe, shard, i, &p);
        warn(w, &r, &p, what);
    }
}

static void warn_of_parity(struct warnings *w, const struct xd_manifest *m,
                           size_t file, const struct xd_probe *probe)
{
    struct xd_stripe s = {.struct_size = sizeof s};
    char what[96];

    for (size_t i = 0; xd_manifest_stripe(m, file, i, &s) == 0; i++)
        for (size_t k = s.k; k < s.n; k++) {
            snprintf(what, sizeof what, "shard %zu of stripe %" PRIu64, k,
                     s.number);
            warn_of_shard(w, m, file, i, k, what, probe);
        }
}

void mappings_warn(const struct xd_manifest *m, size_t file,
                   const struct xd_probe *probe)
{
    const time_t now = time(NULL);
    struct warnings w = {.now = now > 0 ? (uint64_t)now : 0};

    visit(m, file, probe, warn_of_mapping, &w);
    warn_of_parity(&w, m, file, probe);
    words_end_warnings(w.n);
}

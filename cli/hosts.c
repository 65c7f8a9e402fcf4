#include "hosts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The port that goes without saying. */
static const char *default_port(const char *url)
{
    if (strncasecmp(url, "http:", 5) == 0)
        return ":80";
    if (strncasecmp(url, "https:", 6) == 0)
        return ":443";
    if (strncasecmp(url, "ftp:", 4) == 0)
        return ":21";
    return "";
}

/* Whether `url` lies on the depot that the library calls `host`: "name" or
 * "name:port", in small letters, a port only where it must be said. */
static bool is_on(const char *url, const char *host)
{
    const char *authority = strstr(url, "://");

    if (authority == NULL)
        return false;
    authority += 3;
    size_t len = strcspn(authority, "/?#");
    const char *at = memchr(authority, '@', len);
    if (at != NULL) {
        len -= (size_t)(at + 1 - authority);
        authority = at + 1;
    }
    const size_t host_len = strlen(host);
    if (len < host_len || strncasecmp(authority, host, host_len) != 0)
        return false;
    const char *port = default_port(url);
    const size_t rest = len - host_len, port_len = strlen(port);
    return rest == 0 || (rest == 1 && authority[host_len] == ':') ||
           (rest == port_len &&
            strncmp(authority + host_len, port, port_len) == 0);
}

/* Extents come by their offsets, so what an earlier one covered is all before
 * one place. */
static void add(struct hosts *h, size_t depot, const struct xd_extent *extent)
{
    if (extent->length == XD_SIZE_UNKNOWN) {
        h->held[depot] = XD_SIZE_UNKNOWN;
        return;
    }
    const uint64_t end = extent->offset + extent->length;
    const uint64_t begin =
        extent->offset > h->end[depot] ? extent->offset : h->end[depot];
    if (end <= begin)
        return;
    h->held[depot] += end - begin;
    h->end[depot] = end;
}

static void add_replica(struct hosts *h, const struct snapshot *s,
                        const struct xd_extent *extent, const char *url)
{
    for (size_t i = 0; i < s->n_depots; i++)
        if (is_on(url, s->depots[i].host)) {
            add(h, i, extent);
            return;
        }
}

int hosts_init(struct hosts *h, const struct snapshot *s,
               const struct xd_manifest *m, size_t file)
{
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_replica replica = {.struct_size = sizeof replica};

    h->held = calloc(s->n_depots + 1, sizeof *h->held);
    h->end = calloc(s->n_depots + 1, sizeof *h->end);
    if (h->held == NULL || h->end == NULL) {
        hosts_fini(h);
        return -1;
    }
    for (size_t i = 0; xd_manifest_extent(m, file, i, &extent) == 0; i++)
        for (size_t j = 0; j < extent.n_replicas; j++)
            if (xd_manifest_replica(m, file, i, j, &replica) == 0)
                add_replica(h, s, &extent, replica.url);
    return 0;
}

void hosts_fini(struct hosts *h)
{
    free(h->held);
    free(h->end);
    *h = (struct hosts){NULL, NULL};
}

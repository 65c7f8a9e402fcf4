/* SPDX-License-Identifier: MIT */
#include "engine/depot_cache.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/servers.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "os/clock.h"
#include "os/small_file.h"
#include "sched/layout.h"

/* With fewer bytes, the measured rate is mostly latency. */
#define LEAST_BYTES (UINT64_C(256) << 10)

/* Higher latencies are not saved.  A depot this slow was overloaded, which says
 * nothing about the next run, and the timeout depends on the latency. */
#define MOST_LATENCY (300 * XD_MS)

#define LEARNED_SECONDS (UINT64_C(7) * 24 * 3600)

static const char *path_of(const struct xd_engine *e)
{
    const char *path = e->options.depot_cache;

    return path && path[0] ? path : NULL;
}

static int read_servers(struct xd_servers *out, const char *path,
                        struct xd_error *err)
{
    struct xd_text text = {.s = NULL};
    int rc = xd_small_file_read(&text, path, XD_SERVERS_BYTES, err);

    if (rc == 0) {
        rc = xd_servers_parse(out, text.s ? text.s : "", text.len,
                              xd_unix_time());
        if (rc == XD_E_NOMEM)
            xd_fail_nomem(err);
        else if (rc < 0)
            xd_fail(err, rc, "%s: is no cache of depots", path);
    }
    xd_text_fini(&text);
    return rc;
}

/* Takes over what earlier runs learned about connections to the depot.  After a
 * week it is tested again. */
static void recall(struct xd_depot *depot, const struct xd_server *server)
{
    if (xd_unix_time() - server->learned_at > LEARNED_SECONDS)
        return;
    depot->learned_at = server->learned_at;
    depot->known = (struct xd_learned){.useful = (unsigned)server->useful,
                                       .cap = (double)server->cap,
                                       .spreads = server->spreads,
                                       .ceiling = (unsigned)server->ceiling,
                                       .latency = server->learned_latency};
    depot->guess.learned = depot->known;
}

static void guess(struct xd_depot *depot, const struct xd_servers *servers)
{
    const struct xd_server *server;
    char *name;

    if (xd_server_name(&name, &depot->url) < 0)
        return;
    server = xd_servers_find(servers, name);
    xd_free(name);
    if (!server)
        return;
    recall(depot, server);
    depot->is_known = server->bytes_per_s > 0 || server->failures > 0;
    depot->promise =
        (double)server->bytes_per_s / (1 + (double)server->failures);
    /* a depot that failed may have recovered */
    if (server->failures > 0)
        return;
    depot->guess.rate = (double)server->bytes_per_s;
    if (server->latency <= MOST_LATENCY)
        depot->guess.latency = server->latency;
}

void xd_depot_cache_load(struct xd_engine *e)
{
    struct xd_servers servers = {0};
    struct xd_error error = {0};
    const char *path = path_of(e);

    if (!path)
        return;
    if (read_servers(&servers, path, &error) < 0)
        xd_engine_log_locked(e, XD_LOG_DEBUG, "%s", error.msg);
    for (size_t i = 0; i < e->depots.n; i++)
        guess(e->depots.list[i], &servers);
    xd_servers_fini(&servers);
    xd_depots_rank(&e->depots);
}

struct xd_learned xd_depot_cache_learned_locked(const struct xd_engine *e,
                                                const struct xd_depot *depot)
{
    return e->session.sched ? xd_sched_learned(e->session.sched, depot->number)
                            : depot->guess.learned;
}

/* Adds what is known about connections to the depot.  Results of an earlier run
 * keep their date, so that they are tested again no matter how often the depot
 * is used. */
static void add_learned_locked(const struct xd_engine *e,
                               const struct xd_depot *depot,
                               struct xd_server *out)
{
    struct xd_learned l = xd_depot_cache_learned_locked(e, depot);
    const struct xd_learned *known = &depot->known;

    if (l.useful == 0 && l.ceiling == 0)
        return;
    out->useful = l.useful;
    out->cap = (uint64_t)l.cap;
    out->ceiling = l.ceiling;
    out->spreads = l.spreads;
    out->learned_latency = l.latency;
    out->learned_at = out->seen;
    if (l.useful == known->useful && l.cap == known->cap &&
        l.ceiling == known->ceiling && l.spreads == known->spreads) {
        out->learned_latency = known->latency;
        out->learned_at = depot->learned_at;
    }
}

/* Returns what this run has learned about a depot, together with what was known
 * before. */
static struct xd_server seen_locked(const struct xd_engine *e,
                                    const struct xd_depot *depot,
                                    const struct xd_server *known)
{
    struct xd_server s = {.seen = xd_unix_time(), .failures = depot->failures};
    uint64_t bytes = depot->bytes + depot->bytes_redundant;

    if (known) {
        s.bytes_per_s = known->bytes_per_s;
        s.latency = known->latency;
        s.failures += known->failures / 2;
    }
    if (depot->first_byte != XD_NEVER)
        s.latency = depot->first_byte;
    /* a rate limit that we set would hide the depot's own rate */
    if (bytes >= LEAST_BYTES && depot->busy_time > 0 &&
        e->options.net.limit_rate == 0)
        s.bytes_per_s = (uint64_t)((double)bytes * (double)XD_SECOND /
                                   (double)depot->busy_time);
    add_learned_locked(e, depot, &s);
    return s;
}

/* Adds what this run observed to `servers`. */
static int add_seen(struct xd_engine *e, struct xd_servers *servers)
{
    int rc = 0;

    xd_engine_lock(e);
    for (size_t i = 0; rc != XD_E_NOMEM && i < e->depots.n; i++) {
        const struct xd_depot *depot = e->depots.list[i];
        struct xd_server server;
        char *name;

        if (depot->requests == 0)
            continue;
        rc = xd_server_name(&name, &depot->url);
        if (rc < 0)
            continue;
        server = seen_locked(e, depot, xd_servers_find(servers, name));
        server.name = name;
        rc = xd_servers_put(servers, &server);
        xd_free(name);
    }
    xd_engine_unlock(e);
    return rc == XD_E_NOMEM ? rc : 0;
}

static int write_servers(const struct xd_servers *servers, const char *path,
                         struct xd_error *err)
{
    struct xd_text text = {.s = NULL};
    int rc;

    xd_servers_write(servers, &text);
    rc = text.failed ? xd_fail_nomem(err)
                     : xd_small_file_replace(path, text.s, text.len, err);
    xd_text_fini(&text);
    return rc;
}

void xd_depot_cache_save(struct xd_engine *e)
{
    struct xd_servers servers = {0};
    struct xd_error error = {0};
    const char *path = path_of(e);
    int rc;

    if (!path)
        return;
    /* read again, because other runs may have written meanwhile */
    rc = read_servers(&servers, path, &error);
    if (rc == 0 && add_seen(e, &servers) < 0)
        rc = xd_fail_nomem(&error);
    if (rc == 0 && servers.n > 0)
        rc = write_servers(&servers, path, &error);
    if (rc < 0)
        xd_log(&e->log, XD_LOG_DEBUG, "%s", error.msg);
    xd_servers_fini(&servers);
}

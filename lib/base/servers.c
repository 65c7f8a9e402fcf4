/* SPDX-License-Identifier: MIT */
#include "base/servers.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/number.h"

/* The version, one digit, is the last character of the line. */
#define HEADER "xdownload depots 3\n"
#define HEADER_LENGTH (sizeof HEADER - 1)
#define DIGIT (HEADER_LENGTH - 2)

/* Longest server name: a host name has at most 253 bytes, and scheme and port
 * are added. */
#define LONGEST_NAME 300

/* Limits of plausible values.  A line with a larger value is ignored. */
#define MOST_BYTES_PER_S (UINT64_C(1) << 40)
#define MOST_LATENCY (3600 * XD_SECOND)
#define MOST_FAILURES 1000000
#define MOST_CONNECTIONS 1000

#define DAY UINT64_C(86400)

typedef unsigned long long ull;

void xd_servers_fini(struct xd_servers *s)
{
    for (size_t i = 0; i < s->n; i++)
        xd_free(s->list[i].name);
    xd_free(s->list);
    *s = (struct xd_servers){0};
}

int xd_server_name(char **out, const struct xd_url *url)
{
    struct xd_text name = {.s = NULL};
    char *depot;

    if (!(xd_scheme_is_web(url->scheme) || url->scheme == XD_SCHEME_IBP) ||
        url->host_len == 0 ||
        url->host_len > LONGEST_NAME - sizeof "https://:65535")
        return XD_E_INVAL;
    depot = xd_url_depot(url);
    if (depot)
        xd_text_addf(&name, "%s://%s", xd_scheme_name(url->scheme), depot);
    if (!depot || name.failed) {
        xd_free(depot);
        xd_text_fini(&name);
        return XD_E_NOMEM;
    }
    xd_free(depot);
    *out = name.s;
    return 0;
}

static struct xd_server *find(const struct xd_servers *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0)
            return &s->list[i];
    return NULL;
}

const struct xd_server *xd_servers_find(const struct xd_servers *s,
                                        const char *name)
{
    return find(s, name);
}

/* Returns a free element, or the oldest entry. */
static struct xd_server *room(struct xd_servers *s)
{
    struct xd_server *oldest = s->list;

    if (s->n < XD_SERVERS_MOST)
        return &s->list[s->n];
    for (size_t i = 1; i < s->n; i++)
        if (s->list[i].seen < oldest->seen)
            oldest = &s->list[i];
    return oldest;
}

int xd_servers_put(struct xd_servers *s, const struct xd_server *server)
{
    struct xd_server *place;
    char *name;

    if (!s->list)
        s->list = xd_alloc(XD_SERVERS_MOST, sizeof *s->list);
    if (!s->list)
        return XD_E_NOMEM;
    place = find(s, server->name);
    if (!place)
        place = room(s);
    /* A free element has seen == 0. */
    if (place->seen > server->seen)
        return 0;
    name = xd_strdup(server->name);
    if (!name)
        return XD_E_NOMEM;
    s->n += place == &s->list[s->n];
    xd_free(place->name);
    *place = *server;
    place->name = name;
    return 0;
}

/* Reads a number and the blank after it. */
static bool take_number(const char **at, const char *end, uint64_t most,
                        uint64_t *out)
{
    const char *blank = memchr(*at, ' ', (size_t)(end - *at));

    if (!blank || !xd_parse_u64(*at, (size_t)(blank - *at), out) || *out > most)
        return false;
    *at = blank + 1;
    return true;
}

/* Reads the rest of the line: a server name as xd_server_name() writes it. */
static int take_name(const char *at, const char *end, char **out)
{
    char name[LONGEST_NAME + 1];
    size_t len = (size_t)(end - at);
    struct xd_url url;
    char *proper;
    int rc;

    if (len >= sizeof name)
        return XD_E_INVAL;
    memcpy(name, at, len);
    name[len] = '\0';
    xd_url_parse(&url, name);
    rc = xd_server_name(&proper, &url);
    if (rc < 0)
        return rc;
    if (strlen(proper) != len || memcmp(proper, at, len) != 0) {
        xd_free(proper);
        return XD_E_INVAL;
    }
    *out = proper;
    return 0;
}

static bool take_learned(const char **at, const char *end, unsigned version,
                         struct xd_server *out)
{
    uint64_t spreads = 0;
    bool is_whole = take_number(at, end, out->seen, &out->learned_at) &&
                    take_number(at, end, MOST_CONNECTIONS, &out->useful) &&
                    take_number(at, end, MOST_BYTES_PER_S, &out->cap) &&
                    take_number(at, end, MOST_CONNECTIONS, &out->ceiling) &&
                    take_number(at, end, MOST_LATENCY, &out->learned_latency) &&
                    (version < 3 || take_number(at, end, 1, &spreads));

    out->spreads = spreads;
    return is_whole && (out->useful == 0 || out->cap > 0);
}

/* Returns 0, INVAL or NOMEM. */
static int put_line(struct xd_servers *s, const char *at, const char *end,
                    uint64_t now, unsigned version)
{
    struct xd_server server = {.name = NULL};
    int rc;

    if (!take_number(&at, end, now, &server.seen) ||
        !take_number(&at, end, MOST_BYTES_PER_S, &server.bytes_per_s) ||
        !take_number(&at, end, MOST_LATENCY, &server.latency) ||
        !take_number(&at, end, MOST_FAILURES, &server.failures) ||
        (version > 1 && !take_learned(&at, end, version, &server)) ||
        now - server.seen > XD_SERVERS_DAYS * DAY)
        return XD_E_INVAL;
    rc = take_name(at, end, &server.name);
    if (rc < 0)
        return rc;
    rc = xd_servers_put(s, &server);
    xd_free(server.name);
    return rc;
}

/* Returns the version of the file; 0 if it has another format. */
static unsigned version_of(const char *text, size_t len)
{
    if (len < HEADER_LENGTH || memcmp(text, HEADER, DIGIT) != 0 ||
        text[DIGIT] < '1' || text[DIGIT] > HEADER[DIGIT] ||
        text[DIGIT + 1] != '\n')
        return 0;
    return (unsigned)(text[DIGIT] - '0');
}

int xd_servers_parse(struct xd_servers *s, const char *text, size_t len,
                     uint64_t now)
{
    const char *at = text, *end = text + len, *line_end;
    unsigned version = version_of(text, len);

    if (len == 0)
        return 0;
    if (version == 0)
        return XD_E_INVAL;
    for (at += HEADER_LENGTH; at < end; at = line_end + 1) {
        line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end)
            break; /* the last line was cut off */
        if (put_line(s, at, line_end, now, version) == XD_E_NOMEM)
            return XD_E_NOMEM;
    }
    return 0;
}

void xd_servers_write(const struct xd_servers *s, struct xd_text *out)
{
    xd_text_addf(out, "%s", HEADER);
    for (size_t i = 0; i < s->n; i++) {
        const struct xd_server *v = &s->list[i];

        xd_text_addf(out, "%llu %llu %llu %llu ", (ull)v->seen,
                     (ull)v->bytes_per_s, (ull)v->latency, (ull)v->failures);
        xd_text_addf(out, "%llu %llu %llu %llu %llu %d %s\n",
                     (ull)v->learned_at, (ull)v->useful, (ull)v->cap,
                     (ull)v->ceiling, (ull)v->learned_latency, v->spreads,
                     v->name);
    }
}

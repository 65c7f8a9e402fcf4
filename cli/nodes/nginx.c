/* SPDX-License-Identifier: MIT */
/*
 * Writes the configuration of a node, for stock nginx (1.21.1 or later with the
 * slice module).
 *
 * Only three parts of a client's request reach an origin: the raw request URI,
 * Range and Xd-Match.  A map checks each of them first.
 */
#include "nodes/nginx.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "mesh/mesh.h"

typedef unsigned long long ull;

#define MIB ((uint64_t)1 << 20)
#define CACHE_BYTES ((uint64_t)10 << 30)

/* Debian's CA bundle. */
#define CA_FILE "/etc/ssl/certs/ca-certificates.crt"

/* Limits for origins: seconds of silence, and the lowest rate for a chunk. */
#define SILENCE_S 30u
#define SLOW_BYTES_PER_S ((uint64_t)64 << 10)

struct writer {
    struct xd_text t;
    const struct xd_mesh *m;
    const struct xd_mesh_node *self;
    struct xd_mesh_nginx asked;
};

/* ---- conversion to nginx syntax ---- */

static struct xd_url url_of(const char *s)
{
    struct xd_url u;

    (void)xd_url_parse(&u, s);
    return u;
}

static bool is_number(struct xd_span host)
{
    for (size_t i = 0; i < host.len; i++)
        if (strchr("0123456789.", host.s[i]) == NULL)
            return host.s[0] == '[';
    return true;
}

/* Returns the first http: address of the node, which nginx can use without
 * certificates; NULL if there is none. */
static const char *plain_address(const struct xd_mesh_node *n)
{
    for (size_t i = 0; i < n->n_addresses; i++)
        if (url_of(n->addresses[i]).scheme == XD_SCHEME_HTTP)
            return n->addresses[i];
    return NULL;
}

/* Appends an address such as "10.0.0.1:8080".  Unless `host` is NULL, it
 * replaces a host name. */
static void put_endpoint(struct writer *w, const char *url, const char *host)
{
    const struct xd_url u = url_of(url);
    const struct xd_span own = xd_url_host(&u);

    if (host == NULL || is_number(own))
        xd_text_addf(&w->t, "%.*s:%u", (int)own.len, own.s, u.port);
    else
        xd_text_addf(&w->t, "%s:%u", host, u.port);
}

/* Appends host and port as in the URL. */
static void put_authority(struct writer *w, const char *url)
{
    const char *begin = strstr(url, "://") + 3;

    xd_text_add(&w->t, begin, strcspn(begin, "/"));
}

/* Appends a string as a regular expression.  Special characters are put in
 * brackets, because nginx would interpret backslashes. */
static void put_literal(struct writer *w, const char *s)
{
    for (; *s != '\0'; s++) {
        if (*s == '[' || *s == ']')
            xd_text_addf(&w->t, "\\%c", *s);
        else if (strchr(".+?|", *s) != NULL)
            xd_text_addf(&w->t, "[%c]", *s);
        else
            xd_text_addf(&w->t, "%c", *s);
    }
}

static bool has_tls(const struct xd_mesh *m)
{
    for (size_t i = 0; i < m->n_origins; i++)
        if (url_of(m->origins[i]).scheme == XD_SCHEME_HTTPS)
            return true;
    return false;
}

/* Returns the first origin on the same server as origin `i`, which may be `i`
 * itself. */
static size_t upstream_of(const struct xd_mesh *m, size_t i)
{
    const struct xd_url u = url_of(m->origins[i]);

    for (size_t k = 0; k < i; k++) {
        const struct xd_url other = url_of(m->origins[k]);

        if (xd_url_same_origin(&u, &other))
            return k;
    }
    return i;
}

/* ---- sections ---- */

static const char head[] =
    "# stops it.  Several nodes can run on one machine.\n"
    "#\n"
    "# It fetches files in chunks from the origins below, and from no other "
    "server,\n"
    "# keeps the chunks, and serves them to clients that verify them.\n"
    "\n"
    "pid nginx.pid;\n"
    "error_log error.log warn;\n"
    "worker_processes auto;\n"
    "worker_rlimit_nofile 8192;\n"
    "events { worker_connections 2048; }\n"
    "\n"
    "http {\n"
    "    client_body_temp_path tmp-body;\n"
    "    proxy_temp_path tmp-proxy;\n"
    "    fastcgi_temp_path tmp-fastcgi;\n"
    "    uwsgi_temp_path tmp-uwsgi;\n"
    "    scgi_temp_path tmp-scgi;\n"
    "    log_format node '$time_iso8601 $remote_addr \"$request\" $status '\n"
    "                    '$body_bytes_sent $upstream_cache_status '\n"
    "                    '\"$http_range\" hop=$http_xd_hop $upstream_addr '\n"
    "                    '$request_time';\n"
    "    access_log access.log node;\n"
    "    server_tokens off;\n"
    "    sendfile on;\n"
    "    # Of a slice, nginx would keep the last bytes back for 200 ms.\n"
    "    tcp_nopush off;\n"
    "    keepalive_requests 100000;\n"
    "    map_hash_max_size 4096;\n"
    "    map_hash_bucket_size 512;\n"
    "    large_client_header_buffers 4 16k;\n"
    "    client_header_timeout 10s;\n"
    "    reset_timedout_connection on;\n";

static void put_head(struct writer *w)
{
    xd_text_addf(
        &w->t,
        "# Node %s of a mesh of caches, for stock nginx with its slice "
        "module.\n"
        "# In the folder of this file, as an ordinary user,\n"
        "#\n"
        "#     nginx -p . -c nginx.conf\n"
        "#\n"
        "# starts it: logs, cache and process id stay in this folder.  "
        "With\n"
        "#\n"
        "#     nginx -p . -c nginx.conf -s quit\n"
        "#\n",
        w->self->id);
    xd_text_add(&w->t, head, sizeof head - 1);
}

/* 1 MiB of keys holds 8,000 chunks.  Only half of that is assumed, because the
 * last chunks of files are short. */
static void put_cache(struct writer *w)
{
    const uint64_t keys = w->asked.cache_bytes / w->m->chunk;

    xd_text_addf(&w->t,
                 "\n    # When the cache is full, the least recently used "
                 "chunk is deleted.\n"
                 "    proxy_cache_path cache levels=1:2 "
                 "keys_zone=chunks:%llum max_size=%llum\n"
                 "                     inactive=365d use_temp_path=off;\n",
                 (ull)(keys / 4000 + 2), (ull)(w->asked.cache_bytes / MIB));
}

/* Only the origins in this map are ever contacted. */
static void put_origins(struct writer *w)
{
    const struct xd_mesh *m = w->m;

    xd_text_addf(&w->t, "\n    # The origins.  A request is for one of them, "
                        "whatever its Host says.\n"
                        "    map $request_uri $xd_origin {\n"
                        "        default \"\";\n");
    for (size_t i = 0; i < m->n_origins; i++) {
        const struct xd_url u = url_of(m->origins[i]);
        const char *scheme = xd_scheme_name(u.scheme);

        xd_text_addf(&w->t, "        \"~^/%s/", scheme);
        put_literal(w, strstr(m->origins[i], "://") + 3);
        xd_text_addf(&w->t, "\" %s://origin_%zu;\n", scheme, upstream_of(m, i));
    }
    xd_text_addf(&w->t, "    }\n    map $xd_origin $xd_host {\n");
    for (size_t i = 0; i < m->n_origins; i++) {
        if (upstream_of(m, i) != i)
            continue;
        xd_text_addf(&w->t, "        %s://origin_%zu ",
                     xd_scheme_name(url_of(m->origins[i]).scheme), i);
        put_authority(w, m->origins[i]);
        xd_text_addf(&w->t, ";\n");
    }
    xd_text_addf(&w->t, "    }\n"
                        "    map $xd_host $xd_name {\n"
                        "        \"~^(.*?)(:[0-9]+)?$\" $1;\n    }\n"
                        "    map $request_uri $xd_path {\n"
                        "        \"~^/https?/[^/]+(/.*)$\" $1;\n    }\n");
}

static void put_origin_servers(struct writer *w)
{
    xd_text_addf(&w->t, "\n    # Their addresses are looked up when nginx "
                        "starts, and when it is\n    # reloaded.\n");
    for (size_t i = 0; i < w->m->n_origins; i++) {
        if (upstream_of(w->m, i) != i)
            continue;
        xd_text_addf(&w->t, "    upstream origin_%zu {\n        server ", i);
        put_endpoint(w, w->m->origins[i], NULL);
        xd_text_addf(&w->t, ";\n        keepalive 16;\n    }\n");
    }
}

static const char checks[] =
    "\n    # What is refused: a URI that two servers could read differently, "
    "as it\n"
    "    # came and before nginx decodes it; other forms of a request; "
    "bodies;\n"
    "    # conditions of a range; what is no strong ETag.\n"
    "    map $request_uri $xd_bad_uri {\n"
    "        default 1;\n"
    "        \"~%(2[eEfF]|5[cC]|[01][0-9a-fA-F]|7[fF])\" 1;\n"
    "        \"~%(?![0-9a-fA-F]{2})\" 1;\n"
    "        \"~^[^?]*//\" 1;\n"
    "        \"~^[^?]*/[.][.]?(/|[?]|$)\" 1;\n"
    "        "
    "\"~^/https?/[-A-Za-z0-9._:\\[\\]]+/[-A-Za-z0-9._~!$&'()*+,;=:@/"
    "%]*([?][-A-Za-z0-9._~!$&'()*+,;=:@/%?]*)?$\" 0;\n"
    "    }\n"
    "    map $request $xd_bad_form {\n"
    "        default 1;\n"
    "        \"~^(GET|HEAD) /[^ ]* HTTP/1[.][01]$\" 0;\n"
    "    }\n"
    "    map \"$http_content_length$http_transfer_encoding\" $xd_bad_body {\n"
    "        default 1;\n"
    "        \"\" 0;\n"
    "        0 0;\n"
    "    }\n"
    "    map $http_if_range $xd_bad_condition {\n"
    "        default 1;\n"
    "        \"\" 0;\n"
    "    }\n"
    "    map $http_xd_match $xd_bad_match {\n"
    "        default 1;\n"
    "        \"\" 0;\n"
    "        '~^\"[\\x21\\x23-\\x7e]{0,197}\"$' 0;\n"
    "    }\n"
    "    map "
    "$xd_bad_uri$xd_bad_form$xd_bad_body$xd_bad_condition$xd_bad_match "
    "$xd_refused {\n"
    "        default 1;\n"
    "        00000 0;\n"
    "    }\n";

/*
 * Asked for several chunks, nginx fetches them one after the other.  If one
 * breaks off, nginx appends the next, so that later bytes are misplaced.
 * Therefore a range must lie within one chunk; $slice_range has the last byte
 * of that chunk.  The maps compare two decimal numbers by length and then by
 * the first digit that differs.
 */
static const char ranges[] =
    "\n    # A range lies within one chunk: \"last byte of the range, last "
    "byte "
    "of the\n    # chunk\".  The first number must not be larger: it has "
    "fewer "
    "digits, or is equal,\n    # or has the smaller digit where "
    "they first differ.\n"
    "    map $http_range $xd_last {\n"
    "        default -;\n"
    "        \"~^bytes=(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,14})$\" $2;\n"
    "    }\n"
    "    map \"$xd_last $slice_range\" $xd_is_within {\n"
    "        default 0;\n"
    "        \"~^(?:\\d(?=\\d* bytes=\\d+-(\\1?+\\d)))+ bytes=\\d+-\\1\\d\" "
    "1;\n"
    "        \"~^(\\d+) bytes=\\d+-\\1$\" 1;\n"
    "        \"~^(?=(?:\\d(?=\\d* bytes=\\d+-(\\1?+\\d)))+ bytes=\\d+-\\1$)"
    "(\\d*)(?:0\\d* bytes=\\d+-\\2[1-9]|1\\d* bytes=\\d+-\\2[2-9]|"
    "2\\d* bytes=\\d+-\\2[3-9]|3\\d* bytes=\\d+-\\2[4-9]|"
    "4\\d* bytes=\\d+-\\2[5-9]|5\\d* bytes=\\d+-\\2[6-9]|"
    "6\\d* bytes=\\d+-\\2[7-9]|7\\d* bytes=\\d+-\\2[89]|"
    "8\\d* bytes=\\d+-\\2[9])\" 1;\n"
    "    }\n";

static const char stores[] =
    "\n    # What is not kept: all but ranges; answers to requests with\n"
    "    # credentials, which are not passed on either; answers with cookies;\n"
    "    # answers that differ by more than headers which no origin is sent; "
    "another\n"
    "    # version than the client asks for.  nginx sees to Cache-Control.\n"
    "    map \"$http_authorization$http_cookie$http_proxy_authorization\" "
    "$xd_credentials {\n"
    "        default 1;\n"
    "        \"\" 0;\n"
    "    }\n"
    "    map $upstream_http_vary $xd_varies {\n"
    "        default 1;\n"
    "        \"\" 0;\n"
    "        \"~*^(( *, "
    "*)?(accept-encoding|origin|access-control-request-(headers|method)))+ "
    "*$\" 0;\n"
    "    }\n"
    "    map $upstream_http_set_cookie $xd_sets_cookie {\n"
    "        default 1;\n"
    "        \"\" 0;\n"
    "    }\n"
    "    map $upstream_http_xd_cache $xd_peer_keeps {\n"
    "        default 1;\n"
    "        NOSTORE 0;\n"
    "        BYPASS 0;\n"
    "    }\n"
    "    map $upstream_status $xd_is_range {\n"
    "        default 0;\n"
    "        \"~(^|[ ,:])206$\" 1;\n"
    "    }\n"
    "    map \"$http_xd_match $upstream_http_etag\" $xd_is_version {\n"
    "        default 0;\n"
    "        \"~^ \" 1;\n"
    "        '~^([^ ]+) \\1$' 1;\n"
    "    }\n"
    "    map $xd_credentials$xd_varies$xd_sets_cookie$xd_peer_keeps "
    "$xd_private {\n"
    "        default 1;\n"
    "        0001 0;\n"
    "    }\n"
    "    map $xd_private$xd_is_range$xd_is_version $xd_drops {\n"
    "        default 1;\n"
    "        011 0;\n"
    "    }\n"
    "\n    # Xd-Cache: what nginx says, or NOSTORE where the file is none for "
    "caches.\n"
    "    map $upstream_http_cache_control $xd_is_uncached {\n"
    "        default 0;\n"
    "        \"~*(^|[ ,])(no-store|no-cache|private|(s-max|max-)age=0)\" 1;\n"
    "    }\n"
    "    map $upstream_cache_status:$xd_private$xd_is_uncached $xd_cache {\n"
    "        default $upstream_cache_status;\n"
    "        \"~^(MISS|EXPIRED):.*1\" NOSTORE;\n"
    "    }\n"
    "    map $http_cache_control $xd_only_cached {\n"
    "        default 0;\n"
    "        \"~*(^|[ ,])only-if-cached($|[ ,])\" 1;\n"
    "    }\n"
    "    upstream nothing {\n"
    "        server 127.0.0.1:9 down;\n"
    "    }\n";

static void put_peers(struct writer *w)
{
    const char *own = plain_address(w->self);

    xd_text_addf(
        &w->t, "\n    # A node that does not own a chunk asks the owner, "
               "which the client\n    # names; if that does not answer, it "
               "asks itself for what the origin\n    # has.  A request that "
               "came from a node goes to no other node.\n"
               "    map $xd_credentials$http_xd_hop:$http_xd_owner $xd_peer {\n"
               "        default \"\";\n");
    for (size_t i = 0; i < w->m->n_nodes; i++) {
        const struct xd_mesh_node *n = &w->m->nodes[i];

        if (n != w->self && plain_address(n) != NULL)
            xd_text_addf(&w->t, "        0:%s http://node_%zu;\n", n->id, i);
    }
    xd_text_addf(
        &w->t, "    }\n\n    # What nodes have from one that sends wrong "
               "bytes, or wait for from one that\n    # hangs, stays where it "
               "is; a client that has found that out names it, and\n    # they "
               "fetch the chunk once more.\n"
               "    map $http_xd_instead $xd_instead {\n"
               "        default \"\";\n");
    for (size_t i = 0; i < w->m->n_nodes; i++)
        xd_text_addf(&w->t, "        %s \" instead of %s\";\n",
                     w->m->nodes[i].id, w->m->nodes[i].id);
    xd_text_addf(&w->t, "    }\n"
                        "    map \"$http_xd_hop $remote_addr $server_addr\" "
                        "$xd_from_itself {\n"
                        "        default 0;\n"
                        "        \"~^");
    put_literal(w, w->self->id);
    xd_text_addf(&w->t, " ([^ ]+) \\1$\" 1;\n    }\n");
    for (size_t i = 0; i < w->m->n_nodes; i++) {
        const struct xd_mesh_node *n = &w->m->nodes[i];

        if (n == w->self || plain_address(n) == NULL)
            continue;
        xd_text_addf(&w->t, "    upstream node_%zu {\n        server ", i);
        put_endpoint(w, plain_address(n), NULL);
        xd_text_addf(&w->t, " max_fails=3 fail_timeout=10s;\n        server ");
        put_endpoint(w, own, "127.0.0.1");
        xd_text_addf(&w->t, " backup;\n        keepalive 16;\n    }\n");
    }
}

static void put_listen(struct writer *w)
{
    const char *own = plain_address(w->self);

    xd_text_addf(&w->t, "\n    server {\n        listen ");
    put_endpoint(w, own, "0.0.0.0");
    xd_text_addf(&w->t, ";\n        slice %llu;\n", (ull)w->m->chunk);
}

/* The origins are appended one by one, because nginx limits a line of its
 * configuration to 4 KiB. */
static void put_status(struct writer *w)
{
    xd_text_addf(&w->t, "        location = /xd-status {\n"
                        "            default_type application/json;\n"
                        "            set $xd_origins '';\n");
    for (size_t i = 0; i < w->m->n_origins; i++)
        xd_text_addf(&w->t,
                     "            set $xd_origins '$xd_origins%s\"%s\"';\n",
                     i > 0 ? ", " : "", w->m->origins[i]);
    xd_text_addf(&w->t,
                 "            return 200 '{\"id\": \"%s\", \"chunk\": %llu, "
                 "\"hops\": %u, \"origins\": [$xd_origins]}\\n';\n"
                 "        }\n",
                 w->self->id, (ull)w->m->chunk, w->m->hops);
}

static const char server[] =
    "\n        # Of a client's header nothing else is passed on.\n"
    "        proxy_http_version 1.1;\n"
    "        proxy_pass_request_headers off;\n"
    "        proxy_set_header Host $xd_host;\n"
    "        proxy_set_header Connection \"\";\n"
    "        proxy_set_header User-Agent xdownload-node;\n"
    "        proxy_set_header Accept-Encoding identity;\n"
    "        proxy_set_header Range $slice_range;\n"
    "        proxy_set_header If-Match $http_xd_match;\n"
    "        proxy_hide_header Set-Cookie;\n"
    "        proxy_hide_header Vary;\n"
    "        proxy_hide_header Xd-Node;\n"
    "        proxy_hide_header Xd-Cache;\n"
    "        proxy_ignore_headers Vary X-Accel-Redirect X-Accel-Expires\n"
    "                             X-Accel-Limit-Rate X-Accel-Buffering "
    "X-Accel-Charset;\n"
    "        proxy_max_temp_file_size 0;\n"
    "        proxy_buffer_size 16k;\n"
    "        proxy_buffers 16 64k;\n"
    "        proxy_busy_buffers_size 128k;\n"
    "        proxy_connect_timeout 10s;\n"
    "        proxy_next_upstream error timeout;\n"
    "        proxy_next_upstream_tries 2;\n"
    "\n        proxy_cache chunks;\n"
    "        proxy_cache_valid 206 1h;\n"
    "        proxy_cache_revalidate on;\n"
    "        proxy_cache_bypass $xd_credentials;\n"
    "        proxy_no_cache $xd_drops;\n"
    "        add_header Xd-Cache $xd_cache always;\n";

static bool asks_peers(const struct writer *w)
{
    return w->m->hops > 1 && w->m->n_nodes > 1;
}

static void put_server(struct writer *w)
{
    const ull fill = w->asked.fill_s;

    put_listen(w);
    xd_text_add(&w->t, server, sizeof server - 1);
    xd_text_addf(&w->t,
                 "        proxy_cache_key \"$request_uri $http_xd_match "
                 "$slice_range%s\";\n",
                 asks_peers(w) ? "$xd_instead" : "");
    xd_text_addf(&w->t, "        add_header Xd-Node %s always;\n", w->self->id);
    xd_text_addf(&w->t,
                 "\n        # One request fills a chunk, and all others wait "
                 "for it.  After\n        # %llu s, longer than the origin "
                 "takes for one, another may try.\n"
                 "        proxy_cache_lock on;\n"
                 "        proxy_cache_lock_age %llus;\n"
                 "        proxy_cache_lock_timeout %llus;\n"
                 "        proxy_read_timeout %us;\n",
                 fill, fill, 2 * fill, SILENCE_S);
    if (has_tls(w->m))
        xd_text_addf(&w->t,
                     "\n        proxy_ssl_verify on;\n"
                     "        proxy_ssl_verify_depth 6;\n"
                     "        proxy_ssl_trusted_certificate \"%s\";\n"
                     "        proxy_ssl_server_name on;\n"
                     "        proxy_ssl_name $xd_name;\n"
                     "        proxy_ssl_protocols TLSv1.2 TLSv1.3;\n",
                     w->asked.ca_file);
    xd_text_addf(&w->t, "\n");
    put_status(w);
}

static const char route[] =
    "\n        # A status of our own, which no client sees, leads to each of "
    "the\n"
    "        # named locations.\n"
    "        recursive_error_pages on;\n"
    "        location / {\n"
    "            error_page 471 = @cached;\n"
    "            if ($request_method !~ \"^(GET|HEAD)$\") { return 405; }\n"
    "            if ($xd_refused) { return 400; }\n"
    "            if ($xd_origin = \"\") { return 403; }\n"
    "            if ($xd_is_within = 0) { return 416; }\n"
    "            if ($xd_only_cached) { return 471; }\n";

static const char cached[] =
    "            proxy_pass $xd_origin$xd_path;\n"
    "        }\n"
    "\n        # What the cache has; else 504, and nothing is asked.\n"
    "        location @cached {\n"
    "            error_page 502 = @absent;\n"
    "            error_log error.log crit;\n"
    "            proxy_cache_lock off;\n"
    "            proxy_cache_use_stale error;\n"
    "            proxy_pass http://nothing;\n"
    "        }\n"
    "        location @absent { return 504; }\n";

static void put_peer_location(struct writer *w)
{
    const ull fill = w->asked.fill_s;

    xd_text_addf(&w->t,
                 "\n        location @peer {\n"
                 "            proxy_set_header Host $proxy_host;\n"
                 "            proxy_set_header Connection \"\";\n"
                 "            proxy_set_header User-Agent xdownload-node;\n"
                 "            proxy_set_header Accept-Encoding identity;\n"
                 "            proxy_set_header Range $slice_range;\n"
                 "            proxy_set_header Xd-Match $http_xd_match;\n"
                 "            proxy_set_header Xd-Instead $http_xd_instead;\n"
                 "            proxy_set_header Xd-Hop %s;\n"
                 "            proxy_connect_timeout 2s;\n"
                 "            proxy_read_timeout %llus;\n"
                 "            proxy_cache_lock_age %llus;\n"
                 "            proxy_cache_lock_timeout %llus;\n"
                 "            proxy_next_upstream error timeout http_502 "
                 "http_504;\n"
                 "            proxy_pass $xd_peer$request_uri;\n"
                 "        }\n",
                 w->self->id, fill, 2 * fill + SILENCE_S, 4 * fill);
    xd_text_addf(&w->t,
                 "\n        # In place of an owner that does not answer: "
                 "whoever asks has the\n        # lock.\n"
                 "        location @itself {\n"
                 "            proxy_cache off;\n"
                 "            proxy_pass $xd_origin$xd_path;\n"
                 "        }\n");
}

static void put_locations(struct writer *w)
{
    xd_text_add(&w->t, route, sizeof route - 1);
    if (asks_peers(w))
        xd_text_addf(&w->t,
                     "            error_page 472 = @peer;\n"
                     "            error_page 473 = @itself;\n"
                     "            if ($xd_from_itself) { return 473; }\n"
                     "            if ($xd_peer != \"\") { return 472; }\n");
    xd_text_add(&w->t, cached, sizeof cached - 1);
    if (asks_peers(w))
        put_peer_location(w);
    xd_text_addf(&w->t, "    }\n}\n");
}

static int check(struct writer *w, struct xd_error *err)
{
    struct xd_mesh_nginx *a = &w->asked;

    if (a->cache_bytes == 0)
        a->cache_bytes = CACHE_BYTES;
    if (a->fill_s == 0)
        a->fill_s = SILENCE_S + w->m->chunk / SLOW_BYTES_PER_S;
    if (a->ca_file == NULL)
        a->ca_file = CA_FILE;
    if (plain_address(w->self) == NULL)
        return xd_fail(err, XD_E_INVAL,
                       "node %s has no http address for nginx to listen on",
                       w->self->id);
    if (a->cache_bytes < w->m->chunk * 16)
        return xd_fail(err, XD_E_INVAL,
                       "a cache of %llu bytes is too small: 16 chunks of %llu "
                       "are the least",
                       (ull)a->cache_bytes, (ull)w->m->chunk);
    if (a->fill_s > XD_MESH_FILL_MOST_S)
        return xd_fail(err, XD_E_INVAL, "%llu s for a chunk are more than %u s",
                       (ull)a->fill_s, XD_MESH_FILL_MOST_S);
    for (const char *s = a->ca_file; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || strchr("\"\\$", *s) != NULL)
            return xd_fail(err, XD_E_INVAL,
                           "%s: a configuration of nginx cannot name this file",
                           a->ca_file);
    return 0;
}

int xd_mesh_nginx_text(const struct xd_mesh *m, size_t node,
                       const struct xd_mesh_nginx *asked, char **out,
                       struct xd_error *err)
{
    struct writer w = {.m = m};
    int rc;

    *out = NULL;
    if (node >= m->n_nodes)
        return xd_fail(err, XD_E_INVAL, "the mesh has no node number %zu",
                       node);
    w.self = &m->nodes[node];
    if (asked != NULL)
        w.asked = *asked;
    rc = check(&w, err);
    if (rc < 0)
        return rc;
    put_head(&w);
    put_cache(&w);
    put_origins(&w);
    put_origin_servers(&w);
    xd_text_add(&w.t, checks, sizeof checks - 1);
    xd_text_add(&w.t, ranges, sizeof ranges - 1);
    xd_text_add(&w.t, stores, sizeof stores - 1);
    if (asks_peers(&w))
        put_peers(&w);
    put_server(&w);
    put_locations(&w);
    if (w.t.failed) {
        xd_text_fini(&w.t);
        return xd_fail_nomem(err);
    }
    *out = w.t.s;
    return 0;
}

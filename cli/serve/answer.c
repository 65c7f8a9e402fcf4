/* SPDX-License-Identifier: MIT */
#include "serve/answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/http_words.h"
#include "common/moment.h"
#include "serve/page_files.h"
#include "serve/serve_page.h"

/* What is read at a time, and the memory for it, one for each connection. */
#define PORTION ((size_t)128 << 10)

/* A client that read no more of a file before its end may have looked for an
 * index. */
#define INDEX_BYTES ((uint64_t)256 << 10)

/* How often its position is recorded. */
#define TRACE_EVERY_S 0.1

/* A file on its way to a client. */
struct stream {
    struct disconnects *disconnects;
    struct catalog *catalog;
    struct catalog_source *of; /* entered */
    struct xd_reader *reader;
    uint64_t size;   /* of the file */
    uint64_t begin;  /* of what is sent */
    unsigned traced; /* its number in the trace */
    double traced_s; /* moment_s() of its last counter */
};

void answer_header(struct MHD_Response *r, const char *name, const char *value)
{
    /* It fails for lack of memory, and then the answer does soon. */
    (void)MHD_add_response_header(r, name, value);
}

/* What the page is made of comes from here, and nothing of it from within the
 * page itself: a name that got through as HTML could do nothing. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

static struct answer with_headers(unsigned status, struct MHD_Response *r,
                                  const char *type)
{
    if (r == NULL)
        return (struct answer){0};
    answer_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    answer_header(r, "X-Content-Type-Options", "nosniff");
    answer_header(r, "Content-Security-Policy", policy);
    answer_header(r, "Referrer-Policy", "no-referrer");
    answer_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    return (struct answer){status, r};
}

static struct answer answer_text(unsigned status, char *text, size_t len,
                                 const char *type)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

    if (r == NULL)
        free(text);
    return with_headers(status, r, type);
}

static const char *sentence(unsigned status)
{
    switch (status) {
    case MHD_HTTP_BAD_REQUEST:
        return "The request is not complete.\n";
    case MHD_HTTP_FORBIDDEN:
        return "Requests by this name, or from this origin, are refused.\n";
    case MHD_HTTP_NOT_FOUND:
        return "There is nothing here.\n";
    case MHD_HTTP_METHOD_NOT_ALLOWED:
        return "Only GET and HEAD are understood.\n";
    case MHD_HTTP_RANGE_NOT_SATISFIABLE:
        return "The range lies behind the end of the file.\n";
    case MHD_HTTP_BAD_GATEWAY:
        return "The file could not be obtained.\n";
    case MHD_HTTP_CONFLICT:
        return "Another page plays this file.\n";
    case MHD_HTTP_SERVICE_UNAVAILABLE:
        return "Too many pages, or files, are open.\n";
    default:
        return "";
    }
}

struct answer answer_status(unsigned status)
{
    char *text = strdup(sentence(status));

    if (text == NULL)
        return (struct answer){0};
    const struct answer a =
        answer_text(status, text, strlen(text), "text/plain");
    if (a.response != NULL && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        answer_header(a.response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, OPTIONS");
    return a;
}

struct answer answer_refusal(unsigned status)
{
    const struct answer a = answer_status(status);

    if (a.response != NULL)
        answer_header(a.response, MHD_HTTP_HEADER_CONNECTION, "close");
    return a;
}

struct answer answer_options(void)
{
    const struct answer a = answer_status(MHD_HTTP_NO_CONTENT);

    if (a.response == NULL)
        return a;
    answer_header(a.response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, OPTIONS");
    answer_header(a.response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS,
                  "GET, HEAD");
    answer_header(a.response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS,
                  "Range, If-Range");
    return a;
}

struct answer answer_page(struct catalog *s)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return (struct answer){0};
    serve_page_put(to, s);
    fclose(to);
    return answer_text(MHD_HTTP_OK, text, len, "text/html; charset=utf-8");
}

struct answer answer_page_file(const char *name)
{
    const struct page_file *f = page_files;

    while (f->name != NULL && strcmp(f->name, name) != 0)
        f++;
    if (f->name == NULL)
        return answer_status(MHD_HTTP_NOT_FOUND);
    /* It is only read: MHD has no other type for it. */
    return with_headers(
        MHD_HTTP_OK,
        MHD_create_response_from_buffer(f->len, (void *)(uintptr_t)f->bytes,
                                        MHD_RESPMEM_PERSISTENT),
        f->type);
}

struct answer answer_events(struct MHD_Connection *c, struct events *e)
{
    struct MHD_Response *r = events_response(e, c);

    return r != NULL ? with_headers(MHD_HTTP_OK, r, "text/event-stream")
                     : answer_status(MHD_HTTP_SERVICE_UNAVAILABLE);
}

/* The number that the query has under `name`, from 0 to `most`; < 0: none. */
static double asked_number(struct MHD_Connection *c, const char *name,
                           double most)
{
    const char *text =
        MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
    char *end;

    if (text == NULL)
        return -1;
    const double x = strtod(text, &end);
    return end != text && *end == '\0' && x >= 0 && x <= most ? x : -1;
}

/* Longer than any film, faster than any player. */
#define MEDIA_S 1e7
#define SPEED 100

static bool read_player(struct MHD_Connection *c, struct board_player *p,
                        const struct catalog *s)
{
    static const char *const states[] = {[XD_PLAYING] = "playing",
                                         [XD_PAUSED] = "paused",
                                         [XD_WAITING] = "waiting",
                                         [XD_SEEKING] = "seeking",
                                         [XD_ENDED] = "ended"};
    const char *state =
        MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "state");
    const double file = asked_number(c, "file", (double)s->n);
    size_t i = 0;

    while (state != NULL && i < sizeof states / sizeof *states &&
           strcmp(states[i], state) != 0)
        i++;
    *p = (struct board_player){
        .id = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "id"),
        .state = (enum xd_play_state)i,
        .at_s = asked_number(c, "at", MEDIA_S),
        .of_s = asked_number(c, "of", MEDIA_S),
        .speed = asked_number(c, "speed", SPEED)};
    if (file < 1 || file != floor(file) || p->id == NULL || state == NULL ||
        i == sizeof states / sizeof *states || p->at_s < 0 || p->of_s < 0 ||
        p->speed < 0 || !http_is_plain(p->id))
        return false;
    p->file = (size_t)file - 1;
    return true;
}

struct answer answer_player(struct MHD_Connection *c, struct board *b,
                            const struct catalog *s)
{
    struct board_player p;

    if (!read_player(c, &p, s))
        return answer_status(MHD_HTTP_BAD_REQUEST);
    return answer_status(board_play(b, &p) ? MHD_HTTP_NO_CONTENT
                                           : MHD_HTTP_CONFLICT);
}

struct answer answer_playlist(const struct catalog *s, const char *host)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return (struct answer){0};
    serve_playlist_put(to, s, host);
    fclose(to);
    return answer_text(MHD_HTTP_OK, text, len, "audio/x-mpegurl");
}

/* Of a file that has a gap others may still be served. */
static void report_failure(const struct stream *s, int rc)
{
    struct xd_error err = {.code = XD_OK};

    xd_reader_error(s->reader, &err);
    catalog_report_failure(s->catalog, s->of->file, rc, err.msg);
}

/* The next bytes of the answer, which come in order.  With the last one of the
 * file the client has all, and no status can be sent any more: it waits for
 * what the reader says of its end. */
static ssize_t send_next(void *user, uint64_t at, char *to, size_t room)
{
    struct stream *s = user;
    char none;

    (void)at;
    const int64_t n = xd_reader_read(s->reader, to, room, -1);
    if (moment_s() - s->traced_s >= TRACE_EVERY_S) {
        trace_reader_at(s->of->trace, s->traced, xd_reader_position(s->reader));
        s->traced_s = moment_s();
    }
    if (n < 0 && n != XD_E_CANCELED)
        report_failure(s, (int)n);
    if (n <= 0 || (xd_reader_position(s->reader) == s->size &&
                   xd_reader_read(s->reader, &none, 1, -1) != 0))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (xd_reader_position(s->reader) == s->size &&
        (s->begin == 0 || s->size - s->begin > INDEX_BYTES))
        s->of->is_read_out = true;
    return (ssize_t)n;
}

static void end_stream(void *user)
{
    struct xd_playback p = {.struct_size = sizeof p};
    struct stream *s = user;

    disconnects_remove(s->disconnects, s->reader);
    if (s->traced != 0)
        trace_reader_end(s->of->trace, s->traced,
                         xd_reader_position(s->reader));
    xd_reader_playback(s->reader, &p);
    atomic_fetch_add(&s->of->file->blocked_ms,
                     (uint_least64_t)(p.blocked_s * 1e3));
    xd_reader_free(s->reader);
    catalog_leave(s->catalog, s->of, CATALOG_CLIENT);
    free(s);
}

/* A client of the file from now on.  NULL without memory. */
static struct stream *begin_stream(struct MHD_Connection *c,
                                   struct catalog *catalog,
                                   struct catalog_source *of,
                                   struct disconnects *l)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct stream *s = malloc(sizeof *s);
    struct xd_error err;

    if (s == NULL)
        return NULL;
    *s = (struct stream){.disconnects = l, .catalog = catalog, .of = of};
    if (xd_reader_new(&s->reader, of->source, &err) < 0) {
        free(s);
        return NULL;
    }
    disconnects_add(l, info->connect_fd, s->reader);
    return s;
}

/* The range of a file that has not changed since the client saw it. */
static enum http_range asked_range(struct MHD_Connection *c, const char *etag,
                                   uint64_t size, uint64_t *out_begin,
                                   uint64_t *out_end)
{
    const char *range =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_RANGE);
    const char *if_range = MHD_lookup_connection_value(
        c, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_RANGE);

    if (if_range != NULL && strcmp(if_range, etag) != 0)
        return HTTP_RANGE_NONE;
    return http_range(range, size, out_begin, out_end);
}

static struct answer answer_outside(const char *etag, uint64_t size)
{
    const struct answer a = answer_status(MHD_HTTP_RANGE_NOT_SATISFIABLE);
    char range[60];

    snprintf(range, sizeof range, "bytes */%" PRIu64, size);
    if (a.response != NULL) {
        answer_header(a.response, MHD_HTTP_HEADER_CONTENT_RANGE, range);
        answer_header(a.response, MHD_HTTP_HEADER_ETAG, etag);
    }
    return a;
}

/* The stream is the response's then, or ended. */
static struct answer answer_bytes(struct stream *s, uint64_t begin,
                                  uint64_t end)
{
    const struct catalog_source *of = s->of;
    struct answer a = {.status = MHD_HTTP_OK};

    s->begin = begin;
    s->traced = trace_reader_begin(of->trace, begin);
    if (xd_reader_seek(s->reader, begin) >= 0)
        a.response = MHD_create_response_from_callback(
            end - begin, PORTION, send_next, s, end_stream);
    if (a.response == NULL) {
        end_stream(s);
        return a;
    }
    answer_header(a.response, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
    answer_header(a.response, MHD_HTTP_HEADER_CONTENT_TYPE, of->file->type);
    answer_header(a.response, MHD_HTTP_HEADER_ETAG, of->etag);
    answer_header(a.response, "X-Content-Type-Options", "nosniff");
    return a;
}

static struct answer answer_stream(struct stream *s, struct MHD_Connection *c,
                                   bool is_get)
{
    enum http_range kind = HTTP_RANGE_NONE;
    const int64_t size = xd_reader_size(s->reader, -1);

    if (size < 0) {
        end_stream(s);
        return answer_status(MHD_HTTP_BAD_GATEWAY);
    }
    uint64_t begin = 0, end = (uint64_t)size;
    s->size = end;
    if (is_get)
        kind = asked_range(c, s->of->etag, end, &begin, &end);
    if (kind == HTTP_RANGE_OUTSIDE) {
        const struct answer a = answer_outside(s->of->etag, (uint64_t)size);
        end_stream(s);
        return a;
    }
    struct answer a = answer_bytes(s, begin, end);
    if (a.response != NULL && kind == HTTP_RANGE_SOME) {
        char range[100];
        snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRId64,
                 begin, end - 1, size);
        answer_header(a.response, MHD_HTTP_HEADER_CONTENT_RANGE, range);
        a.status = MHD_HTTP_PARTIAL_CONTENT;
    }
    return a;
}

struct answer answer_file(struct MHD_Connection *c, struct catalog *catalog,
                          struct catalog_file *f, bool is_get,
                          struct disconnects *l)
{
    struct catalog_source *of;
    struct xd_error err;

    const int rc = catalog_enter(catalog, f, CATALOG_CLIENT, &of, &err);
    if (rc < 0)
        return answer_status(rc == XD_E_AGAIN ? MHD_HTTP_SERVICE_UNAVAILABLE
                                              : MHD_HTTP_BAD_GATEWAY);
    struct stream *s = begin_stream(c, catalog, of, l);
    if (s != NULL)
        return answer_stream(s, c, is_get);
    catalog_leave(catalog, of, CATALOG_CLIENT);
    return (struct answer){0};
}

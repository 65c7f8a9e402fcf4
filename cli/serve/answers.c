/* SPDX-License-Identifier: MIT */
#include "serve/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/readers.h"
#include "common/http_words.h"
#include "common/moment.h"
#include "serve/page_files.h"
#include "serve/serve_page.h"

/* Number of bytes read at a time.  The buffer of each connection has the same
 * size. */
#define PORTION ((size_t)128 << 10)

/* Largest number of bytes that a client reads near the end of a file when it
 * only looks for an index. */
#define INDEX_BYTES ((uint64_t)256 << 10)

/* Seconds between recorded positions of a reader. */
#define TRACE_EVERY_S 0.1

/* A file being sent to a client. */
struct stream {
    struct disconnects *disconnects;
    struct catalog *catalog;
    struct catalog_source *of; /* from catalog_enter() */
    struct xd_reader *reader;
    uint64_t size;   /* size of the file */
    uint64_t begin;  /* first byte of the range */
    unsigned traced; /* number of this reader in the trace */
    double traced_s; /* moment_s() of the last recorded position */
};

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
    /* The cast is safe: libmicrohttpd only reads the buffer. */
    return answer_with_headers(
        MHD_HTTP_OK,
        MHD_create_response_from_buffer(f->len, (void *)(uintptr_t)f->bytes,
                                        MHD_RESPMEM_PERSISTENT),
        f->type);
}

struct answer answer_events(struct MHD_Connection *c, struct events *e)
{
    struct MHD_Response *r = events_response(e, c);

    return r != NULL ? answer_with_headers(MHD_HTTP_OK, r, "text/event-stream")
                     : answer_status(MHD_HTTP_SERVICE_UNAVAILABLE);
}

/* Returns the query parameter `name` as a number from 0 to `most`.  Returns a
 * negative number if it is missing or invalid. */
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

/* Limits for valid reports: a length in seconds that no film exceeds, and a
 * speed that no player exceeds. */
#define MEDIA_S 1e7
#define SPEED 100

static bool read_player(struct MHD_Connection *c, struct board_player *p,
                        const struct catalog *s)
{
    static const char *const states[] = {[XD_PLAY_RUNNING] = "playing",
                                         [XD_PLAY_PAUSED] = "paused",
                                         [XD_PLAY_WAITING] = "waiting",
                                         [XD_PLAY_SEEKING] = "seeking",
                                         [XD_PLAY_ENDED] = "ended"};
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

/* Records that a file has failed.  Other files can still be served. */
static void report_failure(const struct stream *s, int rc)
{
    struct xd_error err = {.code = XD_OK};

    xd_reader_error(s->reader, &err);
    catalog_report_failure(s->catalog, s->of->file, rc, err.msg);
}

/* Sends the next bytes.  Before it sends the last byte, it waits until the
 * reader confirms the end of the file, because no error can be sent after the
 * last byte. */
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

/* Creates a stream for a client of the file.  Returns NULL if memory runs
 * out. */
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

/* Returns a response that owns the stream.  On failure, ends the stream and
 * returns NULL. */
static struct MHD_Response *response_of(struct stream *s, uint64_t begin,
                                        uint64_t end)
{
    struct MHD_Response *r = NULL;

    s->begin = begin;
    s->traced = trace_reader_begin(s->of->trace, begin);
    if (xd_reader_seek(s->reader, begin) >= 0)
        r = MHD_create_response_from_callback(end - begin, PORTION, send_next,
                                              s, end_stream);
    if (r == NULL)
        end_stream(s);
    return r;
}

static struct answer answer_stream(struct stream *s, struct MHD_Connection *c,
                                   bool is_get)
{
    const struct catalog_source *of = s->of;
    enum http_range kind = HTTP_RANGE_NONE;
    const int64_t size = xd_reader_size(s->reader, -1);

    if (size < 0) {
        end_stream(s);
        return answer_status(MHD_HTTP_BAD_GATEWAY);
    }
    const struct answer_file f = {
        .size = (uint64_t)size, .type = of->file->type, .etag = of->etag};
    uint64_t begin = 0, end = s->size = f.size;
    if (is_get)
        kind = answer_range(c, &f, &begin, &end);
    if (kind == HTTP_RANGE_OUTSIDE) {
        const struct answer a = answer_outside(&f);
        end_stream(s);
        return a;
    }
    struct MHD_Response *r = response_of(s, begin, end);
    return r != NULL ? answer_part(&f, kind, begin, end, r)
                     : (struct answer){0};
}

struct answer answer_catalog_file(struct MHD_Connection *c,
                                  struct catalog *catalog,
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

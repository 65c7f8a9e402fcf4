/* SPDX-License-Identifier: MIT */
#include "trace/trace_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <xdownload/manifest.h>

#include "common/words.h"
#include "trace/trace_format.h"

/* Limits for numbers, so that a hostile trace does not cause overflows. */
#define MOST_USEC 1e15
#define MOST_BYTES 1e18
#define MOST_DEPOTS 1000000U

/* The type of a member of an event. */
enum holds { TEXT, TIME, BYTES, COUNT };

#define MEMBER(name, is_argument, holds, field)                        \
    {                                                                  \
        name, is_argument, holds, offsetof(struct trace_event, field), \
            sizeof(((struct trace_event *)NULL)->field)                \
    }

/* The members of events that are read, and their fields in struct
 * trace_event. */
static const struct member {
    const char *name;
    bool is_argument; /* whether it is a member of "args" */
    enum holds holds;
    size_t offset, size;
} members[] = {
    MEMBER("name", false, TEXT, name),
    MEMBER("ph", false, TEXT, phase),
    MEMBER("cat", false, TEXT, category),
    MEMBER("ts", false, TIME, at),
    MEMBER("dur", false, TIME, lasts),
    MEMBER("pid", false, COUNT, run),
    MEMBER("id", false, COUNT, depot),
    MEMBER("name", true, TEXT, text),
    MEMBER("host", true, TEXT, host),
    MEMBER("error", true, TEXT, error),
    MEMBER("received", true, BYTES, received),
    MEMBER("bytes", true, BYTES, received),
    MEMBER("in_order", true, BYTES, in_order),
    MEMBER("size", true, BYTES, size),
    MEMBER("lost", true, BYTES, lost),
    MEMBER("first_byte", true, TIME, first_byte),
    MEMBER("name_lookup", true, TIME, name_lookup),
    MEMBER("connect", true, TIME, connect),
    MEMBER("depot", true, COUNT, depot),
    MEMBER("format", true, COUNT, format),
};

void trace_reader_init(struct trace_reader *r, FILE *from, const char *path)
{
    *r = (struct trace_reader){.path = path};
    json_reader_init(&r->json, from);
}

static int fail(char *why, size_t size, const char *format, ...)
    XD_PRINTF(3, 4);

static int fail(char *why, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return -1;
}

static void copy(char *to, size_t size, const char *from)
{
    const size_t len = strlen(from);
    const size_t n = len < size ? len : size - 1;

    memcpy(to, from, n);
    to[n] = '\0';
}

static double bounded(double x, double most)
{
    if (!(x > 0))
        return 0;
    return x < most ? x : most;
}

/* ---- members ---- */

static void store(struct trace_event *e, const struct member *m,
                  const struct json_reader *j)
{
    char *at = (char *)e + m->offset;
    double time;
    uint64_t bytes;
    unsigned count;

    switch (m->holds) {
    case TEXT:
        copy(at, m->size, j->text);
        break;
    case TIME:
        time = bounded(j->number, MOST_USEC) / 1e6;
        memcpy(at, &time, sizeof time);
        break;
    case BYTES:
        bytes = (uint64_t)bounded(j->number, MOST_BYTES);
        memcpy(at, &bytes, sizeof bytes);
        break;
    case COUNT:
        count = (unsigned)bounded(j->number, 4e9);
        memcpy(at, &count, sizeof count);
        break;
    }
}

static const struct member *find_member(const char *name, bool is_argument,
                                        enum json_token token)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct member *m = &members[i];
        if (m->is_argument == is_argument && strcmp(m->name, name) == 0 &&
            token == (m->holds == TEXT ? JSON_STRING : JSON_NUMBER))
            return m;
    }
    return NULL;
}

/* Reads the members of the event, or of its "args", up to the closing brace. */
static bool read_object(struct json_reader *j, struct trace_event *e,
                        bool is_argument)
{
    char name[32];

    for (enum json_token t = json_reader_next(j);; t = json_reader_next(j)) {
        if (t == JSON_CLOSE_OBJECT)
            return true;
        if (t != JSON_STRING)
            return false;
        copy(name, sizeof name, j->text);
        if (json_reader_next(j) != JSON_COLON)
            return false;
        t = json_reader_next(j);
        const struct member *m = find_member(name, is_argument, t);
        if (m != NULL)
            store(e, m, j);
        else if (t == JSON_OPEN_OBJECT && !is_argument &&
                 strcmp(name, "args") == 0) {
            if (!read_object(j, e, true))
                return false;
        } else if (!json_reader_skip(j, t))
            return false;
        t = json_reader_next(j);
        if (t == JSON_CLOSE_OBJECT)
            return true;
        if (t != JSON_COMMA)
            return false;
    }
}

/* ---- events ---- */

/* Determines the kind of the event.  Returns false if the kind is unknown. */
static bool classify(struct trace_event *e)
{
    static const struct {
        const char *phase, *category, *name; /* NULL: any name */
        enum trace_kind kind;
    } kinds[] = {
        {"M", "", "process_name", TRACE_NAME},
        {"M", "", "thread_name", TRACE_NAME},
        {"i", "run", "begin", TRACE_OTHER},
        {"i", "run", "end", TRACE_END},
        {"i", "log", NULL, TRACE_OTHER},
        {"X", "request", NULL, TRACE_REQUEST},
        {"C", "bytes", NULL, TRACE_BYTES},
        {"C", "depot", NULL, TRACE_DEPOT},
        {"C", "player", NULL, TRACE_OTHER},
    };

    if (e->run == 0 || e->depot > MOST_DEPOTS)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        e->kind = kinds[i].kind;
        if (strcmp(e->phase, kinds[i].phase) == 0 &&
            strcmp(e->category, kinds[i].category) == 0 &&
            (kinds[i].name == NULL || strcmp(e->name, kinds[i].name) == 0))
            return true;
    }
    return false;
}

static int fail_no_trace(const struct trace_reader *r, char *why, size_t size)
{
    return fail(why, size,
                "%s: is no trace of xdownload: a trace is made with "
                "--trace FILE",
                r->path);
}

/* Reads the opening bracket, and the event that contains the version of the
 * format. */
static int begin(struct trace_reader *r, struct trace_event *e, char *why,
                 size_t size)
{
    *e = (struct trace_event){.format = 0};
    if (json_reader_next(&r->json) != JSON_OPEN_ARRAY ||
        json_reader_next(&r->json) != JSON_OPEN_OBJECT ||
        !read_object(&r->json, e, false) ||
        strcmp(e->name, "xdownload_trace") != 0)
        return fail_no_trace(r, why, size);
    if (e->format != TRACE_FORMAT)
        return fail(why, size,
                    "%s: is a trace of format %u, and this xdownload reads "
                    "format %d: use the version that has written it",
                    r->path, e->format, TRACE_FORMAT);
    r->has_begun = true;
    return 1;
}

static int fail_event(const struct trace_reader *r, char *why, size_t size)
{
    return fail(why, size, "%s: line %" PRIu64 " is no event of a trace",
                r->path, r->json.line);
}

/* Reads up to the opening brace of the next event.  Returns 1; 0 at the end of
 * the trace; or -1 on failure. */
static int find_event(struct trace_reader *r, char *why, size_t size)
{
    enum json_token token = json_reader_next(&r->json);

    if (token == JSON_COMMA)
        token = json_reader_next(&r->json);
    if (token == JSON_OPEN_OBJECT)
        return 1;
    r->has_ended = token == JSON_CLOSE_ARRAY || token == JSON_END;
    r->is_torn = token == JSON_END;
    if (r->has_ended)
        return 0;
    return fail_event(r, why, size);
}

int trace_reader_next(struct trace_reader *r, struct trace_event *out,
                      char *why, size_t size)
{
    int rc = r->has_begun ? 1 : begin(r, out, why, size);

    while (rc == 1 && !r->has_ended) {
        rc = find_event(r, why, size);
        if (rc != 1)
            return rc;
        *out = (struct trace_event){.first_byte = -1, .size = XD_SIZE_UNKNOWN};
        if (read_object(&r->json, out, false)) {
            if (classify(out))
                return 1;
            continue;
        }
        if (!feof(r->json.from))
            return fail_event(r, why, size);
        r->has_ended = r->is_torn = true;
    }
    return rc < 0 ? rc : 0;
}

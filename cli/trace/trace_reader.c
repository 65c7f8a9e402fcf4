/* SPDX-License-Identifier: MIT */
#include "trace/trace_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <xdownload/manifest.h>

#include "common/words.h"
#include "trace/trace_format.h"

/* Times and depots of hostile traces are bounded: arithmetic with them is not to
 * overflow. */
#define MOST_USEC 1e15
#define MOST_BYTES 1e18
#define MOST_DEPOTS 1000000U

#define WORD 32

/* One object, before it is known what it says. */
struct raw {
    struct trace_event event;
    char phase[WORD], category[WORD], algorithm[WORD], outcome[WORD];
    char text[TRACE_TEXT]; /* args.name */
    double format, position;
    bool has_received;
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

static double seconds(double usec)
{
    return bounded(usec, MOST_USEC) / 1e6;
}

static uint64_t bytes(double x)
{
    return (uint64_t)bounded(x, MOST_BYTES);
}

static unsigned count(double x)
{
    return (unsigned)bounded(x, 4e9);
}

/* ---- members ---- */

static void take_text(struct raw *raw, const char *name, const char *text)
{
    struct trace_event *e = &raw->event;
    const struct {
        const char *name;
        char *to;
        size_t size;
    } members[] = {
        {"host", e->host, sizeof e->host},
        {"reason", e->reason, sizeof e->reason},
        {"error", e->error, sizeof e->error},
        {"algorithm", raw->algorithm, sizeof raw->algorithm},
        {"outcome", raw->outcome, sizeof raw->outcome},
        {"name", raw->text, sizeof raw->text},
    };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, name) == 0)
            copy(members[i].to, members[i].size, text);
}

static void take_number(struct raw *raw, const char *name, double x)
{
    struct trace_event *e = &raw->event;
    const struct {
        const char *name;
        uint64_t *bytes;
        double *seconds;
        unsigned *count;
    } members[] = {
        {"begin", &e->begin, NULL, NULL},
        {"end", &e->end, NULL, NULL},
        {"received", &e->received, NULL, NULL},
        {"bytes", &e->received, NULL, NULL},
        {"duplicate", &e->duplicate, NULL, NULL},
        {"in_order", &e->in_order, NULL, NULL},
        {"stored", &e->stored, NULL, NULL},
        {"position", &e->in_order, NULL, NULL},
        {"size", &e->size, NULL, NULL},
        {"lost", &e->lost, NULL, NULL},
        {"queued", NULL, &e->queued, NULL},
        {"first_byte", NULL, &e->first_byte, NULL},
        {"name_lookup", NULL, &e->name_lookup, NULL},
        {"connect", NULL, &e->connect, NULL},
        {"depot", NULL, NULL, &e->depot},
        {"lane", NULL, NULL, &e->lane},
    };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].name, name) != 0)
            continue;
        if (members[i].bytes != NULL)
            *members[i].bytes = bytes(x);
        else if (members[i].seconds != NULL)
            *members[i].seconds = seconds(x);
        else
            *members[i].count = count(x);
    }
    if (strcmp(name, "format") == 0)
        raw->format = x;
    if (strcmp(name, "stalled") == 0)
        e->is_stalled = x > 0;
}

static bool take_args(struct trace_reader *r, struct raw *raw);

/* A member of the event itself, or of its arguments. */
static bool take_member(struct trace_reader *r, struct raw *raw,
                        const char *name, bool is_argument)
{
    struct json_reader *j = &r->json;
    struct trace_event *e = &raw->event;
    const enum json_token token = json_reader_next(j);

    if (!is_argument && token == JSON_OPEN_OBJECT && strcmp(name, "args") == 0)
        return take_args(r, raw);
    if (token == JSON_STRING && is_argument)
        take_text(raw, name, j->text);
    else if (token == JSON_STRING && strcmp(name, "name") == 0)
        copy(e->name, sizeof e->name, j->text);
    else if (token == JSON_STRING && strcmp(name, "ph") == 0)
        copy(raw->phase, sizeof raw->phase, j->text);
    else if (token == JSON_STRING && strcmp(name, "cat") == 0)
        copy(raw->category, sizeof raw->category, j->text);
    else if (token == JSON_NUMBER && is_argument)
        take_number(raw, name, j->number);
    else if (token == JSON_NUMBER && strcmp(name, "ts") == 0)
        e->at = seconds(j->number);
    else if (token == JSON_NUMBER && strcmp(name, "dur") == 0)
        e->lasts = seconds(j->number);
    else if (token == JSON_NUMBER && strcmp(name, "pid") == 0)
        e->run = count(j->number);
    else if (token == JSON_NUMBER && strcmp(name, "tid") == 0)
        e->thread = count(j->number);
    else if (token == JSON_NUMBER && strcmp(name, "id") == 0)
        e->depot = count(j->number);
    else if (token == JSON_WORD && is_argument && strcmp(name, "virtual") == 0)
        e->is_virtual = strcmp(j->text, "true") == 0;
    else
        return json_reader_skip(j, token);
    return true;
}

/* Members up to the closing brace, behind the opening one. */
static bool take_object(struct trace_reader *r, struct raw *raw,
                        bool is_argument)
{
    struct json_reader *j = &r->json;
    char name[WORD];

    for (enum json_token t = json_reader_next(j);; t = json_reader_next(j)) {
        if (t == JSON_CLOSE_OBJECT)
            return true;
        if (t != JSON_STRING)
            return false;
        copy(name, sizeof name, j->text);
        if (json_reader_next(j) != JSON_COLON ||
            !take_member(r, raw, name, is_argument))
            return false;
        t = json_reader_next(j);
        if (t == JSON_CLOSE_OBJECT)
            return true;
        if (t != JSON_COMMA)
            return false;
    }
}

static bool take_args(struct trace_reader *r, struct raw *raw)
{
    return take_object(r, raw, true);
}

/* ---- events ---- */

/* What the object says; false: nothing that is known. */
static bool understand(const struct raw *raw, struct trace_event *out)
{
    const struct {
        const char *phase, *category, *name; /* name NULL: any */
        enum trace_kind kind;
        const char *text; /* in place of the name, or NULL */
    } kinds[] = {
        {"M", "", "process_name", TRACE_RUN, raw->text},
        {"M", "", "thread_name", TRACE_LANE, raw->text},
        {"i", "run", "begin", TRACE_BEGIN, raw->algorithm},
        {"i", "run", "end", TRACE_END, raw->outcome},
        {"i", "log", NULL, TRACE_LOG, NULL},
        {"X", "request", NULL, TRACE_REQUEST, NULL},
        {"C", "bytes", NULL, TRACE_BYTES, NULL},
        {"C", "depot", NULL, TRACE_DEPOT, NULL},
        {"C", "player", NULL, TRACE_PLAYER, NULL},
    };

    if (raw->event.run == 0 || raw->event.depot > MOST_DEPOTS)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(raw->phase, kinds[i].phase) != 0 ||
            strcmp(raw->category, kinds[i].category) != 0 ||
            (kinds[i].name != NULL &&
             strcmp(raw->event.name, kinds[i].name) != 0))
            continue;
        *out = raw->event;
        out->kind = kinds[i].kind;
        if (kinds[i].text != NULL)
            copy(out->name, sizeof out->name, kinds[i].text);
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

/* The array, and the event that says of which format it is. */
static int begin(struct trace_reader *r, char *why, size_t size)
{
    struct raw raw = {.format = -1};

    if (json_reader_next(&r->json) != JSON_OPEN_ARRAY ||
        json_reader_next(&r->json) != JSON_OPEN_OBJECT ||
        !take_object(r, &raw, false) ||
        strcmp(raw.event.name, "xdownload_trace") != 0)
        return fail_no_trace(r, why, size);
    if (raw.format != TRACE_FORMAT)
        return fail(why, size,
                    "%s: is a trace of format %.0f, and this xdownload reads "
                    "format %d: use the version that has written it",
                    r->path, raw.format, TRACE_FORMAT);
    r->has_begun = true;
    return 1;
}

/* What stands between two events, up to the brace of the next: 1, 0 at the end, or
 * -1. */
static int pass_on(struct trace_reader *r, char *why, size_t size)
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
    return fail(why, size, "%s: line %" PRIu64 " is no event of a trace",
                r->path, r->json.line);
}

int trace_reader_next(struct trace_reader *r, struct trace_event *out,
                      char *why, size_t size)
{
    int rc = r->has_begun ? 1 : begin(r, why, size);

    while (rc == 1 && !r->has_ended) {
        struct raw raw = {.event = {.first_byte = -1,
                                    .end = XD_SIZE_UNKNOWN,
                                    .size = XD_SIZE_UNKNOWN}};

        rc = pass_on(r, why, size);
        if (rc != 1)
            return rc;
        if (!take_object(r, &raw, false)) {
            if (!feof(r->json.from))
                return fail(why, size,
                            "%s: line %" PRIu64 " is no event of a trace",
                            r->path, r->json.line);
            r->has_ended = r->is_torn = true;
            return 0;
        }
        if (understand(&raw, out))
            return 1;
    }
    return rc < 0 ? rc : 0;
}

/* SPDX-License-Identifier: MIT */
#include "engine/options.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/hosts.h"
#include "base/number.h"
#include "command/settings.h"
#include "engine/option_texts.h"
#include "io/net_texts.h"
#include "os/cancel.h"
#include "sched/sched.h"

/* Default number of connections per depot, and how many of them are opened
 * first.  Browsers, too, open six to a host. */
#define MOST_LANES 6
#define FIRST_LANES 2

/* Number of parallel requests for short files on one connection; many servers
 * allow that many.  All depots together get at most MOST_REQUESTS, because each
 * decision examines all of them. */
#define MOST_STREAMS 50
#define MOST_REQUESTS 400

enum algorithm {
    ALG_ADAPTIVE,
    ALG_BASIC,
    ALG_AGGRESSIVE,
    ALG_PROGRESS,
    ALG_ADAPTIVE2, /* not in the manual yet */
    N_ALGORITHMS
};

static const char *const algorithm_names[N_ALGORITHMS] = {
    [ALG_ADAPTIVE] = "adaptive",     [ALG_BASIC] = "basic",
    [ALG_AGGRESSIVE] = "aggressive", [ALG_PROGRESS] = "progress",
    [ALG_ADAPTIVE2] = "adaptive2",
};

/* Sets of algorithms, for the options that only some of them use. */
enum {
    ADAPTIVE = 1 << ALG_ADAPTIVE,
    BASIC = 1 << ALG_BASIC,
    AGGRESSIVE = 1 << ALG_AGGRESSIVE,
    PROGRESS = 1 << ALG_PROGRESS,
    ADAPTIVE2 = 1 << ALG_ADAPTIVE2,
    ALL = ADAPTIVE | BASIC | AGGRESSIVE | PROGRESS | ADAPTIVE2
};

enum kind {
    /* numbers */
    CHOICE,
    COUNT,
    COUNT_OR_AUTO,
    SIZE,
    RATE, /* bytes per second */
    TIME,
    LOOKAHEAD, /* a SIZE, or a TIME in seconds */
    SWITCH,
    RANGE,
    /* texts */
    PATTERNS, /* lists of patterns for hosts (base/hosts.h) */
    SERVERS,  /* lists of hosts and URLs of servers, without patterns */
    TEXT,
    COUNTRIES,
    SECRET,
    LOGIN,
    HEADER, /* lines */
    PROXY
};

#define LEAST_LOOKAHEAD_TIME XD_SECOND
#define MOST_LOOKAHEAD_TIME (3600 * XD_SECOND)

struct row {
    const char *name;
    size_t offset; /* offset of the field in struct xd_options */
    enum kind kind;
    const char *argument;
    uint64_t least, most;
    const char *default_value, *range;
    unsigned used_by;
    const char *sentence;
};

static const struct row rows[] = {
#define XD_OPTION(field, name, kind, argument, least, most, default_value, \
                  range, used_by, sentence)                                \
    {name,          offsetof(struct xd_options, field),                    \
     kind,          argument,                                              \
     least,         most,                                                  \
     default_value, range,                                                 \
     used_by,       sentence},
#include "engine/options.def"
#undef XD_OPTION
};

#define N_ROWS (sizeof rows / sizeof rows[0])

_Static_assert(N_ROWS <= 128, "struct xd_options.set is too small");

static bool is_set(const struct xd_options *o, size_t row)
{
    return o->set[row / 64] >> row % 64 & 1;
}

static bool parse_choice(const char *value, uint64_t *out)
{
    for (uint64_t i = 0; i < N_ALGORITHMS; i++) {
        if (strcmp(value, algorithm_names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool parse_switch(const char *value, uint64_t *out)
{
    bool yes = strcmp(value, "yes") == 0;

    if (!yes && strcmp(value, "no") != 0)
        return false;
    *out = yes;
    return true;
}

/* Parses "FIRST-LAST", "FIRST-" or "-COUNT", as in a Range header (RFC 9110
 * section 14.1.2). */
static bool parse_span(const char *value, struct xd_range_option *out)
{
    const char *dash = strchr(value, '-');
    struct xd_range_option span = {.last = UINT64_MAX};

    if (!dash)
        return false;
    if (dash == value) {
        span.first = XD_AUTO;
        if (!xd_parse_u64(dash + 1, strlen(dash + 1), &span.count) ||
            span.count == 0)
            return false;
    } else {
        if (!xd_parse_u64(value, (size_t)(dash - value), &span.first))
            return false;
        if (dash[1] && (!xd_parse_u64(dash + 1, strlen(dash + 1), &span.last) ||
                        span.last < span.first))
            return false;
    }
    *out = span;
    return true;
}

static bool parse_number(const struct row *row, const char *value,
                         uint64_t *out)
{
    uint64_t number;

    switch (row->kind) {
    case CHOICE:
        return parse_choice(value, out);
    case SWITCH:
        return parse_switch(value, out);
    case COUNT_OR_AUTO:
        if (strcmp(value, "auto") == 0) {
            *out = XD_AUTO;
            return true;
        }
        /* fall through */
    case COUNT:
        if (!xd_parse_u64(value, strlen(value), &number))
            return false;
        break;
    case SIZE:
    case LOOKAHEAD:
        if (!xd_parse_size(value, &number))
            return false;
        break;
    case RATE:
        if (!xd_parse_rate(value, &number))
            return false;
        break;
    case TIME:
        if (!xd_parse_duration(value, &number))
            return false;
        break;
    case RANGE:
    case PATTERNS:
    case SERVERS:
    case TEXT:
    case COUNTRIES:
    case SECRET:
    case LOGIN:
    case HEADER:
    case PROXY:
        return false;
    }
    if (number < row->least || number > row->most)
        return false;
    *out = number;
    return true;
}

static bool is_text(const struct row *row)
{
    return row->kind >= PATTERNS;
}

/* Returns true if the value must not appear in messages. */
static bool is_secret(const struct row *row)
{
    return row->kind >= SECRET;
}

static char **text_of(struct xd_options *o, const struct row *row)
{
    return (char **)(void *)((char *)o + row->offset);
}

/* Returns 0, INVAL or NOMEM. */
static int set_text(const struct row *row, const char *value, char **field)
{
    switch (row->kind) {
    case PATTERNS:
        return xd_hosts_add_pattern(field, value);
    case SERVERS:
        return strstr(value, "://") ? xd_hosts_add_url(field, value)
                                    : xd_hosts_add(field, value);
    case LOGIN:
        if (!xd_is_login(value))
            return XD_E_INVAL;
        break;
    case HEADER:
        return xd_is_header(value) ? xd_text_option_add_line(field, value)
                                   : XD_E_INVAL;
    case PROXY:
        if (!xd_is_proxy(value))
            return XD_E_INVAL;
        break;
    case COUNTRIES:
        if (!xd_choice_are_locations(value))
            return XD_E_INVAL;
        break;
    case TEXT:
    case SECRET:
        if (!xd_is_plain_text(value))
            return XD_E_INVAL;
        break;
    case CHOICE:
    case COUNT:
    case COUNT_OR_AUTO:
    case SIZE:
    case RATE:
    case TIME:
    case LOOKAHEAD:
    case SWITCH:
    case RANGE:
        return XD_E_INVAL;
    }
    return xd_text_option_set(field, value);
}

/* Returns true for "20s" or "1h".  A value that could also be a size, like
 * "2m", is taken as a size. */
static bool is_time(const char *value)
{
    uint64_t number;

    return !xd_parse_size(value, &number) && xd_parse_duration(value, &number);
}

/* Returns 0 or INVAL. */
static int set_lookahead(const struct row *row, const char *value,
                         struct xd_options *o)
{
    uint64_t number;

    if (!is_time(value)) {
        if (!parse_number(row, value, &o->lookahead))
            return XD_E_INVAL;
        o->lookahead_time = 0;
        return 0;
    }
    if (!xd_parse_duration(value, &number) ||
        number < (uint64_t)LEAST_LOOKAHEAD_TIME ||
        number > (uint64_t)MOST_LOOKAHEAD_TIME)
        return XD_E_INVAL;
    o->lookahead_time = number;
    return 0;
}

/* Returns 0, INVAL or NOMEM. */
static int set_value(const struct row *row, const char *value,
                     struct xd_options *o)
{
    char *field = (char *)o + row->offset;
    uint64_t number;

    if (row->kind == RANGE)
        return parse_span(value, &o->range) ? 0 : XD_E_INVAL;
    if (row->kind == LOOKAHEAD)
        return set_lookahead(row, value, o);
    if (is_text(row))
        return set_text(row, value, text_of(o, row));
    if (!parse_number(row, value, &number))
        return XD_E_INVAL;
    memcpy(field, &number, sizeof number);
    return 0;
}

void xd_options_init(struct xd_options *o)
{
    *o = (struct xd_options){.range = {.last = UINT64_MAX}};
    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].default_value)
            set_value(&rows[i], rows[i].default_value, o);
    }
}

int xd_options_copy(struct xd_options *out, const struct xd_options *o)
{
    struct xd_options copy;
    int rc = 0;

    if (!o) {
        xd_options_init(out);
        return 0;
    }
    copy = *o;
    xd_cancel_ref(copy.cancel);
    xd_begun_place_ref(copy.begun);
    for (size_t i = 0; i < N_ROWS; i++) {
        char **field = is_text(&rows[i]) ? text_of(&copy, &rows[i]) : NULL;
        const char *text = field ? *field : NULL;

        if (!text)
            continue;
        *field = rc == 0 ? xd_strdup(text) : NULL;
        if (!*field)
            rc = XD_E_NOMEM;
    }
    if (rc == 0)
        *out = copy;
    else
        xd_options_fini(&copy);
    return rc;
}

void xd_options_fini(struct xd_options *o)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (is_text(&rows[i]))
            xd_free(*text_of(o, &rows[i]));
    }
    xd_cancel_unref(o->cancel);
    xd_begun_place_unref(o->begun);
}

int xd_options_new(struct xd_options **out, struct xd_error *err)
{
    struct xd_options *o = xd_alloc(1, sizeof *o);

    *out = NULL;
    if (!o)
        return xd_fail_nomem(err);
    xd_options_init(o);
    o->begun = xd_begun_place_new();
    if (!o->begun) {
        xd_options_free(o);
        return xd_fail_nomem(err);
    }
    *out = o;
    return 0;
}

int xd_options_dup(struct xd_options **out, const struct xd_options *o,
                   struct xd_error *err)
{
    struct xd_options *copy = xd_alloc(1, sizeof *copy);

    *out = NULL;
    if (!copy || xd_options_copy(copy, o) < 0) {
        xd_free(copy);
        return xd_fail_nomem(err);
    }
    *out = copy;
    return 0;
}

void xd_options_free(struct xd_options *o)
{
    if (o)
        xd_options_fini(o);
    xd_free(o);
}

bool xd_options_have_same_net(const struct xd_options *a,
                              const struct xd_options *b)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct row *row = &rows[i];
        const char *x = (const char *)a + row->offset,
                   *y = (const char *)b + row->offset;

        if (row->offset < offsetof(struct xd_options, net))
            continue;
        if (is_text(row)) {
            x = *(char *const *)(const void *)x;
            y = *(char *const *)(const void *)y;
            if (!x != !y || (x && strcmp(x, y) != 0))
                return false;
        } else if (memcmp(x, y, sizeof(uint64_t)) != 0) {
            return false;
        }
    }
    return true;
}

/* Returns an example to show after the limits, if the value has a unit. */
static const char *example_of(const struct row *row)
{
    switch (row->kind) {
    case SIZE:
        return ", such as 2m or 2MB";
    case RATE:
        return ", such as 2m, 2MB/s or 15Mbit/s";
    case TIME:
        return ", such as 5s, 10m or 1d";
    case CHOICE:
    case COUNT:
    case COUNT_OR_AUTO:
    case LOOKAHEAD:
    case SWITCH:
    case RANGE:
    case PATTERNS:
    case SERVERS:
    case TEXT:
    case COUNTRIES:
    case SECRET:
    case LOGIN:
    case HEADER:
    case PROXY:
        break;
    }
    return "";
}

/* Returns true for "FIRST-LAST" with LAST before FIRST. */
static bool is_backward(const char *value)
{
    const char *dash = strchr(value, '-');
    uint64_t first, last;

    return dash != NULL &&
           xd_parse_u64(value, (size_t)(dash - value), &first) &&
           xd_parse_u64(dash + 1, strlen(dash + 1), &last) && last < first;
}

static int complain(const struct row *row, const char *value,
                    struct xd_error *err)
{
    const char *range = row->range ? row->range : "yes or no";

    if (is_secret(row))
        return xd_fail(err, XD_E_INVAL, "invalid --%s: use %s", row->name,
                       range);
    if (row->kind == RANGE && is_backward(value))
        return xd_fail(err, XD_E_INVAL,
                       "invalid --range '%s': the range starts after it ends",
                       value);
    return xd_fail(err, XD_E_INVAL, "invalid --%s '%s': use %s%s", row->name,
                   value, range, example_of(row));
}

int xd_options_set(struct xd_options *o, const char *name, const char *value,
                   struct xd_error *err)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct row *row = &rows[i];
        int rc;

        if (strcmp(row->name, name) != 0)
            continue;
        if (!value)
            return xd_fail(err, XD_E_INVAL, "option '%s' has no value", name);
        rc = set_value(row, value, o);
        if (rc == XD_E_NOMEM)
            return xd_fail_nomem(err);
        if (rc < 0)
            return complain(row, value, err);
        o->set[i / 64] |= UINT64_C(1) << i % 64;
        return 0;
    }
    return xd_fail(err, XD_E_INVAL, "there is no option '%s'", name);
}

bool xd_options_is_set(const struct xd_options *o, const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return is_set(o, i);
    }
    return false;
}

void xd_options_set_log(struct xd_options *o, xd_log_fn *log, void *user)
{
    o->log = log;
    o->log_user = user;
}

void xd_options_log(const struct xd_options *o, xd_log_fn **out_log,
                    void **out_user)
{
    *out_log = o->log;
    *out_user = o->log_user;
}

void xd_options_set_cancel(struct xd_options *o, struct xd_cancel *c)
{
    xd_cancel_ref(c);
    xd_cancel_unref(o->cancel);
    o->cancel = c;
}

/* Returns a text such as "aggressive and progress"; NULL if all algorithms use
 * the option. */
static const char *used_by_text(unsigned used_by)
{
    switch (used_by) {
    case AGGRESSIVE | PROGRESS:
        return "aggressive and progress";
    case PROGRESS:
        return "progress";
    default:
        return NULL;
    }
}

int xd_options_check(const struct xd_options *o, struct xd_error *err)
{
    if (o->net.ipv4 && o->net.ipv6)
        return xd_fail(err, XD_E_INVAL, "use either --ipv4 or --ipv6");
    if (o->net.key && !o->net.cert)
        return xd_fail(
            err, XD_E_INVAL,
            "--key needs --cert, the certificate that it belongs to");
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!is_set(o, i) || rows[i].used_by & 1u << o->algorithm)
            continue;
        return xd_fail(err, XD_E_INVAL,
                       "--%s is used only by %s, not by the algorithm %s",
                       rows[i].name, used_by_text(rows[i].used_by),
                       xd_options_algorithm(o));
    }
    return 0;
}

int xd_option_info(size_t i, struct xd_option_info *out)
{
    struct xd_option_info info = {0};

    if (i >= N_ROWS)
        return XD_E_INVAL;
    info.name = rows[i].name;
    info.argument = rows[i].argument;
    info.range = rows[i].range;
    info.default_value = rows[i].default_value;
    info.used_by = used_by_text(rows[i].used_by);
    info.sentence = rows[i].sentence;
    info.repeats = rows[i].kind == PATTERNS || rows[i].kind == SERVERS ||
                   rows[i].kind == HEADER;
    info.is_secret = is_secret(&rows[i]);
    xd_copy_out(out, &info, sizeof info);
    return 0;
}

static bool is_adaptive(const struct xd_options *o)
{
    return o->algorithm == ALG_ADAPTIVE || o->algorithm == ALG_ADAPTIVE2;
}

bool xd_options_have_blocks(const struct xd_options *o)
{
    return !is_adaptive(o);
}

unsigned xd_options_lanes(const struct xd_options *o)
{
    unsigned n = is_adaptive(o) ? MOST_LANES : 1;

    if (o->threads_per_depot > 0)
        n = (unsigned)o->threads_per_depot;
    return o->most_lanes > 0 && o->most_lanes < n ? o->most_lanes : n;
}

unsigned xd_options_streams(const struct xd_options *o, size_t n_depots)
{
    unsigned lanes = xd_options_lanes(o);
    size_t n = n_depots > 0 ? MOST_REQUESTS / n_depots : MOST_REQUESTS;

    if (n > MOST_STREAMS)
        n = MOST_STREAMS;
    return n > lanes && lanes == MOST_LANES && o->threads_per_depot == 0 &&
                   is_adaptive(o)
               ? (unsigned)n
               : lanes;
}

unsigned xd_options_first_lanes(const struct xd_options *o)
{
    return o->threads_per_depot == 0 && is_adaptive(o) ? FIRST_LANES : 0;
}

unsigned xd_options_most_depots(const struct xd_options *o)
{
    if (o->max_depots > 0)
        return (unsigned)o->max_depots;
    return is_adaptive(o) ? 64 : 16;
}

const char *xd_options_algorithm(const struct xd_options *o)
{
    return algorithm_names[o->algorithm];
}

xd_usec xd_options_first_byte(const struct xd_options *o)
{
    return xd_options_is_set(o, "silence") ? 0 : o->patience;
}

struct xd_batch_config xd_options_batch(const struct xd_options *o)
{
    return (struct xd_batch_config){.net = &o->net,
                                    .exclude = o->exclude,
                                    .https_only = o->https_only,
                                    .allow_file = o->allow_file,
                                    .silence = o->silence,
                                    .first_byte = xd_options_first_byte(o),
                                    .max_failures = (unsigned)o->retry,
                                    .patience = o->patience};
}

struct xd_choice xd_options_choice(const struct xd_options *o)
{
    return (struct xd_choice){.exclude = o->exclude,
                              .only = o->only,
                              .locations = o->locations,
                              .https_only = o->https_only,
                              .allow_file = o->allow_file};
}

bool xd_options_want_all(const struct xd_options *o)
{
    return o->range.first == 0 && o->range.last == UINT64_MAX;
}

int xd_options_wanted(const struct xd_options *o, uint64_t size,
                      struct xd_range *out, struct xd_error *err)
{
    const struct xd_range_option *span = &o->range;
    uint64_t begin = span->first;

    if (span->first == XD_AUTO)
        begin = span->count < size ? size - span->count : 0;
    if (begin >= size && !xd_options_want_all(o))
        return xd_fail(
            err, XD_E_INVAL,
            "range: the file has only %llu bytes, and none from %llu "
            "on",
            (unsigned long long)size, (unsigned long long)begin);
    out->begin = begin;
    out->end = span->last < size ? span->last + 1 : size;
    return 0;
}

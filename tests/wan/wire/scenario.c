/* SPDX-License-Identifier: MIT */
#include "scenario.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

void die(const char *format, ...)
{
    va_list args;

    fputs("wire: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

/* ---- values ---- */

struct unit {
    const char *name;
    double factor;
};

static const struct unit rates[] = {
    {"gbit", 125e6}, {"mbit", 125e3}, {"kbit", 125}, {NULL, 0}};
static const struct unit times[] = {{"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit sizes[] = {
    {"", 1}, {"k", 1024}, {"m", 1024 * 1024}, {NULL, 0}};
static const struct unit shares[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};

/* False: `text` is no number with one of the units; a bare 0 needs none. */
static bool read_value(const char *text, const struct unit *unit, double *out)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || !isfinite(value) || value < 0)
        return false;
    for (; unit->name; unit++)
        if (strcmp(end, unit->name) == 0) {
            *out = value * unit->factor;
            return true;
        }
    *out = 0;
    return strcmp(text, "0") == 0;
}

/* What the depot's server allows: gate.py reads it, not the wire. */
static bool is_allowance(const char *key)
{
    static const char *const keys[] = {
        "cap",  "burst", "per",   "most", "answer", "ban",  "draws",
        "life", "hangs", "think", "asks", "spare",  "retry"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* False: there is no such key, or its value makes no sense. */
static bool set(struct quality *q, const char *key, const char *value)
{
    double v;

    if (is_allowance(key))
        return *value != '\0';
    if (strcmp(key, "refuses") == 0)
        return *value == '\0';

    if (strcmp(key, "down") == 0 || strcmp(key, "up") == 0) {
        q->is_down = key[0] == 'd';
        return *value == '\0';
    }
    if (strcmp(key, "rate") == 0)
        return read_value(value, rates, &q->bytes_per_s);
    if (strcmp(key, "queue") == 0)
        return read_value(value, sizes, &q->queue_bytes);
    if (strcmp(key, "window") == 0)
        return read_value(value, sizes, &q->window);
    if (strcmp(key, "loss") == 0)
        return read_value(value, shares, &q->loss) && q->loss <= 1;
    if (!read_value(value, times, &v))
        return false;
    if (strcmp(key, "rtt") == 0)
        q->delay = (int64_t)(v / 2);
    else if (strcmp(key, "jitter") == 0)
        q->jitter = (int64_t)v;
    else
        return false;
    return true;
}

void quality_change(struct quality *q, const struct change *c)
{
    set(q, c->key, c->value);
}

/* ---- statements ---- */

struct reader {
    struct scenario *scenario;
    const char *path;
    unsigned number; /* of the line */
    char *rest;      /* of its words */
};

static _Noreturn void complain(const struct reader *r, const char *about,
                               const char *word)
{
    die("%s:%u: %s '%s'", r->path, r->number, about, word);
}

static char *next_word(struct reader *r)
{
    return strtok_r(NULL, " \t\r\n", &r->rest);
}

static char *need_word(struct reader *r, const char *what)
{
    char *word = next_word(r);
    if (!word)
        complain(r, "there is no", what);
    return word;
}

static int find_line(const struct scenario *s, const char *name)
{
    for (unsigned i = 0; i < s->n_lines; i++)
        if (strcmp(s->lines[i].name, name) == 0)
            return (int)i;
    return -1;
}

static struct line *add_line(struct reader *r, enum line_kind kind,
                             const char *name)
{
    struct scenario *s = r->scenario;

    if (s->n_lines == MAX_LINES)
        complain(r, "no room for", name);
    if (find_line(s, name) >= 0 || strlen(name) >= NAME_BYTES)
        complain(r, "a second, or too long, name", name);
    struct line *line = &s->lines[s->n_lines++];
    memcpy(line->name, name, strlen(name) + 1);
    line->kind = kind;
    line->via = -1;
    line->quality.queue_bytes = 256 * 1024;
    return line;
}

/* What stands behind the =, which is cut off from `word`. */
static char *cut_value(char *word)
{
    char *equals = strchr(word, '=');

    if (!equals)
        return word + strlen(word);
    *equals = '\0';
    return equals + 1;
}

static void read_qualities(struct reader *r, struct line *line)
{
    for (char *key; (key = next_word(r));) {
        char *value = cut_value(key);
        if (line->kind == LINE_DEPOT && strcmp(key, "via") == 0) {
            line->via = find_line(r->scenario, value);
            if (line->via <= 0 ||
                r->scenario->lines[line->via].kind != LINE_SHARED)
                complain(r, "no link of this name above:", value);
        } else if (!set(&line->quality, key, value)) {
            complain(r, "what is not understood:", key);
        }
    }
}

static void read_depot(struct reader *r)
{
    struct line *line = add_line(r, LINE_DEPOT, need_word(r, "name"));
    const char *address = need_word(r, "address");

    if (inet_pton(AF_INET, address, &line->address) != 1)
        complain(r, "no IPv4 address:", address);
    read_qualities(r, line);
}

static void read_changes(struct reader *r)
{
    struct scenario *s = r->scenario;
    const char *when = need_word(r, "time"), *name = need_word(r, "name");
    int line = find_line(s, name);
    double at;

    if (!read_value(when, times, &at))
        complain(r, "no time:", when);
    if (line < 0)
        complain(r, "nothing above has this name:", name);
    for (char *key; (key = next_word(r));) {
        const char *value = cut_value(key);
        struct quality trial = s->lines[line].quality;
        struct change *c = &s->changes[s->n_changes];
        if (!set(&trial, key, value) || strlen(value) >= sizeof c->value)
            complain(r, "what is not understood:", key);
        if (++s->n_changes == MAX_CHANGES)
            complain(r, "no room for", key);
        c->at = (int64_t)at;
        c->line = (unsigned)line;
        memcpy(c->key, key, strlen(key) + 1);
        memcpy(c->value, value, strlen(value) + 1);
    }
}

static void read_statement(struct reader *r, char *text)
{
    text[strcspn(text, "#")] = '\0';
    const char *word = strtok_r(text, " \t\r\n", &r->rest);
    if (!word)
        return;
    if (strcmp(word, "client") == 0)
        read_qualities(r, &r->scenario->lines[0]);
    else if (strcmp(word, "link") == 0)
        read_qualities(r, add_line(r, LINE_SHARED, need_word(r, "name")));
    else if (strcmp(word, "depot") == 0)
        read_depot(r);
    else if (strcmp(word, "at") == 0)
        read_changes(r);
    else
        complain(r, "no such statement:", word);
}

/* Changes of the same time keep their order. */
static void sort_changes(struct change *c, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct change moved = c[i];
        unsigned to = i;
        for (; to > 0 && c[to - 1].at > moved.at; to--)
            c[to] = c[to - 1];
        c[to] = moved;
    }
}

void scenario_read(struct scenario *s, const char *path)
{
    FILE *file = fopen(path, "r");
    struct reader r = {.scenario = s, .path = path};
    char text[512];

    if (!file)
        die("%s: %s", path, strerror(errno));
    memset(s, 0, sizeof *s);
    add_line(&r, LINE_CLIENT, "client")->quality.queue_bytes = 1024 * 1024;
    while (fgets(text, sizeof text, file)) {
        r.number++;
        if (strlen(text) == sizeof text - 1)
            complain(&r, "too long:", text);
        read_statement(&r, text);
    }
    fclose(file);
    sort_changes(s->changes, s->n_changes);
}

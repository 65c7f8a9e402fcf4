/* SPDX-License-Identifier: MIT */
#include "sim/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sched/layout.h"

#define QUEUE (256 * 1024)
#define CLIENT_QUEUE (1024 * 1024)
#define MOST_WORDS 32
#define MOST_OWNERS 1000

/* Default size of the bucket. */
#define BURST (64 * 1024)

/* Smallest size of the bucket: one segment. */
#define LEAST_BURST 1448

struct parser {
    struct xd_scenario *s;
    unsigned line;
    char *words[MOST_WORDS];
    size_t n_words;
    struct xd_error *err;
};

struct unit {
    const char *name;
    double factor;
};

static const struct unit rate_units[] = {
    {"gbit", 125e6}, {"mbit", 125e3}, {"kbit", 125.0}, {NULL, 0}};
static const struct unit time_units[] = {{"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit size_units[] = {
    {"k", 1024.0}, {"m", 1048576.0}, {"", 1.0}, {NULL, 0}};
static const struct unit count_units[] = {{"", 1.0}, {NULL, 0}};
static const struct unit fraction_units[] = {{"%", 0.01}, {"", 1.0}, {NULL, 0}};

/* Limit for numbers, so that sums do not overflow. */
#define MOST 1e15

/* Parses "12.5mbit".  Not strtod(), which depends on the locale. */
static bool number(const char *s, const struct unit *units, double *out)
{
    double value = 0, place = 1;
    const char *at = s;

    for (; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (*at - '0');
    if (at == s)
        return false;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            value += (*at - '0') * (place /= 10);
    for (; units->name; units++)
        if (strcmp(at, units->name) == 0 && value * units->factor < MOST) {
            *out = value * units->factor;
            return true;
        }
    return value == 0 && *at == '\0' && (*out = 0, true);
}

/* Parses the number before the first of the separators and moves *s there, or
 * to the end. */
static bool leading(const char **s, const struct unit *units,
                    const char *separators, double *out)
{
    char word[XD_NAME_BYTES];
    size_t n = strcspn(*s, separators);

    if (n >= sizeof word)
        return false;
    memcpy(word, *s, n);
    word[n] = '\0';
    *s += n;
    return number(word, units, out);
}

static bool apply_refusal(struct xd_path *p, const char *value)
{
    if (strcmp(value, "503") == 0 || strcmp(value, "429") == 0)
        p->refusal = XD_REFUSAL_STATUS;
    else if (strcmp(value, "reset") == 0)
        p->refusal = XD_REFUSAL_RESET;
    else if (strcmp(value, "close") == 0)
        p->refusal = XD_REFUSAL_CLOSE;
    else
        return false;
    return true;
}

/* Parses "512k:4,1m:3": caps with their weights. */
static bool apply_draws(struct xd_path *p, const char *value)
{
    p->burst = p->burst > 0 ? p->burst : BURST;
    for (p->n_draws = 0; p->n_draws < XD_DRAWS; value++) {
        struct xd_draw *d = &p->draws[p->n_draws++];

        if (!leading(&value, size_units, ":", &d->cap) || *value++ != ':' ||
            !leading(&value, count_units, ",", &d->chances) || d->cap <= 0 ||
            d->chances <= 0)
            return false;
        if (*value == '\0')
            return true;
    }
    return false;
}

/* Parses "200ms-800ms" or "200ms". */
static bool apply_think(struct xd_path *p, const char *value)
{
    double least = 0, most = 0;

    if (!leading(&value, time_units, "-", &least))
        return false;
    most = least;
    if (*value == '-' && !number(value + 1, time_units, &most))
        return false;
    p->think_least = (xd_nsec)least;
    p->think_most = (xd_nsec)most;
    return most >= least;
}

/* Applies limits on connections and requests, except limits on their number. */
static bool apply_manner(struct xd_path *p, const char *key, const char *value)
{
    double n = 0;

    if (strcmp(key, "draws") == 0)
        return apply_draws(p, value);
    if (strcmp(key, "think") == 0)
        return apply_think(p, value);
    if (strcmp(key, "hangs") == 0)
        return number(value, fraction_units, &p->hangs);
    if (strcmp(key, "asks") == 0)
        return number(value, count_units, &p->asks);
    if (strcmp(key, "spare") == 0)
        return number(value, count_units, &p->spare);
    if (strcmp(key, "life") == 0 && number(value, count_units, &n)) {
        p->life = (unsigned)n;
        return true;
    }
    if (strcmp(key, "retry") == 0 && number(value, time_units, &n)) {
        p->retry = (xd_nsec)n;
        return true;
    }
    return false;
}

/* Applies limits on the connections of a depot. */
static bool apply_allowance(struct xd_path *p, const char *key,
                            const char *value)
{
    double n = 0;

    if (strcmp(key, "cap") == 0) {
        p->burst = p->burst > 0 ? p->burst : BURST;
        return number(value, size_units, &p->cap);
    }
    if (strcmp(key, "burst") == 0)
        return number(value, size_units, &p->burst) && p->burst >= LEAST_BURST;
    if (strcmp(key, "window") == 0)
        return number(value, size_units, &p->window) &&
               (p->window == 0 || p->window >= LEAST_BURST);
    if (strcmp(key, "per") == 0) {
        p->caps_requests = strcmp(value, "request") == 0;
        return p->caps_requests || strcmp(value, "connection") == 0;
    }
    if (strcmp(key, "most") == 0 && number(value, count_units, &n)) {
        p->most = (unsigned)n;
        return true;
    }
    if (strcmp(key, "ban") == 0 && number(value, time_units, &n)) {
        p->ban = (xd_nsec)n;
        return true;
    }
    if (strcmp(key, "answer") == 0)
        return apply_refusal(p, value);
    return apply_manner(p, key, value);
}

bool xd_path_apply(struct xd_path *p, const char *key, const char *value)
{
    double n = 0;

    if (strcmp(key, "down") == 0)
        return p->is_down = true;
    if (strcmp(key, "up") == 0)
        return !(p->is_down = false);
    if (strcmp(key, "refuses") == 0)
        return p->refuses = true;
    if (strcmp(key, "lies") == 0)
        return p->lies = true;
    if (strcmp(key, "rate") == 0)
        return number(value, rate_units, &p->rate);
    if (strcmp(key, "loss") == 0)
        return number(value, fraction_units, &p->loss);
    if (strcmp(key, "queue") == 0 && number(value, size_units, &n)) {
        p->queue = (int64_t)n;
        return true;
    }
    if (strcmp(key, "rtt") == 0 && number(value, time_units, &n)) {
        p->delay = (xd_nsec)n / 2;
        return true;
    }
    if (strcmp(key, "jitter") == 0 && number(value, time_units, &n)) {
        p->jitter = (xd_nsec)n;
        return true;
    }
    return apply_allowance(p, key, value);
}

static int complain(struct parser *p, const char *what, const char *word)
{
    return xd_fail(p->err, XD_E_INVAL, "line %u of the scenario: %s '%.40s'",
                   p->line, what, word);
}

/* Splits "key=value". */
static char *cut_value(char *word)
{
    char *value = strchr(word, '=');

    if (!value)
        return word + strlen(word);
    *value = '\0';
    return value + 1;
}

static int apply_word(struct parser *p, char *word, struct xd_path *path)
{
    const char *value = cut_value(word);

    if (!xd_path_apply(path, word, value))
        return complain(p, "cannot be understood:", word);
    return 0;
}

static int apply_words(struct parser *p, size_t first, struct xd_path *path)
{
    int rc = 0;

    for (size_t i = first; rc == 0 && i < p->n_words; i++)
        rc = apply_word(p, p->words[i], path);
    return rc;
}

static bool copy_name(char *out, const char *name)
{
    size_t n = strlen(name);

    if (n >= XD_NAME_BYTES)
        return false;
    memcpy(out, name, n + 1);
    return true;
}

static struct xd_scenario_line *find_line(const struct xd_scenario *s,
                                          const char *name)
{
    for (size_t i = 0; i < s->n_lines; i++)
        if (strcmp(s->lines[i].name, name) == 0)
            return &s->lines[i];
    return NULL;
}

static int add_line(struct parser *p, const char *name, int64_t queue)
{
    struct xd_scenario *s = p->s;
    struct xd_scenario_line *lines;

    if (find_line(s, name))
        return complain(p, "a second line has the name", name);
    lines = xd_realloc(s->lines, s->n_lines + 1, sizeof *lines);
    if (!lines)
        return xd_fail_nomem(p->err);
    s->lines = lines;
    lines += s->n_lines;
    *lines = (struct xd_scenario_line){
        .path.queue = queue, .depot = XD_NO_LINE, .via = XD_NO_LINE};
    if (!copy_name(lines->name, name))
        return complain(p, "a name is too long:", name);
    s->n_lines++;
    return 0;
}

static int set_via(struct parser *p, struct xd_scenario_line *depot,
                   const char *name)
{
    const struct xd_scenario_line *link = find_line(p->s, name);

    if (!link || link == p->s->lines || link->depot != XD_NO_LINE)
        return complain(p, "no link before it has the name", name);
    depot->via = (size_t)(link - p->s->lines);
    return 0;
}

/* Inserts the change after those that are earlier or at the same time. */
static int insert_change(struct parser *p, const struct xd_change *c)
{
    struct xd_scenario *s = p->s;
    struct xd_change *changes =
        xd_realloc(s->changes, s->n_changes + 1, sizeof *changes);
    size_t i = s->n_changes;

    if (!changes)
        return xd_fail_nomem(p->err);
    s->changes = changes;
    for (; i > 0 && changes[i - 1].at > c->at; i--)
        changes[i] = changes[i - 1];
    changes[i] = *c;
    s->n_changes++;
    return 0;
}

/* Sets when the depot joins.  Until then it is down. */
static int set_joins(struct parser *p, size_t i, const char *value)
{
    struct xd_scenario_line *line = &p->s->lines[i];
    struct xd_change up = {.line = i, .key = "up"};
    double at = 0;

    if (!number(value, time_units, &at) || at < 1)
        return complain(p, "joins needs a time, such as 2s:", value);
    up.at = line->joins_at = (xd_nsec)at;
    line->path.is_down = true;
    return insert_change(p, &up);
}

/* Sets a tier or a number of owners, at most `most`.  For a tier, `most` leaves
 * room for one more, because a depot with owners uses two tiers. */
static int set_count(struct parser *p, unsigned *out, const char *value,
                     unsigned most)
{
    double n = 0;

    if (!number(value, count_units, &n) || n > most)
        return complain(
            p, "tier needs a number from 0 to 2, and owners one:", value);
    *out = (unsigned)n;
    return 0;
}

/* Returns whether the depots are listed in the order in which they join,
 * because the scheduler numbers them in that order. */
static bool joins_in_order(const struct xd_scenario *s)
{
    const struct xd_scenario_line *last = &s->lines[s->n_lines - 1];

    return last->depot == 0 ? last->joins_at == 0
                            : xd_scenario_depot(s, last->depot - 1)->joins_at <=
                                  last->joins_at;
}

static int add_depot(struct parser *p)
{
    struct xd_scenario_line *depot;
    int rc = 0;

    if (p->n_words < 3)
        return complain(p, "a name and an address belong behind", p->words[0]);
    rc = add_line(p, p->words[1], QUEUE);
    if (rc < 0)
        return rc;
    depot = &p->s->lines[p->s->n_lines - 1];
    depot->depot = p->s->n_depots++;
    for (size_t i = 3; rc == 0 && i < p->n_words; i++) {
        char *word = p->words[i];

        if (strncmp(word, "via=", 4) == 0)
            rc = set_via(p, depot, word + 4);
        else if (strncmp(word, "joins=", 6) == 0)
            rc = set_joins(p, p->s->n_lines - 1, word + 6);
        else if (strncmp(word, "tier=", 5) == 0)
            rc = set_count(p, &depot->tier, word + 5, XD_TIERS - 2);
        else if (strncmp(word, "owners=", 7) == 0)
            rc = set_count(p, &depot->owners, word + 7, MOST_OWNERS);
        else
            rc = apply_word(p, word, &depot->path);
    }
    if (rc == 0 && !joins_in_order(p->s))
        rc = complain(p, "joins before the depots above it:", depot->name);
    return rc;
}

static int add_link(struct parser *p)
{
    int rc;

    if (p->n_words < 2)
        return complain(p, "a name belongs behind", p->words[0]);
    rc = add_line(p, p->words[1], QUEUE);
    return rc < 0 ? rc
                  : apply_words(p, 2, &p->s->lines[p->s->n_lines - 1].path);
}

static int add_changes(struct parser *p)
{
    struct xd_change c = {.at = 0};
    const struct xd_scenario_line *line;
    double at = 0;
    int rc = 0;

    if (p->n_words < 3 || !number(p->words[1], time_units, &at))
        return complain(p, "a time and a name belong behind", p->words[0]);
    c.at = (xd_nsec)at;
    line = find_line(p->s, p->words[2]);
    if (!line)
        return complain(p, "no line before it has the name", p->words[2]);
    c.line = (size_t)(line - p->s->lines);
    for (size_t i = 3; rc == 0 && i < p->n_words; i++) {
        struct xd_path scratch = {.rate = 0};
        const char *value = cut_value(p->words[i]);

        if (!copy_name(c.key, p->words[i]) || !copy_name(c.value, value) ||
            !xd_path_apply(&scratch, c.key, c.value))
            return complain(p, "cannot be understood:", p->words[i]);
        rc = insert_change(p, &c);
    }
    return rc;
}

static int parse_line(struct parser *p, char *line)
{
    p->n_words = 0;
    line[strcspn(line, "#")] = '\0';
    for (line += strspn(line, " \t\r"); *line != '\0';
         line += strspn(line, " \t\r")) {
        size_t n = strcspn(line, " \t\r");

        if (p->n_words == MOST_WORDS)
            return complain(p, "too many words from", line);
        p->words[p->n_words++] = line;
        line += n;
        if (*line != '\0')
            *line++ = '\0';
    }
    if (p->n_words == 0)
        return 0;
    if (strcmp(p->words[0], "client") == 0)
        return apply_words(p, 1, &p->s->lines->path);
    if (strcmp(p->words[0], "link") == 0)
        return add_link(p);
    if (strcmp(p->words[0], "depot") == 0)
        return add_depot(p);
    if (strcmp(p->words[0], "at") == 0)
        return add_changes(p);
    return 0;
}

static int parse_lines(struct parser *p, char *text)
{
    int rc = 0;

    while (rc == 0 && text) {
        char *next = strchr(text, '\n');

        if (next)
            *next++ = '\0';
        p->line++;
        rc = parse_line(p, text);
        text = next;
    }
    if (rc == 0 && p->s->n_depots == 0)
        rc = xd_fail(p->err, XD_E_INVAL, "the scenario names no depot");
    return rc;
}

int xd_scenario_parse(struct xd_scenario *s, const char *text,
                      struct xd_error *err)
{
    struct parser p = {.s = s, .err = err};
    char *copy = xd_strdup(text);
    int rc;

    *s = (struct xd_scenario){.n_depots = 0};
    rc = copy ? add_line(&p, "client", CLIENT_QUEUE) : xd_fail_nomem(err);
    if (rc == 0)
        rc = parse_lines(&p, copy);
    xd_free(copy);
    if (rc < 0)
        xd_scenario_fini(s);
    return rc;
}

void xd_scenario_fini(struct xd_scenario *s)
{
    xd_free(s->lines);
    xd_free(s->changes);
    *s = (struct xd_scenario){.n_depots = 0};
}

const struct xd_scenario_line *xd_scenario_depot(const struct xd_scenario *s,
                                                 size_t depot)
{
    const struct xd_scenario_line *line = s->lines;

    while (line->depot != depot)
        line++;
    return line;
}

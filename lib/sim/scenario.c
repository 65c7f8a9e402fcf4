#include "sim/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define DEPOT_QUEUE (256 * 1024)
#define CLIENT_QUEUE (1024 * 1024)
#define MOST_WORDS 32

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
static const struct unit fraction_units[] = {{"%", 0.01}, {"", 1.0}, {NULL, 0}};

/* What a number may be at most, so that sums of them fit everywhere. */
#define MOST 1e15

/* "12.5mbit".  Plain decimals only: strtod() heeds the locale. */
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
    return false;
}

static int complain(struct parser *p, const char *what, const char *word)
{
    return xd_fail(p->err, XD_E_INVAL, "line %u of the scenario: %s '%.40s'",
                   p->line, what, word);
}

/* "key=value" is cut in two. */
static char *cut_value(char *word)
{
    char *value = strchr(word, '=');

    if (!value)
        return word + strlen(word);
    *value = '\0';
    return value + 1;
}

static int apply_words(struct parser *p, size_t first, struct xd_path *path)
{
    for (size_t i = first; i < p->n_words; i++) {
        const char *value = cut_value(p->words[i]);

        if (!xd_path_apply(path, p->words[i], value))
            return complain(p, "cannot be understood:", p->words[i]);
    }
    return 0;
}

static bool copy_name(char *out, const char *name)
{
    size_t n = strlen(name);

    if (n >= XD_NAME_BYTES)
        return false;
    memcpy(out, name, n + 1);
    return true;
}

static int add_depot(struct parser *p)
{
    struct xd_scenario *s = p->s;
    struct xd_scenario_depot *depots;

    if (p->n_words < 3)
        return complain(p, "a name and an address belong behind", p->words[0]);
    depots = xd_realloc(s->depots, s->n_depots + 1, sizeof *depots);
    if (!depots)
        return xd_fail_nomem(p->err);
    s->depots = depots;
    depots[s->n_depots] = (struct xd_scenario_depot){.path.queue = DEPOT_QUEUE};
    if (!copy_name(depots[s->n_depots].name, p->words[1]))
        return complain(p, "a name is too long:", p->words[1]);
    return apply_words(p, 3, &depots[s->n_depots++].path);
}

static bool find_target(const struct xd_scenario *s, const char *name,
                        size_t *out)
{
    *out = XD_CLIENT;
    if (strcmp(name, "client") == 0)
        return true;
    for (*out = 0; *out < s->n_depots; ++*out)
        if (strcmp(s->depots[*out].name, name) == 0)
            return true;
    return false;
}

/* Behind all that happen no later. */
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

static int add_changes(struct parser *p)
{
    struct xd_change c = {.at = 0};
    double at = 0;
    int rc = 0;

    if (p->n_words < 3 || !number(p->words[1], time_units, &at))
        return complain(p, "a time and a name belong behind", p->words[0]);
    c.at = (xd_nsec)at;
    if (!find_target(p->s, p->words[2], &c.depot))
        return complain(p, "no depot before it has the name", p->words[2]);
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
        return apply_words(p, 1, &p->s->client);
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

    *s = (struct xd_scenario){.client.queue = CLIENT_QUEUE};
    rc = copy ? parse_lines(&p, copy) : xd_fail_nomem(err);
    xd_free(copy);
    if (rc < 0)
        xd_scenario_fini(s);
    return rc;
}

void xd_scenario_fini(struct xd_scenario *s)
{
    xd_free(s->depots);
    xd_free(s->changes);
    *s = (struct xd_scenario){.n_depots = 0};
}

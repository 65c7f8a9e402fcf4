/* SPDX-License-Identifier: MIT */
#include "args/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "common/status.h"
#include "common/words.h"

#define BLANKS " \t\r\n"

/* What a config file may set; any other option is refused. */
static const char *const allowed[] = {
    "algorithm",
    "block-size",
    "connect-timeout",
    "depot-cache",
    "exclude",
    "interface",
    "ipv4",
    "ipv6",
    "limit-rate",
    "lookahead",
    "max-depots",
    "max-redirs",
    "max-time",
    "no-client-id",
    "no-depot-cache",
    "noproxy",
    "patience",
    "progress",
    "proxy",
    "quiet",
    "remote-time",
    "retry",
    "silence",
    "spool",
    "threads-per-depot",
    "user-agent",
    "verbose",
    "via",
    "via-copies",
};

struct setting {
    char *name, *value; /* value: NULL if there is none */
};

/* For the caller to free; NULL: nowhere, or no memory. */
static char *new_path(void)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const bool is_named = config != NULL && config[0] == '/';
    char *path = NULL;
    size_t len;

    if (!is_named && (home == NULL || home[0] != '/'))
        return NULL;
    FILE *to = open_memstream(&path, &len);
    if (to == NULL)
        return NULL;
    fprintf(to, "%s%s/xdownload/config", is_named ? config : home,
            is_named ? "" : "/.config");
    if (fclose(to) == 0)
        return path;
    free(path);
    return NULL;
}

/* "NAME", "NAME VALUE" or "NAME = VALUE"; false: the line is empty or a
 * comment. */
static bool split(char *line, struct setting *out)
{
    char *name = line + strspn(line, BLANKS);
    char *end = name + strlen(name);

    while (end > name && strchr(BLANKS, end[-1]) != NULL)
        *--end = '\0';
    if (*name == '\0' || *name == '#')
        return false;
    if (strncmp(name, "--", 2) == 0)
        name += 2;
    char *value = name + strcspn(name, "=" BLANKS);
    const bool has_value = *value != '\0';
    char *rest = value + strspn(value, BLANKS);
    if (*rest == '=')
        rest += 1 + strspn(rest + 1, BLANKS);
    *value = '\0';
    *out = (struct setting){name, has_value ? rest : NULL};
    return true;
}

static bool is_allowed(const struct setting *s)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(allowed[i], s->name) == 0) /* and no login of a proxy */
            return s->value == NULL || strcmp(s->name, "proxy") != 0 ||
                   strchr(s->value, '@') == NULL;
    return false;
}

static const struct option_row *find(const struct option_row *rows, size_t n,
                                     const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* Why the setting of an option cannot be used; or NULL. */
static const char *objection(const struct option_row *row,
                             const struct setting *s)
{
    if (!is_allowed(s))
        return "not allowed in a config file; give it on the command line";
    if (row->argument == NULL && s->value != NULL)
        return "takes no value";
    if (row->argument != NULL && (s->value == NULL || *s->value == '\0'))
        return "needs a value";
    return NULL;
}

/* What the command line says overrides it, also in other words. */
static bool is_overridden(const struct args *a, const char *name)
{
    static const char *const others[][2] = {
        {"ipv4", "ipv6"}, {"ipv6", "ipv4"}, {"no-depot-cache", "depot-cache"}};

    if (strcmp(name, "quiet") == 0 || strcmp(name, "verbose") == 0)
        return a->quiet || a->verbose;
    if (strcmp(name, "progress") == 0)
        return a->progress != PROGRESS_AUTO;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i][0], name) == 0 && args_is_given(a, others[i][1]))
            return true;
    return args_is_given(a, name);
}

static int complain_of_unknown(const char *path, unsigned line,
                               const char *name)
{
    struct nearest nearest;

    nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        nearest_consider(&nearest, allowed[i]);
    return words_usage("%s, line %u: %s: there is no such option%s%s%s", path,
                       line, name,
                       nearest.name != NULL ? ": did you mean " : "",
                       nearest.name != NULL ? nearest.name : "",
                       nearest.name != NULL ? "?" : "");
}

/* What is to be obeyed, and what -v says of it. */
struct obedience {
    struct args *args;
    const struct grammar *grammar;
    config_take_fn *take;
    const struct args *typed; /* as the command line has left them */
    const char *path;
    FILE *said;
};

static int obey(struct obedience *o, const struct setting *s, unsigned line)
{
    struct option_row all[OPTIONS_MAX];
    const struct option_row *any = find(all, options_table(all), s->name);
    const struct option_row *row =
        find(o->grammar->rows, o->grammar->n, s->name);

    if (any == NULL)
        return complain_of_unknown(o->path, line, s->name);
    const char *why = objection(any, s);
    if (why != NULL)
        return words_usage("%s, line %u: %s: %s", o->path, line, s->name, why);
    if (row == NULL || is_overridden(o->typed, s->name))
        return 0; /* of other commands, or decided */
    const int status = o->take(o->args, row, s->value);
    if (status != 0)
        words_error("that is line %u of %s", line, o->path);
    fprintf(o->said, " %s%s%s", s->name, s->value != NULL ? "=" : "",
            s->value != NULL ? s->value : "");
    return status;
}

static int obey_lines(struct obedience *o, char *text)
{
    struct setting setting;
    int status = 0;
    unsigned n = 0;

    while (status == 0 && text != NULL) {
        char *next = strchr(text, '\n');
        if (next != NULL)
            *next++ = '\0';
        n++;
        if (split(text, &setting))
            status = obey(o, &setting, n);
        text = next;
    }
    return status;
}

/* The whole text; NULL: there is none, and *out_status may say why. */
static char *new_text(const char *path, int *out_status)
{
    char *text = NULL;
    size_t capacity = 0;
    FILE *from = fopen(path, "r");

    if (from == NULL && (errno == ENOENT || errno == ENOTDIR))
        return NULL;
    errno = 0;
    if (from != NULL && getdelim(&text, &capacity, '\0', from) < 0 &&
        !ferror(from)) {
        fclose(from);
        free(text);
        return NULL; /* it is empty */
    }
    if (from == NULL || ferror(from)) {
        words_error("%s cannot be read: %s", path, strerror(errno));
        *out_status = STATUS_LOCAL;
    }
    if (from != NULL)
        fclose(from);
    if (*out_status == 0)
        return text;
    free(text);
    return NULL;
}

static int apply(struct args *a, const struct grammar *g, config_take_fn *take,
                 const char *path)
{
    const struct args typed = *a;
    char *said = NULL;
    size_t len;
    int status = 0;

    a->config = new_text(path, &status);
    FILE *to = a->config != NULL ? open_memstream(&said, &len) : NULL;
    if (to == NULL)
        return status;
    struct obedience o = {a, g, take, &typed, path, to};
    status = obey_lines(&o, a->config);
    if (fclose(to) == 0 && status == 0 && a->verbose && len > 0)
        words_error("%s sets%s", path, said);
    free(said);
    return status;
}

int config_apply(struct args *a, const struct grammar *g, config_take_fn *take)
{
    char *path = new_path();
    int status = 0;

    if (path != NULL)
        status = apply(a, g, take, path);
    free(path);
    return status;
}

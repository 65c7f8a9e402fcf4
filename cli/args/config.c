/* SPDX-License-Identifier: MIT */
#include "args/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include "args/values.h"
#include "common/nearest.h"
#include "common/status.h"
#include "common/words.h"

#define BLANKS " \t\r\n"

struct setting {
    char *name, *value; /* value: NULL if the line has none */
};

/* Splits "NAME", "NAME VALUE" or "NAME = VALUE".  Returns false if the line is
 * empty or a comment. */
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

/* Returns true if a config file may contain the setting.  It must not contain
 * the login of a proxy. */
static bool is_allowed(const struct option_row *row, const struct setting *s)
{
    return row->in_config &&
           (s->value == NULL || strcmp(row->name, "proxy") != 0 ||
            strchr(s->value, '@') == NULL);
}

/* Returns why the setting cannot be used, or NULL. */
static const char *objection(const struct option_row *row,
                             const struct setting *s)
{
    if (!is_allowed(row, s))
        return "not allowed in a config file; give it on the command line";
    if (row->argument == NULL && s->value != NULL)
        return "takes no value";
    if (row->argument != NULL && (s->value == NULL || *s->value == '\0'))
        return "needs a value";
    return NULL;
}

static bool is_overridden(const struct args *typed,
                          const struct option_row *row)
{
    return args_is_given(typed, row->name) ||
           (row->instead != NULL && args_is_given(typed, row->instead));
}

static int complain_of_unknown(const char *path, unsigned line,
                               const char *name, const struct option_row *rows,
                               size_t n)
{
    struct nearest nearest;

    nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < n; i++)
        if (rows[i].in_config)
            nearest_consider(&nearest, rows[i].name);
    return words_usage("%s, line %u: %s: there is no such option%s%s%s", path,
                       line, name,
                       nearest.name != NULL ? ": did you mean " : "",
                       nearest.name != NULL ? nearest.name : "",
                       nearest.name != NULL ? "?" : "");
}

/* State while a config file is read. */
struct reading {
    struct args *args;
    const struct grammar *grammar;
    const struct args *typed; /* options that the command line sets */
    const char *path;
    FILE *said; /* for -v: names of the settings in use */
};

static int obey(struct reading *r, const struct setting *s, unsigned line)
{
    struct option_row all[OPTIONS_MAX];
    const size_t n = options_table(all);
    size_t i = 0;

    while (i < n && strcmp(all[i].name, s->name) != 0)
        i++;
    if (i == n)
        return complain_of_unknown(r->path, line, s->name, all, n);
    const char *why = objection(&all[i], s);
    if (why != NULL)
        return words_usage("%s, line %u: %s: %s", r->path, line, s->name, why);
    const struct option_row *row = grammar_named(r->grammar, s->name);
    if (row == NULL || is_overridden(r->typed, row))
        /* an option of other commands, or one that the command line sets */
        return 0;
    const int status = values_take(r->args, row, s->value);
    if (status != 0)
        words_error("that is line %u of %s", line, r->path);
    fprintf(r->said, " %s%s%s", s->name, s->value != NULL ? "=" : "",
            s->value != NULL ? s->value : "");
    return status;
}

static int obey_lines(struct reading *r, char *text)
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
            status = obey(r, &setting, n);
        text = next;
    }
    return status;
}

/* Opens the file.  On failure returns NULL and sets errno.  errno is 0 if the
 * file does not exist or its folder cannot be searched: a service may run with
 * the home folder of another user. */
static FILE *open_text(const char *path)
{
    struct stat st;
    FILE *from = fopen(path, "r");

    if (from != NULL)
        return from;
    const int why = errno;
    const bool is_beyond_reach =
        why == EACCES && stat(path, &st) < 0 && errno == EACCES;
    errno = is_beyond_reach || why == ENOENT || why == ENOTDIR ? 0 : why;
    return NULL;
}

/* Reads the whole text, which the caller frees.  *out_text is NULL if the text
 * is empty.  Returns 0, or an errno. */
static int read_text(FILE *from, char **out_text)
{
    size_t capacity = 0;

    *out_text = NULL;
    errno = 0;
    if (getdelim(out_text, &capacity, '\0', from) >= 0)
        return 0;
    const int why = ferror(from) ? errno : 0;
    free(*out_text);
    *out_text = NULL;
    return why;
}

/* Returns the whole text, which the caller frees, or NULL if there is no text.
 * On failure prints the error, returns NULL and sets *out_status. */
static char *new_text(const char *path, int *out_status)
{
    char *text = NULL;
    FILE *from = open_text(path);
    const int why = from != NULL ? read_text(from, &text) : errno;

    if (from != NULL)
        fclose(from);
    if (why == 0)
        return text;
    words_error("%s cannot be read: %s", path, strerror(why));
    *out_status = STATUS_LOCAL;
    return NULL;
}

static int apply(struct args *a, const struct grammar *g, const char *path)
{
    const struct args typed = *a;
    char *said = NULL;
    size_t len;
    int status = 0;

    a->config = new_text(path, &status);
    FILE *to = a->config != NULL ? open_memstream(&said, &len) : NULL;
    if (to == NULL)
        return status;
    struct reading r = {a, g, &typed, path, to};
    status = obey_lines(&r, a->config);
    if (fclose(to) == 0 && status == 0 && a->verbose && len > 0)
        words_error("%s sets%s", path, said);
    free(said);
    return status;
}

int config_apply(struct args *a, const struct grammar *g)
{
    char *path = args_new_path("XDG_CONFIG_HOME", ".config", "config");
    int status = 0;

    if (path != NULL)
        status = apply(a, g, path);
    free(path);
    return status;
}

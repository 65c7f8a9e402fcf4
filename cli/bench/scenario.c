/* SPDX-License-Identifier: MIT */
#include "bench/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/installed.h"
#include "common/status.h"
#include "common/words.h"

#define ENVIRONMENT "XDOWNLOAD_SCENARIOS"
#define BLANKS " \t"

/* Largest length of the text of a scenario, in bytes. */
#define TEXT_MAX (1 << 20)

#define WORD_SIZE 40 /* longer than any valid name */

/* ---- finding the file ---- */

/* Opens NAME in the first folder of a colon-separated list that contains it.
 * Returns NULL if no folder does. */
static FILE *open_in(const char *folders, const char *name)
{
    char path[INSTALLED_PATH_SIZE];

    for (const char *at = folders;; at++) {
        const size_t len = strcspn(at, ":");
        const int n =
            snprintf(path, sizeof path, "%.*s/%s", (int)len, at, name);
        FILE *f = len > 0 && n > 0 && (size_t)n < sizeof path ? fopen(path, "r")
                                                              : NULL;
        at += len;
        if (f != NULL || *at == '\0')
            return f;
    }
}

static FILE *open_scenario(const char *word)
{
    const char *folders = getenv(ENVIRONMENT);
    char folder[INSTALLED_PATH_SIZE];
    FILE *f = NULL;

    if (strchr(word, '/') != NULL)
        return fopen(word, "r");
    if (folders != NULL)
        f = open_in(folders, word);
    if (f == NULL && installed_find(folder, "scenarios"))
        f = open_in(folder, word);
    return f;
}

static int fail_name(const char *word)
{
    char folder[INSTALLED_PATH_SIZE];
    const bool has_folder = installed_find(folder, "scenarios");

    words_error("no scenario is called %s: use the path of a file, such as "
                "./%s%s%s",
                word, word, has_folder ? ", or one of those in " : "",
                has_folder ? folder : "");
    return STATUS_LOCAL;
}

static int fail_read(const char *word)
{
    if (strchr(word, '/') == NULL)
        return fail_name(word);
    words_error("scenario %s cannot be read: %s", word, strerror(errno));
    return STATUS_LOCAL;
}

int scenario_read(char **out, const char *word)
{
    FILE *f = open_scenario(word);

    *out = NULL;
    if (f == NULL)
        return fail_read(word);
    char *text = malloc(TEXT_MAX + 1);
    const size_t len = text != NULL ? fread(text, 1, TEXT_MAX + 1, f) : 0;
    const bool failed = ferror(f);
    fclose(f);
    if (text != NULL && !failed && len <= TEXT_MAX &&
        memchr(text, '\0', len) == NULL) {
        text[len] = '\0';
        *out = text;
        return 0;
    }
    free(text);
    words_error("scenario %s %s", word,
                failed ? "cannot be read" : "is not the text of a scenario");
    return STATUS_LOCAL;
}

/* ---- lines ---- */

/* Copies the next word of a line, or "", and moves *at past it. */
static void take_word(char out[WORD_SIZE], const char **at)
{
    *at += strspn(*at, BLANKS);
    const size_t len = strcspn(*at, BLANKS "\r\n");
    snprintf(out, WORD_SIZE, "%.*s", (int)(len < WORD_SIZE ? len : 39), *at);
    *at += len;
}

/* Returns true if the line describes a depot, and copies the depot's name. */
static bool is_depot(const char *line, char name[WORD_SIZE])
{
    char word[WORD_SIZE];

    take_word(word, &line);
    take_word(name, &line);
    return strcmp(word, "depot") == 0;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line != '\0' ? line + 1 : line;
}

char **scenario_depots(const char *text, size_t *out_n)
{
    char name[WORD_SIZE], **names = malloc(sizeof *names);
    size_t n = 0;

    for (; names != NULL && *text != '\0'; text = next_line(text)) {
        if (!is_depot(text, name))
            continue;
        char **more = realloc(names, (n + 1) * sizeof *names);
        if (more == NULL || (more[n] = strdup(name)) == NULL)
            return NULL; /* out of memory: the command fails */
        names = more;
        n++;
    }
    *out_n = n;
    return names;
}

/* Returns true for the name of a depot that is left out. */
static bool is_cut(const char *text, const char *name, subset depots)
{
    char depot[WORD_SIZE];
    size_t i = 0;

    for (; *text != '\0'; text = next_line(text))
        if (is_depot(text, depot) && strcmp(depot, name) == 0)
            return !(depots >> i & 1);
        else
            i += is_depot(text, depot);
    return false;
}

/* Returns false for a line "depot NAME ..." or "at TIME NAME ..." if that depot
 * is left out. */
static bool is_kept(const char *text, const char *line, subset depots)
{
    char word[WORD_SIZE], second[WORD_SIZE], third[WORD_SIZE];

    take_word(word, &line);
    take_word(second, &line);
    take_word(third, &line);
    if (strcmp(word, "depot") == 0)
        return !is_cut(text, second, depots);
    return strcmp(word, "at") != 0 || !is_cut(text, third, depots);
}

char *scenario_cut(const char *text, subset depots)
{
    char *cut = malloc(strlen(text) + 1);
    size_t len = 0;

    if (cut == NULL)
        return NULL;
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        const size_t n = (size_t)(next_line(line) - line);
        if (!is_kept(text, line, depots))
            continue;
        memcpy(cut + len, line, n);
        len += n;
    }
    cut[len] = '\0';
    return cut;
}

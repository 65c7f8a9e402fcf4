/* SPDX-License-Identifier: MIT */
#include "complete/complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xdownload/options.h>

#include "args/grammar.h"
#include "args/options.h"
#include "common/status.h"

#define FILES "/" /* names of files may stand there */

/* What is being typed. */
struct typed {
    const char
        *before; /* of the word, what stays: "--name=", of so many bytes, */
    size_t n_before;
    const char *word; /* and the rest of it */
};

static void put(const struct typed *t, const char *candidate, size_t len,
                const char *end, const char *sentence)
{
    if (strncmp(candidate, t->word, strlen(t->word)) != 0)
        return;
    printf("%.*s%.*s%s%s%s\n", (int)t->n_before, t->before, (int)len, candidate,
           end, sentence[0] != '\0' ? "\t" : "", sentence);
}

/* The length of the word that a list like "a, b or c" goes on with; 0: what
 * stands there is more than a word, and the text is no such list. */
static size_t listed_word(const char *text, size_t *out_step)
{
    const size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (text[len] == '\0')
        *out_step = len;
    else if (strncmp(text + len, ", ", 2) == 0)
        *out_step = len + 2;
    else if (strncmp(text + len, " or ", 4) == 0)
        *out_step = len + 4;
    else
        return 0;
    return len;
}

static bool is_list(const char *text)
{
    size_t n = 0, step = 0;

    for (; *text != '\0'; text += step, n++)
        if (listed_word(text, &step) == 0)
            return false;
    return n > 1;
}

/* The text that says what the value may be. */
static const char *range_of(const struct option_row *row)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    const char *range = row->sentence;

    if (row->id == OPTION_LIBRARY) {
        for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
            if (strcmp(info.name, row->name) == 0)
                return info.range != NULL ? info.range : "";
    }
    for (const char *s = range; (s = strstr(s, ": ")) != NULL;)
        range = s += 2;
    return range;
}

static void put_names(const struct typed *t)
{
    struct xd_option_info info = {.struct_size = sizeof info};

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        put(t, info.name, strlen(info.name), "=", info.sentence);
}

static void put_values(const struct typed *t, const struct option_row *row)
{
    const char *range = range_of(row);
    size_t step = 0;

    if (row->id == OPTION_SET) {
        put_names(t);
        return;
    }
    if (is_list(range)) {
        for (; *range != '\0'; range += step) {
            const size_t len = listed_word(range, &step);
            put(t, range, len, "", "");
        }
        return;
    }
    if (strstr(row->argument, "FILE") != NULL ||
        strstr(row->argument, "DIR") != NULL || row->id == OPTION_CHECKSUM)
        puts(FILES);
}

static void put_options(const struct grammar *g, const char *word)
{
    const struct typed name = {"--", 2, word[1] != '\0' ? word + 2 : ""};

    for (size_t i = 0; i < g->n; i++)
        put(&name, g->rows[i].name, strlen(g->rows[i].name), "",
            g->rows[i].sentence);
}

static const struct option_row *row_named(const struct grammar *g,
                                          const char *name, size_t len)
{
    for (size_t i = 0; i < g->n; i++)
        if (strlen(g->rows[i].name) == len &&
            strncmp(g->rows[i].name, name, len) == 0)
            return &g->rows[i];
    return NULL;
}

/* The option whose value is the word behind this one, or NULL. */
static const struct option_row *wants_next(const struct grammar *g,
                                           const char *word)
{
    const struct option_row *row = NULL;

    if (word[0] != '-' || word[1] == '\0')
        return NULL;
    if (word[1] == '-') {
        row = row_named(g, word + 2, strlen(word + 2));
        return row != NULL && row->argument != NULL ? row : NULL;
    }
    for (word++; *word != '\0'; word++) {
        row = grammar_row(g, (unsigned char)*word);
        if (row == NULL)
            return NULL;
        if (row->argument != NULL) /* in this word, if anything is left of it */
            return word[1] == '\0' ? row : NULL;
    }
    return NULL;
}

/* The last word, where options may stand. */
static void put_last(const struct grammar *g, const char *word, bool is_first)
{
    const char *equals = strchr(word, '=');
    struct typed t = {"", 0, word};

    if (strncmp(word, "--", 2) == 0 && equals != NULL) {
        const struct option_row *row =
            row_named(g, word + 2, (size_t)(equals - word) - 2);
        t = (struct typed){word, (size_t)(equals - word) + 1, equals + 1};
        if (row != NULL && row->argument != NULL)
            put_values(&t, row);
        return;
    }
    if (word[0] == '-') {
        put_options(g, word);
        return;
    }
    for (unsigned c = COMMAND_GET; is_first && grammar_name(c)[0] != '\0';
         c *= 2)
        put(&t, grammar_name(c), strlen(grammar_name(c)), "", "");
    puts(FILES);
}

int complete_print(int n, char **words)
{
    const enum command named = n > 1 ? grammar_command(words[0]) : 0;
    const struct option_row *wanting = NULL;
    bool only_files = false;
    struct grammar g;

    if (n < 1)
        return STATUS_USAGE;
    grammar_init(&g, named != 0 ? named : COMMAND_GET);
    for (int i = named != 0; i < n - 1; i++) {
        if (wanting == NULL && strcmp(words[i], "--") == 0)
            only_files = true;
        wanting =
            wanting == NULL && !only_files ? wants_next(&g, words[i]) : NULL;
    }
    if (only_files)
        puts(FILES);
    else if (wanting != NULL)
        put_values(&(struct typed){"", 0, words[n - 1]}, wanting);
    else
        put_last(&g, words[n - 1], n == 1);
    return 0;
}

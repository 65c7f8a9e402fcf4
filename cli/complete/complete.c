/* SPDX-License-Identifier: MIT */
#include "complete/complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xdownload/options.h>

#include "args/grammar.h"
#include "args/help.h"
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

/* "auto" of "0 to 1000000, or auto"; or NULL. */
static const char *last_word(const char *range)
{
    const char *word = NULL;
    size_t step;

    for (const char *s = range; (s = strstr(s, ", or ")) != NULL;)
        word = s += strlen(", or ");
    return word != NULL && listed_word(word, &step) == strlen(word) ? word
                                                                    : NULL;
}

static bool takes_file(const struct option_row *row, const char *range)
{
    return strstr(row->argument, "FILE") != NULL ||
           strstr(row->argument, "DIR") != NULL ||
           strstr(range, "the name of ") != NULL ||
           row->id == OPTION_CHECKSUM || row->id == OPTION_VIRTUAL;
}

static void put_listed(const struct typed *t, const char *range)
{
    size_t step = 0;

    for (; *range != '\0'; range += step)
        put(t, range, listed_word(range, &step), "", "");
}

/* Behind what of the word ends with `len` bytes. */
static struct typed behind(const struct typed *t, size_t len)
{
    return t->n_before > 0
               ? (struct typed){t->before, t->n_before + len, t->word + len}
               : (struct typed){t->word, len, t->word + len};
}

static void put_values(const struct grammar *g, const struct typed *t,
                       const struct option_row *row)
{
    const char *range = range_of(row), *comma = strrchr(t->word, ',');
    const char *word = last_word(range);

    if (is_list(range)) {
        const bool has_more = comma != NULL && g->command == COMMAND_BENCH;
        const struct typed rest =
            behind(t, has_more ? (size_t)(comma + 1 - t->word) : 0);
        put_listed(&rest, range);
        return;
    }
    if (word != NULL)
        put(t, word, strlen(word), "", "");
    if (takes_file(row, range))
        puts(FILES);
}

/* "NAME=VALUE" */
static void put_setting(const struct grammar *g, const struct typed *t)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    const size_t len = strcspn(t->word, "=");
    const struct typed value = behind(t, len + 1);

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++) {
        const struct option_row row = {
            .id = OPTION_LIBRARY, .name = info.name, .argument = info.argument};
        if (t->word[len] == '\0')
            put(t, info.name, strlen(info.name), "=", info.sentence);
        else if (strlen(info.name) == len && info.argument != NULL &&
                 strncmp(info.name, t->word, len) == 0)
            put_values(g, &value, &row);
    }
}

static void put_topics(const struct typed *t)
{
    const char *topic;

    for (size_t i = 0; (topic = help_topic(i)) != NULL; i++)
        put(t, topic, strlen(topic), "", "");
}

static void put_wanted(const struct grammar *g, const struct typed *t,
                       const struct option_row *row)
{
    if (row->id == OPTION_HELP)
        put_topics(t);
    else if (row->id == OPTION_SET)
        put_setting(g, t);
    else
        put_values(g, t, row);
}

static void put_options(const struct grammar *g, const char *word)
{
    const struct typed name = {"--", 2, word[1] != '\0' ? word + 2 : ""};

    for (size_t i = 0; i < g->n; i++)
        put(&name, g->rows[i].name, strlen(g->rows[i].name), "",
            g->rows[i].sentence);
}

/* Also by the name that it has in another program. */
static const struct option_row *row_named(const struct grammar *g,
                                          const char *name, size_t len)
{
    for (size_t i = 0; i < g->n_longs; i++)
        if (strlen(g->longs[i].name) == len &&
            strncmp(g->longs[i].name, name, len) == 0)
            return grammar_row(g, g->longs[i].val);
    return NULL;
}

static bool takes_word(const struct option_row *row)
{
    return row != NULL && (row->argument != NULL || row->id == OPTION_HELP);
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
        return takes_word(row) ? row : NULL;
    }
    for (word++; *word != '\0'; word++) {
        row = grammar_row(g, (unsigned char)*word);
        if (row == NULL)
            return NULL;
        if (takes_word(row)) /* in this word, if anything is left of it */
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
            put_wanted(g, &t, row);
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
        put_wanted(&g, &(struct typed){"", 0, words[n - 1]}, wanting);
    else
        put_last(&g, words[n - 1], n == 1);
    return 0;
}

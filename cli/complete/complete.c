/* SPDX-License-Identifier: MIT */
#include "complete/complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xdownload/options.h>

#include "args/commands.h"
#include "args/grammar.h"
#include "args/help.h"
#include "args/options.h"
#include "common/status.h"

#define FILES "/" /* tells the shell to offer file names */

/* The word being typed. */
struct typed {
    /* the first n_before bytes, such as "--name=", stay as they are */
    const char *before;
    size_t n_before;
    const char *word; /* the rest of the word, which a candidate replaces */
};

static void put(const struct typed *t, const char *candidate, size_t len,
                const char *end, const char *sentence)
{
    if (strncmp(candidate, t->word, strlen(t->word)) != 0)
        return;
    printf("%.*s%.*s%s%s%s\n", (int)t->n_before, t->before, (int)len, candidate,
           end, sentence[0] != '\0' ? "\t" : "", sentence);
}

static bool is_list(const char *text)
{
    size_t n = 0, step = 0;

    for (; *text != '\0'; text += step, n++)
        if (options_listed(text, &step) == 0)
            return false;
    return n > 1;
}

/* Returns the last word of a range, such as "auto" in "0 to 1000000, or auto",
 * or NULL. */
static const char *last_word(const char *range)
{
    const char *word = NULL;
    size_t step;

    for (const char *s = range; (s = strstr(s, ", or ")) != NULL;)
        word = s += strlen(", or ");
    return word != NULL && options_listed(word, &step) == strlen(word) ? word
                                                                       : NULL;
}

static bool takes_file(const struct option_row *row, const char *range)
{
    return strstr(row->argument, "FILE") != NULL ||
           strstr(row->argument, "DIR") != NULL ||
           strstr(range, "the name of ") != NULL;
}

static void put_listed(const struct typed *t, const char *range)
{
    size_t step = 0;

    for (; *range != '\0'; range += step)
        put(t, range, options_listed(range, &step), "", "");
}

/* Returns the typed word without its first `len` bytes. */
static struct typed without_first(const struct typed *t, size_t len)
{
    return t->n_before > 0
               ? (struct typed){t->before, t->n_before + len, t->word + len}
               : (struct typed){t->word, len, t->word + len};
}

static void put_values(const struct grammar *g, const struct typed *t,
                       const struct option_row *row)
{
    const char *range = row->range != NULL ? row->range : "",
               *comma = strrchr(t->word, ',');
    const char *word = last_word(range);

    if (is_list(range)) {
        const bool has_more = comma != NULL && g->command == COMMAND_BENCH;
        const struct typed rest =
            without_first(t, has_more ? (size_t)(comma + 1 - t->word) : 0);
        put_listed(&rest, range);
        return;
    }
    if (word != NULL)
        put(t, word, strlen(word), "", "");
    if (takes_file(row, range))
        puts(FILES);
}

/* Prints candidates for "NAME=VALUE". */
static void put_setting(const struct grammar *g, const struct typed *t)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    const size_t len = strcspn(t->word, "=");
    const struct typed value = without_first(t, len + 1);

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++) {
        const struct option_row row = {
            .name = info.name, .argument = info.argument, .range = info.range};
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
    if (row->kind == OPTION_HELP)
        put_topics(t);
    else if (row->kind == OPTION_SETTING)
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
    return row != NULL && (row->argument != NULL || row->kind == OPTION_HELP);
}

/* Returns the option whose value is the word after this one, or NULL. */
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
        /* the value is the rest of this word, or the next word */
        if (takes_word(row))
            return word[1] == '\0' ? row : NULL;
    }
    return NULL;
}

/* Prints candidates for the last word, which may be an option. */
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
    const struct command_row *c;
    for (size_t i = 0; is_first && (c = commands_at(i)) != NULL; i++)
        put(&t, c->name, strlen(c->name), "", "");
    puts(FILES);
}

int complete_print(int n, char **words)
{
    const struct command_row *named = n > 1 ? commands_named(words[0]) : NULL;
    const struct option_row *wanting = NULL;
    bool only_files = false;
    struct grammar g;

    if (n < 1)
        return STATUS_USAGE;
    grammar_init(&g, named != NULL ? named->command : COMMAND_GET);
    for (int i = named != NULL; i < n - 1; i++) {
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

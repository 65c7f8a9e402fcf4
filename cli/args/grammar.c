/* SPDX-License-Identifier: MIT */
#include "args/grammar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "args/foreign.h"
#include "common/nearest.h"
#include "common/status.h"
#include "common/words.h"

/* What getopt_long() is to return for row i: no letter is that large. */
#define FIRST_ROW 256

/* And for what is no row of the command's. */
#define NOTHING (FIRST_ROW + OPTIONS_MAX)

#define WHO_SIZE 128 /* the names of all commands */

static const struct {
    enum command command;
    const char *name;
} commands[] = {{COMMAND_GET, "get"},       {COMMAND_SHOW, "show"},
                {COMMAND_VERIFY, "verify"}, {COMMAND_PLAY, "play"},
                {COMMAND_SERVE, "serve"},   {COMMAND_BENCH, "bench"},
                {COMMAND_TRACE, "trace"},   {COMMAND_MAKE, "make"},
                {COMMAND_CHECK, "check"},   {COMMAND_PUT, "put"},
                {COMMAND_ADD, "add"},       {COMMAND_DROP, "drop"},
                {COMMAND_RENEW, "renew"},   {COMMAND_VIA, "via"},
                {COMMAND_DEPOT, "depot"}};

#define N_COMMANDS (sizeof commands / sizeof *commands)

enum command grammar_command(const char *word)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, word) == 0)
            return commands[i].command;
    return 0;
}

const char *grammar_name(enum command command)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (commands[i].command == command)
            return commands[i].name;
    return "";
}

const char *grammar_nearest_command(const char *word)
{
    struct nearest nearest;

    nearest_init(&nearest, word, strlen(word));
    for (size_t i = 0; i < N_COMMANDS; i++)
        nearest_consider(&nearest, commands[i].name);
    return nearest.name;
}

static void add_long(struct grammar *g, const char *name, bool has_argument,
                     int value)
{
    g->longs[g->n_longs++] = (struct option){
        name, has_argument ? required_argument : no_argument, NULL, value};
}

/* Options of other programs that this command has, under another name. */
static void add_foreign(struct grammar *g)
{
    const struct foreign *f;

    for (size_t i = 0; (f = foreign_option(i)) != NULL; i++) {
        if (f->ours == NULL)
            add_long(g, f->name, false, NOTHING);
        for (size_t k = 0; f->ours != NULL && k < g->n; k++)
            if (strcmp(g->rows[k].name, f->ours) == 0)
                add_long(g, f->name, g->rows[k].argument != NULL,
                         FIRST_ROW + (int)k);
    }
}

void grammar_init(struct grammar *g, enum command command)
{
    struct option_row all[OPTIONS_MAX];
    const size_t n_all = options_table(all);

    *g = (struct grammar){.command = command};
    char *letter = g->letters;
    *letter++ = ':'; /* tell an argument that is missing from an unknown one */
    for (size_t i = 0; i < n_all; i++) {
        if ((all[i].commands & command) == 0)
            continue;
        g->rows[g->n] = all[i];
        add_long(g, all[i].name, all[i].argument != NULL,
                 FIRST_ROW + (int)g->n);
        g->n++;
        if (all[i].letter == 0)
            continue;
        *letter++ = all[i].letter;
        if (all[i].argument != NULL)
            *letter++ = ':';
    }
    add_foreign(g);
}

const struct option_row *grammar_row(const struct grammar *g, int value)
{
    static const struct option_row nothing = {.id = OPTION_NOTHING,
                                              .name = "this option"};

    if (value == NOTHING)
        return &nothing;
    if (value >= FIRST_ROW && value < FIRST_ROW + (int)g->n)
        return &g->rows[value - FIRST_ROW];
    for (size_t i = 0; value > 0 && i < g->n; i++)
        if (g->rows[i].letter == value)
            return &g->rows[i];
    return NULL;
}

/* "show, verify and play" */
static void name_takers(char out[WHO_SIZE], unsigned takers)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const unsigned later = takers & ~(2U * commands[i].command - 1);
        if ((takers & commands[i].command) == 0)
            continue;
        const unsigned after_next = later & (later - 1);
        const char *joint = later == 0 ? "" : after_next ? ", " : " and ";
        len += (size_t)snprintf(out + len, WHO_SIZE - len, "%s%s",
                                commands[i].name, joint);
    }
}

/* Whether `row` is what `word` means, or the letter that it begins with. */
static bool is_meant(const struct option_row *row, const char *word, size_t len,
                     int letter)
{
    return letter != 0 ? row->letter == letter
                       : strncmp(word + 2, row->name, len - 2) == 0;
}

/* An option of other commands. */
static bool complain_of_others(const struct grammar *g, const char *word,
                               size_t len, int letter)
{
    struct option_row all[OPTIONS_MAX];
    const size_t n = options_table(all);
    char takers[WHO_SIZE];

    for (size_t i = 0; i < n; i++) {
        if (!is_meant(&all[i], word, len, letter))
            continue;
        name_takers(takers, all[i].commands);
        words_usage("--%s means nothing to %s: it is used by %s", all[i].name,
                    grammar_name(g->command), takers);
        return true;
    }
    return false;
}

/* The long option that was meant by `word`, of this length; or NULL. */
static const char *nearest_long(const struct grammar *g, const char *word,
                                size_t len)
{
    struct nearest nearest;

    nearest_init(&nearest, word + 2, len - 2);
    for (size_t i = 0; i < g->n; i++)
        nearest_consider(&nearest, g->rows[i].name);
    return nearest.name;
}

/* No option of this command: perhaps one of others, or of other programs. */
static int complain_of_unknown(const struct grammar *g, const char *word,
                               size_t len, int letter)
{
    const char *advice = letter != 0 ? foreign_letter_advice(letter)
                                     : foreign_advice(word + 2, len - 2);
    const char *hint = g->command == COMMAND_PLAY
                           ? "; options of the player stand behind --"
                           : "";

    if (advice == NULL && complain_of_others(g, word, len, letter))
        return STATUS_USAGE;
    if (letter != 0 && advice != NULL)
        return words_usage("unknown option -%c: %s", letter, advice);
    if (letter != 0)
        return words_usage("unknown option -%c%s", letter, hint);
    if (advice != NULL)
        return words_usage("unknown option %.*s: %s", (int)len, word, advice);
    const char *nearest = nearest_long(g, word, len);
    if (nearest != NULL)
        return words_usage("unknown option %.*s: did you mean --%s?%s",
                           (int)len, word, nearest, hint);
    return words_usage("unknown option %.*s%s", (int)len, word, hint);
}

/* The options that begin so. */
static int complain_of_short(const struct grammar *g, const char *word,
                             size_t len)
{
    char names[200] = "";
    size_t at = 0;

    for (size_t i = 0; i < g->n; i++)
        if (is_meant(&g->rows[i], word, len, 0) && at < sizeof names)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s--%s",
                                   at > 0 ? ", " : "", g->rows[i].name);
    return words_usage("%.*s may mean more than one option: %s", (int)len, word,
                       names);
}

int grammar_complain(const struct grammar *g, int got, const char *word)
{
    const struct option_row *row = grammar_row(g, optopt);

    if (got == ':' && row != NULL)
        return words_usage("--%s needs a value: --%s %s", row->name, row->name,
                           row->argument);
    if (row != NULL)
        return words_usage("--%s takes no value", row->name);
    const size_t len = strcspn(word, "=");
    size_t matches = 0;
    for (size_t i = 0; optopt == 0 && i < g->n; i++)
        if (is_meant(&g->rows[i], word, len, 0))
            matches++;
    if (matches > 1)
        return complain_of_short(g, word, len);
    return complain_of_unknown(g, word, len, optopt);
}

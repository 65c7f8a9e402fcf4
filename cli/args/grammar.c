/* SPDX-License-Identifier: MIT */
#include "args/grammar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "args/commands.h"
#include "args/foreign.h"
#include "common/nearest.h"
#include "common/status.h"
#include "common/words.h"

/* getopt_long() returns FIRST_ROW + i for row i.  No option letter is that
 * large. */
#define FIRST_ROW 256

/* getopt_long() returns this for options of other programs that have no row
 * here. */
#define NOTHING (FIRST_ROW + OPTIONS_MAX)

#define WHO_SIZE 128 /* bytes for the names of all commands */

static void add_long(struct grammar *g, const char *name, bool has_argument,
                     int value)
{
    g->longs[g->n_longs++] = (struct option){
        name, has_argument ? required_argument : no_argument, NULL, value};
}

/* Adds options of other programs, if this command has an option with the same
 * effect. */
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
    *letter++ = ':'; /* report a missing value as ':', not as '?' */
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
    static const struct option_row nothing = {.kind = OPTION_NOTHING,
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

const struct option_row *grammar_named(const struct grammar *g,
                                       const char *name)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->rows[i].name, name) == 0)
            return &g->rows[i];
    return NULL;
}

/* Writes a list like "show, verify and play". */
static void name_takers(char out[WHO_SIZE], unsigned takers)
{
    const struct command_row *c;
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; (c = commands_at(i)) != NULL; i++) {
        if ((takers & c->command) == 0)
            continue;
        takers &= ~(unsigned)c->command;
        const bool is_last_but_one = (takers & (takers - 1)) == 0;
        const char *joint = takers == 0 ? "" : is_last_but_one ? " and " : ", ";
        len +=
            (size_t)snprintf(out + len, WHO_SIZE - len, "%s%s", c->name, joint);
    }
}

/* Returns whether `word`, or the letter if it is not 0, is an option of this
 * row. */
static bool is_meant(const struct option_row *row, const char *word, size_t len,
                     int letter)
{
    return letter != 0 ? row->letter == letter
                       : strncmp(word + 2, row->name, len - 2) == 0;
}

/* Reports an option that only other commands have.  Returns false if no command
 * has it. */
static bool complain_of_others(const char *word, size_t len, int letter)
{
    struct option_row all[OPTIONS_MAX];
    const size_t n = options_table(all);
    char takers[WHO_SIZE];

    for (size_t i = 0; i < n; i++) {
        if (!is_meant(&all[i], word, len, letter))
            continue;
        name_takers(takers, all[i].commands);
        words_usage("--%s works only with %s", all[i].name, takers);
        return true;
    }
    return false;
}

/* Returns a long option that is similar to `word`, for a suggestion, or
 * NULL. */
static const char *nearest_long(const struct grammar *g, const char *word,
                                size_t len)
{
    struct nearest nearest;

    nearest_init(&nearest, word + 2, len - 2);
    for (size_t i = 0; i < g->n; i++)
        nearest_consider(&nearest, g->rows[i].name);
    return nearest.name;
}

/* Reports a word that is not an option of this command, with advice if other
 * commands or programs have it. */
static int complain_of_unknown(const struct grammar *g, const char *word,
                               size_t len, int letter)
{
    const char typed[] = {'-', (char)letter, '\0'};
    const char *advice =
        letter != 0 ? foreign_advice(typed, 2) : foreign_advice(word, len);
    const char *hint =
        g->command == COMMAND_PLAY ? "; options of the player go after --" : "";

    if (advice == NULL && complain_of_others(word, len, letter))
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

/* Reports an ambiguous abbreviation. */
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

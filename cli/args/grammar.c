#include "args/grammar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/words.h"

/* What getopt_long() is to return for row i: no letter is that large. */
#define FIRST_ROW 256

#define WHO_SIZE 64 /* the names of all commands */

static const struct {
    enum command command;
    const char *name;
} commands[] = {{COMMAND_GET, "get"},       {COMMAND_SHOW, "show"},
                {COMMAND_VERIFY, "verify"}, {COMMAND_PLAY, "play"},
                {COMMAND_SERVE, "serve"},   {COMMAND_BENCH, "bench"},
                {COMMAND_TRACE, "trace"}};

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
        g->longs[g->n] = (struct option){
            all[i].name,
            all[i].argument != NULL ? required_argument : no_argument, NULL,
            FIRST_ROW + (int)g->n};
        g->n++;
        if (all[i].letter == 0)
            continue;
        *letter++ = all[i].letter;
        if (all[i].argument != NULL)
            *letter++ = ':';
    }
}

const struct option_row *grammar_row(const struct grammar *g, int value)
{
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

/* No option of this command: perhaps one of others. */
static int complain_of_unknown(const struct grammar *g, const char *word,
                               size_t len, int letter)
{
    struct option_row all[OPTIONS_MAX];
    const size_t n = options_table(all);
    char takers[WHO_SIZE];

    for (size_t i = 0; i < n; i++) {
        if (!is_meant(&all[i], word, len, letter))
            continue;
        name_takers(takers, all[i].commands);
        return words_usage("--%s means nothing to %s: it is used by %s",
                           all[i].name, grammar_name(g->command), takers);
    }
    const char *hint = g->command == COMMAND_PLAY
                           ? "; what is the player's stands behind --"
                           : "";
    if (letter != 0)
        return words_usage("unknown option -%c%s", letter, hint);
    return words_usage("unknown option %.*s%s", (int)len, word, hint);
}

int grammar_complain(const struct grammar *g, int got, const char *word)
{
    const struct option_row *row = grammar_row(g, optopt);

    if (got == ':' && row != NULL)
        return words_usage("--%s needs its %s", row->name, row->argument);
    if (row != NULL)
        return words_usage("--%s takes no value", row->name);
    const size_t len = strcspn(word, "=");
    size_t matches = 0;
    for (size_t i = 0; optopt == 0 && i < g->n; i++)
        if (is_meant(&g->rows[i], word, len, 0))
            matches++;
    if (matches > 1)
        return words_usage("%.*s may mean more than one option", (int)len,
                           word);
    return complain_of_unknown(g, word, len, optopt);
}

/* SPDX-License-Identifier: MIT */
/*
 * The options of one command in the form that getopt_long() wants, and what is
 * said of a word that is none of them.
 */
#ifndef CLI_GRAMMAR_H
#define CLI_GRAMMAR_H

#include <getopt.h>
#include <stddef.h>

#include "args/options.h"

struct grammar {
    enum command command;
    struct option_row rows[OPTIONS_MAX];
    size_t n;
    struct option longs[2 * OPTIONS_MAX + 1]; /* with other programs' names */
    size_t n_longs;
    char letters[2 * OPTIONS_MAX + 2];
};

/* The command of that name; 0: there is none. */
enum command grammar_command(const char *word);
const char *grammar_name(enum command command);

/* The name of the command that `word` may be a misspelling of, or NULL. */
const char *grammar_nearest_command(const char *word);

void grammar_init(struct grammar *g, enum command command);

/* The row for what getopt_long() returned, or left in optopt; NULL if none.  What
 * another program's option asks for in any case is a row OPTION_NOTHING. */
const struct option_row *grammar_row(const struct grammar *g, int value);

/* Say what getopt_long(), which returned `got`, did not like in `word`.
 * Returns STATUS_USAGE. */
int grammar_complain(const struct grammar *g, int got, const char *word);

#endif

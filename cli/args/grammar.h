/* SPDX-License-Identifier: MIT */
/*
 * The options of one command in the form that getopt_long() needs, and messages
 * about words that are not options of this command.
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
    /* long options, including names from other programs */
    struct option longs[2 * OPTIONS_MAX + 1];
    size_t n_longs;
    char letters[2 * OPTIONS_MAX + 2];
};

void grammar_init(struct grammar *g, enum command command);

/* Returns the row for a value that getopt_long() returned or stored in optopt,
 * or NULL.  If another program's option asks for something that we always do,
 * the row has the kind OPTION_NOTHING. */
const struct option_row *grammar_row(const struct grammar *g, int value);

/* Returns the command's option with this name, or NULL. */
const struct option_row *grammar_named(const struct grammar *g,
                                       const char *name);

/* Prints what is wrong with `word`, for which getopt_long() returned `got`.
 * Returns STATUS_USAGE. */
int grammar_complain(const struct grammar *g, int got, const char *word);

#endif

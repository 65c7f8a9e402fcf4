/* SPDX-License-Identifier: MIT */
/*
 * The table of commands: their names, what they need, and their pages of the
 * help.  Pure.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stddef.h>

#include "args/args.h"

struct command_row {
    enum command command;
    const char *name;
    /* message if no input is given; NULL: no input is needed */
    const char *wants;
    /* name of the input if the command takes only one; NULL: it takes
     * several */
    const char *one;
    const char *group; /* heading in the list of commands in the help */
    const char *title;
    const char *examples, *usage; /* for the help: lines of text */
};

/* Returns row number `i`, or NULL after the last row. */
const struct command_row *commands_at(size_t i);

const struct command_row *commands_row(enum command command);

/* Returns the command with this name, or NULL. */
const struct command_row *commands_named(const char *word);

/* Returns the name of a command that is similar to `word`, for a suggestion, or
 * NULL. */
const char *commands_nearest(const char *word);

#endif

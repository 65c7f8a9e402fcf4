/* SPDX-License-Identifier: MIT */
/*
 * The table of options.  The parser, the config file, the help and the shell
 * completion all use this table, so a new option needs only a row.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <xdownload/options.h>

#include "args/args.h"

/* How the value of an option is parsed and stored. */
enum option_kind {
    OPTION_LIBRARY, /* parsed by xd_options_set() */
    OPTION_SWITCH,  /* a bool becomes true */
    OPTION_TEXT,    /* a string; the option may be given once */
    OPTION_TEXTS,   /* an array of strings, followed by their number */
    OPTION_WORD,    /* an unsigned: index of the word in the list of the row */
    OPTION_COUNT,   /* an unsigned or uint64_t */
    OPTION_SIZE,    /* a uint64_t, in bytes */
    OPTION_TIME,    /* a double, in seconds */
    OPTION_RATE,    /* a double, in bytes per second; bench accepts a list */
    OPTION_SETTING, /* NAME=VALUE: an option of the library */
    OPTION_VERSION,
    OPTION_HELP,
    /* an option of another program for something that we always do */
    OPTION_NOTHING
};

/* The parts of the help that list an option.  Used as a set of bits. */
enum option_group {
    GROUP_COMMON = 1,
    GROUP_OUTPUT = 2,
    GROUP_NETWORK = 4,
    GROUP_VERIFICATION = 8,
    GROUP_ALGORITHMS = 16,
    GROUP_COMMAND = 32 /* options that only one or a few commands have */
};

struct option_row {
    const char *name;
    char letter;          /* 0: none */
    unsigned commands;    /* set of the commands that have the option */
    unsigned groups;      /* set of enum option_group */
    const char *argument; /* name of the argument in the help; NULL: a switch */
    const char *sentence; /* for the help */
    const char *more;     /* the default, in words for the help; or NULL */
    enum option_kind kind;
    /* Position and size of the field of struct args that gets the value.  For
     * LIBRARY: the field for a list of values, which only bench accepts. */
    size_t at, size;
    double least, most; /* limits for COUNT, SIZE (bytes) and TIME (seconds) */
    const char *range;  /* description of the accepted values, or NULL */
    /* checks the value of TEXT or TEXTS; NULL: any value is accepted */
    bool (*accepts)(const char *value);
    /* NAME=VALUE of a library option that this option also sets */
    const char *sets;
    /* another option that takes precedence over a config file's value */
    const char *instead;
    bool in_config; /* a config file may set it */
    bool is_shared; /* the value applies to all stores of a run */
    bool is_secret; /* the value must not be shown */
};

/* Writes all rows, at most OPTIONS_MAX, to `out`.  Returns their number.  This
 * includes all options of the library.  A library option without a row in our
 * table works with all commands that download. */
size_t options_table(struct option_row out[OPTIONS_MAX]);

/* Returns our row for this name, or NULL. */
const struct option_row *options_row(const char *name);

/* Finds the library's option with this name of `len` bytes. */
bool options_library(const char *name, size_t len, struct xd_option_info *out);

/* Returns the index of the option in args.given.  The options of the library
 * come first, in the order of xd_option_info(). */
size_t options_index(const char *name);

/* Parses a range like "bar, plain or none".  Returns the length of the first
 * word, and sets *out_step to the distance to the next word.  Returns 0 if the
 * text is not such a list. */
size_t options_listed(const char *range, size_t *out_step);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * All options of the command in one table: its own, and the library's.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>

#include "args/args.h"

enum option_id {
    OPTION_OUTPUT,
    OPTION_DIRECTORY,
    OPTION_INPUT_FILE,
    OPTION_CONTINUE,
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_PROGRESS,
    OPTION_REPORT,
    OPTION_TRACE,
    OPTION_SUMMARY,
    OPTION_SCENARIO,
    OPTION_RUN,
    OPTION_DRY_RUN,
    OPTION_MANIFESTS,
    OPTION_FILE,
    OPTION_CHECKSUM,
    OPTION_SIGNATURE,
    OPTION_SET,
    OPTION_NO_DEPOT_CACHE,
    OPTION_JSON,
    OPTION_PROBE,
    OPTION_FORMAT,
    OPTION_REPAIR,
    OPTION_FULL,
    OPTION_OFFLINE,
    OPTION_PIECE_SIZE,
    OPTION_PLAYER,
    OPTION_BROWSER,
    OPTION_SIMULATE,
    OPTION_RATE,
    OPTION_PREBUFFER,
    OPTION_LISTEN,
    OPTION_ALLOW_ORIGIN,
    OPTION_TOKEN,
    OPTION_ACTIVE_LENGTH,
    OPTION_VIRTUAL,
    OPTION_PAPER,
    OPTION_DEPOTS,
    OPTION_REPEAT,
    OPTION_SEED,
    OPTION_SIZE,
    OPTION_STALLS,
    OPTION_COOL_DOWN,
    OPTION_TIME_BUDGET,
    OPTION_BYTE_BUDGET,
    OPTION_YES,
    OPTION_SUMMARIZE,
    OPTION_PLOT,
    OPTION_TO,
    OPTION_COPIES,
    OPTION_CODE,
    OPTION_PARITY,
    OPTION_EXTENT,
    OPTION_STRIPE,
    OPTION_HEAL,
    OPTION_FOR,
    OPTION_PRESIGN,
    OPTION_FROM,
    OPTION_KEEP_OBJECTS,
    OPTION_NGINX,
    OPTION_CHECK,
    OPTION_ORIGIN,
    OPTION_CHUNK,
    OPTION_HOPS,
    OPTION_CACHE_SIZE,
    OPTION_FILL_TIME,
    OPTION_NO_CONFIG,
    OPTION_VERSION,
    OPTION_HELP,
    OPTION_NOTHING, /* of other programs: what happens in any case */
    OPTION_LIBRARY  /* xd_options_set() takes it */
};

/* Where an option stands in the help: in one or more of these. */
enum option_group {
    GROUP_COMMON = 1,
    GROUP_OUTPUT = 2,
    GROUP_NETWORK = 4,
    GROUP_VERIFICATION = 8,
    GROUP_ALGORITHMS = 16,
    GROUP_COMMAND = 32 /* of one command, or a few */
};

struct option_row {
    enum option_id id;
    unsigned commands; /* which enum command take it */
    unsigned groups;   /* of enum option_group */
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: a switch */
    const char *sentence; /* for the help */
    const char *more;     /* the default, or NULL */
};

/* The rows, at most OPTIONS_MAX, into `out`.  Returns how many. */
size_t options_table(struct option_row out[OPTIONS_MAX]);

#endif

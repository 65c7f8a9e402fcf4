/* SPDX-License-Identifier: MIT */
/*
 * The command line, read.
 *
 * A library option needs nothing here: each row of xd_option_info() is taken
 * as --NAME, and stands in the help.  The command's own options, and the short
 * letters of both, are a table in options.c.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xdownload/options.h>

#define OPTIONS_MAX 160
#define CHECKSUMS_MAX 16

enum command {
    COMMAND_GET = 1, /* powers of two: options say where they belong */
    COMMAND_SHOW = 2,
    COMMAND_VERIFY = 4,
    COMMAND_PLAY = 8,
    COMMAND_SERVE = 16,
    COMMAND_BENCH = 32,
    COMMAND_TRACE = 64,
    COMMAND_MAKE = 128,
    COMMAND_CHECK = 256,
    COMMAND_PUT = 512,
    COMMAND_ADD = 1024,
    COMMAND_DROP = 2048,
    COMMAND_RENEW = 4096,
    COMMAND_VIA = 8192,
    COMMAND_DEPOT = 16384
};

/* The options of the library that bench takes lists for. */
enum axis {
    AXIS_ALGORITHM,
    AXIS_REDUNDANCY,
    AXIS_PROGRESS_NUMBER,
    AXIS_BLOCK_SIZE,
    AXIS_THREADS,
    AXES
};

#define BENCH_RATES_MAX 3 /* columns of a results file; the paper has three */
#define BENCH_SCENARIOS_MAX 16

/* Options of bench alone. */
struct bench_args {
    const char *axes[AXES]; /* lists with commas, or NULL: not given */
    const char *depots;     /* which of them: see bench/subset.h; or NULL */
    const char *scenarios[BENCH_SCENARIOS_MAX]; /* --virtual */
    size_t n_scenarios;
    bool paper, yes, stalls, summarize;
    const char *plot; /* the folder for the figures, or NULL */
    unsigned repeat;
    uint64_t seed;
    double cool_down_s, time_budget_s; /* < 0: not given */
    uint64_t byte_budget;              /* 0: not given */
    uint64_t size;                     /* of the file in virtual time */
    double rates[BENCH_RATES_MAX];     /* bytes per second */
    size_t n_rates;
};

#define STORES_MAX 64

/* Options of what places copies. */
struct publish_args {
    char *stores[STORES_MAX]; /* --to: copies, for what may log in is blanked */
    size_t n_stores;
    uint64_t copies;   /* 0: not given */
    const char *code;  /* --code, --parity; or NULL */
    uint64_t extent;   /* bytes; 0: not given */
    double lifetime_s; /* --for; 0: not given */
    double presign_s;  /* --presign; 0: not given */
    bool stripes, heals;
    char *from; /* drop: a copy likewise; or NULL */
    bool keeps_objects;
};

#define VIA_ORIGINS_MAX 256

/* Options of via alone. */
struct via_args {
    bool writes, checks;                  /* --nginx, --check */
    const char *origins[VIA_ORIGINS_MAX]; /* --origin */
    size_t n_origins;
    uint64_t chunk, cache; /* bytes; 0: not given */
    uint64_t hops;         /* likewise */
    double fill_s;         /* likewise */
};

enum progress_mode {
    PROGRESS_AUTO, /* a bar on a terminal, else plain lines */
    PROGRESS_BAR,
    PROGRESS_PLAIN,
    PROGRESS_NONE,
    PROGRESS_JSON
};

struct trace;

struct args {
    enum command command;
    bool done; /* --help or --version has been answered: nothing is left */
    bool quiet, verbose, dry_run, json, probe, repair, simulate, browser;
    bool no_config;
    bool full, offline; /* check; make */
    bool adopts;        /* --continue: also what other programs have left */
    enum progress_mode progress;
    /* As given, or NULL.  These point into argv. */
    const char *output, *directory, *report, *file, *trace;
    const char *scenario; /* trace: where one is written, or NULL */
    bool in_words;        /* trace: a summary */
    unsigned trace_run;   /* trace: which, or 0 */
    const char *list;     /* --input-file: then there are no inputs */
    const char *listen, *allow_origin;
    uint64_t active_bytes; /* depot: --active-length */
    const char *player;    /* play's program; NULL: a simulated one */
    char **player_args; /* and what it is given, then NULL; or NULL: nothing */
    const char *format; /* NULL: show is for people, or --json */
    const char
        *original; /* make: the file that the URLs are copies of; or NULL */
    uint64_t piece_bytes; /* make: or 0 */
    double rate;          /* of the media, in bytes per second; or 0 */
    double prebuffer;     /* seconds before a simulated player begins */
    struct bench_args bench;
    struct publish_args publish;
    struct via_args via;
    /* Copies, for what may log in is blanked in argv. */
    const char *checksums[CHECKSUMS_MAX]; /* values, files and URLs; in: */
    char *checksum_words[CHECKSUMS_MAX];
    size_t n_checksums;
    const char *signature; /* a file or a URL; or NULL */
    char *token;
    char *config; /* the text of the config file, in which values may be */
    char **words; /* the inputs, and then NULL */
    /* What is to be fetched or shown, at least one; with verify the file stands
     * in `output`. */
    const char *const *inputs;
    size_t n_inputs;
    bool urls;            /* the inputs are URLs, not files */
    bool are_manifests;   /* what the URLs lead to, says --manifests */
    struct trace *tracer; /* what main() has opened for `trace`, or NULL */
    struct xd_options *options;
    const char *given[OPTIONS_MAX]; /* values for the rows of the library's
                                       table, the last ones, or NULL */
};

/*
 * Read argv, whose strings it may put into another order, and blank what is
 * secret in them.  Returns 0, or a
 * status after the reason has been said.
 * Ownership: whatever it returns, *out is the caller's, to release with
 *            args_fini().
 */
int args_parse(struct args *out, int argc, char **argv);
void args_fini(struct args *a);

/* The value of a library option, given or by default; NULL if it has none. */
const char *args_value(const struct args *a, const char *name);

/* Whether a switch of the library is on. */
bool args_is_on(const struct args *a, const char *name);

/* Whether the option of the library was given, here or in a config file. */
bool args_is_given(const struct args *a, const char *name);

/* Whether --keyring or --public-key wants signatures verified. */
bool args_wants_signed(const struct args *a);

/* How many of the checksums are lists, in files or at URLs. */
size_t args_n_lists(const struct args *a);

/* Whether the word begins like a URL that can be asked. */
bool args_is_url(const char *word);

/* A copy of a word, for the caller to free; in the word itself, which a list of
 * processes shows, what may log in is blanked.  NULL: no memory. */
char *args_copy_and_hide(char *word);

/* Whether the output goes to standard output. */
bool args_to_stdout(const struct args *a);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The parsed command line.  The commands get only struct args, never argv.
 *
 * The table in options.c says which field an option sets.  An array that
 * collects the values of a repeated option is followed by their number.
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
    COMMAND_GET = 1, /* powers of two, for sets of commands */
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

/* The options of the library for which bench accepts a list of values. */
enum axis {
    AXIS_ALGORITHM,
    AXIS_REDUNDANCY,
    AXIS_PROGRESS_NUMBER,
    AXIS_BLOCK_SIZE,
    AXIS_THREADS,
    AXES
};

/* most columns of a results file; the paper has three */
#define BENCH_RATES_MAX 3
#define BENCH_SCENARIOS_MAX 16

/* Options that only bench has. */
struct bench_args {
    const char *axes[AXES]; /* comma-separated lists, or NULL */
    const char *depots; /* subsets of the depots (bench/subset.h), or NULL */
    const char *scenarios[BENCH_SCENARIOS_MAX]; /* --virtual */
    size_t n_scenarios;
    bool paper, yes, stalls, summarize;
    const char *plot; /* folder for the figures, or NULL */
    unsigned repeat;
    uint64_t seed;
    double cool_down_s, time_budget_s; /* < 0: not given */
    uint64_t byte_budget;              /* 0: not given */
    uint64_t size;                     /* bytes of the file in virtual time */
    double rates[BENCH_RATES_MAX];     /* bytes per second */
    size_t n_rates;
};

#define STORES_MAX 64

/* Options of the commands that place copies. */
struct publish_args {
    const char *stores[STORES_MAX]; /* --to */
    size_t n_stores;
    uint64_t copies;   /* 0: not given */
    const char *code;  /* --code, --parity; or NULL */
    uint64_t extent;   /* bytes; 0: not given */
    double lifetime_s; /* --for; 0: not given */
    double presign_s;  /* --presign; 0: not given */
    bool stripes, heals;
    const char *from; /* --from, or NULL */
    bool keeps_objects;
};

#define VIA_ORIGINS_MAX 256

/* Options that only via has. */
struct via_args {
    bool writes, checks;                  /* --nginx, --check */
    const char *origins[VIA_ORIGINS_MAX]; /* --origin */
    size_t n_origins;
    uint64_t chunk, cache; /* bytes; 0: not given */
    uint64_t hops;         /* 0: not given */
    double fill_s;         /* 0: not given */
};

enum progress_mode {
    PROGRESS_AUTO, /* a bar on a terminal, otherwise plain lines */
    PROGRESS_BAR,
    PROGRESS_PLAIN,
    PROGRESS_NONE,
    PROGRESS_JSON
};

struct trace;

struct args {
    enum command command;
    /* --help or --version was answered, so there is nothing left to do */
    bool done;
    bool quiet, verbose, dry_run, json, probe, repair, simulate, browser;
    bool no_config;
    bool full, offline;
    bool adopts; /* --continue: also continue files that other programs began */
    bool timestamping; /* a newer version replaces an existing file */
    enum progress_mode progress;
    /* Copies of the values of the options and of the inputs.  In argv itself,
     * secrets are overwritten.  The strings below point to these copies. */
    char **words;
    size_t n_words;
    const char *output, *directory, *report, *file, *trace; /* or NULL */
    const char *scenario; /* trace: file for the scenario, or NULL */
    bool in_words;        /* trace: --summary */
    unsigned trace_run;   /* trace: --run, or 0 */
    const char *list;     /* --input-file, which replaces the inputs; or NULL */
    const char *listen, *allow_origin;
    uint64_t active_bytes; /* depot: --active-length */
    const char *player;    /* play: the program */
    char **player_args;    /* the words after --, then NULL; or NULL */
    const char *format;    /* "metalink", "exnode", or NULL */
    const char *original;  /* make: local copy of the file, or NULL */
    uint64_t piece_bytes;  /* make: --piece-size, or 0 */
    double rate; /* rate of the media in bytes per second; 0: not given */
    /* time in seconds for which a simulated player buffers before it starts */
    double prebuffer;
    struct bench_args bench;
    struct publish_args publish;
    struct via_args via;
    /* checksums, and files and URLs of lists of checksums */
    const char *checksums[CHECKSUMS_MAX];
    size_t n_checksums;
    const char *signature; /* a file or a URL; or NULL */
    const char *token;
    char *config; /* the text of the config file; values may point into it */
    /* The manifests, URLs or files to work on.  (The file that verify reads is
     * in `output`.) */
    const char *const *inputs;
    size_t n_inputs;
    bool urls;            /* the inputs are URLs, not files */
    bool are_manifests;   /* --manifests: the URLs are URLs of manifests */
    struct trace *tracer; /* opened by main() for --trace, or NULL */
    struct xd_options *options;
    /* For each option, the value that was given, "yes" for a switch, or NULL if
     * it was not given.  See options_index(). */
    const char *given[OPTIONS_MAX];
};

/*
 * Parses argv.  May reorder its strings, and overwrites the secrets in them,
 * because a list of processes would show them.  Returns 0, or a status after
 * printing what is wrong.
 * Ownership: the caller releases *out with args_fini(), even after a failure.
 */
int args_parse(struct args *out, int argc, char **argv);
void args_fini(struct args *a);

/* Returns the value of a library option: the given value or the default; or
 * NULL. */
const char *args_value(const struct args *a, const char *name);

/* Returns true if a switch of the library is on. */
bool args_is_on(const struct args *a, const char *name);

/* Returns true if the option was given on the command line, in the environment
 * or in a config file. */
bool args_is_given(const struct args *a, const char *name);

/* Returns true if a user name, a password or a token is given. */
bool args_has_login(const struct args *a);

/* Returns true if --keyring or --public-key demands a signature. */
bool args_wants_signed(const struct args *a);

/* Returns the number of checksums that are lists, in files or at URLs. */
size_t args_n_lists(const struct args *a);

/* Returns true if the word begins like an HTTP or FTP URL. */
bool args_is_url(const char *word);

/* Returns true if a file with this path exists. */
bool args_is_file(const char *word);

/* Returns true if the output goes to standard output. */
bool args_to_stdout(const struct args *a);

/* Returns the path of our file `name` in the folder given by the environment
 * variable, or else in this folder of $HOME.  The caller frees it.  NULL if the
 * environment gives no folder, or memory runs out. */
char *args_new_path(const char *variable, const char *folder, const char *name);

#endif

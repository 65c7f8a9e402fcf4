#include "args/options.h"

#include <string.h>

#define BOTH (COMMAND_GET | COMMAND_SHOW)
#define STREAMING (COMMAND_PLAY | COMMAND_SERVE)
#define FETCHING (COMMAND_GET | COMMAND_VERIFY | STREAMING)
#define RUNNING (FETCHING | COMMAND_BENCH)
#define ALL (RUNNING | COMMAND_SHOW)
#define EACH (ALL | COMMAND_TRACE)

static const struct option_row own_rows[] = {
    {OPTION_OUTPUT, BOTH | COMMAND_BENCH | COMMAND_TRACE, "output", 'o', "FILE",
     "write to FILE; - is standard output, in order", NULL},
    {OPTION_DIRECTORY, COMMAND_GET, "directory", 'd', "DIR",
     "put the files into this folder", NULL},
    {OPTION_INPUT_FILE, COMMAND_GET, "input-file", 'i', "FILE",
     "fetch the files that FILE lists, one a line; - is standard input", NULL},
    {OPTION_CONTINUE, COMMAND_GET, "continue", 'c', NULL,
     "go on with what curl or wget has left of the file", NULL},
    {OPTION_QUIET, EACH, "quiet", 'q', NULL, "say nothing but errors", NULL},
    {OPTION_VERBOSE, COMMAND_GET | COMMAND_VERIFY | COMMAND_SHOW, "verbose",
     'v', NULL, "a line for each request; with show, for each mapping", NULL},
    {OPTION_PROGRESS, COMMAND_GET | COMMAND_VERIFY, "progress", 0, "HOW",
     "auto, bar, plain, none or json", "auto"},
    {OPTION_REPORT, COMMAND_GET, "report", 0, "FILE",
     "write a report in JSON; - is standard error", NULL},
    {OPTION_TRACE, RUNNING, "trace", 0, "FILE",
     "record each request and decision in FILE, for Perfetto", NULL},
    {OPTION_SUMMARY, COMMAND_TRACE, "summary", 0, NULL,
     "trace: say in words where the time went", NULL},
    {OPTION_SCENARIO, COMMAND_TRACE, "scenario", 0, "FILE",
     "trace: write the run as a scenario for bench --virtual", NULL},
    {OPTION_RUN, COMMAND_TRACE, "run", 0, "N", "trace: which of several runs",
     "the first with requests"},
    {OPTION_DRY_RUN, COMMAND_GET | COMMAND_BENCH, "dry-run", 0, NULL,
     "say what would be fetched, and contact no depot", NULL},
    {OPTION_MANIFESTS, ALL, "manifests", 'M', NULL,
     "what the URLs lead to are manifests, lists of URLs too", NULL},
    {OPTION_FILE, ALL, "file", 0, "NAME",
     "fetch only this file of those that a manifest describes", NULL},
    {OPTION_CHECKSUM, ALL, "checksum", 0, "CHECKSUM",
     "what the file must have: TYPE=HEX, or a file or URL like SHA256SUMS; "
     "each further one too",
     NULL},
    {OPTION_SET, RUNNING, "set", 0, "NAME=VALUE",
     "set any of the options below, by name", NULL},
    {OPTION_NO_DEPOT_CACHE, FETCHING, "no-depot-cache", 0, NULL,
     "neither read nor write what earlier runs saw of the depots", NULL},
    {OPTION_JSON, COMMAND_SHOW | COMMAND_PLAY | COMMAND_BENCH, "json", 0, NULL,
     "show, play, bench: print the manifest, playback statistics or results as "
     "JSON",
     NULL},
    {OPTION_FORMAT, COMMAND_SHOW, "format", 0, "FORMAT",
     "show: write the manifest as a metalink or an exnode", NULL},
    {OPTION_PROBE, COMMAND_SHOW, "probe", 0, NULL,
     "show: ask IBP depots how long each mapping lives", NULL},
    {OPTION_REPAIR, COMMAND_VERIFY, "repair", 0, NULL,
     "verify: fetch what is wrong of the file", NULL},
    {OPTION_PLAYER, COMMAND_PLAY, "player", 0, "PROGRAM",
     "play: the player, which is given a URL", "mpv"},
    {OPTION_BROWSER, COMMAND_PLAY, "browser", 0, NULL,
     "play: in a browser, on a page that shows what arrives", NULL},
    {OPTION_SIMULATE, COMMAND_PLAY, "simulate", 0, NULL,
     "play: consume the file as a player would, and write nothing", NULL},
    {OPTION_RATE, STREAMING | COMMAND_BENCH, "rate", 0, "RATE",
     "play, serve, bench: how fast the file is played: 15Mbit/s, 2MB/s; with "
     "bench up to three, with commas",
     NULL},
    {OPTION_PREBUFFER, COMMAND_PLAY | COMMAND_BENCH, "prebuffer", 0, "TIME",
     "play, bench: a simulated player begins after so long", "5s"},
    {OPTION_LISTEN, COMMAND_SERVE, "listen", 0, "ADDRESS[:PORT]",
     "serve: where to listen", "127.0.0.1 and a free port"},
    {OPTION_TOKEN, COMMAND_SERVE, "token", 0, "WORD",
     "serve: a secret that all URLs begin with", NULL},
    {OPTION_ALLOW_ORIGIN, COMMAND_SERVE, "allow-origin", 0, "ORIGIN",
     "serve: let pages from there read the files; * is everywhere", NULL},
    {OPTION_VIRTUAL, COMMAND_BENCH, "virtual", 0, "SCENARIO",
     "bench: run in virtual time over the network of this scenario, a name or "
     "a path; each further one too",
     NULL},
    {OPTION_PAPER, COMMAND_BENCH, "paper", 0, NULL,
     "bench: the values that Plank et al. (2003) measured, with whole blocks",
     NULL},
    {OPTION_DEPOTS, COMMAND_BENCH, "depots", 0, "WHICH",
     "bench: E3 is the first three; E1-E6, chain, subsets, drop-one, 1+3+5",
     "all"},
    {OPTION_REPEAT, COMMAND_BENCH, "repeat", 0, "N",
     "bench: how often each combination runs", "3, with --paper 10"},
    {OPTION_SEED, COMMAND_BENCH, "seed", 0, "N",
     "bench: of the random order of runs, and of the network in virtual time",
     "1"},
    {OPTION_SIZE, COMMAND_BENCH, "size", 0, "SIZE",
     "bench: of the file in virtual time", "50m"},
    {OPTION_STALLS, COMMAND_BENCH, "stalls", 0, NULL,
     "bench: also have a player read at each --rate, and measure its stalls",
     NULL},
    {OPTION_COOL_DOWN, COMMAND_BENCH, "cool-down", 0, "TIME",
     "bench: the pause between two runs", "1s or more"},
    {OPTION_TIME_BUDGET, COMMAND_BENCH, "time-budget", 0, "TIME",
     "bench: begin no run after so long", NULL},
    {OPTION_BYTE_BUDGET, COMMAND_BENCH, "byte-budget", 0, "SIZE",
     "bench: begin no run that would fetch more than this in all", NULL},
    {OPTION_YES, COMMAND_BENCH, "yes", 'y', NULL,
     "bench: fetch more than 1 GiB", NULL},
    {OPTION_SUMMARIZE, COMMAND_BENCH, "summarize", 0, NULL,
     "bench: print what the results files show", NULL},
    {OPTION_PLOT, COMMAND_BENCH, "plot", 0, "DIR",
     "bench: draw figures of the results files into this folder", NULL},
    {OPTION_VERSION, EACH, "version", 'V', NULL, "print the versions", NULL},
    {OPTION_HELP, EACH, "help", 'h', NULL, "print this", NULL},
};

/* What is special about options of the library: a letter, or that they say
 * how a URL is asked what it leads to. */
static const struct special {
    const char *name;
    char letter;
    unsigned commands;
} specials[] = {
    {"algorithm", 'a', RUNNING},
    {"redundancy", 'R', RUNNING},
    {"progress-number", 'P', RUNNING},
    {"block-size", 'b', RUNNING},
    {"threads-per-depot", 't', RUNNING},
    {"force", 0, FETCHING},
    {"no-continue", 0, FETCHING},
    {"depot-cache", 0, FETCHING},
    {"range", 'r', FETCHING & ~(unsigned)COMMAND_SERVE},
    {"keep", 0, STREAMING},
    {"spool", 0, FETCHING},
    {"accept-html", 0, ALL},
    {"silence", 0, ALL},
    {"max-time", 'm', ALL},
    {"connect-timeout", 0, ALL},
    {"max-redirs", 0, ALL},
    {"allow-private-redirs", 0, ALL},
    {"user-agent", 'A', ALL},
    {"header", 'H', ALL},
    {"user", 'u', ALL},
    {"netrc", 'n', ALL},
    {"netrc-file", 0, ALL},
    {"oauth2-bearer", 0, ALL},
    {"auth-host", 0, ALL},
    {"proxy", 'x', ALL},
    {"noproxy", 0, ALL},
    {"cacert", 0, ALL},
    {"capath", 0, ALL},
    {"cert", 'E', ALL},
    {"key", 0, ALL},
    {"insecure", 'k', ALL},
    {"interface", 0, ALL},
    {"ipv4", '4', ALL},
    {"ipv6", '6', ALL},
};

static struct special special_of(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0)
            return specials[i];
    return (struct special){name, 0, RUNNING};
}

/* The command sets these itself. */
static bool is_ours(const struct xd_option_info *info)
{
    return strcmp(info->name, "records") == 0;
}

size_t options_table(struct option_row out[OPTIONS_MAX])
{
    size_t n = sizeof own_rows / sizeof *own_rows;
    struct xd_option_info info = {.struct_size = sizeof info};

    memcpy(out, own_rows, sizeof own_rows);
    for (size_t i = 0; n < OPTIONS_MAX && xd_option_info(i, &info) == 0; i++) {
        const struct special special = special_of(info.name);
        if (!is_ours(&info))
            out[n++] = (struct option_row){
                OPTION_LIBRARY,
                special.commands,
                info.name,
                special.letter,
                info.argument,
                info.sentence,
                info.argument != NULL ? info.default_value : NULL,
            };
    }
    return n;
}

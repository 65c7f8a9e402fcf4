/* SPDX-License-Identifier: MIT */
#include "args/options.h"

#include <string.h>

#define BOTH (COMMAND_GET | COMMAND_SHOW)
#define OFFERING (COMMAND_SERVE | COMMAND_DEPOT)
#define STREAMING (COMMAND_PLAY | COMMAND_SERVE)
#define FETCHING (COMMAND_GET | COMMAND_VERIFY | STREAMING)
#define RUNNING (FETCHING | COMMAND_BENCH)
#define AUDITING (COMMAND_CHECK | COMMAND_MAKE)
#define READING (RUNNING | COMMAND_SHOW | COMMAND_CHECK) /* manifests */
#define ALL (READING | COMMAND_MAKE)
#define PUBLISHING (COMMAND_PUT | COMMAND_ADD)
#define SENDING (PUBLISHING | COMMAND_CHECK)
#define UPKEEP (COMMAND_DROP | COMMAND_RENEW)
#define ASKING (ALL | PUBLISHING | UPKEEP | COMMAND_VIA) /* the network */
#define EACH (ASKING | COMMAND_TRACE | COMMAND_DEPOT)

static const struct option_row own_rows[] = {
    {OPTION_OUTPUT,
     BOTH | COMMAND_BENCH | COMMAND_TRACE | COMMAND_PUT | COMMAND_MAKE |
         COMMAND_VIA,
     GROUP_COMMON | GROUP_OUTPUT, "output", 'o', "FILE",
     "write to FILE; - is standard output, in order", NULL},
    {OPTION_DIRECTORY, COMMAND_GET, GROUP_COMMON | GROUP_OUTPUT, "directory",
     'd', "DIR", "write the files into this folder", NULL},
    {OPTION_INPUT_FILE, COMMAND_GET | COMMAND_SERVE | COMMAND_PLAY,
     GROUP_COMMON | GROUP_OUTPUT, "input-file", 'i', "FILE",
     "fetch the files that FILE lists, one per line; - is standard input",
     NULL},
    {OPTION_CONTINUE, COMMAND_GET, GROUP_COMMON | GROUP_OUTPUT, "continue", 'c',
     NULL, "continue a file that curl or wget left incomplete", NULL},
    {OPTION_QUIET, EACH, GROUP_COMMON | GROUP_OUTPUT, "quiet", 'q', NULL,
     "print nothing but errors", NULL},
    {OPTION_VERBOSE,
     COMMAND_GET | COMMAND_VERIFY | COMMAND_SHOW | AUDITING | PUBLISHING,
     GROUP_COMMON | GROUP_OUTPUT, "verbose", 'v', NULL,
     "print a line for each request; with show, for each mapping", NULL},
    {OPTION_PROGRESS, COMMAND_GET | COMMAND_VERIFY | SENDING, GROUP_OUTPUT,
     "progress", 0, "HOW",
     "how to show progress: auto, bar, plain, none or json", "auto"},
    {OPTION_REPORT, COMMAND_GET | PUBLISHING, GROUP_OUTPUT, "report", 0, "FILE",
     "write a report in JSON; - is standard error", NULL},
    {OPTION_TRACE, RUNNING, GROUP_OUTPUT, "trace", 0, "FILE",
     "record each request and decision in FILE, for Perfetto", NULL},
    {OPTION_SUMMARY, COMMAND_TRACE, GROUP_COMMAND, "summary", 0, NULL,
     "print in words where the time went", NULL},
    {OPTION_SCENARIO, COMMAND_TRACE, GROUP_COMMAND, "scenario", 0, "FILE",
     "write the run as a scenario for bench --virtual", NULL},
    {OPTION_RUN, COMMAND_TRACE, GROUP_COMMAND, "run", 0, "N",
     "which one of several runs to show", "the first with requests"},
    {OPTION_DRY_RUN, COMMAND_GET | COMMAND_BENCH, GROUP_COMMON | GROUP_OUTPUT,
     "dry-run", 0, NULL, "print what would be fetched, and contact no depot",
     NULL},
    {OPTION_MANIFESTS, READING, GROUP_OUTPUT, "manifests", 'M', NULL,
     "the URLs are those of manifests; a list of URLs is one", NULL},
    {OPTION_FILE, READING, GROUP_OUTPUT, "file", 0, "NAME",
     "fetch only this one of the files that a manifest describes", NULL},
    {OPTION_CHECKSUM, READING, GROUP_COMMON | GROUP_VERIFICATION, "checksum", 0,
     "CHECKSUM",
     "the hash that the file must have: HEX, TYPE=HEX, or a file or URL like "
     "SHA256SUMS; may be repeated",
     NULL},
    {OPTION_SIGNATURE, COMMAND_GET | COMMAND_VERIFY, GROUP_VERIFICATION,
     "signature", 0, "FILE",
     "the signature of the file or, with --checksum FILE, of that list: a file "
     "or URL; needs --keyring or --public-key",
     NULL},
    {OPTION_SET, RUNNING, GROUP_ALGORITHMS, "set", 0, "NAME=VALUE",
     "set any option of the library by its name there", NULL},
    {OPTION_NO_DEPOT_CACHE, FETCHING, GROUP_ALGORITHMS, "no-depot-cache", 0,
     NULL, "do not remember from run to run how fast each depot was", NULL},
    {OPTION_JSON,
     COMMAND_SHOW | COMMAND_PLAY | COMMAND_BENCH | COMMAND_CHECK | UPKEEP |
         COMMAND_VIA,
     GROUP_COMMAND, "json", 0, NULL,
     "print the manifest, playback statistics or results as "
     "JSON",
     NULL},
    {OPTION_FORMAT, COMMAND_SHOW | COMMAND_PUT | COMMAND_MAKE, GROUP_COMMAND,
     "format", 0, "FORMAT",
     "write the manifest in this format: metalink or exnode", NULL},
    {OPTION_PROBE, COMMAND_SHOW, GROUP_COMMAND, "probe", 0, NULL,
     "ask IBP depots how long each mapping lives", NULL},
    {OPTION_REPAIR, COMMAND_VERIFY, GROUP_COMMAND, "repair", 0, NULL,
     "fetch the parts of the file that are wrong", NULL},
    {OPTION_FULL, COMMAND_CHECK, GROUP_COMMAND, "full", 0, NULL,
     "read every byte of every replica, not samples", NULL},
    {OPTION_OFFLINE, COMMAND_MAKE, GROUP_COMMAND, "offline", 0, NULL,
     "do not ask the depots whether they hold the file", NULL},
    {OPTION_PIECE_SIZE, COMMAND_MAKE, GROUP_COMMAND, "piece-size", 0, "SIZE",
     "how many bytes each piece with a hash of its own has, 16k to 1g",
     "256k, and more from 256m on"},
    {OPTION_PLAYER, COMMAND_PLAY, GROUP_COMMAND, "player", 0, "PROGRAM",
     "the player to start; it gets a URL", "mpv"},
    {OPTION_BROWSER, COMMAND_PLAY, GROUP_COMMAND, "browser", 0, NULL,
     "play in a browser, on a page that shows what arrives", NULL},
    {OPTION_SIMULATE, COMMAND_PLAY, GROUP_COMMAND, "simulate", 0, NULL,
     "read the file as a player would, and write nothing", NULL},
    {OPTION_RATE, STREAMING | COMMAND_BENCH, GROUP_COMMAND, "rate", 0, "RATE",
     "how fast the file is played, such as 15Mbit/s or 2MB/s; with bench up "
     "to three, separated by commas",
     NULL},
    {OPTION_PREBUFFER, COMMAND_PLAY | COMMAND_BENCH, GROUP_COMMAND, "prebuffer",
     0, "TIME", "a simulated player begins after this time", "5s"},
    {OPTION_LISTEN, OFFERING, GROUP_COMMAND, "listen", 0, "ADDRESS[:PORT]",
     "the address to listen on", "127.0.0.1 and a free port"},
    {OPTION_TOKEN, OFFERING, GROUP_COMMAND, "token", 0, "WORD",
     "a secret that all URLs begin with", NULL},
    {OPTION_ALLOW_ORIGIN, OFFERING, GROUP_COMMAND, "allow-origin", 0, "ORIGIN",
     "let web pages of this origin read the files; * is any", NULL},
    {OPTION_ACTIVE_LENGTH, COMMAND_DEPOT, GROUP_COMMAND, "active-length", 0,
     "SIZE",
     "how much of each file clients are kept close together in, 1m to 1g",
     "16m"},
    {OPTION_VIRTUAL, COMMAND_BENCH, GROUP_COMMAND, "virtual", 0, "SCENARIO",
     "run in virtual time over the network of this scenario, a name or a "
     "path; may be repeated",
     NULL},
    {OPTION_PAPER, COMMAND_BENCH, GROUP_COMMAND, "paper", 0, NULL,
     "use the values that Plank et al. (2003) measured, with whole blocks",
     NULL},
    {OPTION_DEPOTS, COMMAND_BENCH, GROUP_COMMAND, "depots", 0, "WHICH",
     "the depots to use: E3 is the first three; E1-E6, chain, subsets, "
     "drop-one, 1+3+5",
     "all"},
    {OPTION_REPEAT, COMMAND_BENCH, GROUP_COMMAND, "repeat", 0, "N",
     "how often each combination runs", "3, with --paper 10"},
    {OPTION_SEED, COMMAND_BENCH, GROUP_COMMAND, "seed", 0, "N",
     "seed of the random order of runs, and of the network in virtual time",
     "1"},
    {OPTION_SIZE, COMMAND_BENCH, GROUP_COMMAND, "size", 0, "SIZE",
     "size of the file in virtual time", "50m"},
    {OPTION_STALLS, COMMAND_BENCH, GROUP_COMMAND, "stalls", 0, NULL,
     "also read as a player at each --rate, and measure its stalls", NULL},
    {OPTION_COOL_DOWN, COMMAND_BENCH, GROUP_COMMAND, "cool-down", 0, "TIME",
     "the pause between two runs", "1s or more"},
    {OPTION_TIME_BUDGET, COMMAND_BENCH, GROUP_COMMAND, "time-budget", 0, "TIME",
     "begin no run after this time", NULL},
    {OPTION_BYTE_BUDGET, COMMAND_BENCH, GROUP_COMMAND, "byte-budget", 0, "SIZE",
     "begin no run that would exceed this number of bytes in all", NULL},
    {OPTION_YES, COMMAND_BENCH, GROUP_COMMAND, "yes", 'y', NULL,
     "fetch more than 1 GiB", NULL},
    {OPTION_SUMMARIZE, COMMAND_BENCH, GROUP_COMMAND, "summarize", 0, NULL,
     "print what the results files show", NULL},
    {OPTION_PLOT, COMMAND_BENCH, GROUP_COMMAND, "plot", 0, "DIR",
     "draw figures of the results files into this folder", NULL},
    {OPTION_TO, SENDING | COMMAND_RENEW, GROUP_COMMAND, "to", 0, "URL",
     "place copies on this store: a folder that takes PUT, s3://BUCKET/KEY or "
     "ibp://HOST:PORT; may be repeated",
     NULL},
    {OPTION_COPIES, PUBLISHING, GROUP_COMMAND, "copies", 0, "N",
     "how many copies there are to be of each byte",
     "one on each store, or 1 with --stripe"},
    {OPTION_CODE, COMMAND_PUT, GROUP_COMMAND, "code", 0, "K+M",
     "in place of copies, of each K parts place M of parity, all on different "
     "hosts: any M of them may be lost",
     NULL},
    {OPTION_PARITY, COMMAND_ADD, GROUP_COMMAND, "parity", 0, "K+M",
     "in place of copies, add M parts of parity for each K parts of the file",
     NULL},
    {OPTION_EXTENT, SENDING, GROUP_COMMAND, "extent", 0, "SIZE",
     "the length of the objects that the file is cut into",
     "256m, or less with --stripe"},
    {OPTION_STRIPE, PUBLISHING, GROUP_COMMAND, "stripe", 0, NULL,
     "give each extent to whichever stores are free", NULL},
    {OPTION_HEAL, COMMAND_CHECK, GROUP_COMMAND, "heal", 0, NULL,
     "replace copies that cannot be used by new ones on the stores of --to",
     NULL},
    {OPTION_FOR, SENDING | COMMAND_RENEW, GROUP_COMMAND, "for", 0, "TIME",
     "how long copies are to live on stores that let them expire",
     "as long as the store allows, a day at most"},
    {OPTION_PRESIGN, SENDING, GROUP_COMMAND, "presign", 0, "TIME",
     "name copies in S3 by URLs that let anybody read them for this time",
     NULL},
    {OPTION_FROM, COMMAND_DROP, GROUP_COMMAND, "from", 0, "HOST|URL",
     "drop the copies on this host, HOST or HOST:PORT, or on this store", NULL},
    {OPTION_KEEP_OBJECTS, COMMAND_DROP, GROUP_COMMAND, "keep-objects", 0, NULL,
     "drop them from the manifests alone", NULL},
    {OPTION_NGINX, COMMAND_VIA, GROUP_COMMAND, "nginx", 0, NULL,
     "write the configurations of these nodes for nginx, and their list", NULL},
    {OPTION_CHECK, COMMAND_VIA, GROUP_COMMAND, "check", 0, NULL,
     "test the nodes of a list, and what they hold of a file", NULL},
    {OPTION_ORIGIN, COMMAND_VIA, GROUP_COMMAND, "origin", 0, "URL",
     "a server, or a folder of it, that nodes fetch from; may be repeated",
     NULL},
    {OPTION_CHUNK, COMMAND_VIA, GROUP_COMMAND, "chunk", 0, "SIZE",
     "the length of the pieces that nodes fetch and keep, 64k to 1g", "4m"},
    {OPTION_HOPS, COMMAND_VIA, GROUP_COMMAND, "hops", 0, "N",
     "2: one node asks the origin for a chunk, and others ask that node; 1: "
     "each asks the origin",
     "2"},
    {OPTION_CACHE_SIZE, COMMAND_VIA, GROUP_COMMAND, "cache-size", 0, "SIZE",
     "how much of its disk a node fills with chunks", "10g"},
    {OPTION_FILL_TIME, COMMAND_VIA, GROUP_COMMAND, "fill-time", 0, "TIME",
     "the longest time in which an origin sends a chunk",
     "30s, and what 64k/s take"},
    {OPTION_NO_CONFIG, EACH, GROUP_COMMON, "no-config", 0, NULL,
     "do not read the config file", NULL},
    {OPTION_VERSION, EACH, GROUP_COMMON, "version", 'V', NULL,
     "print the versions", NULL},
    {OPTION_HELP, EACH, GROUP_COMMON, "help", 'h', NULL,
     "print help; followed by a group or a command, help on that", NULL},
};

/* What is special about options of the library: a letter, or that they say
 * how a URL is asked what it leads to; and where they stand in the help. */
static const struct special {
    const char *name;
    char letter;
    unsigned commands, groups;
} specials[] = {
    {"algorithm", 'a', RUNNING, GROUP_ALGORITHMS},
    {"redundancy", 'R', RUNNING, GROUP_ALGORITHMS},
    {"progress-number", 'P', RUNNING, GROUP_ALGORITHMS},
    {"block-size", 'b', RUNNING, GROUP_ALGORITHMS},
    {"threads-per-depot", 't', RUNNING, GROUP_COMMON | GROUP_ALGORITHMS},
    {"max-files", 'j', COMMAND_GET, GROUP_ALGORITHMS},
    {"content-disposition", 0, COMMAND_GET, GROUP_OUTPUT},
    {"remote-time", 0, COMMAND_GET, GROUP_OUTPUT},
    {"force", 0, FETCHING | COMMAND_PUT | COMMAND_MAKE | COMMAND_VIA,
     GROUP_COMMON | GROUP_OUTPUT},
    {"no-continue", 0, FETCHING, GROUP_OUTPUT},
    {"depot-cache", 0, FETCHING, GROUP_ALGORITHMS},
    {"range", 'r', FETCHING & ~(unsigned)COMMAND_SERVE, GROUP_OUTPUT},
    {"keep", 0, STREAMING, GROUP_OUTPUT | GROUP_COMMAND},
    {"spool", 0, FETCHING, GROUP_OUTPUT},
    {"no-metalink", 0, READING, GROUP_VERIFICATION},
    {"keyring", 0, COMMAND_GET | COMMAND_VERIFY, GROUP_VERIFICATION},
    {"public-key", 0, COMMAND_GET | COMMAND_VERIFY, GROUP_VERIFICATION},
    {"via", 0, FETCHING, GROUP_NETWORK},
    {"via-copies", 0, FETCHING, GROUP_NETWORK},
    {"https-only", 0, ALL, GROUP_NETWORK},
    {"accept-html", 0, READING, GROUP_VERIFICATION},
    {"silence", 0, ASKING, GROUP_NETWORK},
    {"retry", 0, RUNNING | AUDITING | PUBLISHING | UPKEEP, GROUP_NETWORK},
    {"max-time", 'm', ASKING, GROUP_COMMON | GROUP_NETWORK},
    {"connect-timeout", 0, ASKING, GROUP_NETWORK},
    {"max-redirs", 0, ALL, GROUP_NETWORK},
    {"allow-private-redirs", 0, ALL, GROUP_NETWORK},
    {"user-agent", 'A', ASKING, GROUP_NETWORK},
    {"referer", 0, ALL, GROUP_NETWORK},
    {"no-client-id", 0, ASKING, GROUP_NETWORK},
    {"header", 'H', ASKING, GROUP_NETWORK},
    {"user", 'u', ASKING, GROUP_COMMON | GROUP_NETWORK},
    {"netrc", 'n', ASKING, GROUP_NETWORK},
    {"netrc-file", 0, ASKING, GROUP_NETWORK},
    {"oauth2-bearer", 0, ASKING, GROUP_NETWORK},
    {"auth-host", 0, ASKING, GROUP_NETWORK},
    {"proxy", 'x', ASKING, GROUP_COMMON | GROUP_NETWORK},
    {"noproxy", 0, ASKING, GROUP_NETWORK},
    {"cacert", 0, ASKING, GROUP_NETWORK},
    {"capath", 0, ASKING, GROUP_NETWORK},
    {"cert", 'E', ASKING, GROUP_NETWORK},
    {"key", 0, ASKING, GROUP_NETWORK},
    {"insecure", 'k', ASKING, GROUP_NETWORK | GROUP_VERIFICATION},
    {"interface", 0, ASKING, GROUP_NETWORK},
    {"ipv4", '4', ASKING, GROUP_NETWORK},
    {"ipv6", '6', ASKING, GROUP_NETWORK},
    {"exclude", 0, RUNNING | AUDITING, GROUP_NETWORK},
    {"only", 0, RUNNING | AUDITING, GROUP_NETWORK},
    {"max-depots", 0, RUNNING | AUDITING, GROUP_ALGORITHMS},
    {"same-file", 0, RUNNING, GROUP_VERIFICATION},
    {"allow-file", 0, RUNNING | AUDITING, GROUP_VERIFICATION},
    {"no-final-check", 0, RUNNING, GROUP_VERIFICATION},
    {"no-cancel", 0, RUNNING, GROUP_ALGORITHMS},
    {"whole-blocks", 0, RUNNING, GROUP_ALGORITHMS},
    {"lookahead", 0, RUNNING, GROUP_ALGORITHMS},
    {"s3-endpoint", 0, SENDING | UPKEEP, GROUP_NETWORK},
    {"s3-region", 0, SENDING | UPKEEP, GROUP_NETWORK},
    {"s3-access-key", 0, SENDING | UPKEEP, GROUP_NETWORK},
    {"s3-secret-key", 0, SENDING | UPKEEP, GROUP_NETWORK},
    {"s3-session-token", 0, SENDING | UPKEEP, GROUP_NETWORK},
    {"s3-host-style", 0, SENDING | UPKEEP, GROUP_NETWORK},
    {"s3-part-size", 0, SENDING, GROUP_NETWORK},
    {"limit-rate", 0, RUNNING | AUDITING | PUBLISHING,
     GROUP_COMMON | GROUP_NETWORK},
};

static struct special special_of(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0)
            return specials[i];
    return (struct special){name, 0, RUNNING, GROUP_NETWORK};
}

/* The command sets these itself. */
static bool is_ours(const struct xd_option_info *info)
{
    return strcmp(info->name, "records") == 0;
}

/* What ends a list of options. */
#define N_LAST 3

size_t options_table(struct option_row out[OPTIONS_MAX])
{
    const size_t n_own = sizeof own_rows / sizeof *own_rows;
    struct xd_option_info info = {.struct_size = sizeof info};
    size_t n = n_own - N_LAST;

    memcpy(out, own_rows, n * sizeof *out);
    for (size_t i = 0;
         n < OPTIONS_MAX - N_LAST && xd_option_info(i, &info) == 0; i++) {
        const struct special special = special_of(info.name);
        if (!is_ours(&info))
            out[n++] = (struct option_row){
                OPTION_LIBRARY,
                special.commands,
                special.groups,
                info.name,
                special.letter,
                info.argument,
                info.sentence,
                info.argument != NULL ? info.default_value : NULL,
            };
    }
    memcpy(out + n, own_rows + n_own - N_LAST, N_LAST * sizeof *out);
    return n + N_LAST;
}

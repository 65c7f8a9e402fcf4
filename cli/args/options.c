/* SPDX-License-Identifier: MIT */
#include "args/options.h"

#include <string.h>

#include <xdpublish/make.h>

#include "common/http_words.h"

#define BOTH (COMMAND_GET | COMMAND_SHOW)
#define OFFERING (COMMAND_SERVE | COMMAND_DEPOT)
#define STREAMING (COMMAND_PLAY | COMMAND_SERVE)
#define FETCHING (COMMAND_GET | COMMAND_VERIFY | STREAMING)
#define RUNNING (FETCHING | COMMAND_BENCH)
#define AUDITING (COMMAND_CHECK | COMMAND_MAKE)
/* commands that read manifests */
#define READING (RUNNING | COMMAND_SHOW | COMMAND_CHECK)
#define ALL (READING | COMMAND_MAKE)
#define PUBLISHING (COMMAND_PUT | COMMAND_ADD)
#define SENDING (PUBLISHING | COMMAND_CHECK)
#define UPKEEP (COMMAND_DROP | COMMAND_RENEW)
/* commands that use the network */
#define ASKING (ALL | PUBLISHING | UPKEEP | COMMAND_VIA)
#define EACH (ASKING | COMMAND_TRACE | COMMAND_DEPOT)

#define TOKEN_MIN 8 /* letters; a shorter token can be guessed */
#define TOKEN_MAX 64
#define DAY_S 86400.0
#define TEN_YEARS_S (3660 * DAY_S)

/* The field of struct args that an option sets. */
#define FIELD(field) \
    .at = offsetof(struct args, field), .size = sizeof((struct args *)0)->field
#define KIND(name, field) .kind = OPTION_##name, FIELD(field)
#define SWITCH(field) KIND(SWITCH, field)
#define TEXT(field) KIND(TEXT, field)

#define LIBRARY .kind = OPTION_LIBRARY
#define AXIS(axis) FIELD(bench.axes[AXIS_##axis])
#define CONFIG .in_config = true
#define SHARED .is_shared = true

/* Limits that several options share. */
#define ANY_SIZE \
    .least = 1, .most = 1e18, .range = "a number and a unit, such as 50m or 2GB"
#define ANY_TIME \
    .most = DAY_S, .range = "a number and a unit, such as 5s or 10m"
#define LIFETIME                     \
    .least = 1, .most = TEN_YEARS_S, \
    .range = "a number and a unit of at least a second, such as 12h or 30d"

static bool is_format(const char *value)
{
    return strcmp(value, "metalink") == 0 || strcmp(value, "exnode") == 0;
}

/* Returns whether the value is a valid token: it becomes part of a path. */
static bool is_token(const char *value)
{
    const size_t len = strlen(value);

    return len >= TOKEN_MIN && len <= TOKEN_MAX && http_is_plain(value);
}

static bool has_scheme(const char *value)
{
    return strstr(value, "://") != NULL;
}

static const struct option_row rows[] = {
    {"output", 'o',
     BOTH | COMMAND_BENCH | COMMAND_TRACE | COMMAND_PUT | COMMAND_MAKE |
         COMMAND_VIA,
     GROUP_COMMON | GROUP_OUTPUT, "FILE", "write to FILE; - is standard output",
     TEXT(output)},
    {"directory", 'd', COMMAND_GET, GROUP_COMMON | GROUP_OUTPUT, "DIR",
     "write the files into this folder", TEXT(directory)},
    {"input-file", 'i', COMMAND_GET | COMMAND_SERVE | COMMAND_PLAY,
     GROUP_COMMON | GROUP_OUTPUT, "FILE",
     "download the files listed in FILE, one per line", TEXT(list)},
    {"continue", 'c', COMMAND_GET, GROUP_COMMON | GROUP_OUTPUT, NULL,
     "continue a file that curl or wget left incomplete", SWITCH(adopts)},
    {"timestamping", 'N', COMMAND_GET, GROUP_COMMON | GROUP_OUTPUT, NULL,
     "replace a file only if the server's is newer", SWITCH(timestamping),
     .sets = "remote-time=yes"},
    {"quiet", 'q', EACH, GROUP_COMMON | GROUP_OUTPUT, NULL, "print only errors",
     SWITCH(quiet), CONFIG, .instead = "verbose"},
    {"verbose", 'v',
     COMMAND_GET | COMMAND_VERIFY | COMMAND_SHOW | AUDITING | PUBLISHING,
     GROUP_COMMON | GROUP_OUTPUT, NULL,
     "print a line for each request (show: mapping)", SWITCH(verbose),
     .sets = "records=yes", CONFIG, .instead = "quiet"},
    {"progress", 0, COMMAND_GET | COMMAND_VERIFY | SENDING, GROUP_OUTPUT, "HOW",
     "how to show progress: auto, bar, plain, none or json", .more = "auto",
     KIND(WORD, progress), .range = "auto, bar, plain, none or json", CONFIG},
    {"report", 0, COMMAND_GET | PUBLISHING, GROUP_OUTPUT, "FILE",
     "write a report in JSON; - is standard error", TEXT(report)},
    {"trace", 0, RUNNING, GROUP_OUTPUT, "FILE",
     "record each request and decision in FILE, for xdownload trace",
     TEXT(trace), .sets = "records=yes"},
    {"summary", 0, COMMAND_TRACE, GROUP_COMMAND, NULL,
     "print in words where the time went", SWITCH(in_words)},
    {"scenario", 0, COMMAND_TRACE, GROUP_COMMAND, "FILE",
     "write the run as a scenario for bench --virtual", TEXT(scenario)},
    {"run", 0, COMMAND_TRACE, GROUP_COMMAND, "N",
     "which one of several runs to show", .more = "the first with requests",
     KIND(COUNT, trace_run), .least = 1, .most = UINT32_MAX,
     .range = "a number from 1 on"},
    {"dry-run", 0, COMMAND_GET | COMMAND_BENCH, GROUP_COMMON | GROUP_OUTPUT,
     NULL, "only print what would be downloaded", SWITCH(dry_run)},
    {"manifests", 'M', READING, GROUP_OUTPUT, NULL,
     "the URLs lead to manifests, such as a list of URLs",
     SWITCH(are_manifests)},
    {"file", 0, READING, GROUP_OUTPUT, "NAME",
     "download only this file of the manifest", TEXT(file)},
    {"checksum", 0, READING, GROUP_COMMON | GROUP_VERIFICATION, "CHECKSUM",
     "verify the file: HEX, TYPE=HEX, or a file or URL such as SHA256SUMS; may "
     "be repeated",
     KIND(TEXTS, checksums), .range = "HEX, TYPE=HEX, or the name of a list"},
    {"signature", 0, COMMAND_GET | COMMAND_VERIFY, GROUP_VERIFICATION, "FILE",
     "the signature of the file or, with --checksum FILE, of that list: a file "
     "or URL; needs --keyring or --public-key",
     TEXT(signature)},
    {"set", 0, RUNNING, GROUP_ALGORITHMS, "NAME=VALUE",
     "set any option of the library by its name there", .kind = OPTION_SETTING},
    {"no-depot-cache", 0, FETCHING, GROUP_ALGORITHMS, NULL,
     "do not remember how fast each server was", .kind = OPTION_NOTHING,
     .sets = "depot-cache=", CONFIG, .instead = "depot-cache"},
    {"json", 0,
     COMMAND_SHOW | COMMAND_PLAY | COMMAND_BENCH | COMMAND_CHECK | UPKEEP |
         COMMAND_VIA,
     GROUP_COMMAND, NULL,
     "print the manifest, playback statistics or results as JSON",
     SWITCH(json)},
    {"format", 0, COMMAND_SHOW | COMMAND_PUT | COMMAND_MAKE, GROUP_COMMAND,
     "FORMAT", "write the manifest in this format: metalink or exnode",
     TEXT(format), .range = "metalink or exnode", .accepts = is_format},
    {"probe", 0, COMMAND_SHOW, GROUP_COMMAND, NULL,
     "ask IBP depots how long each mapping lives", SWITCH(probe)},
    {"repair", 0, COMMAND_VERIFY, GROUP_COMMAND, NULL,
     "download the parts of the file that are wrong", SWITCH(repair)},
    {"full", 0, COMMAND_CHECK, GROUP_COMMAND, NULL,
     "read every byte of every replica, not only samples", SWITCH(full)},
    {"offline", 0, COMMAND_MAKE, GROUP_COMMAND, NULL,
     "do not ask the servers whether they have the file", SWITCH(offline)},
    {"piece-size", 0, COMMAND_MAKE, GROUP_COMMAND, "SIZE",
     "size of the pieces that have a hash each, 16k to 1g",
     .more = "256k, and more from 256m on", KIND(SIZE, piece_bytes),
     .least = XD_MAKE_PIECE_LEAST, .most = XD_MAKE_PIECE_MOST,
     .range = "16k to 1g"},
    {"player", 0, COMMAND_PLAY, GROUP_COMMAND, "PROGRAM",
     "the player to start; it gets a URL", .more = "mpv", TEXT(player)},
    {"browser", 0, COMMAND_PLAY, GROUP_COMMAND, NULL,
     "play in a browser, on a page that shows what arrives", SWITCH(browser)},
    {"simulate", 0, COMMAND_PLAY, GROUP_COMMAND, NULL,
     "read the file as a player would, and write nothing", SWITCH(simulate)},
    {"rate", 0, STREAMING | COMMAND_BENCH, GROUP_COMMAND, "RATE",
     "playback rate, such as 15Mbit/s or 2MB/s; with bench up to three, "
     "separated by commas",
     .kind = OPTION_RATE,
     .range = "a number and a unit, such as 15Mbit/s or 2MB/s"},
    {"prebuffer", 0, COMMAND_PLAY | COMMAND_BENCH, GROUP_COMMAND, "TIME",
     "start-up delay of a simulated player", .more = "5s",
     KIND(TIME, prebuffer), ANY_TIME},
    {"listen", 0, OFFERING, GROUP_COMMAND, "ADDRESS[:PORT]",
     "the address to listen on", .more = "127.0.0.1 and a free port",
     TEXT(listen)},
    {"token", 0, OFFERING, GROUP_COMMAND, "WORD",
     "a secret at the start of all URLs", TEXT(token),
     .range = "8 to 64 letters, digits and -._~", .accepts = is_token,
     .is_secret = true},
    {"allow-origin", 0, OFFERING, GROUP_COMMAND, "ORIGIN",
     "let web pages of this origin read the files; * is any",
     TEXT(allow_origin)},
    {"active-length", 0, COMMAND_DEPOT, GROUP_COMMAND, "SIZE",
     "how much of each file clients are kept close together in, 1m to 1g",
     .more = "16m", KIND(SIZE, active_bytes), .least = 1 << 20, .most = 1 << 30,
     .range = "1m to 1g"},
    {"virtual", 0, COMMAND_BENCH, GROUP_COMMAND, "SCENARIO",
     "run in virtual time over the network of this scenario, a name or a path; "
     "may be repeated",
     KIND(TEXTS, bench.scenarios),
     .range = "the name of a scenario or of its file"},
    {"paper", 0, COMMAND_BENCH, GROUP_COMMAND, NULL,
     "use the values that Plank et al. (2003) measured, with whole blocks",
     SWITCH(bench.paper)},
    {"depots", 0, COMMAND_BENCH, GROUP_COMMAND, "WHICH",
     "the servers to use: E3 is the first three; E1-E6, chain, subsets, "
     "drop-one, 1+3+5",
     .more = "all", TEXT(bench.depots)},
    {"repeat", 0, COMMAND_BENCH, GROUP_COMMAND, "N",
     "how often each combination runs", .more = "3, with --paper 10",
     KIND(COUNT, bench.repeat), .least = 1, .most = 10000,
     .range = "a number from 1 to 10000"},
    {"seed", 0, COMMAND_BENCH, GROUP_COMMAND, "N",
     "seed of the random order of runs, and of the network in virtual time",
     .more = "1", KIND(COUNT, bench.seed), .most = 1e12,
     .range = "a number up to 10^12"},
    {"size", 0, COMMAND_BENCH, GROUP_COMMAND, "SIZE",
     "size of the file in virtual time", .more = "50m", KIND(SIZE, bench.size),
     ANY_SIZE},
    {"stalls", 0, COMMAND_BENCH, GROUP_COMMAND, NULL,
     "also read as a player at each --rate, and measure its stalls",
     SWITCH(bench.stalls)},
    {"cool-down", 0, COMMAND_BENCH, GROUP_COMMAND, "TIME",
     "the pause between two runs", .more = "1s or more",
     KIND(TIME, bench.cool_down_s), ANY_TIME},
    {"time-budget", 0, COMMAND_BENCH, GROUP_COMMAND, "TIME",
     "start no run after this time", KIND(TIME, bench.time_budget_s), ANY_TIME},
    {"byte-budget", 0, COMMAND_BENCH, GROUP_COMMAND, "SIZE",
     "start no run that would exceed this number of bytes in all",
     KIND(SIZE, bench.byte_budget), ANY_SIZE},
    {"yes", 'y', COMMAND_BENCH, GROUP_COMMAND, NULL, "download more than 1 GiB",
     SWITCH(bench.yes)},
    {"summarize", 0, COMMAND_BENCH, GROUP_COMMAND, NULL,
     "print what the results files show", SWITCH(bench.summarize)},
    {"plot", 0, COMMAND_BENCH, GROUP_COMMAND, "DIR",
     "draw figures of the results files into this folder", TEXT(bench.plot)},
    {"to", 0, SENDING | COMMAND_RENEW, GROUP_COMMAND, "URL",
     "upload to this store: a WebDAV folder, s3://BUCKET/PREFIX or "
     "ibp://HOST:PORT; may be repeated",
     KIND(TEXTS, publish.stores),
     .range = "the URL of a store, such as https://HOST/FOLDER/, "
              "s3://BUCKET/PREFIX or ibp://HOST:PORT",
     .accepts = has_scheme},
    {"copies", 0, PUBLISHING, GROUP_COMMAND, "N",
     "how many copies of each byte to make",
     .more = "one on each store, or 1 with --stripe",
     KIND(COUNT, publish.copies), .least = 1, .most = STORES_MAX,
     .range = "a number from 1 to 64"},
    {"code", 0, COMMAND_PUT, GROUP_COMMAND, "K+M",
     "instead of copies, store K parts of data and M of parity on different "
     "hosts: any M of them may be lost",
     TEXT(publish.code)},
    {"parity", 0, COMMAND_ADD, GROUP_COMMAND, "K+M",
     "instead of copies, add M parts of parity for each K parts of the file",
     TEXT(publish.code)},
    {"extent", 0, SENDING, GROUP_COMMAND, "SIZE",
     "size of the objects into which the file is cut",
     .more = "256m, or less with --stripe", KIND(SIZE, publish.extent),
     .least = 4096, .most = 1e18,
     .range = "a number of at least 4096 bytes, such as 64m"},
    {"stripe", 0, PUBLISHING, GROUP_COMMAND, NULL,
     "give each extent to whichever stores are free", SWITCH(publish.stripes)},
    {"heal", 0, COMMAND_CHECK, GROUP_COMMAND, NULL,
     "replace bad copies by new ones on the stores of --to",
     SWITCH(publish.heals)},
    {"for", 0, SENDING | COMMAND_RENEW, GROUP_COMMAND, "TIME",
     "lifetime of copies on stores where they expire",
     .more = "as long as the store allows, a day at most",
     KIND(TIME, publish.lifetime_s), LIFETIME},
    {"presign", 0, SENDING, GROUP_COMMAND, "TIME",
     "write S3 URLs into the manifest that let anybody read the copies for "
     "this time",
     KIND(TIME, publish.presign_s), LIFETIME},
    {"from", 0, COMMAND_DROP, GROUP_COMMAND, "HOST|URL",
     "drop the copies on this host, HOST or HOST:PORT, or on this store",
     TEXT(publish.from)},
    {"keep-objects", 0, COMMAND_DROP, GROUP_COMMAND, NULL,
     "drop them only from the manifests", SWITCH(publish.keeps_objects)},
    {"nginx", 0, COMMAND_VIA, GROUP_COMMAND, NULL,
     "write the configurations of these nodes for nginx, and their list",
     SWITCH(via.writes)},
    {"check", 0, COMMAND_VIA, GROUP_COMMAND, NULL,
     "test the nodes of a list, and what they have of a file",
     SWITCH(via.checks)},
    {"origin", 0, COMMAND_VIA, GROUP_COMMAND, "URL",
     "a server, or a folder of it, that nodes download from; may be repeated",
     KIND(TEXTS, via.origins),
     .range = "a URL such as https://releases.example.com/",
     .accepts = args_is_url},
    {"chunk", 0, COMMAND_VIA, GROUP_COMMAND, "SIZE",
     "size of the pieces that nodes download and keep, 64k to 1g",
     .more = "256k", KIND(SIZE, via.chunk), ANY_SIZE},
    {"hops", 0, COMMAND_VIA, GROUP_COMMAND, "N",
     "2: one node asks the origin for a chunk, and others ask that node; 1: "
     "each asks the origin",
     .more = "2", KIND(COUNT, via.hops), .least = 1, .most = 2,
     .range = "1 or 2"},
    {"cache-size", 0, COMMAND_VIA, GROUP_COMMAND, "SIZE",
     "how much of its disk a node fills with chunks", .more = "10g",
     KIND(SIZE, via.cache), ANY_SIZE},
    {"fill-time", 0, COMMAND_VIA, GROUP_COMMAND, "TIME",
     "the longest time in which an origin sends a chunk",
     .more = "30s, and what 64k/s take", KIND(TIME, via.fill_s), .least = 1,
     .most = DAY_S,
     .range = "a number and a unit of at least a second, such as 90s"},
    /* Options of the library.  The library has their descriptions. */
    {"algorithm", 'a', RUNNING, GROUP_ALGORITHMS, LIBRARY, AXIS(ALGORITHM),
     CONFIG},
    {"redundancy", 'R', RUNNING, GROUP_ALGORITHMS, LIBRARY, AXIS(REDUNDANCY)},
    {"progress-number", 'P', RUNNING, GROUP_ALGORITHMS, LIBRARY,
     AXIS(PROGRESS_NUMBER)},
    {"block-size", 'b', RUNNING, GROUP_ALGORITHMS, LIBRARY, AXIS(BLOCK_SIZE),
     CONFIG},
    {"threads-per-depot", 't', RUNNING, GROUP_COMMON | GROUP_ALGORITHMS,
     LIBRARY, AXIS(THREADS), CONFIG},
    {"max-files", 'j', COMMAND_GET, GROUP_ALGORITHMS, LIBRARY},
    {"content-disposition", 0, COMMAND_GET, GROUP_OUTPUT, LIBRARY},
    {"remote-time", 0, COMMAND_GET, GROUP_OUTPUT, LIBRARY, CONFIG},
    {"force", 0, FETCHING | COMMAND_PUT | COMMAND_MAKE | COMMAND_VIA,
     GROUP_COMMON | GROUP_OUTPUT, LIBRARY},
    {"no-continue", 0, FETCHING, GROUP_OUTPUT, LIBRARY},
    {"depot-cache", 0, FETCHING, GROUP_ALGORITHMS, LIBRARY, CONFIG,
     .instead = "no-depot-cache"},
    {"range", 'r', COMMAND_GET | COMMAND_PLAY, GROUP_OUTPUT, LIBRARY},
    {"keep", 0, STREAMING, GROUP_OUTPUT | GROUP_COMMAND, LIBRARY},
    {"spool", 0, FETCHING, GROUP_OUTPUT, LIBRARY, CONFIG},
    {"no-metalink", 0, READING, GROUP_VERIFICATION, LIBRARY},
    {"keyring", 0, COMMAND_GET | COMMAND_VERIFY, GROUP_VERIFICATION, LIBRARY},
    {"public-key", 0, COMMAND_GET | COMMAND_VERIFY, GROUP_VERIFICATION,
     LIBRARY},
    {"via", 0, FETCHING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"via-copies", 0, FETCHING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"https-only", 0, ALL, GROUP_NETWORK, LIBRARY},
    {"accept-html", 0, READING, GROUP_VERIFICATION, LIBRARY},
    {"silence", 0, ASKING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"retry", 0, RUNNING | AUDITING | PUBLISHING | UPKEEP, GROUP_NETWORK,
     LIBRARY, CONFIG},
    {"patience", 0, RUNNING | AUDITING | PUBLISHING | UPKEEP, GROUP_NETWORK,
     LIBRARY, CONFIG},
    {"max-time", 'm', ASKING, GROUP_COMMON | GROUP_NETWORK, LIBRARY, CONFIG},
    {"connect-timeout", 0, ASKING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"max-redirs", 0, ALL, GROUP_NETWORK, LIBRARY, CONFIG},
    {"allow-private-redirs", 0, ALL, GROUP_NETWORK, LIBRARY},
    {"user-agent", 'A', ASKING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"referer", 0, ALL, GROUP_NETWORK, LIBRARY},
    {"no-client-id", 0, ASKING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"header", 'H', ASKING, GROUP_NETWORK, LIBRARY},
    {"user", 'u', ASKING, GROUP_COMMON | GROUP_NETWORK, LIBRARY, SHARED},
    {"netrc", 'n', ASKING, GROUP_NETWORK, LIBRARY},
    {"netrc-file", 0, ASKING, GROUP_NETWORK, LIBRARY, SHARED},
    {"oauth2-bearer", 0, ASKING, GROUP_NETWORK, LIBRARY, SHARED},
    {"auth-host", 0, ASKING, GROUP_NETWORK, LIBRARY},
    {"proxy", 'x', ASKING, GROUP_COMMON | GROUP_NETWORK, LIBRARY, CONFIG},
    {"noproxy", 0, ASKING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"cacert", 0, ASKING, GROUP_NETWORK, LIBRARY},
    {"capath", 0, ASKING, GROUP_NETWORK, LIBRARY},
    {"cert", 'E', ASKING, GROUP_NETWORK, LIBRARY, SHARED},
    {"key", 0, ASKING, GROUP_NETWORK, LIBRARY, SHARED},
    {"insecure", 'k', ASKING, GROUP_NETWORK | GROUP_VERIFICATION, LIBRARY},
    {"interface", 0, ASKING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"ipv4", '4', ASKING, GROUP_NETWORK, LIBRARY, CONFIG, .instead = "ipv6"},
    {"ipv6", '6', ASKING, GROUP_NETWORK, LIBRARY, CONFIG, .instead = "ipv4"},
    {"exclude", 0, RUNNING | AUDITING, GROUP_NETWORK, LIBRARY, CONFIG},
    {"only", 0, RUNNING | AUDITING, GROUP_NETWORK, LIBRARY},
    {"max-depots", 0, RUNNING | AUDITING, GROUP_ALGORITHMS, LIBRARY, CONFIG},
    {"same-file", 0, RUNNING, GROUP_VERIFICATION, LIBRARY},
    {"allow-file", 0, RUNNING | AUDITING, GROUP_VERIFICATION, LIBRARY},
    {"no-final-check", 0, RUNNING, GROUP_VERIFICATION, LIBRARY},
    {"no-cancel", 0, RUNNING, GROUP_ALGORITHMS, LIBRARY},
    {"whole-blocks", 0, RUNNING, GROUP_ALGORITHMS, LIBRARY},
    {"lookahead", 0, RUNNING, GROUP_ALGORITHMS, LIBRARY, CONFIG},
    {"s3-endpoint", 0, SENDING | UPKEEP, GROUP_NETWORK, LIBRARY, SHARED},
    {"s3-region", 0, SENDING | UPKEEP, GROUP_NETWORK, LIBRARY, SHARED},
    {"s3-access-key", 0, SENDING | UPKEEP, GROUP_NETWORK, LIBRARY, SHARED},
    {"s3-secret-key", 0, SENDING | UPKEEP, GROUP_NETWORK, LIBRARY, SHARED},
    {"s3-session-token", 0, SENDING | UPKEEP, GROUP_NETWORK, LIBRARY, SHARED},
    {"s3-host-style", 0, SENDING | UPKEEP, GROUP_NETWORK, LIBRARY, SHARED},
    {"s3-part-size", 0, SENDING, GROUP_NETWORK, LIBRARY, SHARED},
    {"limit-rate", 0, RUNNING | AUDITING | PUBLISHING,
     GROUP_COMMON | GROUP_NETWORK, LIBRARY, CONFIG},
    {"no-config", 0, EACH, GROUP_OUTPUT, NULL, "do not read the config file",
     SWITCH(no_config)},
    {"version", 'V', EACH, GROUP_COMMON, NULL, "print the versions",
     .kind = OPTION_VERSION},
    {"help", 'h', EACH, GROUP_COMMON, NULL,
     "print help, also on a group or a command", .kind = OPTION_HELP},
};

#define N_ROWS (sizeof rows / sizeof *rows)

bool options_library(const char *name, size_t len, struct xd_option_info *out)
{
    *out = (struct xd_option_info){.struct_size = sizeof *out};
    for (size_t i = 0; xd_option_info(i, out) == 0; i++)
        if (strlen(out->name) == len && strncmp(out->name, name, len) == 0)
            return true;
    return false;
}

const struct option_row *options_row(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

size_t options_index(const char *name)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    size_t n = 0;

    for (; xd_option_info(n, &info) == 0; n++)
        if (strcmp(info.name, name) == 0)
            return n;
    for (size_t i = 0; i < N_ROWS && strcmp(rows[i].name, name) != 0; i++)
        n += rows[i].kind != OPTION_LIBRARY;
    return n;
}

/* Returns true for library options that users must not set. */
static bool is_ours(const struct xd_option_info *info)
{
    return strcmp(info->name, "records") == 0;
}

static struct option_row library_row(const struct xd_option_info *info)
{
    const struct option_row *ours = options_row(info->name);
    struct option_row row = {.commands = RUNNING, .groups = GROUP_NETWORK};

    if (ours != NULL)
        row = *ours;
    row.name = info->name;
    row.argument = info->argument;
    row.sentence = info->sentence;
    row.more = info->argument != NULL ? info->default_value : NULL;
    row.range = info->range;
    row.is_secret = info->is_secret;
    return row;
}

/* The rows are in the order of our table.  Only the rows of the library's
 * options are together, in the library's order. */
size_t options_table(struct option_row out[OPTIONS_MAX])
{
    struct xd_option_info info = {.struct_size = sizeof info};
    size_t n = 0, i = 0;

    for (; rows[i].kind != OPTION_LIBRARY; i++)
        out[n++] = rows[i];
    for (size_t k = 0; n < OPTIONS_MAX && xd_option_info(k, &info) == 0; k++)
        if (!is_ours(&info))
            out[n++] = library_row(&info);
    for (; i < N_ROWS && n < OPTIONS_MAX; i++)
        if (rows[i].kind != OPTION_LIBRARY)
            out[n++] = rows[i];
    return n;
}

size_t options_listed(const char *range, size_t *out_step)
{
    const size_t len = strspn(range, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (range[len] == '\0')
        *out_step = len;
    else if (strncmp(range + len, ", ", 2) == 0)
        *out_step = len + 2;
    else if (strncmp(range + len, " or ", 4) == 0)
        *out_step = len + 4;
    else
        return 0;
    return len;
}

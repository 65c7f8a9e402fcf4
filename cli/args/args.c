/* SPDX-License-Identifier: MIT */
#include <xdownload/checksums.h>
#include <xdownload/make.h>

#include "args/args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <unistd.h>

#include "args/cache.h"
#include "args/config.h"
#include "args/foreign.h"
#include "args/grammar.h"
#include "args/help.h"
#include "args/offer.h"
#include "args/publish.h"
#include "args/quantity.h"
#include "args/via_args.h"
#include "common/nearest.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"

/* Before a simulated player begins: the paper's. */
#define PREBUFFER_S 5

/* The file of bench --virtual: the paper's. */
#define BENCH_SIZE (UINT64_C(50) << 20)

#define PLAYER "mpv"

static int set_once(const char **field, const char *value, const char *name)
{
    if (*field != NULL)
        return words_usage("--%s is given twice: %s and %s", name, *field,
                           value);
    if (*value == '\0')
        return words_usage("--%s needs a name, and got an empty one", name);
    *field = value;
    return 0;
}

static int set_progress(struct args *a, const char *value)
{
    static const char *const words[] = {"auto", "bar", "plain", "none", "json"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], value) == 0) {
            a->progress = (enum progress_mode)i;
            return 0;
        }
    return words_usage("--progress takes auto, bar, plain, none or json, not "
                       "%s",
                       value);
}

static int set_format(struct args *a, const char *value, const char *name)
{
    if (strcmp(value, "metalink") != 0 && strcmp(value, "exnode") != 0)
        return words_usage("--format takes metalink or exnode, not %s", value);
    return set_once(&a->format, value, name);
}

static bool is_file(const char *word)
{
    return access(word, F_OK) == 0;
}

/* What a pasted URL may have around it. */
static const char blanks[] = " \t\r\n";

/* A copy; the blanks of a URL are escaped in it, and left out behind it. */
static char *copy_word(const char *word)
{
    char *const copy = malloc(3 * strlen(word) + 1);
    const bool is_url = args_is_url(word);
    const char *stop = word + strlen(word);
    char *end = copy;

    if (copy == NULL)
        return NULL;
    while (is_url && strchr(blanks, stop[-1]) != NULL)
        stop--;
    for (; word < stop; word++) {
        if (is_url && *word == ' ') {
            memcpy(end, "%20", 3);
            end += 3;
        } else {
            *end++ = *word;
        }
    }
    *end = '\0';
    return copy;
}

/* In the word itself, which a list of processes shows, the login and
 * the query of a URL are blanked: the query may be a signature that grants
 * access. */
char *args_copy_and_hide(char *word)
{
    if (args_is_url(word + strspn(word, blanks)))
        word += strspn(word, blanks);
    size_t len;
    const size_t begin = text_login(word, &len);
    char *copy = copy_word(word);

    if (!args_is_url(word) && is_file(word))
        return copy;
    memset(word + begin, '*', len);
    char *query = word + begin + len + strcspn(word + begin + len, "?#");
    if (*query == '?')
        memset(query + 1, '*', strlen(query + 1));
    return copy;
}

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

static int add_checksum(struct args *a, char *value)
{
    if (a->n_checksums == CHECKSUMS_MAX)
        return words_usage("--checksum is given more than %d times",
                           CHECKSUMS_MAX);
    if (*value == '\0')
        return words_usage("--checksum needs a checksum, and got an empty one");
    char *const copy = args_copy_and_hide(value);
    a->checksum_words[a->n_checksums] = copy;
    a->checksums[a->n_checksums++] = copy;
    return copy == NULL ? no_memory() : 0;
}

/* An option that bench takes a list for, or that only some of its algorithms
 * heed, is set for each run. */
static bool keep_for_runs(struct args *a, const struct xd_option_info *info,
                          const char *value)
{
    static const char *const axes[AXES] = {
        [AXIS_ALGORITHM] = "algorithm",
        [AXIS_REDUNDANCY] = "redundancy",
        [AXIS_PROGRESS_NUMBER] = "progress-number",
        [AXIS_BLOCK_SIZE] = "block-size",
        [AXIS_THREADS] = "threads-per-depot",
    };

    if (a->command != COMMAND_BENCH)
        return false;
    for (size_t i = 0; i < AXES; i++)
        if (strcmp(info->name, axes[i]) == 0) {
            a->bench.axes[i] = value;
            return true;
        }
    return info->used_by != NULL && info->argument == NULL;
}

static int set_library(struct args *a, const char *name, const char *value)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    struct xd_error err;

    for (size_t i = 0; i < OPTIONS_MAX && xd_option_info(i, &info) == 0; i++) {
        if (strcmp(info.name, name) != 0)
            continue;
        a->given[i] = value;
        if (keep_for_runs(a, &info, value))
            return 0;
    }
    if (xd_options_set(a->options, name, value, &err) < 0)
        return words_usage("%s", err.msg);
    return 0;
}

/* What the library has copied and must not show in the list of processes. */
static void hide_secret(const char *name, char *value)
{
    struct xd_option_info info = {.struct_size = sizeof info};

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        if (strcmp(info.name, name) == 0 && info.is_secret)
            memset(value, '*', strlen(value));
}

static int complain_of_setting(const char *name)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    struct nearest nearest;

    nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        nearest_consider(&nearest, info.name);
    if (nearest.name != NULL)
        return words_usage("--set: there is no option '%s': did you mean '%s'?",
                           name, nearest.name);
    return words_usage("--set: there is no option '%s': see OPTIONS in "
                       "libxdownload(3)",
                       name);
}

static bool is_of_library(const char *name)
{
    struct xd_option_info info = {.struct_size = sizeof info};

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        if (strcmp(info.name, name) == 0)
            return true;
    return false;
}

/* "NAME=VALUE" */
static int set_any(struct args *a, char *setting)
{
    const size_t len = strcspn(setting, "=");
    char name[100]; /* longer than any */

    if (setting[len] == '\0' || len == 0 || len >= sizeof name)
        return words_usage("--set takes NAME=VALUE, not %s", setting);
    memcpy(name, setting, len);
    name[len] = '\0';
    if (!is_of_library(name))
        return complain_of_setting(name);
    const int status = set_library(a, name, setting + len + 1);
    hide_secret(name, setting + len + 1);
    return status;
}

static int set_row(struct args *a, const struct option_row *row, char *value)
{
    if (value == NULL)
        return set_library(a, row->name, "yes");
    const int status = set_library(a, row->name, value);
    hide_secret(row->name, value);
    return status;
}

static int add_rate(struct args *a, const char *value)
{
    if (!quantity_rate(&a->rate, value))
        return words_usage("invalid rate '%s': use a number and a unit, such "
                           "as 15Mbit/s or 2MB/s",
                           value);
    if (a->command != COMMAND_BENCH)
        return 0;
    if (a->bench.n_rates == BENCH_RATES_MAX)
        return words_usage("--rate takes at most %d rates", BENCH_RATES_MAX);
    a->bench.rates[a->bench.n_rates++] = a->rate;
    return 0;
}

/* With bench it is a list. */
static int set_rate(struct args *a, char *value)
{
    int status = 0;

    while (status == 0 && value != NULL) {
        char *comma = a->command == COMMAND_BENCH ? strchr(value, ',') : NULL;
        if (comma != NULL)
            *comma++ = '\0';
        status = add_rate(a, value);
        value = comma;
    }
    return status;
}

static int set_time(double *out, const char *name, const char *value)
{
    if (quantity_seconds(out, value))
        return 0;
    return words_usage(
        "invalid %s '%s': use a number and a unit, such as 5s or "
        "10m",
        name, value);
}

static int set_bytes(uint64_t *out, const char *name, const char *value)
{
    if (quantity_bytes(out, value))
        return 0;
    return words_usage("invalid %s '%s': use a number and a unit, such as 50m "
                       "or 2GB",
                       name, value);
}

static int set_piece_size(struct args *a, const char *value)
{
    const int status = set_bytes(&a->piece_bytes, "piece-size", value);

    if (status == 0 && (a->piece_bytes < XD_MAKE_PIECE_LEAST ||
                        a->piece_bytes > XD_MAKE_PIECE_MOST))
        return words_usage("--piece-size takes 16k to 1g, not %s", value);
    return status;
}

static int set_repeat(struct args *a, const char *value)
{
    uint64_t n;

    if (!quantity_count(&n, value, 1, 10000))
        return words_usage("--repeat takes a number from 1 to 10000, not %s",
                           value);
    a->bench.repeat = (unsigned)n;
    return 0;
}

static int set_run(struct args *a, const char *value)
{
    uint64_t n;

    if (!quantity_count(&n, value, 1, UINT32_MAX))
        return words_usage("--run takes a number from 1 on, not %s", value);
    a->trace_run = (unsigned)n;
    return 0;
}

static int set_seed(struct args *a, const char *value)
{
    if (quantity_count(&a->bench.seed, value, 0, UINT64_C(1000000000000)))
        return 0;
    return words_usage("--seed takes a number up to 10^12, not %s", value);
}

static int add_scenario(struct args *a, const char *value)
{
    if (*value == '\0')
        return words_usage("--virtual needs a scenario, and got an empty name");
    if (a->bench.n_scenarios == BENCH_SCENARIOS_MAX)
        return words_usage("--virtual is given more than %d times",
                           BENCH_SCENARIOS_MAX);
    a->bench.scenarios[a->bench.n_scenarios++] = value;
    return 0;
}

/* As what logs in, it is blanked on the command line. */
/* Obey one option. */
static int take(struct args *a, const struct option_row *row, char *value)
{
    const char *advice =
        value != NULL ? foreign_value_advice(row->name, value) : NULL;
    int status;

    if (advice != NULL)
        return words_usage("invalid %s '%s': %s", row->name, value, advice);
    switch (row->id) {
    case OPTION_OUTPUT:
        return set_once(&a->output, value, row->name);
    case OPTION_DIRECTORY:
        return set_once(&a->directory, value, row->name);
    case OPTION_INPUT_FILE:
        return set_once(&a->list, value, row->name);
    case OPTION_REPORT:
        return set_once(&a->report, value, row->name);
    case OPTION_TRACE:
        status = set_once(&a->trace, value, row->name);
        return status != 0 || a->command == COMMAND_BENCH /* whose runs have */
                   ? status
                   : set_library(a, "records", "yes");
    case OPTION_SUMMARY:
        a->in_words = true;
        return 0;
    case OPTION_SCENARIO:
        return set_once(&a->scenario, value, row->name);
    case OPTION_RUN:
        return set_run(a, value);
    case OPTION_PROGRESS:
        return set_progress(a, value);
    case OPTION_CONTINUE:
        a->adopts = true;
        return 0;
    case OPTION_QUIET:
        a->quiet = true;
        return 0;
    case OPTION_VERBOSE:
        a->verbose = true;
        return set_library(a, "records", "yes");
    case OPTION_DRY_RUN:
        a->dry_run = true;
        return 0;
    case OPTION_MANIFESTS:
        a->are_manifests = true;
        return 0;
    case OPTION_FILE:
        return set_once(&a->file, value, row->name);
    case OPTION_CHECKSUM:
        return add_checksum(a, value);
    case OPTION_SIGNATURE:
        return set_once(&a->signature, value, row->name);
    case OPTION_REPAIR:
        a->repair = true;
        return 0;
    case OPTION_FULL:
        a->full = true;
        return 0;
    case OPTION_OFFLINE:
        a->offline = true;
        return 0;
    case OPTION_PIECE_SIZE:
        return set_piece_size(a, value);
    case OPTION_FORMAT:
        return set_format(a, value, row->name);
    case OPTION_SET:
        return set_any(a, value);
    case OPTION_NO_DEPOT_CACHE:
        return set_library(a, "depot-cache", "");
    case OPTION_JSON:
        a->json = true;
        return 0;
    case OPTION_PROBE:
        a->probe = true;
        return 0;
    case OPTION_PLAYER:
        return set_once(&a->player, value, row->name);
    case OPTION_BROWSER:
        a->browser = true;
        return 0;
    case OPTION_SIMULATE:
        a->simulate = true;
        return 0;
    case OPTION_RATE:
        return set_rate(a, value);
    case OPTION_PREBUFFER:
        return set_time(&a->prebuffer, row->name, value);
    case OPTION_LISTEN:
        return set_once(&a->listen, value, row->name);
    case OPTION_ALLOW_ORIGIN:
        return set_once(&a->allow_origin, value, row->name);
    case OPTION_TOKEN:
    case OPTION_ACTIVE_LENGTH:
        return offer_take(a, row, value);
    case OPTION_VIRTUAL:
        return add_scenario(a, value);
    case OPTION_PAPER:
        a->bench.paper = true;
        return 0;
    case OPTION_DEPOTS:
        return set_once(&a->bench.depots, value, row->name);
    case OPTION_REPEAT:
        return set_repeat(a, value);
    case OPTION_SEED:
        return set_seed(a, value);
    case OPTION_SIZE:
        return set_bytes(&a->bench.size, row->name, value);
    case OPTION_STALLS:
        a->bench.stalls = true;
        return 0;
    case OPTION_COOL_DOWN:
        return set_time(&a->bench.cool_down_s, row->name, value);
    case OPTION_TIME_BUDGET:
        return set_time(&a->bench.time_budget_s, row->name, value);
    case OPTION_BYTE_BUDGET:
        return set_bytes(&a->bench.byte_budget, row->name, value);
    case OPTION_YES:
        a->bench.yes = true;
        return 0;
    case OPTION_SUMMARIZE:
        a->bench.summarize = true;
        return 0;
    case OPTION_PLOT:
        return set_once(&a->bench.plot, value, row->name);
    case OPTION_TO:
    case OPTION_COPIES:
    case OPTION_CODE:
    case OPTION_PARITY:
    case OPTION_EXTENT:
    case OPTION_STRIPE:
    case OPTION_HEAL:
    case OPTION_FOR:
    case OPTION_PRESIGN:
    case OPTION_FROM:
    case OPTION_KEEP_OBJECTS:
        return publish_take(&a->publish, row, value);
    case OPTION_NGINX:
    case OPTION_CHECK:
    case OPTION_ORIGIN:
    case OPTION_CHUNK:
    case OPTION_HOPS:
    case OPTION_CACHE_SIZE:
    case OPTION_FILL_TIME:
        return via_take(&a->via, row, value);
    case OPTION_VERSION:
        help_version();
        a->done = true;
        return 0;
    case OPTION_NO_CONFIG:
        a->no_config = true;
        return 0;
    case OPTION_HELP: /* which its caller answers */
    case OPTION_NOTHING:
        return 0;
    case OPTION_LIBRARY:
        return set_row(a, row, value);
    }
    return 0;
}

/* What stands behind --help, if anything does: a group, or a command. */
static int print_help(struct args *a, const char *topic)
{
    a->done = true;
    if (topic != NULL && topic[0] == '-')
        topic = NULL;
    return help_print(a->command, topic);
}

static int take_options(struct args *a, struct grammar *g, int argc,
                        char **argv)
{
    int got;

    grammar_init(g, a->command);
    opterr = 0;
    while ((got = getopt_long(argc, argv, g->letters, g->longs, NULL)) != -1) {
        const struct option_row *row = grammar_row(g, got);
        if (row == NULL)
            return grammar_complain(g, got, argv[optind - 1]);
        const char *advice =
            optind < argc ? foreign_word_advice(argv[optind]) : NULL;
        if (advice != NULL) /* getopt() stands within it */
            return words_usage("unknown option %s: %s", argv[optind], advice);
        if (row->id == OPTION_HELP)
            return print_help(a, argv[optind]);
        const int status = take(a, row, optarg);
        if (status != 0 || a->done)
            return status;
    }
    return 0;
}

bool args_is_url(const char *word)
{
    return strncasecmp(word, "http://", 7) == 0 ||
           strncasecmp(word, "https://", 8) == 0 ||
           strncasecmp(word, "ftp://", 6) == 0 ||
           strncasecmp(word, "ftps://", 7) == 0;
}

/* "ibp://host/x", which is never meant as the name of a file. */
static bool has_other_scheme(const char *word)
{
    const size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789+-.");

    return len > 0 && strncmp(word + len, "://", 3) == 0 && !args_is_url(word);
}

/* Whether the inputs are URLs: all of them, or none. */
static int recognize_urls(struct args *a)
{
    if (a->n_inputs == 0)
        return 0;
    for (size_t i = 0; i < a->n_inputs; i++)
        if (has_other_scheme(a->inputs[i]))
            return words_usage(
                "%s: only URLs with http, https, ftp and ftps are "
                "fetched%s",
                a->inputs[i],
                strncasecmp(a->inputs[i], "file:", 5) == 0
                    ? "; give the path of a manifest, or name "
                      "the file in one, with --allow-file"
                    : "");
    a->urls = args_is_url(a->inputs[0]);
    for (size_t i = 1; i < a->n_inputs; i++)
        if (args_is_url(a->inputs[i]) != a->urls)
            return words_usage(
                "%s is a URL and %s is not: give either URLs or files",
                a->inputs[a->urls ? 0 : i], a->inputs[a->urls ? i : 0]);
    return 0;
}

static int check_list(const struct args *a)
{
    if (a->n_inputs > 0)
        return words_usage(
            "--input-file lists what is to be fetched, and %s is "
            "given beside it: write it into the list, or fetch "
            "it by a command of its own",
            a->inputs[0]);
    if (a->output != NULL)
        return words_usage("--output names one file: in the list out=NAME in "
                           "an indented line below a URL names its file, and "
                           "--directory is where all of them go");
    if (a->file != NULL)
        return words_usage("--file chooses a file of a manifest, and "
                           "--input-file is a list of files");
    return 0;
}

/* It can be read once. */
static int check_stdin(const struct args *a)
{
    size_t n = a->list != NULL && strcmp(a->list, "-") == 0;

    for (size_t i = 0; i < a->n_inputs; i++)
        n += strcmp(a->inputs[i], "-") == 0;
    for (size_t i = 0; i < a->n_checksums; i++)
        n += strcmp(a->checksums[i], "-") == 0;
    n += a->signature != NULL && strcmp(a->signature, "-") == 0;
    if (n > 1)
        return words_usage("- stands for standard input, which is read once, "
                           "and is given %zu times: give the others as files",
                           n);
    return 0;
}

static int check_show(const struct args *a)
{
    if (a->n_inputs > 1)
        return words_usage("show takes one manifest, not %zu", a->n_inputs);
    if (a->format != NULL && a->json)
        return words_usage("--format and --json exclude each other");
    if (a->format != NULL && a->probe)
        return words_usage("--format and --probe exclude each other");
    if (a->format == NULL && a->output != NULL)
        return words_usage("with show, --output needs --format");
    return 0;
}

static int check_verify(struct args *a)
{
    if (a->n_inputs != 2)
        return words_usage("verify needs a manifest and a file: xdownload "
                           "verify MANIFEST FILE");
    a->output = a->inputs[1];
    a->n_inputs = 1;
    return 0;
}

static int check_check(struct args *a)
{
    if (a->n_inputs > 1 && !args_is_url(a->inputs[0]))
        return words_usage("check takes one manifest, not %zu", a->n_inputs);
    return publish_check_heal(a);
}

/* The format that the name of the output ends like, or NULL. */
static const char *format_of(const char *path)
{
    static const struct {
        const char *end, *format;
    } ends[] = {{".xnd", "exnode"},
                {".exnode", "exnode"},
                {".meta4", "metalink"},
                {".metalink", "metalink"}};
    const size_t len = strlen(path);

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i].end);
        if (len > n && strcasecmp(path + len - n, ends[i].end) == 0)
            return ends[i].format;
    }
    return NULL;
}

static int check_made(struct args *a)
{
    if (a->output == NULL)
        return words_usage("make needs --output FILE: its name says which "
                           "manifest is made, .xnd is an exNode and .meta4 a "
                           "Metalink");
    if (a->format == NULL)
        a->format = format_of(a->output);
    if (a->format == NULL)
        return words_usage("%s: give a name that ends in .xnd or .meta4, or "
                           "--format exnode or metalink",
                           a->output);
    if (a->original != NULL && strcmp(a->original, a->output) == 0)
        return words_usage("%s is the file itself, which the manifest would "
                           "replace: give --output another name",
                           a->output);
    return 0;
}

/* FILE URL..., or URL... alone. */
static int check_make(struct args *a)
{
    if (!args_is_url(a->inputs[0]) && !has_other_scheme(a->inputs[0])) {
        a->original = a->inputs[0];
        a->inputs++;
        a->n_inputs--;
    }
    if (a->n_inputs == 0)
        return words_usage("make needs the URLs of the copies: xdownload make "
                           "FILE URL... -o FILE.xnd");
    for (size_t i = 0; i < a->n_inputs; i++)
        if (!args_is_url(a->inputs[i]) && is_file(a->inputs[i]))
            return words_usage("%s is a file: make takes one file, before the "
                               "URLs of its copies",
                               a->inputs[i]);
    if (a->original != NULL && strcmp(a->original, "-") == 0)
        return words_usage("make needs the name of the file: it cannot be "
                           "standard input");
    if (a->offline && a->original == NULL)
        return words_usage("--offline needs the file: without it the hashes "
                           "come from the depots");
    return check_made(a);
}

static int check_play(struct args *a)
{
    if (a->browser &&
        (a->simulate || a->player != NULL || a->player_args != NULL))
        return words_usage("play --browser starts no player but the browser's");
    if (a->simulate) {
        if (a->rate <= 0)
            return words_usage("play --simulate needs --rate");
        if (a->player != NULL || a->player_args != NULL)
            return words_usage("play --simulate starts no player");
        if (a->prebuffer < 0)
            a->prebuffer = PREBUFFER_S;
        return 0;
    }
    if (a->prebuffer >= 0)
        return words_usage("--prebuffer is for play --simulate: a player has "
                           "an option of its own for that");
    if (args_value(a, "range") != NULL)
        return words_usage("--range is for play --simulate");
    a->listen = OFFER_LISTEN;
    if (a->player == NULL)
        a->player = PLAYER;
    return set_library(a, "records", "yes"); /* for the page */
}

static int check_serve(struct args *a)
{
    const int status = set_library(a, "records", "yes"); /* for the page */

    return status != 0 ? status : offer_check(a);
}

static int check_trace(const struct args *a)
{
    if (a->n_inputs != 1)
        return words_usage("trace takes one file, which --trace has written: "
                           "%zu are given",
                           a->n_inputs);
    if (a->in_words && a->scenario != NULL)
        return words_usage("--summary and --scenario exclude each other");
    if (a->scenario != NULL && a->output != NULL)
        return words_usage("--scenario names the file that is written, and so "
                           "does --output: give one of them");
    return 0;
}

/* The paper's grid: three rates in its Mbit/s, which is 2^20 bits, and both of
 * its clients. */
static void set_paper(struct args *a)
{
    static const double mbits[BENCH_RATES_MAX] = {1.3, 15, 50};
    struct bench_args *b = &a->bench;

    if (b->depots == NULL)
        b->depots = "chain";
    if (b->n_rates == 0)
        for (; b->n_rates < BENCH_RATES_MAX; b->n_rates++)
            b->rates[b->n_rates] = mbits[b->n_rates] * 1048576 / 8;
    if (b->n_scenarios > 0 || a->n_inputs > 0)
        return;
    b->scenarios[b->n_scenarios++] = "paper-tennessee";
    b->scenarios[b->n_scenarios++] = "paper-santa-barbara";
}

static int check_results(const struct args *a)
{
    if (a->bench.summarize && a->bench.plot != NULL)
        return words_usage("--summarize and --plot exclude each other");
    if (a->n_inputs == 0)
        return words_usage("bench %s needs a results file",
                           a->bench.summarize ? "--summarize" : "--plot");
    return 0;
}

static int check_bench(struct args *a)
{
    struct bench_args *b = &a->bench;

    if (b->summarize || b->plot != NULL)
        return check_results(a);
    if (b->paper)
        set_paper(a);
    if (b->n_scenarios > 0 && a->n_inputs > 0)
        return words_usage("--virtual needs no manifest, and %s is given: in "
                           "virtual time the scenario has the depots",
                           a->inputs[0]);
    if (b->n_scenarios == 0 && a->n_inputs == 0)
        return words_usage("bench needs a manifest, or --virtual SCENARIO");
    if (b->n_scenarios > 0 && b->byte_budget > 0)
        return words_usage("--byte-budget is for downloads: in virtual time "
                           "nothing is fetched, and --time-budget can end "
                           "the sweep");
    if (b->n_scenarios == 0 && b->size > 0)
        return words_usage("--size is for --virtual: the manifest says how "
                           "large the file is");
    if (b->stalls && b->n_rates == 0)
        return words_usage("--stalls needs --rate");
    if (a->prebuffer >= 0 && b->n_rates == 0)
        return words_usage("--prebuffer needs --rate");
    if (a->prebuffer < 0)
        a->prebuffer = PREBUFFER_S;
    if (b->repeat == 0)
        b->repeat = b->paper ? 10 : 3;
    if (b->size == 0)
        b->size = BENCH_SIZE;
    return 0;
}

/* A user who types a URL means its server to see the credentials in it.  What
 * is no URL is reported when it is asked. */
static int trust_url(struct args *a, const char *url)
{
    struct xd_error err;

    if (xd_options_set(a->options, "auth-host", url, &err) != XD_E_NOMEM)
        return 0;
    words_error("%s", err.msg);
    return STATUS_FAILED;
}

static int trust_urls(struct args *a)
{
    int status = 0;

    for (size_t i = 0; status == 0 && a->urls && i < a->n_inputs; i++)
        status = trust_url(a, a->inputs[i]);
    for (size_t i = 0; status == 0 && i < a->n_checksums; i++)
        if (args_is_url(a->checksums[i]))
            status = trust_url(a, a->checksums[i]);
    if (status == 0 && a->signature != NULL && args_is_url(a->signature))
        status = trust_url(a, a->signature);
    for (size_t i = 0; status == 0 && i < a->publish.n_stores; i++)
        status = trust_url(a, a->publish.stores[i]);
    if (status == 0 && a->publish.from != NULL &&
        strstr(a->publish.from, "://") != NULL)
        status = trust_url(a, a->publish.from);
    return status;
}

bool args_is_on(const struct args *a, const char *name)
{
    const char *value = args_value(a, name);

    return value != NULL && strcmp(value, "yes") == 0;
}

bool args_wants_signed(const struct args *a)
{
    return args_value(a, "keyring") != NULL ||
           args_value(a, "public-key") != NULL;
}

size_t args_n_lists(const struct args *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_checksums; i++)
        n += !xd_checksum_is_value(a->checksums[i]);
    return n;
}

/* One signature is of one text. */
static int check_signature(const struct args *a)
{
    const size_t n_lists = args_n_lists(a);

    if (a->signature == NULL)
        return 0;
    if (!args_wants_signed(a))
        return words_usage("--signature needs the key that has to have signed: "
                           "--keyring, or --public-key of minisign");
    if (n_lists > 1)
        return words_usage("--signature is of one list of checksums, and %zu "
                           "are given",
                           n_lists);
    if (n_lists == 0 && a->list != NULL)
        return words_usage("--signature is of one file, and --input-file lists "
                           "many: give a signed list with --checksum");
    return 0;
}

/* What a command is not given. */
static const char *wants(unsigned command)
{
    switch (command) {
    case COMMAND_SHOW:
        return "show needs a manifest";
    case COMMAND_MAKE:
        return "make needs the URLs of the copies: xdownload make FILE URL... "
               "-o FILE.xnd";
    case COMMAND_PUT:
        return "put needs a file: xdownload put FILE --to URL...";
    case COMMAND_VIA:
        return "via needs --nginx and nodes, or --check, a list of nodes and a "
               "URL";
    case COMMAND_DEPOT:
        return "depot needs a folder: xdownload depot DIR";
    default:
        return "no manifest and no URL is given";
    }
}

/* Whether what was given goes together. */
static int check(struct args *a)
{
    struct xd_error err;

    if (a->quiet)
        a->verbose = false;
    if (a->command == COMMAND_TRACE)
        return check_trace(a);
    if (a->n_inputs == 0 && a->list == NULL && a->command != COMMAND_BENCH)
        return words_usage("%s", wants(a->command));
    int status = a->command == COMMAND_SHOW     ? check_show(a)
                 : a->command == COMMAND_VERIFY ? check_verify(a)
                 : a->command == COMMAND_PLAY   ? check_play(a)
                 : a->command == COMMAND_SERVE  ? check_serve(a)
                 : a->command == COMMAND_BENCH  ? check_bench(a)
                 : a->command == COMMAND_PUT    ? publish_check(a)
                 : a->command == COMMAND_MAKE   ? check_make(a)
                 : a->command == COMMAND_CHECK  ? check_check(a)
                 : a->command == COMMAND_ADD    ? publish_check_add(a)
                 : a->command == COMMAND_DROP   ? publish_check_drop(a)
                 : a->command == COMMAND_RENEW  ? publish_check_renew(a)
                 : a->command == COMMAND_VIA    ? via_check(a)
                 : a->command == COMMAND_DEPOT  ? offer_check_depot(a)
                                                : 0;
    if (status == 0 && a->list != NULL)
        status = check_list(a);
    if (status == 0)
        status = check_stdin(a);
    if (status == 0 && a->adopts && args_is_on(a, "no-continue"))
        status = words_usage(
            "--continue goes on with what is there, and "
            "--no-continue starts from the beginning: give one of them");
    if (status == 0 && args_is_on(a, "content-disposition") &&
        (args_is_on(a, "force") || a->adopts))
        status = words_usage("--%s writes to a file that is there, which a "
                             "server must not choose: give --output FILE in "
                             "place of --content-disposition",
                             a->adopts ? "continue" : "force");
    if (status == 0 && a->n_checksums > 0 && args_value(a, "range") != NULL)
        status = words_usage("--range asks for a part of the file, and "
                             "--checksum is of the whole");
    if (status == 0)
        status = check_signature(a);
    if (status == 0 &&
        (a->command & (COMMAND_PUT | COMMAND_ADD | COMMAND_DROP |
                       COMMAND_RENEW | COMMAND_VIA | COMMAND_DEPOT)) == 0)
        status = recognize_urls(a);
    if (status == 0)
        status = trust_urls(a);
    if (status != 0)
        return status;
    if (xd_options_check(a->options, &err) < 0)
        return words_usage("%s", err.msg);
    return 0;
}

static int copy_inputs(struct args *a, size_t n, char **words)
{
    a->words = calloc(n + 1, sizeof *a->words);
    if (a->words == NULL)
        return no_memory();
    for (; a->n_inputs < n; a->n_inputs++) {
        a->words[a->n_inputs] = args_copy_and_hide(words[a->n_inputs]);
        if (a->words[a->n_inputs] == NULL)
            return no_memory();
    }
    a->inputs = (const char *const *)a->words;
    return 0;
}

/* "xdownload shwo film.xnd" */
static int complain_of_unknown_command(const char *word)
{
    const char *meant = strpbrk(word, "./:") == NULL && *word != '-'
                            ? grammar_nearest_command(word)
                            : NULL;

    if (meant == NULL || is_file(word))
        return 0;
    return words_usage("there is no file and no command '%s': did you mean "
                       "'xdownload %s'?",
                       word, meant);
}

/* "xdownload -q play film.xnd" */
static int complain_of_late_command(int n, char **words)
{
    for (int i = 0; i < n; i++)
        if (grammar_command(words[i]) != 0 && !is_file(words[i]))
            return words_usage("%s has to be the first word, before all "
                               "options: xdownload %s ...",
                               words[i], words[i]);
    return 0;
}

/* What stands behind -- is the player's.  Returns how many words are ours. */
static int cut_player_args(struct args *a, int argc, char **argv)
{
    int n = 0;

    while (n < argc && strcmp(argv[n], "--") != 0)
        n++;
    if (n + 1 < argc)
        a->player_args = argv + n + 1;
    return n;
}

/* What the command line does not say. */
static int obey_environment(struct args *a, const struct grammar *g)
{
    char *value = getenv("XDOWNLOAD_VIA");

    if (value == NULL || *value == '\0' || args_is_given(a, "via"))
        return 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->rows[i].id == OPTION_LIBRARY &&
            strcmp(g->rows[i].name, "via") == 0)
            return take(a, &g->rows[i], value);
    return 0; /* of other commands */
}

/* Measurements are the same for every user. */
static bool reads_config(const struct args *a)
{
    return !a->no_config && a->command != COMMAND_BENCH && !a->simulate;
}

int args_parse(struct args *out, int argc, char **argv)
{
    struct grammar grammar;
    struct xd_error err;

    *out = (struct args){
        .command = COMMAND_GET,
        .prebuffer = -1,
        .bench = {.seed = 1, .cool_down_s = -1, .time_budget_s = -1}};
    if (xd_options_new(&out->options, &err) < 0) {
        words_error("%s", err.msg);
        return STATUS_FAILED;
    }
    if (argc >= 2 && strcmp(argv[1], "help") == 0 && !is_file(argv[1]))
        return print_help(out, argv[2]);
    optind = 1;
    if (argc > 1 && strcmp(argv[1], "play") == 0)
        argc = cut_player_args(out, argc, argv);
    const enum command named = argc > 1 ? grammar_command(argv[1]) : 0;
    if (named != 0) {
        out->command = named;
        optind = 2;
        words_set_command(argv[1]);
    }
    int status = take_options(out, &grammar, argc, argv);
    if (status != 0 || out->done)
        return status;
    if (named == 0)
        status = complain_of_late_command(argc - optind, argv + optind);
    if (status == 0 && named == 0 && optind < argc)
        status = complain_of_unknown_command(argv[optind]);
    if (status == 0)
        status = copy_inputs(out, (size_t)(argc - optind), argv + optind);
    if (status == 0)
        status = obey_environment(out, &grammar);
    if (status == 0 && reads_config(out))
        status = config_apply(out, &grammar, take);
    if (status == 0 && args_value(out, "depot-cache") == NULL &&
        out->command != COMMAND_BENCH) /* its runs begin cold */
        status = cache_set_default(out->options);
    return status != 0 ? status : check(out);
}

void args_fini(struct args *a)
{
    xd_options_free(a->options);
    for (char **word = a->words; word != NULL && *word != NULL; word++)
        free(*word);
    free(a->words);
    for (size_t i = 0; i < a->n_checksums; i++)
        free(a->checksum_words[i]);
    publish_fini(&a->publish);
    free(a->token);
    free(a->config);
}

bool args_is_given(const struct args *a, const char *name)
{
    struct xd_option_info info = {.struct_size = sizeof info};

    for (size_t i = 0; i < OPTIONS_MAX && xd_option_info(i, &info) == 0; i++)
        if (strcmp(info.name, name) == 0)
            return a->given[i] != NULL;
    return false;
}

const char *args_value(const struct args *a, const char *name)
{
    struct xd_option_info info = {.struct_size = sizeof info};

    for (size_t i = 0; i < OPTIONS_MAX && xd_option_info(i, &info) == 0; i++)
        if (strcmp(info.name, name) == 0)
            return a->given[i] != NULL ? a->given[i] : info.default_value;
    return NULL;
}

bool args_to_stdout(const struct args *a)
{
    return a->output != NULL && strcmp(a->output, "-") == 0;
}

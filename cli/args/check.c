/* SPDX-License-Identifier: MIT */
#include "args/check.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "args/address.h"
#include "args/commands.h"
#include "args/options.h"
#include "args/values.h"
#include "command/settings.h"
#include "common/status.h"
#include "common/words.h"

#define ANY (~0U)
#define OFFERING (COMMAND_SERVE | COMMAND_DEPOT)
#define REWRITING (COMMAND_ADD | COMMAND_DROP | COMMAND_RENEW)

enum relation { NEEDS, EXCLUDES };

#define MUST_NOT_CHOOSE                                                \
    "a server must not choose which file is written to; name it with " \
    "--output"
#define WRITES_NOTHING "via --check writes nothing"

/* Options that require or exclude each other. */
static const struct rule {
    unsigned commands;
    const char *option; /* NULL: the command itself */
    enum relation relation;
    const char *other;
    const char *why; /* reason that is added to the message, or NULL */
    /* option that is accepted in place of `other`, or NULL */
    const char *alternative;
} rules[] = {
    {ANY, "input-file", EXCLUDES, "output",
     "in the list, out=NAME in an indented line below a URL names its file",
     NULL},
    {ANY, "input-file", EXCLUDES, "file", NULL, NULL},
    {ANY, "continue", EXCLUDES, "no-continue", NULL, NULL},
    {ANY, "content-disposition", EXCLUDES, "force", MUST_NOT_CHOOSE, NULL},
    {ANY, "content-disposition", EXCLUDES, "continue", MUST_NOT_CHOOSE, NULL},
    {ANY, "content-disposition", EXCLUDES, "timestamping", MUST_NOT_CHOOSE,
     NULL},
    {ANY, "range", EXCLUDES, "checksum", "a checksum is of the whole file",
     NULL},
    {ANY, "ipv4", EXCLUDES, "ipv6", NULL, NULL},
    {ANY, "signature", NEEDS, "keyring", "the key that must have signed",
     "public-key"},
    {COMMAND_SHOW, "format", EXCLUDES, "json", NULL, NULL},
    {COMMAND_SHOW, "format", EXCLUDES, "probe", NULL, NULL},
    {COMMAND_SHOW, "output", NEEDS, "format", NULL, NULL},
    {COMMAND_MAKE, NULL, NEEDS, "output",
     "its name says which manifest is made, .xnd is an exNode and .meta4 a "
     "Metalink",
     NULL},
    {COMMAND_CHECK, "to", NEEDS, "heal", "a check writes nothing", NULL},
    {COMMAND_CHECK, "heal", NEEDS, "to", "the stores for the new copies", NULL},
    {COMMAND_CHECK, "heal", EXCLUDES, "file",
     "only manifests of one file are healed", NULL},
    {COMMAND_PUT, NULL, NEEDS, "to", "the stores to put the file on", NULL},
    {COMMAND_ADD, NULL, NEEDS, "to", "the stores to put the copies on", NULL},
    {COMMAND_DROP, NULL, NEEDS, "from",
     "the host or the store whose copies are to go", NULL},
    {COMMAND_RENEW, NULL, NEEDS, "for",
     "how long the copies are to live from now on, such as 30d", NULL},
    {COMMAND_PLAY, "browser", EXCLUDES, "simulate", NULL, NULL},
    {COMMAND_PLAY, "browser", EXCLUDES, "player", NULL, NULL},
    {COMMAND_PLAY, "simulate", EXCLUDES, "player", NULL, NULL},
    {COMMAND_PLAY, "simulate", NEEDS, "rate", NULL, NULL},
    {COMMAND_PLAY, "prebuffer", NEEDS, "simulate",
     "a player has an option of its own for that", NULL},
    {COMMAND_PLAY, "range", NEEDS, "simulate", NULL, NULL},
    {COMMAND_TRACE, "summary", EXCLUDES, "scenario", NULL, NULL},
    {COMMAND_TRACE, "scenario", EXCLUDES, "output",
     "both name the file that is written", NULL},
    {COMMAND_BENCH, "summarize", EXCLUDES, "plot", NULL, NULL},
    {COMMAND_BENCH, "stalls", NEEDS, "rate", NULL, "paper"},
    {COMMAND_BENCH, "prebuffer", NEEDS, "rate", NULL, "paper"},
    {COMMAND_VIA, NULL, NEEDS, "nginx", NULL, "check"},
    {COMMAND_VIA, "nginx", EXCLUDES, "check", NULL, NULL},
    {COMMAND_VIA, "nginx", NEEDS, "origin",
     "the server that the nodes fetch from, and no other", NULL},
    {COMMAND_VIA, "nginx", NEEDS, "output",
     "the folder for the list of nodes and their configurations", NULL},
    {COMMAND_VIA, "json", NEEDS, "check", NULL, NULL},
    {COMMAND_VIA, "origin", NEEDS, "nginx", WRITES_NOTHING, NULL},
    {COMMAND_VIA, "chunk", NEEDS, "nginx", WRITES_NOTHING, NULL},
    {COMMAND_VIA, "hops", NEEDS, "nginx", WRITES_NOTHING, NULL},
    {COMMAND_VIA, "cache-size", NEEDS, "nginx", WRITES_NOTHING, NULL},
    {COMMAND_VIA, "fill-time", NEEDS, "nginx", WRITES_NOTHING, NULL},
    {COMMAND_VIA, "output", NEEDS, "nginx", WRITES_NOTHING, NULL},
};

/* Returns whether the option was given.  A switch of the library must also be
 * on, because --set can turn it off. */
static bool is_used(const struct args *a, const char *name)
{
    struct xd_option_info info;

    return options_library(name, strlen(name), &info) && info.argument == NULL
               ? args_is_on(a, name)
               : args_is_given(a, name);
}

static int check_rule(const struct args *a, const struct rule *r)
{
    const char *colon = r->why != NULL ? ": " : "";
    const char *why = r->why != NULL ? r->why : "";

    if ((a->command & r->commands) == 0 ||
        (r->option != NULL && !is_used(a, r->option)))
        return 0;
    const bool has_other = is_used(a, r->other) || (r->alternative != NULL &&
                                                    is_used(a, r->alternative));
    if (has_other == (r->relation == NEEDS))
        return 0;
    if (r->relation == EXCLUDES)
        return words_usage("use either --%s or --%s%s%s", r->option, r->other,
                           colon, why);
    const char *argument =
        r->why == NULL ? options_row(r->other)->argument : NULL;
    return words_usage(
        "%s%s needs --%s%s%s%s%s%s%s", r->option != NULL ? "--" : "",
        r->option != NULL ? r->option : commands_row(a->command)->name,
        r->other, argument != NULL ? " " : "", argument != NULL ? argument : "",
        r->alternative != NULL ? " or --" : "",
        r->alternative != NULL ? r->alternative : "", colon, why);
}

static int check_rules(const struct args *a)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof rules / sizeof *rules; i++)
        status = check_rule(a, &rules[i]);
    return status;
}

static int check_inputs(const struct args *a)
{
    const struct command_row *c = commands_row(a->command);
    const bool are_copies = a->command == COMMAND_CHECK && a->n_inputs > 0 &&
                            args_is_url(a->inputs[0]) && !a->publish.heals;

    if (a->n_inputs == 0 && a->list == NULL && c->wants != NULL)
        return words_usage("%s", c->wants);
    if (a->n_inputs > 1 && c->one != NULL && !are_copies)
        return words_usage("%s takes %s, not %zu", c->name, c->one,
                           a->n_inputs);
    if (a->n_inputs > 0 && a->list != NULL)
        return words_usage("--input-file lists what is to be fetched, and %s "
                           "is given beside it: write it into the list, or "
                           "fetch it by a command of its own",
                           a->inputs[0]);
    return 0;
}

/* Checks that only one argument stands for standard input, which can be read
 * only once. */
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

static int check_verify(struct args *a)
{
    if (a->n_inputs != 2)
        return words_usage("verify needs a manifest and a file: xdownload "
                           "verify MANIFEST FILE");
    if (strcmp(a->inputs[1], "-") == 0)
        return words_usage("verify reads a file, and '-' names none: name the "
                           "file, or ./- if that is its name");
    a->output = a->inputs[1];
    a->n_inputs = 1;
    return 0;
}

/* Checks that the manifest is a local file, because the command rewrites it. */
static int check_manifest(const struct args *a)
{
    if (!args_is_url(a->inputs[0]) && strcmp(a->inputs[0], "-") != 0)
        return 0;
    return words_usage("%s%s takes a manifest of this machine, which it writes "
                       "again",
                       commands_row(a->command)->name,
                       a->command == COMMAND_CHECK ? " --heal" : "");
}

static int check_copies(const struct args *a)
{
    const struct publish_args *p = &a->publish;

    if (p->copies <= p->n_stores)
        return 0;
    return words_usage("--copies %" PRIu64 " needs as many stores, for none "
                       "gets two copies, and %zu %s given",
                       p->copies, p->n_stores, p->n_stores == 1 ? "is" : "are");
}

static int check_put(const struct args *a)
{
    if (args_is_url(a->inputs[0]))
        return words_usage("put takes a file of this machine: to make a "
                           "manifest of URLs, use xdownload make");
    if (args_to_stdout(a))
        return words_usage("put writes its manifest while it runs: --output "
                           "needs the name of a file");
    return 0;
}

/* Returns the format for the ending of a file name, or NULL. */
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

/* Returns true for a word like "ibp://host/x": it cannot be a file, and
 * downloads do not accept the scheme. */
static bool has_other_scheme(const char *word)
{
    const size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789+-.");

    return len > 0 && strncmp(word + len, "://", 3) == 0 && !args_is_url(word);
}

/* Moves FILE of "make FILE URL..." from the inputs to a->original. */
static int take_original(struct args *a)
{
    if (!args_is_url(a->inputs[0]) && !has_other_scheme(a->inputs[0])) {
        a->original = a->inputs[0];
        a->inputs++;
        a->n_inputs--;
    }
    if (a->n_inputs == 0)
        return words_usage("%s", commands_row(COMMAND_MAKE)->wants);
    for (size_t i = 0; i < a->n_inputs; i++)
        if (!args_is_url(a->inputs[i]) && args_is_file(a->inputs[i]))
            return words_usage("%s is a file: make takes one file, before the "
                               "URLs of its copies",
                               a->inputs[i]);
    return 0;
}

static int check_make(struct args *a)
{
    const int status = take_original(a);

    if (status != 0)
        return status;
    if (a->original != NULL && strcmp(a->original, "-") == 0)
        return words_usage("make needs the name of the file: it cannot be "
                           "standard input");
    if (a->offline && a->original == NULL)
        return words_usage("--offline needs the file: without it the hashes "
                           "come from the depots");
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

static int check_play(struct args *a)
{
    if (a->player_args != NULL && (a->browser || a->simulate))
        return words_usage("play --%s starts no player: words after -- are for "
                           "a player",
                           a->browser ? "browser" : "simulate");
    /* the page shows them */
    return a->simulate ? 0 : values_set(a, "records=yes");
}

static int check_offer(const struct args *a)
{
    const int is_loopback = address_is_loopback(a->listen);

    if (is_loopback < 0)
        return words_usage("--listen takes ADDRESS, or ADDRESS:PORT, in "
                           "numbers, not %s",
                           a->listen);
    if (!is_loopback && a->token == NULL)
        return words_usage("other machines can reach %s: give --token WORD, "
                           "a secret that all URLs then begin with",
                           a->listen);
    return 0;
}

/* Sets the options that the user did not give to the values of the paper's
 * experiments: three rates, and both clients.  The paper's Mbit/s are 2^20 bits
 * per second. */
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

static int check_bench(struct args *a)
{
    struct bench_args *b = &a->bench;

    if ((b->summarize || b->plot != NULL) && a->n_inputs == 0)
        return words_usage("bench %s needs a results file",
                           b->summarize ? "--summarize" : "--plot");
    if (b->summarize || b->plot != NULL)
        return 0;
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
    if (b->n_scenarios == 0 && args_is_given(a, "size"))
        return words_usage("--size is for --virtual: the manifest says how "
                           "large the file is");
    if (b->repeat == 0)
        b->repeat = b->paper ? 10 : 3;
    return 0;
}

static int check_via(const struct args *a)
{
    if (a->via.writes && args_to_stdout(a))
        return words_usage("via --nginx needs --output DIR: the folder for the "
                           "list of nodes and their configurations");
    if (a->via.checks && (a->n_inputs != 2 || args_is_url(a->inputs[0]) ||
                          !args_is_url(a->inputs[1])))
        return words_usage("via --check needs a list of nodes and the URL of a "
                           "file at its origin: xdownload via --check NODES "
                           "URL");
    return 0;
}

static int check_command(struct args *a)
{
    int status = 0;

    if ((a->command & REWRITING) != 0 || a->publish.heals)
        status = check_manifest(a);
    if (status == 0 && (a->command & OFFERING) != 0)
        status = check_offer(a);
    if (status != 0)
        return status;
    switch (a->command) {
    case COMMAND_VERIFY:
        return check_verify(a);
    case COMMAND_PLAY:
        return check_play(a);
    case COMMAND_SERVE:
        return values_set(a, "records=yes"); /* the page shows them */
    case COMMAND_BENCH:
        return check_bench(a);
    case COMMAND_MAKE:
        return check_make(a);
    case COMMAND_PUT:
        status = check_put(a);
        return status == 0 ? check_copies(a) : status;
    case COMMAND_ADD:
        return check_copies(a);
    case COMMAND_VIA:
        return check_via(a);
    case COMMAND_GET:
    case COMMAND_SHOW:
    case COMMAND_TRACE:
    case COMMAND_CHECK:
    case COMMAND_DROP:
    case COMMAND_RENEW:
    case COMMAND_DEPOT:
        return 0;
    }
    return 0;
}

/* Checks that --signature has only one text to verify. */
static int check_signature(const struct args *a)
{
    const size_t n_lists = args_n_lists(a);

    if (a->signature == NULL)
        return 0;
    if (n_lists > 1)
        return words_usage("--signature is of one list of checksums, and %zu "
                           "are given",
                           n_lists);
    if (n_lists == 0 && a->list != NULL)
        return words_usage("--signature is of one file, and --input-file lists "
                           "many: give a signed list with --checksum");
    return 0;
}

/* Checks that either all inputs are URLs, or none are. */
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

/* Allows sending the credentials to the server of a URL, because the user gave
 * this URL.  Invalid URLs are reported when they are used. */
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

/* Commands whose inputs are manifests or URLs to fetch. */
#define READING                                                   \
    (COMMAND_GET | COMMAND_SHOW | COMMAND_VERIFY | COMMAND_PLAY | \
     COMMAND_SERVE | COMMAND_BENCH | COMMAND_MAKE | COMMAND_CHECK)

int args_check(struct args *a)
{
    struct xd_error err;

    if (a->quiet)
        a->verbose = false;
    int status = check_inputs(a);
    if (status == 0)
        status = check_rules(a);
    if (status == 0)
        status = check_command(a);
    if (status == 0)
        status = check_stdin(a);
    if (status == 0)
        status = check_signature(a);
    if (status == 0 && (a->command & READING) != 0)
        status = recognize_urls(a);
    if (status == 0)
        status = trust_urls(a);
    if (status == 0 && xd_options_check(a->options, &err) < 0)
        return words_usage("%s", err.msg);
    return status;
}

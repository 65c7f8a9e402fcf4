/* SPDX-License-Identifier: MIT */
#include "args/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <unistd.h>

#include <xdownload/check.h>

#include "args/check.h"
#include "args/commands.h"
#include "args/config.h"
#include "args/foreign.h"
#include "args/grammar.h"
#include "args/help.h"
#include "args/values.h"
#include "command/checks.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"

/* The defaults of a simulated player and of bench --virtual come from the
 * paper. */
#define PREBUFFER_S 5
#define BENCH_SIZE (UINT64_C(50) << 20)

/* Default of --active-length: the active region of the Circus paper (2004). */
#define ACTIVE_BYTES (UINT64_C(16) << 20)

#define PLAYER "mpv"
#define LISTEN "127.0.0.1" /* only this machine, on any free port */

bool args_is_file(const char *word)
{
    return access(word, F_OK) == 0;
}

/* Characters to remove around a pasted URL. */
static const char blanks[] = " \t\r\n";

/* Returns a copy of a word, which the caller frees; NULL if memory runs out.
 * In a URL, surrounding blanks are removed and inner blanks become %20. */
static char *copy_word(const char *word)
{
    const bool is_url = args_is_url(word + strspn(word, blanks));
    const char *begin = is_url ? word + strspn(word, blanks) : word;
    const char *stop = begin + strlen(begin);
    char *const copy = malloc(3 * strlen(begin) + 1);
    char *end = copy;

    if (copy == NULL)
        return NULL;
    while (is_url && strchr(blanks, stop[-1]) != NULL)
        stop--;
    for (; begin < stop; begin++) {
        if (is_url && *begin == ' ') {
            memcpy(end, "%20", 3);
            end += 3;
        } else {
            *end++ = *begin;
        }
    }
    *end = '\0';
    return copy;
}

static void blank(char *word)
{
    memset(word, '*', strlen(word));
}

/* Overwrites the parts of a URL that may grant access: the login, the query
 * (which may be a signature), the fragment, and the path of an IBP URL (which
 * is a capability). */
static void hide_in_url(char *word)
{
    size_t len;
    const size_t begin = text_login(word, &len);
    char *const host = word + begin + len;
    const bool is_ibp =
        strncasecmp(word + strspn(word, blanks), "ibp://", 6) == 0;
    char *const secret = host + strcspn(host, is_ibp ? "/?#" : "?#");

    if (strstr(word, "://") == NULL && args_is_file(word))
        return;
    memset(word + begin, '*', len);
    if (*secret != '\0')
        blank(secret + 1);
}

/* Overwrites the secrets in the value of an option. */
static void hide_value(const struct option_row *row, char *value)
{
    bool is_secret = row->is_secret;
    struct xd_option_info info;

    if (row->kind == OPTION_SETTING) { /* NAME=VALUE */
        const size_t len = strcspn(value, "=");
        is_secret = options_library(value, len, &info) && info.is_secret;
        value += len + (value[len] == '=');
    }
    if (is_secret)
        blank(value);
    else
        hide_in_url(value);
}

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

/* Prints the help.  `topic` is the word after --help, or NULL. */
static int print_help(struct args *a, const char *topic)
{
    a->done = true;
    if (topic != NULL && topic[0] == '-')
        topic = NULL;
    return help_print(a->command, topic);
}

/* Applies an option of the command line.  Overwrites its secrets in argv,
 * because other users can see argv in the list of processes. */
static int take_word(struct args *a, const struct option_row *row, char *value)
{
    if (value == NULL)
        return values_take(a, row, NULL);
    char *const copy = copy_word(value);
    if (copy == NULL)
        return no_memory();
    a->words[a->n_words++] = copy;
    hide_value(row, value);
    return values_take(a, row, copy);
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
        const char *next = optind < argc ? argv[optind] : "";
        const char *advice = foreign_advice(next, strlen(next));
        if (advice != NULL) /* of -nc, getopt() has consumed only the n */
            return words_usage("unknown option %s: %s", next, advice);
        if (row->kind == OPTION_HELP)
            return print_help(a, argv[optind]);
        const int status = take_word(a, row, optarg);
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

bool args_is_on(const struct args *a, const char *name)
{
    const char *value = args_value(a, name);

    return value != NULL && strcmp(value, "yes") == 0;
}

bool args_has_login(const struct args *a)
{
    return args_is_given(a, "user") || args_is_given(a, "oauth2-bearer");
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

static int copy_inputs(struct args *a, size_t n, char **words)
{
    a->inputs = (const char *const *)(a->words + a->n_words);
    for (; a->n_inputs < n; a->n_inputs++) {
        a->words[a->n_words] = copy_word(words[a->n_inputs]);
        if (a->words[a->n_words++] == NULL)
            return no_memory();
        hide_in_url(words[a->n_inputs]);
    }
    return 0;
}

/* Reports mistakes like "xdownload shwo film.xnd" and "xdownload downlaod
 * URL". */
static int complain_of_unknown_command(int n, char **words)
{
    const char *word = words[0];

    if (strpbrk(word, "./:") != NULL || *word == '-' || args_is_file(word))
        return 0;
    const char *meant = commands_nearest(word);
    if (meant != NULL)
        return words_usage("there is no file and no command '%s': did you mean "
                           "'xdownload %s'?",
                           word, meant);
    if (n > 1 && args_is_url(words[1]))
        return words_usage("unknown command '%s'; to download, give only the "
                           "URL",
                           word);
    return 0;
}

/* Reports mistakes like "xdownload -q play film.xnd". */
static int complain_of_late_command(int n, char **words)
{
    for (int i = 0; i < n; i++)
        if (commands_named(words[i]) != NULL && !args_is_file(words[i]))
            return words_usage("%s has to be the first word, before all "
                               "options: xdownload %s ...",
                               words[i], words[i]);
    return 0;
}

/* Removes the words after --, which are for the player.  Returns the number of
 * remaining words. */
static int cut_player_args(struct args *a, int argc, char **argv)
{
    int n = 0;

    while (n < argc && strcmp(argv[n], "--") != 0)
        n++;
    if (n + 1 < argc)
        a->player_args = argv + n + 1;
    return n;
}

/* Applies XDOWNLOAD_VIA if the command has the option --via and the user did
 * not give it. */
static int obey_environment(struct args *a, const struct grammar *g)
{
    char *value = getenv("XDOWNLOAD_VIA");

    if (value == NULL || *value == '\0' || args_is_given(a, "via"))
        return 0;
    const struct option_row *row = grammar_named(g, "via");
    return row != NULL ? values_take(a, row, value) : 0;
}

/* Sets depot-cache to a file in the user's cache folder, if that folder is
 * known. */
static int set_default_cache(struct xd_options *o)
{
    struct xd_error err;
    char *path = args_new_path("XDG_CACHE_HOME", ".cache", "depots");
    int rc = 0;

    /* If the path is not a valid value, there is no cache. */
    if (path != NULL)
        rc = xd_options_set(o, "depot-cache", path, &err);
    free(path);
    return rc == XD_E_NOMEM ? no_memory() : 0;
}

/* Returns false for commands that measure, because their results must not
 * depend on the user's settings. */
static bool reads_config(const struct args *a)
{
    return !a->no_config && a->command != COMMAND_BENCH && !a->simulate;
}

int args_parse(struct args *out, int argc, char **argv)
{
    struct grammar grammar;
    struct xd_error err;

    *out = (struct args){.command = COMMAND_GET,
                         .prebuffer = PREBUFFER_S,
                         .active_bytes = ACTIVE_BYTES,
                         .player = PLAYER,
                         .listen = LISTEN,
                         .bench = {.seed = 1,
                                   .cool_down_s = -1,
                                   .time_budget_s = -1,
                                   .size = BENCH_SIZE}};
    if (xd_options_new(&out->options, &err) < 0) {
        words_error("%s", err.msg);
        return STATUS_FAILED;
    }
    if (argc >= 2 && strcmp(argv[1], "help") == 0 && !args_is_file(argv[1]))
        return print_help(out, argv[2]);
    optind = 1;
    if (argc > 1 && strcmp(argv[1], "play") == 0)
        argc = cut_player_args(out, argc, argv);
    const struct command_row *named = argc > 1 ? commands_named(argv[1]) : NULL;
    if (named != NULL) {
        out->command = named->command;
        optind = 2;
        words_set_command(argv[1]);
    }
    out->words = calloc((size_t)argc + 1, sizeof *out->words);
    if (out->words == NULL)
        return no_memory();
    int status = take_options(out, &grammar, argc, argv);
    if (status != 0 || out->done)
        return status;
    if (named == NULL)
        status = complain_of_late_command(argc - optind, argv + optind);
    if (status == 0 && named == NULL && optind < argc)
        status = complain_of_unknown_command(argc - optind, argv + optind);
    if (status == 0)
        status = copy_inputs(out, (size_t)(argc - optind), argv + optind);
    if (status == 0)
        status = obey_environment(out, &grammar);
    if (status == 0 && reads_config(out))
        status = config_apply(out, &grammar);
    if (status == 0 && args_value(out, "depot-cache") == NULL &&
        /* the runs of bench start without a cache */
        out->command != COMMAND_BENCH)
        status = set_default_cache(out->options);
    return status != 0 ? status : args_check(out);
}

void args_fini(struct args *a)
{
    xd_options_free(a->options);
    for (size_t i = 0; i < a->n_words; i++)
        free(a->words[i]);
    free(a->words);
    free(a->config);
}

bool args_is_given(const struct args *a, const char *name)
{
    return a->given[options_index(name)] != NULL;
}

const char *args_value(const struct args *a, const char *name)
{
    const char *given = a->given[options_index(name)];
    struct xd_option_info info;

    if (given != NULL)
        return given;
    return options_library(name, strlen(name), &info) ? info.default_value
                                                      : NULL;
}

bool args_to_stdout(const struct args *a)
{
    return a->output != NULL && strcmp(a->output, "-") == 0;
}

char *args_new_path(const char *variable, const char *folder, const char *name)
{
    const char *base = getenv(variable), *home = getenv("HOME");
    char *path = NULL;
    size_t len;

    /* as the XDG Base Directory Specification demands, ignore relative paths */
    if (base != NULL && base[0] == '/')
        folder = "";
    else
        base = home;
    FILE *to =
        base != NULL && base[0] == '/' ? open_memstream(&path, &len) : NULL;
    if (to == NULL)
        return NULL;
    fprintf(to, "%s/%s%sxdownload/%s", base, folder, *folder != '\0' ? "/" : "",
            name);
    if (fclose(to) == 0)
        return path;
    free(path);
    return NULL;
}

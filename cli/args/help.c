/* SPDX-License-Identifier: MIT */
#include "args/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xdownload/version.h>

#include "args/grammar.h"
#include "args/options.h"
#include "common/nearest.h"
#include "common/words.h"

#define COLUMNS 79
#define INDENT 30 /* where the sentences begin */

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define OWN_VERSION        \
    TEXT(XD_VERSION_MAJOR) \
    "." TEXT(XD_VERSION_MINOR) "." TEXT(XD_VERSION_PATCH)

/* Of each command, in the order of the manual.  Examples come first: the right
 * one is all that there is to read. */
static const struct page {
    enum command command;
    const char *title, *examples, *usage;
} pages[] = {
    {COMMAND_GET, "fetch files from several servers at once",
     "  xdownload fedora.meta4\n"
     "  xdownload https://a.example/d.iso https://b.example/d.iso\n"
     "  xdownload --checksum https://a.example/SHA256SUMS "
     "https://a.example/d.iso\n"
     "  xdownload -c https://a.example/d.iso\n"
     "  xdownload -i list.txt\n"
     "  xdownload -q -o - film.xnd | mpv -\n",
     "  xdownload [OPTION...] MANIFEST...    a Metalink, an exNode or a list "
     "of "
     "URLs\n"
     "  xdownload [OPTION...] URL...         URLs of manifests, or of one "
     "file\n"
     "  xdownload [OPTION...] -i LIST        different files, one per line\n"},
    {COMMAND_VERIFY, "compare a file with its manifest, and repair it",
     "  xdownload verify fedora.meta4 fedora.iso\n"
     "  xdownload verify --repair fedora.meta4 fedora.iso\n",
     "  xdownload verify [OPTION...] MANIFEST-OR-URL FILE [--repair]\n"},
    {COMMAND_SHOW, "print or convert a manifest",
     "  xdownload show fedora.meta4\n"
     "  xdownload show --json data.xnd\n"
     "  xdownload show --probe data.xnd\n"
     "  xdownload show --format exnode -o data.xnd data.meta4\n",
     "  xdownload show MANIFEST-OR-URL [-v] [--probe] [--json]\n"
     "  xdownload show MANIFEST-OR-URL --format FORMAT [-o FILE]\n"},
    {COMMAND_MAKE, "make a manifest for copies that exist already",
     "  xdownload make film.mkv https://a.example/film.mkv -o film.xnd\n"
     "  xdownload make https://a.example/d.iso https://b.example/d.iso -o "
     "d.meta4\n",
     "  xdownload make [OPTION...] FILE URL... -o MANIFEST\n"
     "  xdownload make [OPTION...] URL... -o MANIFEST    reads the copies "
     "themselves\n"},
    {COMMAND_CHECK, "check what depots hold of a file, and what is at risk",
     "  xdownload check film.xnd\n"
     "  xdownload check --full film.xnd\n"
     "  xdownload check --json https://a.example/d.iso "
     "https://b.example/d.iso\n",
     "  xdownload check [OPTION...] MANIFEST-OR-URL... [--full] [--json]\n"},
    {COMMAND_PLAY, "play films and music while they arrive",
     "  xdownload play film.xnd\n"
     "  xdownload play --player vlc film.xnd -- --play-and-exit\n"
     "  xdownload play --browser film.xnd\n"
     "  xdownload play --simulate --rate 15Mbit/s film.xnd\n",
     "  xdownload play [OPTION...] MANIFEST-OR-URL... [-- PLAYER-ARGUMENT...]\n"
     "  xdownload play --browser [OPTION...] MANIFEST-OR-URL...\n"
     "  xdownload play --simulate --rate RATE [OPTION...] "
     "MANIFEST-OR-URL...\n"},
    {COMMAND_SERVE, "offer files as URLs while they arrive",
     "  xdownload serve film.xnd\n"
     "  xdownload serve --keep film.mkv film.xnd\n"
     "  xdownload serve --listen 0.0.0.0:8080 --token correct-horse film.xnd\n",
     "  xdownload serve [OPTION...] MANIFEST-OR-URL...\n"},
    {COMMAND_DEPOT, "serve the files of a folder to many clients at once",
     "  xdownload depot /srv/images\n"
     "  xdownload depot --listen 0.0.0.0:8080 --token correct-horse "
     "/srv/images\n",
     "  xdownload depot [OPTION...] DIR\n"},
    {COMMAND_BENCH, "measure which settings and depots are best",
     "  xdownload bench -o r.csv -t 1,2,4 --depots drop-one fedora.meta4\n"
     "  xdownload bench --summarize r.csv\n"
     "  xdownload bench --plot figures r.csv\n"
     "  xdownload bench --virtual paper-tennessee -a basic,adaptive\n",
     "  xdownload bench [OPTION...] [-o RESULTS] MANIFEST-OR-URL\n"
     "  xdownload bench [OPTION...] [-o RESULTS] --virtual SCENARIO...\n"
     "  xdownload bench --summarize RESULTS...\n"
     "  xdownload bench --plot DIR RESULTS...\n"},
    {COMMAND_PUT, "place copies of a file on servers, and write its manifest",
     "  xdownload put film.mkv --to https://a.example/dav/ --to "
     "https://b.example/dav/\n"
     "  xdownload put film.mkv --stripe --copies 2 --to s3://bucket/films "
     "--to ibp://depot.example:6714 --to https://a.example/dav/ -o film.xnd\n",
     "  xdownload put [OPTION...] FILE --to URL... [--copies N] [--stripe] "
     "[-o MANIFEST]\n"
     "  xdownload put [OPTION...] FILE --to URL... --code K+M "
     "[-o MANIFEST]\n"},
    {COMMAND_ADD, "place more copies of a file that a manifest names",
     "  xdownload add film.mkv.xnd --to https://c.example/dav/\n",
     "  xdownload add [OPTION...] MANIFEST --to URL... [--copies N] "
     "[--stripe]\n"
     "  xdownload add [OPTION...] MANIFEST --to URL... --parity K+M\n"},
    {COMMAND_DROP, "drop the copies on one server, and remove them there",
     "  xdownload drop film.xnd --from https://a.example/dav/\n"
     "  xdownload drop film.xnd --from a.example --keep-objects\n",
     "  xdownload drop [OPTION...] MANIFEST --from HOST|URL "
     "[--keep-objects]\n"},
    {COMMAND_RENEW, "keep copies longer that would expire",
     "  xdownload renew film.xnd --for 30d\n"
     "  xdownload renew film.xnd --for 7d --to s3://bucket/films\n",
     "  xdownload renew [OPTION...] MANIFEST --for TIME [--to URL...]\n"},
    {COMMAND_VIA, "set up and test caches that many clients share",
     "  xdownload via --nginx a=10.0.0.1:8080 b=10.0.0.2:8080 "
     "--origin https://a.example/ -o mesh\n"
     "  xdownload via --check mesh/NODES https://a.example/d.iso\n",
     "  xdownload via --nginx [ID=]HOST:PORT... --origin URL... [--chunk SIZE] "
     "[--hops N] -o DIR\n"
     "  xdownload via --check NODES URL [--json]\n"},
    {COMMAND_TRACE, "show what happened in a recorded run",
     "  xdownload --trace t.json fedora.meta4\n"
     "  xdownload trace t.json > t.svg\n"
     "  xdownload trace --summary t.json\n"
     "  xdownload trace --scenario net.scn t.json\n",
     "  xdownload trace [--summary | --scenario FILE] [--run N] [-o FILE] "
     "TRACE\n"},
};

#define N_PAGES (sizeof pages / sizeof *pages)

static const struct {
    const char *name;
    enum option_group group;
    const char *title;
} groups[] = {
    {"common", GROUP_COMMON, "Common options"},
    {"output", GROUP_OUTPUT, "Output: where files go, and what is printed"},
    {"network", GROUP_NETWORK, "Network: time, proxies, logins, TLS"},
    {"verification", GROUP_VERIFICATION, "Verification: what must be right"},
    {"algorithms", GROUP_ALGORITHMS,
     "Algorithms: which depot is asked for "
     "what"},
};

#define N_GROUPS (sizeof groups / sizeof *groups)

/* Words from `at` on, in lines that begin at INDENT. */
static void put_words(const char *words, size_t *at)
{
    while (*words != '\0') {
        const size_t len = strcspn(words, " ");
        if (*at > INDENT && *at + 1 + len > COLUMNS) {
            printf("\n%*s", INDENT, "");
            *at = INDENT;
        } else if (*at > INDENT) {
            putchar(' ');
            ++*at;
        }
        printf("%.*s", (int)len, words);
        *at += len;
        words += len;
        words += strspn(words, " ");
    }
}

static void put_row(const struct option_row *row)
{
    char letter[5] = "    ", name[80], more[80] = "";

    if (row->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(name, sizeof name, "--%s%s%s", row->name,
             row->argument != NULL ? " " : "",
             row->argument != NULL ? row->argument : "");
    const int put = printf("  %s%-*s", letter, INDENT - 6, name);
    size_t at = put > 0 ? (size_t)put : 0;
    if (at > INDENT) {
        printf("\n%*s", INDENT, "");
        at = INDENT;
    }
    put_words(row->sentence, &at);
    if (row->more != NULL)
        snprintf(more, sizeof more, "(default %s)", row->more);
    put_words(more, &at);
    putchar('\n');
}

/* The options of one of these commands that stand in one of these groups; not
 * those of the group `said`, which have been printed. */
static void put_options(const char *title, unsigned commands, unsigned in,
                        unsigned said)
{
    struct option_row rows[OPTIONS_MAX];
    const size_t n = options_table(rows);
    bool titled = false;

    for (size_t i = 0; i < n; i++) {
        if ((rows[i].commands & commands) == 0 || (rows[i].groups & in) == 0 ||
            (rows[i].groups & said) != 0)
            continue;
        if (!titled)
            printf("\n%s:\n", title);
        titled = true;
        put_row(&rows[i]);
    }
}

static const struct page *page_of(enum command command)
{
    for (size_t i = 0; i < N_PAGES; i++)
        if (pages[i].command == command)
            return &pages[i];
    return &pages[0];
}

static void put_head(const struct page *page)
{
    if (page->command == COMMAND_GET)
        printf("xdownload - %s\n", page->title);
    else
        printf("xdownload %s - %s\n", grammar_name(page->command), page->title);
    printf("\nExamples:\n%s\nUsage:\n%s", page->examples, page->usage);
}

static void put_commands(void)
{
    puts("\nOther commands ('xdownload COMMAND --help' explains one):");
    for (size_t i = 1; i < N_PAGES; i++)
        printf("  %-8s%s\n", grammar_name(pages[i].command), pages[i].title);
}

static const char units[] =
    "\n"
    "Sizes: 64k, 2m, 1g are powers of 1024; 500kB, 2MB, 1GB of 1000.  Rates: "
    "2m,\n"
    "2MB/s, 15Mbit/s.  Times: 500ms, 5s, 10m, 2h, 1d.\n";

static const char status[] =
    "\n"
    "Exit status: 0 complete, 1 could not be fetched, 2 wrong usage, 3 bad "
    "manifest,\n"
    "4 verification failed, 5 local file, 130 interrupted, 141 closed pipe.\n";

static void put_more(enum command command)
{
    const char *name = command == COMMAND_GET ? "" : grammar_name(command);
    const char *gap = *name != '\0' ? " " : "",
               *dash = *name != '\0' ? "-" : "";

    printf(
        "\nMore: 'xdownload%s%s --help GROUP', of the groups output, network,\n"
        "verification and algorithms, or 'all'; and the manual, "
        "xdownload%s%s(1).\n",
        gap, name, dash, name);
}

static void put_overview(enum command command)
{
    put_head(page_of(command));
    if (command == COMMAND_GET)
        put_commands();
    put_options("Options of this command", command, GROUP_COMMAND, 0);
    put_options(groups[0].title, command, GROUP_COMMON, GROUP_COMMAND);
    fputs(units, stdout);
    if (command == COMMAND_GET)
        fputs(status, stdout);
    put_more(command);
}

/* Without a command before it, of all commands. */
static void put_all(enum command command)
{
    unsigned said = 0;

    put_head(page_of(command));
    for (size_t i = 0; i < N_GROUPS; i++) {
        put_options(groups[i].title,
                    command == COMMAND_GET ? ~0U : (unsigned)command,
                    groups[i].group, said);
        said |= groups[i].group;
    }
    for (size_t i = 0; i < N_PAGES; i++)
        if (command == COMMAND_GET || pages[i].command == command)
            put_options(grammar_name(pages[i].command),
                        (unsigned)pages[i].command, GROUP_COMMAND, 0);
    fputs(units, stdout);
    fputs(status, stdout);
}

const char *help_topic(size_t i)
{
    if (i < N_GROUPS)
        return groups[i].name;
    i -= N_GROUPS;
    if (i < N_PAGES)
        return grammar_name(pages[i].command);
    return i == N_PAGES ? "all" : NULL;
}

static int complain_of_topic(const char *topic)
{
    struct nearest nearest;
    const char *known;

    nearest_init(&nearest, topic, strlen(topic));
    for (size_t i = 0; (known = help_topic(i)) != NULL; i++)
        nearest_consider(&nearest, known);
    if (nearest.name != NULL)
        return words_usage("there is no help on '%s': did you mean '--help "
                           "%s'?",
                           topic, nearest.name);
    return words_usage("there is no help on '%s': use --help with common, "
                       "output, network, verification, algorithms, all or a "
                       "command",
                       topic);
}

int help_print(enum command command, const char *topic)
{
    if (topic == NULL) {
        put_overview(command);
        return 0;
    }
    if (strcmp(topic, "all") == 0) {
        put_all(command);
        return 0;
    }
    for (size_t i = 0; i < N_GROUPS; i++) {
        if (strcmp(groups[i].name, topic) != 0)
            continue;
        put_options(groups[i].title,
                    command == COMMAND_GET ? ~0U : (unsigned)command,
                    groups[i].group, 0);
        return 0;
    }
    const enum command other = grammar_command(topic);
    if (other == 0)
        return complain_of_topic(topic);
    put_overview(other);
    return 0;
}

void help_version(void)
{
    printf("xdownload %s (libxdownload %s, %s)\n", OWN_VERSION, xd_version(),
           xd_version_libcurl());
}

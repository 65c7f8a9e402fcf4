#include "args/help.h"

#include <stdio.h>
#include <string.h>

#include <xdownload/version.h>

#include "args/options.h"

#define COLUMNS 79
#define INDENT 30 /* where the sentences begin */

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define OWN_VERSION        \
    TEXT(XD_VERSION_MAJOR) \
    "." TEXT(XD_VERSION_MINOR) "." TEXT(XD_VERSION_PATCH)

static const char usage[] =
    "usage: xdownload [OPTION...] MANIFEST...\n"
    "       xdownload [OPTION...] URL...\n"
    "       xdownload show MANIFEST-OR-URL [-v] [--probe] [--json]\n"
    "       xdownload verify MANIFEST-OR-URL FILE [--repair]\n"
    "       xdownload show MANIFEST-OR-URL --format FORMAT [-o FILE]\n"
    "       xdownload play [OPTION...] MANIFEST-OR-URL [-- "
    "PLAYER-ARGUMENT...]\n"
    "       xdownload play --browser [OPTION...] MANIFEST-OR-URL\n"
    "       xdownload play --simulate --rate RATE MANIFEST-OR-URL\n"
    "       xdownload serve [OPTION...] MANIFEST-OR-URL...\n"
    "       xdownload bench [OPTION...] [-o RESULTS] MANIFEST-OR-URL\n"
    "       xdownload bench --summarize RESULTS...\n"
    "       xdownload trace [--summary | --scenario FILE] [-o FILE] TRACE\n"
    "\n"
    "Fetch files that are kept in copies on several servers, from all of them\n"
    "at once.  A manifest (an exNode, a Metalink or a list of URLs; - is\n"
    "standard input) says which server holds which bytes.  URLs lead to\n"
    "manifests, or to copies of one file.\n"
    "\n";

static const char examples[] =
    "\n"
    "Sizes take k, m, g, t (1024); times take ms, s, m, h.  After -- all "
    "words\n"
    "are manifests or URLs, but with play the player's, and after 'get' a\n"
    "manifest may be named 'show'.\n"
    "\n"
    "Examples:\n"
    "  xdownload fedora.meta4\n"
    "  xdownload -o disk.iso https://a.example/d.iso https://b.example/d.iso\n"
    "  xdownload -a progress -R 3 -P 10 -b 2m -t 2 data.xnd\n"
    "  xdownload -q -o - film.xml | mpv -\n"
    "  xdownload play film.xml\n"
    "  xdownload serve film.xml\n"
    "  xdownload -q --report run.json fedora.meta4\n"
    "  xdownload --trace t.json fedora.meta4; xdownload trace t.json >t.svg\n"
    "  xdownload bench -o r.csv -t 1,2,4 --depots drop-one fedora.meta4\n"
    "\n"
    "Exit status: 0 complete, 1 could not be obtained, 2 usage, 3 manifest "
    "not\n"
    "understood, 4 verification failed, 5 trouble with a local file, 130\n"
    "interrupted, 141 the reader of the output went away.\n"
    "All of it stands in xdownload(1).\n";

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

void help_print(void)
{
    struct option_row rows[OPTIONS_MAX];
    const size_t n = options_table(rows);

    fputs(usage, stdout);
    for (size_t i = 0; i < n; i++)
        put_row(&rows[i]);
    fputs(examples, stdout);
}

void help_version(void)
{
    printf("xdownload %s (libxdownload %s, %s)\n", OWN_VERSION, xd_version(),
           xd_version_libcurl());
}

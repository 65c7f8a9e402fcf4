/* SPDX-License-Identifier: MIT */
#include "args/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xdownload/version.h>

#include "args/commands.h"
#include "args/options.h"
#include "command/settings.h"
#include "common/nearest.h"
#include "common/words.h"

#define COLUMNS 79
#define INDENT 30 /* column of the descriptions */

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define OWN_VERSION        \
    TEXT(XD_VERSION_MAJOR) \
    "." TEXT(XD_VERSION_MINOR) "." TEXT(XD_VERSION_PATCH)

static const struct {
    const char *name;
    enum option_group group;
    const char *title;
} groups[] = {
    {"common", GROUP_COMMON, "Common options"},
    {"output", GROUP_OUTPUT, "Output: files and messages"},
    {"network", GROUP_NETWORK, "Network: timeouts, proxies, logins, TLS"},
    {"verification", GROUP_VERIFICATION,
     "Verification: checksums and signatures"},
    {"algorithms", GROUP_ALGORITHMS, "Algorithms: speed and connections"},
};

#define N_GROUPS (sizeof groups / sizeof *groups)

/* Prints words, starting at column *at.  Further lines are indented by
 * INDENT. */
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

/* Prints the options of these commands that are in the groups `in` and not in
 * the groups `printed`. */
static void put_options(const char *title, unsigned commands, unsigned in,
                        unsigned printed)
{
    struct option_row rows[OPTIONS_MAX];
    const size_t n = options_table(rows);
    bool titled = false;

    for (size_t i = 0; i < n; i++) {
        if ((rows[i].commands & commands) == 0 || (rows[i].groups & in) == 0 ||
            (rows[i].groups & printed) != 0)
            continue;
        if (!titled)
            printf("\n%s:\n", title);
        titled = true;
        put_row(&rows[i]);
    }
}

static void put_head(const struct command_row *c)
{
    if (c->command == COMMAND_GET)
        printf("xdownload - %s\n", c->title);
    else
        printf("xdownload %s - %s\n", c->name, c->title);
    printf("\nExamples:\n%s\nUsage:\n%s", c->examples, c->usage);
}

/* Prints the list of commands.  The name of a group appears only beside its
 * first command. */
static void put_commands(void)
{
    const struct command_row *c;
    const char *group = "";

    puts("\nOther commands ('xdownload COMMAND --help' explains one):");
    for (size_t i = 1; (c = commands_at(i)) != NULL; i++) {
        printf("  %-10s%-8s%s\n", strcmp(group, c->group) != 0 ? c->group : "",
               c->name, c->title);
        group = c->group;
    }
}

static const char units[] =
    "\n"
    "Sizes: 64k, 2m, 1g are powers of 1024; 500kB, 2MB, 1GB of 1000.  Rates: "
    "2m,\n"
    "2MB/s, 15Mbit/s.  Times: 500ms, 5s, 10m, 2h, 1d.\n";

static const char status[] =
    "\n"
    "Exit status: 0 complete, 1 download failed, 2 command line, 3 manifest,\n"
    "4 verification failed, 5 local file, 130 interrupted, 141 closed pipe.\n";

static void put_more(enum command command)
{
    const char *name =
        command == COMMAND_GET ? "" : commands_row(command)->name;
    const char *gap = *name != '\0' ? " " : "",
               *dash = *name != '\0' ? "-" : "";

    printf("\nMore: 'xdownload%s%s --help GROUP', with output, network, "
           "verification,\nalgorithms or all as the GROUP; and the manual, "
           "xdownload%s%s(1).\n",
           gap, name, dash, name);
}

static void put_overview(enum command command)
{
    put_head(commands_row(command));
    put_options("Options of this command", command, GROUP_COMMAND, 0);
    put_options(groups[0].title, command, GROUP_COMMON, GROUP_COMMAND);
    fputs(units, stdout);
    if (command == COMMAND_GET) {
        put_commands();
        fputs(status, stdout);
    }
    put_more(command);
}

/* Returns the commands that the help is about.  Without a command, that is all
 * of them. */
static unsigned commands_of(enum command command)
{
    return command == COMMAND_GET ? ~0U : (unsigned)command;
}

static void put_all(enum command command)
{
    const struct command_row *c;
    unsigned printed = 0;

    put_head(commands_row(command));
    for (size_t i = 0; i < N_GROUPS; i++) {
        put_options(groups[i].title, commands_of(command), groups[i].group,
                    printed);
        printed |= groups[i].group;
    }
    for (size_t i = 0; (c = commands_at(i)) != NULL; i++)
        if ((c->command & commands_of(command)) != 0)
            put_options(c->name, c->command, GROUP_COMMAND, 0);
    fputs(units, stdout);
    fputs(status, stdout);
}

const char *help_topic(size_t i)
{
    if (i < N_GROUPS)
        return groups[i].name;
    const struct command_row *c = commands_at(i - N_GROUPS);
    if (c != NULL)
        return c->name;
    return commands_at(i - N_GROUPS - 1) != NULL ? "all" : NULL;
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
        put_options(groups[i].title, commands_of(command), groups[i].group, 0);
        return 0;
    }
    const struct command_row *other = commands_named(topic);
    if (other == NULL)
        return complain_of_topic(topic);
    put_overview(other->command);
    return 0;
}

void help_version(void)
{
    printf("xdownload %s (libxdownload %s, %s)\n", OWN_VERSION, xd_version(),
           xd_version_libcurl());
}

#include "options.h"

#include <string.h>

#define BOTH (COMMAND_GET | COMMAND_SHOW)
#define FETCHING (COMMAND_GET | COMMAND_VERIFY)
#define ALL (COMMAND_GET | COMMAND_SHOW | COMMAND_VERIFY)

static const struct option_row own_rows[] = {
    {OPTION_OUTPUT, BOTH, "output", 'o', "FILE",
     "write to FILE; - is standard output, in order", NULL},
    {OPTION_DIRECTORY, COMMAND_GET, "directory", 'd', "DIR",
     "put the files into this folder", NULL},
    {OPTION_QUIET, ALL, "quiet", 'q', NULL, "say nothing but errors", NULL},
    {OPTION_VERBOSE, FETCHING, "verbose", 'v', NULL,
     "a line for each request: depot, offset, length, seconds, outcome", NULL},
    {OPTION_PROGRESS, FETCHING, "progress", 0, "HOW",
     "auto, bar, plain, none or json", "auto"},
    {OPTION_REPORT, COMMAND_GET, "report", 0, "FILE",
     "write a report in JSON; - is standard error", NULL},
    {OPTION_DRY_RUN, COMMAND_GET, "dry-run", 0, NULL,
     "say what would be fetched, and contact no depot", NULL},
    {OPTION_MANIFESTS, ALL, "manifests", 'M', NULL,
     "what the URLs lead to are manifests, lists of URLs too", NULL},
    {OPTION_FILE, ALL, "file", 0, "NAME",
     "fetch only this file of those that a manifest describes", NULL},
    {OPTION_SET, FETCHING, "set", 0, "NAME=VALUE",
     "set any of the options below, by name", NULL},
    {OPTION_JSON, COMMAND_SHOW, "json", 0, NULL,
     "show: print the manifest as JSON", NULL},
    {OPTION_FORMAT, COMMAND_SHOW, "format", 0, "FORMAT",
     "show: write the manifest as a metalink or an exnode", NULL},
    {OPTION_REPAIR, COMMAND_VERIFY, "repair", 0, NULL,
     "verify: fetch what is wrong of the file", NULL},
    {OPTION_VERSION, ALL, "version", 'V', NULL, "print the versions", NULL},
    {OPTION_HELP, ALL, "help", 'h', NULL, "print this", NULL},
};

/* Letters for options of the library. */
static const struct {
    const char *name;
    char letter;
} letters[] = {
    {"algorithm", 'a'},  {"redundancy", 'R'},        {"progress-number", 'P'},
    {"block-size", 'b'}, {"threads-per-depot", 't'}, {"range", 'r'},
};

static char letter_of(const char *name)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strcmp(letters[i].name, name) == 0)
            return letters[i].letter;
    return 0;
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
    for (size_t i = 0; n < OPTIONS_MAX && xd_option_info(i, &info) > 0; i++)
        if (!is_ours(&info))
            out[n++] = (struct option_row){
                OPTION_LIBRARY,
                FETCHING,
                info.name,
                letter_of(info.name),
                info.argument,
                info.sentence,
                info.argument != NULL ? info.default_value : NULL,
            };
    return n;
}

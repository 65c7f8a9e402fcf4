#include "options.h"

#include <string.h>

#define BOTH (COMMAND_GET | COMMAND_SHOW)

static const struct option_row own_rows[] = {
    {OPTION_OUTPUT, BOTH, "output", 'o', "FILE",
     "write to FILE; - is standard output, in order", NULL},
    {OPTION_DIRECTORY, COMMAND_GET, "directory", 'd', "DIR",
     "put the files into this folder", NULL},
    {OPTION_QUIET, BOTH, "quiet", 'q', NULL, "say nothing but errors", NULL},
    {OPTION_VERBOSE, COMMAND_GET, "verbose", 'v', NULL,
     "a line for each request: depot, offset, length, seconds, outcome", NULL},
    {OPTION_PROGRESS, COMMAND_GET, "progress", 0, "HOW",
     "auto, bar, plain, none or json", "auto"},
    {OPTION_REPORT, COMMAND_GET, "report", 0, "FILE",
     "write a report in JSON; - is standard error", NULL},
    {OPTION_DRY_RUN, COMMAND_GET, "dry-run", 0, NULL,
     "say what would be fetched, and contact no depot", NULL},
    {OPTION_MANIFESTS, BOTH, "manifests", 'M', NULL,
     "what the URLs lead to are manifests, lists of URLs too", NULL},
    {OPTION_FILE, BOTH, "file", 0, "NAME",
     "fetch only this file of those that a manifest describes", NULL},
    {OPTION_SET, COMMAND_GET, "set", 0, "NAME=VALUE",
     "set any of the options below, by name", NULL},
    {OPTION_JSON, COMMAND_SHOW, "json", 0, NULL,
     "show: print the manifest as JSON", NULL},
    {OPTION_FORMAT, COMMAND_SHOW, "format", 0, "FORMAT",
     "show: write the manifest as a metalink or an exnode", NULL},
    {OPTION_VERSION, BOTH, "version", 'V', NULL, "print the versions", NULL},
    {OPTION_HELP, BOTH, "help", 'h', NULL, "print this", NULL},
};

/* What is special about options of the library: a letter, or that they say
 * how a URL is asked what it leads to. */
static const struct special {
    const char *name;
    char letter;
    unsigned commands;
} specials[] = {
    {"algorithm", 'a', COMMAND_GET},
    {"redundancy", 'R', COMMAND_GET},
    {"progress-number", 'P', COMMAND_GET},
    {"block-size", 'b', COMMAND_GET},
    {"threads-per-depot", 't', COMMAND_GET},
    {"range", 'r', COMMAND_GET},
    {"silence", 0, BOTH},
    {"max-time", 'm', BOTH},
    {"connect-timeout", 0, BOTH},
    {"max-redirs", 0, BOTH},
    {"user-agent", 'A', BOTH},
    {"header", 'H', BOTH},
    {"user", 'u', BOTH},
    {"netrc", 'n', BOTH},
    {"netrc-file", 0, BOTH},
    {"oauth2-bearer", 0, BOTH},
    {"auth-host", 0, BOTH},
    {"proxy", 'x', BOTH},
    {"noproxy", 0, BOTH},
    {"cacert", 0, BOTH},
    {"capath", 0, BOTH},
    {"cert", 'E', BOTH},
    {"key", 0, BOTH},
    {"insecure", 'k', BOTH},
    {"interface", 0, BOTH},
    {"ipv4", '4', BOTH},
    {"ipv6", '6', BOTH},
};

static struct special special_of(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0)
            return specials[i];
    return (struct special){name, 0, COMMAND_GET};
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
    for (size_t i = 0; n < OPTIONS_MAX && xd_option_info(i, &info) > 0; i++) {
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

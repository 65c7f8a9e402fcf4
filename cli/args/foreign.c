/* SPDX-License-Identifier: MIT */
#include "args/foreign.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "args/args.h"

static const struct foreign options[] = {
    /* curl */
    {"remote-name", NULL},
    {"show-error", NULL},
    {"fail", NULL},    /* error pages are never saved anyway */
    {"globoff", NULL}, /* URLs contain no patterns */
    {"remote-header-name", "content-disposition"},
    {"silent", "quiet"},
    {"output-dir", "directory"},
    {"parallel-max", "max-files"},
    /* wget */
    {"output-document", "output"},
    {"directory-prefix", "directory"},
    {"ca-certificate", "cacert"},
    {"ca-directory", "capath"},
    {"certificate", "cert"},
    {"private-key", "key"},
    {"no-check-certificate", "insecure"},
    {"max-redirect", "max-redirs"},
    {"tries", "retry"},
    {"bind-address", "interface"},
    {"inet4-only", "ipv4"},
    {"inet6-only", "ipv6"},
    {"no-clobber", NULL}, /* files are only replaced with --force */
    /* aria2 */
    {"dir", "directory"},
    {"out", "output"},
    {"max-tries", "retry"},
    {"max-connection-per-server", "threads-per-depot"},
    {"max-overall-download-limit", "limit-rate"},
    {"max-concurrent-downloads", "max-files"},
    {"all-proxy", "proxy"},
};

const struct foreign *foreign_option(size_t i)
{
    return i < sizeof options / sizeof *options ? &options[i] : NULL;
}

#define NOT_RECURSIVE                                               \
    "no links of a page are followed: write the URLs into a file, " \
    "for --input-file"
#define GROWS "leave it out: the pauses between attempts grow by themselves"
#define IS_RELIEVED "leave it out: a slow depot gives its bytes to others"

/* Advice for options that we do not have.  Letters are listed if their meaning
 * differs between curl, wget, aria2 and this command. */
static const struct {
    const char *typed, *sentence;
} advice[] = {
    {"--split", "use -t N, which is the number of connections to each depot"},
    {"--timeout", "use --silence TIME for a pause between bytes, "
                  "--connect-timeout TIME or --max-time TIME for the whole"},
    {"--read-timeout", "use --silence TIME"},
    {"--check-certificate", "use --insecure to accept any certificate"},
    {"--allow-overwrite", "use --force to replace an existing file"},
    {"--http-user", "use --user NAME:PASSWORD"},
    {"--http-passwd", "use --user NAME:PASSWORD"},
    {"--http-password", "use --user NAME:PASSWORD"},
    {"--password", "use --user NAME:PASSWORD"},
    {"--http-proxy", "use --proxy URL"},
    {"--https-proxy", "use --proxy URL"},
    {"--no-proxy", "use --proxy '' for no proxy, or --noproxy HOSTS"},
    {"--proxy-user", "use --proxy http://NAME:PASSWORD@HOST:PORT"},
    {"--cookie", "use --header 'Cookie: NAME=VALUE'"},
    {"--load-cookies", "use --header 'Cookie: NAME=VALUE'"},
    {"--compressed", "leave it out: the file is stored as it is"},
    {"--metalink-file", "give the Metalink without an option"},
    {"--input-metalink", "give the Metalink without an option"},
    {"--continue-at", "use --continue"},
    {"--create-dirs", "make the folder first"},
    {"--spider", "use xdownload show URL"},
    {"--head", "use xdownload show URL"},
    {"--recursive", NOT_RECURSIVE},
    {"--mirror", NOT_RECURSIVE},
    {"--retry-delay", GROWS},
    {"--waitretry", GROWS},
    {"--retry-max-time", "use --max-time TIME"},
    {"--speed-limit", IS_RELIEVED},
    {"--speed-time", IS_RELIEVED},
    {"--no-verbose", "use --quiet"},
    {"--check-integrity", "use xdownload verify MANIFEST FILE"},
    {"--max-download-limit", "use --limit-rate RATE, which is for all depots "
                             "together"},
    {"--min-split-size", "use --block-size SIZE"},
    {"--lowest-speed-limit", IS_RELIEVED},
    {"--file-allocation", "leave it out: the space is reserved if the disk "
                          "allows it"},
    {"-O", "use -o FILE to name the file; without it the file is named like "
           "the end of its URL"},
    {"-s", "use -q to print nothing but errors, or -t N for N connections to "
           "each depot"},
    {"-L", "leave it out: redirects are followed"},
    {"-C", "use -c to continue what another program began"},
    {"-J", "use --content-disposition, or -o FILE"},
    {"-S", "use -v for a line about each request"},
    {"-T", "use --silence TIME for a pause between bytes, or --max-time TIME "
           "for the whole"},
    {"-U", "use -A NAME for the User-Agent"},
    {"-e", "use --referer URL"},
    {"-f", "leave it out: an answer that is an error is never saved"},
    {"-#", "use --progress bar"},
    {"-I", "use xdownload show URL"},
    {"-X", "leave it out: each file is asked for with GET"},
    {"-nc", "leave it out: no file is replaced without --force"},
    {"-nv", "use -q to print nothing but errors"},
    {"-nd", "leave it out: no folders are made for a URL"},
    {"-nH", "leave it out: no folders are made for a URL"},
};

const char *foreign_advice(const char *typed, size_t len)
{
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (strlen(advice[i].typed) == len &&
            strncmp(advice[i].typed, typed, len) == 0)
            return advice[i].sentence;
    return NULL;
}

/* A number of at most this many digits is not taken for a host name. */
#define COUNT_DIGITS 4

#define MOST_THREADS 16 /* limit of --threads-per-depot */

static bool is_count(const char *value)
{
    const size_t digits = strspn(value, "0123456789");

    return digits > 0 && digits <= COUNT_DIGITS && value[digits] == '\0';
}

static bool is_folder(const char *value)
{
    return strchr("0123456789-,", *value) == NULL &&
           strstr(value, "auto") == NULL;
}

const char *foreign_value_advice(const char *name, const char *value)
{
    if (strcmp(name, "proxy") == 0 && is_count(value))
        return "-x is the proxy: use -t N for N connections to each depot";
    if (strcmp(name, "redundancy") == 0 && args_is_url(value))
        return "-R is the redundancy of an algorithm: use --remote-time for "
               "the time of the file";
    if (strcmp(name, "location") == 0 && (*value == '-' || args_is_url(value)))
        return "--location takes country codes: redirects are followed without "
               "it";
    if ((strcmp(name, "range") == 0 || strcmp(name, "max-time") == 0) &&
        args_is_url(value))
        return NOT_RECURSIVE;
    if (strcmp(name, "input-file") == 0 && args_is_url(value))
        return "-i takes the name of a list: give the URL without it";
    if (strcmp(name, "threads-per-depot") == 0 && is_count(value) &&
        strtol(value, NULL, 10) > MOST_THREADS)
        return "-t is the number of connections to each depot, at most 16: use "
               "--retry N for attempts, --silence TIME for a pause";
    if (strcmp(name, "block-size") == 0 && strchr(value, '=') != NULL)
        return "-b is the size of blocks: use --header 'Cookie: NAME=VALUE'";
    if (strcmp(name, "progress-number") == 0 && is_folder(value))
        return "-P is the progress number of an algorithm: use -d DIR for the "
               "folder of the file";
    return NULL;
}

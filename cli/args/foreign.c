/* SPDX-License-Identifier: MIT */
#include "args/foreign.h"

#include <stdbool.h>
#include <string.h>

static const struct foreign options[] = {
    /* curl */
    {"remote-name", NULL},
    {"show-error", NULL},
    {"remote-header-name", "content-disposition"},
    {"silent", "quiet"},
    {"output-dir", "directory"},
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
    {"no-clobber", NULL}, /* no file is replaced without --force */
    /* aria2 */
    {"dir", "directory"},
    {"out", "output"},
    {"max-tries", "retry"},
    {"max-connection-per-server", "threads-per-depot"},
    {"max-overall-download-limit", "limit-rate"},
    {"all-proxy", "proxy"},
};

const struct foreign *foreign_option(size_t i)
{
    return i < sizeof options / sizeof *options ? &options[i] : NULL;
}

struct advice {
    const char *name, *sentence;
};

static const struct advice names[] = {
    {"split", "use -t N, which is the number of connections to each depot"},
    {"timeout", "use --silence TIME for a pause between bytes, "
                "--connect-timeout TIME or --max-time TIME for the whole"},
    {"read-timeout", "use --silence TIME"},
    {"check-certificate", "use --insecure to accept any certificate"},
    {"allow-overwrite", "use --force to replace an existing file"},
    {"http-user", "use --user NAME:PASSWORD"},
    {"http-passwd", "use --user NAME:PASSWORD"},
    {"http-password", "use --user NAME:PASSWORD"},
    {"password", "use --user NAME:PASSWORD"},
    {"http-proxy", "use --proxy URL"},
    {"https-proxy", "use --proxy URL"},
    {"no-proxy", "use --proxy '' for no proxy, or --noproxy HOSTS"},
    {"cookie", "use --header 'Cookie: NAME=VALUE'"},
    {"load-cookies", "use --header 'Cookie: NAME=VALUE'"},
    {"fail", "leave it out: an answer that is an error is never saved"},
    {"compressed", "leave it out: the file is stored as it is"},
    {"metalink-file", "give the Metalink without an option"},
    {"input-metalink", "give the Metalink without an option"},
    {"max-download-limit", "use --limit-rate RATE, which is for all depots "
                           "together"},
    {"min-split-size", "use --block-size SIZE"},
    {"lowest-speed-limit", "leave it out: a slow depot gives its bytes to "
                           "others"},
    {"file-allocation", "leave it out: the space is reserved if the disk "
                        "allows it"},
};

/* Where curl, wget and aria2 differ, or differ from us. */
static const struct {
    char letter;
    const char *sentence;
} letters[] = {
    {'O', "use -o FILE to name the file; without it the file is named like "
          "the end of its URL"},
    {'s', "use -q to print nothing but errors, or -t N for N connections to "
          "each depot"},
    {'L', "leave it out: redirects are followed"},
    {'C', "use -c to continue what another program began"},
    {'J', "use --content-disposition, or -o FILE"},
    {'S', "use -v for a line about each request"},
    {'T', "use --silence TIME for a pause between bytes, or --max-time TIME "
          "for the whole"},
    {'U', "use -A NAME for the User-Agent"},
    {'e', "use --referer URL"},
    {'f', "leave it out: an answer that is an error is never saved"},
    {'#', "use --progress bar"},
};

const char *foreign_advice(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len &&
            strncmp(names[i].name, name, len) == 0)
            return names[i].sentence;
    return NULL;
}

const char *foreign_letter_advice(int letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return letters[i].sentence;
    return NULL;
}

/* Of this many digits no host is named. */
#define COUNT_DIGITS 4

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
    if (strcmp(name, "redundancy") == 0 && strstr(value, "://") != NULL)
        return "-R is the redundancy of an algorithm: use --remote-time for "
               "the time of the file";
    if (strcmp(name, "location") == 0 &&
        (*value == '-' || strstr(value, "://") != NULL))
        return "--location takes country codes: redirects are followed without "
               "it";
    if (strcmp(name, "progress-number") == 0 && is_folder(value))
        return "-P is the progress number of an algorithm: use -d DIR for the "
               "folder of the file";
    return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "common/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/lists.h"
#include "common/status.h"
#include "common/text.h"

/* Limit of warnings.  A manifest with 10,000 bad URLs must not flood the
 * terminal. */
#define WARNINGS 10

/* Returns the end of a URL in a sentence.  Punctuation after the URL does not
 * belong to it. */
static char *end_of_url(char *url)
{
    char *end = url + strcspn(url, " ");

    return end > url && strchr(":,;", end[-1]) != NULL ? end - 1 : end;
}

/* Replaces words like "name:password@host", which are URLs without a scheme, by
 * the host. */
static void hide_logins(char *line)
{
    for (char *word = line; *word != '\0';) {
        char *end = word + strcspn(word, " ");
        const char mark = *end;
        size_t len;

        *end = '\0';
        const size_t begin = text_login(word, &len);
        *end = mark;
        if (begin == 0 && len > 0) {
            memmove(word, word + len + 1, strlen(word + len + 1) + 1);
            end -= len + 1;
        }
        word = end + strspn(end, " ");
    }
}

/* Removes user names, passwords and queries from all URLs. */
static void hide_secrets(char *line)
{
    for (char *at = line; (at = strstr(at, "://")) != NULL;) {
        at += 3;
        const size_t len = strcspn(at, " /?#");
        const char *host = at + len;
        while (host > at && host[-1] != '@')
            host--;
        memmove(at, host, strlen(host) + 1);
        char *query = at + strcspn(at, " ?#");
        const char *end = end_of_url(at);
        if (query < end)
            memmove(query, end, strlen(end) + 1);
    }
}

static void print(const char *head, const char *format, va_list args)
    XD_PRINTF(2, 0);

static void print(const char *head, const char *format, va_list args)
{
    char line[5000]; /* enough for a sentence and the longest path */

    vsnprintf(line, sizeof line, format, args);
    hide_secrets(line);
    hide_logins(line);
    fprintf(stderr, "xdownload: %s", head);
    text_put(stderr, line);
    putc('\n', stderr);
}

void words_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print("", format, args);
    va_end(args);
}

/* the subcommand, for the hint about its help */
static const char *command = "";

void words_set_command(const char *name)
{
    command = name;
}

int words_usage(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print("", format, args);
    va_end(args);
    fprintf(stderr, "try 'xdownload%s%s --help'\n",
            command[0] != '\0' ? " " : "", command);
    return STATUS_USAGE;
}

void words_warning(size_t n, const char *format, ...)
{
    va_list args;

    if (n >= WARNINGS)
        return;
    va_start(args, format);
    print("warning: ", format, args);
    va_end(args);
}

void words_end_warnings(size_t n)
{
    if (n > WARNINGS)
        words_error("warning: and %zu more like these", n - WARNINGS);
}

void words_warnings(const struct xd_manifest *m)
{
    const char *warning;
    size_t n = 0;

    for (; (warning = xd_manifest_warning(m, n)) != NULL; n++)
        words_warning(n, "%s", warning);
    words_end_warnings(n);
}

void words_list_warnings(const struct xd_list *l)
{
    const char *warning;
    size_t n = 0;

    for (; (warning = xd_list_warning(l, n)) != NULL; n++)
        words_warning(n, "%s", warning);
    words_end_warnings(n);
}

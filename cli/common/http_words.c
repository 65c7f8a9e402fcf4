/* SPDX-License-Identifier: MIT */
#include "common/http_words.h"

#include <string.h>
#include <strings.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "common/text.h"

#define DIGITS "0123456789"
#define PLAIN                    \
    "abcdefghijklmnopqrstuvwxyz" \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-._~"

/* Parses a number.  Values that are too large become UINT64_MAX.  Returns false
 * if there are no digits. */
static bool take_number(const char **at, uint64_t *out)
{
    const size_t len = strspn(*at, DIGITS);
    uint64_t n = 0;

    for (size_t i = 0; i < len; i++) {
        const uint64_t digit = (uint64_t)((*at)[i] - '0');
        n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * n + digit;
    }
    *at += len;
    *out = n;
    return len > 0;
}

static enum http_range cut(uint64_t begin, uint64_t end, uint64_t size,
                           uint64_t *out_begin, uint64_t *out_end)
{
    if (begin >= size || begin >= end)
        return HTTP_RANGE_OUTSIDE;
    *out_begin = begin;
    *out_end = end < size ? end : size;
    return HTTP_RANGE_SOME;
}

enum http_range http_range(const char *value, uint64_t size,
                           uint64_t *out_begin, uint64_t *out_end)
{
    uint64_t first, last;

    if (value == NULL || strncasecmp(value, "bytes=", 6) != 0)
        return HTTP_RANGE_NONE;
    const char *at = value + 6;
    const bool has_first = take_number(&at, &first);
    if (*at++ != '-')
        return HTTP_RANGE_NONE;
    const bool has_last = take_number(&at, &last);
    if (*at != '\0' || (!has_first && !has_last))
        return HTTP_RANGE_NONE;
    if (!has_first)
        return cut(last < size ? size - last : 0, last > 0 ? size : 0, size,
                   out_begin, out_end);
    if (!has_last)
        last = UINT64_MAX;
    if (last < first)
        return HTTP_RANGE_NONE;
    return cut(first, last < UINT64_MAX ? last + 1 : last, size, out_begin,
               out_end);
}

bool http_lists_tag(const char *list, const char *tag, bool weak)
{
    const size_t len = strlen(tag);

    if (strcmp(list, "*") == 0)
        return true;
    for (;;) {
        list += strspn(list, ", \t");
        const bool is_weak = strncmp(list, "W/", 2) == 0;
        list += is_weak ? 2 : 0;
        if (*list != '"')
            return false;
        const size_t quoted = 1 + strcspn(list + 1, "\"");
        if (list[quoted] == '\0')
            return false;
        if (quoted + 1 == len && strncmp(list, tag, len) == 0 &&
            (weak || !is_weak))
            return true;
        list += quoted + 1;
    }
}

/* Splits "NAME", "NAME:PORT", "[ADDRESS]" or "[ADDRESS]:PORT".  Returns false
 * for other forms. */
static bool split_host(const char *host, char *name, size_t room)
{
    const bool is_v6 = *host == '[';
    const size_t len = strcspn(host + is_v6, is_v6 ? "]" : ":");
    const char *rest = host + is_v6 + len + is_v6;

    if (len >= room || (is_v6 && host[1 + len] != ']'))
        return false;
    memcpy(name, host + is_v6, len);
    name[len] = '\0';
    return *rest == '\0' ||
           (*rest == ':' && rest[1 + strspn(rest + 1, DIGITS)] == '\0');
}

/* Returns true for localhost and names that end in ".localhost".  Nobody can
 * register them, and they resolve to the loopback address (RFC 6761 section
 * 6.3). */
static bool is_localhost(const char *name)
{
    const size_t len = strlen(name), suffix = strlen(".localhost");

    return strcasecmp(name, "localhost") == 0 ||
           (len > suffix && strcasecmp(name + len - suffix, ".localhost") == 0);
}

bool http_host_is_ours(const char *host, bool loopback)
{
    char name[256];
    struct in_addr v4;
    struct in6_addr v6;

    if (!split_host(host, name, sizeof name))
        return false;
    if (is_localhost(name))
        return true;
    if (inet_pton(AF_INET, name, &v4) == 1)
        return !loopback || ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
    return *host == '[' && inet_pton(AF_INET6, name, &v6) == 1 &&
           (!loopback || IN6_IS_ADDR_LOOPBACK(&v6));
}

const char *http_type(const char *name)
{
    /* None of these types lets a browser execute the content as part of our
     * site. */
    static const char *const types[][2] = {
        {"mp4", "video/mp4"},        {"m4v", "video/mp4"},
        {"mkv", "video/x-matroska"}, {"webm", "video/webm"},
        {"ts", "video/mp2t"},        {"m2ts", "video/mp2t"},
        {"mov", "video/quicktime"},  {"avi", "video/x-msvideo"},
        {"mpg", "video/mpeg"},       {"mpeg", "video/mpeg"},
        {"ogv", "video/ogg"},        {"flv", "video/x-flv"},
        {"mp3", "audio/mpeg"},       {"m4a", "audio/mp4"},
        {"aac", "audio/aac"},        {"ogg", "audio/ogg"},
        {"oga", "audio/ogg"},        {"opus", "audio/ogg"},
        {"flac", "audio/flac"},      {"wav", "audio/wav"},
        {"vtt", "text/vtt"},         {"txt", "text/plain; charset=utf-8"},
        {"jpg", "image/jpeg"},       {"jpeg", "image/jpeg"},
        {"png", "image/png"},        {"pdf", "application/pdf"},
        {"zip", "application/zip"},  {"gz", "application/gzip"},
    };
    const char *dot = name != NULL ? strrchr(name, '.') : NULL;

    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(types[i][0], dot + 1) == 0)
            return types[i][1];
    return "application/octet-stream";
}

bool http_is_plain(const char *word)
{
    return word[strspn(word, PLAIN)] == '\0';
}

void http_encode(char *out, size_t room, const char *s)
{
    for (size_t at = strlen(out); *s != '\0' && at + 3 < room; s++) {
        const bool is_plain = strchr(PLAIN, *s) != NULL;
        snprintf(out + at, room - at, is_plain ? "%c" : "%%%02X",
                 (unsigned char)*s);
        at += is_plain ? 1 : 3;
    }
}

void http_put_html(FILE *to, const char *s)
{
    uint32_t rune;

    for (size_t len; (len = text_rune(s, &rune)) > 0; s += len)
        if (rune < ' ')
            putc('?', to);
        else if (rune < 128 && strchr("&<>\"'", (int)rune) != NULL)
            fprintf(to, "&#%u;", (unsigned)rune);
        else
            fprintf(to, "%.*s", (int)len, s);
}

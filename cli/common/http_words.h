/* SPDX-License-Identifier: MIT */
/*
 * Parses HTTP header values, and encodes names for HTTP and HTML.  Pure.
 */
#ifndef CLI_HTTP_WORDS_H
#define CLI_HTTP_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum http_range {
    /* no range, or a range that may be ignored: send the whole file */
    HTTP_RANGE_NONE,
    HTTP_RANGE_SOME,
    HTTP_RANGE_OUTSIDE /* the range is outside the file: status 416 */
};

/* Parses the value of a Range header, which may be NULL, for a file of `size`
 * bytes.  Only single ranges are supported, because no client needs several at
 * a time. */
enum http_range http_range(const char *value, uint64_t size,
                           uint64_t *out_begin, uint64_t *out_end);

/* Returns whether the list of an If-None-Match or If-Match header contains "*"
 * or this strong, quoted tag.  Weak tags in the list match only if `weak` is
 * true. */
bool http_lists_tag(const char *list, const char *tag, bool weak);

/*
 * Returns true if `host`, the value of a Host header, is localhost, a name that
 * ends in ".localhost", or an address.  If `loopback` is true, only loopback
 * addresses count.  This check defeats DNS rebinding, for which an attacker
 * needs a host name.
 */
bool http_host_is_ours(const char *host, bool loopback);

/* Returns the media type for a file name, which may be NULL. */
const char *http_type(const char *name);

/* Returns whether a word needs no escaping in a path. */
bool http_is_plain(const char *word);

/* Appends `s` to `out`, escaped for a path: "a%20b". */
void http_encode(char *out, size_t room, const char *s);

/* Writes `s` escaped for HTML, without control characters. */
void http_put_html(FILE *to, const char *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What HTTP and its clients say, read; and names, written for them.  Pure.
 */
#ifndef CLI_HTTP_WORDS_H
#define CLI_HTTP_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum http_range {
    HTTP_RANGE_NONE, /* none, or none that has to be understood: the whole */
    HTTP_RANGE_SOME,
    HTTP_RANGE_OUTSIDE /* 416 */
};

/* What `Range: value` (or NULL) asks of so many bytes: a single range, since no
 * client needs more than one at a time. */
enum http_range http_range(const char *value, uint64_t size,
                           uint64_t *out_begin, uint64_t *out_end);

/* Whether the list of an If-None-Match or If-Match has this strong tag, which stands
 * in quotes, or all ("*"); a weak one there counts if `weak`. */
bool http_lists_tag(const char *list, const char *tag, bool weak);

/*
 * Whether a Host names this machine by an address, or as localhost; if
 * `loopback`, by an address of the loopback.  DNS rebinding, by which a browser
 * takes us for another server, needs a name for it.
 */
bool http_host_is_ours(const char *host, bool loopback);

/* The media type that the name (or NULL) of a file tells. */
const char *http_type(const char *name);

/* Whether a word can stand in a path as it is. */
bool http_is_plain(const char *word);

/* `s` behind what is in `out` already, as a part of a path: "a%20b". */
void http_encode(char *out, size_t room, const char *s);

/* As text of HTML, without control characters. */
void http_put_html(FILE *to, const char *s);

#endif

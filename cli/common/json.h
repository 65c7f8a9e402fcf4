/* SPDX-License-Identifier: MIT */
/*
 * A writer of JSON (RFC 8259) to a stream: it knows where commas go and how
 * strings are escaped; what is not UTF-8 becomes U+FFFD.
 *
 * A `name` is the member's name within an object, and NULL within an array or
 * at the top.  Write errors stay in the stream, for ferror().
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *to;
    bool comma; /* something precedes the next value at this level */
};

void json_init(struct json *j, FILE *to);

void json_open_object(struct json *j, const char *name);
void json_close_object(struct json *j);
void json_open_array(struct json *j, const char *name);
void json_close_array(struct json *j);

void json_null(struct json *j, const char *name);
void json_string(struct json *j, const char *name, const char *s); /* NULL:
                                                                      null */
void json_bool(struct json *j, const char *name, bool b);
void json_count(struct json *j, const char *name, uint64_t n);
/* null if XD_SIZE_UNKNOWN */
void json_size(struct json *j, const char *name, uint64_t bytes);
void json_number(struct json *j, const char *name, double x); /* null if not
                                                                 finite */

/* Text that is a number already. */
void json_literal(struct json *j, const char *name, const char *number);

/* The document is at its end: a newline. */
void json_end(struct json *j);

#endif

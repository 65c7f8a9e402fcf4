/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON (RFC 8259) to a stream: handles commas and escaping.  Bytes that
 * are not UTF-8 become U+FFFD.
 *
 * `name` is the member's name in an object, NULL in an array or at the top.
 * Errors are not reported; use ferror() on the stream.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *to;
    bool comma; /* a value was written at this level already */
};

void json_init(struct json *j, FILE *to);

/* begin() starts a document that is an object.  finish() closes the object and
 * adds a newline. */
void json_begin(struct json *j, FILE *to);
void json_finish(struct json *j);

void json_open_object(struct json *j, const char *name);
void json_close_object(struct json *j);
void json_open_array(struct json *j, const char *name);
void json_close_array(struct json *j);

/* The functions below write null for the value that their comment names. */
void json_null(struct json *j, const char *name);
/* null for NULL */
void json_string(struct json *j, const char *name, const char *s);
void json_bool(struct json *j, const char *name, bool b);
void json_count(struct json *j, const char *name, uint64_t n);
/* null for 0 */
void json_positive(struct json *j, const char *name, uint64_t n);
void json_size(struct json *j, const char *name,
               uint64_t bytes); /* null for XD_SIZE_UNKNOWN */
void json_number(struct json *j, const char *name,
                 double x); /* null if infinite or NaN */
/* null if negative */
void json_time(struct json *j, const char *name, double s);

/* Writes a number from a string of digits. */
void json_literal(struct json *j, const char *name, const char *number);

/* Ends the document with a newline. */
void json_end(struct json *j);

#endif

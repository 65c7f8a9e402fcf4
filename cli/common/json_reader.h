/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON (RFC 8259) from a stream, one token at a time, in bounded memory.
 * The input may be hostile, and may be gigabytes long.
 */
#ifndef CLI_JSON_READER_H
#define CLI_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_TEXT 32768 /* longer strings are truncated */

enum json_token {
    JSON_END, /* end of the stream */
    JSON_BAD, /* not JSON */
    JSON_OPEN_ARRAY,
    JSON_CLOSE_ARRAY,
    JSON_OPEN_OBJECT,
    JSON_CLOSE_OBJECT,
    /* string in `text`, as UTF-8; names of members are strings too */
    JSON_STRING,
    JSON_NUMBER, /* in `number` */
    JSON_WORD,   /* true, false or null, in `text` */
    JSON_COMMA,
    JSON_COLON
};

struct json_reader {
    FILE *from;
    uint64_t line; /* line number of the last token, from 1 */
    double number;
    char text[JSON_TEXT];
};

void json_reader_init(struct json_reader *r, FILE *from);

enum json_token json_reader_next(struct json_reader *r);

/* Skips the value that starts with `token`.  Returns false if it is not a
 * value, or is nested more than 32 levels deep. */
bool json_reader_skip(struct json_reader *r, enum json_token token);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON (RFC 8259) from a stream, a token at a time, in bounded memory: what
 * comes in may be hostile, and gigabytes long.
 */
#ifndef CLI_JSON_READER_H
#define CLI_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_TEXT 1024 /* longer strings are cut */

enum json_token {
    JSON_END, /* of the stream */
    JSON_BAD, /* no JSON */
    JSON_OPEN_ARRAY,
    JSON_CLOSE_ARRAY,
    JSON_OPEN_OBJECT,
    JSON_CLOSE_OBJECT,
    JSON_STRING, /* in `text`, as UTF-8; in an object also a name */
    JSON_NUMBER, /* in `number` */
    JSON_WORD,   /* true, false or null, in `text` */
    JSON_COMMA,
    JSON_COLON
};

struct json_reader {
    FILE *from;
    uint64_t line; /* of the last token, from 1 on */
    double number;
    char text[JSON_TEXT];
};

void json_reader_init(struct json_reader *r, FILE *from);

enum json_token json_reader_next(struct json_reader *r);

/* Pass over the value that begins with `token`, at most 32 deep; false: it is
 * none. */
bool json_reader_skip(struct json_reader *r, enum json_token token);

#endif

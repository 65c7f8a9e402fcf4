/* SPDX-License-Identifier: MIT */
#include "common/json.h"

#include <inttypes.h>
#include <math.h>

#include <xdownload/manifest.h>

#include "common/text.h"

/* Writes \uXXXX.  A character above U+FFFF becomes two surrogates. */
static void put_escaped(FILE *to, uint32_t rune)
{
    if (rune < 0x10000)
        fprintf(to, "\\u%04x", (unsigned)rune);
    else
        fprintf(to, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (rune >> 10)),
                (unsigned)(0xdc00 + (rune & 0x3ff)));
}

static void put_string(FILE *to, const char *s)
{
    uint32_t rune;

    putc('"', to);
    for (size_t n; (n = text_rune(s, &rune)) > 0; s += n) {
        if (rune == '"' || rune == '\\')
            fprintf(to, "\\%c", (int)rune);
        else if (rune == 0xfffd)
            fputs("\\ufffd", to); /* the bytes of `s` may be invalid here */
        else if (text_is_deceptive(rune))
            put_escaped(to, rune);
        else
            fwrite(s, 1, n, to);
    }
    putc('"', to);
}

/* Writes the comma and the name before a value. */
static void lead(struct json *j, const char *name)
{
    if (j->comma)
        putc(',', j->to);
    j->comma = true;
    if (name != NULL) {
        put_string(j->to, name);
        putc(':', j->to);
    }
}

void json_init(struct json *j, FILE *to)
{
    *j = (struct json){.to = to};
}

static void open_level(struct json *j, const char *name, char bracket)
{
    lead(j, name);
    putc(bracket, j->to);
    j->comma = false;
}

static void close_level(struct json *j, char bracket)
{
    putc(bracket, j->to);
    j->comma = true;
}

void json_open_object(struct json *j, const char *name)
{
    open_level(j, name, '{');
}

void json_close_object(struct json *j)
{
    close_level(j, '}');
}

void json_open_array(struct json *j, const char *name)
{
    open_level(j, name, '[');
}

void json_close_array(struct json *j)
{
    close_level(j, ']');
}

void json_null(struct json *j, const char *name)
{
    lead(j, name);
    fputs("null", j->to);
}

void json_string(struct json *j, const char *name, const char *s)
{
    if (s == NULL) {
        json_null(j, name);
        return;
    }
    lead(j, name);
    put_string(j->to, s);
}

void json_bool(struct json *j, const char *name, bool b)
{
    lead(j, name);
    fputs(b ? "true" : "false", j->to);
}

void json_count(struct json *j, const char *name, uint64_t n)
{
    lead(j, name);
    fprintf(j->to, "%" PRIu64, n);
}

void json_size(struct json *j, const char *name, uint64_t bytes)
{
    if (bytes == XD_SIZE_UNKNOWN)
        json_null(j, name);
    else
        json_count(j, name, bytes);
}

void json_positive(struct json *j, const char *name, uint64_t n)
{
    json_size(j, name, n > 0 ? n : XD_SIZE_UNKNOWN);
}

void json_number(struct json *j, const char *name, double x)
{
    if (!isfinite(x)) {
        json_null(j, name);
        return;
    }
    lead(j, name);
    fprintf(j->to, "%.6f", x);
}

void json_time(struct json *j, const char *name, double s)
{
    json_number(j, name, s >= 0 ? s : (double)NAN);
}

void json_literal(struct json *j, const char *name, const char *number)
{
    lead(j, name);
    fputs(number, j->to);
}

void json_end(struct json *j)
{
    putc('\n', j->to);
    j->comma = false;
}

void json_begin(struct json *j, FILE *to)
{
    json_init(j, to);
    json_open_object(j, NULL);
}

void json_finish(struct json *j)
{
    json_close_object(j);
    json_end(j);
}

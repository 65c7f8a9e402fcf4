/* SPDX-License-Identifier: MIT */
#include "bench/row.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A number as strtod() and JSON both understand it, or nothing. */
static bool fits(const struct row *r, enum column c)
{
    const char *text = row_get(r, c);
    char *end;

    if (text[0] == '\0' || !column_is_number(c))
        return true;
    if (strspn(text, "0123456789.e+-") != strlen(text))
        return false;
    (void)strtod(text, &end);
    return *end == '\0';
}

/* A row of this format whose last column says how the run ended: one that was
 * cut off does not. */
static bool is_whole(const struct row *r)
{
    const char *outcome = row_get(r, COL_OUTCOME);

    for (int c = 0; c < COLUMNS; c++)
        if (!fits(r, (enum column)c))
            return false;
    return strcmp(row_get(r, COL_FORMAT), ROW_FORMAT) == 0 &&
           (strcmp(outcome, OUTCOME_COMPLETE) == 0 ||
            strcmp(outcome, OUTCOME_FAILED) == 0);
}

static bool keep(struct row *r, bool is_read)
{
    if (is_read && is_whole(r))
        return true;
    row_fini(r);
    return false;
}

/* ---- CSV ---- */

/* A cell of the line into `cell`; returns what is behind it, or NULL if its
 * quotes are wrong. */
static const char *read_csv_cell(const char *line, char *cell)
{
    if (*line != '"') {
        const size_t len = strcspn(line, ",");
        memcpy(cell, line, len);
        cell[len] = '\0';
        return memchr(cell, '"', len) == NULL ? line + len : NULL;
    }
    for (line++; *line != '\0'; line++) {
        if (*line == '"' && *++line != '"') {
            *cell = '\0';
            return *line == ',' || *line == '\0' ? line : NULL;
        }
        *cell++ = *line;
    }
    return NULL;
}

static bool read_csv(struct row *r, const char *line, char *cell)
{
    for (int c = 0; c < COLUMNS; c++) {
        line = read_csv_cell(line, cell);
        if (line == NULL || *line != (c < COLUMNS - 1 ? ',' : '\0'))
            return false;
        if (*cell != '\0' && !row_set(r, (enum column)c, "%s", cell))
            return false;
        line += *line == ',';
    }
    return true;
}

bool row_read_csv(struct row *r, const char *line)
{
    char *cell = malloc(strlen(line) + 1);

    *r = (struct row){{NULL}};
    const bool is_read = cell != NULL && read_csv(r, line, cell);
    free(cell);
    return keep(r, is_read);
}

bool row_are_titles(const char *line)
{
    for (int c = 0; c < COLUMNS; c++) {
        const char *name = column_name((enum column)c);
        const size_t len = strlen(name);
        if (strncmp(line, name, len) != 0 ||
            line[len] != (c < COLUMNS - 1 ? ',' : '\0'))
            return false;
        line += len + 1;
    }
    return true;
}

/* ---- JSON: one object without others in it, as row_put_json() writes it ---- */

static size_t put_utf8(char *to, uint32_t rune)
{
    if (rune < 0x80) {
        to[0] = (char)rune;
        return 1;
    }
    if (rune < 0x800) {
        to[0] = (char)(0xc0 | rune >> 6);
        to[1] = (char)(0x80 | (rune & 0x3f));
        return 2;
    }
    if (rune < 0x10000) {
        to[0] = (char)(0xe0 | rune >> 12);
        to[1] = (char)(0x80 | (rune >> 6 & 0x3f));
        to[2] = (char)(0x80 | (rune & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | rune >> 18);
    to[1] = (char)(0x80 | (rune >> 12 & 0x3f));
    to[2] = (char)(0x80 | (rune >> 6 & 0x3f));
    to[3] = (char)(0x80 | (rune & 0x3f));
    return 4;
}

/* Four hex digits; -1 if they are not there. */
static long read_hex(const char *at)
{
    char digits[5] = "";

    if (strspn(at, "0123456789abcdefABCDEF") < 4)
        return -1;
    memcpy(digits, at, 4);
    return strtol(digits, NULL, 16);
}

/* What stands behind "\u"; *out_len is how much of it is read, or 0. */
static uint32_t read_escape(const char *at, size_t *out_len)
{
    const long high = read_hex(at);

    *out_len = high > 0 ? 4 : 0;
    if (high < 0xd800 || high > 0xdbff)
        return high > 0 ? (uint32_t)high : 0;
    const long low = strncmp(at + 4, "\\u", 2) == 0 ? read_hex(at + 6) : -1;
    *out_len = low >= 0xdc00 && low <= 0xdfff ? 10 : 0;
    return 0x10000 + ((uint32_t)(high - 0xd800) << 10) +
           (uint32_t)(low & 0x3ff);
}

/* A string behind its first quote into `out`, which has room for the line. */
static const char *read_string(const char *at, char *out)
{
    for (; *at != '\0' && *at != '"'; at++) {
        size_t len;

        if (*at != '\\') {
            *out++ = *at;
            continue;
        }
        at++;
        if (*at == '"' || *at == '\\' || *at == '/') {
            *out++ = *at;
        } else if (*at == 'u') {
            const uint32_t rune = read_escape(at + 1, &len);
            if (len == 0)
                return NULL;
            out += put_utf8(out, rune);
            at += len;
        } else if (*at != '\0' && strchr("bfnrt", *at) != NULL) {
            *out++ = ' ';
        } else {
            return NULL;
        }
    }
    *out = '\0';
    return *at == '"' ? at + 1 : NULL;
}

/* A string, a number, or null, which is empty. */
static const char *read_value(const char *at, char *out)
{
    const size_t len = strspn(at, "0123456789.e+-");

    if (*at == '"')
        return read_string(at + 1, out);
    memcpy(out, at, len);
    out[len] = '\0';
    if (len > 0)
        return at + len;
    return strncmp(at, "null", 4) == 0 ? at + 4 : NULL;
}

static bool read_json(struct row *r, const char *at, char *text)
{
    if (*at++ != '{')
        return false;
    for (int c = 0; c < COLUMNS; c++) {
        const char *name = column_name((enum column)c);
        at = *at == '"' ? read_string(at + 1, text) : NULL;
        if (at == NULL || strcmp(text, name) != 0 || *at++ != ':')
            return false;
        at = read_value(at, text);
        if (at == NULL || *at++ != (c < COLUMNS - 1 ? ',' : '}'))
            return false;
        if (*text != '\0' && !row_set(r, (enum column)c, "%s", text))
            return false;
    }
    return *at == '\0';
}

bool row_read_json(struct row *r, const char *line)
{
    char *text = malloc(strlen(line) + 1);

    *r = (struct row){{NULL}};
    const bool is_read = text != NULL && read_json(r, line, text);
    free(text);
    return keep(r, is_read);
}

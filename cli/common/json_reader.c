/* SPDX-License-Identifier: MIT */
#include "common/json_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

#define NUMBER_MAX 64

void json_reader_init(struct json_reader *r, FILE *from)
{
    *r = (struct json_reader){.from = from, .line = 1};
}

static int next_byte(struct json_reader *r)
{
    const int c = getc_unlocked(r->from);

    r->line += c == '\n';
    return c;
}

/* ---- strings ---- */

/* The string so far.  Bytes that do not fit are dropped. */
struct gathered {
    char *text;
    size_t n;
};

static void put_byte(struct gathered *g, int c)
{
    if (g->n < JSON_TEXT - 1)
        g->text[g->n++] = (char)c;
}

static void put_rune(struct gathered *g, unsigned rune)
{
    if (rune >= 0x10000) {
        put_byte(g, 0xf0 | (int)(rune >> 18));
        put_byte(g, 0x80 | (int)(rune >> 12 & 0x3f));
    } else if (rune >= 0x800) {
        put_byte(g, 0xe0 | (int)(rune >> 12));
    }
    if (rune >= 0x800)
        put_byte(g, 0x80 | (int)(rune >> 6 & 0x3f));
    else if (rune >= 0x80)
        put_byte(g, 0xc0 | (int)(rune >> 6));
    put_byte(g, rune < 0x80 ? (int)rune : 0x80 | (int)(rune & 0x3f));
}

/* Reads four hex digits.  Returns -1 if they are missing. */
static int read_hex(struct json_reader *r)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        const int c = next_byte(r);
        if (c == EOF || !isxdigit(c))
            return -1;
        value = value * 16 + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    return value;
}

/* Reads the part after "\u": a character, or two surrogates. */
static bool read_rune(struct json_reader *r, struct gathered *g)
{
    const int high = read_hex(r);

    if (high < 0 || (high & 0xfc00) == 0xdc00)
        return false;
    if ((high & 0xfc00) != 0xd800) {
        put_rune(g, high > 0 ? (unsigned)high : 0xfffd);
        return true;
    }
    if (next_byte(r) != '\\' || next_byte(r) != 'u')
        return false;
    const int low = read_hex(r);
    if (low < 0 || (low & 0xfc00) != 0xdc00)
        return false;
    put_rune(g, 0x10000U + ((unsigned)(high & 0x3ff) << 10) +
                    (unsigned)(low & 0x3ff));
    return true;
}

static bool read_escape(struct json_reader *r, struct gathered *g)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const int c = next_byte(r);
    const char *at = c > 0 ? strchr(letters, c) : NULL;

    if (c == 'u')
        return read_rune(r, g);
    if (at == NULL)
        return false;
    put_byte(g, meant[at - letters]);
    return true;
}

static enum json_token read_string(struct json_reader *r)
{
    struct gathered g = {r->text, 0};
    int c;

    while ((c = next_byte(r)) != '"') {
        if (c == EOF || c < 0x20)
            return JSON_BAD;
        if (c != '\\')
            put_byte(&g, c);
        else if (!read_escape(r, &g))
            return JSON_BAD;
    }
    r->text[g.n] = '\0';
    return JSON_STRING;
}

/* ---- other tokens ---- */

/* Reads a word of letters and digits into `text`.  Its first character is
 * `c`. */
static void read_word(struct json_reader *r, int c)
{
    size_t n = 0;

    for (; c != EOF && (isalnum(c) || (c != 0 && strchr("+-.", c) != NULL));
         c = next_byte(r))
        if (n < NUMBER_MAX)
            r->text[n++] = (char)c;
    r->text[n] = '\0';
    if (c != EOF)
        ungetc(c, r->from);
    r->line -= c == '\n';
}

/* Returns whether `s` is a JSON number.  "inf" and "0x1" are not. */
static bool is_number(const char *s)
{
    char *end;

    if (strspn(s, "0123456789.eE+-") != strlen(s) || strlen(s) >= NUMBER_MAX ||
        (s[0] != '-' && !isdigit((unsigned char)s[0])))
        return false;
    (void)strtod(s, &end);
    return *end == '\0';
}

static enum json_token read_plain(struct json_reader *r, int c)
{
    read_word(r, c);
    if (strcmp(r->text, "true") == 0 || strcmp(r->text, "false") == 0 ||
        strcmp(r->text, "null") == 0)
        return JSON_WORD;
    if (!is_number(r->text))
        return JSON_BAD;
    r->number = strtod(r->text, NULL);
    return JSON_NUMBER;
}

enum json_token json_reader_next(struct json_reader *r)
{
    int c;

    do
        c = next_byte(r);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    switch (c) {
    case EOF:
        return JSON_END;
    case '[':
        return JSON_OPEN_ARRAY;
    case ']':
        return JSON_CLOSE_ARRAY;
    case '{':
        return JSON_OPEN_OBJECT;
    case '}':
        return JSON_CLOSE_OBJECT;
    case ',':
        return JSON_COMMA;
    case ':':
        return JSON_COLON;
    case '"':
        return read_string(r);
    default:
        return read_plain(r, c);
    }
}

/* Only counts brackets, so "[}" is accepted. */
bool json_reader_skip(struct json_reader *r, enum json_token token)
{
    int depth = 0;

    for (;; token = json_reader_next(r)) {
        if (token == JSON_END || token == JSON_BAD)
            return false;
        if (token == JSON_OPEN_ARRAY || token == JSON_OPEN_OBJECT)
            depth++;
        if (token == JSON_CLOSE_ARRAY || token == JSON_CLOSE_OBJECT)
            depth--;
        if (depth < 0 || depth > DEPTH_MAX ||
            (depth == 0 && (token == JSON_COMMA || token == JSON_COLON)))
            return false;
        if (depth == 0)
            return true;
    }
}

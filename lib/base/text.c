/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/unicode.h"

void xd_text_fini(struct xd_text *t)
{
    xd_free(t->s);
    *t = (struct xd_text){.s = NULL};
}

void xd_text_clear(struct xd_text *t)
{
    t->len = 0;
    if (t->s != NULL)
        t->s[0] = '\0';
}

/* Makes room for `more` bytes and a NUL.  Doubles the size, so that many
 * appends take linear time. */
static bool reserve(struct xd_text *t, size_t more)
{
    size_t capacity = t->capacity < 64 ? 64 : t->capacity;
    char *grown;

    if (t->failed)
        return false;
    if (more < t->capacity - t->len)
        return true;
    while (capacity - t->len <= more && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    grown = more < capacity - t->len ? xd_realloc(t->s, capacity, 1) : NULL;
    if (grown == NULL) {
        t->failed = true;
        return false;
    }
    t->s = grown;
    t->capacity = capacity;
    return true;
}

void xd_text_add(struct xd_text *t, const char *s, size_t len)
{
    if (!reserve(t, len))
        return;
    if (len > 0)
        memcpy(t->s + t->len, s, len);
    t->len += len;
    t->s[t->len] = '\0';
}

void xd_text_addf(struct xd_text *t, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0) {
        t->failed = true;
        return;
    }
    if (!reserve(t, (size_t)len))
        return;
    va_start(args, format);
    vsnprintf(t->s + t->len, (size_t)len + 1, format, args);
    va_end(args);
    t->len += (size_t)len;
}

/* Removes an incomplete UTF-8 character from the end. */
static void drop_cut_character(char *s, size_t len)
{
    size_t lead = len;
    size_t need;
    unsigned char c;

    while (lead > 0 && len - lead < 3 &&
           ((unsigned char)s[lead - 1] & 0xc0) == 0x80)
        lead--;
    if (lead == 0)
        return;
    c = (unsigned char)s[--lead];
    need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    if (len - lead < need)
        s[lead] = '\0';
}

/* Replaces deceptive characters by '?': text from outside must not break the
 * line, control the terminal or hide characters.  Invalid UTF-8 is kept,
 * because file names may contain it. */
static void blot_deceptive(char *s)
{
    size_t len = strlen(s);
    char *to = s;

    while (len > 0) {
        uint32_t c = 0;
        size_t n = xd_utf8_decode(s, len, &c);
        size_t taken = n > 0 ? n : 1;

        if (n > 0 && xd_is_deceptive(c))
            *to++ = '?';
        else
            for (size_t i = 0; i < taken; i++)
                *to++ = s[i];
        s += taken;
        len -= taken;
    }
    *to = '\0';
}

void xd_format_line(char *out, size_t size, const char *format, va_list args)
{
    int len = vsnprintf(out, size, format, args);

    if (len < 0)
        out[0] = '\0';
    else if ((size_t)len >= size)
        drop_cut_character(out, size - 1);
    blot_deceptive(out);
}

const char *xd_path_name(const char *path)
{
    const char *name = path;

    for (; *path != '\0'; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

char *xd_path_in(const char *directory, const char *path, size_t *out_given)
{
    const size_t folder = directory ? strlen(directory) : 0;
    const size_t given = folder > 0 ? folder + 1 : 0, len = strlen(path);
    char *whole = xd_alloc(given + len + 1, 1);

    *out_given = given;
    if (!whole)
        return NULL;
    if (folder > 0) {
        memcpy(whole, directory, folder);
        whole[folder] = '/';
    }
    memcpy(whole + given, path, len);
    return whole;
}

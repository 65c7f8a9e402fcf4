/* SPDX-License-Identifier: MIT */
#include "io/sinks/set_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/string_hash.h"
#include "base/text.h"
#include "base/unicode.h"
#include "os/name_probe.h"

/* Components up to this length in bytes are always accepted: eCryptfs, the
 * shortest limit in use, allows 143. */
#define SHORT_NAME 140

#define CHARACTERS 0x110000u

/* A name with a key that is equal for names that a file system may treat as the
 * same.  Small, because a set may have 100,000. */
struct name {
    uint32_t key;
    uint32_t place : 31; /* index into check.places */
    uint32_t is_tried : 1;
};

struct check {
    const struct xd_set_place *places;
    struct name *names; /* sorted by key */
    size_t n;
    struct xd_name_probe *probe;
    unsigned char *taken; /* bit mask of characters known to be accepted */
    const char *directory;
};

/* ---- keys ---- */

/* Returns the ASCII letters to which a character folds, or "" if there are none
 * (full case folding of CaseFolding.txt, and compatibility forms). */
static const char *folded(uint32_t c)
{
    static const struct {
        uint32_t c;
        const char *to;
    } rows[] = {{0xdf, "ss"},    {0x149, "n"},    {0x17f, "s"},
                {0x1e9a, "a"},   {0x1e9e, "ss"},  {0x212a, "k"},
                {0xfb00, "ff"},  {0xfb01, "fi"},  {0xfb02, "fl"},
                {0xfb03, "ffi"}, {0xfb04, "ffl"}, {0xfb05, "st"},
                {0xfb06, "st"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].c == c)
            return rows[i].to;
    return "";
}

/* Returns whether the character is a combining accent (U+0300 to U+036F). */
static bool is_accent(uint32_t c)
{
    return c >= 0x300 && c <= 0x36f;
}

static uint32_t next_character(const char **at)
{
    uint32_t c = 0;
    const size_t len = xd_utf8_decode(*at, strlen(*at), &c);

    if (len == 0)
        c = (unsigned char)**at;
    *at += len > 0 ? len : 1;
    return c;
}

static char lower(uint32_t c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Hashes the ASCII letters of a path without case.  Other letters are left out,
 * however they are composed.  Names that a file system may treat as the same
 * have the same key; few others do. */
static uint32_t key_of(const char *path)
{
    uint64_t key = xd_string_hash("", 0);

    while (*path != '\0') {
        const uint32_t c = next_character(&path);
        const char *peek = path;

        if (c >= 0x80) {
            key = xd_string_hash_more(key, folded(c), strlen(folded(c)));
        } else if (*peek == '\0' || !is_accent(next_character(&peek))) {
            const char small = lower(c);

            key = xd_string_hash_more(key, &small, 1);
        }
    }
    return (uint32_t)(key ^ key >> 32);
}

static int compare_keys(const void *left, const void *right)
{
    const struct name *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static const char *path_of(const struct check *c, size_t i)
{
    return c->places[c->names[i].place].path;
}

/* ---- which names are tried ---- */

/* Returns true for characters that some file systems refuse: FAT, NTFS and SMB,
 * and file systems with another character set. */
static bool may_be_refused(uint32_t c)
{
    return c < ' ' || c >= 0x7f || strchr("\"*:<>?\\|", (int)c) != NULL;
}

static bool is_taken(const struct check *c, uint32_t character)
{
    return character >= CHARACTERS ||
           (c->taken[character / 8] & 1u << character % 8) != 0;
}

static void note_taken(struct check *c, const char *path)
{
    while (*path != '\0') {
        const uint32_t character = next_character(&path);

        if (character < CHARACTERS)
            c->taken[character / 8] |= (unsigned char)(1u << character % 8);
    }
}

/* Returns whether the name is a device on Windows, such as CON or COM1,
 * whatever follows the first dot. */
static bool is_device(const char *name, size_t len)
{
    static const char *const devices[] = {"con", "prn", "aux", "nul"};
    const char *dot = memchr(name, '.', len);

    if (dot)
        len = (size_t)(dot - name);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (len == 3 && strncasecmp(name, devices[i], 3) == 0)
            return true;
    return len == 4 &&
           (strncasecmp(name, "com", 3) == 0 ||
            strncasecmp(name, "lpt", 3) == 0) &&
           name[3] >= '1' && name[3] <= '9';
}

static bool has_odd_component(const char *path)
{
    for (;;) {
        const size_t len = strcspn(path, "/");

        if (len > SHORT_NAME || is_device(path, len))
            return true;
        if (path[len] == '\0')
            return false;
        path += len + 1;
    }
}

static bool is_odd(const struct check *c, const char *path)
{
    if (has_odd_component(path))
        return true;
    while (*path != '\0') {
        const uint32_t character = next_character(&path);

        if (may_be_refused(character) && !is_taken(c, character))
            return true;
    }
    return false;
}

/* ---- the check ---- */

static int fail_refused(const struct check *c, const char *path, int os_errno,
                        struct xd_error *err)
{
    return xd_fail_errno(err, XD_E_IO, os_errno,
                         "%s: the file system of %s refuses this name; use "
                         "--directory for another one",
                         path, c->directory ? c->directory : "this folder");
}

static int fail_folded(const struct check *c, size_t i, struct xd_error *err)
{
    const struct name *name = &c->names[i];
    size_t other = i;

    while (other > 0 && c->names[other - 1].key == name->key &&
           !(c->names[other - 1].is_tried &&
             xd_name_probe_is_same(c->probe, path_of(c, i),
                                   path_of(c, other - 1))))
        other--;
    if (other == 0 || c->names[other - 1].key != name->key)
        return fail_refused(c, path_of(c, i), EEXIST, err);
    return xd_fail(err, XD_E_IO,
                   "%s and %s are one name for the file system of %s: use "
                   "--directory for another one, or fetch them one by one",
                   path_of(c, other - 1), path_of(c, i),
                   c->directory ? c->directory : "this folder");
}

/* Returns whether the error concerns the name.  Errors like a full disk are
 * ignored; they occur again when the file is created. */
static bool is_about_name(int os_errno)
{
    return os_errno == ENAMETOOLONG || os_errno == EINVAL ||
           os_errno == EILSEQ || os_errno == ENOENT || os_errno == ENOTDIR ||
           os_errno == EISDIR || os_errno == EIO || os_errno == EPROTO;
}

static int try_name(struct check *c, size_t i, struct xd_error *err)
{
    struct name *name = &c->names[i];
    int failure;

    if (!c->probe)
        c->probe = xd_name_probe_new(c->directory);
    if (!c->probe)
        return 0;
    failure = xd_name_probe_add(c->probe, path_of(c, i));
    name->is_tried = failure == 0 ? 1 : 0;
    if (failure == 0)
        note_taken(c, path_of(c, i));
    else if (failure == EEXIST)
        return fail_folded(c, i, err);
    else if (is_about_name(failure))
        return fail_refused(c, path_of(c, i), failure, err);
    return 0;
}

static bool has_twin(const struct check *c, size_t i)
{
    return (i > 0 && c->names[i - 1].key == c->names[i].key) ||
           (i + 1 < c->n && c->names[i + 1].key == c->names[i].key);
}

int xd_set_names_check(const struct xd_set_place *places, size_t n,
                       const char *directory, struct xd_error *err)
{
    struct check c = {.places = places, .n = n, .directory = directory};
    int rc = 0;

    c.names = xd_alloc(n, sizeof *c.names);
    c.taken = xd_alloc(CHARACTERS / 8, 1);
    if (!c.names || !c.taken)
        rc = xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        c.names[i] = (struct name){.key = key_of(places[i].path),
                                   .place = (uint32_t)i & INT32_MAX};
    if (rc == 0)
        qsort(c.names, n, sizeof *c.names, compare_keys);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (has_twin(&c, i) || is_odd(&c, path_of(&c, i)))
            rc = try_name(&c, i, err);
    xd_name_probe_free(c.probe);
    xd_free(c.taken);
    xd_free(c.names);
    return rc;
}

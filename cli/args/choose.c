/* SPDX-License-Identifier: MIT */
#include "args/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/manifests.h"
#include "common/status.h"
#include "common/words.h"

/* Largest number of names in a message. */
#define NAMES 10

/* Returns the path of a file in the manifest, or NULL. */
static const char *path_of(const struct xd_manifest *m, size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};

    return xd_manifest_file(m, i, &file) == 0 ? file.path : NULL;
}

/* Returns true if the last components of the path are `name`. */
static bool ends_in(const char *path, const char *name)
{
    const size_t len = strlen(path), n = strlen(name);

    return n > 0 && len >= n && strcmp(path + len - n, name) == 0 &&
           (len == n || path[len - n - 1] == '/');
}

static size_t count_named(const char *name, const struct xd_manifest *m)
{
    size_t count = 0;

    for (size_t i = 0; i < xd_manifest_n_files(m); i++) {
        const char *path = path_of(m, i);
        count += path != NULL && ends_in(path, name);
    }
    return count;
}

static void print_no_such_file(const struct args *a,
                               const struct xd_manifest *m, const char *input)
{
    const size_t n = xd_manifest_n_files(m);
    char names[NAMES * 260] = "", more[40] = "";
    size_t len = 0;

    for (size_t i = 0; i < n && i < NAMES && len < sizeof names; i++) {
        const char *comma = i > 0 ? ", " : "", *name = path_of(m, i);
        if (name != NULL)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                    comma, name);
        else
            len += (size_t)snprintf(names + len, sizeof names - len,
                                    "%s%zu (without a name)", comma, i + 1);
    }
    if (n > NAMES)
        snprintf(more, sizeof more, " and %zu more", n - NAMES);
    words_error("%s describes %s file %s, but %s%s", input,
                count_named(a->file, m) > 1 ? "more than one" : "no", a->file,
                names, more);
}

/* Returns the number of a file if the word is a number, otherwise 0. */
static size_t number_of(const char *word)
{
    const size_t len = strlen(word);

    return len > 0 && len <= 9 && strspn(word, "0123456789") == len
               ? (size_t)strtoul(word, NULL, 10)
               : 0;
}

bool choose_find(size_t *out, const struct args *a, const struct xd_manifest *m)
{
    const size_t n = xd_manifest_n_files(m);

    for (size_t i = 0; i < n; i++) {
        const char *path = path_of(m, i);
        if (path == NULL || !ends_in(path, a->file))
            continue;
        *out = i;
        if (strcmp(path, a->file) == 0)
            return true;
    }
    if (count_named(a->file, m) > 0)
        return count_named(a->file, m) == 1;
    const size_t number = number_of(a->file);
    *out = number - 1;
    return number >= 1 && number <= n;
}

int choose_file(size_t *out, const struct args *a, const struct xd_manifest *m,
                const char *input)
{
    if (choose_find(out, a, m))
        return 0;
    print_no_such_file(a, m, input);
    return STATUS_USAGE;
}

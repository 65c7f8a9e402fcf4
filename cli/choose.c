#include "choose.h"

#include <stdio.h>
#include <string.h>

#include "status.h"
#include "words.h"

/* So many names are told where none of them was meant. */
#define NAMES 10

static const char *name_of(const struct xd_manifest *m, size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};

    return xd_manifest_file(m, i, &file) == 0 && file.name != NULL
               ? file.name
               : "(a file without name)";
}

static void say_no_such_file(const struct args *a, const struct xd_manifest *m,
                             const char *input)
{
    const size_t n = xd_manifest_n_files(m);
    char names[NAMES * 260] = "", more[40] = "";
    size_t len = 0;

    for (size_t i = 0; i < n && i < NAMES && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                i > 0 ? ", " : "", name_of(m, i));
    if (n > NAMES)
        snprintf(more, sizeof more, " and %zu more", n - NAMES);
    words_error("%s describes no file %s, but %s%s", input, a->file, names,
                more);
}

bool choose_find(size_t *out, const struct args *a, const struct xd_manifest *m)
{
    const size_t n = xd_manifest_n_files(m);

    for (size_t i = 0; i < n; i++)
        if (strcmp(name_of(m, i), a->file) == 0) {
            *out = i;
            return true;
        }
    return false;
}

int choose_file(size_t *out, const struct args *a, const struct xd_manifest *m,
                const char *input)
{
    if (choose_find(out, a, m))
        return 0;
    say_no_such_file(a, m, input);
    return STATUS_USAGE;
}

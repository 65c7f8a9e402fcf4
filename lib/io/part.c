/* SPDX-License-Identifier: MIT */
#include "io/part.h"

#include <inttypes.h>
#include <string.h>

#include "base/string_hash.h"
#include "base/unicode.h"

#define NAME_BYTES \
    ((size_t)255) /* NAME_MAX of Linux and other common systems */
/* the longest suffix in io/journal/journal.c */
#define LONGEST_SUFFIX ".part.journal.new"
#define HASH_BYTES ((size_t)17) /* '~' and 64 bits in hex */

/* Returns the length of the longest prefix of at most `max` bytes that ends
 * between characters. */
static size_t cut(const char *s, size_t max)
{
    size_t len = strlen(s), n = 0;

    while (n < len) {
        uint32_t c;
        size_t next = xd_utf8_decode(s + n, len - n, &c);

        next = next > 0 ? next : 1;
        if (n + next > max)
            break;
        n += next;
    }
    return n;
}

void xd_part_path(struct xd_text *out, const char *path, const char *suffix)
{
    const char *name = xd_path_name(path);
    size_t most = NAME_BYTES - strlen(LONGEST_SUFFIX);

    if (strlen(name) <= most) {
        xd_text_addf(out, "%s%s", path, suffix);
        return;
    }
    xd_text_add(out, path, (size_t)(name - path));
    xd_text_add(out, name, cut(name, most - HASH_BYTES));
    xd_text_addf(out, "~%016" PRIx64 "%s", xd_string_hash(name, strlen(name)),
                 suffix);
}

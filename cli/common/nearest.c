/* SPDX-License-Identifier: MIT */
#include "common/nearest.h"

#include <string.h>

#define LONGEST 40 /* longer than the name of any option */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the Damerau-Levenshtein distance: the number of letters to insert,
 * remove, replace or swap. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t d[LONGEST + 1][LONGEST + 1];

    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                            least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

/* The limit allows one wrong letter in three. */
void nearest_init(struct nearest *n, const char *word, size_t len)
{
    *n = (struct nearest){.word = word, .len = len};
    n->distance = len > LONGEST ? 0 : (len + 2) / 3 + 1;
}

void nearest_consider(struct nearest *n, const char *name)
{
    const size_t len = strlen(name);

    if (n->distance == 0 || len > LONGEST)
        return;
    const size_t d = distance(n->word, n->len, name, len);
    if (d < n->distance) {
        n->distance = d;
        n->name = name;
    }
}

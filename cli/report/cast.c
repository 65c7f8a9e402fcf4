/* SPDX-License-Identifier: MIT */
#include "report/cast.h"

#include <stdlib.h>

#include "common/text.h"

/* Compares by bytes delivered.  If the depots were sorted by their current
 * rate, their lines would keep changing places. */
static int by_bytes(const void *a, const void *b)
{
    const struct snapshot_depot *x = *(const struct snapshot_depot *const *)a;
    const struct snapshot_depot *y = *(const struct snapshot_depot *const *)b;
    const int x_failed = x->state == XD_DEPOT_FAILED;
    const int y_failed = y->state == XD_DEPOT_FAILED;

    if (x_failed != y_failed)
        return x_failed - y_failed;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y; /* keep the order of the manifest */
}

void cast_init(struct cast *c, const struct snapshot *s,
               bool (*has_part)(const struct snapshot_depot *))
{
    *c = (struct cast){.depots = calloc(s->n_depots + 1, sizeof *c->depots)};
    for (size_t i = 0; c->depots != NULL && i < s->n_depots; i++)
        if (has_part(&s->depots[i]))
            c->depots[c->n++] = &s->depots[i];
    if (c->n > 0)
        qsort(c->depots, c->n, sizeof *c->depots, by_bytes);
    for (size_t i = 0; i < c->n; i++) {
        const unsigned columns = text_columns(c->depots[i]->host);
        if (columns > c->longest)
            c->longest = columns;
    }
}

void cast_fini(struct cast *c)
{
    free(c->depots);
    c->depots = NULL;
}

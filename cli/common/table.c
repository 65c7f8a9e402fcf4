/* SPDX-License-Identifier: MIT */
#include "common/table.h"

#include "common/text.h"

/* width in columns that a name needs to be recognizable */
#define LEAST_FIRST 12

static unsigned column_of_rank(const struct table *t, unsigned rank)
{
    unsigned i = 0;

    while (i + 1 < t->n && t->columns[i].rank != rank)
        i++;
    return i;
}

void table_init(struct table *t, const struct table_column *columns, unsigned n,
                unsigned width, unsigned longest)
{
    *t = (struct table){columns, n, width < 50 ? 1 : 2, 0, {false}};
    unsigned used = 0;

    /* Stop at the first column that does not fit.  Otherwise a less important
     * column could be shown instead. */
    for (unsigned rank = 0; rank < n; rank++) {
        const unsigned i = column_of_rank(t, rank);
        const unsigned more = t->gap + columns[i].width;
        if (used + more + (rank == 0 ? 4 : LEAST_FIRST) > width)
            break;
        t->shown[i] = true;
        used += more;
    }
    const unsigned room = width > used ? width - used : 0;
    if (longest < LEAST_FIRST)
        longest = LEAST_FIRST; /* room for its title */
    t->first_width = room < longest ? room : longest;
}

void table_put_titles(const struct table *t, FILE *to, const char *first)
{
    char cells[TABLE_COLUMNS][TABLE_CELL];

    for (unsigned i = 0; i < t->n; i++)
        snprintf(cells[i], sizeof cells[i], "%s", t->columns[i].title);
    table_put_row(t, to, first, cells);
}

void table_put_row(const struct table *t, FILE *to, const char *first,
                   char cells[][TABLE_CELL])
{
    text_put_fit(to, first, t->first_width, true);
    for (unsigned i = 0; i < t->n; i++) {
        if (!t->shown[i])
            continue;
        const int width = (int)t->columns[i].width;
        fprintf(to, "%*s%*s", (int)t->gap, "",
                t->columns[i].to_left ? -width : width, cells[i]);
    }
    putc('\n', to);
}

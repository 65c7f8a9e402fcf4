/* SPDX-License-Identifier: MIT */
#include "session/combinations.h"

#include <stdint.h>
#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"

/* Maximum number of steps of the search, one for each copy that is examined.
 * It takes about one second.  Most sets are skipped, because they leave out a
 * copy that would not be used anyway. */
#define MOST_STEPS 100000000u

struct search {
    struct xd_combinations *c;
    bool *is_out;   /* for each copy, whether it is left out */
    size_t *chosen; /* a copy for each place, or XD_NO_COPY */
    size_t *left;   /* indexes of the copies, or depots, left out */
    bool by_depot;
    uint64_t n_steps;
    enum xd_combined result;
};

/* ---- one combination ---- */

/* Chooses the first remaining copy of each place. */
static void choose_copies(struct search *s)
{
    const struct xd_combinations *c = s->c;

    for (unsigned i = 0; i < c->n_places; i++)
        s->chosen[i] = XD_NO_COPY;
    for (size_t i = 0; i < c->n_copies; i++) {
        size_t *chosen = &s->chosen[c->copies[i].place];

        if (*chosen == XD_NO_COPY && !s->is_out[i])
            *chosen = i;
    }
}

/* Selects the copies of one column.  If a wanted place has no copy, keeps the
 * copies of k places, from which it can be computed; returns false if there are
 * fewer.  Otherwise keeps the copies of all wanted places. */
static bool trim_column(struct search *s, unsigned first, unsigned end)
{
    const struct xd_combinations *c = s->c;
    const unsigned needed = c->needed[c->places[first].column];
    bool lacks_some = false;
    unsigned n = 0;

    for (unsigned i = first; i < end; i++)
        lacks_some |= c->places[i].is_wanted && s->chosen[i] == XD_NO_COPY;
    for (unsigned i = first; i < end; i++) {
        if (s->chosen[i] == XD_NO_COPY)
            continue;
        if (lacks_some ? n == needed : !c->places[i].is_wanted)
            s->chosen[i] = XD_NO_COPY;
        else
            n++;
    }
    return !lacks_some || n == needed;
}

/* Chooses a copy for each place.  Returns false if a place has no copy and
 * cannot be computed. */
static bool choose(struct search *s)
{
    const struct xd_combinations *c = s->c;
    unsigned first = 0;
    bool can_be_had = true;

    choose_copies(s);
    for (unsigned i = 1; i <= c->n_places; i++)
        if (i == c->n_places ||
            c->places[i].column != c->places[first].column) {
            can_be_had &= trim_column(s, first, i);
            first = i;
        }
    return can_be_had;
}

static bool is_used(const struct search *s, size_t copy)
{
    return s->chosen[s->c->copies[copy].place] == copy;
}

/* ---- items: copies, or all copies of a depot ---- */

static size_t count_items(const struct search *s)
{
    return s->by_depot ? s->c->n_depots : s->c->n_copies;
}

static bool is_of(const struct search *s, size_t copy, size_t item)
{
    return s->by_depot ? s->c->copies[copy].depot == item : copy == item;
}

static void leave_out(struct search *s, size_t item, bool is_out)
{
    for (size_t i = 0; i < s->c->n_copies; i++)
        if (is_of(s, i, item) && !s->c->copies[i].is_proved)
            s->is_out[i] = is_out;
}

static bool item_is_used(const struct search *s, size_t item)
{
    for (size_t i = 0; i < s->c->n_copies; i++)
        if (is_of(s, i, item) && !s->c->copies[i].is_proved && is_used(s, i))
            return true;
    return false;
}

/* Returns true if each item that is left out makes a difference: if it were put
 * back, the combination would use it.  If one does not, the same combination
 * was already tried with fewer items left out. */
static bool is_least(struct search *s, size_t n)
{
    bool result = true;

    for (size_t i = 0; i < n && result; i++) {
        leave_out(s, s->left[i], false);
        (void)choose(s);
        result = item_is_used(s, s->left[i]);
        leave_out(s, s->left[i], true);
    }
    return result;
}

/* Tries the combination without these n items.  Returns true if the search has
 * ended. */
static bool try_set(struct search *s, size_t n)
{
    struct xd_combinations *c = s->c;

    s->n_steps += (n + 1) * c->n_copies;
    if (s->n_steps > MOST_STEPS) {
        s->result = XD_COMBINED_BOUND;
        return true;
    }
    if (!is_least(s, n) || !choose(s))
        return false;
    if (c->n_tried >= c->most) {
        s->result = XD_COMBINED_BOUND;
        return true;
    }
    c->n_tried++;
    if (!c->is_right(c->user, s->chosen))
        return false;
    s->result = XD_COMBINED_RIGHT;
    return true;
}

/* ---- the search ---- */

/* Advances to the next set of n items in ascending order.  Returns false after
 * the last. */
static bool next_set(struct search *s, size_t n)
{
    const size_t n_items = count_items(s);
    size_t i = n;

    while (i > 0 && s->left[i - 1] == n_items - n + i - 1)
        i--;
    if (i == 0)
        return false;
    leave_out(s, s->left[i - 1], false);
    leave_out(s, ++s->left[i - 1], true);
    for (; i < n; i++) {
        leave_out(s, s->left[i], false);
        s->left[i] = s->left[i - 1] + 1;
    }
    for (i = 0; i < n; i++)
        leave_out(s, s->left[i], true);
    return true;
}

/* Tries all sets of n items.  Returns true if the search has ended. */
static bool try_sets(struct search *s, size_t n, bool by_depot)
{
    bool has_ended = false;

    s->by_depot = by_depot;
    if (n > count_items(s))
        return false;
    memset(s->is_out, 0, s->c->n_copies * sizeof *s->is_out);
    for (size_t i = 0; i < n; i++) {
        s->left[i] = i;
        leave_out(s, i, true);
    }
    do
        has_ended = try_set(s, n);
    while (!has_ended && next_set(s, n));
    return has_ended;
}

/* Returns whether a depot has several copies.  If no depot has, leaving out
 * depots is the same as leaving out copies. */
static bool has_several(const struct search *s)
{
    const struct xd_combinations *c = s->c;

    for (size_t i = 0; i < c->n_copies; i++)
        for (size_t k = 0; k < i; k++)
            if (c->copies[i].depot == c->copies[k].depot)
                return true;
    return false;
}

static void search(struct search *s)
{
    const struct xd_combinations *c = s->c;
    const bool by_copy = has_several(s);
    bool has_ended = try_sets(s, 0, true);

    for (size_t n = 1; !has_ended && n <= c->n_copies; n++)
        has_ended = try_sets(s, n, true) || (by_copy && try_sets(s, n, false));
}

int xd_combinations_try(struct xd_combinations *c)
{
    struct search s = {.c = c, .result = XD_COMBINED_NONE};
    const size_t n = c->n_copies > c->n_depots ? c->n_copies : c->n_depots;
    int rc = XD_E_NOMEM;

    s.is_out = xd_alloc(c->n_copies + 1, sizeof *s.is_out);
    s.chosen = xd_alloc((size_t)c->n_places + 1, sizeof *s.chosen);
    s.left = xd_alloc(n + 1, sizeof *s.left);
    if (s.is_out && s.chosen && s.left) {
        search(&s);
        rc = (int)s.result;
    }
    xd_free(s.is_out);
    xd_free(s.chosen);
    xd_free(s.left);
    return rc;
}

/* SPDX-License-Identifier: MIT */
#include "share.h"

#include <math.h>

static void begin(struct xd_share_line *lines, unsigned n_lines,
                  const struct xd_share_flow *flows, unsigned *order,
                  unsigned n)
{
    for (unsigned i = 0; i < n_lines; i++) {
        lines[i].left = lines[i].rate;
        lines[i].n = 0;
    }
    for (unsigned i = 0; i < n; i++) {
        order[i] = i;
        for (unsigned k = 0; k < flows[i].n_lines; k++)
            lines[flows[i].lines[k]].n++;
    }
}

static void offer(struct xd_share_line *lines, unsigned n_lines)
{
    for (unsigned i = 0; i < n_lines; i++) {
        struct xd_share_line *l = &lines[i];

        l->share = (double)INFINITY;
        if (l->rate > 0 && l->n > 0)
            l->share = fmax(0, l->left) / l->n;
        l->is_blocked = false;
    }
}

static void give(struct xd_share_line *lines, struct xd_share_flow *f,
                 double rate)
{
    f->rate = rate;
    for (unsigned k = 0; k < f->n_lines; k++) {
        lines[f->lines[k]].left -= rate;
        lines[f->lines[k]].n--;
    }
}

static void block(struct xd_share_line *lines, const struct xd_share_flow *f,
                  double above)
{
    for (unsigned k = 0; k < f->n_lines; k++)
        lines[f->lines[k]].is_blocked |= lines[f->lines[k]].share > above;
}

static double level_of(const struct xd_share_line *lines,
                       const struct xd_share_flow *f)
{
    double level = (double)INFINITY;

    for (unsigned k = 0; k < f->n_lines; k++)
        level = fmin(level, lines[f->lines[k]].share);
    return level;
}

/* Those that their caps bound.  Lines on which a flow is bound by something else
 * are blocked: they will offer more.  Returns how many are left. */
static unsigned give_caps(struct xd_share_line *lines,
                          struct xd_share_flow *flows, unsigned *order,
                          unsigned n)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n; i++) {
        struct xd_share_flow *f = &flows[order[i]];

        f->level = level_of(lines, f);
        block(lines, f, fmin(f->cap, f->level));
        if (f->cap <= f->level)
            give(lines, f, f->cap);
        else
            order[left++] = order[i];
    }
    return left;
}

static bool is_settled(const struct xd_share_line *lines,
                       const struct xd_share_flow *f)
{
    for (unsigned k = 0; k < f->n_lines; k++) {
        const struct xd_share_line *l = &lines[f->lines[k]];

        if (!l->is_blocked && !(l->share > f->level))
            return true;
    }
    return false;
}

static unsigned give_shares(struct xd_share_line *lines,
                            struct xd_share_flow *flows, unsigned *order,
                            unsigned n)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n; i++) {
        struct xd_share_flow *f = &flows[order[i]];

        if (is_settled(lines, f))
            give(lines, f, f->level);
        else
            order[left++] = order[i];
    }
    return left;
}

void xd_share(struct xd_share_line *lines, unsigned n_lines,
              struct xd_share_flow *flows, unsigned *order, unsigned n)
{
    begin(lines, n_lines, flows, order, n);
    while (n > 0) {
        offer(lines, n_lines);
        n = give_caps(lines, flows, order, n);
        n = give_shares(lines, flows, order, n);
    }
}

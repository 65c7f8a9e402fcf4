/* SPDX-License-Identifier: MIT */
#include "sched/adaptive/surplus.h"

/* What comes is counted over so many bytes, and for no longer than they take at
 * ENOUGH.  It is what stands in a long queue: a packet that was lost holds up as
 * much. */
#define COUNT_BYTES (256 << 10)

/* The part of what all brought that fewer have to bring. */
#define ENOUGH 0.75

void xd_surplus_heard(struct xd_surplus *s, uint64_t bytes)
{
    s->bytes += bytes;
}

bool xd_surplus_is_one(const struct xd_surplus *s)
{
    return s->stage == XD_SURPLUS_TRYING || s->stage == XD_SURPLUS_ONE;
}

static void count_anew(struct xd_surplus *s, const struct xd_surplus_facts *f)
{
    s->n_others = f->n_others;
    s->began = f->now;
    s->bytes = 0;
}

/* Fewer bring all that comes: is it less?  It is known before the last of the
 * others has ended. */
static void judge(struct xd_surplus *s, const struct xd_surplus_facts *f)
{
    double least = ENOUGH * s->before * (double)(f->now - s->began) / 1e6;

    if (f->n_others < s->n_others) {
        count_anew(s, f);
    } else if (s->began == 0 ||
               (s->bytes < COUNT_BYTES && least < COUNT_BYTES)) {
        return;
    } else if ((double)s->bytes < least) {
        s->stage = XD_SURPLUS_NEEDED;
    } else {
        if (f->n_others == 0)
            s->stage = XD_SURPLUS_ONE;
        count_anew(s, f);
    }
}

void xd_surplus_decide(struct xd_surplus *s, const struct xd_surplus_facts *f)
{
    if (s->stage == XD_SURPLUS_NEEDED)
        return;
    if (!f->is_slow || !f->is_well)
        s->stage = XD_SURPLUS_ALL;
    else if (xd_surplus_is_one(s))
        judge(s, f);
    else if (s->stage == XD_SURPLUS_ALL && f->rate > 0)
        *s = (struct xd_surplus){.stage = XD_SURPLUS_TRYING,
                                 .depot = f->best,
                                 .before = f->rate,
                                 .n_others = f->n_others};
}

/* SPDX-License-Identifier: MIT */
#include "base/addresses.h"

#include <string.h>

/* A rate is measured over at least this time, because TCP slow start hides the
 * rate at first. */
#define LEAST_TIME (200 * XD_MS)

/* An address counts as faster if its rate is this many times as high as
 * another's.  Random differences between two connections on one path are
 * smaller. */
#define FASTER 1.5

/* It is worth reconnecting to an address whose rate is this many times as high.
 * Rates of connections that share a link may differ, but by less than this. */
#define MUCH_FASTER 4

static bool is_among(const struct xd_address_list *l, unsigned n,
                     const char *text)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(l->texts[i], text) == 0)
            return true;
    return false;
}

bool xd_address_list_has(const struct xd_address_list *l, const char *text)
{
    return is_among(l, l->n, text);
}

bool xd_address_list_leaves(const struct xd_address_list *l, const char *text)
{
    return is_among(l, l->n_left, text);
}

static struct xd_address *find(struct xd_addresses *a, const char *text)
{
    for (unsigned i = 0; i < a->n; i++)
        if (strcmp(a->list[i].text, text) == 0)
            return &a->list[i];
    return NULL;
}

/* Finds or adds an address.  Returns NULL if the list is full. */
static struct xd_address *find_or_add(struct xd_addresses *a, const char *text)
{
    struct xd_address *known = find(a, text);

    if (known)
        return known;
    if (a->n == XD_ADDRESSES_MAX || strlen(text) >= XD_ADDRESS_TEXT) {
        a->are_all = true;
        return NULL;
    }
    known = &a->list[a->n++];
    *known = (struct xd_address){.rate = 0};
    memcpy(known->text, text, strlen(text) + 1);
    return known;
}

static double fastest(const struct xd_addresses *a)
{
    double rate = 0;

    for (unsigned i = 0; i < a->n; i++) {
        const struct xd_address *it = &a->list[i];
        double its = it->rate > 0 ? it->rate : it->least;

        if (!it->is_unfit && its > rate)
            rate = its;
    }
    return rate;
}

static bool is_slower(const struct xd_addresses *a, const struct xd_address *it,
                      double factor)
{
    return it->rate > 0 && it->rate * factor < fastest(a);
}

bool xd_addresses_choose(struct xd_addresses *a, struct xd_address_list *out)
{
    const bool tries = a->n == 1 && !a->are_all && !a->is_tried;

    out->n = 0;
    for (unsigned i = 0; i < a->n; i++)
        if (a->list[i].is_unfit || is_slower(a, &a->list[i], FASTER))
            memcpy(out->texts[out->n++], a->list[i].text, XD_ADDRESS_TEXT);
    out->n_left = out->n;
    if (tries)
        memcpy(out->texts[out->n++], a->list[0].text, XD_ADDRESS_TEXT);
    a->is_tried |= tries;
    return tries;
}

void xd_addresses_end_try(struct xd_addresses *a)
{
    a->is_tried = false;
}

static bool is_slower_by(const struct xd_addresses *a, const char *text,
                         double factor)
{
    for (unsigned i = 0; i < a->n; i++)
        if (strcmp(a->list[i].text, text) == 0)
            return is_slower(a, &a->list[i], factor);
    return false;
}

bool xd_addresses_is_slow(const struct xd_addresses *a, const char *text)
{
    return is_slower_by(a, text, FASTER);
}

bool xd_addresses_is_very_slow(const struct xd_addresses *a, const char *text)
{
    return is_slower_by(a, text, MUCH_FASTER);
}

void xd_addresses_served(struct xd_addresses *a, const char *text,
                         uint64_t bytes, xd_usec took)
{
    struct xd_address *it = find_or_add(a, text);
    double rate;

    if (!it)
        return;
    it->is_proven = true;
    it->is_unfit = false;
    rate = (double)bytes * (double)XD_SECOND / (double)LEAST_TIME;
    if (took < LEAST_TIME) {
        it->least = it->least > rate ? it->least : rate;
        return;
    }
    rate = (double)bytes * (double)XD_SECOND / (double)took;
    it->rate = it->rate > 0 ? (it->rate + rate) / 2 : rate;
}

static bool is_other_proven(const struct xd_addresses *a,
                            const struct xd_address *it)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->list[i].is_proven && &a->list[i] != it)
            return true;
    return false;
}

bool xd_addresses_failed(struct xd_addresses *a, const char *text)
{
    struct xd_address *it = find_or_add(a, text);

    if (!it || it->is_proven || !is_other_proven(a, it))
        return false;
    it->is_unfit = true;
    return true;
}

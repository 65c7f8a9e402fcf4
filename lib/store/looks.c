/* SPDX-License-Identifier: MIT */
#include "store/looks.h"

/* A server that closes the connection sooner was not processing the object: it
 * crashed or rejected the upload. */
#define LEAST_WORK (5 * XD_SECOND)

/* Minimum time to look for an object.  Some stores at first show a new object
 * only on some of their machines. */
#define FEW_SECONDS 3

/* Longest pause between two checks, in seconds. */
#define LONGEST_PAUSE 15

/* Returns whether this status means that a server, perhaps behind a gateway, is
 * still processing: Accepted, Gateway Timeout, and timeouts of Cloudflare and
 * other proxies. */
static bool is_at_work(int64_t status)
{
    return status == 202 || status == 504 || status == 522 || status == 524 ||
           status == 598 || status == 599;
}

static int64_t status_of(const struct xd_answer *answer)
{
    return answer->outcome->verdict == XD_VERDICT_OK ? answer->reply->code : 0;
}

/* Returns whether this 5xx status means that the request was not carried
 * out. */
static bool is_refusal(int64_t status)
{
    return status == 501 || status == 503 || status == 505 || status == 507 ||
           status == 509;
}

bool xd_looks_may_help(const struct xd_answer *answer)
{
    const int64_t status = status_of(answer);

    return answer->outcome->worked > 0 &&
           (status == 0 || (status / 100 == 5 && !is_refusal(status)));
}

void xd_looks_begin(struct xd_looks *l, const struct xd_answer *answer,
                    xd_usec patience)
{
    const int64_t status = status_of(answer);
    const xd_usec worked = answer->outcome->worked;

    *l = (struct xd_looks){.has_begun = true, .seconds = FEW_SECONDS};
    if ((worked >= LEAST_WORK || is_at_work(status)) && patience > worked &&
        (patience - worked) / XD_SECOND > FEW_SECONDS)
        l->seconds = (int64_t)((patience - worked) / XD_SECOND);
}

bool xd_looks_pause(struct xd_looks *l, int64_t now)
{
    if (l->pause > 0) {
        l->pause_until = now + l->pause;
        l->pause = 0;
    }
    /* If the clock was set back, do not wait longer than the longest pause. */
    return now < l->pause_until && l->pause_until - now <= LONGEST_PAUSE;
}

bool xd_looks_again(struct xd_looks *l, int64_t now)
{
    const unsigned doublings = l->n < 4 ? l->n : 4;
    const int64_t pause = (int64_t)1 << doublings;

    if (!l->has_begun)
        return false;
    if (l->n++ == 0)
        l->until = now + l->seconds;
    if (now >= l->until)
        return false;
    l->pause = pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE;
    if (l->pause > l->until - now)
        l->pause = l->until - now;
    return true;
}

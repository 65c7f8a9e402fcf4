/* SPDX-License-Identifier: MIT */
/* How a request ends: what its outcome means for the host, and what is reported
 * to the user of the runner. */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "os/clock.h"
#include "transfer/budget.h"
#include "transfer/hosts.h"
#include "transfer/runner_slots.h"

/* The runner always waits for a pause up to this length, even if --patience is
 * shorter, unless the host asked for the pause. */
#define SHORT_PAUSE (5 * XD_SECOND)

bool xd_runner_is_refusal(int64_t status)
{
    return status == 408 || status == 425 || status == 429 || status == 500 ||
           status == 502 || status == 503 || status == 509;
}

/* Returns whether at least half of the request has arrived.  A server that
 * always sends half of the rest gets at most one request per bit of the length,
 * so these restarts need no other limit. */
static bool has_half(const struct xd_runner_slot *s)
{
    return s->received >= s->request.length ||
           s->received >= s->request.length - s->received;
}

/* Returns whether enough bytes have arrived to make it worth requesting the
 * rest. */
static bool has_progress(const struct xd_runner_slot *s)
{
    return s->delivered >= XD_PROGRESS_BYTES || has_half(s);
}

static bool is_unreached(const struct xd_outcome *o)
{
    return o->is_unanswered || o->error.os_errno == ECONNREFUSED;
}

static const struct xd_url *first_url(const struct xd_request *r)
{
    return r->origin ? r->origin : r->url;
}

/* Returns whether the server is sending the object of this request to another
 * request, or has sent it before and another request for it is running. */
static bool delivers_beside(const struct xd_runner *d, unsigned slot)
{
    const struct xd_request *r = &d->slots[slot].request;

    for (unsigned i = 0; i < d->config.n_slots; i++) {
        const struct xd_runner_slot *s = &d->slots[i];

        if (i != slot && s->is_busy && !s->waits && !s->request.sends &&
            (r->is_known || s->received > 0) &&
            xd_url_compare(first_url(&s->request), first_url(r)) == 0)
            return true;
    }
    return false;
}

/* Returns true if the URL is the target of an earlier redirect.  It may have
 * expired since, as signed URLs do. */
static bool may_have_expired(const struct xd_request *r)
{
    return r->origin && xd_url_compare(r->origin, r->url) != 0;
}

/* Returns true if the mirror that the URL led to lacks the object, which the
 * URL has delivered before.  It may lead to another mirror next time. */
static bool may_lead_elsewhere(const struct xd_runner_slot *s,
                               const struct xd_outcome *o)
{
    const struct xd_request *r = &s->request;

    return (o->verdict == XD_VERDICT_GONE ||
            o->verdict == XD_VERDICT_DIFFERENT ||
            o->verdict == XD_VERDICT_REFUSED_RANGE) &&
           o->is_of_redirect && r->is_known && !r->is_plain &&
           !may_have_expired(r) && s->received == 0;
}

/* Returns true if the server allows no more connections: a status says that the
 * URL is missing or forbidden, while the server sends the same object to
 * another request.  File hosts use 400, 403, 404, 410, 420 and others for
 * that. */
static bool is_one_too_many(const struct xd_runner *d, unsigned slot,
                            const struct xd_outcome *o)
{
    const struct xd_runner_slot *s = &d->slots[slot];

    return (o->verdict == XD_VERDICT_GONE ||
            o->verdict == XD_VERDICT_REFUSED_RANGE) &&
           o->is_denied && !s->request.is_plain &&
           !may_have_expired(&s->request) && !may_lead_elsewhere(s, o) &&
           delivers_beside(d, slot);
}

/* Classifies a failure after which no range of the URL can be fetched.  The
 * first one may be due to the URL, so only repeated ones count against the
 * host. */
static enum xd_governed_end end_of_url(const struct xd_request *r)
{
    const bool is_repeat = xd_host_has_failed(r);

    xd_host_note_failure(r);
    return is_repeat ? XD_GOVERNED_FAILED_AGAIN : XD_GOVERNED_NEUTRAL;
}

/* Classifies a store's reply for the governor. */
static enum xd_governed_end end_of_reply(const struct xd_request *r,
                                         int64_t code)
{
    if (xd_runner_is_refusal(code))
        return XD_GOVERNED_REFUSED;
    return code >= 400 ? end_of_url(r) : XD_GOVERNED_SERVED;
}

/* Classifies the end of a request for the governor. */
static enum xd_governed_end end_of(const struct xd_runner_slot *s,
                                   const struct xd_outcome *o)
{
    switch (o->verdict) {
    case XD_VERDICT_OK:
        if (s->request.sends)
            return end_of_reply(&s->request, s->reply_code);
        return o->is_cut && !has_progress(s) ? XD_GOVERNED_REFUSED
                                             : XD_GOVERNED_SERVED;
    case XD_VERDICT_AGAIN:
        if (is_unreached(o))
            return XD_GOVERNED_UNREACHED;
        /* A mesh node answers like this if it has not cached the bytes. */
        if (s->request.is_plain && !o->is_refusal)
            return XD_GOVERNED_NEUTRAL;
        if (o->is_refusal || !has_progress(s))
            return XD_GOVERNED_REFUSED;
        return has_half(s) ? XD_GOVERNED_SERVED : XD_GOVERNED_BROKEN;
    case XD_VERDICT_GONE:
    case XD_VERDICT_REFUSED_RANGE:
        return end_of_url(&s->request);
    case XD_VERDICT_DIFFERENT:
    case XD_VERDICT_CHANGED:
    case XD_VERDICT_NO_RANGES:
    case XD_VERDICT_LOCAL:
    case XD_VERDICT_STOPPED:
        break;
    }
    return XD_GOVERNED_NEUTRAL;
}

bool xd_runner_is_too_long(const struct xd_runner *d, xd_usec pause,
                           bool is_asked)
{
    return d->config.patience > 0 && pause > d->config.patience &&
           (is_asked || pause > SHORT_PAUSE);
}

void xd_runner_refuse_to_wait(const struct xd_runner *d,
                              const struct xd_runner_slot *s,
                              struct xd_outcome *out, xd_usec pause,
                              bool is_asked)
{
    const struct xd_error why = out->error;
    const bool has_reason = why.code != XD_OK;

    out->verdict = XD_VERDICT_GONE;
    xd_fail_because(&out->error, XD_E_NET, &why,
                    "%s%s its server %s in %.0f s, and --patience is %.0f s",
                    has_reason ? why.msg : xd_url_name(s->request.url).s,
                    has_reason ? ";" : ":",
                    is_asked ? "wants to be asked again"
                             : "refuses requests; the next one is due",
                    xd_seconds(pause), xd_seconds(d->config.patience));
}

void xd_runner_give_up(const struct xd_runner_slot *s, struct xd_outcome *out,
                       xd_usec pause)
{
    out->verdict = XD_VERDICT_GONE;
    xd_fail(&out->error, XD_E_NET,
            "%s: failed too often; it can be tried again in %.0f s",
            xd_url_name(s->request.url).s, xd_seconds(pause));
}

/* Tells the host's governor that the request has ended.  Returns the pause
 * until another attempt. */
static xd_usec leave_host(struct xd_runner_slot *s, const struct xd_outcome *o)
{
    const xd_usec retry_after =
        s->reply_retry_after > 0 ? s->reply_retry_after : o->retry_after;

    if (!s->governed.is_open)
        return 0;
    return xd_host_end(s->host, &s->governed,
                       may_lead_elsewhere(s, o) ? XD_GOVERNED_FAILED_AGAIN
                                                : end_of(s, o),
                       s->delivered, retry_after, xd_now());
}

void xd_runner_end(struct xd_runner *d, unsigned slot,
                   const struct xd_outcome *outcome)
{
    struct xd_runner_slot *s = &d->slots[slot];
    struct xd_outcome reported = *outcome;
    xd_usec pause;
    const bool is_asked = outcome->retry_after > d->config.patience;

    if (is_one_too_many(d, slot, outcome)) {
        reported.verdict = XD_VERDICT_AGAIN;
        reported.is_refusal = true;
    }
    pause = leave_host(s, &reported);
    if (may_lead_elsewhere(s, &reported))
        reported.verdict = XD_VERDICT_AGAIN;
    if (reported.verdict == XD_VERDICT_LOCAL)
        reported.retry_after = XD_LOCAL_PAUSE;
    else if (reported.retry_after < pause &&
             reported.verdict != XD_VERDICT_GONE &&
             reported.verdict != XD_VERDICT_REFUSED_RANGE)
        /* after GONE and REFUSED_RANGE the same request is not repeated */
        reported.retry_after = pause;
    if (reported.verdict == XD_VERDICT_AGAIN && !is_unreached(outcome) &&
        xd_runner_is_too_long(d, reported.retry_after, is_asked))
        xd_runner_refuse_to_wait(d, s, &reported, reported.retry_after,
                                 is_asked);
    if (s->prepaid > 0)
        xd_budget_refund(d->config.budget, s->prepaid);
    s->prepaid = 0;
    s->is_busy = s->is_cut = s->is_held = s->waits = s->is_stopped = false;
    xd_host_release(s->host);
    s->host = NULL;
    d->handler->end(d->handler->user, slot, &reported);
}

void xd_runner_end_unasked(struct xd_runner *d, unsigned slot,
                           enum xd_verdict verdict,
                           const struct xd_error *error)
{
    struct xd_outcome outcome = {.verdict = verdict,
                                 .error = *error,
                                 .object_size = d->slots[slot].object_size};

    xd_runner_end(d, slot, &outcome);
}

/* Returns whether to request the rest of a short response at once.  A response
 * with hardly any bytes is a failure instead, and the user of the runner
 * decides whether to retry. */
static bool goes_on_with_rest(const struct xd_runner *d,
                              const struct xd_runner_slot *s,
                              const struct xd_outcome *outcome)
{
    return d->config.asks_for_rest && outcome->verdict == XD_VERDICT_OK &&
           (s->has_less || (outcome->is_cut && has_progress(s))) &&
           s->received < s->request.length;
}

static void end_without_progress(struct xd_runner *d, unsigned slot)
{
    const struct xd_runner_slot *s = &d->slots[slot];
    struct xd_outcome outcome = {.verdict = XD_VERDICT_AGAIN,
                                 .object_size = s->object_size};

    xd_fail(&outcome.error, XD_E_NET,
            "%s: sent only %" PRIu64 " of %" PRIu64 " bytes at offset %" PRIu64,
            xd_url_name(s->request.url).s, s->received, s->request.length,
            s->request.offset);
    xd_runner_end(d, slot, &outcome);
}

void xd_runner_on_end(void *user, unsigned slot,
                      const struct xd_outcome *outcome)
{
    struct xd_runner *d = user;
    struct xd_runner_slot *s = &d->slots[slot];

    if (goes_on_with_rest(d, s, outcome)) {
        (void)leave_host(s, outcome);
        s->is_cut = true;
        s->is_held = false;
    } else if (s->is_shortened && s->received >= s->request.length) {
        xd_runner_end_unasked(d, slot, XD_VERDICT_OK, &(struct xd_error){0});
    } else if (d->config.asks_for_rest && outcome->is_cut &&
               outcome->verdict == XD_VERDICT_OK &&
               s->received < s->request.length) {
        end_without_progress(d, slot);
    } else {
        xd_runner_end(d, slot, outcome);
    }
}

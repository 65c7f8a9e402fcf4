/* SPDX-License-Identifier: MIT */
#include "io/ibp/ibp_end.h"

#include <inttypes.h>

#include "base/error.h"

void xd_ibp_end_decide(struct xd_ibp_request *q, enum xd_verdict verdict)
{
    q->is_decided = true;
    q->outcome.verdict = verdict;
}

bool xd_ibp_end_is_stale(const struct xd_ibp_request *q)
{
    return q->is_reused && !q->has_reported_head && !q->has_probed &&
           !q->has_go_ahead;
}

void xd_ibp_end_garbage(struct xd_ibp_request *q)
{
    if (xd_ibp_end_is_stale(q)) {
        q->must_reconnect = true;
        return;
    }
    xd_ibp_end_decide(q, XD_VERDICT_GONE);
    xd_fail(&q->outcome.error, XD_E_NET,
            "%s: answers with what is not a reply of IBP", q->name.s);
}

void xd_ibp_end_by_code(struct xd_ibp_request *q, int64_t code)
{
    bool may_pass = xd_ibp_may_pass(code);

    xd_ibp_end_decide(q, may_pass ? XD_VERDICT_AGAIN : XD_VERDICT_GONE);
    q->outcome.is_refusal = may_pass;
    xd_fail(&q->outcome.error, XD_E_NET, "%s: %s (%" PRId64 ")", q->name.s,
            xd_ibp_words(code), code);
}

void xd_ibp_end_connection(struct xd_ibp_request *q, int os_errno)
{
    if (xd_ibp_end_is_stale(q)) {
        q->must_reconnect = true;
        return;
    }
    xd_ibp_end_decide(q, XD_VERDICT_AGAIN);
    q->outcome.is_refusal = !q->has_reported_head;
    if (os_errno != 0)
        xd_fail_errno(&q->outcome.error, XD_E_NET, os_errno,
                      "%s: the connection broke at offset %" PRIu64, q->name.s,
                      q->at);
    else
        xd_fail(&q->outcome.error, XD_E_NET,
                "%s: the connection was closed early, at offset %" PRIu64,
                q->name.s, q->at);
}

void xd_ibp_end_refused(struct xd_ibp_request *q, int rc)
{
    xd_ibp_end_decide(q, XD_VERDICT_STOPPED);
    xd_fail(&q->outcome.error, (enum xd_code)rc, "%s: refused", q->name.s);
}

void xd_ibp_end_stop(struct xd_ibp_request *q)
{
    if (q->is_decided)
        return;
    xd_ibp_end_decide(q, XD_VERDICT_STOPPED);
    xd_fail(&q->outcome.error, XD_E_CANCELED, "%s: stopped at offset %" PRIu64,
            q->name.s, q->at);
}

void xd_ibp_end_silent(struct xd_ibp_request *q, xd_usec silence)
{
    if (q->is_decided)
        return;
    xd_ibp_end_decide(q, XD_VERDICT_AGAIN);
    q->outcome.is_unanswered = true;
    xd_fail(&q->outcome.error, XD_E_NET,
            "%s: no bytes for %.1f s at offset %" PRIu64, q->name.s,
            (double)silence / XD_SECOND, q->at);
}

void xd_ibp_end_nomem(struct xd_ibp_request *q)
{
    if (q->is_decided)
        return;
    xd_ibp_end_decide(q, XD_VERDICT_AGAIN);
    xd_fail_nomem(&q->outcome.error);
}

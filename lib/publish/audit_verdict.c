/* SPDX-License-Identifier: MIT */
#include "publish/audit_verdict.h"

#include <stdlib.h>

static bool is_slow(const struct xd_audit_facts *f)
{
    if (f->answered_after != XD_NEVER &&
        f->answered_after > XD_AUDIT_ANSWER_MOST)
        return true;
    return f->received_in >= XD_AUDIT_SLOW_TIME && f->bytes_per_s > 0 &&
           f->bytes_per_s * XD_AUDIT_SLOW_PART < f->median_bytes_per_s;
}

enum xd_audit_verdict xd_audit_judge(const struct xd_audit_facts *f)
{
    if (f->is_left_out)
        return XD_AUDIT_SKIPPED;
    if (f->is_line_down)
        return XD_AUDIT_UNREACHED;
    if (f->is_expired)
        return XD_AUDIT_EXPIRED;
    if (f->differs_in_size || f->has_changed)
        return XD_AUDIT_STALE;
    if (f->bytes_wrong > 0)
        return f->is_older ? XD_AUDIT_STALE : XD_AUDIT_LYING;
    if (!f->has_answered || f->has_failed)
        return f->is_denied ? XD_AUDIT_DENIED : XD_AUDIT_DEAD;
    if (f->is_disputed || f->bytes_disputed > 0)
        return XD_AUDIT_DISPUTED;
    if (f->has_no_ranges)
        return XD_AUDIT_UNRANGED;
    return is_slow(f) ? XD_AUDIT_SLOW : XD_AUDIT_OK;
}

const char *xd_audit_verdict_name(enum xd_audit_verdict verdict)
{
    switch (verdict) {
    case XD_AUDIT_SKIPPED:
        return "skipped";
    case XD_AUDIT_OK:
        return "ok";
    case XD_AUDIT_SLOW:
        return "slow";
    case XD_AUDIT_UNRANGED:
        return "unranged";
    case XD_AUDIT_DISPUTED:
        return "disputed";
    case XD_AUDIT_LYING:
        return "lying";
    case XD_AUDIT_STALE:
        return "stale";
    case XD_AUDIT_EXPIRED:
        return "expired";
    case XD_AUDIT_DENIED:
        return "denied";
    case XD_AUDIT_DEAD:
        return "dead";
    case XD_AUDIT_UNREACHED:
        return "unreached";
    }
    return "unknown";
}

bool xd_audit_verdict_is_usable(enum xd_audit_verdict verdict)
{
    return verdict == XD_AUDIT_OK || verdict == XD_AUDIT_SLOW ||
           verdict == XD_AUDIT_UNRANGED;
}

double xd_audit_rate(uint64_t bytes, xd_usec time)
{
    if (bytes < XD_AUDIT_RATE_BYTES)
        return 0;
    return (double)bytes /
           xd_seconds(time > XD_AUDIT_RATE_TIME ? time : XD_AUDIT_RATE_TIME);
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double xd_audit_median(double *list, size_t n)
{
    size_t n_measured = 0;

    for (size_t i = 0; i < n; i++) {
        if (list[i] > 0)
            list[n_measured++] = list[i];
    }
    if (n_measured == 0)
        return 0;
    qsort(list, n_measured, sizeof *list, by_number);
    return list[n_measured / 2];
}

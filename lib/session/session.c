/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include "base/check.h"

/* The phases in which each event is possible. */
#define IN(phase) (1U << XD_PHASE_##phase)

static const unsigned happens_in[] = {
    [XD_SESSION_STARTED] = IN(NEW),
    [XD_SESSION_SIZED] = IN(PROBE),
    [XD_SESSION_OPENED] = IN(OPEN),
    [XD_SESSION_COMPLETE] = IN(FETCH) | IN(REFETCH),
    [XD_SESSION_RESTART] = IN(FETCH) | IN(REFETCH) | IN(COMPARE) | IN(CHECK),
    [XD_SESSION_IDLE] = IN(STOP),
    [XD_SESSION_REPLACED] = IN(COMPARE),
    [XD_SESSION_DISCARDED] = IN(CHECK),
    [XD_SESSION_MATCHED] = IN(CHECK),
    [XD_SESSION_FAILED] = IN(NEW) | IN(PROBE) | IN(OPEN) | IN(FETCH) |
                          IN(STOP) | IN(REFETCH) | IN(COMPARE) | IN(CHECK) |
                          IN(FINISH),
    [XD_SESSION_ENDED] = IN(FINISH) | IN(FAIL)};

/* Events that a thread may still report after the download failed. */
#define EVENT(event) (1U << XD_SESSION_##event)

static const unsigned may_be_late = EVENT(OPENED) | EVENT(RESTART) |
                                    EVENT(REPLACED) | EVENT(DISCARDED) |
                                    EVENT(FAILED);

static struct xd_session_action enter(struct xd_session *s, enum xd_phase phase,
                                      enum xd_session_action_kind action)
{
    s->phase = phase;
    return (struct xd_session_action){.kind = action, .round = s->round};
}

static struct xd_session_action open_or_fetch(struct xd_session *s)
{
    if (s->has_file)
        return enter(s, XD_PHASE_OPEN, XD_SESSION_KEEP);
    return enter(s, XD_PHASE_FETCH, XD_SESSION_DECIDE);
}

static struct xd_session_action complete(struct xd_session *s,
                                         bool is_to_be_checked)
{
    if (s->phase == XD_PHASE_REFETCH)
        return enter(s, XD_PHASE_COMPARE, XD_SESSION_KEEP);
    if (is_to_be_checked)
        return enter(s, XD_PHASE_CHECK, XD_SESSION_KEEP);
    return enter(s, XD_PHASE_FINISH, XD_SESSION_LEAVE);
}

static struct xd_session_action begin(struct xd_session *s)
{
    return enter(
        s, s->round.kind == XD_ROUND_REPAIR ? XD_PHASE_REFETCH : XD_PHASE_FETCH,
        XD_SESSION_BEGIN);
}

/* When the file is complete, only its renaming remains, and a cancel does not
 * prevent that. */
static struct xd_session_action fail(struct xd_session *s, bool is_cancel)
{
    if (s->phase == XD_PHASE_FINISH && is_cancel && !s->is_pipe)
        return (struct xd_session_action){.kind = XD_SESSION_NOTHING};
    return enter(s, XD_PHASE_FAIL, XD_SESSION_LEAVE);
}

struct xd_session_action xd_session_step(struct xd_session *s,
                                         const struct xd_session_event *event)
{
    const struct xd_session_action nothing = {.kind = XD_SESSION_NOTHING};

    if (s->phase >= XD_PHASE_FAIL && may_be_late & 1U << event->kind)
        return nothing;
    XD_ASSERT(happens_in[event->kind] & 1U << s->phase);
    switch (event->kind) {
    case XD_SESSION_STARTED:
        if (!event->is_size_known)
            return enter(s, XD_PHASE_PROBE, XD_SESSION_DECIDE);
        return open_or_fetch(s);
    case XD_SESSION_SIZED:
        return open_or_fetch(s);
    case XD_SESSION_OPENED:
    case XD_SESSION_DISCARDED:
        return enter(s, XD_PHASE_FETCH, XD_SESSION_DECIDE);
    case XD_SESSION_COMPLETE:
        return complete(s, event->is_to_be_checked);
    case XD_SESSION_RESTART:
        s->round = event->round;
        return enter(s, XD_PHASE_STOP, XD_SESSION_DECIDE);
    case XD_SESSION_IDLE:
        return begin(s);
    case XD_SESSION_REPLACED:
        return enter(s, XD_PHASE_CHECK, XD_SESSION_KEEP);
    case XD_SESSION_MATCHED:
        return enter(s, XD_PHASE_FINISH, XD_SESSION_LEAVE);
    case XD_SESSION_FAILED:
        return fail(s, event->is_cancel);
    case XD_SESSION_ENDED:
        return enter(s, XD_PHASE_END, XD_SESSION_NOTHING);
    }
    return nothing;
}

/* ---- decisions ---- */

/* Returns `until`, or the time when the outage detector must be asked if that
 * is earlier. */
static xd_usec line_until(const struct xd_session *s, xd_usec until)
{
    if (s->line)
        until = xd_earlier(until, xd_line_wake(s->line));
    if (s->line && s->can_ping)
        until = xd_earlier(until, xd_line_doubt_at(s->line));
    return until;
}

/* Returns an action for an outage, or NOTHING. */
static struct xd_session_action heed_line(struct xd_session *s, xd_usec now)
{
    struct xd_session_action a = {.kind = XD_SESSION_NOTHING};
    xd_usec silent;
    unsigned fetch;

    if (!s->line)
        return a;
    if (xd_line_is_lost(s->line, now, &silent)) {
        a.kind = XD_SESSION_LOSE;
        a.silent = silent;
    } else if (s->can_ping && xd_line_is_in_doubt(s->line, now)) {
        a.kind = XD_SESSION_DOUBT;
    } else if (xd_line_next_stop(s->line, now, &fetch)) {
        a.kind = XD_SESSION_STOP;
        a.order =
            (struct xd_sched_action){.kind = XD_DO_CANCEL, .fetch = fetch};
    } else if (xd_line_pause(s->line, now) > now) {
        a.kind = XD_SESSION_REST;
        a.until = line_until(s, XD_NEVER);
    }
    return a;
}

static struct xd_sched_action ask(struct xd_session *s, xd_usec clock)
{
    if (s->sched)
        return xd_sched_next(s->sched, clock);
    if (s->size_probe)
        return xd_size_probe_next(s->size_probe, clock);
    /* the file is empty */
    return (struct xd_sched_action){.kind = XD_DO_FINISH};
}

static struct xd_session_action decide(struct xd_session *s, xd_usec now,
                                       xd_usec clock)
{
    struct xd_session_action a = heed_line(s, now);
    xd_usec until;

    if (a.kind != XD_SESSION_NOTHING)
        return a;
    a.kind = XD_SESSION_OBEY;
    a.order = ask(s, clock);
    if (a.order.kind != XD_DO_WAIT)
        return a;
    until = a.order.until;
    if (until < XD_NEVER - (now - clock))
        until += now - clock;
    a.order.until = line_until(s, until);
    return a;
}

struct xd_session_action xd_session_next(struct xd_session *s, xd_usec now,
                                         xd_usec clock)
{
    switch (s->phase) {
    case XD_PHASE_PROBE:
    case XD_PHASE_FETCH:
    case XD_PHASE_REFETCH:
        return decide(s, now, clock);
    case XD_PHASE_STOP:
        return (struct xd_session_action){.kind = XD_SESSION_STOP_ALL};
    case XD_PHASE_NEW:
    case XD_PHASE_OPEN: /* the keeper is busy */
    case XD_PHASE_COMPARE:
    case XD_PHASE_CHECK:
    case XD_PHASE_FINISH:
    case XD_PHASE_FAIL:
    case XD_PHASE_END:
        break;
    }
    return (struct xd_session_action){.kind = XD_SESSION_NOTHING};
}

/* The data of a request may be delayed by other data in the queues of the
 * network path, so the limit grows with that delay.  A limit that the user set
 * is used as it is. */
xd_usec xd_session_silence(const struct xd_session *s, xd_usec now)
{
    xd_usec queue = s->sched ? xd_sched_queue_time(s->sched, now) : 0;

    return queue > s->silence && !s->is_silence_exact ? queue : s->silence;
}

void xd_session_fini(struct xd_session *s)
{
    xd_line_free(s->line);
    xd_size_probe_free(s->size_probe);
    xd_sched_free(s->sched);
}

/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/net_context.h"

void xd_engine_lock(struct xd_engine *e)
{
    xd_mutex_lock(&e->lock);
}

void xd_engine_settle_locked(struct xd_engine *e)
{
    while (e->pending.must_decide || e->pending.must_wake_readers) {
        bool must_decide = e->pending.must_decide;

        e->pending.must_decide = false;
        if (must_decide) {
            e->hooks->decide_locked(e);
        } else {
            e->pending.must_wake_readers = false;
            e->hooks->wake_readers_locked(e);
        }
    }
}

void xd_engine_unlock(struct xd_engine *e)
{
    struct xd_log_line *entry;
    bool must_call;

    xd_engine_settle_locked(e);
    entry = e->pending.lines;
    must_call = e->pending.must_call;

    e->pending.lines = NULL;
    e->pending.lines_end = &e->pending.lines;
    e->pending.must_call = false;
    xd_mutex_unlock(&e->lock);
    while (entry) {
        struct xd_log_line *next = entry->next;

        xd_log(&e->log, entry->level, "%s", entry->line);
        xd_free(entry->line);
        xd_free(entry);
        entry = next;
    }
    if (must_call)
        xd_notifiers_call(&e->notifiers);
}

bool xd_engine_wait_locked(struct xd_engine *e, struct xd_cond *c,
                           xd_usec until)
{
    if (!e->pending.must_decide && !e->pending.must_wake_readers &&
        !e->pending.lines && !e->pending.must_call)
        return xd_cond_wait_until(c, &e->lock, until);
    xd_engine_unlock(e);
    xd_engine_lock(e);
    return true;
}

void xd_engine_raise_locked(struct xd_engine *e, struct xd_notifier *n)
{
    if (xd_notifier_raise(n))
        e->pending.must_call = true;
}

int xd_engine_may_wait(struct xd_engine *e, struct xd_error *err)
{
    return xd_notifiers_are_calling(&e->notifiers)
               ? xd_fail(err, XD_E_STATE,
                         "a wakeup function must not call a function that "
                         "waits; wake another thread instead")
               : 0;
}

void xd_engine_set_wakeup(struct xd_engine *e, struct xd_notifier *n,
                          xd_wakeup_fn *function, void *user)
{
    if (xd_engine_may_wait(e, NULL) < 0)
        return;
    xd_notifier_set_function(&e->notifiers, n, function, user);
    xd_engine_lock(e);
    n->has_function = function != NULL;
    if (function && n->is_raised) {
        atomic_store(&n->is_due, true);
        e->pending.must_call = true;
    }
    xd_engine_unlock(e);
}

void xd_engine_log_locked(struct xd_engine *e, enum xd_log_level level,
                          const char *format, ...)
{
    struct xd_log_line *entry;
    char line[700];
    va_list args;

    if (!e->options.log)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* if memory runs out, the line is lost, but the download continues */
    entry = xd_alloc(1, sizeof *entry);
    if (!entry)
        return;
    entry->level = level;
    entry->line = xd_strdup(line);
    if (!entry->line) {
        xd_free(entry);
        return;
    }
    *e->pending.lines_end = entry;
    e->pending.lines_end = &entry->next;
}

void xd_engine_wake_all_locked(struct xd_engine *e)
{
    xd_cond_broadcast(&e->work_ready);
    xd_cond_broadcast(&e->bytes_ready);
    if (xd_engine_is_over_locked(e))
        xd_net_context_shorten_waits(e->context);
    for (unsigned i = 0; i < e->workers.n; i++) {
        xd_runner_wakeup(e->workers.list[i]->runner);
    }
    e->hooks->wake_threads_locked(e);
}

static void carry_out_locked(struct xd_engine *e,
                             const struct xd_session_action *action)
{
    switch (action->kind) {
    case XD_SESSION_NOTHING:
    case XD_SESSION_BEGIN: /* carried out by decide.c */
    case XD_SESSION_OBEY:
    case XD_SESSION_REST:
    case XD_SESSION_STOP:
    case XD_SESSION_STOP_ALL:
    case XD_SESSION_DOUBT:
    case XD_SESSION_LOSE:
        break;
    case XD_SESSION_DECIDE:
        xd_engine_decide_later_locked(e);
        break;
    case XD_SESSION_KEEP:
        xd_cond_signal(&e->bytes_ready);
        break;
    case XD_SESSION_LEAVE:
        xd_engine_wake_all_locked(e);
        /* a pipe at the end of the file may be waiting for a sample */
        xd_engine_wake_readers_locked(e);
        break;
    }
}

void xd_engine_step_locked(struct xd_engine *e, struct xd_session_event event)
{
    const struct xd_session_action action =
        xd_session_step(&e->session, &event);

    carry_out_locked(e, &action);
}

void xd_engine_end_locked(struct xd_engine *e)
{
    xd_engine_step_locked(e,
                          (struct xd_session_event){.kind = XD_SESSION_ENDED});
    e->times.ended = xd_now();
    xd_engine_raise_locked(e, &e->notifier);
    xd_cond_broadcast(&e->ended);
    xd_engine_wake_readers_locked(e);
}

void xd_engine_fail_locked(struct xd_engine *e, const struct xd_error *error)
{
    const struct xd_session_event event = {
        .kind = XD_SESSION_FAILED, .is_cancel = error->code == XD_E_CANCELED};
    const struct xd_session_action action =
        xd_session_step(&e->session, &event);

    if (action.kind == XD_SESSION_NOTHING)
        return;
    e->error = *error;
    carry_out_locked(e, &action);
    if (!e->keeper.has_thread)
        xd_engine_end_locked(e);
}

void xd_engine_cancel(struct xd_engine *e)
{
    struct xd_error error = {0};

    xd_fail(&error, XD_E_CANCELED, "the download was canceled");
    xd_engine_lock(e);
    xd_engine_fail_locked(e, &error);
    xd_engine_unlock(e);
}

void xd_engine_fail_nomem_locked(struct xd_engine *e)
{
    struct xd_error error = {0};

    xd_fail_nomem(&error);
    xd_engine_fail_locked(e, &error);
}

#include "engine/engine.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/commons.h"

void xd_engine_lock(struct xd_engine *e)
{
    xd_mutex_lock(&e->lock);
}

void xd_engine_settle_locked(struct xd_engine *e)
{
    while (e->is_decision_due || e->are_readers_due) {
        bool is_decision_due = e->is_decision_due;

        e->is_decision_due = false;
        if (is_decision_due) {
            e->hooks->decide_locked(e);
        } else {
            e->are_readers_due = false;
            e->hooks->wake_readers_locked(e);
        }
    }
}

void xd_engine_unlock(struct xd_engine *e)
{
    struct xd_news *news;
    bool has_wakeups;

    xd_engine_settle_locked(e);
    news = e->news;
    has_wakeups = e->has_wakeups;

    e->news = NULL;
    e->news_end = &e->news;
    e->has_wakeups = false;
    xd_mutex_unlock(&e->lock);
    while (news) {
        struct xd_news *next = news->next;

        xd_log(&e->log, news->level, "%s", news->line);
        xd_free(news->line);
        xd_free(news);
        news = next;
    }
    if (has_wakeups)
        xd_notifiers_call(&e->notifiers);
}

bool xd_engine_wait_locked(struct xd_engine *e, struct xd_cond *c,
                           xd_usec until)
{
    if (!e->is_decision_due && !e->are_readers_due && !e->news &&
        !e->has_wakeups)
        return xd_cond_wait_until(c, &e->lock, until);
    xd_engine_unlock(e);
    xd_engine_lock(e);
    return true;
}

void xd_engine_raise_locked(struct xd_engine *e, struct xd_notifier *n)
{
    if (xd_notifier_raise(n))
        e->has_wakeups = true;
}

void xd_engine_set_wakeup(struct xd_engine *e, struct xd_notifier *n,
                          xd_wakeup_fn *function, void *user)
{
    xd_notifier_set_function(&e->notifiers, n, function, user);
    xd_engine_lock(e);
    n->has_function = function != NULL;
    if (function && n->is_raised) {
        atomic_store(&n->is_due, true);
        e->has_wakeups = true;
    }
    xd_engine_unlock(e);
}

void xd_engine_say_locked(struct xd_engine *e, enum xd_log_level level,
                          const char *format, ...)
{
    struct xd_news *news;
    char line[700];
    va_list args;

    if (!e->options.log)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* A line that finds no memory is lost; the download is not. */
    news = xd_alloc(1, sizeof *news);
    if (!news)
        return;
    news->level = level;
    news->line = xd_strdup(line);
    if (!news->line) {
        xd_free(news);
        return;
    }
    *e->news_end = news;
    e->news_end = &news->next;
}

void xd_engine_wake_all_locked(struct xd_engine *e)
{
    xd_cond_broadcast(&e->work_ready);
    xd_cond_broadcast(&e->bytes_ready);
    if (xd_engine_is_over_locked(e))
        xd_commons_hurry(e->commons);
    for (unsigned i = 0; i < e->n_workers; i++) {
        xd_runner_wakeup(e->workers[i]->runner);
    }
    e->hooks->wake_threads_locked(e);
}

void xd_engine_end_locked(struct xd_engine *e)
{
    e->state = ENGINE_ENDED;
    e->end_time = xd_now();
    xd_engine_raise_locked(e, &e->notifier);
    xd_cond_broadcast(&e->ended);
    xd_engine_wake_readers_locked(e);
}

void xd_engine_fail_locked(struct xd_engine *e, const struct xd_error *error)
{
    /* A complete file only waits for its name; a pipe may still be full. */
    if (e->state == ENGINE_FAILING || e->state == ENGINE_ENDED ||
        (e->state == ENGINE_FINISHING && e->output != XD_OUTPUT_PIPE &&
         error->code == XD_E_CANCELED))
        return;
    e->error = *error;
    e->state = ENGINE_FAILING;
    if (!e->has_keeper)
        xd_engine_end_locked(e);
    xd_engine_wake_all_locked(e);
    xd_engine_wake_readers_locked(e);
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

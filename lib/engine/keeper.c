#include "engine/keeper.h"

#include "base/error.h"
#include "engine/decide.h"
#include "engine/inform.h"

/* All before this byte of the file can be written out in order. */
static uint64_t frontier_locked(const struct xd_engine *e)
{
    struct xd_range rest = {e->drained, e->wanted.end};

    return xd_rangeset_next_gap(&e->kept, rest).begin;
}

/* True when there is something to do. */
static bool wait_locked(struct xd_engine *e)
{
    for (;;) {
        if (e->state == ENGINE_ENDED)
            return false;
        if (e->state == ENGINE_FINISHING)
            return true;
        if (e->ordered && frontier_locked(e) > e->drained)
            return true;
        xd_cond_wait(&e->bytes_ready, &e->lock);
    }
}

/* Write out what lies in order, without the lock. */
static void drain_locked(struct xd_engine *e)
{
    uint64_t frontier = frontier_locked(e);
    uint64_t begin = e->wanted.begin;
    struct xd_error error = {0};
    int rc;

    xd_engine_unlock(e);
    rc = xd_ordered_sink_drain(e->ordered, frontier - begin, &error);
    xd_engine_lock(e);
    if (rc < 0) {
        xd_engine_fail_locked(e, &error);
        return;
    }
    e->drained = frontier;
    if (!xd_engine_is_over_locked(e))
        xd_inform_reader_locked(e, frontier);
    xd_decide_locked(e);
    xd_engine_wake_all_locked(e);
}

static void finish_locked(struct xd_engine *e)
{
    uint64_t size = xd_range_length(e->wanted);
    struct xd_error error = {0};
    int rc;

    xd_engine_unlock(e);
    rc = xd_sink_finish(e->sink, size, &error);
    xd_engine_lock(e);
    if (rc < 0)
        xd_engine_fail_locked(e, &error);
    else
        xd_engine_succeed_locked(e);
}

static void *keeper_main(void *arg)
{
    struct xd_engine *e = arg;

    xd_engine_lock(e);
    while (wait_locked(e)) {
        if (e->ordered && frontier_locked(e) > e->drained)
            drain_locked(e);
        else
            finish_locked(e);
    }
    xd_engine_unlock(e);
    return NULL;
}

int xd_keeper_start(struct xd_engine *e, struct xd_error *err)
{
    if (xd_thread_start(&e->keeper, keeper_main, e) < 0)
        return xd_fail_nomem(err);
    e->has_keeper = true;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "engine/set_keep.h"

#include "base/check.h"
#include "engine/engine.h"
#include "os/clock.h"

/* Data is synced after this time.  That much may be lost if the machine
 * crashes. */
#define SYNC_AFTER (5 * XD_SECOND)

bool xd_set_keeps(const struct xd_engine *e, uint64_t byte)
{
    return e->set.n_kept > 0 && xd_set_place_of(e, byte)->hashes;
}

void xd_set_written_locked(struct xd_engine *e, struct xd_range range)
{
    struct xd_set_keep *k = &e->set.keep;

    if (k->sync_at != 0 || !xd_set_keeps(e, range.begin))
        return;
    k->sync_at = xd_now() + SYNC_AFTER;
    xd_cond_signal(&e->bytes_ready);
}

void xd_set_dropped_locked(struct xd_engine *e, struct xd_range range)
{
    if (e->set.n_kept == 0)
        return;
    if (xd_rangeset_add(&e->set.keep.dropped, range) < 0)
        xd_engine_fail_nomem_locked(e);
    xd_cond_signal(&e->bytes_ready);
}

xd_usec xd_set_keep_at_locked(const struct xd_engine *e)
{
    const struct xd_set_keep *k = &e->set.keep;

    if (k->dropped.n > 0)
        return 0;
    return k->sync_at != 0 ? k->sync_at : XD_NEVER;
}

bool xd_set_can_keep_locked(const struct xd_engine *e)
{
    return xd_session_is_running(&e->session) &&
           xd_now() >= xd_set_keep_at_locked(e);
}

/* Called when the journal of a file cannot be written.  After the end of the
 * download this is not reported. */
static void broke(void *engine, const size_t *file, size_t n,
                  const struct xd_error *error)
{
    struct xd_engine *e = engine;

    XD_ASSERT(n == 1);
    xd_engine_lock(e);
    if (xd_set_bears(e, error))
        (void)xd_set_fail_locked(e, e->set.places[*file].range, error);
    else
        xd_engine_fail_locked(e, error);
    xd_engine_unlock(e);
}

/* Removes discarded bytes from the journals before the next sync.  Otherwise
 * the next run would use them. */
static void note_dropped_locked(struct xd_engine *e)
{
    struct xd_rangeset dropped = e->set.keep.dropped;

    xd_rangeset_init(&e->set.keep.dropped);
    xd_engine_unlock(e);
    for (size_t i = 0; i < dropped.n; i++)
        xd_set_sink_drop(e->set.sink, dropped.ranges[i], broke, e);
    xd_rangeset_fini(&dropped);
    xd_engine_lock(e);
}

static void sync_locked(struct xd_engine *e)
{
    e->set.keep.sync_at = 0;
    xd_engine_unlock(e);
    xd_set_sink_sync(e->set.sink, broke, e);
    xd_engine_lock(e);
}

void xd_set_keep_work_locked(struct xd_engine *e)
{
    if (e->set.keep.dropped.n > 0)
        note_dropped_locked(e);
    else
        sync_locked(e);
}

void xd_set_save_locked(struct xd_engine *e)
{
    if (!e->set.sink) /* not a set, or not started */
        return;
    note_dropped_locked(e);
    sync_locked(e);
}

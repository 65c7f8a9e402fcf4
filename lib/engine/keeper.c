/* SPDX-License-Identifier: MIT */
#include "engine/keeper.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/depot_cache.h"
#include "engine/decode.h"
#include "engine/engine.h"
#include "engine/remote_time.h"
#include "engine/trust/fetched_version.h"
#include "engine/via_ask.h"

/* Maximum wait for threads to end.  The timeout of their transports is a third
 * of it.  If a disk or a name server blocks a thread for longer, the download
 * ends without it. */
#define LEAVING_MOST XD_SECOND

/* Returns when there will be work even if nothing happens. */
static xd_usec work_at_locked(const struct xd_engine *e)
{
    return xd_earlier(e->resume.sync_at, xd_earlier(xd_set_keep_at_locked(e),
                                                    xd_set_work_at_locked(e)));
}

/* Waits for work or the end of the download. */
static void wait_locked(struct xd_engine *e)
{
    while (e->session.phase != XD_PHASE_OPEN && !xd_resume_can_work_locked(e) &&
           !xd_verify_can_work_locked(e) && !xd_repair_can_work_locked(e) &&
           !xd_decode_can_work_locked(e) && !xd_set_can_keep_locked(e) &&
           !xd_set_can_work_locked(e) && !xd_engine_is_over_locked(e))
        xd_engine_wait_locked(e, &e->bytes_ready, work_at_locked(e));
}

/* Waits while workers report the bytes of running requests and save them for
 * the next run. */
static void wait_for_workers_locked(struct xd_engine *e)
{
    xd_usec until = xd_now() + LEAVING_MOST;

    while ((e->workers.n_serving > 0 || e->pipe.is_running) &&
           xd_engine_wait_locked(e, &e->bytes_ready, until))
        ;
}

/* Waits until the last bytes were written to the pipe. */
static void wait_for_pipe_locked(struct xd_engine *e)
{
    while (e->pipe.is_running && e->session.phase == XD_PHASE_FINISH)
        xd_engine_wait_locked(e, &e->bytes_ready, XD_NEVER);
}

/* Renames the complete file. */
static void finish_locked(struct xd_engine *e)
{
    uint64_t size = xd_range_length(e->wanted);
    const int64_t modified = xd_remote_time_locked(e);
    char *const version =
        e->dest.path ? xd_fetched_version_locked(e, e->wanted) : NULL;
    struct xd_error error = {0};

    xd_engine_unlock(e);
    if (xd_sink_finish(e->dest.sink, size, &error) == 0) {
        if (modified != 0)
            xd_file_sink_set_time(e->dest.sink, modified);
        if (version)
            xd_file_sink_set_note(e->dest.sink, version);
        (void)xd_resume_finish(e, &error);
    }
    xd_free(version);
    xd_engine_lock(e);
    e->error = error.code < 0 ? error : xd_set_end_locked(e);
}

/* Finishes a complete download.  All bytes are written, so the file can be
 * renamed before workers end.  After that, errors of other threads do not make
 * the download fail. */
static void end_locked(struct xd_engine *e)
{
    struct xd_error outcome;

    finish_locked(e);
    outcome = e->error;
    wait_for_workers_locked(e);
    e->error = outcome;
}

/* Prepares the mesh and opens the file before the first request. */
static void open_locked(struct xd_engine *e)
{
    xd_via_open_locked(e);
    if (xd_engine_is_over_locked(e))
        return;
    if (e->dest.path)
        xd_resume_open_locked(e);
    else
        xd_engine_step_locked(
            e, (struct xd_session_event){.kind = XD_SESSION_OPENED});
}

static void *keeper_main(void *arg)
{
    struct xd_engine *e = arg;

    xd_engine_lock(e);
    for (;;) {
        wait_locked(e);
        if (e->session.phase == XD_PHASE_OPEN)
            open_locked(e);
        else if (xd_resume_can_work_locked(e))
            xd_resume_work_locked(e);
        else if (xd_set_can_keep_locked(e))
            xd_set_keep_work_locked(e);
        else if (xd_verify_can_work_locked(e))
            xd_verify_work_locked(e);
        else if (xd_decode_can_work_locked(e))
            xd_decode_work_locked(e);
        else if (xd_repair_can_work_locked(e))
            xd_repair_work_locked(e);
        else if (xd_set_can_work_locked(e))
            xd_set_work_locked(e);
        else
            break;
    }
    wait_for_pipe_locked(e);
    if (e->session.phase == XD_PHASE_FINISH)
        end_locked(e);
    else
        wait_for_workers_locked(e);
    if (e->error.code < 0) {
        xd_resume_note_failure_locked(e);
        xd_resume_save_locked(e);
        xd_set_save_locked(e);
        xd_engine_unlock(e);
        xd_resume_remove_empty(e);
        xd_set_clean_up(e);
        xd_engine_lock(e);
    }
    xd_engine_end_locked(e);
    xd_engine_unlock(e);
    /* the program waits for this only in the function that frees the
     * download */
    xd_depot_cache_save(e);
    return NULL;
}

int xd_keeper_start_locked(struct xd_engine *e, struct xd_error *err)
{
    if (xd_thread_start(&e->keeper.thread, keeper_main, e) < 0)
        return xd_fail_nomem(err);
    e->keeper.has_thread = true;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "engine/readers/pipe.h"

#include <string.h>
#include <xdownload/stream.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/readers/reader.h"

#define BUFFER_BYTES ((size_t)256 << 10)

/* Number of bytes held back until the hash and the signature of the whole file
 * have been checked.  If the check fails, they are never written, so the
 * program that reads the pipe gets a truncated file.  It cannot see our exit
 * status. */
#define HELD_BACK ((size_t)16 << 10)

/* Writes bytes of the buffer, which has `n` new bytes after those that were
 * held back.  Holds back the last bytes again if the whole file has a hash. */
static int pass_on(struct xd_engine *e, size_t n, struct xd_error *err)
{
    struct xd_pipe *p = &e->pipe;
    size_t all = p->held + n, out = all;
    int rc;

    if (xd_verify_passes_whole(e)) {
        xd_verify_pass(e, p->buffer + p->held, n);
        out = all > HELD_BACK ? all - HELD_BACK : 0;
    }
    rc = xd_output_write(&p->output, p->buffer, out, err);
    memmove(p->buffer, p->buffer + out, all - out);
    p->held = all - out;
    return rc;
}

/* Ends the stream after all bytes have been read. */
static int finish(struct xd_engine *e, struct xd_error *err)
{
    struct xd_signature_check check = {.signature = NULL};
    struct xd_pipe *p = &e->pipe;
    int rc;

    xd_engine_lock(e);
    rc = xd_verify_judge_locked(e, err);
    if (rc == 0)
        check = xd_verify_take_signature_locked(e);
    xd_engine_unlock(e);
    xd_verify_check_signature(&check);
    xd_engine_lock(e);
    if (rc == 0)
        rc = xd_verify_give_signature_locked(e, &check, err);
    xd_engine_unlock(e);
    return rc < 0 ? rc : xd_output_write(&p->output, p->buffer, p->held, err);
}

/* Reads the next bytes to the buffer, after the bytes held back. */
static int64_t read_next(struct xd_engine *e)
{
    struct xd_pipe *p = &e->pipe;
    int64_t n;

    xd_engine_lock(e);
    xd_reader_wish_locked(p->reader);
    n = xd_reader_take_locked(p->reader, p->buffer + p->held,
                              BUFFER_BYTES - p->held, 0);
    xd_engine_unlock(e);
    return n;
}

static int copy(struct xd_engine *e, struct xd_error *err)
{
    struct xd_pipe *p = &e->pipe;
    int64_t n;
    int rc = 0;

    while (rc == 0) {
        n = read_next(e);
        if (n == 0)
            return finish(e, err);
        if (n > 0) {
            rc = pass_on(e, (size_t)n, err);
        } else if (n == XD_E_AGAIN) {
            rc = xd_output_wait(&p->output, p->wakeup, err);
        } else {
            xd_reader_error(p->reader, err);
            rc = (int)n;
        }
    }
    return rc;
}

static void *pipe_main(void *arg)
{
    struct xd_engine *e = arg;
    struct xd_error error = {0};
    int rc = copy(e, &error);

    xd_engine_lock(e);
    if (rc < 0)
        xd_engine_fail_locked(e, &error);
    e->pipe.is_running = false;
    xd_cond_broadcast(&e->bytes_ready);
    xd_engine_unlock(e);
    return NULL;
}

static int make_locked(struct xd_engine *e, struct xd_error *err)
{
    struct xd_pipe *p = &e->pipe;
    int stop;

    p->buffer = xd_alloc(BUFFER_BYTES, 1);
    if (!p->buffer)
        return xd_fail_nomem(err);
    stop = xd_notifier_descriptor(&p->stop, err);
    if (stop < 0)
        return stop;
    xd_output_init(&p->output, p->fd, stop);
    p->wakeup = xd_notifier_descriptor(&p->reader->notifier, err);
    return p->wakeup < 0 ? p->wakeup : 0;
}

int xd_pipe_start_locked(struct xd_engine *e, struct xd_error *err)
{
    struct xd_pipe *p = &e->pipe;
    int rc;

    if (xd_readers_add_locked(e, &p->reader) < 0)
        return xd_fail_nomem(err);
    xd_notifier_init(&p->stop);
    xd_notifier_clear(&p->stop);
    p->reader->has_begun = true;
    rc = make_locked(e, err);
    if (rc == 0 && xd_thread_start(&p->thread, pipe_main, e) < 0)
        rc = xd_fail_nomem(err);
    p->has_thread = p->is_running = rc == 0;
    return rc;
}

void xd_pipe_stop_locked(struct xd_engine *e)
{
    if (e->pipe.reader)
        xd_notifier_raise(&e->pipe.stop);
}

void xd_pipe_free(struct xd_engine *e)
{
    struct xd_pipe *p = &e->pipe;

    if (!p->reader)
        return;
    if (p->has_thread)
        xd_thread_join(&p->thread);
    xd_notifier_fini(&e->notifiers, &p->stop);
    xd_reader_release(p->reader);
    xd_free(p->buffer);
}

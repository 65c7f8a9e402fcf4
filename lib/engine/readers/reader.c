/* SPDX-License-Identifier: MIT */
/*
 * The functions of a reader, except its creation.
 */
#include "engine/readers/reader.h"

#include <xdownload/stream.h>

#include "base/copy_out.h"
#include "base/error.h"
#include "command/readers.h"
#include "engine/engine.h"
#include "engine/readers/look.h"
#include "engine/readers/window.h"
#include "engine/trust/unverified.h"

/* How far a reader moves before its position is reported to the scheduler
 * again. */
#define STEP ((uint64_t)64 << 10)

/* Waits for an event that concerns the reader.  Returns false after a
 * timeout. */
static bool wait_locked(struct xd_reader *r, xd_usec until)
{
    struct xd_engine *e = r->engine;
    xd_usec began = xd_now();
    bool in_time;

    if (!r->is_waiting) {
        r->is_waiting = true;
        xd_readers_moved_locked(r);
    }
    in_time = xd_engine_wait_locked(e, &e->readers.readable, until);
    r->blocked += xd_now() - began;
    return in_time;
}

static xd_usec moment(int timeout_ms)
{
    return timeout_ms < 0 ? XD_NEVER : xd_now() + (xd_usec)timeout_ms * XD_MS;
}

/* Fails with AGAIN.  The program need not call again until the notifier is
 * raised. */
static int fail_again_locked(struct xd_reader *r, const char *what)
{
    struct xd_engine *e = r->engine;

    xd_notifier_clear(&r->notifier);
    if (xd_readers_until_locked(e, e->decisions.until) < e->decisions.until) {
        e->decisions.until = xd_readers_until_locked(e, e->decisions.until);
        /* wake the threads that would sleep beyond the new time */
        xd_engine_wake_all_locked(e);
    }
    return xd_fail(&r->error, XD_E_AGAIN, "%s is not here yet", what);
}

int64_t xd_reader_await_size_locked(struct xd_reader *r, int timeout_ms)
{
    struct xd_engine *e = r->engine;
    xd_usec until = moment(timeout_ms);
    int64_t rc = 0;

    r->error = (struct xd_error){0};
    r->awaits = READER_AWAITS_SIZE;
    while (rc == 0 && (r->is_interrupted || !xd_look_has_size_locked(e))) {
        rc = xd_look_trouble_locked(r);
        if (rc == 0 && !wait_locked(r, until))
            rc = fail_again_locked(r, "the size");
    }
    r->is_waiting = false;
    return rc < 0 ? rc : (int64_t)xd_range_length(e->wanted);
}

/* Copies bytes to the caller.  They are not dropped meanwhile. */
static int64_t copy_locked(struct xd_reader *r, struct xd_range from, void *buf)
{
    struct xd_engine *e = r->engine;
    size_t len = (size_t)xd_range_length(from);
    struct xd_error error = {0};
    int rc;

    if (xd_unverified_note_locked(r, from) < 0)
        return xd_fail_nomem(&r->error);
    r->copied = from;
    if ((e->depots.size == XD_SIZE_UNKNOWN || e->dest.output->is_read_once) &&
        e->readers.handed_out < from.end)
        e->readers.handed_out = from.end;
    xd_engine_unlock(e);
    rc = xd_sink_read(e->dest.sink, from.begin - e->wanted.begin, buf, len,
                      &error);
    xd_engine_lock(e);
    r->copied.end = r->copied.begin;
    if (r->revoked.code != XD_OK)
        return xd_look_fail_revoked(r);
    if (rc < 0) {
        r->error = error;
        return rc;
    }
    r->position += len;
    if (r->position - r->reported_at >= STEP)
        xd_readers_moved_locked(r);
    return (int64_t)len;
}

void xd_reader_wish_locked(struct xd_reader *r)
{
    r->error = (struct xd_error){0};
    r->awaits = READER_AWAITS_BYTES;
    r->read_at = xd_now();
    r->has_begun = true;
    xd_meter_wish(&r->meter, r->read_at);
}

int64_t xd_reader_take_locked(struct xd_reader *r, void *buf, size_t len,
                              int timeout_ms)
{
    xd_usec until = moment(timeout_ms);
    struct xd_range here;
    int64_t rc;

    while (rc = xd_look_locked(r, len, &here), rc == XD_E_AGAIN) {
        bool is_short = r->end_by > xd_now() && r->end_by < until;

        if (!wait_locked(r, is_short ? r->end_by : until) && !is_short) {
            rc = xd_look_locked(r, len, &here);
            break;
        }
    }
    r->is_waiting = false;
    if (rc == XD_E_AGAIN)
        return fail_again_locked(r, "the next byte");
    if (rc == 0 && !xd_range_is_empty(here))
        return copy_locked(r, here, buf);
    return rc;
}

void xd_reader_set_wakeup(struct xd_reader *r, xd_wakeup_fn *function,
                          void *user)
{
    xd_engine_set_wakeup(r->engine, &r->notifier, function, user);
}

int xd_reader_descriptor(struct xd_reader *r, struct xd_error *err)
{
    int fd;

    xd_engine_lock(r->engine);
    fd = xd_notifier_descriptor(&r->notifier, err);
    xd_engine_unlock(r->engine);
    return fd;
}

int64_t xd_reader_seek(struct xd_reader *r, uint64_t to)
{
    struct xd_engine *e = r->engine;
    int64_t rc = (int64_t)to;

    xd_engine_lock(e);
    r->error = (struct xd_error){0};
    if (to > INT64_MAX ||
        (xd_look_has_size_locked(e) && to > xd_range_length(e->wanted)))
        rc = xd_fail(&r->error, XD_E_INVAL, "byte %llu lies behind the end",
                     (unsigned long long)to);
    else
        xd_readers_seek_locked(r, to);
    if (xd_look_is_ready_locked(r))
        xd_engine_raise_locked(e, &r->notifier);
    xd_engine_unlock(e);
    return rc;
}

uint64_t xd_reader_position(struct xd_reader *r)
{
    uint64_t position;

    xd_engine_lock(r->engine);
    position = r->position;
    xd_engine_unlock(r->engine);
    return position;
}

void xd_reader_interrupt(struct xd_reader *r, bool on)
{
    xd_engine_lock(r->engine);
    r->is_interrupted = on;
    xd_engine_wake_readers_locked(r->engine);
    xd_engine_unlock(r->engine);
}

void xd_reader_error(struct xd_reader *r, struct xd_error *out)
{
    xd_engine_lock(r->engine);
    *out = r->error;
    xd_engine_unlock(r->engine);
}

void xd_reader_playhead(struct xd_reader *r, uint64_t byte, double bytes_per_s,
                        enum xd_play_state state)
{
    xd_usec now;

    xd_engine_lock(r->engine);
    now = xd_now();
    r->player.byte = byte;
    r->player.at = now;
    r->player.is_playing = state == XD_PLAY_RUNNING;
    if (bytes_per_s >= 1 && bytes_per_s < (double)(UINT64_MAX / 2))
        r->player.bytes_per_s = (uint64_t)bytes_per_s;
    xd_windows_rate_locked(r->engine);
    xd_readers_measure_locked(r);
    xd_meter_play(&r->meter, now, byte, bytes_per_s, state);
    xd_readers_measure_locked(r);
    xd_readers_moved_locked(r);
    xd_engine_unlock(r->engine);
}

void xd_reader_playback(struct xd_reader *r, struct xd_playback *out)
{
    struct xd_playback p;

    xd_engine_lock(r->engine);
    xd_readers_measure_locked(r);
    xd_meter_get(&r->meter, &p);
    p.blocked_s = xd_seconds(r->blocked);
    p.byte = r->player.byte;
    xd_engine_unlock(r->engine);
    xd_copy_out(out, &p, sizeof p);
}

static int get_wait(struct xd_reader *r, const struct xd_waits *waits, size_t i,
                    struct xd_stall *out)
{
    struct xd_stall s = {0};
    bool is_there;

    xd_engine_lock(r->engine);
    is_there = i < waits->n;
    if (is_there)
        s = (struct xd_stall){.media_s = waits->list[i].media_s,
                              .seconds = waits->list[i].seconds};
    xd_engine_unlock(r->engine);
    if (is_there)
        xd_copy_out(out, &s, sizeof s);
    return is_there ? 0 : XD_E_INVAL;
}

int xd_reader_get_stall(struct xd_reader *r, size_t i, struct xd_stall *out)
{
    return get_wait(r, &r->meter.stalls, i, out);
}

int xd_reader_get_seek_wait(struct xd_reader *r, size_t i, struct xd_stall *out)
{
    return get_wait(r, &r->meter.restarts, i, out);
}

int xd_reader_get_level(struct xd_reader *r, size_t i, struct xd_level *out)
{
    struct xd_level level = {0};
    bool is_there;

    xd_engine_lock(r->engine);
    is_there = i < r->meter.n_levels;
    if (is_there)
        level = r->meter.levels[i];
    xd_engine_unlock(r->engine);
    if (is_there)
        xd_copy_out(out, &level, sizeof level);
    return is_there ? 0 : XD_E_INVAL;
}

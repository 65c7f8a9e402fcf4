/*
 * The public face of an engine that is read from while it runs.
 */
#include <xdownload/stream.h>

#include "base/copy_out.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/lifetime.h"
#include "engine/readers/window.h"
#include "engine/trust/given.h"

/* So far a reader goes on before the scheduler hears of it. */
#define STEP ((uint64_t)64 << 10)

/* A source is an engine that feeds readers. */
static struct xd_engine *engine_of(struct xd_source *s)
{
    return (struct xd_engine *)s;
}

int xd_source_new(struct xd_source **out, struct xd_manifest *m, size_t file,
                  const struct xd_options *o, struct xd_error *err)
{
    struct xd_engine *e;
    int rc;

    *out = NULL;
    rc = xd_engine_new(&e, m, file, XD_OUTPUT_SOURCE, o ? o->keep : NULL, -1, o,
                       err);
    if (rc == 0)
        *out = (struct xd_source *)e;
    return rc;
}

struct xd_source *xd_source_ref(struct xd_source *s)
{
    return (struct xd_source *)xd_engine_ref(engine_of(s));
}

void xd_source_unref(struct xd_source *s)
{
    xd_engine_unref(engine_of(s));
}

struct xd_download *xd_source_download(struct xd_source *s)
{
    return (struct xd_download *)s;
}

size_t xd_source_buffered(struct xd_source *s, struct xd_buffered *out,
                          size_t n)
{
    struct xd_engine *e = engine_of(s);
    struct xd_range rest, run;
    size_t all = 0;

    xd_engine_lock(e);
    rest = e->wanted;
    while (run = xd_ledger_next(&e->ledger, XD_BYTES_READABLE, rest),
           !xd_range_is_empty(run)) {
        struct xd_buffered b = {.begin = run.begin - e->wanted.begin,
                                .end = run.end - e->wanted.begin};

        if (all < n)
            xd_copy_out_nth(out, all, &b, sizeof b);
        all++;
        rest.begin = run.end;
    }
    xd_engine_unlock(e);
    return all;
}

int xd_reader_new(struct xd_reader **out, struct xd_source *s,
                  struct xd_error *err)
{
    struct xd_engine *e = engine_of(s);
    int rc;

    *out = NULL;
    xd_engine_lock(e);
    rc = xd_readers_add_locked(e, out);
    xd_engine_unlock(e);
    if (rc < 0)
        return xd_fail_nomem(err);
    xd_engine_ref(e);
    return 0;
}

void xd_reader_free(struct xd_reader *r)
{
    struct xd_engine *e;

    if (!r)
        return;
    e = r->engine;
    xd_engine_lock(e);
    xd_readers_remove_locked(r);
    xd_engine_unlock(e);
    xd_reader_release(r);
    xd_engine_unref(e);
}

/* The download begins with the first reader that wants something. */
static void start_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;

    if (e->state != ENGINE_NEW)
        return;
    xd_engine_unlock(e);
    /* A failure, this call's or that of a faster one, shows in the state. */
    (void)xd_engine_start(e, NULL);
    xd_engine_lock(e);
}

static bool size_is_known_locked(const struct xd_engine *e)
{
    return !e->census && e->wanted.end != XD_SIZE_UNKNOWN;
}

static bool has_failed_locked(const struct xd_engine *e)
{
    return e->state > ENGINE_RUNNING && e->error.code != XD_OK;
}

/* Wait for something that concerns a reader; false when time is up. */
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

/* What ends a wait besides that which is waited for. */
static int trouble_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;

    if (r->is_interrupted)
        return xd_fail(&r->error, XD_E_CANCELED, "the reader was interrupted");
    if (!has_failed_locked(e))
        return 0;
    r->error = e->error;
    return e->error.code;
}

/* Until something changes that, a program need not ask again. */
static int fail_again_locked(struct xd_reader *r, const char *what)
{
    struct xd_engine *e = r->engine;

    xd_notifier_clear(&r->notifier);
    if (xd_readers_until_locked(e, e->until) < e->until) {
        e->until = xd_readers_until_locked(e, e->until);
        xd_engine_wake_all_locked(e); /* that wait for an earlier `until` */
    }
    return xd_fail(&r->error, XD_E_AGAIN, "%s is not here yet", what);
}

int64_t xd_reader_size(struct xd_reader *r, int timeout_ms)
{
    struct xd_engine *e = r->engine;
    xd_usec until = moment(timeout_ms);
    int64_t rc = 0;

    xd_engine_lock(e);
    r->error = (struct xd_error){0};
    r->awaits = READER_AWAITS_SIZE;
    if (!r->is_interrupted && !size_is_known_locked(e))
        start_locked(r);
    while (rc == 0 && (r->is_interrupted || !size_is_known_locked(e))) {
        rc = trouble_locked(r);
        if (rc == 0 && !wait_locked(r, until))
            rc = fail_again_locked(r, "the size");
    }
    r->is_waiting = false;
    if (rc == 0)
        rc = (int64_t)xd_range_length(e->wanted);
    xd_engine_unlock(e);
    return rc;
}

/* What it was given is wrong, and it has not sought since. */
static int fail_disowned(struct xd_reader *r)
{
    r->error = r->disowned;
    return r->error.code;
}

/* Whether it is known yet that nothing follows: a file is held against its hash
 * or its samples before its reader hears of its end. */
static bool is_at_end_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;
    xd_usec now = xd_now();

    if (!size_is_known_locked(e) || r->position != xd_range_length(e->wanted))
        return false;
    if (xd_given_is_all(r) && xd_sampler_is_pending_locked(e)) {
        if (r->end_by == 0)
            r->end_by = now + XD_SAMPLER_WAIT;
        if (now < r->end_by)
            return false;
    }
    return e->state != ENGINE_RUNNING || !e->verify.whole ||
           xd_ledger_bytes(&e->ledger, XD_BYTES_READABLE) <
               xd_range_length(e->wanted);
}

/* What there is to read now; or what keeps it from being read: a negative
 * code, or 0 at the end; or AGAIN. */
static int look_locked(struct xd_reader *r, size_t len, struct xd_range *out)
{
    struct xd_engine *e = r->engine;
    uint64_t at = xd_readers_byte(e, r->position);
    struct xd_range rest = {at, e->wanted.end};

    *out = rest;
    if (r->is_interrupted)
        return trouble_locked(r);
    if (r->disowned.code != XD_OK)
        return fail_disowned(r);
    if (size_is_known_locked(e) && at > e->wanted.end)
        return xd_fail(&r->error, XD_E_INVAL,
                       "byte %llu lies behind the end, which is at %llu",
                       (unsigned long long)r->position,
                       (unsigned long long)xd_range_length(e->wanted));
    out->end = xd_verify_readable_to_locked(e, at);
    if (e->census || xd_range_is_empty(*out)) {
        int rc = trouble_locked(r);

        out->end = out->begin;
        if (is_at_end_locked(r) && rc != XD_E_CORRUPT) {
            r->error = (struct xd_error){0};
            return 0;
        }
        if (rc < 0)
            return rc;
        if (!xd_rangeset_contains(&e->readers.gaps,
                                  (struct xd_range){at, at + 1}))
            return XD_E_AGAIN;
        r->error = e->readers.gap_error;
        return r->error.code;
    }
    if (xd_range_length(*out) > len)
        out->end = out->begin + len;
    return 0;
}

/* The bytes stay where they are while they are copied. */
static int64_t copy_locked(struct xd_reader *r, struct xd_range from, void *buf)
{
    struct xd_engine *e = r->engine;
    size_t len = (size_t)xd_range_length(from);
    struct xd_error error = {0};
    int rc;

    if (xd_given_note_locked(r, from) < 0)
        return xd_fail_nomem(&r->error);
    r->copied = from;
    if ((e->depots.size == XD_SIZE_UNKNOWN || xd_pipe_reads(e, r)) &&
        e->handed_out < from.end)
        e->handed_out = from.end;
    xd_engine_unlock(e);
    rc = xd_sink_read(e->sink, from.begin - e->wanted.begin, buf, len, &error);
    xd_engine_lock(e);
    r->copied.end = r->copied.begin;
    if (r->disowned.code != XD_OK)
        return fail_disowned(r);
    if (rc < 0) {
        r->error = error;
        return rc;
    }
    r->position += len;
    if (r->position - r->told_at >= STEP)
        xd_readers_moved_locked(r);
    return (int64_t)len;
}

int64_t xd_reader_read(struct xd_reader *r, void *buf, size_t len,
                       int timeout_ms)
{
    struct xd_engine *e = r->engine;
    xd_usec until = moment(timeout_ms);
    struct xd_range here;
    int64_t rc;

    if (len == 0)
        return 0;
    xd_engine_lock(e);
    r->error = (struct xd_error){0};
    r->awaits = READER_AWAITS_BYTES;
    xd_meter_wish(&r->meter, xd_now());
    r->has_begun = true;
    r->read_at = xd_now();
    if (!r->is_interrupted)
        start_locked(r);
    while (rc = look_locked(r, len, &here), rc == XD_E_AGAIN) {
        bool is_short = r->end_by > 0 && r->end_by < until;

        if (!wait_locked(r, is_short ? r->end_by : until)) {
            rc = look_locked(r, len, &here);
            break;
        }
    }
    r->is_waiting = false;
    if (rc == XD_E_AGAIN)
        rc = fail_again_locked(r, "the next byte");
    else if (rc == 0 && !xd_range_is_empty(here))
        rc = copy_locked(r, here, buf);
    xd_engine_unlock(e);
    return rc;
}

bool xd_reader_is_ready_locked(struct xd_reader *r)
{
    const struct xd_error error = r->error; /* that of the last call */
    struct xd_range unused;
    bool is_ready = true;

    switch (r->awaits) {
    case READER_AWAITS_NOTHING:
        break;
    case READER_AWAITS_BYTES:
        is_ready = look_locked(r, 1, &unused) != XD_E_AGAIN;
        break;
    case READER_AWAITS_SIZE:
        is_ready = size_is_known_locked(r->engine) || trouble_locked(r) < 0;
        break;
    }
    r->error = error;
    return is_ready;
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
        (size_is_known_locked(e) && to > xd_range_length(e->wanted)))
        rc = xd_fail(&r->error, XD_E_INVAL, "byte %llu lies behind the end",
                     (unsigned long long)to);
    else
        xd_readers_seek_locked(r, to);
    if (xd_reader_is_ready_locked(r))
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
    r->play_byte = byte;
    r->play_at = now;
    r->is_playing = state == XD_PLAYING;
    if (bytes_per_s >= 1 && bytes_per_s < (double)(UINT64_MAX / 2))
        r->play_rate = (uint64_t)bytes_per_s;
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
    p.blocked_s = (double)r->blocked / (double)XD_SECOND;
    p.byte = r->play_byte;
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

int xd_reader_stall(struct xd_reader *r, size_t i, struct xd_stall *out)
{
    return get_wait(r, &r->meter.stalls, i, out);
}

int xd_reader_restart(struct xd_reader *r, size_t i, struct xd_stall *out)
{
    return get_wait(r, &r->meter.restarts, i, out);
}

int xd_reader_level(struct xd_reader *r, size_t i, struct xd_level *out)
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

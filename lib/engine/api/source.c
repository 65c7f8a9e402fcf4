/* SPDX-License-Identifier: MIT */
/*
 * Implements sources of the public interface: an engine that is read from while
 * it runs.
 */
#include <xdownload/stream.h>

#include "base/copy_out.h"
#include "base/error.h"
#include "command/readers.h"
#include "engine/engine.h"
#include "engine/lifetime.h"
#include "engine/readers/look.h"
#include "engine/readers/reader.h"
#include "engine/readers/window.h"
#include "os/exit.h"

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
    rc = xd_engine_new(&e, m, file, &xd_output_source, o ? o->keep : NULL, -1,
                       o, err);
    if (rc == 0)
        *out = (struct xd_source *)e;
    return rc;
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

size_t xd_source_positions(struct xd_source *s, uint64_t *out, size_t n)
{
    struct xd_engine *e = engine_of(s);
    size_t all = 0;

    xd_engine_lock(e);
    for (size_t i = 0; i < e->readers.n; i++) {
        if (!e->readers.list[i]->has_begun)
            continue;
        if (all < n)
            out[all] = e->readers.list[i]->position;
        all++;
    }
    xd_engine_unlock(e);
    return all;
}

bool xd_source_needs_network(struct xd_source *s)
{
    struct xd_engine *e = engine_of(s);
    bool has_rest;

    xd_engine_lock(e);
    has_rest = xd_windows_have_rest_locked(e);
    xd_engine_unlock(e);
    return !has_rest;
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

    if (!r || r->engine->process != xd_exit_process() ||
        xd_engine_may_wait(r->engine, NULL) < 0)
        return;
    e = r->engine;
    xd_engine_lock(e);
    xd_readers_remove_locked(r);
    xd_engine_unlock(e);
    xd_reader_release(r);
    xd_engine_unref(e);
}

/* Starts the download when the first reader needs something. */
static void start_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;

    if (e->session.phase != XD_PHASE_NEW || r->is_interrupted)
        return;
    xd_engine_unlock(e);
    /* The result is ignored: the engine stores errors, including those of a
     * faster thread. */
    (void)xd_engine_start(e, NULL);
    xd_engine_lock(e);
}

int64_t xd_reader_size(struct xd_reader *r, int timeout_ms)
{
    struct xd_engine *e = r->engine;
    int64_t size;

    if (xd_engine_may_wait(e, NULL) < 0)
        return XD_E_STATE;
    xd_engine_lock(e);
    if (!xd_look_has_size_locked(e))
        start_locked(r);
    size = xd_reader_await_size_locked(r, timeout_ms);
    xd_engine_unlock(e);
    return size;
}

int64_t xd_reader_read(struct xd_reader *r, void *buf, size_t len,
                       int timeout_ms)
{
    struct xd_engine *e = r->engine;
    int64_t n;

    if (len == 0)
        return 0;
    if (xd_engine_may_wait(e, NULL) < 0)
        return XD_E_STATE;
    xd_engine_lock(e);
    xd_reader_wish_locked(r);
    start_locked(r);
    n = xd_reader_take_locked(r, buf, len, timeout_ms);
    xd_engine_unlock(e);
    return n;
}

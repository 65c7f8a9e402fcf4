/* SPDX-License-Identifier: MIT */
#include "play/play.h"

#include <xdownload/stream.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "play/mpv.h"
#include "play/play_served.h"
#include "play/play_simulated.h"
#include "play/playback.h"
#include "serve/catalog.h"
#include "trace/trace.h"

#define TICK_MS 100 /* between two looks for a signal */

/* Nothing is fetched before the first read, which the player may not have. */
static int begin(struct xd_source *s, struct xd_error *err)
{
    struct xd_reader *r;
    char byte;
    const int rc = xd_reader_new(&r, s, err);

    if (rc < 0)
        return rc;
    (void)!xd_reader_read(r, &byte, 1, 0); /* if that fails, so does the wait */
    xd_reader_free(r);
    return 0;
}

/* The file that is kept is fetched to its end. */
static int keep_on(struct xd_source *s)
{
    struct xd_download *d = xd_source_download(s);
    struct xd_error err;
    int rc = begin(s, &err);

    if (rc == 0)
        do
            rc = xd_download_wait(d, TICK_MS, &err);
        while (rc == XD_E_AGAIN && !signals_came());
    if (rc == XD_E_AGAIN)
        return STATUS_INTERRUPTED;
    if (rc < 0)
        words_error("%s", err.msg);
    return status_of(rc);
}

/* By a simulated player, or a real one; then the account. */
static int play_viewed(const struct args *a, const struct catalog *catalog,
                       struct xd_reader *viewer, struct log *log)
{
    const struct catalog_file *f = &catalog->files[0];
    struct xd_playback p = {.struct_size = sizeof p};
    int rc = 0, status = STATUS_COMPLETE;

    if (a->simulate) {
        signals_watch();
        status = play_simulated(a, viewer, f->trace);
        xd_reader_playback(viewer, &p);
    } else {
        if (a->browser)
            signals_watch();
        else
            signals_watch_each(); /* the player is seen to */
        rc = play_served(&status, a, catalog, viewer, log);
        if (a->browser)
            viewer = f->viewer.reader;
        p.blocked_s = (double)f->blocked_ms / 1e3;
    }
    signals_restore();
    if (rc != 0)
        return rc;
    playback_put(stdout, a,
                 &(struct playback){
                     .name = f->name[0] != '\0' ? f->name : NULL,
                     .source = f->source,
                     .viewer = viewer,
                     .blocked_s = p.blocked_s,
                 });
    return status;
}

static int play_catalog(const struct args *a, const struct catalog *catalog,
                        struct log *log)
{
    struct xd_source *source = catalog->files[0].source;
    struct xd_reader *viewer = NULL;
    struct xd_error err;
    int rc = 0;

    if (a->simulate || (!a->browser && mpv_is(a->player)))
        rc = xd_reader_new(&viewer, source, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    trace_viewer(catalog->files[0].trace, viewer);
    int status = play_viewed(a, catalog, viewer, log);
    trace_viewer(catalog->files[0].trace, NULL);
    xd_reader_free(viewer);
    /* Wrong bytes that were played are put right in what is kept. */
    if ((status == STATUS_COMPLETE || status == STATUS_CORRUPT) &&
        args_value(a, "keep") != NULL) {
        signals_watch();
        const int kept = keep_on(source);
        signals_restore();
        if (kept != STATUS_COMPLETE)
            status = kept;
    }
    return status;
}

static int play_file(const struct args *a, struct xd_manifest *m, size_t i)
{
    struct catalog catalog;
    struct log log;

    log_init(&log, a->quiet, false);
    log_forward(&log, trace_log, a->tracer);
    xd_options_set_log(a->options, log_print, &log);
    catalog_init(&catalog, NULL);
    int status = catalog_add(&catalog, a, m, i);
    if (status == 0)
        status = play_catalog(a, &catalog, &log);
    catalog_fini(&catalog);
    log_take(&log, stderr);
    log_fini(&log);
    return status;
}

static int play_manifest(const struct args *a, const struct inputs *in)
{
    struct xd_manifest *m;
    size_t i = 0;

    int status = inputs_require_manifest(in, 0, &m);
    if (status != 0)
        return status;
    if (a->file != NULL)
        status = choose_file(&i, a, m, a->inputs[0]);
    if (status == 0)
        status = play_file(a, m, i);
    xd_manifest_unref(m);
    return status;
}

int play_input(const struct args *a)
{
    struct inputs in;

    int status = inputs_init(&in, a, NULL);
    if (status == 0 && in.n != 1)
        status = words_usage("play takes one manifest, not %zu", in.n);
    else if (status == 0)
        status = play_manifest(a, &in);
    inputs_fini(&in);
    return status;
}

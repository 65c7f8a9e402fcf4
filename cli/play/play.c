/* SPDX-License-Identifier: MIT */
#include "play/play.h"

#include <xdownload/stream.h>

#include "args/inputs.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "play/mpv.h"
#include "play/play_served.h"
#include "play/play_simulated.h"
#include "play/playlist.h"
#include "serve/catalog.h"
#include "trace/trace.h"

#define TICK_MS 100 /* milliseconds between checks for a signal */

/* Reads one byte, so that the download starts.  It starts with the first read,
 * and the player may not have read anything. */
static int begin(struct xd_source *s, struct xd_error *err)
{
    struct xd_reader *r;
    char byte;
    const int rc = xd_reader_new(&r, s, err);

    if (rc < 0)
        return rc;
    /* ignore errors: the wait for the download reports them */
    (void)!xd_reader_read(r, &byte, 1, 0);
    xd_reader_free(r);
    return 0;
}

/* Completes the download of a file that --keep keeps. */
static int keep_on(const struct catalog *s, const struct catalog_source *of)
{
    struct xd_download *d = xd_source_download(of->source);
    struct xd_error err;
    int rc = begin(of->source, &err);

    if (rc == 0)
        do
            rc = xd_download_wait(d, TICK_MS, &err);
        while (rc == XD_E_AGAIN && !signals_came());
    if (rc == XD_E_AGAIN)
        return STATUS_INTERRUPTED;
    if (rc < 0)
        catalog_report_failure(s, of->file, rc, err.msg);
    return status_of(rc);
}

/* Plays with a simulated or a real player, and prints statistics after each
 * file. */
static int play_viewed(struct playlist *p, struct log *log)
{
    const struct args *a = p->args;
    const bool has_viewer = a->simulate || (!a->browser && mpv_is(a->player));
    int status = has_viewer ? playlist_turn_to(p, &p->catalog->files[0]) : 0;

    if (status != 0 && p->catalog->n == 1)
        return status;
    if (a->simulate || a->browser)
        signals_watch();
    else
        /* this process must end the player before it ends itself */
        signals_watch_each();
    int rc = 0;
    if (a->simulate)
        status = play_simulated_list(p);
    else
        rc = play_served(&status, p, log);
    signals_restore();
    if (rc == 0 && !has_viewer)
        playlist_put_read(p);
    return rc != 0 ? rc : status;
}

static int keep_first(struct catalog *s)
{
    struct catalog_source *of;
    struct xd_error err;
    int rc = catalog_enter(s, &s->files[0], CATALOG_OTHER, &of, &err);

    if (rc < 0)
        return status_of(rc);
    signals_watch();
    rc = keep_on(s, of);
    signals_restore();
    catalog_leave(s, of, CATALOG_OTHER);
    return rc;
}

static int play_catalog(struct catalog *catalog, struct log *log)
{
    struct playlist p;

    playlist_init(&p, catalog);
    int status = play_viewed(&p, log);
    playlist_fini(&p);
    /* With --keep, completes the file and corrects wrong bytes that were
     * played. */
    if ((status == STATUS_COMPLETE || status == STATUS_CORRUPT) &&
        args_value(catalog->args, "keep") != NULL) {
        const int kept = keep_first(catalog);
        if (kept != STATUS_COMPLETE)
            status = kept;
    }
    return status;
}

static int play_files(const struct args *a, const struct inputs *in)
{
    struct catalog catalog;
    struct log log;

    log_init(&log, a->options, a->quiet, false);
    log_forward(&log, trace_log, a->tracer);
    catalog_init(&catalog, a);
    int status = catalog_fill(&catalog, in);
    if (status == 0)
        status = play_catalog(&catalog, &log);
    catalog_fini(&catalog);
    log_take(&log, stderr);
    log_fini(&log);
    return status;
}

int play_inputs(const struct args *a)
{
    struct inputs in;

    int status = inputs_init(&in, a, NULL);
    if (status == 0)
        status = play_files(a, &in);
    inputs_fini(&in);
    return status;
}

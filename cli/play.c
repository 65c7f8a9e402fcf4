#include "play.h"

#include <xdownload/stream.h>

#include "choose.h"
#include "inputs.h"
#include "log.h"
#include "play_simulated.h"
#include "playback.h"
#include "signals.h"
#include "status.h"
#include "words.h"

#define TICK_MS 100 /* between two looks for a signal */

/* The file that is kept is fetched to its end. */
static int keep_on(struct xd_source *s)
{
    struct xd_download *d = xd_source_download(s);
    struct xd_error err;
    int rc;

    do
        rc = xd_download_wait(d, TICK_MS, &err);
    while (rc == XD_E_AGAIN && !signals_came());
    if (rc == XD_E_AGAIN)
        return STATUS_INTERRUPTED;
    if (rc < 0)
        words_error("%s", err.msg);
    return status_of(rc);
}

static int play_source(const struct args *a, struct xd_source *s,
                       const char *name)
{
    struct xd_reader *r;
    struct xd_error err;

    int rc = xd_reader_new(&r, s, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    signals_watch();
    int status = play_simulated(a, r);
    playback_put(stdout, a, name, s, r);
    xd_reader_free(r);
    if (status == STATUS_COMPLETE && args_value(a, "keep") != NULL)
        status = keep_on(s);
    signals_restore();
    return status;
}

static int play_file(const struct args *a, struct xd_manifest *m, size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_source *source;
    struct xd_error err;
    struct log log;

    if (xd_manifest_file(m, i, &file) < 0)
        return STATUS_FAILED;
    log_init(&log, a->quiet);
    xd_options_set_log(a->options, log_say, &log);
    const int rc = xd_source_new(&source, m, i, a->options, &err);
    int status = status_of(rc);
    if (rc < 0)
        words_error("%s", err.msg);
    else
        status = play_source(a, source, file.name);
    xd_source_free(rc < 0 ? NULL : source);
    log_take(&log, stderr);
    log_fini(&log);
    return status;
}

static int play_manifest(const struct args *a, const struct inputs *in)
{
    struct xd_manifest *m;
    struct xd_error err;
    size_t i = 0;

    const int rc = inputs_manifest(in, 0, &m, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    if (!a->quiet)
        words_warnings(m);
    int status = a->file != NULL ? choose_file(&i, a, m, a->inputs[0]) : 0;
    if (status == 0)
        status = play_file(a, m, i);
    xd_manifest_unref(m);
    return status;
}

int play_input(const struct args *a)
{
    struct inputs in;

    int status = inputs_init(&in, a);
    if (status == 0 && in.n != 1)
        status = words_usage("play takes one manifest, not %zu", in.n);
    else if (status == 0)
        status = play_manifest(a, &in);
    inputs_fini(&in);
    return status;
}

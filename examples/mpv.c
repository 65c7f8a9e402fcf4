/* SPDX-License-Identifier: MIT */
/*
 * Plays a file with libmpv while it is being downloaded.  mpv reads through
 * callbacks.  The program reports to the library what the viewer sees, so that
 * the library can count stalls and fetch the most urgent bytes first.
 *
 *     mpv URL-OR-MANIFEST [MPV-OPTION=VALUE...]
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <mpv/client.h>
#include <mpv/stream_cb.h>
#include <xdownload/xdownload.h>

static volatile sig_atomic_t is_over;

static void end(int sig)
{
    (void)sig;
    is_over = 1;
}

/* ---- callbacks, which mpv calls in its own thread ---- */

static int64_t read_cb(void *r, char *buf, uint64_t n)
{
    /* Waits without a limit, because cancel_cb() can interrupt it.  0 is the
     * end of the file for mpv, too. */
    const int64_t got = xd_reader_read(r, buf, n, -1);

    return got >= 0 ? got : -1;
}

static int64_t seek_cb(void *r, int64_t to)
{
    const int64_t at = xd_reader_seek(r, (uint64_t)to);

    return at >= 0 ? at : MPV_ERROR_GENERIC;
}

static int64_t size_cb(void *r)
{
    const int64_t size = xd_reader_size(r, -1);

    return size >= 0 ? size : MPV_ERROR_UNSUPPORTED;
}

/* mpv may call this from any thread while another thread waits in a callback
 * above.  mpv closes a stream after canceling it, so the reader may stay
 * interrupted. */
static void cancel_cb(void *r)
{
    xd_reader_interrupt(r, 1);
}

static void close_cb(void *r)
{
    (void)r; /* main() owns the reader and still needs it for its report */
}

static int open_cb(void *r, char *uri, mpv_stream_cb_info *info)
{
    (void)uri;
    xd_reader_interrupt(r, 0); /* mpv may open it again after canceling */
    if (xd_reader_seek(r, 0) < 0)
        return MPV_ERROR_LOADING_FAILED;
    info->cookie = r;
    info->read_fn = read_cb;
    info->seek_fn = seek_cb;
    info->size_fn = size_cb;
    info->close_fn = close_cb;
    info->cancel_fn = cancel_cb;
    return 0;
}

/* ---- reporting what the viewer sees ---- */

static const char *const watched[] = {"core-idle",        "pause",    "seeking",
                                      "paused-for-cache", "time-pos", "speed"};

static bool is(mpv_handle *mpv, const char *flag)
{
    int value = 0;

    return mpv_get_property(mpv, flag, MPV_FORMAT_FLAG, &value) == 0 && value;
}

static double number(mpv_handle *mpv, const char *name)
{
    double value = 0;

    mpv_get_property(mpv, name, MPV_FORMAT_DOUBLE, &value);
    return value;
}

static void tell(mpv_handle *mpv, struct xd_reader *r, bool *has_moved)
{
    const bool moves = !is(mpv, "core-idle");
    const double duration = number(mpv, "duration");
    const int64_t size = duration > 0 ? xd_reader_size(r, 0) : 0;
    const double rate = size > 0 ? (double)size / duration : 0;
    enum xd_play_state state = XD_PLAY_PAUSED;

    if (moves)
        state = XD_PLAY_RUNNING;
    else if (!is(mpv, "pause") && is(mpv, "seeking"))
        state = XD_PLAY_SEEKING;
    else if (is(mpv, "paused-for-cache") || !*has_moved)
        state = XD_PLAY_WAITING;
    *has_moved = *has_moved || moves;
    xd_reader_playhead(r, (uint64_t)(number(mpv, "time-pos") * rate),
                       rate * number(mpv, "speed"), state);
}

static void report(struct xd_reader *r)
{
    struct xd_playback p;

    xd_reader_playhead(r, 0, 0, XD_PLAY_ENDED);
    xd_reader_playback(r, &p);
    printf("played %.1f s, started after %.2f s, %u stalls of %.2f s, "
           "%u seeks of %.2f s\n",
           p.played_s, p.startup_s, p.n_stalls, p.stall_s, p.n_seeks,
           p.restart_s);
}

/* ---- the player ---- */

/* Waits until the film ends.  Returns 0, or an error code of mpv. */
static int follow(mpv_handle *mpv, struct xd_reader *r)
{
    bool has_moved = false;

    while (!is_over) {
        const mpv_event *e = mpv_wait_event(mpv, 0.1);
        const mpv_event_end_file *ended = e->data;
        if (e->event_id == MPV_EVENT_SHUTDOWN)
            return 0;
        if (e->event_id == MPV_EVENT_END_FILE)
            return ended->error;
        tell(mpv, r, &has_moved);
    }
    return 0;
}

static int play(struct xd_reader *r, char **options)
{
    const char *load[] = {"loadfile", "xdownload://film", NULL};
    mpv_handle *mpv = mpv_create();
    int rc = mpv ? 0 : MPV_ERROR_NOMEM;

    if (rc < 0)
        return rc;
    mpv_set_option_string(mpv, "input-default-bindings", "yes");
    mpv_set_option_string(mpv, "input-vo-keyboard", "yes");
    /* mpv would treat the callbacks as a local file, and would not cache it */
    mpv_set_option_string(mpv, "cache", "yes");
    mpv_set_option_string(mpv, "demuxer-max-bytes", "64MiB");
    for (; *options && rc == 0; options++) {
        char *value = strchr(*options, '=');
        if (value)
            *value++ = '\0';
        rc = mpv_set_option_string(mpv, *options, value ? value : "yes");
    }
    if (rc == 0)
        rc = mpv_initialize(mpv);
    if (rc == 0)
        rc = mpv_stream_cb_add_ro(mpv, "xdownload", r, open_cb);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        mpv_observe_property(mpv, 0, watched[i], MPV_FORMAT_NONE);
    if (rc == 0)
        rc = mpv_command(mpv, load);
    if (rc == 0)
        rc = follow(mpv, r);
    /* cancels and closes the stream, so no read runs after this */
    mpv_terminate_destroy(mpv);
    return rc;
}

int main(int argc, char **argv)
{
    struct xd_manifest *m;
    struct xd_source *s = NULL;
    struct xd_reader *r = NULL;
    struct xd_error err;

    if (argc < 2) {
        fprintf(stderr, "usage: mpv URL-OR-MANIFEST [MPV-OPTION=VALUE...]\n");
        return 2;
    }
    signal(SIGINT, end);
    const char *source = argv[1];
    int rc = xd_manifest_open(&m, &source, 1, NULL, &err);
    if (rc == 0) {
        rc = xd_source_new(&s, m, 0, NULL, &err);
        xd_manifest_unref(m);
    }
    if (rc == 0)
        rc = xd_reader_new(&r, s, &err);
    if (rc < 0) {
        fprintf(stderr, "mpv: %s\n", err.msg);
    } else {
        rc = play(r, argv + 2);
        if (rc < 0)
            fprintf(stderr, "mpv: %s\n", mpv_error_string(rc));
        report(r);
    }
    xd_reader_free(r);
    xd_source_unref(s);
    return rc < 0;
}

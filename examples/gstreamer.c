/* SPDX-License-Identifier: MIT */
/*
 * Plays a file while it is being downloaded, with a GStreamer pipeline that
 * reads from an appsrc.
 *
 *     gstreamer URL-OR-MANIFEST [SECONDS [PIPELINE]]
 *
 * A separate thread reads bytes and pushes them into the pipeline.  A callback
 * of appsrc must not wait for bytes, because it would delay seeks and the end
 * of playback as long as the servers send nothing.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <gst/gst.h>
#include <gst/app/gstappsrc.h>
#include <xdownload/xdownload.h>

#define PORTION (64 * 1024)

static volatile sig_atomic_t is_over;

static void end(int sig)
{
    (void)sig;
    is_over = 1;
}

struct film {
    struct xd_reader *reader;
    GstAppSrc *src; /* NULL until the pipeline has created it */
    /* held while the reader is used; `lock` is taken inside it */
    GMutex reading;
    GMutex lock;
    GCond changed;
    bool wants, ends; /* guarded by lock */
    bool knows_size;  /* used by the feeder thread only */
};

static void set_wants(struct film *f, bool wants)
{
    g_mutex_lock(&f->lock);
    f->wants = wants;
    g_cond_signal(&f->changed);
    g_mutex_unlock(&f->lock);
}

static bool wants_now(struct film *f)
{
    g_mutex_lock(&f->lock);
    const bool wants = f->wants && !f->ends;
    g_mutex_unlock(&f->lock);
    return wants;
}

/* ---- the feeder thread ---- */

/* Tells appsrc the size of the file.  GStreamer needs it to seek, and to find
 * an index at the end of the file. */
static int64_t find_size(struct film *f)
{
    const int64_t size = xd_reader_size(f->reader, -1);

    if (size >= 0) {
        gst_app_src_set_size(f->src, size);
        f->knows_size = true;
    }
    return size;
}

static void push(struct film *f)
{
    struct xd_error err;
    guint8 *bytes = g_malloc(PORTION);
    int64_t n = f->knows_size ? 0 : find_size(f);

    if (n >= 0)
        n = xd_reader_read(f->reader, bytes, PORTION, -1);
    if (n > 0) {
        bytes = g_realloc(bytes, (gsize)n);
        gst_app_src_push_buffer(f->src,
                                gst_buffer_new_wrapped(bytes, (gsize)n));
        return;
    }
    g_free(bytes);
    if (n == XD_E_CANCELED)
        /* after a seek or at the end; the thread that interrupted the read
         * handles it */
        return;
    set_wants(f, false);
    if (n == 0) {
        gst_app_src_end_of_stream(f->src);
        return;
    }
    xd_reader_error(f->reader, &err);
    GST_ELEMENT_ERROR(f->src, RESOURCE, READ, ("%s", err.msg), (NULL));
}

static gpointer feed(gpointer user)
{
    struct film *f = user;

    for (;;) {
        g_mutex_lock(&f->lock);
        while (!f->wants && !f->ends)
            g_cond_wait(&f->changed, &f->lock);
        const bool ends = f->ends;
        g_mutex_unlock(&f->lock);
        if (ends)
            return NULL;
        g_mutex_lock(&f->reading);
        if (wants_now(f)) /* a seek may have cleared `wants` */
            push(f);
        g_mutex_unlock(&f->reading);
    }
}

/* ---- callbacks of GStreamer ---- */

static void need_data(GstAppSrc *src, guint length, gpointer f)
{
    (void)src;
    (void)length;
    set_wants(f, true);
}

static void enough_data(GstAppSrc *src, gpointer f)
{
    (void)src;
    set_wants(f, false);
}

/* Interrupts the feeder's read, seeks, and allows reads again.  Bytes pushed
 * before appsrc empties its queue would be lost, so the feeder pushes nothing
 * until appsrc requests data again. */
static gboolean seek_data(GstAppSrc *src, guint64 to, gpointer user)
{
    struct film *f = user;

    (void)src;
    xd_reader_interrupt(f->reader, 1);
    g_mutex_lock(&f->reading);
    set_wants(f, false);
    const bool done = xd_reader_seek(f->reader, to) >= 0;
    xd_reader_interrupt(f->reader, 0);
    g_mutex_unlock(&f->reading);
    return done;
}

static void source_setup(GstElement *playbin, GstElement *src, gpointer user)
{
    GstAppSrcCallbacks callbacks = {.need_data = need_data,
                                    .enough_data = enough_data,
                                    .seek_data = seek_data};
    struct film *f = user;

    (void)playbin;
    f->src = GST_APP_SRC(gst_object_ref(src));
    g_object_set(src, "format", GST_FORMAT_BYTES, NULL);
    gst_app_src_set_stream_type(f->src, GST_APP_STREAM_TYPE_SEEKABLE);
    gst_app_src_set_callbacks(f->src, &callbacks, f, NULL);
}

/* ---- the pipeline ---- */

static bool say_error(GstMessage *message)
{
    GError *error = NULL;

    gst_message_parse_error(message, &error, NULL);
    fprintf(stderr, "gstreamer: %s\n", error->message);
    g_error_free(error);
    return false;
}

/* Waits until the end, and prints the time reached.  Returns false after an
 * error, which it prints. */
static bool follow(GstElement *pipeline, double from_s)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessageType type = GST_MESSAGE_UNKNOWN;
    bool is_good = true;
    gint64 at = 0;

    while (is_good && type != GST_MESSAGE_EOS && !is_over) {
        GstMessage *message = gst_bus_timed_pop_filtered(
            bus, 100 * GST_MSECOND,
            GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
        if (!message)
            continue;
        type = GST_MESSAGE_TYPE(message);
        if (type == GST_MESSAGE_ERROR)
            is_good = say_error(message);
        if (type == GST_MESSAGE_ASYNC_DONE && from_s > 0) {
            gst_element_seek_simple(pipeline, GST_FORMAT_TIME,
                                    GST_SEEK_FLAG_FLUSH |
                                        GST_SEEK_FLAG_KEY_UNIT,
                                    (gint64)(from_s * GST_SECOND));
            from_s = 0; /* seek only once: the seek causes another ASYNC_DONE */
        }
        gst_message_unref(message);
    }
    gst_element_query_position(pipeline, GST_FORMAT_TIME, &at);
    printf("played to %.1f s\n", (double)at / GST_SECOND);
    gst_object_unref(bus);
    return is_good && !is_over;
}

static bool play(struct film *f, double from_s, const char *description)
{
    GstElement *pipeline = gst_parse_launch(description, NULL);

    if (!pipeline)
        return false;
    GThread *feeder = g_thread_new("feeder", feed, f);
    g_signal_connect(pipeline, "source-setup", G_CALLBACK(source_setup), f);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    const bool is_good = follow(pipeline, from_s);
    /* no callbacks run after this */
    gst_element_set_state(pipeline, GST_STATE_NULL);

    g_mutex_lock(&f->lock);
    f->ends = true;
    g_cond_signal(&f->changed);
    g_mutex_unlock(&f->lock);
    xd_reader_interrupt(f->reader, 1);
    g_thread_join(feeder);
    g_clear_object(&f->src);
    gst_object_unref(pipeline);
    return is_good;
}

int main(int argc, char **argv)
{
    struct xd_manifest *m;
    struct xd_source *s = NULL;
    struct xd_error err;
    struct film f = {0};
    bool is_good = false;

    gst_init(&argc, &argv);
    if (argc < 2 || argc > 4) {
        fprintf(stderr,
                "usage: gstreamer URL-OR-MANIFEST [SECONDS [PIPELINE]]\n");
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
        rc = xd_reader_new(&f.reader, s, &err);
    if (rc == 0)
        is_good = play(&f, argc > 2 ? atof(argv[2]) : 0,
                       argc > 3 ? argv[3] : "playbin uri=appsrc://");
    else
        fprintf(stderr, "gstreamer: %s\n", err.msg);
    xd_reader_free(f.reader);
    xd_source_unref(s);
    return !is_good;
}

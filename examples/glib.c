/* SPDX-License-Identifier: MIT */
/*
 * Downloads a file in a GLib main loop.  The loop watches the download's
 * descriptor, which becomes readable when the download has news.  A timer
 * prints the progress.
 *
 *     glib URL-OR-MANIFEST FILE
 */
#include <glib-unix.h>
#include <glib.h>
#include <xdownload/xdownload.h>

struct app {
    GMainLoop *loop;
    struct xd_download *download;
    struct xd_error error;
    int rc;
};

static gboolean look(gint fd, GIOCondition condition, gpointer user)
{
    struct app *a = user;

    (void)fd;
    (void)condition;
    a->rc = xd_download_wait(a->download, 0, &a->error);
    if (a->rc == XD_E_AGAIN)
        return G_SOURCE_CONTINUE;
    g_main_loop_quit(a->loop);
    return G_SOURCE_REMOVE;
}

static gboolean show(gpointer user)
{
    const struct app *a = user;
    struct xd_progress p;

    xd_download_progress(a->download, &p);
    g_printerr("\r%8.1f MB ", (double)p.bytes_done / 1e6);
    return G_SOURCE_CONTINUE;
}

static gboolean cancel(gpointer user)
{
    xd_download_cancel(((struct app *)user)->download);
    return G_SOURCE_CONTINUE;
}

static int run(struct app *a)
{
    const int fd = xd_download_descriptor(a->download, &a->error);

    if (fd < 0)
        return fd;
    a->loop = g_main_loop_new(NULL, FALSE);
    g_unix_fd_add(fd, G_IO_IN, look, a);
    g_unix_signal_add(SIGINT, cancel, a);
    g_timeout_add(200, show, a);
    g_main_loop_run(a->loop);
    g_main_loop_unref(a->loop);
    return a->rc;
}

int main(int argc, char **argv)
{
    struct xd_manifest *m = NULL;
    struct app a = {0};

    if (argc != 3) {
        g_printerr("usage: glib URL-OR-MANIFEST FILE\n");
        return 2;
    }
    const char *source = argv[1];
    int rc = xd_manifest_open(&m, &source, 1, NULL, &a.error);
    if (rc == 0)
        rc = xd_download_new(&a.download, m, 0, NULL, argv[2], NULL, &a.error);
    if (rc == 0)
        rc = xd_download_start(a.download, &a.error);
    if (rc == 0)
        rc = run(&a);
    if (rc < 0)
        g_printerr("glib: %s\n", a.error.msg);
    xd_download_unref(a.download);
    xd_manifest_unref(m);
    return rc < 0;
}

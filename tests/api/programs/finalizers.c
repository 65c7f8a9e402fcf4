/* SPDX-License-Identifier: MIT */
/*
 * What a garbage collector does: every object is released, in every order.
 *
 *     finalizers URL started|new
 */
#include <stdio.h>
#include <string.h>
#include <xdownload/xdownload.h>

enum { MANIFEST, OPTIONS, CANCEL, SOURCE, READER, DOWNLOAD, N_OBJECTS };

struct objects {
    struct xd_manifest *manifest;
    struct xd_options *options;
    struct xd_cancel *cancel;
    struct xd_source *source;
    struct xd_reader *reader;
    struct xd_download *download;
};

static int make(struct objects *all, const char *url, int is_started)
{
    struct xd_error err;
    char byte;

    if (xd_options_new(&all->options, &err) < 0 ||
        xd_cancel_new(&all->cancel, &err) < 0)
        return -1;
    xd_options_set_cancel(all->options, all->cancel);
    if (xd_options_set(all->options, "spool", "none", &err) < 0 ||
        xd_manifest_from_urls(&all->manifest, &url, 1, XD_SIZE_UNKNOWN, &err) <
            0 ||
        xd_source_new(&all->source, all->manifest, 0, all->options, &err) < 0 ||
        xd_reader_new(&all->reader, all->source, &err) < 0)
        return -1;
    all->download = xd_download_ref(xd_source_download(all->source));
    return is_started ? (int)xd_reader_read(all->reader, &byte, 1, 0) : 0;
}

static void release(struct objects *all, int which)
{
    switch (which) {
    case MANIFEST:
        xd_manifest_unref(all->manifest);
        break;
    case OPTIONS:
        xd_options_free(all->options);
        break;
    case CANCEL:
        xd_cancel_free(all->cancel);
        break;
    case SOURCE:
        xd_source_unref(all->source);
        break;
    case READER:
        xd_reader_free(all->reader);
        break;
    case DOWNLOAD: {
        struct xd_progress p = {.struct_size = sizeof p};
        xd_download_progress(all->download, &p); /* it is still there */
        xd_download_unref(all->download);
        break;
    }
    }
}

/* The n-th of all orders. */
static void order(int n, int out[N_OBJECTS])
{
    int left[N_OBJECTS];

    for (int i = 0; i < N_OBJECTS; i++)
        left[i] = i;
    for (int i = N_OBJECTS; i > 0; i--) {
        const int at = n % i;
        n /= i;
        out[N_OBJECTS - i] = left[at];
        memmove(&left[at], &left[at + 1], (size_t)(i - at - 1) * sizeof *left);
    }
}

int main(int argc, char **argv)
{
    int steps[N_OBJECTS], n = 0;

    for (; argc == 3 && n < 720; n++) {
        struct objects all = {0};
        if (make(&all, argv[1], strcmp(argv[2], "started") == 0) < 0 &&
            all.download == NULL)
            return 1;
        order(n, steps);
        for (int i = 0; i < N_OBJECTS; i++)
            release(&all, steps[i]);
    }
    printf("%d\n", n);
    return 0;
}

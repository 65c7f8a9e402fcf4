/* SPDX-License-Identifier: MIT */
/*
 * Downloads a file and prints everything that can be known about it: the
 * progress while it runs, then the statistics of each depot.  There are no
 * callbacks; the program asks whenever it likes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <xdownload/xdownload.h>

static void show_progress(struct xd_download *d)
{
    struct xd_progress p;

    xd_download_progress(d, &p);
    fprintf(stderr, "\r%8.1f of %.1f MB, %.1f MB/s from %u depots, %u failed ",
            (double)p.bytes_done / 1e6, (double)p.bytes_total / 1e6,
            p.bytes_per_s / 1e6, p.depots_open, p.depots_failed);
}

static void show_depots(struct xd_download *d)
{
    struct xd_depot_stats s;

    for (size_t i = 0; xd_download_depot(d, i, &s) == 0; i++)
        printf("%-24s %10" PRIu64 " bytes %10" PRIu64 " redundant  %s\n",
               s.host, s.bytes, s.bytes_redundant, s.last_error.msg);
}

static int download(struct xd_manifest *m, const char *path,
                    struct xd_error *err)
{
    struct xd_download *d;
    int rc = xd_download_new(&d, m, 0, NULL, path, NULL, err);

    if (rc < 0)
        return rc;
    rc = xd_download_start(d, err);
    if (rc == 0) {
        while ((rc = xd_download_wait(d, 200, err)) == XD_E_AGAIN)
            show_progress(d);
        fputc('\n', stderr);
        show_depots(d);
    }
    xd_download_unref(d);
    return rc;
}

int main(int argc, char **argv)
{
    struct xd_manifest *m;
    struct xd_error err;

    if (argc != 3) {
        fprintf(stderr, "usage: progress URL-OR-MANIFEST FILE\n");
        return 2;
    }
    const char *source = argv[1];
    int rc = xd_manifest_open(&m, &source, 1, NULL, &err);
    if (rc == 0) {
        rc = download(m, argv[2], &err);
        xd_manifest_unref(m);
    }
    if (rc < 0)
        fprintf(stderr, "progress: %s\n", err.msg);
    return rc < 0;
}

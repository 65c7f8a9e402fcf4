/* SPDX-License-Identifier: MIT */
/* A program with an event loop of its own: URL OUT.  It polls a download to a
 * file and a reader of the same URL at once, and never waits in a call. */
#include <poll.h>
#include <stdio.h>
#include <xdownload/xdownload.h>

static void die(const char *what, const struct xd_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->msg);
}

int main(int argc, char **argv)
{
    const char *const urls[] = {argv[argc - 2]};
    struct xd_manifest *m = NULL;
    struct xd_download *d = NULL;
    struct xd_source *s = NULL;
    struct xd_reader *r = NULL;
    struct xd_error err;
    char buffer[4096];
    int64_t total = 0;
    int turns = 0, rc = XD_E_AGAIN, n_open = 2;

    if (xd_manifest_from_urls(&m, urls, 1, XD_SIZE_UNKNOWN, &err) < 0 ||
        xd_download_new(&d, m, 0, NULL, argv[argc - 1], NULL, &err) < 0 ||
        xd_download_start(d, &err) < 0 ||
        xd_source_new(&s, m, 0, NULL, &err) < 0 ||
        xd_reader_new(&r, s, &err) < 0) {
        die("cannot begin", &err);
        return 1;
    }
    struct pollfd fds[] = {
        {.fd = xd_download_descriptor(d, &err), .events = POLLIN},
        {.fd = xd_reader_descriptor(r, &err), .events = POLLIN}};
    while (n_open > 0) {
        if (poll(fds, 2, 10000) <= 0) {
            fprintf(stderr, "nothing happens\n");
            return 1;
        }
        turns++;
        if (fds[0].revents) {
            rc = xd_download_wait(d, 0, &err);
            if (rc != XD_E_AGAIN) {
                fds[0].fd = -1;
                n_open--;
            }
        }
        if (fds[1].revents) {
            const int64_t n = xd_reader_read(r, buffer, sizeof buffer, 0);
            if (n > 0)
                total += n;
            else if (n != XD_E_AGAIN) {
                fds[1].fd = -1;
                n_open--;
            }
        }
    }
    printf("%d %lld %d\n", rc, (long long)total, turns);
    xd_reader_free(r);
    xd_source_unref(s);
    xd_download_unref(d);
    xd_manifest_unref(m);
    return 0;
}

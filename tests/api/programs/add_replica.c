/* SPDX-License-Identifier: MIT */
/* A program that finds a mirror while it downloads: URL MIRROR OUT.  The URL's
 * server never answers; another thread adds the mirror. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <xdownload/xdownload.h>

struct finding {
    struct xd_download *download; /* a reference */
    const char *url;
};

static void *find(void *arg)
{
    const struct timespec soon = {0, 300000000};
    const struct finding *f = arg;
    const struct xd_replica replica = {.struct_size = sizeof replica,
                                       .url = f->url};
    struct xd_error err;

    nanosleep(&soon, NULL);
    if (xd_download_add_replica(f->download, &replica, NULL, &err) < 0)
        fprintf(stderr, "%s\n", err.msg);
    xd_download_unref(f->download);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *const urls[] = {argv[argc - 3]};
    struct xd_depot_stats stats = {.struct_size = sizeof stats};
    struct xd_manifest *m = NULL;
    struct xd_download *d = NULL;
    struct finding finding;
    struct xd_error err;
    pthread_t thread;

    if (xd_manifest_from_urls(&m, urls, 1, XD_SIZE_UNKNOWN, &err) < 0 ||
        xd_download_new(&d, m, 0, NULL, argv[argc - 1], NULL, &err) < 0 ||
        xd_download_start(d, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    finding = (struct finding){xd_download_ref(d), argv[argc - 2]};
    if (pthread_create(&thread, NULL, find, &finding) != 0)
        return 1;
    if (xd_download_wait(d, 20000, &err) < 0 ||
        xd_download_depot(d, 1, &stats) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    printf("%llu\n", (unsigned long long)stats.bytes);
    pthread_join(thread, NULL);
    xd_download_unref(d);
    xd_manifest_unref(m);
    return 0;
}

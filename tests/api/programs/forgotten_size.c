/* SPDX-License-Identifier: MIT */
/* A program that never sets struct_size: forgotten_size URL */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <xdownload/xdownload.h>

#define GUARD 64

static const unsigned char untouched[GUARD];

static struct xd_download *download(const char *url)
{
    struct xd_manifest *m;
    struct xd_download *d;
    int rc = xd_manifest_from_urls(&m, &url, 1, 300000, NULL);

    assert(rc == 0);
    rc = xd_download_new(&d, m, 0, NULL, "out", NULL, NULL);
    assert(rc == 0);
    xd_manifest_unref(m);
    return d;
}

/* What an uninitialized variable may hold. */
static void report_into(struct xd_download *d, size_t garbage)
{
    struct {
        struct xd_progress p;
        unsigned char guard[GUARD];
    } s = {.p = {.struct_size = garbage}};
    struct xd_depot_stats *none = NULL;

    xd_download_progress(d, &s.p);
    assert(s.p.bytes_total == 300000);
    assert(memcmp(s.guard, untouched, GUARD) == 0);
    assert(xd_download_depot(d, 1, none) == XD_E_INVAL);
}

int main(int argc, char **argv)
{
    struct xd_download *d = download(argv[argc - 1]);
    struct xd_replica r = {.url = argv[argc - 1]};
    struct xd_error err;

    report_into(d, 0);
    report_into(d, sizeof(struct xd_progress) + GUARD);
    assert(xd_download_add_replica(d, &r, NULL, &err) == XD_E_INVAL);
    puts(err.msg);
    r = (struct xd_replica){XD_SIZED(struct xd_replica), .url = r.url};
    assert(xd_download_add_replica(d, &r, NULL, &err) == 0);
    xd_download_unref(d);
    return 0;
}

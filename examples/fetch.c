/* SPDX-License-Identifier: MIT */
/* Fetch a URL, or the file that a manifest describes, in one call. */
#include <stdio.h>
#include <xdownload/xdownload.h>

int main(int argc, char **argv)
{
    struct xd_options *options = NULL;
    struct xd_error err;

    if (argc != 3) {
        fprintf(stderr, "usage: fetch URL-OR-MANIFEST FILE\n");
        return 2;
    }
    int rc = xd_options_new(&options, &err);
    if (rc == 0)
        rc = xd_options_set(options, "block-size", "512k", &err);
    if (rc == 0)
        rc = xd_fetch(argv[1], argv[2], options, &err);
    if (rc < 0)
        fprintf(stderr, "fetch: %s\n", err.msg);
    xd_options_free(options);
    return rc < 0;
}

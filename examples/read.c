/* SPDX-License-Identifier: MIT */
/*
 * Reads a file while it is being downloaded, from any byte on, and writes it to
 * standard output.  Any program with a loop around read() can do the same.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <xdownload/xdownload.h>

/* Interval in milliseconds at which the loop checks for Ctrl-C. */
#define LOOK_MS 100

static volatile sig_atomic_t is_over;

static void end(int sig)
{
    (void)sig;
    is_over = 1;
}

/* Returns 0 at the end of the file, otherwise an error code. */
static int64_t read_on(struct xd_reader *r)
{
    static unsigned char bytes[1 << 16];

    while (!is_over) {
        const int64_t n = xd_reader_read(r, bytes, sizeof bytes, LOOK_MS);
        if (n == XD_E_AGAIN)
            continue; /* no bytes yet, but not the end */
        if (n <= 0)
            return n; /* 0 is the end of the file, < 0 an error */
        if (fwrite(bytes, 1, (size_t)n, stdout) != (size_t)n)
            return XD_E_PIPE;
    }
    return XD_E_CANCELED;
}

static int read_from(struct xd_source *s, uint64_t first, struct xd_error *err)
{
    struct xd_reader *r;
    int rc = xd_reader_new(&r, s, err);

    if (rc < 0)
        return rc;
    int64_t n = xd_reader_seek(r, first);
    if (n >= 0)
        n = read_on(r);
    xd_reader_error(r, err);
    xd_reader_free(r);
    return n < 0 ? (int)n : 0;
}

int main(int argc, char **argv)
{
    struct xd_manifest *m;
    struct xd_source *s;
    struct xd_error err;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: read URL-OR-MANIFEST [FIRST-BYTE]\n");
        return 2;
    }
    signal(SIGINT, end);
    const char *source = argv[1];
    int rc = xd_manifest_open(&m, &source, 1, NULL, &err);
    if (rc == 0) {
        rc = xd_source_new(&s, m, 0, NULL, &err);
        xd_manifest_unref(m); /* the source has its own reference */
    }
    if (rc == 0) {
        rc = read_from(s, argc > 2 ? strtoull(argv[2], NULL, 10) : 0, &err);
        xd_source_unref(s);
    }
    if (rc < 0 && !is_over)
        fprintf(stderr, "read: %s\n",
                rc == XD_E_PIPE ? "the output cannot be written" : err.msg);
    return rc < 0;
}

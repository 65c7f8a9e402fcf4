/* SPDX-License-Identifier: MIT */
/*
 * Reads all files of a manifest in order and writes them to standard output.
 * When all bytes of a file have been downloaded, it starts to download the next
 * file, so there is no pause between files.
 */
#include <stdio.h>
#include <xdownload/xdownload.h>

struct track {
    struct xd_source *source; /* NULL: not started */
    struct xd_reader *reader;
};

/* Opens a file and starts its download.  The library fetches bytes ahead of a
 * reader from the reader's first read on, even if that read does not wait. */
static int begin(struct track *t, struct xd_manifest *m, size_t file,
                 struct xd_error *err)
{
    char byte;
    int rc = xd_source_new(&t->source, m, file, NULL, err);

    if (rc == 0)
        rc = xd_reader_new(&t->reader, t->source, err);
    if (rc < 0)
        return rc;
    /* ignore errors: a later read reports them */
    (void)!xd_reader_read(t->reader, &byte, 1, 0);
    return xd_reader_seek(t->reader, 0) < 0 ? XD_E_BUG : 0;
}

static void end(struct track *t)
{
    xd_reader_free(t->reader);
    xd_source_unref(t->source);
    *t = (struct track){NULL, NULL};
}

/* Writes file number `file` to its end.  `now` is its track.  Starts `next`
 * once all bytes of `file` are there, if another file follows. */
static int play(struct track *now, struct track *next, struct xd_manifest *m,
                size_t file, struct xd_error *err)
{
    struct xd_file following;
    static unsigned char bytes[1 << 16];
    int64_t n;

    while ((n = xd_reader_read(now->reader, bytes, sizeof bytes, -1)) > 0) {
        if (fwrite(bytes, 1, (size_t)n, stdout) != (size_t)n)
            return XD_E_PIPE;
        if (next->source == NULL && !xd_source_needs_network(now->source) &&
            xd_manifest_file(m, file + 1, &following) == 0 &&
            (n = begin(next, m, file + 1, err)) < 0)
            return (int)n;
    }
    xd_reader_error(now->reader, err);
    return (int)n;
}

static int play_all(struct xd_manifest *m, struct xd_error *err)
{
    struct track now = {NULL, NULL}, next = {NULL, NULL};
    struct xd_manifest_info info;
    int rc = 0;

    xd_manifest_info(m, &info);
    for (size_t i = 0; rc == 0 && i < info.n_files; i++) {
        if (now.source == NULL)
            rc = begin(&now, m, i, err);
        if (rc == 0)
            rc = play(&now, &next, m, i, err);
        end(&now);
        now = next;
        next = (struct track){NULL, NULL};
    }
    end(&now);
    return rc;
}

int main(int argc, char **argv)
{
    struct xd_manifest *m;
    struct xd_error err;

    if (argc != 2) {
        fprintf(stderr, "usage: playlist URL-OR-MANIFEST\n");
        return 2;
    }
    const char *source = argv[1];
    int rc = xd_manifest_open(&m, &source, 1, NULL, &err);
    if (rc == 0) {
        rc = play_all(m, &err);
        /* each source has its own reference to the manifest */
        xd_manifest_unref(m);
    }
    if (rc < 0)
        fprintf(stderr, "playlist: %s\n",
                rc == XD_E_PIPE ? "the output cannot be written" : err.msg);
    return rc < 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Which algorithm is fastest, and with how many requests per depot?  Downloads
 * a file with each combination, and prints a line of JSON for each run:
 *
 *     sweep MANIFEST > runs.jsonl
 *
 * `xdownload bench` does the same with more choices.  A notebook would make the
 * same calls.  Downloaded files are deleted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <xdownload/xdownload.h>

#define SCRATCH "sweep.tmp"

/* The results of a run. */
struct outcome {
    double seconds;
    uint64_t received;
};

static int fetch(struct outcome *out, const char *path,
                 const struct xd_options *o, struct xd_error *err)
{
    struct xd_progress p;
    struct xd_manifest *manifest;
    struct xd_download *d = NULL;
    int rc = xd_manifest_open(&manifest, &path, 1, o, err);

    if (rc < 0)
        return rc;
    rc = xd_download_new(&d, manifest, 0, NULL, SCRATCH, o, err);
    if (rc == 0)
        rc = xd_download_start(d, err);
    if (rc == 0)
        rc = xd_download_wait(d, -1, err);
    if (rc == 0) {
        xd_download_progress(d, &p);
        *out = (struct outcome){p.seconds, p.bytes_received};
        unlink(SCRATCH);
    }
    xd_download_unref(d);
    xd_manifest_unref(manifest);
    return rc;
}

/* Makes one run.  No run learns from another. */
static int run(const char *path, const char *algorithm, const char *threads,
               struct xd_error *err)
{
    struct xd_options *options;
    struct outcome out = {0};
    int rc = xd_options_new(&options, err);

    if (rc < 0)
        return rc;
    rc = xd_options_set(options, "depot-cache", "", err);
    if (rc == 0)
        rc = xd_options_set(options, "algorithm", algorithm, err);
    if (rc == 0)
        rc = xd_options_set(options, "threads-per-depot", threads, err);
    if (rc == 0)
        rc = fetch(&out, path, options, err);
    if (rc == 0)
        printf("{\"algorithm\": \"%s\", \"threads\": %s, \"seconds\": %.6f, "
               "\"bytes_received\": %" PRIu64 "}\n",
               algorithm, threads, out.seconds, out.received);
    xd_options_free(options);
    return rc;
}

int main(int argc, char **argv)
{
    static const char *const algorithms[] = {"basic", "aggressive", "progress",
                                             "adaptive"};
    static const char *const threads[] = {"1", "2"};
    struct xd_error err;
    int rc = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: sweep MANIFEST\n");
        return 2;
    }
    for (size_t i = 0; rc == 0 && i < 8; i++)
        rc = run(argv[1], algorithms[i / 2], threads[i % 2], &err);
    if (rc < 0)
        fprintf(stderr, "sweep: %s\n", err.msg);
    return rc < 0;
}

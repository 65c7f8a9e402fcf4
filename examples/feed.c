/* SPDX-License-Identifier: MIT */
/*
 * Downloads the files of many manifests into a folder, all in one download.
 * Reads the paths of the manifests from standard input, one per line.  Each
 * file is added to the running download as soon as its manifest is read.
 *
 *     find . -name '*.meta4' | feed FOLDER
 */
#include <stdio.h>
#include <string.h>
#include <xdownload/xdownload.h>

#define MOST 100000

/* Creates the download from the first manifest, and starts it. */
static int begin(struct xd_download **out, struct xd_manifest *m,
                 const char *folder, struct xd_error *err)
{
    const size_t first = 0;
    int rc = xd_download_new_set(out, m, &first, 1, MOST, folder, NULL, err);

    return rc == 0 ? xd_download_start(*out, err) : rc;
}

static int take(struct xd_download **d, const char *path, const char *folder,
                struct xd_error *err)
{
    struct xd_file file;
    struct xd_manifest *m;
    size_t i = 0;
    int rc = xd_manifest_open(&m, &path, 1, NULL, err);

    if (rc < 0)
        return rc;
    if (*d == NULL) {
        rc = begin(d, m, folder, err);
        i = 1;
    }
    for (; rc == 0 && xd_manifest_file(m, i, &file) == 0; i++)
        rc = xd_download_add_file(*d, m, i, err);
    xd_manifest_unref(m);
    return rc;
}

static void print_files(struct xd_download *d)
{
    struct xd_file_progress p;

    for (size_t i = 0; xd_download_file_progress(d, i, &p) == 0; i++)
        printf("%s: %s\n", p.path,
               p.state == XD_FILE_DONE ? "complete" : p.error.msg);
}

int main(int argc, char **argv)
{
    struct xd_download *d = NULL;
    struct xd_error err;
    char line[4096];
    int rc = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: feed FOLDER\n");
        return 2;
    }
    while (rc == 0 && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        rc = take(&d, line, argv[1], &err);
    }
    if (rc == 0 && d != NULL) {
        xd_download_end_files(d);
        rc = xd_download_wait(d, -1, &err);
        print_files(d);
    }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.msg);
    xd_download_unref(d);
    return rc < 0;
}

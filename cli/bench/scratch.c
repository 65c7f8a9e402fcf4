/* SPDX-License-Identifier: MIT */
#include "bench/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "common/status.h"
#include "common/words.h"

int scratch_make(char out[SCRATCH_SIZE])
{
    const char *folder = getenv("TMPDIR");

    if (folder == NULL || folder[0] == '\0')
        folder = "/var/tmp";
    const int n =
        snprintf(out, SCRATCH_SIZE, "%s/xdownload-bench-XXXXXX", folder);
    if (n < 0 || n >= SCRATCH_SIZE)
        errno = ENAMETOOLONG;
    else if (mkdtemp(out) != NULL)
        return 0;
    words_error("no folder for what is fetched can be made in %s: %s", folder,
                strerror(errno));
    out[0] = '\0';
    return STATUS_LOCAL;
}

void scratch_empty(const char *path)
{
    DIR *folder = path[0] != '\0' ? opendir(path) : NULL;
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
}

void scratch_remove(const char *path)
{
    scratch_empty(path);
    if (path[0] != '\0')
        (void)rmdir(path);
}

/* SPDX-License-Identifier: MIT */
#include "make/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include <xdpublish/make.h>

#include "common/status.h"
#include "common/words.h"

static int fail(const char *path, int why)
{
    if (why == EEXIST)
        words_error("%s exists already: --force replaces it", path);
    else
        words_error("%s: %s", path, strerror(why));
    return STATUS_LOCAL;
}

int whole_file_check(const char *path, bool replace)
{
    const char *slash = strrchr(path, '/');
    struct stat st;

    if (lstat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return fail(path, EISDIR);
        return replace ? STATUS_COMPLETE : fail(path, EEXIST);
    }
    if (errno != ENOENT)
        return fail(path, errno);
    if (slash == NULL || slash == path)
        return STATUS_COMPLETE;
    char *folder = strndup(path, (size_t)(slash - path));
    const int why = folder == NULL             ? ENOMEM
                    : access(folder, W_OK) < 0 ? errno
                                               : 0;
    free(folder);
    return why != 0 ? fail(path, why) : STATUS_COMPLETE;
}

int whole_file_write(const char *path, const char *text, size_t len,
                     bool replace)
{
    struct xd_error err;

    if (xd_manifest_save(path, text, len, replace, &err) == 0)
        return STATUS_COMPLETE;
    words_error("%s", err.msg);
    return STATUS_LOCAL;
}

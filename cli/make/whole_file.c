/* SPDX-License-Identifier: MIT */
#include "make/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

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

/* 0, or errno. */
static int write_all(int fd, const char *text, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = write(fd, text + done, len - done);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0)
            done += (size_t)n;
    }
    const mode_t mask = umask(0);
    umask(mask);
    /* mkstemp() made it readable for us alone. */
    if (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0)
        return errno;
    return 0;
}

/* The other name of a file that has a name never takes that of another. */
static int give_name(const char *temporary, const char *path, bool replace)
{
    if (replace)
        return rename(temporary, path) < 0 ? errno : 0;
    if (link(temporary, path) == 0) {
        unlink(temporary);
        return 0;
    }
    if (errno == EEXIST)
        return EEXIST;
    /* A file system without second names. */
    if (access(path, F_OK) == 0)
        return EEXIST;
    return rename(temporary, path) < 0 ? errno : 0;
}

int whole_file_write(const char *path, const char *text, size_t len,
                     bool replace)
{
    const size_t size = strlen(path) + sizeof ".XXXXXX";
    char *temporary = malloc(size);

    if (temporary == NULL)
        return fail(path, ENOMEM);
    snprintf(temporary, size, "%s.XXXXXX", path);
    const int fd = mkstemp(temporary);
    int why = fd < 0 ? errno : write_all(fd, text, len);
    if (fd >= 0 && close(fd) < 0 && why == 0)
        why = errno;
    if (why == 0)
        why = give_name(temporary, path, replace);
    if (fd >= 0 && why != 0)
        unlink(temporary);
    free(temporary);
    return why != 0 ? fail(path, why) : STATUS_COMPLETE;
}

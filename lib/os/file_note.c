/* SPDX-License-Identifier: MIT */
#include "os/file_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "base/alloc.h"

#ifdef __linux__

#define ATTRIBUTE "user.xdownload.version"
#define STAMP_SIZE 80

/* Writes "SIZE SECONDS.NANOSECONDS\n" and returns its length, or 0. */
static size_t stamp(int fd, char out[STAMP_SIZE])
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return 0;
    return (size_t)snprintf(out, STAMP_SIZE, "%jd %jd.%09ld\n",
                            (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
                            st.st_mtim.tv_nsec);
}

void xd_file_set_note(int fd, const char *text)
{
    char note[STAMP_SIZE + XD_FILE_NOTE_MAX];
    const size_t at = stamp(fd, note), len = strlen(text);

    if (at == 0 || len > XD_FILE_NOTE_MAX)
        return;
    memcpy(note + at, text, len);
    (void)fsetxattr(fd, ATTRIBUTE, note, at + len, 0);
}

char *xd_file_note(int fd)
{
    char note[STAMP_SIZE + XD_FILE_NOTE_MAX], now[STAMP_SIZE];
    const size_t at = stamp(fd, now);
    const ssize_t len = fgetxattr(fd, ATTRIBUTE, note, sizeof note);

    if (at == 0 || len < (ssize_t)at || memcmp(note, now, at) != 0)
        return NULL;
    return xd_strndup(note + at, (size_t)len - at);
}

#else

void xd_file_set_note(int fd, const char *text)
{
    (void)fd;
    (void)text;
}

char *xd_file_note(int fd)
{
    (void)fd;
    return NULL;
}

#endif

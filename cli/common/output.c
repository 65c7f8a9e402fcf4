/* SPDX-License-Identifier: MIT */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <unistd.h>

#include "common/status.h"
#include "common/words.h"

/* Returns the descriptor for a path like "/dev/fd/3", which must not be opened
 * again.  Returns -1 for other paths. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t len = strlen(folders[i]);
        int fd, end = 0;

        if (strncmp(path, folders[i], len) == 0 &&
            sscanf(path + len, "%9d%n", &fd, &end) == 1 &&
            path[len + (size_t)end] == '\0' && fd >= 0)
            return fd;
    }
    return -1;
}

static int open_without_links(const char *path)
{
    const int named = named_descriptor(path);

    if (named >= 0)
        return fcntl(named, F_DUPFD_CLOEXEC, 0);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                0666);
}

int output_open(FILE **out, const char *path, const char *what)
{
    const int fd = open_without_links(path);

    *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (*out != NULL)
        return 0;
    words_error("%s: %s cannot be written: %s", path, what,
                errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    if (fd >= 0)
        close(fd);
    return STATUS_LOCAL;
}

int output_open_report(FILE **out, const char *path)
{
    *out = NULL;
    if (path == NULL)
        return 0;
    if (strcmp(path, "-") != 0)
        return output_open(out, path, "the report");
    *out = stderr;
    return 0;
}

int output_close_report(FILE *report, const char *path)
{
    if (report == NULL || report == stderr)
        return 0;
    const int failed = ferror(report);
    if (fclose(report) == 0 && !failed)
        return 0;
    words_error("%s: the report could not be written", path);
    return STATUS_LOCAL;
}

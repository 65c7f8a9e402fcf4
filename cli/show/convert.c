/* SPDX-License-Identifier: MIT */
#include "show/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "command/manifests.h"
#include "common/status.h"
#include "common/words.h"

/* Creates a file.  Never replaces a file and never follows a symbolic link. */
static int write_file(const char *path, mode_t mode, const char *text,
                      size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        words_error("%s: %s", path, strerror(errno));
        return STATUS_LOCAL;
    }
    size_t done = 0;
    while (done < len) {
        const ssize_t n = write(fd, text + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        done += (size_t)n;
    }
    int failure = done < len ? errno : 0;
    if (close(fd) < 0 && failure == 0)
        failure = errno;
    if (failure == 0)
        return STATUS_COMPLETE;
    unlink(path);
    words_error("%s: %s", path, strerror(failure));
    return STATUS_LOCAL;
}

static size_t count_stripes(const struct xd_manifest *m, size_t file)
{
    struct xd_file f = {.struct_size = sizeof f};
    size_t n = 0;

    for (size_t i = 0; xd_manifest_file(m, i, &f) == 0; i++)
        if (file == XD_ALL_FILES || file == i)
            n += f.n_stripes;
    return n;
}

/* Warns that the Metalink does not contain the parity.  This is only a warning,
 * because the Metalink is complete without it. */
static void warn_of_stripes(const struct args *a, const struct xd_manifest *m,
                            size_t file)
{
    const size_t n = count_stripes(m, file);

    if (n > 0 && !a->quiet && strcmp(a->format, "metalink") == 0)
        words_warning(0,
                      "the parity of %zu %s is left out, for which a "
                      "Metalink has no words",
                      n, n == 1 ? "stripe" : "stripes");
}

int convert(const struct args *a, const struct xd_manifest *m, size_t file)
{
    struct xd_error err;
    char *text;
    size_t len;

    const bool to_stdout = a->output == NULL || args_to_stdout(a);
    const bool has_secrets =
        strcmp(a->format, "exnode") == 0 && xd_manifest_has_secrets(m, file);
    const int rc = xd_manifest_write(
        &text, m, file,
        has_secrets && !to_stdout ? "private-exnode" : a->format, &len, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    int status = STATUS_COMPLETE;
    warn_of_stripes(a, m, file);
    if (to_stdout)
        fwrite(text, 1, len, stdout);
    else
        status = write_file(a->output, has_secrets ? 0600 : 0666, text, len);
    if (to_stdout && has_secrets)
        words_error("write and manage capabilities are secrets and were left "
                    "out: -o FILE writes them, readable by you alone");
    xd_manifest_text_free(text);
    return status;
}

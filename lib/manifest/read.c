/* The one place where the manifest layer opens a file: one that it was given. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <xdownload/checksums.h>
#include <xdownload/list.h>

#include "base/alloc.h"
#include "base/error.h"
#include "manifest/parse.h"

#define FIRST_READ ((size_t)65536)

struct buffer {
    char *s;
    size_t len, capacity;
};

/* All of it, or one byte more than a manifest may have. */
static int read_all(int fd, const char *name, struct buffer *out,
                    struct xd_error *err)
{
    while (out->len <= XD_MANIFEST_MAX) {
        if (out->len == out->capacity) {
            size_t capacity = out->capacity ? out->capacity * 2 : FIRST_READ;
            if (capacity > XD_MANIFEST_MAX)
                capacity = XD_MANIFEST_MAX + 1;
            char *grown = xd_realloc(out->s, capacity, 1);
            if (!grown)
                return xd_fail_nomem(err);
            out->s = grown;
            out->capacity = capacity;
        }
        ssize_t n = read(fd, out->s + out->len, out->capacity - out->len);
        if (n == 0)
            break;
        if (n > 0)
            out->len += (size_t)n;
        else if (errno != EINTR)
            return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be read",
                                 name);
    }
    return 0;
}

/* The caller's, also after a failure. */
static int read_path(const char *path, struct buffer *out, struct xd_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be opened", name);
    int rc = read_all(fd, name, out, err);
    if (!is_stdin)
        close(fd);
    return rc;
}

int xd_manifest_read(struct xd_manifest **out, const char *path,
                     struct xd_error *err)
{
    struct buffer text = {NULL, 0, 0};
    *out = NULL;
    int rc = read_path(path, &text, err);
    if (rc == 0)
        rc = xd_manifest_parse(out, text.s, text.len, path, err);
    xd_free(text.s);
    return rc;
}

int xd_list_read(struct xd_list **out, const char *path, struct xd_error *err)
{
    struct buffer text = {NULL, 0, 0};
    *out = NULL;
    int rc = read_path(path, &text, err);
    if (rc == 0)
        rc = xd_list_parse(out, text.s, text.len, path, err);
    xd_free(text.s);
    return rc;
}

int xd_checksums_read(struct xd_checksums *c, const char *path,
                      struct xd_error *err)
{
    struct buffer text = {NULL, 0, 0};
    int rc = read_path(path, &text, err);
    if (rc == 0)
        rc = xd_checksums_parse(c, text.s, text.len, path, err);
    xd_free(text.s);
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* The only place where lib/manifest opens a file.  It opens only files that the
 * caller has named. */
#include "manifest/input.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "manifest/parse.h"

#define FIRST_READ ((size_t)65536)
#define MIB ((size_t)1 << 20)

void xd_input_init(struct xd_input *in, struct xd_span text)
{
    *in = (struct xd_input){
        .fd = -1, .front = text, .n_read = text.len, .is_at_end = true};
}

int xd_input_open(struct xd_input *in, const char *path, struct xd_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;

    *in = (struct xd_input){.name = is_stdin ? "standard input" : path};
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be opened",
                             in->name);
    return 0;
}

void xd_input_fini(struct xd_input *in)
{
    if (in->fd >= 0 && in->fd != STDIN_FILENO)
        close(in->fd);
    xd_free(in->owned);
}

/* Reads at most one byte beyond the limit. */
static int read_file(struct xd_input *in, char *out, size_t room,
                     size_t *out_len, struct xd_error *err)
{
    size_t left = XD_MANIFEST_MAX + 1 - in->n_read;
    ssize_t n;

    do {
        n = read(in->fd, out, room < left ? room : left);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be read",
                             in->name);
    in->n_read += (size_t)n;
    in->is_at_end = n == 0 || in->n_read > XD_MANIFEST_MAX;
    *out_len = (size_t)n;
    return 0;
}

static int grow_front(struct xd_input *in, struct xd_error *err)
{
    size_t capacity = in->capacity ? in->capacity * 2 : FIRST_READ;

    if (capacity > XD_MANIFEST_MAX)
        capacity = XD_MANIFEST_MAX + 1;
    char *grown = xd_realloc(in->owned, capacity, 1);
    if (!grown)
        return xd_fail_nomem(err);
    in->owned = grown;
    in->front.s = grown;
    in->capacity = capacity;
    return 0;
}

int xd_input_fill(struct xd_input *in, size_t least, struct xd_error *err)
{
    while (in->front.len < least && !in->is_at_end) {
        size_t n;
        int rc = in->front.len == in->capacity ? grow_front(in, err) : 0;

        if (rc == 0)
            rc = read_file(in, in->owned + in->front.len,
                           in->capacity - in->front.len, &n, err);
        if (rc < 0)
            return rc;
        in->front.len += n;
    }
    return 0;
}

int xd_input_fill_all(struct xd_input *in, struct xd_error *err)
{
    return xd_input_fill(in, XD_MANIFEST_MAX + 1, err);
}

void xd_input_rewind(struct xd_input *in, size_t at, bool is_last)
{
    in->at = at;
    in->is_last = is_last;
}

/* Checks the text at offset `at`. */
static int check(const struct xd_input *in, struct xd_builder *b,
                 struct xd_span text, size_t at)
{
    const char *nul = text.len > 0 ? memchr(text.s, '\0', text.len) : NULL;
    if (in->n_read <= XD_MANIFEST_MAX && !nul)
        return 0;
    b->number = 0; /* the message itself states the position */
    if (in->n_read > XD_MANIFEST_MAX)
        return xd_builder_fail(b,
                               "longer than %zu MiB, the limit for manifests",
                               XD_MANIFEST_MAX / MIB);
    return xd_builder_fail(b,
                           "byte %zu is zero: this is not UTF-8 text, as "
                           "every manifest is",
                           at + (size_t)(nul - text.s));
}

int xd_input_check(const struct xd_input *in, struct xd_builder *b)
{
    return check(in, b, in->front, 0);
}

int xd_input_read(struct xd_input *in, struct xd_builder *b, char *out,
                  size_t room, size_t *out_len)
{
    size_t n = 0;
    int rc = in->is_last ? 0 : xd_input_fill(in, in->at + 1, b->err);

    if (rc == 0 && in->at < in->front.len) {
        n = in->front.len - in->at < room ? in->front.len - in->at : room;
        memcpy(out, in->front.s + in->at, n);
    } else if (rc == 0 && !in->is_at_end) {
        xd_free(in->owned);
        in->owned = NULL;
        rc = read_file(in, out, room, &n, b->err);
    }
    if (rc == 0)
        rc = check(in, b, xd_span(out, n), in->at);
    if (rc < 0)
        return rc;
    in->at += n;
    *out_len = n;
    return 0;
}

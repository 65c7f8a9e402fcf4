/* SPDX-License-Identifier: MIT */
#include "io/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* When poll() reports a pipe as writable, PIPE_BUF bytes can be written without
 * blocking, and no more is guaranteed.  A terminal guarantees its low-water
 * mark (256 on Linux).  Disks are never slow enough to matter. */
#define DISK_CHUNK ((size_t)1 << 20)
#define TERMINAL_CHUNK ((size_t)256)
#define PIPE_CHUNK ((size_t)PIPE_BUF)

static size_t chunk_for(int fd)
{
    struct stat st;

    if (isatty(fd))
        return TERMINAL_CHUNK;
    if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return PIPE_CHUNK;
    return DISK_CHUNK;
}

void xd_output_init(struct xd_output *o, int fd, int stop)
{
    *o = (struct xd_output){.fd = fd, .stop = stop, .chunk = chunk_for(fd)};
}

static int fail_pipe(int os_errno, struct xd_error *err)
{
    return xd_fail_errno(err, XD_E_PIPE, os_errno,
                         "the reader of the output went away");
}

/* Waits for one of the descriptors.  Returns 0, CANCELED or IO. */
static int wait_for(const struct xd_output *o, struct pollfd *fds, nfds_t n,
                    struct xd_error *err)
{
    fds[0] = (struct pollfd){.fd = o->stop, .events = POLLIN};
    while (poll(fds, n, -1) < 0)
        if (errno != EINTR)
            return xd_fail_errno(err, XD_E_IO, errno,
                                 "cannot wait for the reader of the output");
    if (fds[0].revents != 0)
        return xd_fail(err, XD_E_CANCELED, "the output was interrupted");
    return 0;
}

/* Writes once.  Returns the number of bytes written, or an error code. */
static ssize_t write_some(const struct xd_output *o, const unsigned char *data,
                          size_t len, struct xd_error *err)
{
    ssize_t n = write(o->fd, data, len < o->chunk ? len : o->chunk);

    if (n >= 0)
        return n;
    switch (errno) {
    case EINTR:
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
        return 0;
    case EPIPE:
    case ECONNRESET:
        return fail_pipe(errno, err);
    default:
        return xd_fail_errno(err, XD_E_IO, errno, "cannot write to the output");
    }
}

int xd_output_write(const struct xd_output *o, const void *data, size_t len,
                    struct xd_error *err)
{
    const unsigned char *from = data;

    while (len > 0) {
        /* no need to look at revents: write() reports errors of the
         * descriptor */
        struct pollfd fds[2] = {[1] = {.fd = o->fd, .events = POLLOUT}};
        int rc = wait_for(o, fds, 2, err);
        ssize_t n = rc < 0 ? rc : write_some(o, from, len, err);

        if (n < 0)
            return (int)n;
        from += n;
        len -= (size_t)n;
    }
    return 0;
}

int xd_output_wait(const struct xd_output *o, int wakeup, struct xd_error *err)
{
    struct pollfd fds[3] = {
        [1] = {.fd = o->fd}, [2] = {.fd = wakeup, .events = POLLIN}};
    int rc = wait_for(o, fds, 3, err);

    if (rc == 0 && fds[1].revents & POLLNVAL)
        return xd_fail_errno(err, XD_E_IO, EBADF, "cannot write to the output");
    if (rc == 0 && fds[1].revents != 0)
        return fail_pipe(EPIPE, err);
    return rc;
}

/*
 * A ring of memory in front of a descriptor.
 *
 *     memory     |....==========....|     byte b of the output lies at
 *                     ^        ^          b % window
 *                     front    what the caller says is there in order
 *
 * Writers and the drainer touch disjoint bytes of the ring, so it has no lock:
 * the lock under which the caller learns that a write is over, and under which
 * it says how far to drain, orders the two.  Only `front` is looked at by both
 * at once.
 */
#include "io/sinks/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* What is written at once.  A descriptor that poll() calls writable takes a
 * pipe's page without blocking, but no more is promised; a terminal promises
 * its low-water mark (256 on Linux).  A disk never keeps us for long. */
#define DISK_CHUNK ((size_t)1 << 20)
#define TERMINAL_CHUNK ((size_t)256)
#define PIPE_CHUNK ((size_t)PIPE_BUF)

struct xd_ordered_sink {
    struct xd_sink base;
    /* Constant after new(). */
    int fd;
    int interrupt[2]; /* a byte in it ends drain() */
    size_t chunk;
    uint64_t window;
    unsigned char *ring; /* its pages are not there before they are written */

    atomic_uint_fast64_t front; /* moved by drain() alone */
};

static int check_window(struct xd_ordered_sink *o, uint64_t offset, size_t len,
                        struct xd_error *err)
{
    uint64_t front = xd_ordered_sink_front(o);

    if (offset < front || len > o->window || offset - front > o->window - len)
        return xd_fail(err, XD_E_BUG,
                       "%zu bytes at %" PRIu64
                       " do not lie in the window of %" PRIu64
                       " bytes at %" PRIu64,
                       len, offset, o->window, front);
    return 0;
}

static int ordered_write(struct xd_sink *s, uint64_t offset, const void *data,
                         size_t len, struct xd_error *err)
{
    struct xd_ordered_sink *o = (struct xd_ordered_sink *)s;
    size_t at = (size_t)(offset % o->window);
    size_t to_edge = (size_t)o->window - at;
    size_t first = len < to_edge ? len : to_edge;
    int rc = check_window(o, offset, len, err);

    if (rc < 0)
        return rc;
    memcpy(o->ring + at, data, first);
    memcpy(o->ring, (const unsigned char *)data + first, len - first);
    return 0;
}

static int ordered_read(struct xd_sink *s, uint64_t offset, void *data,
                        size_t len, struct xd_error *err)
{
    struct xd_ordered_sink *o = (struct xd_ordered_sink *)s;
    size_t at = (size_t)(offset % o->window);
    size_t to_edge = (size_t)o->window - at;
    size_t first = len < to_edge ? len : to_edge;
    int rc = check_window(o, offset, len, err);

    if (rc < 0)
        return rc;
    memcpy(data, o->ring + at, first);
    memcpy((unsigned char *)data + first, o->ring, len - first);
    return 0;
}

static int ordered_finish(struct xd_sink *s, uint64_t size,
                          struct xd_error *err)
{
    uint64_t front = xd_ordered_sink_front((struct xd_ordered_sink *)s);

    if (front != size)
        return xd_fail(err, XD_E_BUG,
                       "%" PRIu64 " of %" PRIu64
                       " bytes of the output were drained",
                       front, size);
    return 0;
}

static void ordered_free(struct xd_sink *s)
{
    struct xd_ordered_sink *o = (struct xd_ordered_sink *)s;

    close(o->interrupt[0]);
    close(o->interrupt[1]);
    xd_free(o->ring);
    xd_free(o);
}

static const struct xd_sink_ops ordered_ops = {.write = ordered_write,
                                               .read = ordered_read,
                                               .finish = ordered_finish,
                                               .free = ordered_free};

/* pipe2() is not in the standard that we keep to. */
static int open_interrupt(int fds[2], struct xd_error *err)
{
    if (pipe(fds) != 0)
        return xd_fail_errno(err, XD_E_IO, errno, "cannot make a pipe");
    for (int i = 0; i < 2; i++)
        if (fcntl(fds[i], F_SETFD, FD_CLOEXEC) == -1 ||
            fcntl(fds[i], F_SETFL, O_NONBLOCK) == -1) {
            int rc = xd_fail_errno(err, XD_E_IO, errno, "cannot make a pipe");

            close(fds[0]);
            close(fds[1]);
            return rc;
        }
    return 0;
}

static size_t chunk_for(int fd)
{
    struct stat st;

    if (isatty(fd))
        return TERMINAL_CHUNK;
    if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return PIPE_CHUNK;
    return DISK_CHUNK;
}

int xd_ordered_sink_new(struct xd_sink **out, struct xd_ordered_sink **out_self,
                        int fd, uint64_t window, struct xd_error *err)
{
    struct xd_ordered_sink *o;
    int rc;

    if (window == 0 || window > SIZE_MAX)
        return xd_fail(err, XD_E_INVAL, "a window of %" PRIu64 " bytes",
                       window);
    o = xd_alloc(1, sizeof *o);
    if (o == NULL)
        return xd_fail_nomem(err);
    o->base.ops = &ordered_ops;
    o->fd = fd;
    o->window = window;
    o->chunk = chunk_for(fd);
    atomic_init(&o->front, 0);
    o->ring = xd_alloc((size_t)window, 1);
    rc = o->ring != NULL ? open_interrupt(o->interrupt, err)
                         : xd_fail_nomem(err);
    if (rc < 0) {
        xd_free(o->ring);
        xd_free(o);
        return rc;
    }
    *out = &o->base;
    *out_self = o;
    return 0;
}

/* Wait until the reader takes more.  What is wrong with the descriptor is
 * told by the write that follows. */
static int wait_writable(struct xd_ordered_sink *o, struct xd_error *err)
{
    struct pollfd fds[2] = {{.fd = o->fd, .events = POLLOUT},
                            {.fd = o->interrupt[0], .events = POLLIN}};

    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return xd_fail_errno(err, XD_E_IO, errno,
                                 "cannot wait for the reader of the output");
    if (fds[1].revents != 0)
        return xd_fail(err, XD_E_CANCELED, "the output was interrupted");
    return 0;
}

static int write_error(int os_errno, struct xd_error *err)
{
    switch (os_errno) {
    case EINTR:
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
        return 0;
    case EPIPE:
    case ECONNRESET:
        return xd_fail_errno(err, XD_E_PIPE, os_errno,
                             "the reader of the output went away");
    default:
        return xd_fail_errno(err, XD_E_IO, os_errno,
                             "cannot write to the output");
    }
}

/* One write of what lies in one piece in the ring, before `end`. */
static int write_some(struct xd_ordered_sink *o, uint64_t end,
                      struct xd_error *err)
{
    uint64_t front = xd_ordered_sink_front(o);
    size_t at = (size_t)(front % o->window);
    size_t len = (size_t)o->window - at;
    ssize_t n;

    if (len > end - front)
        len = (size_t)(end - front);
    if (len > o->chunk)
        len = o->chunk;
    n = write(o->fd, o->ring + at, len);
    if (n < 0)
        return write_error(errno, err);
    atomic_store(&o->front, front + (uint64_t)n);
    return 0;
}

int xd_ordered_sink_drain(struct xd_ordered_sink *o, uint64_t end,
                          struct xd_error *err)
{
    int rc = 0;

    while (rc == 0 && xd_ordered_sink_front(o) < end) {
        rc = wait_writable(o, err);
        if (rc == 0)
            rc = write_some(o, end, err);
    }
    return rc;
}

uint64_t xd_ordered_sink_front(struct xd_ordered_sink *o)
{
    return atomic_load(&o->front);
}

/* The byte is never taken out again; a full pipe has one already. */
void xd_ordered_sink_interrupt(struct xd_ordered_sink *o)
{
    ssize_t ignored = write(o->interrupt[1], "", 1);

    (void)ignored;
}

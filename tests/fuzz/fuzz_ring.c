/*
 * The ring in front of a descriptor against an array of all bytes.  What is
 * written lands anywhere around the window; what is drained must come out as
 * it was written last, in order, once.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/sinks/sink.h"

#define MOST_BYTES (1u << 17)
#define MOST_WINDOW 12000u /* a pipe holds more, so that no drain waits */

struct both {
    struct xd_sink *sink;
    struct xd_ordered_sink *ring;
    int in, out; /* the sink writes to `in`, and `out` gets it */
    bool is_file, is_read_only, is_interrupted, has_no_reader;
    unsigned window, front;
    uint8_t bytes[MOST_BYTES];
    bool is_written[MOST_BYTES];
};

static void open_output(struct both *b, unsigned kind)
{
    int fds[2];

    b->is_file = kind == 0;
    b->is_read_only = kind == 2;
    if (b->is_read_only) {
        fds[0] = -1;
        fds[1] = open("/dev/null", O_RDONLY);
        FUZZ_CHECK(fds[1] >= 0);
    } else if (b->is_file) {
        FILE *f = tmpfile();

        FUZZ_CHECK(f != NULL);
        fds[0] = dup(fileno(f));
        fds[1] = dup(fileno(f));
        FUZZ_CHECK(fds[0] >= 0 && fds[1] >= 0);
        fclose(f);
    } else {
        FUZZ_CHECK(pipe(fds) == 0);
    }
    b->out = fds[0];
    b->in = fds[1];
    b->has_no_reader = kind == 1;
    if (b->has_no_reader) {
        close(b->out);
        b->out = -1;
    }
}

static void put(struct both *b, struct fuzz_input *in)
{
    struct xd_error error = {.code = XD_OK};
    unsigned offset = b->front + fuzz_below(in, b->window + 2);
    unsigned len = fuzz_below(in, b->window + 2), first = fuzz_byte(in);
    uint8_t *data;
    int rc;

    offset -= offset > 0 && first % 8 == 0; /* just before the window */
    if (offset + len > MOST_BYTES)
        return;
    data = malloc(len + 1);
    FUZZ_CHECK(data != NULL);
    for (unsigned i = 0; i < len; i++)
        data[i] = (uint8_t)(first + i * 7 + (i >> 8));
    rc = xd_sink_write(b->sink, offset, data, len, &error);
    if (offset < b->front || offset + len > b->front + b->window) {
        FUZZ_CHECK(rc == XD_E_BUG && error.code == XD_E_BUG);
    } else {
        FUZZ_CHECK(rc == 0);
        memcpy(b->bytes + offset, data, len);
        memset(b->is_written + offset, true, len);
    }
    free(data);
}

/* What was written and is not out yet can be looked at. */
static void look(struct both *b, struct fuzz_input *in)
{
    unsigned begin = b->front + fuzz_below(in, b->window + 2), end = begin;
    unsigned most = fuzz_below(in, b->window + 2);
    uint8_t got[MOST_WINDOW];

    while (end < MOST_BYTES && end - begin < most && b->is_written[end])
        end++;
    if (end == begin)
        return;
    FUZZ_CHECK(xd_sink_read(b->sink, begin, got, end - begin, NULL) == 0);
    FUZZ_CHECK(memcmp(got, b->bytes + begin, end - begin) == 0);
    if (b->front > 0)
        FUZZ_CHECK(xd_sink_read(b->sink, b->front - 1, got, 1, NULL) ==
                   XD_E_BUG);
}

/* Exactly the bytes from `front` up to `end` came out. */
static void check_output(struct both *b, unsigned end)
{
    uint8_t got[MOST_WINDOW];
    ssize_t n, len = (ssize_t)(end - b->front);

    if (len == 0)
        return;
    n = b->is_file ? pread(b->out, got, sizeof got, (off_t)b->front)
                   : read(b->out, got, sizeof got);
    FUZZ_CHECK(n == len);
    FUZZ_CHECK(memcmp(got, b->bytes + b->front, (size_t)n) == 0);
}

static void drain(struct both *b, struct fuzz_input *in)
{
    unsigned most = b->front, end;
    int rc;

    while (most < MOST_BYTES && b->is_written[most])
        most++;
    end = b->front + fuzz_below(in, most - b->front + 1);
    rc = xd_ordered_sink_drain(b->ring, end, NULL);
    if (end == b->front) {
        FUZZ_CHECK(rc == 0);
    } else if (b->is_interrupted) {
        FUZZ_CHECK(rc == XD_E_CANCELED);
    } else if (b->has_no_reader || b->is_read_only) {
        FUZZ_CHECK(rc == (b->is_read_only ? XD_E_IO : XD_E_PIPE));
    } else {
        FUZZ_CHECK(rc == 0);
        check_output(b, end);
        b->front = end;
    }
    FUZZ_CHECK(xd_ordered_sink_front(b->ring) == b->front);
}

static void finish(struct both *b, unsigned size)
{
    FUZZ_CHECK(xd_sink_finish(b->sink, size, NULL) ==
               (size == b->front ? 0 : XD_E_BUG));
}

static void step(struct both *b, struct fuzz_input *in)
{
    unsigned kind = fuzz_below(in, 32);

    if (kind < 16)
        put(b, in);
    else if (kind < 26)
        drain(b, in);
    else if (kind < 30)
        look(b, in);
    else if (kind == 30)
        finish(b, b->front + fuzz_below(in, 2));
    else if (fuzz_byte(in) == 0) {
        xd_ordered_sink_interrupt(b->ring);
        b->is_interrupted = true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct both b;
    struct fuzz_input in = fuzz_input(data, len);
    int rc;

    signal(SIGPIPE, SIG_IGN);
    memset(&b, 0, sizeof b);
    open_output(&b, fuzz_below(&in, 8));
    b.window = fuzz_below(&in, MOST_WINDOW);
    rc = xd_ordered_sink_new(&b.sink, &b.ring, b.in, b.window, NULL);
    FUZZ_CHECK(rc == (b.window > 0 ? 0 : XD_E_INVAL));
    if (rc == 0) {
        while (!fuzz_is_over(&in))
            step(&b, &in);
        xd_sink_free(b.sink);
    }
    close(b.in);
    if (b.out >= 0)
        close(b.out);
    return 0;
}

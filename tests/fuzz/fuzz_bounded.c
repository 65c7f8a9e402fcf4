/* SPDX-License-Identifier: MIT */
/*
 * A store that drops what nobody wants against an array of all bytes: what was
 * written last and not dropped is what is read, wherever it lies.
 */
#include "fuzz.h"
#include "io/sinks/sink.h"

#define CHUNK ((unsigned)XD_BOUNDED_CHUNK)
#define N_CHUNKS 8u
#define MOST_BYTES (N_CHUNKS * CHUNK)

struct both {
    struct xd_sink *sink;
    struct xd_bounded_sink *bounded;
    uint8_t bytes[MOST_BYTES];
    bool is_there[N_CHUNKS];
};

struct span {
    unsigned begin, end;
};

/* Mostly at the edges of chunks. */
static struct span take_span(struct fuzz_input *in)
{
    unsigned begin = fuzz_below(in, N_CHUNKS) * CHUNK, len;

    if (fuzz_byte(in) % 2 == 0)
        begin += fuzz_below(in, CHUNK);
    len = fuzz_byte(in) % 4 == 0 ? fuzz_below(in, CHUNK) : fuzz_below(in, 300);
    if (len > MOST_BYTES - begin)
        len = MOST_BYTES - begin;
    return (struct span){begin, begin + len};
}

/* What a chunk holds that was never written is anything, so all of it is. */
static void make_chunk(struct both *b, unsigned i)
{
    if (b->is_there[i])
        return;
    memset(b->bytes + i * CHUNK, (int)i, CHUNK);
    b->is_there[i] = true;
    FUZZ_CHECK(xd_sink_write(b->sink, (uint64_t)i * CHUNK, b->bytes + i * CHUNK,
                             CHUNK, NULL) == 0);
}

static void put(struct both *b, struct fuzz_input *in)
{
    struct span s = take_span(in);
    unsigned first = fuzz_byte(in);

    if (s.begin == s.end)
        return;
    for (unsigned i = s.begin / CHUNK; i <= (s.end - 1) / CHUNK; i++)
        make_chunk(b, i);
    for (unsigned i = s.begin; i < s.end; i++)
        b->bytes[i] = (uint8_t)(first + i * 7 + (i >> 8));
    FUZZ_CHECK(xd_sink_write(b->sink, s.begin, b->bytes + s.begin,
                             s.end - s.begin, NULL) == 0);
}

static void look(struct both *b, struct fuzz_input *in)
{
    static uint8_t got[MOST_BYTES];
    struct span s = take_span(in);
    bool is_there = true;
    int rc;

    if (s.begin == s.end)
        return;
    for (unsigned i = s.begin / CHUNK; i <= (s.end - 1) / CHUNK; i++)
        is_there &= b->is_there[i];
    rc = xd_sink_read(b->sink, s.begin, got, s.end - s.begin, NULL);
    FUZZ_CHECK(rc == (is_there ? 0 : XD_E_BUG));
    if (is_there)
        FUZZ_CHECK(memcmp(got, b->bytes + s.begin, s.end - s.begin) == 0);
}

static void drop(struct both *b, struct fuzz_input *in)
{
    struct span s = take_span(in);

    s.begin = (s.begin + CHUNK - 1) / CHUNK;
    s.end = fuzz_byte(in) % 4 == 0 ? N_CHUNKS : s.end / CHUNK + 1;
    if (s.end > N_CHUNKS)
        s.end = N_CHUNKS;
    for (unsigned i = s.begin; i < s.end; i++)
        b->is_there[i] = false;
    xd_bounded_sink_drop(b->bounded, (uint64_t)s.begin * CHUNK,
                         (uint64_t)s.end * CHUNK);
}

static void step(struct both *b, struct fuzz_input *in)
{
    unsigned kind = fuzz_below(in, 16);

    if (kind < 8)
        put(b, in);
    else if (kind < 13)
        look(b, in);
    else
        drop(b, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct both b;
    struct fuzz_input in = fuzz_input(data, len);
    const char *folder = fuzz_byte(&in) % 2 == 0 ? NULL : "/tmp";

    memset(&b, 0, sizeof b);
    FUZZ_CHECK(xd_bounded_sink_new(&b.sink, &b.bounded, folder, NULL) == 0);
    while (!fuzz_is_over(&in))
        step(&b, &in);
    xd_sink_free(b.sink);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * An IBP depot answers a request in whatever way.  The first line of the input
 * is the request: offset, length (0: to the end), and letters: 's' wants the
 * size, 'f' has frames of 8 bytes, 'p' pauses at each second piece, 'k' is on a
 * connection that was kept.  What follows is what the depot sends before it
 * closes the connection.
 *
 * No byte outside of the request is handed over, none twice or out of order,
 * and those of frames are the data of a right frame; it always ends.
 */
#include <ctype.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/ibp/ibp_frames.h"
#include "io/ibp/ibp_request.h"

#define URL "ibp://d.example:6714/0#key/1/READ"
#define FRAMES 20

static const struct xd_framing framing = {.data_bytes = 8,
                                          .stored_bytes = 41,
                                          .offset = 3,
                                          .length = FRAMES * 41 - 3};

static struct run {
    struct xd_ibp_request q;
    struct xd_url url; /* of `asked` */
    struct xd_request asked;
    uint64_t received;
    unsigned n_heads, n_pieces;
    bool pauses;
} run;

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    (void)user;
    (void)slot;
    FUZZ_CHECK(run.n_heads++ == 0);
    FUZZ_CHECK(head->is_range &&
               strcmp(xd_url_secret_text(head->final_url), URL) == 0);
    return 0;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    (void)user;
    (void)slot;
    FUZZ_CHECK(run.n_heads == 1 && len > 0 && data != NULL);
    if (run.pauses && run.n_pieces++ % 2 == 0)
        return XD_E_AGAIN;
    run.received += len;
    FUZZ_CHECK(run.asked.length == XD_TO_END ||
               run.received <= run.asked.length);
    return 0;
}

static const struct xd_transport_handler handler = {.head = on_head,
                                                    .bytes = on_bytes};

static uint64_t take_number(const uint8_t **at, const uint8_t *end)
{
    uint64_t n = 0;

    while (*at < end && **at == ' ')
        ++*at;
    while (*at < end && isdigit(**at) && n < 1000000)
        n = n * 10 + (uint64_t)(*(*at)++ - '0');
    return n;
}

/* Returns whether the connection was kept. */
static bool read_request(const uint8_t *at, const uint8_t *end)
{
    uint64_t offset = take_number(&at, end), length = take_number(&at, end);
    bool is_kept = false;

    xd_url_parse(&run.url, URL);
    run.asked = (struct xd_request){.url = &run.url,
                                    .offset = offset,
                                    .length = length ? length : XD_TO_END,
                                    .object_size = XD_SIZE_UNKNOWN};
    run.pauses = false;
    for (; at < end; at++) {
        run.asked.wants_size |= *at == 's';
        run.pauses |= *at == 'p';
        is_kept |= *at == 'k';
        if (*at == 'f')
            run.asked.framing = &framing;
    }
    if (run.asked.framing)
        run.asked.offset %= 8 * FRAMES;
    return is_kept;
}

/* Move it until it ends; what it asks is read, and nobody answers. */
static void carry_out(int depot)
{
    char asked[4096];

    for (unsigned turn = 0; !run.q.is_decided && !run.q.must_reconnect;
         turn++) {
        FUZZ_CHECK(turn < 100000);
        run.q.is_paused = false;
        xd_ibp_request_move(&run.q);
        while (recv(depot, asked, sizeof asked, MSG_DONTWAIT) > 0)
            ;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const uint8_t *line = len ? memchr(data, '\n', len) : NULL;
    int ends[2];
    bool is_kept;

    if (line == NULL || len > 60000)
        return 0;
    memset(&run, 0, sizeof run);
    is_kept = read_request(data, line);
    xd_ibp_request_init(&run.q, 0, &handler);
    FUZZ_CHECK(xd_ibp_request_begin(&run.q, &run.asked, NULL) == 0);
    run.q.step_bytes = 1 + run.asked.offset % 7 * 100;
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    len -= (size_t)(line + 1 - data);
    FUZZ_CHECK(send(ends[0], line + 1, len, 0) == (ssize_t)len);
    shutdown(ends[0], SHUT_WR);
    if (!run.q.is_decided) {
        xd_ibp_request_use(&run.q, ends[1], is_kept);
        carry_out(ends[0]);
    } else {
        close(ends[1]);
    }
    if (run.q.is_decided && run.q.outcome.verdict == XD_VERDICT_OK) {
        FUZZ_CHECK(run.n_heads == 1);
        FUZZ_CHECK(run.q.at == run.q.end);
        FUZZ_CHECK(run.received == run.q.end - run.asked.offset);
    } else if (!run.q.must_reconnect) {
        FUZZ_CHECK(run.q.outcome.error.msg[0] != '\0');
        FUZZ_CHECK(strstr(run.q.outcome.error.msg, "key") == NULL);
    }
    xd_ibp_request_fini(&run.q);
    close(ends[0]);
    return 0;
}

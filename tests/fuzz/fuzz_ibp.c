/* SPDX-License-Identifier: MIT */
/*
 * An IBP depot answers a request in whatever way.  The first line of the input
 * is the request: offset, length (0: to the end), and letters: 's' wants the
 * size, 'f' has frames of 8 bytes, 'p' pauses at each second piece, 'k' is on a
 * connection that was kept.  One of 'A', 'S', 'L', 'P', 'C', 'D' and 'T' makes it a
 * command: ALLOCATE, STORE of `length` bytes, LOAD and so on.  What follows is what
 * the depot sends before it closes the connection.
 *
 * No byte outside of the request is handed over, none twice or out of order,
 * and those of frames are the data of a right frame; a reply to a command comes
 * once; it always ends.  What parses as three capabilities, or as the state of a
 * depot, lies within the line.
 */
#include <ctype.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/ibp/ibp_frames.h"
#include "io/ibp/ibp_request.h"

#define CAPABILITY "ibp://d.example:6714/0#key/1/"
#define URL CAPABILITY "READ"
#define FRAMES 20

static const struct xd_framing framing = {.data_bytes = 8,
                                          .stored_bytes = 41,
                                          .offset = 3,
                                          .length = FRAMES * 41 - 3};

static struct run {
    struct xd_ibp_request q;
    struct xd_url url; /* of `asked` */
    struct xd_request asked;
    struct xd_sending sends;
    const char *url_text;
    char fields[64];
    uint64_t received, sent;
    unsigned n_heads, n_pieces, n_reads;
    bool pauses;
} run;

/* The commands, by their letters. */
static const struct {
    char letter;
    const char *method, *url, *fields;
} commands[] = {
    {'A', "ALLOCATE", CAPABILITY "READ", "2 1 60 10"},
    {'S', "STORE", CAPABILITY "WRITE", NULL},
    {'L', "LOAD", CAPABILITY "READ", NULL},
    {'P', "PROBE", CAPABILITY "MANAGE", NULL},
    {'C', "CHANGE", CAPABILITY "MANAGE", "1 2 3"},
    {'D', "DECREMENT", CAPABILITY "MANAGE", "1"},
    {'T', "STATUS", "ibp://d.example", NULL},
};

static int64_t on_read(void *user, unsigned slot, uint64_t at, void *to,
                       size_t len)
{
    (void)user;
    (void)slot;
    FUZZ_CHECK(len > 0 && at == run.sent && at + len <= run.sends.length);
    if (run.pauses && run.n_reads++ % 2 == 0)
        return XD_E_AGAIN;
    memset(to, 'x', len);
    run.sent += len;
    return (int64_t)len;
}

static bool is_within(const struct xd_ibp_capability *c, const char *words)
{
    const char *end = words + strlen(words);

    return c->key_len > 0 && c->type_key_len > 0 && c->key > words &&
           c->type_key + c->type_key_len < end &&
           !memchr(c->key, '/', (size_t)c->key_len);
}

static void check_reply(const struct xd_reply *reply)
{
    struct xd_ibp_reply r = {.code = reply->code};
    struct xd_ibp_allocation a;
    struct xd_ibp_probe probe;
    uint64_t longest;

    FUZZ_CHECK(reply->code != 0 && reply->code <= XD_IBP_OK);
    FUZZ_CHECK(strlen(reply->words) <= XD_IBP_LINE_MAX);
    if (xd_ibp_allocated(reply->words, &a))
        FUZZ_CHECK(is_within(&a.read, reply->words) &&
                   is_within(&a.write, reply->words) &&
                   is_within(&a.manage, reply->words));
    if (xd_ibp_parse_numbers(reply->words, strlen(reply->words), &r))
        (void)xd_ibp_probed(&r, &probe);
    (void)xd_ibp_longest(reply->words, &longest);
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    (void)user;
    (void)slot;
    FUZZ_CHECK(run.n_heads++ == 0);
    FUZZ_CHECK(strcmp(xd_url_secret_text(head->final_url), run.url_text) == 0);
    FUZZ_CHECK((head->reply != NULL) == (run.asked.sends != NULL));
    FUZZ_CHECK(head->is_range == (head->reply == NULL));
    if (head->reply)
        check_reply(head->reply);
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

static void set_command(size_t i, uint64_t offset, uint64_t length)
{
    snprintf(run.fields, sizeof run.fields, "%u %u", (unsigned)offset,
             (unsigned)length);
    run.url_text = commands[i].url;
    xd_url_parse(&run.url, run.url_text);
    run.sends = (struct xd_sending){
        .method = commands[i].method,
        .fields = commands[i].letter == 'L' ? run.fields : commands[i].fields,
        .length = commands[i].letter == 'S' ? length : 0,
        .read = on_read};
    run.asked.sends = &run.sends;
    run.asked.length = length;
}

/* Returns whether the connection was kept. */
static bool read_request(const uint8_t *at, const uint8_t *end)
{
    uint64_t offset = take_number(&at, end), length = take_number(&at, end);
    bool is_kept = false;

    run.url_text = URL;
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
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            if (*at == commands[i].letter)
                set_command(i, offset, length);
        }
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
    if (run.q.is_decided && run.q.outcome.verdict == XD_VERDICT_OK &&
        run.asked.sends) {
        FUZZ_CHECK(run.n_heads == 1);
        FUZZ_CHECK(run.received <= run.asked.length);
        FUZZ_CHECK(run.sends.length == 0 || run.q.at <= run.sent);
    } else if (run.q.is_decided && run.q.outcome.verdict == XD_VERDICT_OK) {
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

/* SPDX-License-Identifier: MIT */
#include "catcher.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "url_of.h"

struct catcher caught[SLOTS];
struct mock_server *server;
struct xd_transport *transport;
struct xd_error err;
xd_usec send_patience;

static void note_reply(struct catcher *c, const struct xd_reply *reply)
{
    c->reply = *reply;
    snprintf(c->etag, sizeof c->etag, "%s", reply->etag ? reply->etag : "");
    snprintf(c->location, sizeof c->location, "%s",
             reply->location ? reply->location : "");
    snprintf(c->words, sizeof c->words, "%s", reply->words ? reply->words : "");
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct catcher *c = (struct catcher *)user + slot;

    ck_assert_uint_eq(c->received, 0);
    c->heads++;
    c->head = *head;
    if (head->reply != NULL) {
        note_reply(c, head->reply);
        return c->head_answer;
    }
    snprintf(c->validator, sizeof c->validator, "%s",
             head->validator != NULL ? head->validator : "");
    snprintf(c->final_url, sizeof c->final_url, "%s",
             xd_url_secret_text(head->final_url));
    return c->head_answer;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct catcher *c = (struct catcher *)user + slot;
    const unsigned char *bytes = data;

    ck_assert_uint_eq(c->heads, 1);
    ck_assert_uint_gt(len, 0);
    c->calls++;
    if (c->pause_every > 0 && c->calls % c->pause_every == 0) {
        c->paused = true;
        return XD_E_AGAIN;
    }
    if (c->bytes_answer < 0)
        return c->bytes_answer;
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != mock_byte(c->expected + i))
            ck_abort_msg("wrong byte at %zu", (size_t)c->expected + i);
    c->expected += len;
    c->received += len;
    return 0;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct catcher *c = (struct catcher *)user + slot;

    c->ends++;
    c->outcome = *outcome;
}

const struct xd_transport_handler handler = {
    .user = caught, .head = on_head, .bytes = on_bytes, .end = on_end};

void stop_server(void)
{
    if (server != NULL)
        mock_stop(server);
    server = NULL;
}

void tear_down(void)
{
    xd_transport_free(transport);
    stop_server();
    memset(caught, 0, sizeof caught);
}

void start(unsigned slot, struct xd_request r)
{
    caught[slot] = (struct catcher){
        .expected = r.offset,
        .pause_every = caught[slot].pause_every,
        .head_answer = caught[slot].head_answer,
        .bytes_answer = caught[slot].bytes_answer,
        .starve_every = caught[slot].starve_every,
        .read_answer = caught[slot].read_answer,
        .read_ms = caught[slot].read_ms,
        .read_most = caught[slot].read_most,
    };
    if (r.url == NULL)
        r.url = url_of(mock_url(server));
    ck_assert_int_eq(xd_transport_start(transport, slot, &r, &err), 0);
}

static int64_t on_read(void *user, unsigned slot, uint64_t at, void *to,
                       size_t len)
{
    struct catcher *c = (struct catcher *)user + slot;
    unsigned char *bytes = to;

    ck_assert_uint_gt(len, 0);
    c->reads++;
    if (c->starve_every > 0 && c->reads % c->starve_every == 0) {
        c->paused = true;
        return XD_E_AGAIN;
    }
    if (c->read_answer < 0)
        return c->read_answer;
    if (c->read_most > 0 && len > c->read_most)
        len = c->read_most;
    if (c->read_ms > 0)
        suite_rest_ms(c->read_ms);
    c->rewinds += at < c->sent;
    for (size_t i = 0; i < len; i++)
        bytes[i] = mock_byte(at + i);
    c->sent = at + len;
    return (int64_t)len;
}

void send_to(unsigned slot, const char *method, const char *fields,
             uint64_t length, const char *to)
{
    static struct xd_sending sending[SLOTS];

    sending[slot] = (struct xd_sending){.method = method,
                                        .fields = fields,
                                        .length = length,
                                        .logs_in = true,
                                        .patience = send_patience,
                                        .read = on_read,
                                        .user = caught};
    start(slot, (struct xd_request){.url = to != NULL ? url_of(to) : NULL,
                                    .sends = &sending[slot]});
}

void turn(void)
{
    xd_transport_poll(transport, TURN * XD_MS);
}

void run_to_end(unsigned slot)
{
    while (caught[slot].ends == 0) {
        turn();
        if (caught[slot].paused) {
            caught[slot].paused = false;
            xd_transport_resume(transport, slot);
        }
    }
    xd_transport_poll(transport, 0);
    ck_assert_uint_eq(caught[slot].ends, 1);
}

struct xd_request range(uint64_t offset, uint64_t length)
{
    return (struct xd_request){
        .offset = offset, .length = length, .object_size = XD_SIZE_UNKNOWN};
}

void check_end(const struct catcher *c, enum xd_verdict verdict,
               uint64_t received)
{
    ck_assert_msg(c->outcome.verdict == verdict, "verdict %d: %s",
                  (int)c->outcome.verdict, c->outcome.error.msg);
    ck_assert_uint_eq(c->received, received);
    if (verdict == XD_VERDICT_OK)
        ck_assert_int_eq(c->outcome.error.code, XD_OK);
    else
        ck_assert_int_ne(c->outcome.error.code, XD_OK);
}

/* SPDX-License-Identifier: MIT */
#include "transfer/toy_transport.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "os/clock.h"
#include "os/thread.h"

#define PIECE 4096

struct toy_request {
    bool is_busy, is_paused, has_told_head, is_decided;
    struct toy_answer answer;
    uint64_t at, end, skips, given;
    uint64_t offset;
    char url[300];
    xd_usec last_byte_at;
    struct xd_outcome outcome;
};

struct toy {
    struct xd_transport base;
    const struct xd_transport_handler *handler;
    struct toy_request *requests;
    unsigned n;
    xd_usec silence;
    struct xd_mutex lock;
    struct xd_cond woken;
    bool is_woken;
};

static const struct toy_answer *script;
static size_t n_script;
static atomic_uint n_requests;
static void (*listener)(const char *line);

void toy_script(const struct toy_answer *answers, size_t n)
{
    script = answers;
    n_script = n;
    atomic_store(&n_requests, 0);
}

void toy_listen(void (*hear)(const char *line))
{
    listener = hear;
}

unsigned char toy_byte(uint64_t offset)
{
    return (unsigned char)(offset * 7 + offset / 251);
}

unsigned toy_requests(void)
{
    return atomic_load(&n_requests);
}

static void say(const char *line)
{
    if (listener)
        listener(line);
}

static void say_start(const struct xd_request *r)
{
    char line[500], length[30] = "to the end";

    if (r->length != XD_TO_END)
        snprintf(length, sizeof length, "+%" PRIu64, r->length);
    snprintf(line, sizeof line, "ask %s %" PRIu64 " %s%s%s%s",
             xd_url_secret_text(r->url), r->offset, length,
             r->whole ? " whole" : "", r->if_range ? " if " : "",
             r->if_range ? r->if_range : "");
    say(line);
}

static int toy_start(struct xd_transport *t, unsigned slot,
                     const struct xd_request *r, struct xd_error *err)
{
    struct toy *y = (struct toy *)t;
    struct toy_request *q = &y->requests[slot];
    unsigned i = atomic_fetch_add(&n_requests, 1);
    struct toy_answer answer = {.verdict = XD_VERDICT_OK};

    if (i < n_script)
        answer = script[i];
    say_start(r);
    if (answer.cannot_start)
        return xd_fail_nomem(err);
    if (answer.object_size == 0)
        answer.object_size = TOY_SIZE;
    if (answer.bytes == 0)
        answer.bytes = TOY_ALL;
    *q = (struct toy_request){.is_busy = true,
                              .answer = answer,
                              .at = r->offset,
                              .offset = r->offset,
                              .end = answer.object_size,
                              .skips = answer.skips,
                              .last_byte_at = xd_now()};
    if (r->length < q->end - q->at)
        q->end = q->at + r->length;
    snprintf(q->url, sizeof q->url, "%s", xd_url_secret_text(r->url));
    return 0;
}

static void decide(struct toy_request *q, enum xd_verdict verdict,
                   enum xd_code code, const char *why)
{
    q->is_decided = true;
    q->outcome = (struct xd_outcome){.verdict = verdict,
                                     .object_size = q->answer.object_size,
                                     .is_cut = q->answer.is_cut,
                                     .is_refusal = q->answer.is_refusal,
                                     .is_denied = q->answer.is_denied,
                                     .is_of_redirect = q->answer.is_of_redirect,
                                     .is_unanswered = q->answer.is_unanswered,
                                     .media_type = q->answer.media_type,
                                     .retry_after = q->answer.retry_after};
    if (code != XD_OK)
        xd_fail(&q->outcome.error, code, "%s: %s", q->url, why);
}

static void toy_stop(struct xd_transport *t, unsigned slot)
{
    struct toy_request *q = &((struct toy *)t)->requests[slot];

    say("stop");
    if (q->is_busy && !q->is_decided)
        decide(q, XD_VERDICT_STOPPED, XD_E_CANCELED, "stopped");
}

static void toy_resume(struct xd_transport *t, unsigned slot)
{
    say("resume");
    ((struct toy *)t)->requests[slot].is_paused = false;
}

static void answer_head(struct toy *y, unsigned slot)
{
    struct toy_request *q = &y->requests[slot];
    const struct toy_answer *a = &q->answer;
    struct xd_url final_url;
    struct xd_head head = {.object_size = a->object_size,
                           .validator = a->validator,
                           .media_type = a->media_type,
                           .final_url = &final_url,
                           .is_range = true,
                           .next = a->next,
                           .shares = a->shares};

    xd_url_parse(&final_url, a->final_url ? a->final_url : q->url);
    q->has_told_head = true;
    if (y->handler->head(y->handler->user, slot, &head) < 0)
        decide(q, XD_VERDICT_STOPPED, XD_E_CANCELED, "refused");
}

static void fill(const struct toy_request *q, unsigned char *out, size_t len)
{
    size_t n_body = q->answer.body ? strlen(q->answer.body) : 0;

    for (size_t i = 0; i < len; i++) {
        uint64_t at = q->at + i;

        out[i] = at < n_body ? (unsigned char)q->answer.body[at] : toy_byte(at);
    }
}

/* Whether bytes, or skipped ones, are still to come. */
static bool has_more(const struct toy_request *q)
{
    return q->is_paused || q->skips > 0 ||
           (q->at < q->end && q->given < q->answer.bytes);
}

/* True: some came. */
static bool give_bytes(struct toy *y, unsigned slot)
{
    struct toy_request *q = &y->requests[slot];
    uint64_t most = q->answer.bytes - q->given, left = q->end - q->at;
    unsigned char piece[PIECE];
    size_t len;
    int rc;

    if (q->skips > 0 && y->handler->skip) {
        rc = y->handler->skip(y->handler->user, slot, (size_t)q->skips);
        q->is_paused = rc == XD_E_AGAIN;
        if (rc == 0)
            q->skips = 0;
        return true;
    }
    left = left < most ? left : most;
    len = left < PIECE ? (size_t)left : PIECE;
    if (len == 0)
        return false;
    fill(q, piece, len);
    rc = y->handler->bytes(y->handler->user, slot, piece, len);
    if (rc == XD_E_AGAIN) {
        q->is_paused = true;
    } else if (rc < 0) {
        decide(q, XD_VERDICT_STOPPED, (enum xd_code)rc, "refused");
    } else {
        q->at += len;
        q->given += len;
        q->last_byte_at = xd_now();
    }
    return true;
}

static void end_as_scripted(struct toy *y, struct toy_request *q)
{
    enum xd_verdict verdict = q->answer.verdict;

    if (q->has_told_head && q->at == q->end && q->end > q->offset)
        verdict = XD_VERDICT_OK; /* all that was asked for is here */
    else if (q->answer.is_silent && xd_now() - q->last_byte_at < y->silence)
        return;
    else if (q->answer.is_silent)
        verdict = XD_VERDICT_AGAIN;
    decide(q, verdict, verdict == XD_VERDICT_OK ? XD_OK : XD_E_NET,
           "as the script says");
}

/* One step; true if anything happened. */
static bool advance(struct toy *y, unsigned slot)
{
    struct toy_request *q = &y->requests[slot];

    if (!q->is_decided && !q->has_told_head && !q->answer.has_no_head) {
        answer_head(y, slot);
        return true;
    }
    if (!q->is_decided && !q->answer.has_no_head && give_bytes(y, slot) &&
        has_more(q))
        return true;
    if (!q->is_decided)
        end_as_scripted(y, q);
    if (!q->is_decided)
        return false;
    q->is_busy = false;
    y->handler->end(y->handler->user, slot, &q->outcome);
    return true;
}

static void toy_poll(struct xd_transport *t, xd_usec timeout)
{
    struct toy *y = (struct toy *)t;
    xd_usec now = xd_now(), until;
    bool happened = false;

    for (unsigned i = 0; i < y->n; i++) {
        const struct toy_request *q = &y->requests[i];

        if (q->is_busy && (!q->is_paused || q->is_decided))
            happened |= advance(y, i);
        if (q->is_busy && q->answer.is_silent && timeout > y->silence)
            timeout = y->silence;
    }
    until = timeout < XD_NEVER - now ? now + timeout : XD_NEVER;
    xd_mutex_lock(&y->lock);
    while (!happened && !y->is_woken)
        happened = !xd_cond_wait_until(&y->woken, &y->lock, until);
    y->is_woken = false;
    xd_mutex_unlock(&y->lock);
}

static void toy_wakeup(struct xd_transport *t)
{
    struct toy *y = (struct toy *)t;

    xd_mutex_lock(&y->lock);
    y->is_woken = true;
    xd_cond_signal(&y->woken);
    xd_mutex_unlock(&y->lock);
}

static void toy_head_again(struct xd_transport *t, unsigned slot)
{
    answer_head((struct toy *)t, slot);
}

static bool toy_is_connected(struct xd_transport *t, unsigned slot)
{
    return ((struct toy *)t)->requests[slot].has_told_head;
}

static void toy_limit(struct xd_transport *t, uint64_t bytes_per_s)
{
    (void)t;
    (void)bytes_per_s;
}

static void toy_set_silence(struct xd_transport *t, xd_usec silence,
                            xd_usec first_byte)
{
    (void)first_byte;
    ((struct toy *)t)->silence = silence;
}

static void toy_free(struct xd_transport *t)
{
    struct toy *y = (struct toy *)t;

    xd_cond_fini(&y->woken);
    xd_mutex_fini(&y->lock);
    xd_free(y->requests);
    xd_free(y);
}

static const struct xd_transport_ops ops = {.start = toy_start,
                                            .stop = toy_stop,
                                            .resume = toy_resume,
                                            .poll = toy_poll,
                                            .wakeup = toy_wakeup,
                                            .head_again = toy_head_again,
                                            .is_connected = toy_is_connected,
                                            .limit = toy_limit,
                                            .set_silence = toy_set_silence,
                                            .free = toy_free};

int toy_new(struct xd_transport **out, const struct xd_transport_config *config,
            const struct xd_transport_handler *handler, struct xd_error *err)
{
    struct toy *y = xd_alloc(1, sizeof *y);

    if (!y)
        return xd_fail_nomem(err);
    *y = (struct toy){.base = {.ops = &ops},
                      .handler = handler,
                      .n = config->n_slots,
                      .silence = config->silence};
    y->requests = xd_alloc(y->n, sizeof *y->requests);
    if (!y->requests || xd_mutex_init(&y->lock) < 0)
        goto release;
    if (xd_cond_init(&y->woken) < 0)
        goto fini_lock;
    *out = &y->base;
    return 0;

fini_lock:
    xd_mutex_fini(&y->lock);
release:
    xd_free(y->requests);
    xd_free(y);
    return xd_fail_nomem(err);
}

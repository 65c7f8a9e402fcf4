/* SPDX-License-Identifier: MIT */
#include "io/ibp/ibp_send.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/ibp/ibp_end.h"
#include "io/window.h"

/* Time limits in seconds that are sent to the depot.  LoRS uses the first one.
 * Some depots count the transfer time of STORE as well, so its limit is a day.
 * Our silence limit is shorter. */
#define COMMAND_TIMEOUT 600
#define STORE_TIMEOUT 86400

/* Bytes of the body read at a time. */
#define BODY_STEP ((size_t)64 << 10)

static const struct xd_sending *sending(const struct xd_ibp_request *q)
{
    return q->asked.sends;
}

static bool is(const struct xd_ibp_request *q, const char *method)
{
    return strcmp(q->command->method, method) == 0;
}

/* ---- commands ---- */

int xd_ibp_send_begin(struct xd_ibp_request *q)
{
    const struct xd_sending *s = sending(q);

    q->command = xd_ibp_command(s->method);
    if (q->command == NULL || !xd_ibp_takes(q->command, s->fields)) {
        xd_ibp_end_decide(q, XD_VERDICT_GONE);
        xd_fail(&q->outcome.error, XD_E_INVAL, "%s: IBP has no such command",
                q->name.s);
        return 0;
    }
    if (q->command->right != NULL &&
        !xd_ibp_split_right(q->url, q->command->right, &q->capability)) {
        xd_ibp_end_decide(q, XD_VERDICT_GONE);
        xd_fail(&q->outcome.error, XD_E_NET, "%s: is not a capability for %s",
                q->name.s, q->command->method);
        return 0;
    }
    if (s->length > 0 && q->body == NULL)
        q->body = xd_alloc(BODY_STEP, 1);
    return s->length > 0 && q->body == NULL ? XD_E_NOMEM : 0;
}

void xd_ibp_send_ask(struct xd_ibp_request *q)
{
    const struct xd_sending *s = sending(q);

    xd_text_clear(&q->out);
    q->n_sent = q->n_kept = 0;
    q->at = q->end = q->next = q->stop = 0;
    q->body_len = q->body_sent = 0;
    q->step = XD_IBP_COMMAND;
    xd_ibp_write_command(&q->out, q->command, &q->capability, s->fields,
                         s->length,
                         s->length > 0 ? STORE_TIMEOUT : COMMAND_TIMEOUT);
    if (q->out.failed) {
        xd_text_fini(&q->out);
        xd_ibp_end_nomem(q);
    }
}

/* ---- replies ---- */

/* Parses the fields of LOAD, "OFFSET LENGTH". */
static struct xd_range loaded_range(const struct xd_ibp_request *q)
{
    struct xd_ibp_reply r = {.code = XD_IBP_OK};
    const char *fields = sending(q)->fields;
    uint64_t begin, n;

    if (!xd_ibp_parse_numbers(fields, strlen(fields), &r) || r.n != 2 ||
        r.numbers[0] < 0 || r.numbers[1] < 0)
        return (struct xd_range){0, 0};
    begin = (uint64_t)r.numbers[0];
    n = (uint64_t)r.numbers[1];
    return (struct xd_range){begin, begin + n};
}

static void report(struct xd_ibp_request *q, int64_t code, const char *words)
{
    struct xd_reply reply = {
        .code = code, .words = words, .length = XD_SIZE_UNKNOWN};
    struct xd_head head = {
        .object_size = XD_SIZE_UNKNOWN, .final_url = q->url, .reply = &reply};
    int rc;

    if (q->step == XD_IBP_BODY) {
        reply.is_range = true;
        reply.range = loaded_range(q);
        reply.range.end = reply.range.begin + q->to_come;
    }
    q->has_reported_head = true;
    rc = q->handler->head(q->handler->user, q->slot, &head);
    if (rc < 0)
        xd_ibp_end_refused(q, rc);
}

/* Parses the length in the reply to LOAD.  Returns false if it exceeds the
 * request. */
static bool take_length(struct xd_ibp_request *q, const char *words)
{
    struct xd_ibp_reply r = {.code = XD_IBP_OK};
    uint64_t n;

    if (!xd_ibp_parse_numbers(words, strlen(words), &r) ||
        !xd_ibp_loaded(&r, &n) || n > xd_range_length(loaded_range(q)))
        return false;
    q->to_come = q->end = q->stop = n;
    q->step = XD_IBP_BODY;
    return true;
}

/* Passes on the final reply. */
static void finish(struct xd_ibp_request *q, int64_t code, const char *words,
                   bool is_clean)
{
    report(q, code, words);
    if (q->is_decided)
        return;
    q->is_clean = is_clean;
    xd_ibp_end_decide(q, XD_VERDICT_OK);
}

void xd_ibp_send_take(struct xd_ibp_request *q, char *line, size_t len,
                      size_t rest)
{
    bool has_sent_all = q->at == sending(q)->length;
    struct xd_span words;
    int64_t code;

    if (!xd_ibp_split_reply(line, len, &code, &words)) {
        xd_ibp_end_garbage(q);
        return;
    }
    line[words.s + words.len - line] = '\0';
    if (code == XD_IBP_OUT_OF_SOCKETS && xd_ibp_end_is_stale(q)) {
        q->must_reconnect = true;
    } else if (code < 0) {
        /* Some depots close the connection after an error. */
        finish(q, code, words.s, false);
    } else if (is(q, "STATUS")) {
        finish(q, XD_IBP_OK, line, rest == 0);
    } else if (code != XD_IBP_OK) {
        xd_ibp_end_garbage(q);
    } else if (is(q, "STORE") && !q->has_go_ahead) {
        q->has_go_ahead = true;
        q->step = has_sent_all ? XD_IBP_COUNTS : XD_IBP_STORES;
    } else if (!is(q, "LOAD")) {
        finish(q, code, words.s, has_sent_all && rest == 0);
    } else if (take_length(q, words.s)) {
        report(q, code, words.s);
    } else {
        xd_ibp_end_garbage(q);
    }
}

/* ---- the body ---- */

/* Fills the body's buffer. */
static bool fill(struct xd_ibp_request *q)
{
    const struct xd_sending *s = sending(q);
    uint64_t left = s->length - q->at;
    size_t room = q->step_bytes < BODY_STEP ? q->step_bytes : BODY_STEP;
    int64_t n;

    if (q->body_sent < q->body_len)
        return true;
    if (room > left)
        room = (size_t)left;
    n = s->read(s->user, q->slot, q->at, q->body, room);
    if (n == XD_E_AGAIN) {
        q->is_paused = true;
        return false;
    }
    if (n < 0) {
        xd_ibp_end_refused(q, (int)n);
        return false;
    }
    XD_ASSERT(n > 0 && (uint64_t)n <= room);
    q->body_len = (size_t)n;
    q->body_sent = 0;
    return true;
}

bool xd_ibp_send_body(struct xd_ibp_request *q)
{
    ssize_t n;

    if (!fill(q))
        return false;
    n = send(q->fd, q->body + q->body_sent, q->body_len - q->body_sent,
             MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return false;
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        q->step = XD_IBP_COUNTS; /* the depot's reply may still be readable */
        return true;
    }
    if (n < 0) {
        xd_ibp_end_connection(q, errno);
        return false;
    }
    q->made_progress = true;
    q->body_sent += (size_t)n;
    q->at += (uint64_t)n;
    if (q->at == sending(q)->length)
        q->step = XD_IBP_COUNTS;
    return true;
}

void xd_ibp_send_watch(struct xd_ibp_request *q)
{
    const int unsent =
        q->step == XD_IBP_COUNTS ? xd_window_unconfirmed(q->fd) : -1;

    if (unsent < 0)
        return;
    q->made_progress |= unsent != q->unsent;
    q->unsent = unsent;
}

/* SPDX-License-Identifier: MIT */
#include "io/ibp/ibp_request.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/ibp/ibp_end.h"
#include "io/ibp/ibp_frames.h"
#include "io/ibp/ibp_send.h"
#include "io/window.h"

/* Time limit in seconds that is sent to the depot, as LoRS does.  0 would mean
 * none.  Our silence limit is shorter. */
#define DEPOT_TIMEOUT 600

/* Number of receives in one move(), so that other requests get their turn. */
#define MOST_RECEIVES 16

void xd_ibp_request_init(struct xd_ibp_request *q, unsigned slot,
                         const struct xd_transport_handler *handler)
{
    *q = (struct xd_ibp_request){.handler = handler, .slot = slot, .fd = -1};
}

void xd_ibp_request_fini(struct xd_ibp_request *q)
{
    if (q->fd >= 0)
        close(q->fd);
    xd_free(q->url);
    xd_free(q->peer);
    xd_free(q->buffer);
    xd_free(q->body);
    xd_text_fini(&q->out);
    xd_hasher_free(q->md5);
}

static const struct xd_framing *framing(const struct xd_ibp_request *q)
{
    return q->asked.framing;
}

/* ---- the request ---- */

/* Computes where the wanted data is in the object. */
static void locate(struct xd_ibp_request *q)
{
    const struct xd_framing *f = framing(q);

    q->next = q->at;
    q->stop = q->end;
    if (f == NULL || q->at >= q->end)
        return;
    q->next = xd_ibp_frames_at(f, q->at).stored.begin;
    q->stop = xd_ibp_frames_at(f, q->end - 1).stored.end;
}

/* Computes the wanted range without asking the depot. */
static void bound(struct xd_ibp_request *q)
{
    const struct xd_request *r = &q->asked;
    uint64_t size = r->framing ? xd_framing_data(r->framing) : r->object_size;

    q->at = r->offset;
    q->end = xd_request_end(r);
    if (size != XD_SIZE_UNKNOWN && q->end > size)
        q->end = size;
    if (q->end == XD_TO_END)
        q->wants_probe = true;
    if (q->at > q->end || (q->at == q->end && q->at > 0)) {
        q->is_decided = true;
        xd_request_is_different(r, q->name.s, size, &q->outcome);
    }
    locate(q);
}

static int set_peer(struct xd_ibp_request *q)
{
    struct xd_span host = xd_url_host(q->url);
    bool is_bare = host.s[0] != '[' && memchr(host.s, ':', host.len);
    struct xd_text peer = {.s = NULL};

    xd_text_addf(&peer, "%s%.*s%s:%u", is_bare ? "[" : "", (int)host.len,
                 host.s, is_bare ? "]" : "", q->url->port);
    xd_free(q->peer);
    q->peer = peer.s;
    return peer.failed ? XD_E_NOMEM : 0;
}

/* Splits the capability.  Reading bytes requires a read capability; PROBE
 * accepts any. */
static bool split(struct xd_ibp_request *q)
{
    return xd_ibp_split_right(q->url, q->asked.asks_state ? "" : "READ",
                              &q->capability);
}

static int prepare(struct xd_ibp_request *q, const struct xd_request *r)
{
    xd_free(q->url);
    q->url = xd_url_copy(r->url);
    if (q->url == NULL)
        return XD_E_NOMEM;
    q->name = xd_url_name(r->url);
    if (r->sends) {
        int rc = xd_ibp_send_begin(q);

        return rc < 0 || q->is_decided ? rc : set_peer(q);
    }
    if (!split(q) ||
        (framing(q) != NULL && !xd_framing_is_possible(framing(q)))) {
        xd_ibp_end_decide(q, XD_VERDICT_GONE);
        xd_fail(&q->outcome.error, XD_E_NET, "%s: is not a %scapability of IBP",
                q->name.s, r->asks_state ? "" : "read ");
        return 0;
    }
    if (!r->asks_state)
        bound(q);
    return set_peer(q);
}

/* Allocates room for a frame, or for one receive step. */
static int prepare_buffer(struct xd_ibp_request *q)
{
    const struct xd_framing *f = framing(q);
    size_t capacity = xd_window_step(0);
    unsigned char *buffer;

    if (f != NULL && q->md5 == NULL && xd_hasher_new(&q->md5, "md5", NULL) < 0)
        return XD_E_NOMEM;
    if (f != NULL && f->stored_bytes + XD_IBP_REPLY_MAX >= capacity)
        capacity = (size_t)f->stored_bytes + XD_IBP_REPLY_MAX + 1;
    if (q->capacity >= capacity)
        return 0;
    buffer = xd_realloc(q->buffer, capacity, 1);
    if (buffer == NULL)
        return XD_E_NOMEM;
    q->buffer = buffer;
    q->capacity = capacity;
    return 0;
}

int xd_ibp_request_begin(struct xd_ibp_request *q, const struct xd_request *r,
                         struct xd_error *err)
{
    if (r->sends)
        q->asked = (struct xd_request){.sends = r->sends,
                                       .object_size = XD_SIZE_UNKNOWN};
    else
        q->asked = *r;
    q->asked.url = q->asked.origin = NULL;
    q->asked.if_range = NULL;
    q->outcome = (struct xd_outcome){.verdict = XD_VERDICT_OK,
                                     .object_size = XD_SIZE_UNKNOWN};
    q->object_size = XD_SIZE_UNKNOWN;
    q->wants_probe =
        q->asked.asks_state ||
        (q->asked.wants_size && q->asked.object_size == XD_SIZE_UNKNOWN &&
         q->asked.framing == NULL);
    q->at = q->end = 0;
    q->has_probed = q->has_reported_head = false;
    q->is_paused = q->is_decided = q->must_reconnect = false;
    q->step = XD_IBP_CONNECTS;
    if (prepare(q, r) < 0 || prepare_buffer(q) < 0)
        return xd_fail_nomem(err);
    return 0;
}

/* ---- asking ---- */

static void ask(struct xd_ibp_request *q)
{
    xd_text_clear(&q->out);
    q->n_sent = 0;
    q->n_kept = q->filled;
    q->is_clean = false;
    if (q->wants_probe && !q->has_probed) {
        q->step = XD_IBP_PROBES;
        xd_ibp_write_probe(&q->out, &q->capability, DEPOT_TIMEOUT);
    } else {
        q->step = XD_IBP_LOADS;
        xd_ibp_write_load(&q->out, &q->capability, q->next, q->stop - q->next,
                          DEPOT_TIMEOUT);
    }
    if (q->out.failed) {
        xd_text_fini(&q->out);
        xd_ibp_end_nomem(q);
    }
}

static void report_head(struct xd_ibp_request *q,
                        const struct xd_object_state *state)
{
    struct xd_head head = {.object_size = q->object_size,
                           .final_url = q->url,
                           .is_range = true,
                           .state = state};
    int rc;

    if (q->has_reported_head)
        return;
    q->has_reported_head = true;
    rc = q->handler->head(q->handler->user, q->slot, &head);
    if (rc < 0)
        xd_ibp_end_refused(q, rc);
}

/* Requests what is still missing, if anything. */
static void ask_on(struct xd_ibp_request *q)
{
    if (q->next < q->stop || (q->wants_probe && !q->has_probed)) {
        ask(q);
        return;
    }
    report_head(q, NULL);
    q->is_clean = !q->has_surplus;
    if (!q->is_decided)
        xd_ibp_end_decide(q, XD_VERDICT_OK);
}

void xd_ibp_request_use(struct xd_ibp_request *q, int fd, bool is_reused)
{
    q->fd = fd;
    q->is_reused = is_reused;
    q->must_reconnect = q->is_clean = q->is_checked = q->has_surplus = false;
    q->filled = 0;
    q->to_come = 0;
    q->has_go_ahead = false;
    if (q->asked.sends) {
        xd_ibp_send_ask(q);
        return;
    }
    locate(q);
    ask_on(q);
}

int xd_ibp_request_detach(struct xd_ibp_request *q)
{
    int fd = q->fd;

    q->fd = -1;
    if (fd >= 0 && !(q->is_clean && q->outcome.verdict == XD_VERDICT_OK)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- replies ---- */

/* Handles the number of bytes in the object. */
static void learn_size(struct xd_ibp_request *q, uint64_t written)
{
    const struct xd_request *r = &q->asked;
    bool is_all = r->offset == 0 && r->length == XD_TO_END;

    if (framing(q) != NULL) {
        if (q->stop > written) {
            q->is_decided = true;
            xd_request_is_different(r, q->name.s, XD_SIZE_UNKNOWN, &q->outcome);
        }
        return;
    }
    q->object_size = written;
    if ((r->object_size != XD_SIZE_UNKNOWN && r->object_size != written) ||
        (r->offset >= written && !is_all) ||
        q->next > written /* the handler already got more bytes */) {
        q->is_decided = true;
        xd_request_is_different(r, q->name.s, written, &q->outcome);
        return;
    }
    if (q->end > written)
        q->end = q->stop = written;
}

/* Handles the reply to a request that asks only for the state. */
static void take_state(struct xd_ibp_request *q, const struct xd_ibp_reply *r)
{
    struct xd_ibp_probe probe;
    struct xd_object_state state;

    if (r->code < 0) {
        xd_ibp_end_by_code(q, r->code);
        return;
    }
    if (!xd_ibp_probed(r, &probe)) {
        xd_ibp_end_garbage(q);
        return;
    }
    state = (struct xd_object_state){.written = probe.written,
                                     .allocated = probe.allocated,
                                     .lifetime_s = probe.lifetime};
    q->has_probed = true;
    q->object_size = probe.written;
    report_head(q, &state);
    if (!q->is_decided)
        ask_on(q);
}

static void take_probe(struct xd_ibp_request *q, const struct xd_ibp_reply *r)
{
    struct xd_ibp_probe probe;

    q->has_probed = true;
    if (xd_ibp_probed(r, &probe)) {
        learn_size(q, probe.written);
        if (!q->is_decided)
            ask_on(q);
    } else if (q->end != XD_TO_END) {
        /* Some depots answer PROBE only with a manage capability, and close the
         * connection after every error. */
        q->must_reconnect = true;
    } else if (r->code < 0) {
        xd_ibp_end_by_code(q, r->code);
    } else {
        xd_ibp_end_garbage(q);
    }
}

/* Handles an empty reply.  Probes to find out whether more bytes exist. */
static void doubt(struct xd_ibp_request *q, int64_t code)
{
    if (q->has_probed) {
        xd_ibp_end_by_code(q, code);
        return;
    }
    q->wants_probe = true;
    ask_on(q);
}

static void take_load(struct xd_ibp_request *q, const struct xd_ibp_reply *r)
{
    uint64_t n, wanted = q->stop - q->next;

    if (r->code == XD_IBP_BEYOND_END || r->code == XD_IBP_SERVER_TIMEOUT) {
        doubt(q, r->code);
        return;
    }
    if (r->code < 0) {
        xd_ibp_end_by_code(q, r->code);
        return;
    }
    if (!xd_ibp_loaded(r, &n)) {
        xd_ibp_end_garbage(q);
        return;
    }
    if (n > wanted) {
        xd_ibp_end_decide(q, XD_VERDICT_GONE);
        xd_fail(&q->outcome.error, XD_E_NET,
                "%s: answers with %" PRIu64 " bytes instead of %" PRIu64,
                q->name.s, n, wanted);
        return;
    }
    if (n == 0) {
        doubt(q, XD_IBP_SERVER_TIMEOUT);
        return;
    }
    q->wants_probe |= n < wanted;
    q->to_come = n;
    q->step = XD_IBP_BODY;
    report_head(q, NULL);
}

static void take_line(struct xd_ibp_request *q, unsigned char *line, size_t len,
                      size_t rest)
{
    struct xd_ibp_reply reply;
    enum xd_ibp_step step = q->step;

    if (q->asked.sends) {
        xd_ibp_send_take(q, (char *)line, len, rest);
        return;
    }
    if (!xd_ibp_parse_reply((const char *)line, len, &reply)) {
        xd_ibp_end_garbage(q);
        return;
    }
    q->filled = q->n_kept;
    if (reply.code == XD_IBP_OUT_OF_SOCKETS && xd_ibp_end_is_stale(q))
        q->must_reconnect = true;
    else if (step == XD_IBP_PROBES && q->asked.asks_state)
        take_state(q, &reply);
    else if (step == XD_IBP_PROBES)
        take_probe(q, &reply);
    else
        take_load(q, &reply);
}

/* Handles the bytes that followed the reply.  They were moved to the place of
 * the reply. */
static void take_rest(struct xd_ibp_request *q, size_t rest)
{
    q->has_surplus = rest > q->to_come;
    if (q->has_surplus)
        rest = (size_t)q->to_come;
    q->filled = q->n_kept + rest;
    q->to_come -= rest;
    q->next += rest;
}

/*
 * Handles a reply once its line feed has arrived.  In the buffer, the reply
 * follows the bytes of an incomplete frame.  The body follows the reply, or
 * another reply for STORE.
 */
static void take_reply(struct xd_ibp_request *q)
{
    size_t most = q->asked.sends ? XD_IBP_LINE_MAX : XD_IBP_REPLY_MAX;
    unsigned char *line = q->buffer + q->n_kept, *end;
    size_t len = q->filled - q->n_kept, rest;

    end = memchr(line, '\n', len);
    if ((end ? (size_t)(end - line) : len) > most)
        xd_ibp_end_garbage(q);
    if (end == NULL || q->is_decided || q->must_reconnect)
        return;
    rest = len - (size_t)(end - line) - 1;
    take_line(q, line, (size_t)(end - line), rest);
    memmove(line, end + 1, rest);
    q->filled = q->n_kept;
    if (q->is_decided || q->must_reconnect || rest == 0)
        return;
    if (q->step == XD_IBP_BODY) {
        take_rest(q, rest);
    } else if (q->asked.sends) {
        q->filled += rest;
        take_reply(q);
    }
}

/* ---- bytes ---- */

/* Passes `n` data bytes to the handler.  Returns false if it did not take
 * them. */
static bool hand_over(struct xd_ibp_request *q, const unsigned char *bytes,
                      size_t n)
{
    int rc = q->handler->bytes(q->handler->user, q->slot, bytes, n);

    if (rc == XD_E_AGAIN) {
        q->is_paused = true;
        return false;
    }
    if (rc < 0) {
        xd_ibp_end_refused(q, rc);
        return false;
    }
    q->at += n;
    return true;
}

/* Passes on the wanted part of a complete frame.  Returns true if anything was
 * done. */
static bool hand_over_frame(struct xd_ibp_request *q)
{
    struct xd_ibp_frame frame = xd_ibp_frames_at(framing(q), q->at);
    size_t len = (size_t)xd_range_length(frame.stored);
    uint64_t end = q->end < frame.data.end ? q->end : frame.data.end;
    uint64_t skip = q->at - frame.data.begin;

    if (q->filled < len)
        return false;
    q->is_checked =
        q->is_checked || xd_ibp_frame_is_right(q->md5, q->buffer, len);
    if (!q->is_checked) {
        xd_ibp_end_decide(q, XD_VERDICT_GONE);
        xd_fail(&q->outcome.error, XD_E_CORRUPT,
                "%s: the frame at offset %" PRIu64
                " is corrupt: its MD5 is another",
                q->name.s, frame.stored.begin);
        return true;
    }
    if (!hand_over(q, q->buffer + XD_FRAME_HEAD + skip, (size_t)(end - q->at)))
        return true;
    q->is_checked = false;
    memmove(q->buffer, q->buffer + len, q->filled - len);
    q->filled -= len;
    return true;
}

/* Passes on the buffer's contents.  Returns true if anything was done. */
static bool hand_over_buffer(struct xd_ibp_request *q)
{
    if (q->step != XD_IBP_BODY || q->filled == 0)
        return false;
    if (framing(q) != NULL)
        return hand_over_frame(q);
    if (hand_over(q, q->buffer, q->filled))
        q->filled = 0;
    return true;
}

static size_t room(const struct xd_ibp_request *q)
{
    size_t n = q->capacity - q->filled;

    if (n > q->step_bytes)
        n = q->step_bytes;
    if (q->step == XD_IBP_BODY && n > q->to_come)
        n = (size_t)q->to_come;
    return n;
}

/* Returns true if data arrived or the outcome was decided. */
static bool receive(struct xd_ibp_request *q)
{
    ssize_t n = recv(q->fd, q->buffer + q->filled, room(q), 0);

    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return false;
    if (n <= 0) {
        xd_ibp_end_connection(q, n < 0 ? errno : 0);
        return true;
    }
    q->made_progress = true;
    q->filled += (size_t)n;
    if (q->step != XD_IBP_BODY) {
        take_reply(q);
        return true;
    }
    q->to_come -= (uint64_t)n;
    q->next += (uint64_t)n;
    return true;
}

/* Returns true when everything was sent. */
static bool send_out(struct xd_ibp_request *q)
{
    while (q->n_sent < q->out.len) {
        ssize_t n = send(q->fd, q->out.s + q->n_sent, q->out.len - q->n_sent,
                         MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return false;
        if (n < 0) {
            xd_ibp_end_connection(q, errno);
            return false;
        }
        q->n_sent += (size_t)n;
    }
    return true;
}

static bool is_done(const struct xd_ibp_request *q)
{
    return q->is_decided || q->is_paused || q->must_reconnect;
}

void xd_ibp_request_move(struct xd_ibp_request *q)
{
    int n_receives = 0;

    while (!is_done(q) && n_receives < MOST_RECEIVES) {
        if (hand_over_buffer(q))
            continue;
        if (q->step == XD_IBP_BODY && q->to_come == 0) {
            ask_on(q);
            continue;
        }
        if (!send_out(q))
            return;
        xd_ibp_send_watch(q);
        if (!receive(q) && (q->step != XD_IBP_STORES || !xd_ibp_send_body(q)))
            return;
        n_receives++;
    }
}

short xd_ibp_request_events(const struct xd_ibp_request *q)
{
    if (q->step == XD_IBP_STORES)
        return POLLIN | POLLOUT;
    return q->n_sent < q->out.len ? POLLOUT : POLLIN;
}

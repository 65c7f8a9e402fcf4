/* SPDX-License-Identifier: MIT */
/*
 * Transport for local files (file: URLs).
 *
 * start() opens the file, and each poll() reads one block for every slot.  A
 * request ends with its last block, or in the first poll() after stop().
 *
 * Symbolic links are followed: whoever wrote the URL could have named the
 * target as well.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/request.h"
#include "os/clock.h"
#include "os/descriptors.h"
#include "os/file.h"
#include "os/thread.h"

/* bytes read at a time; the engine also writes in blocks of this size */
#define PIECE_BYTES ((size_t)256 << 10)

struct local_fetch {
    bool is_busy;
    bool is_decided; /* the outcome is known; the next poll() reports it */
    bool is_paused, has_reported_head;
    int fd; /* < 0: not open */
    uint64_t at, end, object_size;
    char stamp[XD_FILE_STAMP_SIZE]; /* version of the open file */
    struct xd_url *url;             /* owned copy of the request's URL */
    struct xd_url_name name;
    struct xd_outcome outcome;
};

struct local {
    struct xd_transport base;
    /* constant after xd_local_new() */
    const struct xd_transport_handler *handler;
    unsigned n_fetches;

    /* Used only by the owner's thread. */
    struct local_fetch *fetches; /* one for each slot */
    unsigned char *piece;

    struct xd_mutex lock;
    struct xd_cond woken; /* signals is_woken */
    bool is_woken;        /* guarded by lock */
};

static unsigned slot_of(const struct local *l, const struct local_fetch *f)
{
    return (unsigned)(f - l->fetches);
}

static void decide(struct local_fetch *f, enum xd_verdict verdict)
{
    f->is_decided = true;
    f->outcome.verdict = verdict;
}

/* Fails the request.  The failure is temporary only if there was no memory or
 * no descriptor. */
static void fail_to_open(struct local_fetch *f)
{
    int os_errno = f->outcome.error.os_errno;

    if (xd_descriptors_ran_out(os_errno))
        decide(f, XD_VERDICT_LOCAL);
    else
        decide(f, os_errno == ENOMEM ? XD_VERDICT_AGAIN : XD_VERDICT_GONE);
}

/* Checks the size of the file.  An empty file has no bytes, so only a request
 * for the whole file succeeds. */
static void judge(struct local_fetch *f, const struct xd_request *r)
{
    uint64_t end = xd_request_end(r), size = f->object_size;
    bool is_all = r->offset == 0 && r->length == XD_TO_END;

    if ((r->object_size != XD_SIZE_UNKNOWN && r->object_size != size) ||
        (r->offset >= size && !is_all)) {
        f->is_decided = true;
        xd_request_is_different(r, f->name.s, size, &f->outcome);
    }
    f->at = r->offset;
    f->end = end < size ? end : size;
}

static int open_file(struct local_fetch *f, const struct xd_request *r,
                     struct xd_error *err)
{
    char *path;

    if (!xd_url_is_local(f->url)) {
        decide(f, XD_VERDICT_GONE);
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: is not the URL of a local file", f->name.s);
        return 0;
    }
    path = xd_url_local_path(f->url);
    if (path == NULL)
        return xd_fail_nomem(err);
    if (xd_file_open(&f->fd, &f->object_size, path, &f->outcome.error) < 0)
        fail_to_open(f);
    else
        judge(f, r);
    if (f->fd >= 0)
        xd_file_stamp(f->fd, f->stamp);
    xd_free(path);
    return 0;
}

static void close_file(struct local_fetch *f)
{
    if (f->fd >= 0)
        xd_file_close(f->fd);
    f->fd = -1;
}

static int local_start(struct xd_transport *t, unsigned slot,
                       const struct xd_request *request, struct xd_error *err)
{
    struct local *l = (struct local *)t;
    struct local_fetch *f = &l->fetches[slot];
    int rc;

    XD_ASSERT(slot < l->n_fetches && !f->is_busy && request->length > 0);
    *f = (struct local_fetch){
        .fd = -1,
        .outcome = {.verdict = XD_VERDICT_OK, .object_size = XD_SIZE_UNKNOWN}};
    f->name = xd_url_name(request->url);
    f->url = xd_url_copy(request->url);
    rc = f->url != NULL ? open_file(f, request, err) : xd_fail_nomem(err);
    if (rc < 0)
        xd_free(f->url);
    f->is_busy = rc == 0;
    return rc;
}

static void local_stop(struct xd_transport *t, unsigned slot)
{
    struct local_fetch *f = &((struct local *)t)->fetches[slot];

    if (!f->is_busy || f->is_decided)
        return;
    decide(f, XD_VERDICT_STOPPED);
    xd_fail(&f->outcome.error, XD_E_CANCELED, "%s: stopped at offset %" PRIu64,
            f->name.s, f->at);
}

static void local_resume(struct xd_transport *t, unsigned slot)
{
    ((struct local *)t)->fetches[slot].is_paused = false;
}

/* Ends the request, because the handler's head() or bytes() has returned
 * `rc`. */
static void refuse(struct local_fetch *f, int rc)
{
    decide(f, XD_VERDICT_STOPPED);
    xd_fail(&f->outcome.error, (enum xd_code)rc, "%s: refused", f->name.s);
}

static void report_head(struct local *l, struct local_fetch *f)
{
    struct xd_head head = {
        .object_size = f->object_size, .final_url = f->url, .is_range = true};
    int rc;

    if (f->stamp[0] != '\0')
        head.validator = f->stamp;
    rc = l->handler->head(l->handler->user, slot_of(l, f), &head);

    f->has_reported_head = true;
    if (rc < 0)
        refuse(f, rc);
}

static bool has_changed(const struct local_fetch *f)
{
    char now[XD_FILE_STAMP_SIZE];

    xd_file_stamp(f->fd, now);
    return strcmp(now, f->stamp) != 0;
}

/* Reads a block, and passes it on if the file still has the version reported in
 * the head. */
static void read_some(struct local *l, struct local_fetch *f)
{
    uint64_t left = f->end - f->at;
    size_t most = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
    int64_t n = xd_file_read(f->fd, f->name.s, f->at, l->piece, most,
                             &f->outcome.error);
    int rc;

    if (n < 0) {
        decide(f, XD_VERDICT_GONE);
        return;
    }
    if (n == 0) {
        decide(f, XD_VERDICT_AGAIN);
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: became shorter, and ends at offset %" PRIu64, f->name.s,
                f->at);
        return;
    }
    if (has_changed(f)) {
        decide(f, XD_VERDICT_AGAIN);
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: was changed while it was read, at offset %" PRIu64,
                f->name.s, f->at);
        return;
    }
    rc =
        l->handler->bytes(l->handler->user, slot_of(l, f), l->piece, (size_t)n);
    if (rc == XD_E_AGAIN)
        f->is_paused = true;
    else if (rc < 0)
        refuse(f, rc);
    else
        f->at += (uint64_t)n;
}

/* Does one step for a slot. */
static void advance(struct local *l, struct local_fetch *f)
{
    if (!f->is_decided && !f->has_reported_head)
        report_head(l, f);
    if (!f->is_decided && f->at < f->end)
        read_some(l, f);
    if (!f->is_decided && f->at == f->end)
        decide(f, XD_VERDICT_OK);
    if (!f->is_decided)
        return;
    xd_request_locate(&f->outcome, f->url, f->url);
    close_file(f);
    xd_free(f->url);
    f->is_busy = false;
    l->handler->end(l->handler->user, slot_of(l, f), &f->outcome);
}

/* Returns true if there was anything to do. */
static bool advance_all(struct local *l)
{
    bool happened = false;

    for (unsigned i = 0; i < l->n_fetches; i++) {
        struct local_fetch *f = &l->fetches[i];

        if (!f->is_busy || (f->is_paused && !f->is_decided))
            continue;
        advance(l, f);
        happened = true;
    }
    return happened;
}

static void local_poll(struct xd_transport *t, xd_usec timeout)
{
    struct local *l = (struct local *)t;
    xd_usec now = xd_now();
    xd_usec until = timeout < XD_NEVER - now ? now + timeout : XD_NEVER;
    bool happened = advance_all(l);

    xd_mutex_lock(&l->lock);
    while (!happened && !l->is_woken)
        happened = !xd_cond_wait_until(&l->woken, &l->lock, until);
    l->is_woken = false;
    xd_mutex_unlock(&l->lock);
}

static void local_wakeup(struct xd_transport *t)
{
    struct local *l = (struct local *)t;

    xd_mutex_lock(&l->lock);
    l->is_woken = true;
    xd_cond_signal(&l->woken);
    xd_mutex_unlock(&l->lock);
}

static void release(struct local *l)
{
    xd_free(l->piece);
    xd_free(l->fetches);
    xd_free(l);
}

static void local_free(struct xd_transport *t)
{
    struct local *l = (struct local *)t;

    for (unsigned i = 0; i < l->n_fetches; i++) {
        if (!l->fetches[i].is_busy)
            continue;
        close_file(&l->fetches[i]);
        xd_free(l->fetches[i].url);
    }
    xd_cond_fini(&l->woken);
    xd_mutex_fini(&l->lock);
    release(l);
}

static const struct xd_transport_ops local_ops = {.start = local_start,
                                                  .stop = local_stop,
                                                  .resume = local_resume,
                                                  .poll = local_poll,
                                                  .wakeup = local_wakeup,
                                                  .free = local_free};

int xd_local_new(struct xd_transport **out,
                 const struct xd_transport_config *config,
                 const struct xd_transport_handler *handler,
                 struct xd_error *err)
{
    struct local *l = xd_alloc(1, sizeof *l);

    if (l == NULL)
        return xd_fail_nomem(err);
    l->base.ops = &local_ops;
    l->handler = handler;
    l->n_fetches = config->n_slots;
    l->fetches = xd_alloc(config->n_slots, sizeof *l->fetches);
    l->piece = xd_alloc(PIECE_BYTES, 1);
    if (l->fetches == NULL || l->piece == NULL || xd_mutex_init(&l->lock) < 0)
        goto release;
    if (xd_cond_init(&l->woken) < 0)
        goto fini_lock;
    *out = &l->base;
    return 0;

fini_lock:
    xd_mutex_fini(&l->lock);
release:
    release(l);
    return xd_fail_nomem(err);
}

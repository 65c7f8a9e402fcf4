/* SPDX-License-Identifier: MIT */
/*
 * A transport fetches byte ranges of objects on one depot.
 *
 *     worker thread:  start(slot) ... poll() -> head, bytes, bytes, end
 *     any thread:     wakeup()        (poll returns at once)
 *
 * A slot carries one request at a time.  The transport knows HTTP and FTP (or
 * the local disk, or IBP) and nothing else: which bytes, from which depot and
 * what becomes of them is decided elsewhere.  It checks that what comes is what
 * was asked for: a byte that does not belong to the request never reaches the
 * handler.
 *
 * Threads: one thread owns a transport; only wakeup() may be called by others.
 */
#ifndef XD_IO_TRANSPORT_H
#define XD_IO_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>
#include <xdownload/manifest.h>

#include "base/offer.h"
#include "base/range.h"
#include "base/time.h"
#include "base/url.h"
#include "io/reach.h"

struct xd_net_options;
struct xd_net_context;

#define XD_TO_END UINT64_MAX /* as a length: to the end of the object */

/*
 * What a request sends, to a depot that stores: a method of HTTP with its header
 * and body, or a command of IBP.  No range is asked for then, no redirect is
 * followed, and whatever the depot answers is handed over: head() with `reply`,
 * the body by bytes(), and end() with verdict OK once all of it has come.  All of
 * it, with its strings, outlives the request.
 */
struct xd_sending {
    const char *method; /* "PUT", "HEAD", "DELETE", ...; of IBP "ALLOCATE",
                           "STORE", "PROBE", "CHANGE", "DECREMENT" */
    const char *fields; /* "Name: value" and a line feed, each; of IBP the
                           numbers of the command, with a blank between them.
                           Secret.  NULL: none */
    uint64_t length;    /* of the body */
    bool logs_in; /* the user's credentials go along, if its server may see
                           them */
    /* Up to `len` bytes of the body from `at` on, at least one: how many they are.
     * XD_E_AGAIN: none now, and resume() asks again; another code ends the
     * request with that.  Bytes may be asked for a second time.  Called by
     * poll(), on its thread.  NULL if length is 0. */
    int64_t (*read)(void *user, unsigned slot, uint64_t at, void *to,
                    size_t len);
    void *user;
};

/* What a depot answers to that. */
struct xd_reply {
    int64_t code;          /* HTTP's status, or IBP's code */
    const char *etag;      /* as it came, or NULL */
    const char *location;  /* likewise */
    const char *words;     /* of IBP: what follows the code; else NULL */
    uint64_t length;       /* of the object, or XD_SIZE_UNKNOWN */
    bool is_range;         /* the body is a part of the object, */
    struct xd_range range; /* these bytes, as the answer says */
    int64_t date;        /* of the depot's clock, in seconds since 1970; 0: not
                             said */
    xd_usec retry_after; /* 0: not said */
    bool leaves_marker;  /* of S3: what was removed is hidden, and stays */
};

/* What to ask for.  URLs and strings are copied by start(). */
struct xd_request {
    const struct xd_url *url;
    const struct xd_url
        *origin;         /* the URL that once led to `url`, by a redirect, or
                           NULL: credentials go to its server alone */
    enum xd_reach reach; /* of a URL that a redirect led to: that head's */
    uint64_t offset, length; /* bytes of the object; length is not 0.  If the
                                object ends before them, fewer come */
    uint64_t object_size;    /* what it must be, or XD_SIZE_UNKNOWN */
    const char *if_range;    /* a head's validator: only bytes of that object
                                will do, as long as no redirect leads to another
                                server; or NULL */
    unsigned outages;        /* how often the line was down so far: what was
                                connected before the last time is not used */
    bool whole;              /* ask for the whole object and read past what lies
                                before `offset`: for depots without ranges */
    bool owns_connection;    /* no other request shares its connection: where
                                depots let them, they else do.  If it is
                                stopped its connection is closed */
    bool wants_size;         /* the head is to say the object's size, though
                                that may cost a round trip */
    const struct xd_framing *framing; /* the offsets are those of the data in
                                         these frames; or NULL.  It outlives the
                                         request */
    bool asks_state; /* no bytes are wanted, only the head's `state`: of a
                           transport that can_probe alone; the range says
                           nothing */
    const struct xd_address_list *passes_over; /* addresses that it is not sent
                           to while its server has others; or NULL */
    bool wants_offer;   /* the head is to have what the server offers beside
                           the bytes */
    const char *fields; /* of HTTP: more of its header, "Name: value" and a line
                           feed each; or NULL.  They live as long as it does */
    bool is_plain;      /* of HTTP: nothing that the user gives to servers goes
                           along, and no redirect is followed */
    bool takes_whole;   /* in place of the range, which begins at byte 0: all of
                           it comes then */
    bool takes_encoded; /* the object is known to be a compressed file, or
                                its bytes are proved later: an encoding does
                                not matter */
    const struct xd_sending *sends; /* NULL: a range is asked for.  Else all of
                           the above but `url`, `outages` and `owns_connection`
                           says nothing */
};

/* What a depot says of an allocation. */
struct xd_object_state {
    uint64_t written, allocated; /* bytes that it holds, and has room for */
    uint64_t lifetime_s;         /* seconds until it expires */
};

/* What the depot says before the first byte. */
struct xd_head {
    uint64_t object_size;   /* or XD_SIZE_UNKNOWN */
    const char *validator;  /* opaque: an object that has another one is
                               another object (xd_validators_differ()); or
                               NULL */
    const char *media_type; /* as the depot names it; or NULL */
    const char *file_name;  /* what the depot wants the file called, not
                                       made safe; or NULL */
    const char *address;    /* of the server, or proxy, that it came from, or
                               NULL */
    int64_t modified; /* when the object last was, in seconds since 1970; 0: it
                         does not say */
    const struct xd_url *final_url; /* after redirects */
    enum xd_reach reach;            /* of that URL, as the redirects had it */
    enum xd_reach names;  /* how near the servers may be that the object names,
                            if it is a manifest */
    bool is_encoded;      /* it says that its bytes are, as takes_encoded
                              lets it */
    bool is_range;        /* the answer is a range, not the whole object */
    bool shares;          /* its connection can carry other requests, too */
    struct xd_range next; /* bytes of the object that the depot would best be
                             asked for next, as it says, and they may not be of
                             it; empty: it does not say */
    const struct xd_object_state *state; /* with `asks_state`, else NULL */
    const struct xd_offer *offer; /* with `wants_offer`: what the server of the
                                     request's URL offers; or NULL */
    const struct xd_reply *reply; /* with `sends`, and then all else says
                                     nothing; else NULL */
};

/* What a failure means for the next attempt. */
enum xd_verdict {
    XD_VERDICT_OK,
    XD_VERDICT_AGAIN,     /* may pass: broke off, silent, busy */
    XD_VERDICT_GONE,      /* this URL will not do in this run */
    XD_VERDICT_NO_RANGES, /* the depot answers a range with the whole object, or
                             with another range */
    XD_VERDICT_REFUSED_RANGE, /* the depot refuses the request, and may do so
                                 for its range or its `if_range` alone; or does
                                 not say which range its answer is of */
    XD_VERDICT_DIFFERENT,     /* the object has another size, or is not the one
                                 that `fields` ask for: another file */
    XD_VERDICT_CHANGED, /* the object is not that of `if_range` any more */
    XD_VERDICT_LOCAL,   /* this machine had no descriptor left for it: the
                             depot did nothing wrong */
    XD_VERDICT_STOPPED  /* stop() was called, or the handler refused */
};

struct xd_outcome {
    enum xd_verdict verdict;
    bool is_cut; /* with OK: the depot sent less than was asked for, of an
                    object that goes on */
    struct xd_error error; /* code XD_OK if all was well */
    bool is_wrong_range;   /* with NO_RANGES: it sent another range */
    bool is_refusal;      /* the depot would not serve the request, now: it said
                              so, or hung up before a word of an answer */
    bool is_unanswered;   /* the depot has said nothing to the last, not even
                              no: it, or the line, is silent */
    bool lacks_address;   /* with is_unanswered: its host's name was not found,
                             which a name server may have said */
    bool needs_login;     /* the depot, or a proxy, refused for want of a name
                             and password */
    xd_usec retry_after;  /* the depot asks for this pause; 0: it does not */
    uint64_t object_size; /* with DIFFERENT and NO_RANGES: what it has, or
                              XD_SIZE_UNKNOWN if it did not say */
    const char *media_type; /* with NO_RANGES: as in a head; only in end() */
    const char *address;  /* of the server, or proxy, that was connected to; or
                            NULL; only in end() */
    bool is_only_address; /* its name has none but those of passes_over */
    xd_usec name_time;    /* for which it waited for its host's address, */
    xd_usec connect_time; /* and then for a connection, with TLS; both 0 for one
                             that was open */
};

/*
 * Called by poll(), on its thread, with no lock held.
 * May call: nothing of the transport.
 */
struct xd_transport_handler {
    void *user;
    /* Once per request, before its first byte.  < 0 refuses the rest. */
    int (*head)(void *user, unsigned slot, const struct xd_head *head);
    /* The next bytes of the object, in order.  Returns 0; XD_E_AGAIN to be
     * given the same bytes again after resume(); another code refuses. */
    int (*bytes)(void *user, unsigned slot, const void *data, size_t len);
    /* So many bytes came that lie before the range, and are dropped.  Returns
     * as bytes() does.  May be NULL. */
    int (*skip)(void *user, unsigned slot, size_t len);
    /* Exactly once per start(); the slot is free again. */
    void (*end)(void *user, unsigned slot, const struct xd_outcome *outcome);
};

struct xd_transport_config {
    unsigned n_slots;
    unsigned n_connections; /* to one host at most, where more requests share
                               them; 0: one for each slot */
    xd_usec silence; /* a request ends when nothing came for so long, before
                           the first byte too; a paused one never does.  The
                           time in which its server's name is looked up does
                           not count, and has a bound of its own */
    const struct xd_net_options *net; /* of people, or NULL; outlives the
                                         transport, with its strings */
    struct xd_net_context *context;   /* shared with other transports, or NULL;
                                   outlives the transport */
};

struct xd_transport {
    const struct xd_transport_ops *ops;
};

struct xd_transport_ops {
    int (*start)(struct xd_transport *t, unsigned slot,
                 const struct xd_request *request, struct xd_error *err);
    void (*stop)(struct xd_transport *t, unsigned slot);
    void (*resume)(struct xd_transport *t, unsigned slot);
    void (*poll)(struct xd_transport *t, xd_usec timeout);
    void (*wakeup)(struct xd_transport *t);
    /* NULL: its requests cannot change hands. */
    void (*head_again)(struct xd_transport *t, unsigned slot);
    /* NULL: there is nothing to connect to. */
    bool (*is_connected)(struct xd_transport *t, unsigned slot);
    /* NULL: it delivers no more than its handler takes anyway. */
    void (*limit)(struct xd_transport *t, uint64_t bytes_per_s);
    /* NULL: it never waits for anybody. */
    void (*set_silence)(struct xd_transport *t, xd_usec silence);
    void (*free)(struct xd_transport *t);
};

/*
 * HTTP and FTP through libcurl.  `handler` and its user outlive the transport.
 * Errors: NOMEM; IO, for a file that the options name, or when no descriptors
 *         are left for what wakeup() needs (os_errno EMFILE).
 */
int xd_http_new(struct xd_transport **out,
                const struct xd_transport_config *config,
                const struct xd_transport_handler *handler,
                struct xd_error *err);

/*
 * IBP: byte arrays by their read capabilities, over connections that libcurl
 * makes.  `handler` and its user outlive the transport.
 * Errors: NOMEM; IO, when no descriptors are left for what wakeup() needs.
 */
int xd_ibp_new(struct xd_transport **out,
               const struct xd_transport_config *config,
               const struct xd_transport_handler *handler,
               struct xd_error *err);

/*
 * Regular files of this machine, by their file: URLs; a link to one is as
 * good.  `handler` and its user outlive the transport.  poll() waits for the
 * disk.
 * Errors: NOMEM.
 */
int xd_local_new(struct xd_transport **out,
                 const struct xd_transport_config *config,
                 const struct xd_transport_handler *handler,
                 struct xd_error *err);

/* Whether two validators of one depot are of different objects; those of
 * different kinds say nothing of each other. */
bool xd_validators_differ(const char *a, const char *b);

/* What config.silence says, from now on. */
static inline void xd_transport_set_silence(struct xd_transport *t,
                                            xd_usec silence)
{
    if (t->ops->set_silence)
        t->ops->set_silence(t, silence);
}

/* Start a request on a free slot; its fate comes through the handler.
 * Errors: NOMEM, and then the handler is not called. */
static inline int xd_transport_start(struct xd_transport *t, unsigned slot,
                                     const struct xd_request *request,
                                     struct xd_error *err)
{
    return t->ops->start(t, slot, request, err);
}

/* End what the slot carries; the handler's end() is called by the next
 * poll().  A free slot: does nothing.
 * Blocks: no; with a libcurl older than 7.87 that poll(), and free(), wait for
 * a name server which does not answer. */
static inline void xd_transport_stop(struct xd_transport *t, unsigned slot)
{
    t->ops->stop(t, slot);
}

/* Give the handler what it answered with XD_E_AGAIN once more, in the next
 * poll().  A slot that is not paused: does nothing. */
static inline void xd_transport_resume(struct xd_transport *t, unsigned slot)
{
    t->ops->resume(t, slot);
}

/* Whether a request may change hands while its handler answers with XD_E_AGAIN:
 * head_again(), and the bytes that come after resume(), tell all to a handler
 * that has taken none of it. */
static inline bool xd_transport_can_change_hands(const struct xd_transport *t)
{
    return t->ops->head_again != NULL;
}

/* Call the handler's head() once more.  Not in a callback. */
static inline void xd_transport_head_again(struct xd_transport *t,
                                           unsigned slot)
{
    t->ops->head_again(t, slot);
}

/* Move bytes until something happened, wakeup() or `timeout` (XD_NEVER: no
 * bound).  May return earlier with nothing done. */
static inline void xd_transport_poll(struct xd_transport *t, xd_usec timeout)
{
    t->ops->poll(t, timeout);
}

/* Whether what the slot carries has a connection that it may be sent on. */
static inline bool xd_transport_is_connected(struct xd_transport *t,
                                             unsigned slot)
{
    return !t->ops->is_connected || t->ops->is_connected(t, slot);
}

/* The handler will take so many bytes per second from now on, of all transports
 * together; 0: all. */
static inline void xd_transport_limit(struct xd_transport *t,
                                      uint64_t bytes_per_s)
{
    if (t->ops->limit)
        t->ops->limit(t, bytes_per_s);
}

static inline void xd_transport_wakeup(struct xd_transport *t)
{
    t->ops->wakeup(t);
}

/* Ends what is in flight without calling the handler.  NULL does nothing. */
static inline void xd_transport_free(struct xd_transport *t)
{
    if (t)
        t->ops->free(t);
}

#endif

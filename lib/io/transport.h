/* SPDX-License-Identifier: MIT */
/*
 * Transports fetch byte ranges of objects from one depot.
 *
 *     worker thread:  start(slot) ... poll() -> head, bytes, bytes, end
 *     any thread:     wakeup()        (poll returns at once)
 *
 * A slot carries one request at a time.  A transport speaks its protocol (HTTP
 * and FTP, IBP, or local files) and makes no decisions about which bytes to
 * fetch.  It checks that a response is what was requested: bytes that do not
 * belong to the request never reach the handler.
 *
 * Threads: one thread owns a transport; others may only call wakeup().
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
#include "io/way.h"

struct xd_net_options;
struct xd_net_context;

/* length of a request up to the end of the object */
#define XD_TO_END UINT64_MAX

/*
 * The data that a request sends to a depot which stores objects: an HTTP method
 * with header and body, or an IBP command.  No range is requested and no
 * redirect is followed.  Whatever the depot answers is passed on: head() with
 * `reply`, then the body, then end() with verdict OK.  The struct and its
 * strings must outlive the request.
 */
struct xd_sending {
    /* "PUT", "HEAD", "DELETE", ...; for IBP "ALLOCATE", "STORE", "LOAD",
     * "PROBE", "CHANGE", "DECREMENT", "STATUS" */
    const char *method;
    /* HTTP: lines "Name: value\n"; IBP: the numbers of the command,
     * separated by blanks.  Secret.  NULL: none */
    const char *fields;
    uint64_t length; /* length of the body */
    /* send the user's credentials, if the server may see them */
    bool logs_in;
    /* how long the depot may process a complete body before it answers
     * (virus scan, assembly of parts); used if longer than the transport's
     * `silence` */
    xd_usec patience;
    /* Reads up to `len` bytes of the body at `at`; returns their number, at
     * least one.  XD_E_AGAIN: none yet, call resume() later.  Any other code
     * ends the request with that error.  The same bytes may be requested again.
     * Called by poll() on its thread.  May be NULL if length is 0. */
    int64_t (*read)(void *user, unsigned slot, uint64_t at, void *to,
                    size_t len);
    void *user;
};

/* The response to a request that sends a body. */
struct xd_reply {
    int64_t code;          /* HTTP status or IBP code */
    const char *etag;      /* ETag as received, or NULL */
    const char *location;  /* Location as received, or NULL */
    const char *words;     /* IBP: the text after the code; else NULL */
    uint64_t length;       /* size of the object, or XD_SIZE_UNKNOWN */
    bool is_range;         /* the body is only the part `range` of the object */
    struct xd_range range; /* range according to the header */
    /* the depot's time, in seconds since 1970; 0: unknown */
    int64_t date;
    xd_usec retry_after; /* pause that the depot asks for; 0: none */
    /* S3: a deleted object is only hidden by a delete marker */
    bool leaves_marker;
};

/* A request.  start() copies URLs and strings unless noted otherwise. */
struct xd_request {
    const struct xd_url *url;
    const struct xd_url
        /* the URL that was redirected to `url`, or NULL; only the server of
         * that URL gets credentials */
        *origin;
    /* networks in which a redirect target may be (see `reach` in struct
     * xd_head) */
    enum xd_reach reach;
    /* bytes of the object to fetch; length is not 0.  Fewer arrive if the
     * object ends earlier */
    uint64_t offset, length;
    uint64_t object_size; /* required size, or XD_SIZE_UNKNOWN */
    bool grows;           /* the object may have grown beyond object_size */
    /* validator from an earlier head, or NULL: accept only bytes of that
     * version, unless redirected to another server */
    const char *if_range;
    /* media type of an earlier response with the object ("": none), or NULL.
     * A response with another type and size is then taken for an error page.
     * Must outlive the request */
    const char *media_type;
    /* number of network outages so far; connections made before the last one
     * are not reused */
    unsigned outages;
    /* request the whole object and skip the bytes before `offset`, for
     * depots without ranges */
    bool whole;
    /* the depot has sent bytes of the object before; if it refuses this
     * request, do not reuse the connection */
    bool is_known;
    /* do not share the connection with other requests (HTTP/2); close it if
     * the request is stopped */
    bool owns_connection;
    /* find out the object's size, even at the cost of a round trip */
    bool wants_size;
    /* frames in which the object stores its data, or NULL; offsets then refer
     * to the data.  Must outlive the request */
    const struct xd_framing *framing;
    /* ask only for `state` in struct xd_head; no bytes are wanted, and the
     * range is ignored.  Only for transports with can_probe */
    bool asks_state;
    /* addresses to avoid while the server has others; or NULL */
    const struct xd_address_list *passes_over;
    /* find out the modification time, even at the cost of a round trip */
    bool wants_time;
    /* collect the mirrors and hashes that the server offers */
    bool wants_offer;
    /* HTTP: additional lines "Name: value\n", or NULL.  Must outlive the
     * request */
    const char *fields;
    /* HTTP: send none of the user's options and follow no redirect */
    bool is_plain;
    /* for a range from byte 0: accept the whole object instead */
    bool takes_whole;
    /* accept any Content-Encoding, because the object is a compressed file
     * or its bytes are verified later */
    bool takes_encoded;
    /* not NULL: send this; all fields above except `url`, `outages` and
     * `owns_connection` are ignored */
    const struct xd_sending *sends;
};

/* State of an allocation (IBP). */
struct xd_object_state {
    uint64_t written, allocated; /* bytes stored, and bytes there is room for */
    uint64_t lifetime_s;         /* seconds until it expires */
};

/* What the response header says, before the first byte. */
struct xd_head {
    uint64_t object_size; /* size of the object, or XD_SIZE_UNKNOWN */
    /* opaque version of the object (xd_validators_differ()); or NULL */
    const char *validator;
    const char *media_type; /* media type as given by the depot, or NULL */
    /* file name suggested by the depot, not made safe; or NULL */
    const char *file_name;
    const char *address; /* address of the server or proxy, or NULL */
    int64_t modified; /* modification time in seconds since 1970; 0: unknown */
    const struct xd_url *final_url; /* URL of the response, after redirects */
    enum xd_reach reach;            /* networks in which final_url may be */
    /* networks to which URLs in the object may point, if it is a manifest */
    enum xd_reach names;
    /* the response has a Content-Encoding, which takes_encoded allows */
    bool is_encoded;
    bool is_range; /* the response is a range, not the whole object */
    bool shares;   /* other requests can share the connection */
    /* range that the depot suggests to request next, unverified; empty: none */
    struct xd_range next;
    const struct xd_object_state *state; /* set with `asks_state`, else NULL */
    /* with `wants_offer`: other copies that the original server names; or
     * NULL */
    const struct xd_offer *offer;
    /* set for a request that sends; all other fields are then unset */
    const struct xd_reply *reply;
};

/* What a failure means for further attempts. */
enum xd_verdict {
    XD_VERDICT_OK,
    XD_VERDICT_AGAIN, /* temporary: connection broken, silent, busy */
    XD_VERDICT_GONE,  /* do not use this URL again in this run */
    /* instead of the requested range, the depot sends the whole object or
     * another range */
    XD_VERDICT_NO_RANGES,
    /* the depot refuses the request, perhaps only because of its range or
     * `if_range`; or it does not say which range it sent */
    XD_VERDICT_REFUSED_RANGE,
    /* a different object: wrong size, or the condition in `fields` failed */
    XD_VERDICT_DIFFERENT,
    XD_VERDICT_CHANGED, /* the object has another version than `if_range` */
    /* no file descriptor was free; the depot is not to blame */
    XD_VERDICT_LOCAL,
    XD_VERDICT_STOPPED /* stop() was called, or the handler refused */
};

struct xd_outcome {
    enum xd_verdict verdict;
    /* the depot sent an error instead of the object, and not because it gets
     * too many requests */
    bool is_denied;
    /* with OK: the depot sent less than requested, before the end of the
     * object */
    bool is_cut;
    struct xd_error error; /* code XD_OK if there was no error */
    bool is_wrong_range;   /* with NO_RANGES: the depot sent another range */
    /* With CHANGED: the depot sent more bytes than the file has, so everything
     * it sent may be from other offsets. */
    bool is_overlong;
    /* the depot refused to serve the request now: by its answer, or by
     * hanging up without one */
    bool is_refusal;
    /* the depot sent nothing, not even a refusal: it or the network is
     * silent */
    bool is_unanswered;
    /* for a request that sends: how long the depot has had the whole body; 0:
     * it does not have it yet */
    xd_usec worked;
    bool lacks_address; /* with is_unanswered: the host name was not found */
    /* true if this outcome is about a redirect target, not about the URL
     * itself */
    bool is_of_redirect;
    bool needs_login;    /* the depot or a proxy requires a login */
    xd_usec retry_after; /* pause that the depot asks for; 0: none */
    /* with DIFFERENT, CHANGED and NO_RANGES: the current size, or
     * XD_SIZE_UNKNOWN */
    uint64_t object_size;
    /* with NO_RANGES: media type, as in a head; valid only in end() */
    const char *media_type;
    /* address of the server or proxy, or NULL; valid only in end() */
    const char *address;
    bool is_only_address; /* all addresses of the name are in passes_over */
    xd_usec name_time;    /* time spent resolving the host name */
    /* time spent connecting, including TLS; both are 0 for a reused
     * connection */
    xd_usec connect_time;
};

/*
 * Called by poll() on its thread, without locks.  Must not call the transport.
 */
struct xd_transport_handler {
    void *user;
    /* Called once per request, before its first byte.  < 0 refuses the rest. */
    int (*head)(void *user, unsigned slot, const struct xd_head *head);
    /* Receives bytes in order.  Returns 0; XD_E_AGAIN to get the same bytes
     * again after resume(); another code to refuse the rest. */
    int (*bytes)(void *user, unsigned slot, const void *data, size_t len);
    /* Reports bytes before the range that were dropped.  Returns as bytes()
     * does.  May be NULL. */
    int (*skip)(void *user, unsigned slot, size_t len);
    /* Called exactly once per start(); the slot is then free. */
    void (*end)(void *user, unsigned slot, const struct xd_outcome *outcome);
};

struct xd_transport_config {
    unsigned n_slots;
    /* maximum number of connections to one host, if requests can share them; 0:
     * one per slot */
    unsigned n_connections;
    /* timeout without any data, also before the first byte.  Does not apply
     * while a request is paused, and name resolution has its own limit */
    xd_usec silence;
    /* timeout before the first byte of a response if the server has received
     * the request; not used if shorter than `silence` */
    xd_usec first_byte;
    /* user options, or NULL; must outlive the transport */
    const struct xd_net_options *net;
    /* shared by the transports of a download, or NULL; must outlive the
     * transport */
    struct xd_net_context *context;
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
    /* NULL: another handler cannot take over a request. */
    void (*head_again)(struct xd_transport *t, unsigned slot);
    /* NULL: there are no connections. */
    bool (*is_connected)(struct xd_transport *t, unsigned slot);
    /* NULL: unknown. */
    bool (*way)(struct xd_transport *t, unsigned slot, struct xd_way *out);
    /* NULL: the transport never reads ahead of its handler. */
    void (*limit)(struct xd_transport *t, uint64_t bytes_per_s);
    /* NULL: the transport never waits for another host. */
    void (*set_silence)(struct xd_transport *t, xd_usec silence,
                        xd_usec first_byte);
    void (*free)(struct xd_transport *t);
};

/*
 * Creates a transport for HTTP and FTP, through libcurl.  `handler` must
 * outlive the transport.
 * Errors: NOMEM; IO if a file that the options name cannot be read, or if no
 *         descriptor is free for wakeup() (os_errno EMFILE).
 */
int xd_http_new(struct xd_transport **out,
                const struct xd_transport_config *config,
                const struct xd_transport_handler *handler,
                struct xd_error *err);

/*
 * Creates a transport for IBP, which reads byte arrays by their read
 * capabilities.  libcurl makes the connections.  `handler` must outlive the
 * transport.
 * Errors: NOMEM; IO if no descriptor is free for wakeup().
 */
int xd_ibp_new(struct xd_transport **out,
               const struct xd_transport_config *config,
               const struct xd_transport_handler *handler,
               struct xd_error *err);

/*
 * Creates a transport for local regular files, named by file: URLs.  It follows
 * symbolic links.  `handler` must outlive the transport.  poll() blocks on the
 * disk.
 * Errors: NOMEM.
 */
int xd_local_new(struct xd_transport **out,
                 const struct xd_transport_config *config,
                 const struct xd_transport_handler *handler,
                 struct xd_error *err);

/* Returns whether two validators of one depot belong to different versions.  An
 * ETag and a date cannot be compared, so they do not differ. */
bool xd_validators_differ(const char *a, const char *b);

/* Changes config.silence and config.first_byte. */
static inline void xd_transport_set_silence(struct xd_transport *t,
                                            xd_usec silence, xd_usec first_byte)
{
    if (t->ops->set_silence)
        t->ops->set_silence(t, silence, first_byte);
}

/* Starts a request on a free slot.  The handler gets its result.  Errors:
 * NOMEM; then the handler is not called. */
static inline int xd_transport_start(struct xd_transport *t, unsigned slot,
                                     const struct xd_request *request,
                                     struct xd_error *err)
{
    return t->ops->start(t, slot, request, err);
}

/* Stops the slot's request; the next poll() calls end().  Does nothing for a
 * free slot.
 * Blocks: no; but with libcurl before 7.87, poll() and free() then wait for a
 * name server that does not answer. */
static inline void xd_transport_stop(struct xd_transport *t, unsigned slot)
{
    t->ops->stop(t, slot);
}

/* Makes the next poll() offer the bytes that the handler refused with
 * XD_E_AGAIN once more.  Does nothing if the slot is not paused. */
static inline void xd_transport_resume(struct xd_transport *t, unsigned slot)
{
    t->ops->resume(t, slot);
}

/* Returns whether a paused request (XD_E_AGAIN) can be handed to another
 * handler: head_again() and the bytes after resume() give it everything from
 * the start. */
static inline bool xd_transport_can_change_hands(const struct xd_transport *t)
{
    return t->ops->head_again != NULL;
}

/* Calls the handler's head() again.  Do not call it from a callback. */
static inline void xd_transport_head_again(struct xd_transport *t,
                                           unsigned slot)
{
    t->ops->head_again(t, slot);
}

/* Transfers data until something has happened, wakeup() is called, or `timeout`
 * has passed (XD_NEVER: no limit).  May return earlier. */
static inline void xd_transport_poll(struct xd_transport *t, xd_usec timeout)
{
    t->ops->poll(t, timeout);
}

/* Returns whether the slot's request has a connection. */
static inline bool xd_transport_is_connected(struct xd_transport *t,
                                             unsigned slot)
{
    return !t->ops->is_connected || t->ops->is_connected(t, slot);
}

/* Gets facts about the network path of the slot's connection.  False if
 * unknown. */
static inline bool xd_transport_way(struct xd_transport *t, unsigned slot,
                                    struct xd_way *out)
{
    return t->ops->way && t->ops->way(t, slot, out);
}

/* Announces how many bytes per second the handler will accept from all
 * transports together; 0: no limit. */
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

/* Drops requests in progress without calling the handler.  NULL: does
 * nothing. */
static inline void xd_transport_free(struct xd_transport *t)
{
    if (t)
        t->ops->free(t);
}

#endif

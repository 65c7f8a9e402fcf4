/* SPDX-License-Identifier: MIT */
/*
 * Hands the response that inspection started over to the download, so that
 * inspecting a URL costs no additional request.
 *
 *     inspection --- put ---> place (of the options) --- take ---> download
 *
 * Inspection requests the first XD_BEGUN_BYTES of the file.  A server without
 * ranges sends all of it.
 *
 * The transport waits, with its connection, until a download with the same
 * options takes it, until another inspection replaces it, or until the options
 * are released.  A place holds at most one response, so the cost is bounded.
 *
 * With a mesh of caches, a download does not fetch from the file's own server.
 * Inspection then requests only a few bytes, and passes on what the response
 * says about the file.
 *
 * Threads: any thread may use a place.  An object that was taken out belongs to
 * the caller.
 */
#ifndef XD_ENGINE_BEGUN_H
#define XD_ENGINE_BEGUN_H

#include <stdbool.h>
#include <stdint.h>

#include <xdownload/error.h>

#include "base/time.h"
#include "base/url.h"
#include "io/hash.h"

struct xd_begun_place;
struct xd_net_context;
struct xd_options;
struct xd_runner;

/* How long a response may wait for a download.  Servers close connections from
 * which the client does not read, some of them soon. */
#define XD_BEGUN_LASTS (5 * XD_SECOND)

/* Length of the range that inspection requests.  A file up to this length needs
 * no second connection.  On a longer one, TCP has left slow start by the end of
 * the range. */
#define XD_BEGUN_BYTES ((uint64_t)1 << 20)

/* Length of that range if the response is only examined.  For most files this
 * much is enough to see that they are not manifests. */
#define XD_BEGUN_LOOK ((uint64_t)4 << 10)

struct xd_begun {
    struct xd_url *url;             /* owned */
    struct xd_runner *runner;       /* owned; NULL after a worker took it
                                       over */
    unsigned slot, n_slots;         /* slot of the response; number of slots */
    struct xd_net_context *context; /* belongs to `owner` */
    const struct xd_options *options; /* options of the request; belong to
                                         `owner` */
    xd_usec at;                       /* time of the response */
    void *owner;                      /* owns everything that the runner uses */
    void (*free_owner)(void *owner);
};

/* What the headers of a response say about a file.  Its bytes are not
 * needed. */
struct xd_begun_stated {
    struct xd_url *url; /* owned */
    char *validator;    /* owned, or NULL */
    uint64_t size;      /* or XD_SIZE_UNKNOWN */
    bool is_redirected;
    xd_usec at; /* time of the response */
};

/* Bytes that inspection requests from each of several URLs.  They also serve to
 * compare the copies.  A server sends that many without waiting for an
 * acknowledgment (initial window of TCP, RFC 6928). */
#define XD_BEGUN_SAMPLE ((uint64_t)8 << 10)

struct xd_begun_sample {
    struct xd_url *url; /* owned */
    bool was_taken;     /* false: see `error` */
    uint64_t size;      /* size of the object, or XD_SIZE_UNKNOWN */
    uint64_t received;  /* bytes received; fewer than XD_BEGUN_SAMPLE if the
                           object is shorter */
    char digest[XD_HASH_HEX_MAX + 1]; /* hash of these bytes, by
                                         XD_SAMPLE_HASH */
    struct xd_error error;
};

struct xd_begun_samples {
    size_t n;
    xd_usec at; /* time of the samples */
    struct xd_begun_sample list[];
};

/* Release an object.  NULL does nothing. */
void xd_begun_free(struct xd_begun *b);
void xd_begun_samples_free(struct xd_begun_samples *s);
void xd_begun_stated_free(struct xd_begun_stated *s);

/* Reference-counted.  new() returns NULL if out of memory; ref() and unref()
 * accept NULL. */
struct xd_begun_place *xd_begun_place_new(void);
struct xd_begun_place *xd_begun_place_ref(struct xd_begun_place *p);
void xd_begun_place_unref(struct xd_begun_place *p);

/* Puts `b` into the place, which owns it from now on.  Releases a response that
 * was there before. */
void xd_begun_put(struct xd_begun_place *p, struct xd_begun *b);

/* Takes the response out of the place; the caller releases it with
 * xd_begun_free().  Returns NULL if there is none, or if `p` is NULL. */
struct xd_begun *xd_begun_take(struct xd_begun_place *p);

/* Like put() and take(), for what a response stated.  take() returns NULL if
 * that is older than XD_BEGUN_LASTS or about another URL. */
void xd_begun_state(struct xd_begun_place *p, struct xd_begun_stated *s);
struct xd_begun_stated *xd_begun_take_stated(struct xd_begun_place *p,
                                             const struct xd_url *url);

/* Like put() and take(), for samples of several URLs.  take() returns NULL if
 * they are older than XD_BEGUN_LASTS. */
void xd_begun_put_samples(struct xd_begun_place *p, struct xd_begun_samples *s);
struct xd_begun_samples *xd_begun_take_samples(struct xd_begun_place *p);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * An answer that inspection has begun, and a download goes on with: a typed URL
 * costs no request more than its file does.
 *
 *     inspection --- put ---> place (of the options) --- take ---> download
 *
 * The transport waits, with its connection, until a download with the same
 * options takes it, another inspection puts one in its place, or the options are
 * released.  There is one at most, so that it costs no more than that.
 *
 * With a mesh of caches a download does not ask the file's own server for its
 * bytes: inspection asks for a few of them only, and leaves what the answer has
 * said.
 *
 * Threads: any, of a place; what was taken is its taker's.
 */
#ifndef XD_ENGINE_BEGUN_H
#define XD_ENGINE_BEGUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/url.h"

struct xd_begun_place;
struct xd_net_context;
struct xd_options;
struct xd_runner;

/* Servers give up on a client that takes nothing; some of them soon. */
#define XD_BEGUN_LASTS (5 * XD_SECOND)

/* So much of a file is begun: a file that is no longer needs no second
 * connection, and of a longer one TCP has found its speed by then. */
#define XD_BEGUN_BYTES ((uint64_t)1 << 20)

/* The same where it is only looked at: so much tells of most files that they are no
 * manifest. */
#define XD_BEGUN_LOOK ((uint64_t)4 << 10)

struct xd_begun {
    struct xd_url *url; /* owned: of its first XD_BEGUN_BYTES, or all of it */
    struct xd_runner *runner;       /* owned, or NULL once it was taken over; */
    unsigned slot, n_slots;         /* the answer's, and how many there are */
    struct xd_net_context *context; /* owner's */
    const struct xd_options *options; /* owner's: with these it was asked for */
    xd_usec at;                       /* when it was answered */
    void *owner;                      /* of all that the runner needs */
    void (*free_owner)(void *owner);
};

/* What an answer has said of its file, where only that is of use to a download. */
struct xd_begun_stated {
    struct xd_url *url; /* owned */
    char *validator;    /* owned, or NULL */
    uint64_t size;      /* or XD_SIZE_UNKNOWN */
    bool is_redirected;
    xd_usec at; /* when it was answered */
};

void xd_begun_free(struct xd_begun *b);               /* NULL does nothing */
void xd_begun_stated_free(struct xd_begun_stated *s); /* likewise */

/* Counted; NULL when out of memory. */
struct xd_begun_place *xd_begun_place_new(void);
struct xd_begun_place *xd_begun_place_ref(
    struct xd_begun_place *p);                       /* or NULL */
void xd_begun_place_unref(struct xd_begun_place *p); /* NULL does nothing */

/* What was there is released. */
void xd_begun_put(struct xd_begun_place *p, struct xd_begun *b);

/* What is there, which is the caller's from then on; NULL: nothing, or there is
 * no place. */
struct xd_begun *xd_begun_take(struct xd_begun_place *p);

/* The same for what was stated; it is taken as long as it is new, and of `url`. */
void xd_begun_state(struct xd_begun_place *p, struct xd_begun_stated *s);
struct xd_begun_stated *xd_begun_take_stated(struct xd_begun_place *p,
                                             const struct xd_url *url);

#endif

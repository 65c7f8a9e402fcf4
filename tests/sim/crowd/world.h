/* SPDX-License-Identifier: MIT */
/*
 * What the files of the crowd share: transfers, caches, clients.
 *
 *     crowd.c            time, arrivals, changes
 *       crowd_session.c  a downloader       \
 *       crowd_window.c   an agent of CoBlitz > ask for transfers
 *       crowd_plain.c    one connection     /
 *       crowd_cache.c    chunks that a cache has, lacks, or is fetching
 *       crowd_flow.c     transfers: a request, its wait, its bytes
 *         crowd_share.c  what each gets of the lines
 */
#ifndef XD_SIM_CROWD_WORLD_H
#define XD_SIM_CROWD_WORLD_H

#include "session/intake.h"
#include "crowd.h"
#include "share.h"
#include "sim/driver.h"

#define XD_CROWD_NONE UINT32_MAX

struct xd_crowd_world;

enum xd_transfer_state {
    XD_TRANSFER_FREE,
    XD_TRANSFER_ASKED,  /* `at`: its first byte could be here */
    XD_TRANSFER_LOCKED, /* `at`: it looks whether the chunk is there */
    XD_TRANSFER_FLOWS,
    XD_TRANSFER_IS_MUTE /* nothing will come */
};

/* One answer: to a client, or what fills a chunk of a cache. */
struct xd_transfer {
    enum xd_transfer_state state;
    bool is_fill;
    bool is_hop;     /* asked by a cache, of a cache */
    bool is_whole;   /* the cache has all of the chunk */
    unsigned from;   /* a cache, or n_caches: the origin */
    unsigned to;     /* a client; a cache */
    unsigned tag;    /* the client's; the chunk */
    unsigned owner;  /* the cache that the client takes for the owner */
    unsigned name;   /* the chunk whose ranks lead it, PEERS */
    unsigned serial; /* of the fill of the chunk that it reads */
    xd_usec at;
    uint64_t offset, end; /* what is to come */
    double part;          /* of the next byte, that has come */
    double window;        /* bytes */
    double rtt;           /* seconds */
    struct xd_share_flow flow;
};

/* A connection that rests; a client keeps some. */
struct xd_crowd_rest {
    unsigned from;
    double window;
    xd_usec since;
};

enum xd_chunk_state { XD_CHUNK_ABSENT, XD_CHUNK_FILLS, XD_CHUNK_HELD };

struct xd_chunk {
    enum xd_chunk_state state;
    unsigned serial;
    uint64_t received;
    unsigned newer, older; /* chunks; XD_CROWD_NONE */
};

struct xd_crowd_node {
    struct xd_chunk *chunks;
    unsigned newest, oldest;
    uint64_t held; /* bytes */
    bool is_dead, is_mute;
};

/* A request of a session. */
struct xd_crowd_request {
    bool is_live, is_connected, is_refused, has_byte;
    unsigned depot, lane, transfer;
    struct xd_range range;
    uint64_t asked_end; /* before it was shortened */
    struct xd_intake in;
    xd_usec connected_at, last_byte, cancel_at, retry_at;
};

/* A chunk on its way to an agent: at most two requests. */
struct xd_crowd_try {
    bool is_live, has_missed;
    unsigned chunk, n_ever; /* requests for it so far */
    unsigned transfers[2];  /* the older first; NONE */
    unsigned first, last_from;
    xd_usec began, deadline, pause;
};

struct xd_crowd_guest {
    const struct xd_crowd_client *o;
    struct xd_crowd_client_result *out;
    unsigned number;
    bool has_arrived, is_over, has_left;
    struct xd_crowd_rest *rests;
    size_t n_rests, rests_capacity;
    uint64_t random;

    /* SESSION. */
    struct xd_driver driver;
    struct xd_crowd_request *requests;
    unsigned n_requests;
    uint64_t buffer_bytes;
    xd_usec until;
    bool is_decision_due;
    bool *is_failed; /* each cache, since the client last had a byte of it */

    /* WINDOW. */
    struct xd_crowd_try *tries;
    unsigned n_tries, n_live; /* n_tries: room */
    bool *is_here;            /* each chunk */
    unsigned next_chunk, first_missing, n_here;
    double window, mean, deviation; /* of the time of a chunk, seconds */
    unsigned n_timed;

    /* PLAIN. */
    unsigned transfer;
    uint64_t received;
};

struct xd_crowd_world {
    const struct xd_crowd *o;
    struct xd_crowd_result *out;
    xd_usec now;
    struct xd_share_line *lines; /* host h: up 2h, down 2h + 1 */
    struct xd_transfer *transfers;
    unsigned n_transfers;
    size_t transfers_capacity;
    unsigned *free_transfers, n_free;
    unsigned *live, n_live; /* in the order in which they were asked for */
    struct xd_share_flow *flows;
    unsigned *flowing, *order, n_flowing;
    struct xd_crowd_node *nodes;
    struct xd_crowd_guest *guests;
    size_t next_change;
    unsigned n_origin; /* requests that the origin serves */
    bool failed;       /* out of memory */
};

unsigned xd_crowd_n_chunks(const struct xd_crowd *o);
struct xd_range xd_crowd_chunk(const struct xd_crowd *o, unsigned chunk);

/* The `i`th cache by rank for a chunk. */
static inline unsigned xd_crowd_rank(const struct xd_crowd *o, unsigned chunk,
                                     unsigned i)
{
    return o->rank[(size_t)chunk * o->n_caches + i];
}

/* The `i`th by rank of those peers, and of `self` unless it is NONE. */
unsigned xd_crowd_peer(const struct xd_crowd *o,
                       const struct xd_crowd_peers *peers, unsigned self,
                       unsigned chunk, unsigned i);

/* ---- crowd_flow.c ---- */

/* What a client, or a cache, asks of a cache or the origin; NONE: no memory.
 * `q` says is_fill, is_hop, from, to, tag, owner, offset and end. */
unsigned xd_crowd_ask(struct xd_crowd_world *w, const struct xd_transfer *q,
                      const struct xd_crowd_rest *connection);

/* It is stopped, and not reported. */
void xd_crowd_drop(struct xd_crowd_world *w, unsigned transfer);

/* Bytes come, for one step. */
void xd_crowd_flow(struct xd_crowd_world *w);

/* All that come from that cache break off; so do those whose chunk is not
 * fetched after all. */
void xd_crowd_break_off(struct xd_crowd_world *w, unsigned cache);
void xd_crowd_break_chunk(struct xd_crowd_world *w, unsigned cache,
                          unsigned chunk);

xd_usec xd_crowd_rtt(const struct xd_crowd *o, size_t a, size_t b);
size_t xd_crowd_host_of(const struct xd_crowd *o, unsigned from);

/* A connection to `from` that rests, or one with window 0: it is new. */
struct xd_crowd_rest xd_crowd_connection(struct xd_crowd_world *w,
                                         struct xd_crowd_guest *g,
                                         unsigned from);
void xd_crowd_keep(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                   const struct xd_transfer *t);

/* ---- crowd_cache.c ---- */

int xd_crowd_cache_init(struct xd_crowd_world *w, unsigned cache);
void xd_crowd_cache_fini(struct xd_crowd_node *n);

/* The request has reached the cache, or looks again. */
void xd_crowd_cache_serve(struct xd_crowd_world *w, unsigned transfer);

/* Up to where bytes are there to be sent. */
uint64_t xd_crowd_cache_has(const struct xd_crowd_world *w,
                            const struct xd_transfer *t);

/* Bytes for a chunk have come; the last of them; or none will. */
void xd_crowd_cache_bytes(struct xd_crowd_world *w, const struct xd_transfer *t,
                          uint64_t n);
void xd_crowd_cache_filled(struct xd_crowd_world *w,
                           const struct xd_transfer *t);
void xd_crowd_cache_failed(struct xd_crowd_world *w,
                           const struct xd_transfer *t);
void xd_crowd_cache_dies(struct xd_crowd_world *w, unsigned cache);

/* ---- clients: each kind has these ---- */

struct xd_crowd_kind_ops {
    int (*begin)(struct xd_crowd_world *w, struct xd_crowd_guest *g);
    void (*step)(struct xd_crowd_world *w, struct xd_crowd_guest *g);
    void (*bytes)(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, uint64_t n);
    /* All came, or it broke off: the transfer is gone. */
    void (*ended)(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, unsigned transfer, bool is_broken);
    void (*fini)(struct xd_crowd_guest *g);
};

extern const struct xd_crowd_kind_ops xd_crowd_session_ops, xd_crowd_window_ops,
    xd_crowd_plain_ops;

const struct xd_crowd_kind_ops *xd_crowd_ops(const struct xd_crowd_guest *g);

/* The client has all, or gives up. */
void xd_crowd_over(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                   bool is_complete);

#endif

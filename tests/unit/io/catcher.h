/* SPDX-License-Identifier: MIT */
/*
 * The user of a transport and of a mock_server: asks, and notes what comes.
 *
 *     start(0, range(100, 200));
 *     run_to_end(0);
 *     check_end(&caught[0], XD_VERDICT_OK, 200);
 *
 * Every byte that a handler is given must be that of mock_byte().
 */
#ifndef CATCHER_H
#define CATCHER_H

#include "io/transport.h"
#include "mock_server.h"

enum { SLOTS = 3, TURN = 50 }; /* ms */

/* What the handler does, and what it saw of each slot. */
struct catcher {
    /* Set by the test. */
    uint64_t expected; /* offset of the next byte */
    int head_answer, bytes_answer;
    unsigned pause_every;  /* refuse each n-th call once */
    unsigned starve_every; /* likewise of read() */
    int read_answer;
    long read_ms;     /* for which it lasts */
    size_t read_most; /* bytes at a time; 0: all that are asked for */

    unsigned heads, calls, ends;
    struct xd_head head;
    char validator[100], final_url[100];
    uint64_t received;
    struct xd_outcome outcome;
    bool paused;

    unsigned reads, rewinds;
    uint64_t sent; /* bytes that were read */
    struct xd_reply reply;
    char etag[100], location[200], words[400];
};

extern struct catcher caught[SLOTS];
extern const struct xd_transport_handler handler;

/* The test opens and starts them; tear_down() ends both. */
extern struct mock_server *server;
extern struct xd_transport *transport;
extern struct xd_error err;

extern xd_usec send_patience; /* of what send_to() sends */

void stop_server(void);
void tear_down(void);

struct xd_request range(uint64_t offset, uint64_t length);

/* The URL of `r` may be NULL: the server's. */
void start(unsigned slot, struct xd_request r);

/* A request that sends so many bytes of the object, on that slot: `to` may be
 * NULL, the server's URL. */
void send_to(unsigned slot, const char *method, const char *fields,
             uint64_t length, const char *to);
void turn(void);
void run_to_end(unsigned slot);

void check_end(const struct catcher *c, enum xd_verdict verdict,
               uint64_t received);

#endif

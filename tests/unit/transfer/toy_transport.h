/* SPDX-License-Identifier: MIT */
/*
 * A transport without a network: a script says how each request ends.  It is
 * what the runner and the engine are tested with, and shows how little a new
 * transport takes.
 */
#ifndef XD_TESTS_TOY_TRANSPORT_H
#define XD_TESTS_TOY_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "io/transport.h"

/* Every object is as long, and has the same bytes. */
#define TOY_SIZE ((uint64_t)64 << 10)

#define TOY_ALL UINT64_MAX

/* How one request is answered; zeroed, with all the bytes and a head. */
struct toy_answer {
    enum xd_verdict verdict;
    uint64_t bytes;    /* so many come at most; 0 stands for TOY_ALL */
    bool has_no_head;  /* and no bytes */
    bool is_silent;    /* it does not end before it is stopped, or silent for
                           too long */
    bool cannot_start; /* start() finds no memory */
    /* io/transport.h */
    bool is_cut, is_refusal, is_denied, is_of_redirect, is_unanswered, shares;
    xd_usec retry_after;
    uint64_t object_size; /* that it claims; 0 stands for TOY_SIZE */
    uint64_t skips;       /* so many bytes come before, to be dropped */
    const char *validator, *media_type, *final_url;
    const char *body;     /* its first bytes, or NULL */
    struct xd_range next; /* in its head: it would be asked for them next */
};

/* The answers to come, for all toy transports together; requests after them
 * are answered with all their bytes.  Empties the log.  `answers` is kept. */
void toy_script(const struct toy_answer *answers, size_t n);

/* Called with a line for each call of the transport.  Threads: the
 * transport's.  NULL: for none. */
void toy_listen(void (*hear)(const char *line));

unsigned char toy_byte(uint64_t offset);

/* How many requests were started. */
unsigned toy_requests(void);

/* As xd_http_new(). */
int toy_new(struct xd_transport **out, const struct xd_transport_config *config,
            const struct xd_transport_handler *handler, struct xd_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The words of IBP, the Internet Backplane Protocol: capabilities, the requests
 * that are sent, and a depot's replies.  Pure.
 *
 *     request  "0 8 KEY TYPEKEY OFFSET LENGTH TIMEOUT \n"          LOAD
 *     reply    "1 LENGTH \n", then so many bytes
 *     request  "0 9 KEY TYPEKEY 40 0 0 0 0 TIMEOUT \n"             PROBE
 *     reply    "1 READERS WRITERS WRITTEN ALLOCATED LIFETIME ... \n"
 *     request  "0 1 RELIABILITY TYPE DURATION SIZE TIMEOUT \n"     ALLOCATE
 *     reply    "1 READ WRITE MANAGE \n", a capability each
 *     request  "0 2 KEY TYPEKEY LENGTH TIMEOUT \n"                 STORE
 *     reply    "1 \n", upon which the bytes are sent, and then "1 LENGTH \n"
 *     request  "0 9 KEY TYPEKEY 43 0 SIZE DURATION RELIABILITY TIMEOUT \n"
 *     reply    "1 \n"                                              CHANGE
 *     request  "0 9 KEY TYPEKEY 42 RIGHT TIMEOUT \n"               DECREMENT
 *     reply    "1 \n"
 *     request  "0 4 1 ibp TIMEOUT \n"                              STATUS
 *     reply    "HARD HARD_USED SOFT SOFT_USED LONGEST \n": no code
 *     error    "-4 \n", with a blank before it or without; what some depots
 *              say behind the code is ignored
 *
 * Every number is decimal, and blanks may stand anywhere but in a word.
 */
#ifndef XD_IO_IBP_WIRE_H
#define XD_IO_IBP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/url.h"

/* No reply to a reader's request is longer; its numbers are 8. */
#define XD_IBP_REPLY_MAX 512
#define XD_IBP_NUMBERS_MAX 8

/* No other reply is: that to ALLOCATE has three capabilities, and the original
 * depots make none of more than 2048 bytes. */
#define XD_IBP_LINE_MAX (3 * 2048 + 64)

/* Of an allocation: its reliability (a depot that needs room may drop one that is
 * SOFT), its type, and which references DECREMENT takes one from. */
enum { XD_IBP_SOFT = 1, XD_IBP_HARD = 2 };
enum { XD_IBP_BYTE_ARRAY = 1 };
enum { XD_IBP_READERS = 1, XD_IBP_WRITERS = 2 };

/* ibp://HOST:PORT/KEY/TYPEKEY/RIGHT.  Both keys are strings, whatever they look
 * like, and point into the URL. */
struct xd_ibp_capability {
    const char *key, *type_key;
    int key_len, type_key_len;
};

/* What a depot says. */
struct xd_ibp_reply {
    int64_t code; /* 1: it will do so; else an error, see xd_ibp_words() */
    size_t n;     /* numbers behind it */
    int64_t numbers[XD_IBP_NUMBERS_MAX];
};

/* What it says of an allocation. */
struct xd_ibp_probe {
    uint64_t readers;   /* references for reading: without any it is gone */
    uint64_t writers;   /* to some depots these count, too */
    uint64_t written;   /* bytes that can be read */
    uint64_t allocated; /* bytes that it has room for */
    uint64_t lifetime;  /* seconds until it expires */
    int reliability;    /* XD_IBP_HARD if the depot does not say */
};

/* The keys of a new allocation, within the reply. */
struct xd_ibp_allocation {
    struct xd_ibp_capability read, write, manage;
};

/* Error codes that are not only reported. */
enum {
    XD_IBP_OK = 1,
    XD_IBP_NOT_FOUND = -4,
    XD_IBP_DENIED = -12,
    XD_IBP_BEYOND_END = -19, /* what some depots say of bytes that are not
                                   written; others wait for them.  Of ALLOCATE:
                                   no room */
    XD_IBP_TYPE = -22,
    XD_IBP_NO_RESOURCE = -23,
    XD_IBP_TOO_LONG = -28,
    XD_IBP_PASSWORD = -29,
    XD_IBP_RELIABILITY = -34,
    XD_IBP_ALLOCATION_FAILED = -38,
    XD_IBP_POLICY = -45, /* of CHANGE, by some depots: too long */
    XD_IBP_DELETING = -48,
    XD_IBP_SERVER_TIMEOUT = -46, /* what those say in the end */
    XD_IBP_OUT_OF_SOCKETS = -66  /* what some depots say whenever they close a
                                    connection */
};

/* A command of struct xd_sending. */
struct xd_ibp_command {
    const char *method;
    int number;
    const char *sub; /* what precedes its fields: the command of MANAGE */
    unsigned n_fields;
    const char *right; /* of the capability: "" for any, NULL: it takes none */
};

/* Whether `u` is the URL of a depot, and of nothing on it. */
bool xd_ibp_is_depot(const struct xd_url *u);

/* False if `u` is not the URL of a read capability. */
bool xd_ibp_split(const struct xd_url *u, struct xd_ibp_capability *out);

/* The same for a capability with `right`, as in struct xd_ibp_command; "" is any:
 * PROBE takes each. */
bool xd_ibp_split_right(const struct xd_url *u, const char *right,
                        struct xd_ibp_capability *out);

/* Requests.  A depot takes a time-out of 0 for no bound: `timeout_s` is at
 * least 1. */
void xd_ibp_write_load(struct xd_text *to, const struct xd_ibp_capability *c,
                       uint64_t offset, uint64_t length, unsigned timeout_s);
void xd_ibp_write_probe(struct xd_text *to, const struct xd_ibp_capability *c,
                        unsigned timeout_s);

/* NULL if there is no such command. */
const struct xd_ibp_command *xd_ibp_command(const char *method);

/* Whether `fields`, which may be NULL, are numbers, as many as it takes. */
bool xd_ibp_takes(const struct xd_ibp_command *c, const char *fields);

/* The request.  `length` is that of the body, for STORE; `c` and `fields` as the
 * command takes them. */
void xd_ibp_write_command(struct xd_text *to,
                          const struct xd_ibp_command *command,
                          const struct xd_ibp_capability *c, const char *fields,
                          uint64_t length, unsigned timeout_s);

/* A line without its line feed: its code, and what follows that.  False if it has
 * no code. */
bool xd_ibp_split_reply(const char *line, size_t len, int64_t *out_code,
                        struct xd_span *out_words);

/* The words of the reply to ALLOCATE, as xd_ibp_split_reply() has them.  False if
 * they are not three capabilities, each of its right. */
bool xd_ibp_allocated(const char *words, struct xd_ibp_allocation *out);

/* The reply to STATUS, all of it: for how many seconds the depot lets allocations
 * live; 0 if it says no bound.  False if it is none. */
bool xd_ibp_longest(const char *line, uint64_t *out_s);

/* The numbers behind a code, which *out has.  False if they are none, or too
 * many. */
bool xd_ibp_parse_numbers(const char *words, size_t len,
                          struct xd_ibp_reply *out);

/* A line without its line feed.  False if it is none of IBP's. */
bool xd_ibp_parse_reply(const char *line, size_t len, struct xd_ibp_reply *out);

/* The reply to LOAD: how many bytes follow.  False if it says none. */
bool xd_ibp_loaded(const struct xd_ibp_reply *r, uint64_t *out);

/* The reply to PROBE.  False if it is none. */
bool xd_ibp_probed(const struct xd_ibp_reply *r, struct xd_ibp_probe *out);

/* What an error code means, such as "capability not found". */
const char *xd_ibp_words(int64_t code);

/* Whether the depot may answer otherwise the next time. */
bool xd_ibp_may_pass(int64_t code);

#endif

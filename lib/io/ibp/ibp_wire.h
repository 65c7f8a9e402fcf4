/* SPDX-License-Identifier: MIT */
/*
 * The words of IBP, the Internet Backplane Protocol: capabilities, the requests
 * that a reader sends, and a depot's replies.  Pure.
 *
 *     request  "0 8 KEY TYPEKEY OFFSET LENGTH TIMEOUT \n"          LOAD
 *     reply    "1 LENGTH \n", then so many bytes
 *     request  "0 9 KEY TYPEKEY 40 0 0 0 0 TIMEOUT \n"             PROBE
 *     reply    "1 READERS WRITERS WRITTEN ALLOCATED LIFETIME ... \n"
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
    uint64_t written;   /* bytes that can be read */
    uint64_t allocated; /* bytes that it has room for */
    uint64_t lifetime;  /* seconds until it expires */
};

/* Error codes that are not only reported. */
enum {
    XD_IBP_OK = 1,
    XD_IBP_BEYOND_END = -19,     /* what some depots say of bytes that are not
                                   written; others wait for them */
    XD_IBP_SERVER_TIMEOUT = -46, /* what those say in the end */
    XD_IBP_OUT_OF_SOCKETS = -66  /* what some depots say whenever they close a
                                    connection */
};

/* False if `u` is not the URL of a read capability. */
bool xd_ibp_split(const struct xd_url *u, struct xd_ibp_capability *out);

/* The same for a capability with any right: PROBE takes each. */
bool xd_ibp_split_any(const struct xd_url *u, struct xd_ibp_capability *out);

/* Requests.  A depot takes a time-out of 0 for no bound: `timeout_s` is at
 * least 1. */
void xd_ibp_write_load(struct xd_text *to, const struct xd_ibp_capability *c,
                       uint64_t offset, uint64_t length, unsigned timeout_s);
void xd_ibp_write_probe(struct xd_text *to, const struct xd_ibp_capability *c,
                        unsigned timeout_s);

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

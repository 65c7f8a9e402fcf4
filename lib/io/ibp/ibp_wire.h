/* SPDX-License-Identifier: MIT */
/*
 * The wire format of IBP, the Internet Backplane Protocol.  Pure.
 *
 *     request  "0 8 KEY TYPEKEY OFFSET LENGTH TIMEOUT \n"          LOAD
 *     reply    "1 LENGTH \n", then as many bytes
 *     request  "0 9 KEY TYPEKEY 40 0 0 0 0 TIMEOUT \n"             PROBE
 *     reply    "1 READERS WRITERS WRITTEN ALLOCATED LIFETIME ... \n"
 *     request  "0 1 RELIABILITY TYPE DURATION SIZE TIMEOUT \n"     ALLOCATE
 *     reply    "1 READ WRITE MANAGE \n", three capabilities
 *     request  "0 2 KEY TYPEKEY LENGTH TIMEOUT \n"                 STORE
 *     reply    "1 \n"; then the bytes are sent, and it says "1 LENGTH \n"
 *     request  "0 9 KEY TYPEKEY 43 0 SIZE DURATION RELIABILITY TIMEOUT \n"
 *     reply    "1 \n"                                              CHANGE
 *     request  "0 9 KEY TYPEKEY 42 RIGHT TIMEOUT \n"               DECREMENT
 *     reply    "1 \n"
 *     request  "0 4 1 ibp TIMEOUT \n"                              STATUS
 *     reply    "HARD HARD_USED SOFT SOFT_USED LONGEST \n", without a code
 *     error    "-4 \n", with or without a leading blank; what some depots
 *              write after the code is ignored
 *
 * Numbers are decimal.  Blanks may occur anywhere between words.
 */
#ifndef XD_IO_IBP_WIRE_H
#define XD_IO_IBP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/url.h"

/* Limits on replies to LOAD and PROBE: length and numbers. */
#define XD_IBP_REPLY_MAX 512
#define XD_IBP_NUMBERS_MAX 8

/* Limit on other replies.  The longest, to ALLOCATE, has three capabilities,
 * and the original depots make none of more than 2048 bytes. */
#define XD_IBP_LINE_MAX (3 * 2048 + 64)

/* Properties of an allocation: its reliability (a depot may delete SOFT ones to
 * make room) and type; and which references DECREMENT decreases. */
enum { XD_IBP_SOFT = 1, XD_IBP_HARD = 2 };
enum { XD_IBP_BYTE_ARRAY = 1 };
enum { XD_IBP_READERS = 1, XD_IBP_WRITERS = 2 };

/* The parts of ibp://HOST:PORT/KEY/TYPEKEY/RIGHT.  Both keys are opaque strings
 * and point into the URL. */
struct xd_ibp_capability {
    const char *key, *type_key;
    int key_len, type_key_len;
};

/* A reply. */
struct xd_ibp_reply {
    int64_t code; /* 1: success; else an error, see xd_ibp_words() */
    size_t n;     /* number of numbers after the code */
    int64_t numbers[XD_IBP_NUMBERS_MAX];
};

/* Reply to PROBE. */
struct xd_ibp_probe {
    uint64_t readers; /* read references; at 0 the allocation is deleted */
    /* write references; some depots delete only if these are 0, too */
    uint64_t writers;
    uint64_t written;   /* bytes that can be read */
    uint64_t allocated; /* capacity in bytes */
    uint64_t lifetime;  /* seconds until it expires */
    int reliability;    /* XD_IBP_HARD if not stated */
};

/* Keys of a new allocation; they point into the reply. */
struct xd_ibp_allocation {
    struct xd_ibp_capability read, write, manage;
};

/* Error codes that are handled. */
enum {
    XD_IBP_OK = 1,
    XD_IBP_NOT_FOUND = -4,
    XD_IBP_DENIED = -12,
    /* The request is beyond the bytes that were written.  Some depots send this
     * error, and some wait until the bytes are written.  As the answer to
     * ALLOCATE: the depot has no room. */
    XD_IBP_BEYOND_END = -19,
    XD_IBP_TYPE = -22,
    XD_IBP_NO_RESOURCE = -23,
    XD_IBP_TOO_LONG = -28,
    XD_IBP_PASSWORD = -29,
    XD_IBP_RELIABILITY = -34,
    XD_IBP_ALLOCATION_FAILED = -38,
    /* sent by some depots after CHANGE: the lifetime is too long */
    XD_IBP_POLICY = -45,
    XD_IBP_DELETING = -48,
    /* sent by depots that wait for missing bytes, when they give up */
    XD_IBP_SERVER_TIMEOUT = -46,
    /* sent by some depots whenever they close a connection */
    XD_IBP_OUT_OF_SOCKETS = -66
};

/* A command for struct xd_sending. */
struct xd_ibp_command {
    const char *method;
    int number;
    /* text before the fields, such as the subcommand of MANAGE */
    const char *sub;
    unsigned n_fields;
    /* the right that its capability must have; "": any; NULL: it needs no
     * capability */
    const char *right;
};

/* Returns whether `u` names a depot without a capability. */
bool xd_ibp_is_depot(const struct xd_url *u);

/* Parses a read capability.  Returns false if `u` is not one. */
bool xd_ibp_split(const struct xd_url *u, struct xd_ibp_capability *out);

/* Parses a capability with `right`, as in struct xd_ibp_command; "" accepts
 * any.  Returns false if `u` is not one. */
bool xd_ibp_split_right(const struct xd_url *u, const char *right,
                        struct xd_ibp_capability *out);

/* Write the LOAD and PROBE commands.  `timeout_s` must be at least 1, because
 * depots take 0 for no limit. */
void xd_ibp_write_load(struct xd_text *to, const struct xd_ibp_capability *c,
                       uint64_t offset, uint64_t length, unsigned timeout_s);
void xd_ibp_write_probe(struct xd_text *to, const struct xd_ibp_capability *c,
                        unsigned timeout_s);

/* Returns the command with this name, or NULL if it is unknown. */
const struct xd_ibp_command *xd_ibp_command(const char *method);

/* Returns whether `fields` (may be NULL) has as many numbers as the command
 * takes. */
bool xd_ibp_takes(const struct xd_ibp_command *c, const char *fields);

/* Writes a command.  `length` is the size of the body, for STORE; `c` and
 * `fields` depend on the command. */
void xd_ibp_write_command(struct xd_text *to,
                          const struct xd_ibp_command *command,
                          const struct xd_ibp_capability *c, const char *fields,
                          uint64_t length, unsigned timeout_s);

/* Splits a line, without its line feed, into its code and the rest.  Returns
 * false if there is no code. */
bool xd_ibp_split_reply(const char *line, size_t len, int64_t *out_code,
                        struct xd_span *out_words);

/* Parses the reply to ALLOCATE after its code.  Returns false unless it is a
 * read, a write and a manage capability. */
bool xd_ibp_allocated(const char *words, struct xd_ibp_allocation *out);

/* Parses the reply to STATUS: the longest lifetime of allocations in seconds; 0
 * if unlimited.  Returns false if it is invalid. */
bool xd_ibp_longest(const char *line, uint64_t *out_s);

/* Parses the numbers after a code; out->code must be set.  Returns false if
 * they are invalid or too many. */
bool xd_ibp_parse_numbers(const char *words, size_t len,
                          struct xd_ibp_reply *out);

/* Parses a line without its line feed.  Returns false if it is invalid. */
bool xd_ibp_parse_reply(const char *line, size_t len, struct xd_ibp_reply *out);

/* Gets the number of bytes after a reply to LOAD.  Returns false if there is
 * none. */
bool xd_ibp_loaded(const struct xd_ibp_reply *r, uint64_t *out);

/* Gets the values in a reply to PROBE.  Returns false if it is invalid. */
bool xd_ibp_probed(const struct xd_ibp_reply *r, struct xd_ibp_probe *out);

/* Returns the meaning of an error code, like "capability not found". */
const char *xd_ibp_words(int64_t code);

/* Returns whether the error may be temporary. */
bool xd_ibp_may_pass(int64_t code);

#endif

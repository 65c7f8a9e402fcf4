/* SPDX-License-Identifier: MIT */
/*
 * The SIZE, MDTM and REST commands of an FTP request.
 *
 * libcurl could send them, but it trusts the reply to SIZE: it reads "213 -5"
 * as 5 and stops there.  So libcurl is told to ignore sizes and to send these
 * commands before RETR, and ftp_answer.h counts the bytes.
 */
#ifndef XD_IO_FTP_REQUEST_H
#define XD_IO_FTP_REQUEST_H

#include <stdbool.h>

#include <curl/curl.h>

#include "base/url.h"
#include "io/http/ftp_answer.h"

/* A zeroed struct has no commands. */
struct xd_ftp_commands {
    struct curl_slist list[3];
    char *size;    /* owned; NULL: not sent */
    char *time;    /* owned; NULL: not sent */
    char rest[30]; /* room for "REST 18446744073709551615" */
};

/* The object that was requested last, for all slots of a transport. */
struct xd_ftp_shared {
    struct xd_url *url; /* owned; NULL: none */
    struct xd_ftp_object object;
    /* a trial has proved that its server obeys REST up to this offset */
    uint64_t proved_to;
};

/*
 * Makes sure that a server obeys REST before its bytes are believed.
 *
 * A trial is an extra transfer before the request.  It asks for the last one or
 * two bytes of the object and counts the bytes that arrive until the server is
 * done.  A server that begins elsewhere sends more.
 */
struct xd_ftp_trial {
    uint64_t size;  /* size of the object, or XD_SIZE_UNKNOWN */
    uint64_t n;     /* bytes received in the trial */
    bool is_on;     /* the current transfer is a trial */
    bool is_passed; /* the current request has passed a trial */
};

/* Returns what is known about the object at `url`.  NULL if another object was
 * requested since, or if memory ran out. */
struct xd_ftp_object *xd_ftp_known(struct xd_ftp_shared *shared,
                                   const struct xd_url *url);

/* Starts a request for `url`.  Forgets what was learned about any other object,
 * and what a trial proved about another server. */
void xd_ftp_ask(struct xd_ftp_shared *shared, const struct xd_url *url);

/* Sets the commands for a transfer from `begin` on.  libcurl uses the struct
 * until the request ends.  Returns false if out of memory. */
bool xd_ftp_commands_apply(struct xd_ftp_commands *c, CURL *e,
                           const struct xd_url *url, uint64_t begin,
                           bool asks_size, bool asks_time);

/* Removes the commands, for an HTTP request.  Returns false if out of
 * memory. */
bool xd_ftp_commands_clear(struct xd_ftp_commands *c, CURL *e);
void xd_ftp_commands_fini(struct xd_ftp_commands *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Responses of xdownload depot: the files of its folder, and a status page.
 *
 * Threads: call these functions on the thread of the connection.
 */
#ifndef CLI_DEPOT_ANSWER_H
#define CLI_DEPOT_ANSWER_H

#include "depot/files.h"
#include "http/server.h"

/* Request header with 16 hexadecimal digits.  They identify a download across
 * all its connections. */
#define DEPOT_CLIENT "Xd-Client"

/* Response header: the range that the client should request next. */
#define DEPOT_NEXT "Xd-Next"

struct depot {
    struct depot_files files;
    char root[100]; /* "/" or "/TOKEN/" */
};

/* Responds to a request.  `user` is the struct depot. */
struct answer depot_answer(void *user, const struct http_request *r);

#endif

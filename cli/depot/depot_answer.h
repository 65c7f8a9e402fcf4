/* SPDX-License-Identifier: MIT */
/*
 * What `depot` answers to a request: files of its folder, and a page about them.
 *
 * Threads: the connection's.
 */
#ifndef CLI_DEPOT_ANSWER_H
#define CLI_DEPOT_ANSWER_H

#include "depot/files.h"
#include "http/server.h"

/* In a request: 16 hexadecimal digits that tell one download of a client from others,
 * whatever its connections. */
#define DEPOT_CLIENT "Xd-Client"

/* In an answer: the range of the file that the client is best sent next. */
#define DEPOT_NEXT "Xd-Next"

struct depot {
    struct depot_files files;
    char root[100]; /* "/" or "/TOKEN/" */
};

/* `user` is the depot. */
struct answer depot_answer(void *user, const struct http_request *r);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The listening socket of a server.
 */
#ifndef CLI_LISTENER_H
#define CLI_LISTENER_H

#include <stdbool.h>

struct listener {
    int fd;           /* -1: not listening */
    bool is_loopback; /* whether only this machine can reach the address */
    /* host and port as in a URL: "127.0.0.1:8080", "[::1]:8080" */
    char authority[80];
};

/* Listens at `where`, which has the format of --listen.  Returns 0; after a
 * failure, prints the error and returns the exit status.
 * Ownership: on success the caller releases *l with listener_close(). */
int listener_open(struct listener *l, const char *where);
void listener_close(struct listener *l);

#endif

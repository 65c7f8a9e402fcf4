/* SPDX-License-Identifier: MIT */
/*
 * The socket at which a server listens.
 */
#ifndef CLI_LISTENER_H
#define CLI_LISTENER_H

#include <stdbool.h>

struct listener {
    int fd;             /* -1: none */
    bool is_loopback;   /* only this machine reaches it */
    char authority[80]; /* as a URL has it: "127.0.0.1:8080", "[::1]:8080" */
};

/* Listen at `where`, an address as --listen takes it.  Returns 0, or a status
 * after the reason was said.  Ownership: after 0, to release with
 * listener_close(). */
int listener_open(struct listener *l, const char *where);
void listener_close(struct listener *l);

#endif

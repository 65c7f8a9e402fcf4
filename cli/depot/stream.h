/* SPDX-License-Identifier: MIT */
/*
 * Part of a file on its way to a client, by a thread of a pool that waits for no
 * disk: while a chunk is not in memory the connection is suspended.
 *
 * Threads: the connection's, and that of the disk which resumes it.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include "depot/files.h"

/* Of what it is. */
struct stream_of {
    struct depot_files *files;
    struct depot_file *file; /* entered */
    struct depot_client is_for;
    struct xd_circus_client *client; /* entered; or NULL */
    bool is_asked; /* what is not sent is to be taken back from the client */
};

/*
 * The response that sends the bytes from `begin` to before `end` of a file.
 * NULL without memory.
 * Ownership: the response leaves the file, and its client, when it ends.
 */
struct MHD_Response *stream_new(const struct stream_of *of,
                                struct MHD_Connection *c, uint64_t begin,
                                uint64_t end);

/* That of HEAD: so many bytes, of which none is sent. */
struct MHD_Response *stream_head(uint64_t size);

#endif

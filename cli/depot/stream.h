/* SPDX-License-Identifier: MIT */
/*
 * Sends a range of a file to a client from a thread pool.  These threads must
 * not wait for disks.  While a chunk is not in memory, the connection is
 * suspended.
 *
 * Threads: the thread of the connection; the thread of the disk resumes it.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include "depot/files.h"

/* The file, the client, and the state of the request. */
struct stream_of {
    struct depot_files *files;
    struct depot_file *file; /* from files_enter() */
    struct depot_client is_for;
    /* from files_client_locked(); may be NULL */
    struct xd_circus_client *client;
    /* true if the circus has recorded the requested range; unsent bytes must
     * then be removed from the record */
    bool is_asked;
};

/*
 * Returns a response with the bytes [begin, end) of a file, or NULL if memory
 * runs out.
 * Ownership: the response releases the file and its client when it ends.
 */
struct MHD_Response *stream_new(const struct stream_of *of,
                                struct MHD_Connection *c, uint64_t begin,
                                uint64_t end);

/* Returns the response to a HEAD request, with this Content-Length. */
struct MHD_Response *stream_head(uint64_t size);

#endif

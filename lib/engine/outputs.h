/* SPDX-License-Identifier: MIT */
/*
 * The outputs: where the bytes of a download go, and what follows from that.
 *
 * Each is one row, which the public function that makes the download chooses.
 * Nothing asks which row it is: other files ask for the property that they
 * mean, and what an output does itself are the functions of its row.
 */
#ifndef XD_ENGINE_OUTPUTS_H
#define XD_ENGINE_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

struct xd_engine;
struct xd_error;
struct xd_options;
struct xd_sink;

struct xd_output_traits {
    /* No byte of it can be seen before all of it is proved. */
    bool is_seen_at_end;

    /* Many files lie one behind the other in its line of bytes: what fails, or
     * is wrong, or has no hash, is one of them, and not all (set.h). */
    bool has_many_files;

    /* Its bytes are read while it arrives: what is fetched follows readers. */
    bool has_readers;

    /* The reader is one, which begins at the beginning, takes the hash of the
     * whole, and passes on what it reads: that has left, and does not come
     * again (readers/pipe.h). */
    bool is_read_once;

    /* Bytes per second, as long as no player has reported its rate. */
    uint64_t reader_rate;

    /* What of the options has no meaning for it.  NULL: nothing.
     * Errors: INVAL. */
    int (*check)(const struct xd_options *o, struct xd_error *err);

    /* Whether what no reader wants any more is dropped.  NULL: it is not. */
    bool (*is_bounded)(const struct xd_options *o, const char *path);

    /* How many descriptors it needs beside those for depots.  NULL: none worth
     * counting. */
    unsigned (*descriptors)(unsigned for_depots);

    /* Where bytes are stored.  Without the lock.  Blocks: on the disk. */
    int (*open)(struct xd_engine *e, struct xd_sink **out,
                struct xd_error *err);

    /* It is open, and nothing was fetched.  NULL: there is nothing to do. */
    int (*begin_locked)(struct xd_engine *e, struct xd_error *err);
};

extern const struct xd_output_traits xd_output_file;
extern const struct xd_output_traits xd_output_set;
extern const struct xd_output_traits xd_output_pipe;
extern const struct xd_output_traits xd_output_source; /* readers/ */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The kinds of output: where the bytes of a download go.
 *
 * Each is a row of traits, chosen by the public function that creates the
 * download.  Other files never compare rows: they test the trait that they
 * depend on.  The functions in a row do what is special about that output.
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
    /* No byte can be seen before the whole file is verified. */
    bool is_seen_at_end;

    /* Many files are concatenated to one sequence of bytes (set.h).  A failure,
     * or a hash that is wrong or missing, concerns one of them, not all. */
    bool has_many_files;

    /* Bytes are read while the file arrives, so the scheduler follows the
     * readers. */
    bool has_readers;

    /* There is a single reader, which starts at byte 0, hashes the whole file
     * and passes on what it reads.  These bytes cannot be taken back, and are
     * not read again (readers/pipe.h). */
    bool is_read_once;

    /* assumed rate in bytes per second until a player reports its own */
    uint64_t reader_rate;

    /* Rejects options that make no sense for this output.  NULL: accepts all.
     * Errors: INVAL. */
    int (*check)(const struct xd_options *o, struct xd_error *err);

    /* Sets dest.is_bounded if bytes are dropped after the last reader has
     * passed them.  It may also reduce the lookahead.  NULL: all bytes are
     * kept. */
    void (*bound)(struct xd_engine *e);

    /* Returns the number of descriptors that the output needs if depots need
     * `for_depots`.  NULL: the output needs so few that they are not
     * counted. */
    unsigned (*descriptors)(unsigned for_depots);

    /* Opens the sink that stores the bytes; *out belongs to the caller.  Called
     * without the lock.  Blocks: on the disk. */
    int (*open)(struct xd_engine *e, struct xd_sink **out,
                struct xd_error *err);

    /* Called after open(), before anything is fetched.  May be NULL. */
    int (*begin_locked)(struct xd_engine *e, struct xd_error *err);
};

/* Returns the folder for temporary files without a name. */
const char *xd_output_spool(const struct xd_options *o);

extern const struct xd_output_traits xd_output_file;
extern const struct xd_output_traits xd_output_set;
extern const struct xd_output_traits xd_output_pipe;
extern const struct xd_output_traits xd_output_source; /* readers/ */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Functions of sources and readers that only the command needs.  Any thread may
 * call them at any time.
 */
#ifndef XD_COMMAND_READERS_H
#define XD_COMMAND_READERS_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/stream.h>

/* One stall, or one wait after a seek. */
struct xd_stall {
    size_t struct_size;
    double media_s; /* seconds of media played before the stall or wait began */
    double seconds; /* duration of the stall or wait */
};

/* The amount of media buffered at one moment.  A playback has at most 1000 such
 * samples, evenly spaced in time. */
struct xd_level {
    size_t struct_size;
    /* seconds since the first call of xd_reader_read() or
     * xd_reader_playhead() */
    double at_s;
    /* seconds of media buffered ahead of the playback position */
    double level_s;
};

/*
 * Lists the positions of up to `n` readers of the source, without readers that
 * have not read yet.  `out` may be NULL if `n` is 0.
 * Returns: the number of readers that have read, which may be more than `n`.
 * Blocks:  no.
 */
size_t xd_source_positions(struct xd_source *s, uint64_t *out, size_t n);

/*
 * List the stalls, the waits after seeks, and the buffer levels of the
 * playback.  Only the first 4096 stalls and 4096 waits are listed;
 * xd_reader_playback() counts all of them.
 * Returns: 0, or INVAL if `i` is out of range.
 * Blocks:  no.
 */
int xd_reader_get_stall(struct xd_reader *r, size_t i, struct xd_stall *out);
int xd_reader_get_seek_wait(struct xd_reader *r, size_t i,
                            struct xd_stall *out);
int xd_reader_get_level(struct xd_reader *r, size_t i, struct xd_level *out);

/* Returns the position of the next byte to read.  Blocks: no. */
uint64_t xd_reader_position(struct xd_reader *r);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Read a file while it is being downloaded, for media players and servers.
 *
 * A source is one file that is being downloaded.  A reader is a position in it,
 * with read and seek calls like a local file.  A source can have many readers,
 * for example one for playback and one for thumbnails.  All readers share the
 * bytes received.
 *
 * The manifest of the file comes from xd_manifest_open() (manifest.h).
 *
 *     #include <stdio.h>
 *     #include <xdownload/xdownload.h>
 *
 *     int64_t play(struct xd_manifest *m, uint64_t first_byte)
 *     {
 *         struct xd_source *s;
 *         struct xd_reader *r;
 *         struct xd_error err;
 *         char buf[65536];
 *         int64_t n = xd_source_new(&s, m, 0, NULL, &err);
 *
 *         if (n < 0)
 *             return n;
 *         n = xd_reader_new(&r, s, &err);
 *         xd_source_unref(s); // the reader has its own reference
 *         if (n < 0)
 *             return n;
 *         n = xd_reader_seek(r, first_byte);
 *         while (n >= 0 && (n = xd_reader_read(r, buf, sizeof buf, -1)) > 0)
 *             fwrite(buf, 1, (size_t)n, stdout);
 *         if (n < 0) {
 *             xd_reader_error(r, &err);
 *             fprintf(stderr, "%s\n", err.msg);
 *         }
 *         xd_reader_free(r); // ends the download
 *         return n;
 *     }
 *
 * The library downloads ahead of each reader as far as the option `lookahead`
 * says, and then pauses until the reader has moved on.  The option is a size
 * (default 32m) or a time such as "20s".  A time is converted to bytes with the
 * rate that the player reports in xd_reader_playhead().  The result is at least
 * 4 MiB and at most 256 MiB; before the first report it is 32 MiB.
 *
 * Where received bytes are stored:
 * - By default: in an unnamed file in the directory of the option `spool`, or
 *   in /var/tmp.  No bytes are fetched again after a seek back.  But if the
 *   disk has less free space than the file needs (256 MiB if the size is
 *   unknown), bytes that readers have left behind are discarded, as with "none"
 *   below.
 * - Option `keep`: in the file that the option names, as for a download
 *   (download.h).  The whole file is fetched, even if readers need only a part.
 *   If the source is released before the file is complete, a later source
 *   resumes the download.
 * - Option `spool` set to "none": in memory.  All readers together use at most
 *   `lookahead` bytes.  Bytes that readers have left behind are discarded, and
 *   fetched again after a seek back.
 *
 * How bytes are verified:
 * - If the manifest has piece hashes, readers get only bytes that have matched
 *   a hash.
 * - If the manifest has only a hash of the whole file, or no hash, readers get
 *   bytes before they are verified.  Meanwhile the library compares the depots
 *   (the servers that hold copies) with each other.  Readers may have to wait
 *   up to half a second for the first bytes of each depot, until they are
 *   compared.
 * - If bytes turn out to be wrong after a reader has read them, further reads
 *   of this reader fail with CORRUPT.  The message names the first wrong byte.
 *   After a seek, even to the same position, the reader gets the bytes of other
 *   depots.
 * - Signatures (options keyring and public-key) cannot be used with a source.
 *
 * Positions count from the first byte that the option `range` selects; without
 * that option, from the first byte of the file.
 *
 * Functions that can fail return 0, a count or a position, or a negative error
 * code (error.h).
 *
 * Threads: only one thread at a time may call the read, seek and size functions
 *          of one reader.  Any thread may call all other functions at any time.
 *          A call must not overlap xd_reader_free() of its reader, or the
 *          xd_source_unref() that releases its reference.
 */
#ifndef XDOWNLOAD_STREAM_H
#define XDOWNLOAD_STREAM_H

#include <stdbool.h>
#include <xdownload/download.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_source;
struct xd_reader;

/* What a player is doing, for xd_reader_playhead(). */
enum xd_play_state {
    XD_PLAY_RUNNING, /* playback is running */
    XD_PLAY_PAUSED,  /* the user has paused playback */
    XD_PLAY_WAITING, /* playback has not begun, or waits for missing bytes */
    /* the user has moved to another position, and playback has not resumed */
    XD_PLAY_SEEKING,
    XD_PLAY_ENDED /* playback has ended */
};

/* The library fills in the structs below.  Later releases may add fields at
 * their end.  Macros with the same names as the functions set struct_size
 * before each call (see version.h), and the library never writes more than
 * struct_size bytes. */

/* A range of bytes that readers can read without waiting. */
struct xd_buffered {
    size_t struct_size;
    uint64_t begin, end; /* end is excluded */
};

/*
 * Statistics of a playback, in the terms of CTA-2066.  The library computes
 * them from the calls of xd_reader_playhead().
 *
 * A stall is a period in which playback stops because bytes are missing.  The
 * start-up delay, a pause and the wait after a seek are not stalls.
 *
 * Fields with `least` in their names say what the viewer would have experienced
 * with an ideal player, which starts and resumes as soon as the next byte has
 * arrived.  Compare the total times, not the number of stalls: a player may
 * have one long stall instead of many short ones.
 *
 * Times are in seconds.
 */
struct xd_playback {
    size_t struct_size;
    /* Seconds from the first call of xd_reader_read() or xd_reader_playhead()
     * to the start of playback; negative until playback has started */
    double startup_s;
    /* startup_s of the ideal player, which starts when the first byte that
     * playback needs has arrived; negative until then */
    double startup_least_s;
    /* number of stalls, including a stall that has not ended */
    unsigned n_stalls;
    double stall_s; /* total duration of all stalls */
    double stall_longest_s;
    double stall_least_s;
    /* Like stall_least_s, for a player that resumes only when the whole block
     * that contains its next byte has arrived (Plank and others, 2003). */
    double stall_blocks_s;
    double played_s; /* seconds of media played */
    /* total duration of start-up, playback, stalls and waits after seeks */
    double watched_s;
    double rebuffer_ratio; /* stall_s / (stall_s + played_s) */
    unsigned n_seeks;      /* number of waits after seeks */
    double restart_s;      /* total duration of the waits after seeks */
    double restart_longest_s;
    /* Stalling quality of ITU-T P.1203: 1 is bad, 5 is good; 0 before
     * playback */
    double quality;
    /* Total time for which xd_reader_read() and xd_reader_size() waited.  These
     * waits are not stalls, because players read ahead. */
    double blocked_s;
    /* seconds of media buffered ahead of the playback position */
    double level_s;
    double restart_least_s; /* restart_s of the ideal player */
    double rebuffer_least;  /* rebuffer_ratio computed with stall_least_s */
    uint64_t byte;          /* byte reported by the last xd_reader_playhead() */
    bool is_stalled;        /* true while playback is stalled */
};

XD_BEGIN_DECLS

/*
 * Creates a source of file number `file` of `m`.  The first xd_reader_read()
 * starts its download, even with a timeout of 0.  xd_reader_size() also starts
 * it if the manifest does not state the size.  If the download cannot start,
 * this first call returns the error.
 *
 * Ownership: *out has one reference, which the caller releases with
 *            xd_source_unref().  The source takes a reference to `m`, and
 *            copies `o` (NULL: the defaults).
 * Blocks:    no.
 * Errors:    the errors of xd_download_new(); INVAL also if the option keyring
 *            or public-key is set.
 */
XD_API XD_MUST_CHECK int xd_source_new(struct xd_source **out,
                                       struct xd_manifest *m, size_t file,
                                       const struct xd_options *o,
                                       struct xd_error *err);

/*
 * Releases a source; NULL does nothing.  Every reader holds a reference to its
 * source, so sources and readers can be released in any order.  The release of
 * the last reference cancels the download and frees the source.
 *
 * Blocks: only for the last reference; then like xd_download_unref().
 */
XD_API void xd_source_unref(struct xd_source *s);

/*
 * Returns the download of a source, to watch it, wait for it, pause it or
 * cancel it.  Do not start it.  With the option `keep` the download ends when
 * the file is complete and renamed.  Without `keep` it ends when all bytes have
 * arrived.
 *
 * Ownership: the download lives as long as the source.  A caller that takes a
 *            reference with xd_download_ref() keeps both alive.
 */
XD_API struct xd_download *xd_source_download(struct xd_source *s);

/*
 * Lists the ranges of bytes that readers can read now, for a seek bar.  The
 * first `n` ranges are stored in `out`, in ascending order.  Set the
 * struct_size of the first element only; it applies to the whole array.  `out`
 * may be NULL if `n` is 0.
 * Returns: the number of ranges, which may be more than `n`.
 * Blocks:  no.
 */
XD_API size_t xd_source_buffered(struct xd_source *s, struct xd_buffered *out,
                                 size_t n);

/*
 * Returns true while the readers still need bytes from the network.  When it
 * returns false, a program can start to read the next file of a playlist
 * without slowing this one down.
 *
 * The result is false when the file is complete.  It is also false when every
 * reader has all bytes of its lookahead, and the lookahead of at least one
 * reader reaches the end of the file.  A reader that has only read an index at
 * the end of the file does not count.
 *
 * Blocks: no.
 */
XD_API bool xd_source_needs_network(struct xd_source *s);

/*
 * Creates a reader at position 0.  The library fetches nothing for the reader
 * before its first read.
 * Ownership: the caller releases *out with xd_reader_free().  The reader holds
 *            a reference to `s`.
 * Blocks:    no.
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_reader_new(struct xd_reader **out,
                                       struct xd_source *s,
                                       struct xd_error *err);

/*
 * Releases a reader; NULL does nothing.
 * Blocks: only if it held the last reference to its source; then like
 *         xd_source_unref().
 */
XD_API void xd_reader_free(struct xd_reader *r);

/*
 * Returns the size of the file in bytes; with the option `range`, the size of
 * that range.
 * Blocks: at most `timeout_ms` milliseconds (-1: without limit; 0: not at all),
 *         if neither the manifest nor a depot has stated the size yet.
 * Errors:
 * - AGAIN: the timeout has elapsed.
 * - CANCELED: xd_reader_interrupt() was called.
 * - The code that ended the download: see xd_download_wait().
 */
XD_API XD_MUST_CHECK int64_t xd_reader_size(struct xd_reader *r,
                                            int timeout_ms);

/*
 * Reads up to `len` bytes at the position of the reader and moves it forward.
 *
 * Returns: the number of bytes, at least 1; 0 only at the end of the file, or
 *          if `len` is 0; or a negative error code.
 * Blocks:  until at least one byte is available, but at most `timeout_ms`
 *          milliseconds (-1: without limit; 0: not at all).  At the end of the
 *          file it waits for the verification of the file.  If only other
 *          depots can confirm the bytes, this wait is at most two seconds.
 * Errors:
 * - AGAIN: the timeout has elapsed.
 * - CANCELED: xd_reader_interrupt() or xd_cancel_trigger() was called.
 * - NOREPLICA: no depot can deliver the bytes at this position.  The library
 *   has tried each depot several times (options retry and patience), and does
 *   not try again: until something changes, every read at this position fails
 *   at once.  Continue with xd_reader_seek() to another position, or add a copy
 *   with xd_download_add_replica(); then read again.
 * - NOREPLICA, also from xd_download_wait(): the download has ended, because
 *   all missing bytes are lost or the network was down for too long.  Create a
 *   new source.
 * - CORRUPT: bytes that this reader has read earlier are wrong.  To continue,
 *   call xd_reader_seek().
 * - INVAL: the position is after the end of the file.  xd_reader_seek() could
 *   not detect this, because the size was not known yet.
 * - IO, NOMEM.
 * - The code that ended the download: see xd_download_wait().
 */
XD_API XD_MUST_CHECK int64_t xd_reader_read(struct xd_reader *r, void *buf,
                                            size_t len, int timeout_ms);

/*
 * Moves the reader to position `to`, which may equal the size of the file.  It
 * also clears the CORRUPT state of the reader.
 * Returns: the new position, or a negative error code.
 * Blocks:  no.
 * Errors:  INVAL: `to` is after the end of the file.  If the size is not known
 *          yet, the next read reports this error.
 */
XD_API XD_MUST_CHECK int64_t xd_reader_seek(struct xd_reader *r, uint64_t to);

/*
 * Sets a callback for programs with an event loop.  After a read or size call
 * has returned AGAIN, `function` is called once, as soon as another call may
 * have a different result.  xd_reader_set_wakeup() also calls `function` once
 * before it returns.
 * Ownership: `user` must stay valid until another function, or NULL, is set, or
 *            the reader is freed.
 * Blocks:    while a call of the previous function is running.
 */
XD_API void xd_reader_set_wakeup(struct xd_reader *r, xd_wakeup_fn *function,
                                 void *user);

/*
 * Returns a descriptor for poll(), on POSIX systems.  It is readable unless the
 * last read or size call returned AGAIN and a new call would return AGAIN, too.
 * Read with a timeout of 0 until AGAIN is returned, then poll.
 * Ownership: the reader owns it.  Do not read, write or close it.  It lives as
 *            long as the reader.
 * Returns:   the descriptor, or a negative error code.
 * Errors:    NOMEM.
 * Blocks:    no.
 */
XD_API XD_MUST_CHECK int xd_reader_descriptor(struct xd_reader *r,
                                              struct xd_error *err);

/*
 * Interrupts a reader from any thread.  While `on` is true, its read and size
 * calls return CANCELED at once, including a call that is already waiting.
 * Other readers and the download are not affected.
 * Blocks: no.
 */
XD_API void xd_reader_interrupt(struct xd_reader *r, bool on);

/* Reports why the last read, size or seek call failed; code XD_OK if it
 * succeeded.  Blocks: no. */
XD_API void xd_reader_error(struct xd_reader *r, struct xd_error *out);

/*
 * Reports the state of the player.  Call it at every change of state, and about
 * once a second during playback.
 *
 * - `byte`: the position in the file of what is on the screen now.  The reader
 *   is ahead of it, because players read ahead.
 * - `bytes_per_s`: the bytes that playback needs in each second: the mean rate
 *   of the file times the speed of playback.  <= 0: unchanged.
 * - `state`: what the viewer sees.  A read that returns AGAIN is not yet
 *   XD_PLAY_WAITING; playback waits only when the player has run out of bytes.
 *
 * The library needs this to fetch the most urgent bytes first, to convert a
 * `lookahead` given in seconds, and for the statistics of xd_reader_playback().
 * If a player has several readers, one reader can report for the player.
 *
 * Blocks: no.
 */
XD_API void xd_reader_playhead(struct xd_reader *r, uint64_t byte,
                               double bytes_per_s, enum xd_play_state state);

/* Reports the statistics of the playback so far.  Blocks: no. */
XD_API void xd_reader_playback(struct xd_reader *r, struct xd_playback *out);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_playback)
#define xd_reader_playback(r, out) xd_reader_playback(r, xd_playback_sized(out))
static inline size_t xd_source_buffered_sized(struct xd_source *s,
                                              struct xd_buffered *out, size_t n)
{
    if (n > 0)
        out->struct_size = sizeof *out;
    return xd_source_buffered(s, out, n);
}
#define xd_source_buffered(s, out, n) xd_source_buffered_sized(s, out, n)
#endif

XD_END_DECLS

#endif

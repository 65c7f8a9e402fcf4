/* SPDX-License-Identifier: MIT */
/*
 * A source is one file being read while it arrives: its depots, its store, its
 * budget.  Readers are positions in it; a player, a seek bar's thumbnailer and
 * eight HTTP clients are readers of one source, and share what arrives.
 *
 *     |...here...|        |=====here=====>>>>> wanted next >>>>>|...not asked
 *                         reader         |<---- lookahead ----->|   for...
 *
 * Bytes count from the first that the option `range` leaves; without it, from
 * the first of the file.  What a reader gets was held against the hashes of its
 * piece first, where the manifest has such; a file with one hash of the whole
 * is judged when all of it is here.  What nothing has proved yet may turn out
 * to be wrong when a reader has it already.  It cannot be taken back, so the
 * reader is informed: reads fail as CORRUPT and say from which byte on, until
 * it seeks, be it to where it is; what it reads then is from others.
 *
 * What arrived is in a file without a name in the folder that the option
 * `spool` names, so that going back costs nothing; with `keep`, in a file of
 * that name, as a download has it, which is then fetched to its end; if `spool`
 * is "none", in memory, at most `lookahead` of it, and what was left behind is
 * fetched again.  The option `lookahead` is how far ahead of each reader is
 * fetched; in memory all readers share it.  Where it is a time, like "20s", it
 * is as much as xd_reader_playhead() says that players consume in it, but at
 * least 4m and at most 256m; and 32m until one says it.
 *
 * Threads: one thread at a time for each reader calls read, seek and size; any
 *          thread may call everything else.  No call uses a reader after its
 *          free(), nor a source by a reference that was given back.
 */
#ifndef XDOWNLOAD_STREAM_H
#define XDOWNLOAD_STREAM_H

#include <stdbool.h>
#include <xdownload/download.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_source;
struct xd_reader;

enum xd_play_state {
    XD_PLAYING, /* the picture moves */
    XD_PAUSED,  /* it stands still because the user wants it to */
    XD_WAITING, /* it would move if the bytes were here */
    XD_SEEKING, /* the user has jumped elsewhere, and it does not move yet */
    XD_ENDED    /* playing has ended */
};

/* The structs below are filled in by the library and may grow: the caller
 * sets struct_size first, and gets that many bytes. */

/* A run of bytes; in an array of them the struct_size of the first is that of
 * all. */
struct xd_buffered {
    size_t struct_size;
    uint64_t begin, end; /* end is excluded */
};

/*
 * What a viewer suffered, in the terms of CTA-2066.  A stall is a time in which
 * the picture stood still for want of bytes: neither the start, nor a pause,
 * nor the time after a seek.  Times are in seconds.
 *
 * `least` is what the same viewer had suffered with a player that loses no
 * time: it begins, and goes on, as soon as the bytes are here.  How many stalls
 * that takes is up to the player: it may have a long one for many short ones.
 */
struct xd_playback {
    size_t struct_size;
    double startup_s;       /* from the wish to play to the first picture; < 0:
                                it was not seen yet */
    double startup_least_s; /* until its first byte was here; < 0: it is not */
    unsigned n_stalls;      /* one that lasts is counted */
    double stall_s;         /* all together */
    double stall_longest_s;
    double stall_least_s;
    double stall_blocks_s; /* the same if a block must be here, all of it, when
                              its first byte is shown (Plank and others) */
    double played_s;       /* media time that was shown */
    double watched_s;      /* start, play, stalls, waits after seeks */
    double rebuffer_ratio; /* stall_s / (stall_s + played_s) */
    unsigned n_seeks;
    double restart_s; /* waits after seeks, all together */
    double restart_longest_s;
    double quality;         /* ITU-T P.1203 stalling quality: 1 bad, 5 good */
    double blocked_s;       /* in which read() waited; no stall: players read
                                ahead */
    double level_s;         /* media time that is here from the picture on */
    double restart_least_s; /* of restart_s: until the first byte was here */
    double rebuffer_least;  /* rebuffer_ratio, if stalls were the least */
    uint64_t byte;          /* that xd_reader_playhead() said last */
    bool is_stalled;        /* the picture stands still for want of bytes now */
};

/* One stall, or wait after a seek. */
struct xd_stall {
    size_t struct_size;
    double media_s; /* how much had been shown when it came */
    double seconds;
};

/* How full the store was: one of at most 1000 moments, evenly spread. */
struct xd_level {
    size_t struct_size;
    double at_s; /* since the wish to play */
    double level_s;
};

XD_BEGIN_DECLS

/*
 * Prepare a source of file number `file` of `m`.  Touches neither disk nor
 * network, but for reading the file of the option depot-cache.  The download
 * starts with the first xd_reader_read(), or the first xd_reader_size() where
 * the manifest does not say the size, with a timeout of 0 too; what it cannot
 * start with, such as a file that it cannot make, is the error of that call.
 * Ownership: takes a reference to `m`, copies `o` (NULL: the defaults); *out
 *            has one reference, the caller's.
 * Blocks: no.  Errors: those of xd_download_new().
 */
XD_API XD_MUST_CHECK int xd_source_new(struct xd_source **out,
                                       struct xd_manifest *m, size_t file,
                                       const struct xd_options *o,
                                       struct xd_error *err);

/*
 * A source is counted: each of its readers has a reference of its own, so that
 * sources and readers may be released in any order.  The last unref(), or the
 * last xd_reader_free(), cancels the download and releases everything.
 * ref() returns its argument; unref(NULL) does nothing.
 * Blocks: ref() and an unref() that is not the last: no; the last one as
 *         xd_download_unref() does.
 */
XD_API struct xd_source *xd_source_ref(struct xd_source *s);
XD_API void xd_source_unref(struct xd_source *s);

/*
 * The download behind it, for its progress, its depots, its records, and to
 * wait for or cancel; not to be started.  With `keep` its end is that of the
 * file; without, it ends when all of the file is here.
 * Ownership: it lives as long as the source, and longer for a caller that
 *            takes a reference: then the source lives as long as it.
 */
XD_API struct xd_download *xd_source_download(struct xd_source *s);

/* Which bytes are here now, ascending, for seek bars: the first n runs of them.
 * Returns how many runs there are.  With n = 0 `out` may be NULL.  Blocks:
 * no. */
XD_API size_t xd_source_buffered(struct xd_source *s, struct xd_buffered *out,
                                 size_t n);

/* The positions of its readers, without those that have not read yet: of the
 * first n.  Returns how many there are.  With n = 0 `out` may be NULL.  Blocks: no. */
XD_API size_t xd_source_positions(struct xd_source *s, uint64_t *out, size_t n);

/*
 * Whether its readers need nothing more to come: each has all that is wanted
 * ahead of it, and of one that is the rest of the file; or the file is complete.
 * Then a program may begin what its user plays next, with a reader of that
 * file's source, and takes nothing from this one.  A reader that has only looked
 * at the end of the file, as players do for an index, does not count as one that
 * has the rest.  Blocks: no.
 */
XD_API bool xd_source_has_rest(struct xd_source *s);

/* A reader at byte 0, for which nothing is fetched before it reads.
 * Ownership: *out is the caller's, to release with xd_reader_free(); it holds a
 *            reference to `s`.
 * Blocks: no.  Errors: NOMEM. */
XD_API XD_MUST_CHECK int xd_reader_new(struct xd_reader **out,
                                       struct xd_source *s,
                                       struct xd_error *err);
/* NULL does nothing.  Blocks: no, but for the last one of a source that has no
 * other reference: see xd_source_unref(). */
XD_API void xd_reader_free(struct xd_reader *r);

/*
 * The size, waiting at most timeout_ms (-1: for ever, 0: only look) where
 * neither the manifest nor a depot has stated it yet.
 * Errors: AGAIN, CANCELED (interrupt), and what ended the source.
 */
XD_API XD_MUST_CHECK int64_t xd_reader_size(struct xd_reader *r,
                                            int timeout_ms);

/*
 * Copy up to `len` bytes at the position into `buf` and move past them.
 * Returns how many, at least 1; 0 at the end of the file and only there (or if
 * len is 0); else a negative code, which belongs to this position: a seek
 * elsewhere may help.  At the end of the file a read waits for the final
 * verification, for two seconds at most where only other depots can prove it.
 * Blocks: while no byte is here, at most timeout_ms (-1: for ever, 0: not).
 * Errors: AGAIN, CANCELED (interrupt), INVAL (a position that turned out to lie
 *         behind the end), NOREPLICA, CORRUPT, IO, NOMEM, and what ended the
 *         source.
 */
XD_API XD_MUST_CHECK int64_t xd_reader_read(struct xd_reader *r, void *buf,
                                            size_t len, int timeout_ms);

/*
 * Move to byte `to`; the size itself is allowed.  Returns the position.
 * Blocks: no.  Errors: INVAL, beyond the size where that is known.
 */
XD_API XD_MUST_CHECK int64_t xd_reader_seek(struct xd_reader *r, uint64_t to);

/*
 * Have `function` called when the call that returned AGAIN, a read or a size,
 * may now have another result; until the next AGAIN it is called once.  At
 * first it is called at once.  Ownership and Blocks: as
 * xd_download_set_wakeup().
 */
XD_API void xd_reader_set_wakeup(struct xd_reader *r, xd_wakeup_fn *function,
                                 void *user);

/*
 * A descriptor for poll(), on POSIX: readable unless the last read or size
 * returned AGAIN and would do so again.  Read without waiting until AGAIN
 * comes, then poll.
 * Ownership: the reader's: not to be read, written or closed; it lives as long
 *            as the reader.
 * Returns the descriptor.  Errors: NOMEM.  Blocks: no.
 */
XD_API XD_MUST_CHECK int xd_reader_descriptor(struct xd_reader *r,
                                              struct xd_error *err);

XD_API uint64_t xd_reader_position(struct xd_reader *r);

/* on: the read or size that waits, and all later ones, return CANCELED at once,
 * until off.  Blocks: no. */
XD_API void xd_reader_interrupt(struct xd_reader *r, bool on);

/* Why the last read, size or seek failed; code XD_OK if it did not. */
XD_API void xd_reader_error(struct xd_reader *r, struct xd_error *out);

/*
 * What a player knows and the library cannot: which byte is on the screen, how
 * fast bytes are consumed, and whether the picture moves.  Stalls are counted
 * from this, what is needed first is fetched first, and a `lookahead` in
 * seconds is reckoned by it.  To be said at every change of state, and now and
 * then between; bytes_per_s <= 0: as before.  A reader that reads nothing may
 * say it for others.
 * Blocks: no.
 */
XD_API void xd_reader_playhead(struct xd_reader *r, uint64_t byte,
                               double bytes_per_s, enum xd_play_state state);

/* What became of it.  Blocks: no. */
XD_API void xd_reader_playback(struct xd_reader *r, struct xd_playback *out);

/* The i-th stall, wait after a seek, or level; 0, or INVAL past the last.
 * Stalls and waits beyond 4096 are counted, but not listed. */
XD_API int xd_reader_stall(struct xd_reader *r, size_t i, struct xd_stall *out);
XD_API int xd_reader_restart(struct xd_reader *r, size_t i,
                             struct xd_stall *out);
XD_API int xd_reader_level(struct xd_reader *r, size_t i, struct xd_level *out);

XD_END_DECLS

#endif

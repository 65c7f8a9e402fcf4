/* SPDX-License-Identifier: MIT */
/*
 * A download fetches one file of a manifest.
 *
 *     new -> start -> running -> done | failed | canceled -> unref
 *
 * Threads: every function here may be called from any thread at any time, as
 *          long as the caller has a reference.
 */
#ifndef XDOWNLOAD_DOWNLOAD_H
#define XDOWNLOAD_DOWNLOAD_H

#include <stdbool.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_download;

/*
 * "Look": something may have changed.
 * Threads:  called from any thread, one call at a time for each download or
 *           source, its readers among them.
 * May call: nothing of this library: wake the thread that will look.
 */
typedef void xd_wakeup_fn(void *user);

/* The structs below are filled in by the library and may grow: the caller
 * sets struct_size first, and gets that many bytes. */

struct xd_progress {
    size_t struct_size;
    uint64_t bytes_done;      /* written and kept */
    uint64_t bytes_total;     /* XD_SIZE_UNKNOWN until a depot says it */
    uint64_t bytes_received;  /* all that came in, bytes_redundant among it */
    uint64_t bytes_redundant; /* came in, but had been here already */
    double seconds;           /* since start() */
    double bytes_per_s;       /* of bytes_done, over the last few seconds */
    unsigned lanes_busy;      /* requests in flight */
    unsigned depots_open;
    unsigned depots_reserve;
    unsigned depots_failed;
    bool is_paused; /* by xd_download_pause() */
    /* The values that are in force; 0 where the algorithm has no such thing. */
    const char *algorithm;
    unsigned redundancy, progress_number, threads_per_depot;
    uint64_t block_bytes;
    const char *verified; /* the hash algorithm that proved the file, or NULL */
    uint64_t bytes_resumed;  /* of bytes_done: those of an earlier run */
    uint64_t bytes_compared; /* came a second time, from another depot, and were
                                the same; 0 where hashes tell */
    /* Bytes that were written and then discarded, by the reason.  Those that
     * are still wanted are fetched again. */
    uint64_t discarded_bad_pieces; /* their piece did not match its hash */
    uint64_t discarded_bad_file;   /* the whole file did not match its hash */
    uint64_t discarded_banned;     /* their depot was banned */
    uint64_t discarded_changed;    /* another program had changed the file */
    uint64_t discarded_restarted;  /* the file was fetched from its beginning
                                      again */
    uint64_t discarded_dropped;    /* they left the memory of a source */
    uint64_t bytes_in_order; /* of bytes_done, those before the first that is
                                missing */
    bool is_servers_digest;  /* `verified` is of a hash that the file's own
                                server named: less than one from elsewhere */
    const char *signed_by;   /* the key that signed it, or the text of the hash
                                that proved it: "OpenPGP key 3F2A...",
                                "minisign key ..."; NULL: not verified (the
                                options keyring and public-key), or not
                                complete */
    const char *not_via;     /* why the file does not go through the mesh of the
                            option `via`: a sentence; NULL: it does, or there is
                            none, or that is not known yet */
    uint64_t bytes_via;      /* of bytes_done: from nodes of the mesh */
};

enum xd_depot_state {
    XD_DEPOT_RESERVE, /* not asked for anything yet, or parked: no thread */
    XD_DEPOT_IDLE,    /* open, nothing for it to do */
    XD_DEPOT_BUSY,
    XD_DEPOT_PAUSED, /* failed a moment ago, will be tried again */
    XD_DEPOT_FAILED  /* given up in this run: see last_error */
};

/* What one depot has done so far. */
struct xd_depot_stats {
    size_t struct_size;
    const char *host; /* "mirror.example" or "127.0.0.1:8080" */
    const char *url;  /* of its first replica; no user name, no query */
    enum xd_depot_state state;
    uint64_t bytes_held;             /* of the file, as the manifest says, or
                            XD_SIZE_UNKNOWN: the whole, of unknown size */
    uint64_t bytes, bytes_redundant; /* redundant ones are not in `bytes` */
    unsigned blocks;                 /* fetches that came to their end */
    unsigned requests, failures;
    double bytes_per_s;         /* over the last few seconds */
    double mean_bytes_per_s;    /* over the time in which it was busy */
    double first_byte_s;        /* least time from request to first byte; < 0:
                                none came yet */
    struct xd_error last_error; /* code XD_OK if there was none */
    double waited_s;   /* for how long its requests have received nothing; 0: it
                          has none */
    bool is_connected; /* to one of them it has a connection */
    unsigned connections;      /* that its requests use now; one of HTTP/2
                                  carries several requests */
    unsigned most_connections; /* the most that they used at a time so far */
    uint64_t bytes_received; /* all that came in, up to 20 ms ago, also what is
                                  not written yet */
    const char *node; /* of a mesh, by the id that the option `via` names; NULL:
                         it is no node */
};

/* Why a request was made. */
enum xd_fetch_reason {
    XD_FETCH_NEXT,  /* nothing had been asked for these bytes yet */
    XD_FETCH_PROBE, /* to learn the size of the file */
    XD_FETCH_AGAIN, /* an earlier request for them failed or was stopped, or
                       what it delivered was discarded */
    XD_FETCH_SPLIT, /* a slower request was to deliver them, and ends before
                       them now */
    XD_FETCH_HEDGE, /* another request is to deliver them as well */
    XD_FETCH_SAMPLE /* to compare them with what another depot delivered */
};

/* One finished fetch, for -v, reports and traces. */
struct xd_fetch_record {
    size_t struct_size;
    unsigned depot;      /* index for xd_download_depot() */
    uint64_t begin, end; /* bytes of the file that were asked for */
    uint64_t received;   /* of them, how many came */
    uint64_t redundant;  /* of those, how many had been here already */
    double start_s;      /* since the start of the download */
    double first_byte_s; /* likewise; < 0: none came */
    double end_s;        /* likewise */
    enum xd_code code;   /* 0, CANCELED when another delivered its bytes, or
                               why it failed */
    enum xd_fetch_reason reason;
    unsigned lane;    /* of those of its depot, from 0 on: each runs one request
                         at a time, over a connection of its own unless that is
                         shared (HTTP/2) */
    double queued_s;  /* since the start of the download: when it was decided */
    double name_s;    /* for how long it waited for the address of its host */
    double connect_s; /* and then for a connection, with TLS; both 0 for one
                         that was open, or where that is not known */
};

/* One of several equal parts of the file, for a bar.  Bytes count from the first
 * that the option `range` leaves. */
struct xd_part {
    size_t struct_size;
    uint64_t begin, end;      /* end is excluded */
    uint64_t bytes_stored;    /* received, and kept so far */
    uint64_t bytes_readable;  /* of these, those that readers may have: held
                                 against the hashes of their pieces, where the
                                 manifest has such */
    uint64_t bytes_requested; /* of the others, those that requests in flight
                                 are to deliver */
};

enum xd_file_state {
    XD_FILE_WAITING,  /* some of it is missing */
    XD_FILE_COMPLETE, /* all of it is proved, and it gets its name */
    XD_FILE_NAMED,    /* it has it, and is on the disk */
    XD_FILE_FAILED,   /* see error */
    XD_FILE_LEFT      /* its size was unknown, and it is longer than 1 MiB, or
                         empty, or perhaps a manifest: it is to be fetched by
                         itself; bytes_total is known of one that is no
                         manifest */
};

/* One file of a download of many. */
struct xd_file_progress {
    size_t struct_size;
    const char *path; /* where it goes, in the folder of all: as its manifest
                         says; lives as long as the download */
    enum xd_file_state state;
    uint64_t bytes_total, bytes_done; /* total: or XD_SIZE_UNKNOWN */
    uint64_t begin;        /* its first byte, counted as records and parts do,
                              which take the files for one */
    struct xd_error error; /* code XD_OK: it has not failed */
    const char *verified; /* the algorithm that proves it, once it has its name;
                              NULL: none does */
    const char *signed_by; /* likewise the key that signed the text of the hash
                              that it was held against; or NULL */
};

XD_BEGIN_DECLS

/*
 * The whole library in one call: fetch the only (or first) file that the
 * manifest at path `manifest` describes to `path` (NULL: the manifest's path
 * for it, in the current folder, as with xd_download_new_in()).  Its copies
 * are found first (xd_copies_find()).
 * Blocks: until the end; a cancel of the options ends it.  Errors: those of
 *         xd_manifest_read(), xd_copies_find() and xd_download_wait().
 */
XD_API XD_MUST_CHECK int xd_fetch(const char *manifest, const char *path,
                                  const struct xd_options *o,
                                  struct xd_error *err);

/*
 * Prepare the download of file number `file` of `m` to `path`.  Touches
 * neither disk nor network, but for reading the file of the option depot-cache.
 * Ownership: takes a reference to `m`, copies `o` (NULL: the defaults) and
 *            `path`; *out has one reference, the caller's, to give back with
 *            unref().
 * Errors: INVAL, NOREPLICA (nothing that can be fetched holds some bytes),
 *         NOMEM.
 */
XD_API XD_MUST_CHECK int xd_download_new(struct xd_download **out,
                                         struct xd_manifest *m, size_t file,
                                         const char *path,
                                         const struct xd_options *o,
                                         struct xd_error *err);

/*
 * The same for a place that the manifest chooses: `path`, which is relative and
 * without "." and ".." (NULL: that of xd_file), in the folder `directory`
 * (NULL: the current one).  start() makes the folders of `path` that are not
 * there, and fails with IO if one of them is a symbolic link; those that it
 * made and that nothing came into are removed again.
 * Ownership: as above.  Errors: also INVAL for such a path.
 */
XD_API XD_MUST_CHECK int xd_download_new_in(struct xd_download **out,
                                            struct xd_manifest *m, size_t file,
                                            const char *directory,
                                            const char *path,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/*
 * Several files of `m` as one download, each to the place that the manifest
 * chooses, in the folder `directory`, as with xd_download_new_in().  They share
 * depots, connections and what is known of them, and come roughly in the order
 * of `files`.  Each gets its name as soon as it is complete, and its hash was
 * right.  One that fails costs the others nothing: xd_download_wait() returns
 * the error of the first of those when all others are there.
 *
 * A file that is there already fails, unless the option force replaces it, or its
 * size is unknown: then it stays, and fails if what comes differs from it.
 *
 * For small files: of one that is not complete when the download ends, or its
 * process is killed, nothing is kept.
 * Ownership: as above.
 * Errors: INVAL (a file that xd_manifest_can_join() refuses, or that has no path;
 * the option range), MANIFEST (they are too long together), NOREPLICA, NOMEM; and
 * of xd_download_start(): IO (their disk has no room for all).
 */
XD_API XD_MUST_CHECK int xd_download_new_set(struct xd_download **out,
                                             struct xd_manifest *m,
                                             const size_t *files, size_t n,
                                             const char *directory,
                                             const struct xd_options *o,
                                             struct xd_error *err);

/*
 * Files that are found while such a download runs join it: before start() say how
 * many may come, at most 1 000 000; add each; and when there are no more, say so.
 * Until then it does not end, and waits where it has nothing to do.
 *
 *     rc = xd_download_expect_files(d, 10000, &err);
 *     rc = xd_download_start(d, &err);
 *     rc = xd_download_add_file(d, m, 7, &err);
 *     xd_download_end_files(d);
 *     rc = xd_download_wait(d, -1, &err);
 *
 * Room that is not used costs no memory worth counting.
 * Errors: INVAL (it is no download of many files, or expects some already; the
 *         number; an algorithm other than adaptive), STATE (it was started),
 *         NOMEM, after which it can only be given back.
 */
XD_API XD_MUST_CHECK int xd_download_expect_files(struct xd_download *d,
                                                  size_t most,
                                                  struct xd_error *err);

/*
 * File number `file` of `m`, of which the same has to be true as of those that
 * such a download is made with, comes behind all others: its number in
 * xd_download_file() is the next.  That something is there already fails the file,
 * not the call.
 * Ownership: takes a reference to `m`, which may be another manifest.
 * Threads:   any.
 * Blocks:    on the disk, for a look at what is there.
 * Errors:    INVAL (the file cannot be one of many, or another one has its path;
 *            more than were expected, or than eight pieces for each of those),
 *            NOREPLICA, STATE (the download has ended, or takes no more), NOMEM
 *            (for want of which the download may have failed, too).
 */
XD_API XD_MUST_CHECK int xd_download_add_file(struct xd_download *d,
                                              struct xd_manifest *m,
                                              size_t file,
                                              struct xd_error *err);

/* No more files come: the download ends when all that there are have their names or
 * have failed.  Said twice it is said once.  Threads: any.  Blocks: no. */
XD_API void xd_download_end_files(struct xd_download *d);

/* Of such a download file number i of `files`, behind which those lie that were
 * added; 0, or INVAL past the last, or if it is no such download.  Blocks: no. */
XD_API int xd_download_file(struct xd_download *d, size_t i,
                            struct xd_file_progress *out);

/*
 * The same, in order, to a descriptor: a pipe, a terminal, a socket.  As much
 * as the option `lookahead` says is fetched ahead of what was written, and held
 * in memory, or in a file without a name in the folder that `spool` names.
 * Bytes of a piece are written when its hash is right.  The last 16 KiB of a
 * file with a hash of the whole are written when that is right; if it is not,
 * the download ends with CORRUPT.
 * Ownership: `fd` stays the caller's and must be open until the last unref(); a
 * reader that goes away ends the download with PIPE and raises no signal.
 * Errors: those of xd_download_new(); INVAL also when `fd` is not open for
 *         writing.
 */
XD_API XD_MUST_CHECK int xd_download_new_fd(struct xd_download **out,
                                            struct xd_manifest *m, size_t file,
                                            int fd, const struct xd_options *o,
                                            struct xd_error *err);

/*
 * Make `path`.part and start the first worker.
 * Blocks: on the disk.  Errors: IO (the file exists, cannot be made, or another
 * download writes to it), NOMEM, STATE (started before).
 */
XD_API XD_MUST_CHECK int xd_download_start(struct xd_download *d,
                                           struct xd_error *err);

/*
 * Wait for the end, at most timeout_ms (-1: for ever, 0: only look).
 * Returns 0 when the file is complete, AGAIN while it is still running, else
 * the code that ended it, the same at every call: NOREPLICA, IO, PIPE,
 * CANCELED, NOMEM, BUG; STATE before start().
 */
XD_API XD_MUST_CHECK int xd_download_wait(struct xd_download *d, int timeout_ms,
                                          struct xd_error *err);

/*
 * Have `function` called when there is something new to look at: the size, a
 * record, a depot in another state, or the end; bytes alone are nothing new.
 * It is called once, and again only after the next xd_download_wait(), which is
 * the look, with a timeout of 0 for a caller that must not wait.  At first it
 * is called at once.
 * Ownership: `user` must live until another function, or NULL for none, was
 * set,
 *            or the download is released: then no call runs any more.
 * Blocks: while the function that was set before runs.
 */
XD_API void xd_download_set_wakeup(struct xd_download *d,
                                   xd_wakeup_fn *function, void *user);

/*
 * A descriptor for poll(), on POSIX: readable when there is something new to
 * look at, until the next xd_download_wait(), and for good at the end.
 * Ownership: the download's: not to be read, written or closed; it lives as
 * long
 *            as the download.
 * Returns the descriptor.  Errors: NOMEM.  Blocks: no.
 */
XD_API XD_MUST_CHECK int xd_download_descriptor(struct xd_download *d,
                                                struct xd_error *err);

/* How far it is.  Blocks: no. */
XD_API void xd_download_progress(struct xd_download *d,
                                 struct xd_progress *out);

/*
 * The i-th depot, in the manifest's order of preference, and of equal ones the
 * one first that did best in earlier runs, then those that were added; 0, or
 * INVAL past the last.  Strings
 * live as long as the download.  Blocks: no.
 */
XD_API int xd_download_depot(struct xd_download *d, size_t i,
                             struct xd_depot_stats *out);

/*
 * The next record of a queue of 4096; false when there is none now.  What
 * overflows is counted in *out_lost (may be NULL), not waited for.
 * Records are kept only if the option `records` is set.  Blocks: no.
 */
XD_API bool xd_download_next_record(struct xd_download *d,
                                    struct xd_fetch_record *out,
                                    uint64_t *out_lost);

/*
 * The requests that are in flight now: the first n, in the order of their
 * depots' threads, as records of which the end is to come: end_s and
 * first_byte_s are negative, `code` is AGAIN, and start_s is queued_s until the
 * thread has taken it.  In an array the struct_size of the first is that of all.
 * Returns how many there are.  With n = 0 `out` may be NULL.  Blocks: no.
 */
XD_API size_t xd_download_requests(struct xd_download *d,
                                   struct xd_fetch_record *out, size_t n);

/*
 * Cut the file into n parts of the same length, but for a byte, and say what is
 * known of each.  In the array the struct_size of the first is that of all.
 * Returns n; less for a file of fewer bytes, and 0 while its size is not known.
 * Blocks: no; its cost grows with n and with how scattered the bytes are.
 */
XD_API size_t xd_download_parts(struct xd_download *d, struct xd_part *out,
                                size_t n);

/*
 * Have it ask for nothing, until resume(): requests end where they are, but for
 * those that a depot could not continue, which are held back.  The time that it
 * is paused counts for none of its options.  Readers get what is here, and wait
 * for the rest.  Paused twice it is paused once; before start() it starts
 * paused.
 * Blocks: no.
 */
XD_API void xd_download_pause(struct xd_download *d);
XD_API void xd_download_resume(struct xd_download *d);

/* Take at most so many bytes per second from now on, from all depots together;
 * 0: no limit.  It replaces the option `limit-rate`.  Blocks: no. */
XD_API void xd_download_limit_rate(struct xd_download *d, uint64_t bytes_per_s);

/*
 * Add a copy of the file, or of a part of it, that was found meanwhile; before
 * start(), while it runs or is paused, until its end.
 *
 *     struct xd_replica r = {.struct_size = sizeof r, .url = url};
 *     rc = xd_download_add_replica(d, &r, NULL, &err);
 *
 * `extent` says by its offset and length which bytes of the file it holds;
 * NULL: all of them.  Of `replica` these count: url; offset, of the first of
 * these bytes in the object; object_size, max_connections and priority, each 0
 * if it is not known.  The depot of the URL is a new one, after all others, or
 * one of those that there are, which can be asked under this URL as well then,
 * and is tried again if it had been given up.  A URL that is in use for these
 * bytes already is not added again, and that is no error.  What it delivers is
 * checked as what others deliver is; that it holds the file is not checked
 * before.
 * Ownership: everything is copied; the manifest stays as it is.
 * Blocks: no.
 * Errors: INVAL (no URL, a scheme that is not fetched or not allowed, a
 * framing, after
 *         start() a file of this machine, a depot that the options exclude, or
 *         bytes that are not in the file or the object; of a file whose size is
 *         not known yet, a part),
 *         CORRUPT (its depot has delivered wrong bytes), STATE (the download
 *         has ended, or is about to), NOMEM (for want of which the download
 *         may have failed, too).
 */
XD_API XD_MUST_CHECK int xd_download_add_replica(
    struct xd_download *d, const struct xd_replica *replica,
    const struct xd_extent *extent, struct xd_error *err);

/* Ask it to stop.  Blocks: no; wait() then returns CANCELED, soon: once what
 * came is on the disk, to go on from there. */
XD_API void xd_download_cancel(struct xd_download *d);

/*
 * A download is counted, and new() gives its caller one reference.  The last
 * unref() cancels it, joins its threads and releases it; `path`.part stays if
 * it is incomplete, and not empty.  ref() returns its argument; unref(NULL)
 * does nothing.
 * Blocks: ref() and an unref() that is not the last: no; the last one less than
 * a second, and until what came is on the disk; with a libcurl older than 7.87,
 * for as long as a name server that does not answer is waited for.
 */
XD_API struct xd_download *xd_download_ref(struct xd_download *d);
XD_API void xd_download_unref(struct xd_download *d);

XD_END_DECLS

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Download one file, or many small files, from all servers that hold copies.
 *
 * The steps are always the same: get a manifest (manifest.h), create
 * a download of one of its files, start it, and wait for its end.
 *
 *     #include <stdio.h>
 *     #include <xdownload/xdownload.h>
 *
 *     int download(const char *url, const char *path)
 *     {
 *         struct xd_progress p;
 *         struct xd_manifest *m;
 *         struct xd_download *d = NULL;
 *         struct xd_error err;
 *         int rc = xd_manifest_open(&m, &url, 1, NULL, &err);
 *
 *         if (rc == 0) {
 *             rc = xd_download_new(&d, m, 0, NULL, path, NULL, &err);
 *             xd_manifest_unref(m); // the download has its own reference
 *         }
 *         if (rc == 0)
 *             rc = xd_download_start(d, &err);
 *         if (rc == 0) {
 *             while ((rc = xd_download_wait(d, 500, &err)) == XD_E_AGAIN) {
 *                 xd_download_progress(d, &p);
 *                 printf("%.1f MB\n", (double)p.bytes_done / 1e6);
 *             }
 *         }
 *         if (rc < 0)
 *             fprintf(stderr, "%s\n", err.msg);
 *         xd_download_unref(d);
 *         return rc;
 *     }
 *
 * While a download runs, the received bytes are in PATH.part, and
 * PATH.part.journal records which bytes these are.  PATH.part is renamed to
 * PATH when the file is complete and matches its hashes, if the manifest has
 * hashes.  If a download fails, is canceled or its process is killed, a later
 * download of the same file to the same path resumes it.
 *
 * The servers that hold copies are called depots.  A depot is identified by its
 * scheme, host and port.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: any thread may call any function here at any time, as long as the
 *          caller holds a reference to the download.
 */
#ifndef XDOWNLOAD_DOWNLOAD_H
#define XDOWNLOAD_DOWNLOAD_H

#include <stdbool.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_download;

/*
 * A callback that tells the program that a download or reader has changed.  It
 * gets the `user` pointer that was given to xd_download_set_wakeup() or
 * xd_reader_set_wakeup().
 * Threads:  called from any thread.  All callbacks of one download or source,
 *           and of its readers, run one at a time.
 * May call: functions that do not block, such as xd_download_cancel() and
 *           xd_download_progress().  It should only wake another thread, for
 *           example by writing to a pipe, and leave all work to that thread.
 *           If it calls xd_download_wait(), xd_reader_read() or
 *           xd_reader_size() for the same download or source, they return
 *           STATE.  Functions that set a wakeup callback or release an object
 *           have no effect in a callback.
 */
typedef void xd_wakeup_fn(void *user);

/* The library fills in the structs below.  Later releases may add fields at
 * their end.  Macros with the same names as the functions set struct_size
 * before each call (see version.h), and the library never writes more than
 * struct_size bytes.  Strings in them live as long as the download. */

/* Progress of a download.  Byte counts refer to the bytes that the option
 * `range` selects; without it, to the whole file, or to all files together. */
struct xd_progress {
    size_t struct_size;
    uint64_t bytes_done; /* bytes written and kept */
    /* XD_SIZE_UNKNOWN until a depot has stated the size */
    uint64_t bytes_total;
    uint64_t bytes_received;  /* all bytes received, duplicates included */
    uint64_t bytes_redundant; /* duplicate bytes: received more than once */
    /* seconds from xd_download_start() until now, or until the end */
    double seconds;
    /* growth of bytes_done per second, averaged over the last 4 s */
    double bytes_per_s;
    unsigned lanes_busy;     /* number of requests in flight */
    unsigned depots_open;    /* number of depots in use */
    unsigned depots_reserve; /* number of depots in state XD_DEPOT_RESERVE */
    unsigned depots_failed;  /* number of depots in state XD_DEPOT_FAILED */
    bool is_paused;          /* true after xd_download_pause() */
    /* The current settings.  A setting that the algorithm does not use is 0. */
    const char *algorithm;
    unsigned redundancy, progress_number, threads_per_depot;
    uint64_t block_bytes;
    /* The hash algorithm with which the complete file was verified, such as
     * "sha-256".  NULL before the download has succeeded, and if no hash was
     * available. */
    const char *verified;
    /* bytes that an earlier, interrupted download fetched; included in
     * bytes_done */
    uint64_t bytes_resumed;
    /* Bytes that were fetched a second time from another depot and were
     * identical.  The library compares depots only if the bytes have no piece
     * hash. */
    uint64_t bytes_compared;
    /* Bytes that were written and then discarded, by reason.  Bytes that are
     * still needed are fetched again. */
    uint64_t discarded_bad_pieces; /* a piece did not match its hash */
    uint64_t discarded_bad_file;   /* the file did not match its hash */
    uint64_t discarded_banned;     /* the depot that sent them was banned */
    uint64_t discarded_changed;    /* another program changed PATH.part */
    uint64_t discarded_restarted;  /* the download started from the beginning */
    uint64_t discarded_dropped;    /* a source no longer kept them in memory */
    uint64_t bytes_in_order;       /* bytes before the first missing byte */
    /* True if the hash in `verified` came from the server of the file itself.
     * Such a hash detects damage but not a malicious server. */
    bool is_servers_digest;
    /* The key that signed the file, or the checksum file with its hash, such as
     * "OpenPGP key 3F2A..." or "minisign key ...".  NULL before the download
     * has succeeded, and if no signature was verified (options keyring and
     * public-key). */
    const char *signed_by;
    /* One sentence that says why the mesh of the option `via` is not used.
     * NULL if the mesh is used, if the option is not set, or if it is not known
     * yet whether the mesh is used. */
    const char *not_via;
    /* bytes that came from mesh nodes; included in bytes_done */
    uint64_t bytes_via;
};

enum xd_depot_state {
    XD_DEPOT_RESERVE, /* not used yet, or set aside for better depots */
    XD_DEPOT_IDLE,    /* in use, without a request at the moment */
    XD_DEPOT_BUSY,    /* at least one request is in flight */
    XD_DEPOT_PAUSED,  /* failed a moment ago; a retry follows */
    /* given up for the rest of the download: see last_error */
    XD_DEPOT_FAILED
};

/* Statistics of one depot. */
struct xd_depot_stats {
    size_t struct_size;
    const char *host; /* "mirror.example" or "127.0.0.1:8080" */
    /* URL of the depot's first replica, without user name, password and
     * query */
    const char *url;
    enum xd_depot_state state;
    /* Number of bytes of the file that the depot holds according to the
     * manifest.  XD_SIZE_UNKNOWN: all bytes of a file of unknown size. */
    uint64_t bytes_held;
    /* bytes from the depot that were kept, and duplicate bytes, which are not
     * included in `bytes` */
    uint64_t bytes, bytes_redundant;
    unsigned blocks; /* number of requests that succeeded */
    unsigned requests, failures;
    double bytes_per_s; /* bytes per second, averaged over the last 4 s */
    /* bytes per second, averaged over the time with requests in flight */
    double mean_bytes_per_s;
    /* Shortest time from a request to its first byte, in seconds; negative if
     * no byte was received yet. */
    double first_byte_s;
    struct xd_error last_error; /* code XD_OK if nothing has failed */
    /* Seconds since a request in flight last received a byte; 0 if no request
     * is in flight. */
    double waited_s;
    bool is_connected; /* at least one request in flight has a connection */
    /* Number of connections in use now, and the largest number so far.  Several
     * requests can share one HTTP/2 connection. */
    unsigned connections;
    unsigned most_connections;
    /* Number of bytes received, including bytes that are not written yet.  The
     * number may be up to 20 ms old. */
    uint64_t bytes_received;
    /* ID of the mesh node (option `via`), or NULL if the depot is not a
     * node. */
    const char *node;
};

/* State of one file of xd_download_new_set(). */
enum xd_file_state {
    XD_FILE_WAITING, /* some of its bytes are missing */
    /* all bytes are verified; the file is about to be renamed */
    XD_FILE_COMPLETE,
    XD_FILE_DONE,   /* complete, under its final name */
    XD_FILE_FAILED, /* see `error` */
    /* The program has to download this file separately, with
     * xd_download_new(), for one of these reasons:
     * - Its size was unknown, and it turned out to be empty, longer than 1 MiB
     *   or possibly a manifest.  bytes_total is its size if it is longer than 1
     *   MiB and not a manifest.  Otherwise bytes_total is XD_SIZE_UNKNOWN.
     * - An earlier download left an incomplete file with another hash. */
    XD_FILE_SEPARATE
};

/* Progress of one file of xd_download_new_set(). */
struct xd_file_progress {
    size_t struct_size;
    /* path within the directory of the download, from the manifest */
    const char *path;
    enum xd_file_state state;
    uint64_t bytes_total, bytes_done; /* bytes_total may be XD_SIZE_UNKNOWN */
    /* Offset of its first byte, if the bytes of all files are numbered
     * consecutively. */
    uint64_t begin;
    struct xd_error error; /* code XD_OK if it has not failed */
    /* Once the state is XD_FILE_DONE: the hash algorithm with which the file
     * was verified, or NULL if no hash was available. */
    const char *verified;
    /* key that signed the checksum file with this hash, or NULL */
    const char *signed_by;
};

XD_BEGIN_DECLS

/*
 * Downloads a file, or the first file of a manifest, to a local file, in one
 * call.
 *
 * - `source` is a URL, such as https://example.org/disk.iso, which leads to the
 *   file or to a manifest.  It may also be the path of a manifest on this
 *   machine; "-" is standard input.
 * - `path` is the local file.  NULL means the name in the URL, or the path that
 *   the manifest gives the file, within the current directory: see
 *   xd_download_new().
 * - `o` may be NULL for the defaults.
 *
 * Blocks: until the download has ended.  xd_cancel_trigger() ends the call
 *         early.
 * Errors: the errors of xd_manifest_open(), xd_download_new(),
 *         xd_download_start() and xd_download_wait().
 */
XD_API XD_MUST_CHECK int xd_fetch(const char *source, const char *path,
                                  const struct xd_options *o,
                                  struct xd_error *err);

/*
 * Creates a download of file number `file` of `m` to a local file.  Nothing is
 * requested or written before xd_download_start(), but this call reads the
 * files of the options depot-cache and via.
 *
 * If `directory` is NULL, `path` is used as it is.
 *
 * If `directory` is not NULL, the file is within it, even if `path` comes from
 * an untrusted manifest.  "." is the current directory:
 * - `path` must be relative, without "." and ".." components.  NULL means the
 *   path in struct xd_file.
 * - xd_download_start() creates missing directories of `path`.  It fails with
 *   IO if one of them is a symbolic link.
 * - The download removes the directories that it created if they stay empty.
 *
 * Ownership: *out has one reference, which the caller releases with
 *            xd_download_unref().  The download takes a reference to `m`, and
 *            copies `directory`, `path` and `o` (NULL: the defaults).
 * Errors:
 * - INVAL: there is no such file, or options contradict each other or do not
 *   fit this kind of download.
 * - INVAL: `path` is NULL or breaks the rules above, or the manifest gives the
 *   file no usable path.
 * - NOREPLICA: the depots that the options allow do not hold all bytes of the
 *   file.
 * - CORRUPT: the option keyring or public-key is set, and the file has neither
 *   a signature by one of these keys nor a checksum from a signed checksum
 *   file.
 * - IO, MANIFEST: the file of the option `via` cannot be read or understood.
 * - IO: the limit on open files of the process is too low.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_download_new(struct xd_download **out,
                                         struct xd_manifest *m, size_t file,
                                         const char *directory,
                                         const char *path,
                                         const struct xd_options *o,
                                         struct xd_error *err);

/*
 * Creates one download of many small files: the `n` files of `m` whose numbers
 * are in `files`.  Each file goes to the path that the manifest gives it,
 * within `directory`, as for xd_download_new(); NULL is the current directory.
 *
 * The files share depots and connections, and arrive roughly in the given
 * order.  Each file is renamed as soon as it is complete and its hash matches.
 * If a file fails, all other files continue.  At the end, xd_download_wait()
 * returns the error of the first failed file, in the given order, or 0.  Even
 * if it returns 0, there may be files with the state XD_FILE_SEPARATE.
 *
 * - If a file exists already, its download fails, unless the option `force` is
 *   set.
 * - But if the size of an existing file is not in the manifest, it is compared
 *   with the bytes that arrive.  The existing file is not changed, and the
 *   download of this file fails if the bytes differ.
 * - A later download resumes only files that have a hash and are longer than 4
 *   MiB.
 *
 * `n_more` is the largest number of files that xd_download_add_file() will add
 * later, at most 1 000 000.  If it is not 0, the download does not end before
 * xd_download_end_files():
 *
 *     rc = xd_download_new_set(&d, m, &first, 1, 10000, folder, o, &err);
 *     rc = xd_download_start(d, &err);
 *     rc = xd_download_add_file(d, m, 7, &err);
 *     xd_download_end_files(d);
 *     rc = xd_download_wait(d, -1, &err);
 *
 * Ownership: as for xd_download_new(); `files` and `directory` are copied.
 * Errors: the errors of xd_download_new(), and:
 * - INVAL: xd_file.can_join is false for a file; a file has no path; `n` is 0;
 *   the option `range` is set; or the option keyring or public-key is set, and
 *   a file has no hash from a signed checksum file.
 * - INVAL: `n_more` is out of range, or it is not 0 and the option algorithm is
 *   not adaptive.
 * - MANIFEST: the total size of the files is too large.
 * - IO, from xd_download_start(): the disk is too small for all files, or the
 *   file system cannot store their names.
 */
XD_API XD_MUST_CHECK int xd_download_new_set(
    struct xd_download **out, struct xd_manifest *m, const size_t *files,
    size_t n, size_t n_more, const char *directory, const struct xd_options *o,
    struct xd_error *err);

/*
 * Adds file number `file` of `m`, which may be any manifest, after all other
 * files.  Its number for xd_download_file_progress() is the next free one.  The
 * file must fulfil the conditions of xd_download_new_set().  If a file with its
 * path exists already, the call succeeds, but this file gets the state
 * XD_FILE_FAILED.
 *
 * Ownership: takes a reference to `m`.
 * Threads:   any; calls from several threads wait for each other.
 * Blocks:    on disk I/O, to find out whether the path exists.
 * Errors:
 * - INVAL: xd_file.can_join is false for the file, or another file has the
 *   same path.
 * - INVAL: more files are added than were announced, or the files have more
 *   than eight pieces with hashes per announced file.
 * - NOREPLICA: no depot that the options allow holds the file.
 * - STATE: the download has ended, or xd_download_end_files() was called.
 * - NOMEM: the download itself may have failed, too.
 */
XD_API XD_MUST_CHECK int xd_download_add_file(struct xd_download *d,
                                              struct xd_manifest *m,
                                              size_t file,
                                              struct xd_error *err);

/*
 * Tells the download that no more files will be added.  The download ends when
 * every file is complete or has failed.  Calling it again has no effect.
 * Blocks: no.
 */
XD_API void xd_download_end_files(struct xd_download *d);

/*
 * Reports the progress of file `i` of a download of many files.  The files of
 * xd_download_new_set() come first, in the given order, then the files that
 * were added.
 * Returns: 0; INVAL if `i` is out of range, or if `d` is not a download of many
 *          files.
 * Blocks:  no.
 */
XD_API int xd_download_file_progress(struct xd_download *d, size_t i,
                                     struct xd_file_progress *out);

/*
 * Creates PATH.part and starts the threads of the download.  If it fails with
 * another error than STATE, the download has ended, and xd_download_wait()
 * returns the same error.
 * Blocks: on disk I/O.
 * Errors:
 * - IO: PATH exists and the option `force` is not set; PATH.part cannot be
 *   created; or another download is writing to it.
 * - STATE: the download was started or canceled before.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_download_start(struct xd_download *d,
                                           struct xd_error *err);

/*
 * Waits for the end of the download, at most `timeout_ms` milliseconds (-1:
 * without limit; 0: return at once).
 *
 * Returns: 0 when the file is complete, AGAIN while the download is running, or
 *          the code that ended it.  After the end, every call returns the same
 *          code.
 * Errors:
 * - NOREPLICA: all depots that hold some bytes have failed.
 * - CORRUPT: the bytes do not match their hash or signature, or depots deliver
 *   different bytes.
 * - IO: a local file could not be read or written, the disk is too small, or
 *   PATH.part exists but does not belong to this file.
 * - CANCELED: xd_download_cancel() or xd_cancel_trigger() was called.
 * - TIMEOUT: the time of the option max-time has passed.
 * - INVAL: the options do not fit the size of the file, for example `range`.
 * - STATE: the download was not started, or its wakeup callback made this call.
 * - NOMEM, BUG.
 *
 * Treat every other negative code except AGAIN like these: the download has
 * ended.
 */
XD_API XD_MUST_CHECK int xd_download_wait(struct xd_download *d, int timeout_ms,
                                          struct xd_error *err);

/*
 * Sets a callback for programs with an event loop.  `function` is called after
 * these events:
 * - The download has ended.
 * - The size of the file has become known.
 * - A file of xd_download_new_set() has reached the state XD_FILE_DONE,
 *   XD_FILE_FAILED or XD_FILE_SEPARATE.
 * - A file or a replica was added.
 * - A depot was opened, was set aside, or has failed.
 * It is not called just because bytes have arrived: ask for the progress at
 * intervals.
 *
 * If something has changed since the last xd_download_wait(), or if
 * xd_download_wait() was never called, xd_download_set_wakeup() calls
 * `function` on the calling thread before it returns.  After that, `function`
 * is called at most once between two calls of xd_download_wait().  Call
 * xd_download_wait() with a timeout of 0 if it must not wait.
 *
 * Ownership: `user` must stay valid until another function, or NULL, is set, or
 *            the download is released.  After that, `function` is no longer
 *            running.
 * Blocks:    while a call of the previous function is running.
 */
XD_API void xd_download_set_wakeup(struct xd_download *d,
                                   xd_wakeup_fn *function, void *user);

/*
 * Returns a descriptor for poll(), on POSIX systems.  It becomes readable when
 * something has changed (see xd_download_set_wakeup()), and stays readable
 * until the next xd_download_wait().  After the end of the download it is
 * always readable.  It may be requested before xd_download_start().
 * Ownership: the download owns it.  Do not read, write or close it.  It lives
 *            as long as the download.
 * Returns:   the descriptor, or a negative error code.
 * Errors:    NOMEM.
 * Blocks:    no.
 */
XD_API XD_MUST_CHECK int xd_download_descriptor(struct xd_download *d,
                                                struct xd_error *err);

/* Reports the progress of the download.  Blocks: no. */
XD_API void xd_download_progress(struct xd_download *d,
                                 struct xd_progress *out);

/*
 * Reports the statistics of depot `i`.  Depots are numbered from 0 in this
 * order:
 * - first by the countries of the option location, then by their priority in
 *   the manifest;
 * - among equals, by their performance in earlier downloads (option
 *   depot-cache);
 * - depots that were added later come last.
 *
 * Returns: 0, or INVAL if `i` is out of range.
 * Blocks:  no.
 */
XD_API int xd_download_depot(struct xd_download *d, size_t i,
                             struct xd_depot_stats *out);

/*
 * Stops all transfers if `pauses` is true, and continues them if it is false.
 *
 * - Requests in flight are stopped.  A request that could not be resumed at its
 *   depot is suspended instead.
 * - Time in the pause does not count for options such as max-time.
 * - Readers of a source can read the bytes that have arrived, but wait for all
 *   other bytes.
 * - If it is called before xd_download_start(), the download starts paused.
 * - Pauses are not counted: one call with false ends the pause.
 *
 * Blocks: no.
 */
XD_API void xd_download_pause(struct xd_download *d, bool pauses);

/*
 * Limits the total rate of all depots to `bytes_per_s` bytes per second from
 * now on; 0 means no limit.  This replaces the option limit-rate.
 * Blocks: no.
 */
XD_API void xd_download_limit_rate(struct xd_download *d, uint64_t bytes_per_s);

/*
 * Adds a copy of the file, or of a part of it, that is not in the manifest.  It
 * may be called at any time before the end of the download.
 *
 *     struct xd_replica r = {XD_SIZED(struct xd_replica), .url = url};
 *     rc = xd_download_add_replica(d, &r, NULL, &err);
 *
 * - `extent`: its offset and length say which bytes of the file the copy holds.
 *   NULL: the whole file.  Use XD_SIZED for it, too.
 * - `replica`: url is required.  The call also uses the fields offset (position
 *   of these bytes in the object), object_size, max_connections and priority.
 *   0 in the last three means that the value is not known.
 *
 * The new copy is not checked in advance.  Its bytes are verified like all
 * other bytes.  If its depot is in use already, the URL becomes one more URL of
 * that depot, and the depot is tried again if it was given up.  Otherwise the
 * depot is added with the next number.  Adding a URL that is in use for these
 * bytes has no effect and succeeds.
 *
 * Ownership: everything is copied.  The manifest does not change.
 * Blocks:    no.
 * Errors:
 * - INVAL: there is no URL, or its scheme is not supported.
 * - INVAL: the options do not allow the URL.
 * - INVAL: it is a file: URL, and the download was started.
 * - INVAL: replica->framing is not NULL.
 * - INVAL: the bytes are outside of the file or of the object.
 * - INVAL: the copy is a part of the file, and the size of the file is unknown.
 * - CORRUPT: the depot has delivered wrong bytes and is banned.
 * - STATE: the download has ended, or is about to end.
 * - NOMEM: the download itself may have failed, too.
 */
XD_API XD_MUST_CHECK int xd_download_add_replica(
    struct xd_download *d, const struct xd_replica *replica,
    const struct xd_extent *extent, struct xd_error *err);

/*
 * Asks the download to stop.  xd_download_wait() then returns CANCELED, as soon
 * as the bytes received are on the disk, so that a later download can resume.
 * It returns 0 if the file was complete already.  Do not call this function in
 * a signal handler; see xd_cancel_trigger().
 * Blocks: no.
 */
XD_API void xd_download_cancel(struct xd_download *d);

/*
 * xd_download_ref() takes another reference to a download and returns its
 * argument.  xd_download_unref() releases a reference; NULL does nothing.  The
 * last xd_download_unref() cancels the download, joins its threads and frees
 * it.  PATH.part is kept if it is incomplete and not empty.
 *
 * Blocks: only in the last xd_download_unref(), for less than a second, and
 *         until the bytes received are on disk.  With libcurl before 7.87, it
 *         also waits for name servers that do not answer.
 */
XD_API struct xd_download *xd_download_ref(struct xd_download *d);
XD_API void xd_download_unref(struct xd_download *d);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_file_progress)
XD_FILLS(xd_progress)
XD_FILLS(xd_depot_stats)
#define xd_download_file_progress(d, i, out) \
    xd_download_file_progress(d, i, xd_file_progress_sized(out))
#define xd_download_progress(d, out) \
    xd_download_progress(d, xd_progress_sized(out))
#define xd_download_depot(d, i, out) \
    xd_download_depot(d, i, xd_depot_stats_sized(out))
#endif

XD_END_DECLS

#endif

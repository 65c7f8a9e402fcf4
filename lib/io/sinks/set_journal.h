/* SPDX-License-Identifier: MIT */
/*
 * The journal of one file in a set.
 */
#ifndef XD_IO_SET_JOURNAL_H
#define XD_IO_SET_JOURNAL_H

#include "base/range.h"
#include "io/sinks/sink.h"

struct xd_journal;
struct xd_set_place;

enum xd_set_opening {
    /* first time in this run; data of an earlier run may be used */
    XD_SET_FIRST,
    /* first time in this run; data of an earlier run is ignored */
    XD_SET_FRESH,
    XD_SET_AGAIN /* this run had the file open before */
};

/*
 * Opens the journal beside `sink`, which is the .part of `p`.  *out_held gets
 * the bytes that an earlier run has left, if its hash matches.  If there are
 * none, the .part is emptied.
 * Ownership: *out and *out_held are the caller's.
 * Errors: IO (also if the .part belongs to another file), NOMEM.
 */
int xd_set_journal_open(struct xd_journal **out, struct xd_rangeset *out_held,
                        const struct xd_set_place *p, struct xd_sink *sink,
                        enum xd_set_opening how, struct xd_error *err);

/* Syncs everything that the journal says was written to `sink`, and records
 * that.  Errors: IO. */
int xd_set_journal_sync(struct xd_journal *j, struct xd_sink *sink,
                        struct xd_error *err);

/* Deletes the journal, which must not be open. */
void xd_set_journal_remove(const struct xd_sink *sink);

/* Records that the complete file in `sink` does not match `hash`
 * ("sha-256:HEX\n").  Errors: IO, NOMEM. */
int xd_set_journal_note_failure(const struct xd_set_place *p,
                                struct xd_sink *sink, const char *hash,
                                struct xd_error *err);

#endif

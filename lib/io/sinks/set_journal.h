/* SPDX-License-Identifier: MIT */
/*
 * The journal of one file of a set.
 */
#ifndef XD_IO_SET_JOURNAL_H
#define XD_IO_SET_JOURNAL_H

#include "base/range.h"
#include "io/sinks/sink.h"

struct xd_journal;
struct xd_set_place;

enum xd_set_opening {
    XD_SET_FIRST, /* by this run: what an earlier one has left may count */
    XD_SET_FRESH, /* likewise, and it does not */
    XD_SET_AGAIN  /* by this run, which has closed it */
};

/*
 * The journal beside the .part of `p`, which is `sink`.  Its hash has to prove
 * what an earlier run left, *out_held; if that is nothing, .part is empty then.
 * Ownership: both are the caller's.  Errors: IO (the .part is not of that file,
 * too), NOMEM.
 */
int xd_set_journal_open(struct xd_journal **out, struct xd_rangeset *out_held,
                        const struct xd_set_place *p, struct xd_sink *sink,
                        enum xd_set_opening how, struct xd_error *err);

/* All that it says was written to `sink` is on the disk then, and it says so.
 * Errors: IO. */
int xd_set_journal_sync(struct xd_journal *j, struct xd_sink *sink,
                        struct xd_error *err);

/* Take it away.  It is not open. */
void xd_set_journal_remove(const struct xd_sink *sink);

#endif

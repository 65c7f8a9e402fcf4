/* SPDX-License-Identifier: MIT */
/*
 * Whether what an earlier run left is of the file that is wanted now.
 */
#ifndef XD_IO_JOURNAL_MATCH_H
#define XD_IO_JOURNAL_MATCH_H

#include "io/journal/journal_text.h"

#include <xdownload/error.h>

/* Of a file below this there is no journal: it is fetched again as fast as one is
 * read. */
#define XD_JOURNAL_LEAST ((uint64_t)1 << 20)

/* Of a file of a set there is none up to this: many of them have their names
 * before a record would be of use. */
#define XD_JOURNAL_LEAST_OF_SET ((uint64_t)4 << 20)

/* Whether the journal at `path`, which says `contents`, is of that file; `part`
 * is what it lies beside.  Errors: IO (it is of another one). */
int xd_journal_match(const struct xd_journal_contents *contents,
                     const struct xd_journal_identity *identity,
                     const char *part, const char *path, struct xd_error *err);

/* `part` has so many bytes, and no journal: it may be anybody's, for browsers
 * call unfinished files so too.  Returns IO. */
int xd_journal_fail_unknown(const char *part, uint64_t found,
                            struct xd_error *err);

#endif

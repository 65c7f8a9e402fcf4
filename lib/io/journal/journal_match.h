/* SPDX-License-Identifier: MIT */
/*
 * Checks that the data of an earlier run belongs to the wanted file.
 */
#ifndef XD_IO_JOURNAL_MATCH_H
#define XD_IO_JOURNAL_MATCH_H

#include "io/journal/journal_text.h"

#include <xdownload/error.h>

/* Smaller files have no journal; fetching them again is as fast. */
#define XD_JOURNAL_LEAST ((uint64_t)1 << 20)

/* Smaller files of a set have no journal: many are finished before it would
 * help. */
#define XD_JOURNAL_LEAST_OF_SET ((uint64_t)4 << 20)

/* Checks that the journal at `path` with these `contents` has the name, size
 * and range of the file; `part` is the file beside it.  Errors: IO if it
 * belongs to another file. */
int xd_journal_match(const struct xd_journal_contents *contents,
                     const struct xd_journal_identity *identity,
                     const char *part, const char *path, struct xd_error *err);

/* Checks the hash of the file, which may have been mistyped in one of the runs.
 * Errors: IO. */
int xd_journal_match_hash(const struct xd_journal_contents *contents,
                          const struct xd_journal_identity *identity,
                          const char *part, const char *path,
                          struct xd_error *err);

/* Returns IO because `part`, with `found` bytes, has no journal.  It may belong
 * to anybody: browsers use .part too. */
int xd_journal_fail_unknown(const char *part, uint64_t found,
                            struct xd_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Parses and formats journals.  Pure.  A journal is not trusted: ranges outside
 * the file are ignored.
 *
 * README.md in this folder describes the bytes.
 */
#ifndef XD_IO_JOURNAL_TEXT_H
#define XD_IO_JOURNAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "base/text.h"
#include "io/journal/journal_record.h"

/* The state after reading the records. */
struct xd_journal_contents {
    bool has_header;
    char name[300];
    uint64_t size;
    struct xd_range wanted;
    struct xd_text hashes; /* as in struct xd_journal_identity */
    struct xd_text depots; /* lines "URL validator\n" */
    /* hashes that the complete file did not match, as in struct
     * xd_journal_identity */
    struct xd_text failed;

    char boot_id[40]; /* boot ID of the last session */
    struct xd_rangeset synced;
    struct xd_written *written; /* records that may not have been synced */
    size_t n_written, capacity;
    size_t n_dropped;
    uint64_t length; /* length of the valid records */
};

/* A WRITTEN record and its position in the journal. */
struct xd_written {
    struct xd_range range;
    uint64_t at;
};

/* Frees the contents.  A zeroed struct is an empty journal. */
void xd_journal_contents_fini(struct xd_journal_contents *s);

/*
 * Parses the complete records at the start of `data`.  Returns their length.
 * The rest is an incomplete record, or an invalid one if *out_is_bad is true.
 * Errors: NOMEM.
 */
int64_t xd_journal_take(struct xd_journal_contents *s,
                        const unsigned char *data, size_t len,
                        bool *out_is_bad);

/* Returns the bytes that can be trusted on a machine with this boot ID, limited
 * to the first `limit` bytes of the .part.  Initializes `out`.
 * Errors: NOMEM. */
int xd_journal_believed(const struct xd_journal_contents *s,
                        const char *boot_id, uint64_t limit,
                        struct xd_rangeset *out);

/* Writes a minimal journal with the same state to the empty text `out`.
 * Errors: NOMEM. */
int xd_journal_format(const struct xd_journal_contents *s, struct xd_text *out);

/* Returns whether `data`, the start of a file, may be a journal that was
 * truncated or did not reach the disk completely. */
bool xd_journal_is_ours(const unsigned char *data, size_t len);

/* Compares two lists of hashes: 1 if they have an equal hash, -1 if they
 * contradict each other, 0 if they have no algorithm in common. */
int xd_journal_compare_hashes(const char *a, const char *b);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a journal says: records in, and what they come to out.  Pure.  A journal
 * is as hostile as a manifest: nothing in it is believed that does not stand
 * within the file it is about.
 *
 * The bytes themselves are described in lib/README.md.
 */
#ifndef XD_IO_JOURNAL_TEXT_H
#define XD_IO_JOURNAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "base/text.h"
#include "io/journal/journal_record.h"

/* What the records up to here come to. */
struct xd_journal_contents {
    bool has_header;
    char name[300];
    uint64_t size;
    struct xd_range wanted;
    struct xd_text hashes; /* as in the identity */
    struct xd_text depots; /* "URL validator\n" each */
    struct xd_text failed; /* hashes that the file did not match when it was
                              last complete; as in the identity */

    char boot_id[40]; /* of the last session */
    struct xd_rangeset synced;
    struct xd_written *written; /* not known to be on the disk */
    size_t n_written, capacity;
    size_t n_dropped;
    uint64_t length; /* of the records that were good */
};

/* One WRITTEN record, and where in the journal it stands. */
struct xd_written {
    struct xd_range range;
    uint64_t at;
};

/* A zeroed struct is an empty journal's. */
void xd_journal_contents_fini(struct xd_journal_contents *s);

/*
 * Take the records that `data` begins with.  Returns how many bytes they were;
 * what follows is the beginning of a record, or none: then `*out_is_bad`.
 * Errors: NOMEM.
 */
int64_t xd_journal_take(struct xd_journal_contents *s,
                        const unsigned char *data, size_t len,
                        bool *out_is_bad);

/* The bytes that may be believed on a machine with this boot id, as far as they
 * lie in the first `limit` bytes of the .part; `out` is initialised here.
 * Errors: NOMEM. */
int xd_journal_believed(const struct xd_journal_contents *s,
                        const char *boot_id, uint64_t limit,
                        struct xd_rangeset *out);

/* A journal that says what `s` says, and no more than it must; `out` is empty.
 * Errors: NOMEM. */
int xd_journal_format(const struct xd_journal_contents *s, struct xd_text *out);

/* Whether `data`, the beginning of a file, may be that of a journal that was
 * cut off or never reached the disk. */
bool xd_journal_is_ours(const unsigned char *data, size_t len);

/* How two lists of hashes compare: 1 one is in both, -1 they contradict each
 * other, 0 they have no algorithm in common. */
int xd_journal_compare_hashes(const char *a, const char *b);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Whether a file that is there is the one that a manifest describes, and what
 * of it is wrong.
 */
#ifndef XDOWNLOAD_CHECK_H
#define XDOWNLOAD_CHECK_H

#include <stdbool.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_check;

struct xd_checked {
    size_t struct_size;    /* set by the caller */
    uint64_t size;         /* of the file that is there */
    bool is_right;         /* it is as the manifest says, as far as that goes:
                              if there is no hash, its size */
    const char *algorithm; /* of the hashes that were compared, or NULL */
    size_t n_wrong;        /* runs of bytes that are wrong or missing */
    /* The hash of the whole file as the manifest has it, and as it is, by
     * `algorithm`, where these differ; else NULL.  They live as long as the
     * check. */
    const char *expected_hash, *actual_hash;
};

XD_BEGIN_DECLS

/*
 * Read the file at `path` and hold it against file number `file` of `m`: piece
 * by piece where the manifest has hashes of pieces, and as a whole where it has
 * a stronger one.
 * Ownership: takes a reference to `m`, copies `path`; *out is the caller's, to
 *            release with xd_check_free().
 * Blocks:    until all of the file is read.
 * Errors:    IO, INVAL (no such file in the manifest), NOMEM.  That the file
 *            is wrong is none.
 */
XD_API XD_MUST_CHECK int xd_check_new(struct xd_check **out,
                                      struct xd_manifest *m, size_t file,
                                      const char *path, struct xd_error *err);

/* What was found.  Blocks: no. */
XD_API void xd_check_get(const struct xd_check *c, struct xd_checked *out);

/* The i-th run of wrong bytes: from *out_begin on, before *out_end; 0, or INVAL
 * past the last. */
XD_API int xd_check_wrong(const struct xd_check *c, size_t i,
                          uint64_t *out_begin, uint64_t *out_end);

/*
 * Compare samples of the file with what the depots have, where no hash decides
 * which of its bytes are right: 64 KiB at both ends and at places between them,
 * at least 8 and one for each 64 MiB, and holes; all of a file below 1 MiB.  If
 * they agree, all of it counts as right, but for what it lacks of its size, or
 * has more.  If they differ, all of it counts as wrong.  Where hashes of pieces
 * have stated, or a hash of the whole of a file of the right size, nothing is
 * compared.
 *
 * *out_n (may be NULL) is how many samples agree.
 * Threads: one at a time.
 * Blocks:  until enough depots have answered; a cancel of the options ends it.
 * Errors:  CORRUPT (they differ: where, and from which depot); NET, NOREPLICA
 *          and others (no depot could show all samples); STATE (the manifest
 *          does not say how long the file is); CANCELED, IO, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_compare(struct xd_check *c,
                                          const struct xd_options *o,
                                          size_t *out_n, struct xd_error *err);

/*
 * Hold all of the file against its signature, if the options keyring or
 * public-key ask for that (see signature.h); 0 where they do not, or where a hash
 * of it is from a signed text.
 * Threads: one at a time.  Blocks: while it is read.
 * Errors:  CORRUPT (the signature does not hold, or it has none), INVAL (the
 *          option range), IO (also: gpgv is not installed), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_signature(const struct xd_check *c,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/*
 * Make the file an unfinished one: it becomes `path`.part, and its journal says
 * which of its bytes are right, so that a download to `path` fetches only the
 * others.
 * Errors: IO (there is an unfinished file already), STATE (the manifest does
 *         not say how long the file is), NOMEM.  Then the file is as before.
 */
XD_API XD_MUST_CHECK int xd_check_reopen(struct xd_check *c,
                                         struct xd_error *err);

XD_API void xd_check_free(struct xd_check *c); /* NULL: nothing */

XD_END_DECLS

#endif

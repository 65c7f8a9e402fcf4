/* SPDX-License-Identifier: MIT */
/*
 * Converts an existing file, or a copy of its right bytes, to an unfinished
 * one: NAME.part with its journal.
 */
#include <xdownload/check.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/number.h"
#include "command/checks.h"
#include "engine/api/check.h"
#include "engine/options.h"
#include "engine/resume.h"
#include "engine/trust/proof.h"
#include "io/journal/journal.h"
#include "io/journal/journal_match.h"
#include "io/part.h"
#include "io/sinks/sink.h"
#include "os/file.h"

#define BUFFER_BYTES ((size_t)256 * 1024)

/* Number of copied bytes after which they are added to the journal.  An
 * interruption loses at most this many. */
#define NOTED_BYTES ((uint64_t)16 << 20)

/* Describes the unfinished file for its journal.  `hashes` must be empty; the
 * caller releases it. */
static int identify(const struct xd_check *c, struct xd_text *hashes,
                    struct xd_journal_identity *out, struct xd_error *err)
{
    int rc =
        xd_resume_identify(c->manifest, c->file, c->path, hashes, out, err);

    out->size = c->expected;
    out->wanted = (struct xd_range){0, c->expected};
    return rc;
}

/* Returns the first run of right bytes in `rest`. */
static struct xd_range next_right(const struct xd_check *c,
                                  struct xd_range rest)
{
    return xd_rangeset_next_gap(&c->wrong, rest);
}

/* ---- conversion of the file itself ---- */

/* Adds the right bytes to the journal.  They are already on the disk. */
static int note_right(const struct xd_check *c, struct xd_journal *j,
                      struct xd_error *err)
{
    struct xd_range rest = {0, c->expected};
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(rest)) {
        struct xd_range right = next_right(c, rest);

        if (!xd_range_is_empty(right))
            rc = xd_journal_written(j, right, err);
        rest.begin = right.end;
    }
    return rc < 0 ? rc : xd_journal_synced(j, xd_journal_mark(j), err);
}

static int write_journal(const struct xd_check *c, int folder, const char *path,
                         struct xd_error *err)
{
    struct xd_journal_identity identity;
    struct xd_journal_contents contents;
    struct xd_journal *journal;
    struct xd_text hashes = {0};
    char boot_id[XD_BOOT_ID_SIZE];
    int rc;

    xd_boot_id(boot_id);
    rc = identify(c, &hashes, &identity, err);
    if (rc == 0)
        rc = xd_journal_open(&journal, &contents, folder, path, err);
    if (rc == 0) {
        rc = xd_journal_restart(journal, &identity, boot_id, err);
        if (rc == 0)
            rc = note_right(c, journal, err);
        xd_journal_contents_fini(&contents);
        xd_journal_free(journal);
    }
    xd_text_fini(&hashes);
    return rc;
}

/* Turns the file into NAME.part.  The journal is written first, because it has
 * no effect without a .part file. */
static int reopen_as(const struct xd_check *c, int folder, const char *part,
                     const char *journal, struct xd_error *err)
{
    uint64_t size;
    int rc, fd;

    if (xd_file_exists(folder, part) || xd_file_exists(folder, journal))
        return xd_fail(
            err, XD_E_IO,
            "%s: this would replace an unfinished download: remove it "
            "first",
            part);
    rc = xd_file_own(&fd, &size, folder, c->path, err);
    if (rc < 0)
        return rc;
    rc = xd_file_sync(fd, c->path, err);
    if (rc == 0)
        rc = write_journal(c, folder, journal, err);
    if (rc == 0)
        rc = xd_file_rename(folder, c->path, part, false, err);
    if (rc < 0)
        (void)xd_file_remove(folder, journal, NULL);
    xd_file_close(fd);
    return rc;
}

int xd_check_reopen(struct xd_check *c, struct xd_error *err)
{
    struct xd_text part = {0}, journal = {0};
    int rc, folder;

    if (c->expected == XD_SIZE_UNKNOWN)
        return xd_check_fail_unknown_size(c, err);
    rc = xd_folder_open(&folder, c->path, err);
    if (rc < 0)
        return rc;
    xd_part_path(&part, c->path, XD_PART);
    xd_part_path(&journal, c->path, XD_PART_JOURNAL);
    if (part.failed || journal.failed)
        rc = xd_fail_nomem(err);
    else
        rc = reopen_as(c, folder, part.s, journal.s, err);
    xd_file_close(folder);
    xd_text_fini(&part);
    xd_text_fini(&journal);
    return rc;
}

/* ---- copy of the right bytes ---- */

/* A copy of the right bytes in progress. */
struct copying {
    const struct xd_check *c;
    int fd;
    unsigned char *buffer;
    struct xd_sink *sink; /* NAME.part */
    struct xd_journal *journal;
    struct xd_rangeset held; /* bytes already in NAME.part */
};

static int copy_range(struct copying *k, struct xd_range range,
                      struct xd_error *err)
{
    uint64_t at = range.begin;

    while (at < range.end) {
        size_t len = BUFFER_BYTES;
        int64_t n;
        int rc;

        if (len > range.end - at)
            len = (size_t)(range.end - at);
        n = xd_file_read(k->fd, k->c->path, at, k->buffer, len, err);
        if (n < 0)
            return (int)n;
        if (n == 0)
            return xd_fail(err, XD_E_IO, "%s: it was cut meanwhile",
                           k->c->path);
        rc = xd_sink_write(k->sink, at, k->buffer, (size_t)n, err);
        if (rc < 0)
            return rc;
        at += (uint64_t)n;
    }
    return xd_journal_written(k->journal, range, err);
}

/* Copies the right bytes that NAME.part lacks. */
static int copy_right(struct copying *k, struct xd_error *err)
{
    struct xd_range rest = {0, k->c->expected};
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(rest)) {
        struct xd_range right = next_right(k->c, rest);
        struct xd_range part = xd_rangeset_next_gap(&k->held, right);

        if (xd_range_length(part) > NOTED_BYTES)
            part.end = part.begin + NOTED_BYTES;
        if (!xd_range_is_empty(part))
            rc = copy_range(k, part, err);
        rest.begin = part.end;
    }
    return rc < 0 ? rc : xd_journal_sync(k->journal, k->sink, err);
}

/* Opens the journal of an earlier repair or download of the same file, or
 * begins a new one. */
static int enter_journal(struct copying *k,
                         const struct xd_journal_contents *contents,
                         const char *path, struct xd_error *err)
{
    const char *part = xd_file_sink_part(k->sink);
    struct xd_journal_identity identity;
    struct xd_text hashes = {0};
    char boot_id[XD_BOOT_ID_SIZE];
    int rc = identify(k->c, &hashes, &identity, err);

    xd_boot_id(boot_id);
    if (rc == 0 && contents->has_header) {
        rc = xd_journal_match(contents, &identity, part, path, err);
        if (rc == 0)
            rc = xd_journal_match_hash(contents, &identity, part, path, err);
        if (rc == 0 &&
            xd_journal_believed(contents, boot_id, xd_file_sink_found(k->sink),
                                &k->held) < 0)
            rc = xd_fail_nomem(err);
        if (rc == 0)
            rc = xd_journal_continue(k->journal, contents, boot_id, err);
    } else if (rc == 0) {
        rc = xd_journal_restart(k->journal, &identity, boot_id, err);
        if (rc == 0)
            rc = xd_file_sink_empty(k->sink, err);
    }
    xd_text_fini(&hashes);
    return rc;
}

static int check_space(const struct copying *k, struct xd_error *err)
{
    char needed[XD_SIZE_TEXT], left[XD_SIZE_TEXT];
    uint64_t space;

    if (xd_file_sink_space(k->sink, &space, NULL) < 0 ||
        k->c->expected <= space)
        return 0;
    xd_size_text(needed, k->c->expected);
    xd_size_text(left, space);
    return xd_fail(err, XD_E_IO,
                   "%s: a repair needs %s beside the file, but only %s are "
                   "free on its disk: free some space",
                   k->c->path, needed, left);
}

static int copy_beside(struct copying *k, const char *path,
                       struct xd_error *err)
{
    const int folder = xd_file_sink_folder(k->sink);
    const uint64_t found = xd_file_sink_found(k->sink);
    struct xd_journal_contents contents;
    int rc;

    if (found > 0 && !xd_file_exists(folder, path))
        return xd_journal_fail_unknown(xd_file_sink_part(k->sink), found, err);
    rc = check_space(k, err);
    if (rc == 0)
        rc = xd_journal_open(&k->journal, &contents, folder, path, err);
    if (rc < 0)
        return rc;
    rc = enter_journal(k, &contents, path, err);
    if (rc == 0)
        rc = copy_right(k, err);
    xd_journal_contents_fini(&contents);
    return rc;
}

/* Closes the copy.  Removes both files if nothing was copied. */
static void close_copy(struct copying *k)
{
    if (k->journal && xd_file_sink_remove_empty(k->sink))
        (void)xd_journal_remove(k->journal, NULL);
    xd_journal_free(k->journal);
    xd_sink_free(k->sink);
}

static int copy(const struct xd_check *c, struct xd_error *err)
{
    struct copying k = {.c = c};
    struct xd_text journal = {0};
    uint64_t size;
    int rc = xd_file_open(&k.fd, &size, c->path, err);

    if (rc < 0)
        return rc;
    rc = xd_file_sink_new(&k.sink, c->path, SIZE_MAX, true, err);
    if (rc < 0)
        goto close_file;
    xd_rangeset_init(&k.held);
    k.buffer = xd_alloc(BUFFER_BYTES, 1);
    xd_part_path(&journal, c->path, XD_PART_JOURNAL);
    rc = k.buffer && !journal.failed ? copy_beside(&k, journal.s, err)
                                     : xd_fail_nomem(err);
    close_copy(&k);
    xd_text_fini(&journal);
    xd_free(k.buffer);
    xd_rangeset_fini(&k.held);
close_file:
    xd_file_close(k.fd);
    return rc;
}

/* ---- checks before the conversion ---- */

static int fail_other(const struct xd_check *c, const char *why,
                      struct xd_error *err)
{
    return xd_fail(err, XD_E_CORRUPT,
                   "%s: %s: this is not the file that the manifest describes; "
                   "--force replaces it",
                   c->path, why);
}

/* Finds out whether there is a hash that can verify the repaired file. */
static int find_proof(const struct xd_check *c, bool *out, struct xd_error *err)
{
    const struct xd_range all = {0, c->expected};
    struct xd_proof *proof;
    int rc = xd_proof_new(&proof, c->manifest, c->file, &c->pieces, all, err);

    *out = rc == 0 && xd_proof_strongest(proof, &c->pieces, all) != NULL;
    xd_proof_free(proof);
    return rc;
}

/* Checks only whether this is the right file, because a hash will prove the
 * repaired one.  If no depot can be asked, assumes that it is. */
static int check_identity(struct xd_check *c, const struct xd_options *o,
                          struct xd_error *err)
{
    int rc = xd_check_compare(c, o, NULL, err);

    if (rc == XD_E_CORRUPT && c->n_agree == 0)
        return fail_other(c, "no sample of it agrees with the depots", err);
    return rc == XD_E_NOMEM || rc == XD_E_CANCELED || rc == XD_E_IO ? rc : 0;
}

/* Decides by samples how much of the file is kept. */
static int check_samples(struct xd_check *c, const struct xd_options *o,
                         bool is_provable, struct xd_error *err)
{
    int rc = c->was_compared ? 0 : xd_check_compare(c, o, NULL, err);

    if (rc < 0 && rc != XD_E_CORRUPT)
        return rc;
    if (o->force || (c->agrees && (is_provable || c->size <= c->expected)))
        return 0;
    if (c->n_agree == 0)
        return fail_other(c, "no sample of it agrees with the depots", err);
    if (is_provable)
        return 0;
    return xd_fail(
        err, XD_E_CORRUPT,
        "%s: differs from what the depots have, and no checksum "
        "proves which is right: name one with --checksum, or replace "
        "the file with --force",
        c->path);
}

/* Decides whether the file may be replaced, and which of its bytes are kept. */
static int check_file(struct xd_check *c, const struct xd_options *o,
                      struct xd_error *err)
{
    bool is_provable;
    int rc = find_proof(c, &is_provable, err);

    if (rc < 0 || c->size == 0)
        return rc;
    if (c->pieces.n > 0)
        return c->n_right_pieces > 0 || o->force
                   ? 0
                   : fail_other(c, "none of its pieces is right", err);
    if (c->algorithm && c->size == c->expected)
        return o->force ? 0 : check_identity(c, o, err);
    return check_samples(c, o, is_provable, err);
}

int xd_check_begin_repair(struct xd_check *c, const struct xd_options *o,
                          struct xd_error *err)
{
    struct xd_options defaults;
    int rc;

    if (c->expected == XD_SIZE_UNKNOWN)
        return xd_check_fail_unknown_size(c, err);
    xd_options_init(&defaults);
    o = o ? o : &defaults;
    rc = check_file(c, o, err);
    return rc < 0 || o->no_continue ? rc : copy(c, err);
}

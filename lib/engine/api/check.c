/* SPDX-License-Identifier: MIT */
/*
 * A file that is there, held against the manifest.
 */
#include <xdownload/check.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/choice.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "engine/api/cancelable_batch.h"
#include "engine/depots.h"
#include "engine/resume.h"
#include "engine/trust/pieces.h"
#include "engine/trust/proof.h"
#include "engine/trust/sample_check.h"
#include "engine/trust/signed.h"
#include "io/hash.h"
#include "io/journal/journal.h"
#include "io/part.h"
#include "os/file.h"

#define BUFFER_BYTES ((size_t)256 * 1024)

struct xd_check {
    struct xd_manifest *manifest;
    size_t file;
    char *path;
    uint64_t size;     /* of what is there */
    uint64_t expected; /* or XD_SIZE_UNKNOWN */
    struct xd_pieces pieces;
    struct xd_rangeset wrong;
    const char *algorithm;
    /* Of the whole file, where they differ; else "". */
    char expected_hash[XD_HASH_HEX_MAX + 1], actual_hash[XD_HASH_HEX_MAX + 1];
};

/* A file that is being read. */
struct reading {
    int fd;
    const char *path;
    unsigned char *buffer;
};

typedef void take_fn(void *to, const void *data, size_t len);

static int read_range(const struct reading *r, struct xd_range range,
                      take_fn *take, void *to, struct xd_error *err)
{
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(range)) {
        size_t len = BUFFER_BYTES;
        int64_t n;

        if (len > xd_range_length(range))
            len = (size_t)xd_range_length(range);
        n = xd_file_read(r->fd, r->path, range.begin, r->buffer, len, err);
        if (n <= 0) {
            rc = n < 0 ? (int)n
                       : xd_fail(err, XD_E_IO, "%s: it was cut meanwhile",
                                 r->path);
        } else {
            take(to, r->buffer, (size_t)n);
            range.begin += (uint64_t)n;
        }
    }
    return rc;
}

static void add_to_piece(void *to, const void *data, size_t len)
{
    xd_hasher_add(to, data, len);
}

static void add_to_whole(void *to, const void *data, size_t len)
{
    xd_proof_add(to, data, len);
}

static void add_to_signature(void *to, const void *data, size_t len)
{
    xd_signature_add(to, data, len);
}

static int hash_piece(const struct reading *r, struct xd_range range,
                      const char *algorithm, char hex[XD_HASH_HEX_MAX + 1],
                      struct xd_error *err)
{
    struct xd_hasher *hasher;
    int rc = xd_hasher_new(&hasher, algorithm, err);

    if (rc < 0)
        return rc;
    rc = read_range(r, range, add_to_piece, hasher, err);
    if (rc == 0)
        xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
    return rc;
}

static int is_wrong(struct xd_check *c, struct xd_range range,
                    struct xd_error *err)
{
    return xd_rangeset_add(&c->wrong, range) < 0 ? xd_fail_nomem(err) : 0;
}

static int check_pieces(struct xd_check *c, const struct reading *r,
                        struct xd_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->pieces.n; i++) {
        struct xd_range range = xd_pieces_range(&c->pieces, i);
        char hex[XD_HASH_HEX_MAX + 1];

        c->algorithm = xd_pieces_algorithm(&c->pieces, i);
        if (range.end > c->size) {
            rc = is_wrong(c, range, err);
            continue;
        }
        rc = hash_piece(r, range, c->algorithm, hex, err);
        if (rc == 0 && strcmp(hex, xd_pieces_hex(&c->pieces, i)) != 0)
            rc = is_wrong(c, range, err);
    }
    return rc;
}

static int check_whole(struct xd_check *c, const struct reading *r,
                       struct xd_error *err)
{
    struct xd_range all = {0, c->size};
    struct xd_proof *whole;
    const char *wrong, *right;
    char hex[XD_HASH_HEX_MAX + 1];
    int rc;

    if (c->wrong.n > 0)
        return 0;
    rc = xd_proof_new(&whole, c->manifest, c->file, &c->pieces, all, err);
    if (rc < 0)
        return rc;
    if (whole)
        rc = read_range(r, all, add_to_whole, whole, err);
    c->algorithm = xd_proof_strongest(whole, &c->pieces, all);
    wrong = whole && rc == 0 ? xd_proof_end(whole, &right, hex) : NULL;
    if (wrong) {
        c->algorithm = wrong;
        snprintf(c->expected_hash, sizeof c->expected_hash, "%s", right);
        memcpy(c->actual_hash, hex, sizeof c->actual_hash);
        rc = is_wrong(c, all, err);
    }
    xd_proof_free(whole);
    return rc;
}

static int check_size(struct xd_check *c, struct xd_error *err)
{
    struct xd_range rest = {c->size, c->expected};

    if (c->expected == XD_SIZE_UNKNOWN || c->size == c->expected)
        return 0;
    if (c->size > c->expected)
        rest = (struct xd_range){c->expected, c->size};
    return is_wrong(c, rest, err);
}

static int check_all(struct xd_check *c, struct xd_error *err)
{
    struct reading r = {.path = c->path};
    int rc = xd_file_open(&r.fd, &c->size, c->path, err);

    if (rc < 0)
        return rc;
    r.buffer = xd_alloc(BUFFER_BYTES, 1);
    if (!r.buffer)
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = check_size(c, err);
    if (rc == 0)
        rc = check_pieces(c, &r, err);
    if (rc == 0)
        rc = check_whole(c, &r, err);
    xd_free(r.buffer);
    xd_file_close(r.fd);
    return rc;
}

int xd_check_new(struct xd_check **out, struct xd_manifest *m, size_t file,
                 const char *path, struct xd_error *err)
{
    struct xd_file info = {.struct_size = sizeof info};
    struct xd_check *c;
    int rc;

    *out = NULL;
    if (xd_manifest_file(m, file, &info) < 0)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    c = xd_alloc(1, sizeof *c);
    if (!c)
        return xd_fail_nomem(err);
    c->manifest = xd_manifest_ref(m);
    c->file = file;
    c->expected = info.size;
    c->path = xd_strdup(path);
    if (!c->path || xd_pieces_init(&c->pieces, m, file,
                                   (struct xd_range){0, info.size}) < 0)
        rc = xd_fail_nomem(err);
    else
        rc = check_all(c, err);
    if (rc < 0) {
        xd_check_free(c);
        return rc;
    }
    *out = c;
    return 0;
}

int xd_check_signature(const struct xd_check *c, const struct xd_options *o,
                       struct xd_error *err)
{
    struct reading r = {.path = c->path};
    char signer[XD_SIGNER_SIZE];
    struct xd_signature *s;
    struct xd_error cause = {0};
    uint64_t size;
    int rc = o ? xd_signed_new(&s, c->manifest, c->file, o, err) : 0;

    if (rc < 0 || !o || !s)
        return rc;
    rc = xd_file_open(&r.fd, &size, c->path, err);
    if (rc < 0)
        goto free_signature;
    r.buffer = xd_alloc(BUFFER_BYTES, 1);
    rc = r.buffer ? read_range(&r, (struct xd_range){0, size}, add_to_signature,
                               s, err)
                  : xd_fail_nomem(err);
    if (rc == 0) {
        rc = xd_signature_end(s, signer, &cause);
        if (rc < 0)
            rc = xd_signed_fail(c->path, &cause, err);
    }
    xd_free(r.buffer);
    xd_file_close(r.fd);
free_signature:
    xd_signature_free(s);
    return rc;
}

static int fail_unknown_size(const struct xd_check *c, struct xd_error *err)
{
    return xd_fail(err, XD_E_STATE,
                   "%s: the manifest does not say how long it is", c->path);
}

/* ---- compared with depots ---- */

#define MOST_HOLES ((size_t)16)

static int read_sample(void *user, uint64_t offset, void *data, size_t len,
                       struct xd_error *err)
{
    const struct reading *r = user;
    int64_t n = xd_file_read(r->fd, r->path, offset, data, len, err);

    if (n < 0)
        return (int)n;
    return (size_t)n == len
               ? 0
               : xd_fail(err, XD_E_IO, "%s: it was cut meanwhile", r->path);
}

static int ask_depots(struct xd_sample_check *check, const struct xd_check *c,
                      const struct xd_options *o, struct xd_error *err)
{
    struct xd_cancelable_batch *requests;
    struct xd_depots depots;
    struct xd_choice choice = xd_options_choice(o);
    int rc = xd_depots_init(&depots, c->manifest, c->file, &choice, err);

    if (rc < 0)
        return rc;
    rc = xd_cancelable_batch_new(&requests, o, xd_sample_check_slots(&depots),
                                 err);
    if (rc == 0) {
        check->depots = &depots;
        check->batch = requests->batch;
        check->until = requests->until;
        rc = xd_sample_check_run(check, err);
        rc = xd_cancelable_batch_end(requests, o, rc, err);
    }
    xd_depots_fini(&depots);
    return rc;
}

static int compare(const struct xd_check *c, struct xd_range there,
                   const struct xd_options *o, struct xd_sample_check *check,
                   struct xd_error *err)
{
    struct reading r = {.path = c->path};
    struct xd_rangeset held, holes;
    uint64_t size;
    int rc = xd_file_open(&r.fd, &size, c->path, err);

    if (rc < 0)
        return rc;
    xd_rangeset_init(&held);
    xd_rangeset_init(&holes);
    if (xd_rangeset_add(&held, there) < 0 ||
        xd_file_holes(r.fd, c->size, MOST_HOLES, &holes) < 0)
        rc = xd_fail_nomem(err);
    *check = (struct xd_sample_check){
        .held = &held, .holes = &holes, .read = read_sample, .user = &r};
    if (rc == 0)
        rc = ask_depots(check, c, o, err);
    xd_rangeset_fini(&held);
    xd_rangeset_fini(&holes);
    xd_file_close(r.fd);
    return rc;
}

/* All is right, or all is wrong; but what the file lacks, or has more than it
 * should, is wrong in any case. */
static int take_verdict(struct xd_check *c, bool is_right, struct xd_error *err)
{
    struct xd_range all = {0, c->size > c->expected ? c->size : c->expected};

    xd_rangeset_fini(&c->wrong);
    xd_rangeset_init(&c->wrong);
    return is_right ? check_size(c, err) : is_wrong(c, all, err);
}

int xd_check_compare(struct xd_check *c, const struct xd_options *o,
                     size_t *out_n, struct xd_error *err)
{
    struct xd_range there = {0, c->size < c->expected ? c->size : c->expected};
    struct xd_sample_check check;
    struct xd_options defaults;
    int rc;

    if (out_n)
        *out_n = 0;
    if (c->expected == XD_SIZE_UNKNOWN)
        return fail_unknown_size(c, err);
    if (c->pieces.n > 0 || (c->algorithm && c->size == c->expected))
        return 0;
    xd_options_init(&defaults);
    rc = compare(c, there, o ? o : &defaults, &check, err);
    if (rc < 0)
        return rc;
    if (check.verdict == XD_SAMPLES_AGREE || check.verdict == XD_SAMPLES_DIFFER)
        rc = take_verdict(c, check.verdict == XD_SAMPLES_AGREE, err);
    if (rc == 0 && check.verdict != XD_SAMPLES_AGREE)
        rc = xd_fail(err, check.error.code, "%s: %.300s", c->path,
                     check.error.msg);
    if (rc == 0 && out_n)
        *out_n = check.n_compared;
    return rc;
}

void xd_check_get(const struct xd_check *c, struct xd_checked *out)
{
    struct xd_checked checked = {
        .size = c->size,
        .is_right =
            c->wrong.n == 0 && (c->algorithm || c->expected != XD_SIZE_UNKNOWN),
        .algorithm = c->algorithm,
        .n_wrong = c->wrong.n,
        .expected_hash = c->expected_hash[0] ? c->expected_hash : NULL,
        .actual_hash = c->actual_hash[0] ? c->actual_hash : NULL};

    xd_copy_out(out, &checked, sizeof checked);
}

int xd_check_wrong(const struct xd_check *c, size_t i, uint64_t *out_begin,
                   uint64_t *out_end)
{
    if (i >= c->wrong.n)
        return XD_E_INVAL;
    *out_begin = c->wrong.ranges[i].begin;
    *out_end = c->wrong.ranges[i].end;
    return 0;
}

/* What the check has not found wrong, on the disk, goes into the journal. */
static int note_right(const struct xd_check *c, struct xd_journal *j,
                      struct xd_error *err)
{
    struct xd_range rest = {0, c->expected};
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(rest)) {
        struct xd_range right = xd_rangeset_next_gap(&c->wrong, rest);

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
    rc = xd_resume_identify(c->manifest, c->file, c->path, &hashes, &identity,
                            err);
    identity.size = c->expected;
    identity.wanted = (struct xd_range){0, c->expected};
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

/* The journal comes first: without a .part it says nothing. */
static int reopen_as(const struct xd_check *c, int folder, const char *part,
                     const char *journal, struct xd_error *err)
{
    uint64_t size;
    int rc, fd;

    if (xd_file_exists(folder, part) || xd_file_exists(folder, journal))
        return xd_fail(err, XD_E_IO,
                       "%s: an unfinished download is there, which the repair "
                       "would replace: remove it first",
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
        return fail_unknown_size(c, err);
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

void xd_check_free(struct xd_check *c)
{
    if (!c)
        return;
    xd_rangeset_fini(&c->wrong);
    xd_pieces_fini(&c->pieces);
    xd_free(c->path);
    xd_manifest_unref(c->manifest);
    xd_free(c);
}

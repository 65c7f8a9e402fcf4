/* SPDX-License-Identifier: MIT */
/*
 * Compares an existing file with its manifest.
 */
#include <xdownload/check.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/choice.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "command/checks.h"
#include "engine/api/cancelable_batch.h"
#include "engine/api/check.h"
#include "engine/depots.h"
#include "engine/trust/fetched_version.h"
#include "engine/trust/places.h"
#include "engine/trust/proof.h"
#include "engine/trust/sample_check.h"
#include "engine/trust/signed.h"
#include "io/hash.h"
#include "os/cancel.h"
#include "os/file.h"

#define BUFFER_BYTES ((size_t)256 * 1024)

struct reading {
    int fd;
    const char *path;
    unsigned char *buffer;
    const struct xd_cancel *cancel; /* or NULL */
};

typedef void take_fn(void *to, const void *data, size_t len);

static int read_range(const struct reading *r, struct xd_range range,
                      take_fn *take, void *to, struct xd_error *err)
{
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(range)) {
        size_t len = BUFFER_BYTES;
        int64_t n;

        if (r->cancel && xd_cancel_is_triggered(r->cancel))
            return xd_fail(err, XD_E_CANCELED, "the caller has canceled it");
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

/* Hashes each piece of the file and counts the right ones. */
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
        else if (rc == 0)
            c->n_right_pieces++;
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

static int check_all(struct xd_check *c, const struct xd_options *o,
                     struct xd_error *err)
{
    struct reading r = {.path = c->path, .cancel = o ? o->cancel : NULL};
    int rc = xd_file_open(&r.fd, &c->size, c->path, err);

    if (rc < 0)
        return rc;
    c->modified = xd_file_modified(r.fd);
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
                 const char *path, const struct xd_options *o,
                 struct xd_error *err)
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
        rc = check_all(c, o, err);
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
    struct reading r = {.path = c->path, .cancel = o ? o->cancel : NULL};
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

int xd_check_fail_unknown_size(const struct xd_check *c, struct xd_error *err)
{
    return xd_fail(err, XD_E_STATE,
                   "%s: the manifest does not say how long it is", c->path);
}

/* ---- comparison with depots ---- */

#define MOST_HOLES ((size_t)16)

/* Number and length of short samples.  They are used where they only need to
 * show whether this is the right file at all, so that a few wrong bytes do not
 * spoil all of them. */
#define SHORT_PLACES 16
#define SHORT_BYTES ((uint64_t)512)

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

/* Returns true if all of the file is compared, which proves more than any
 * validator. */
static bool is_short(const struct xd_check *c)
{
    return c->size < XD_COMPARED_WHOLE;
}

/* Returns true if a hash has judged the file, so that samples are
 * unnecessary. */
static bool is_judged(const struct xd_check *c)
{
    return c->pieces.n > 0 || (c->algorithm && c->size == c->expected);
}

static int ask_depots(struct xd_sample_check *check, const struct xd_check *c,
                      int fd, bool heeds_note, const struct xd_options *o,
                      struct xd_error *err)
{
    char *known = NULL;
    struct xd_cancelable_batch *requests;
    struct xd_depots depots;
    struct xd_choice choice = xd_options_choice(o);
    int rc = xd_depots_init(&depots, c->manifest, c->file, &choice, err);

    if (rc < 0)
        return rc;
    rc = xd_cancelable_batch_new(&requests, o, xd_sample_check_slots(&depots),
                                 err);
    if (rc == 0) {
        if (heeds_note)
            known = xd_fetched_version_known(fd, &depots);
        check->known = known;
        check->compares_always = true;
        check->depots = &depots;
        check->batch = requests->batch;
        check->until = requests->until;
        rc = xd_sample_check_run(check, err);
        rc = xd_cancelable_batch_end(requests, o, rc, err);
    }
    check->known = NULL;
    xd_free(known);
    xd_depots_fini(&depots);
    return rc;
}

/* Adds the bytes from which samples may be taken.  Sets *out_bytes to the
 * length of a sample, or 0 for the default. */
static int choose_places(const struct xd_check *c, bool are_short,
                         struct xd_rangeset *held, uint64_t *out_bytes)
{
    const uint64_t end = c->size < c->expected ? c->size : c->expected;
    uint64_t bytes = end / SHORT_PLACES + 1;
    int rc = 0;

    *out_bytes = 0;
    if (!are_short)
        return xd_rangeset_add(held, (struct xd_range){0, end});
    *out_bytes = bytes = bytes < SHORT_BYTES ? bytes : SHORT_BYTES;
    for (uint64_t i = 0; rc == 0 && i < SHORT_PLACES; i++) {
        const uint64_t at = end / SHORT_PLACES * i;
        const struct xd_range all = {0, end};

        rc = xd_rangeset_add(
            held, xd_range_clip((struct xd_range){at, at + bytes}, all));
    }
    return rc;
}

/* Compares samples of the file with the depots.  With `heeds_note`, a server
 * has a new version if its validator differs from the one that was stored with
 * the file after its download (trust/fetched_version.h). */
static int compare(struct xd_check *c, const struct xd_options *o,
                   bool are_short, bool heeds_note,
                   struct xd_sample_check *check, struct xd_error *err)
{
    struct reading r = {.path = c->path};
    struct xd_rangeset held, holes;
    uint64_t size;
    int rc = xd_file_open(&r.fd, &size, c->path, err);

    if (rc < 0)
        return rc;
    xd_rangeset_init(&held);
    xd_rangeset_init(&holes);
    *check = (struct xd_sample_check){
        .held = &held, .holes = &holes, .read = read_sample, .user = &r};
    if (choose_places(c, are_short, &held, &check->sample_bytes) < 0 ||
        xd_file_holes(r.fd, c->size, MOST_HOLES, &holes) < 0)
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = ask_depots(check, c, r.fd, heeds_note, o, err);
    c->was_asked |= rc == 0 && check->n_answers > 0;
    if (rc == 0) {
        c->stated = check->modified;
        c->has_new_version = check->verdict == XD_SAMPLES_OUTDATED;
    }
    xd_rangeset_fini(&held);
    xd_rangeset_fini(&holes);
    xd_file_close(r.fd);
    return rc;
}

/* Marks all of the file as right or wrong.  Missing and surplus bytes are
 * always wrong. */
static int take_verdict(struct xd_check *c, bool is_right, struct xd_error *err)
{
    struct xd_range all = {0, c->size > c->expected ? c->size : c->expected};

    xd_rangeset_fini(&c->wrong);
    xd_rangeset_init(&c->wrong);
    return is_right ? check_size(c, err) : is_wrong(c, all, err);
}

static int take_samples(struct xd_check *c, const struct xd_sample_check *s,
                        struct xd_error *err)
{
    int rc = 0;

    c->was_compared = s->verdict == XD_SAMPLES_AGREE ||
                      s->verdict == XD_SAMPLES_DIFFER || c->has_new_version;
    c->agrees = s->verdict == XD_SAMPLES_AGREE;
    c->n_agree = s->n_compared;
    if (c->was_compared && !is_judged(c))
        rc = take_verdict(c, c->agrees, err);
    if (rc < 0 || c->agrees)
        return rc;
    return xd_fail(err, c->has_new_version ? XD_E_CORRUPT : s->error.code,
                   "%s: %.300s", c->path, s->error.msg);
}

int xd_check_compare(struct xd_check *c, const struct xd_options *o,
                     size_t *out_n, struct xd_error *err)
{
    struct xd_sample_check samples;
    struct xd_options defaults;
    int rc;

    if (out_n)
        *out_n = 0;
    if (c->expected == XD_SIZE_UNKNOWN)
        return xd_check_fail_unknown_size(c, err);
    if (c->pieces.n > 0)
        return 0;
    xd_options_init(&defaults);
    rc = compare(c, o ? o : &defaults, is_judged(c),
                 !is_short(c) && !is_judged(c), &samples, err);
    if (rc == 0)
        rc = take_samples(c, &samples, err);
    if (rc == 0 && out_n)
        *out_n = samples.n_compared;
    return rc;
}

int xd_check_ask_time(struct xd_check *c, const struct xd_options *o,
                      struct xd_error *err)
{
    struct xd_sample_check samples;
    struct xd_options defaults;
    int rc;

    if (c->size == 0 || (c->was_asked && (c->agrees || !is_short(c))))
        return 0;
    xd_options_init(&defaults);
    rc = compare(c, o ? o : &defaults, true, true, &samples, err);
    if (rc < 0 || c->was_asked)
        return rc;
    return xd_fail(err, samples.error.code, "%s: %.300s", c->path,
                   samples.error.msg);
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
        .actual_hash = c->actual_hash[0] ? c->actual_hash : NULL,
        .modified = c->modified,
        .stated = c->stated,
        .has_new_version = c->has_new_version,
        .is_compared =
            c->was_compared && c->agrees && !is_judged(c) && is_short(c)};

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

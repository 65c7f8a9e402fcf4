/* SPDX-License-Identifier: MIT */
/* Whether two manifests say the same, field by field. */
#ifndef XD_TESTS_SAME_H
#define XD_TESTS_SAME_H

#include <string.h>
#include <xdownload/manifest.h>
#include <xdpublish/parity.h>

#include "command/manifests.h"
#include "suite.h"

static inline void expect_same_word(const char *a, const char *b)
{
    ck_assert_msg((!a && !b) || (a && b && strcmp(a, b) == 0),
                  "\"%s\" is not \"%s\"", a ? a : "(none)", b ? b : "(none)");
}

static inline void expect_same_replica(const struct xd_replica *a,
                                       const struct xd_replica *b)
{
    expect_same_word(a->url, b->url);
    ck_assert_uint_eq(a->offset, b->offset);
    ck_assert_uint_eq(a->object_size, b->object_size);
    ck_assert_uint_eq(a->priority, b->priority);
    expect_same_word(a->location, b->location);
    ck_assert_uint_eq(a->max_connections, b->max_connections);
}

static inline void expect_same_extent(const struct xd_manifest *a,
                                      size_t file_a,
                                      const struct xd_manifest *b,
                                      size_t file_b, size_t i)
{
    struct xd_extent x = {.struct_size = sizeof x}, y = x;
    ck_assert_int_eq(xd_manifest_extent(a, file_a, i, &x), 0);
    ck_assert_int_eq(xd_manifest_extent(b, file_b, i, &y), 0);
    ck_assert_uint_eq(x.offset, y.offset);
    ck_assert_uint_eq(x.length, y.length);
    ck_assert_uint_eq(x.n_replicas, y.n_replicas);
    expect_same_word(x.sha256, y.sha256);
    for (size_t k = 0; k < x.n_replicas; k++) {
        struct xd_replica r = {.struct_size = sizeof r}, s = r;
        ck_assert_int_eq(xd_manifest_replica(a, file_a, i, k, &r), 0);
        ck_assert_int_eq(xd_manifest_replica(b, file_b, i, k, &s), 0);
        expect_same_replica(&r, &s);
    }
}

static inline void expect_same_hashes(const struct xd_manifest *a,
                                      size_t file_a,
                                      const struct xd_manifest *b,
                                      size_t file_b, const struct xd_file *f)
{
    for (size_t i = 0; i < f->n_hashes; i++) {
        struct xd_hash x = {.struct_size = sizeof x}, y = x;
        ck_assert_int_eq(xd_manifest_hash(a, file_a, i, &x), 0);
        ck_assert_int_eq(xd_manifest_hash(b, file_b, i, &y), 0);
        expect_same_word(x.algorithm, y.algorithm);
        expect_same_word(x.hex, y.hex);
    }
    for (size_t i = 0; i < f->n_pieces; i++)
        expect_same_word(xd_manifest_piece(a, file_a, i),
                         xd_manifest_piece(b, file_b, i));
}

static inline void expect_same_shard(const struct xd_manifest *a, size_t file_a,
                                     const struct xd_manifest *b, size_t file_b,
                                     size_t stripe, size_t i)
{
    struct xd_shard x = {.struct_size = sizeof x}, y = x;
    ck_assert_int_eq(xd_manifest_shard(a, file_a, stripe, i, &x), 0);
    ck_assert_int_eq(xd_manifest_shard(b, file_b, stripe, i, &y), 0);
    ck_assert_uint_eq(x.offset, y.offset);
    ck_assert_uint_eq(x.length, y.length);
    ck_assert_uint_eq(x.n_replicas, y.n_replicas);
    expect_same_word(x.sha256, y.sha256);
    for (size_t k = 0; k < x.n_replicas; k++) {
        struct xd_replica r = {.struct_size = sizeof r}, s = r;
        ck_assert_int_eq(xd_manifest_shard_replica(a, file_a, stripe, i, k, &r),
                         0);
        ck_assert_int_eq(xd_manifest_shard_replica(b, file_b, stripe, i, k, &s),
                         0);
        expect_same_replica(&r, &s);
        expect_same_word(r.expires, s.expires);
        ck_assert_uint_eq(r.expires_at, s.expires_at);
    }
}

static inline void expect_same_stripe(const struct xd_manifest *a,
                                      size_t file_a,
                                      const struct xd_manifest *b,
                                      size_t file_b, size_t i)
{
    struct xd_stripe x = {.struct_size = sizeof x}, y = x;
    ck_assert_int_eq(xd_manifest_stripe(a, file_a, i, &x), 0);
    ck_assert_int_eq(xd_manifest_stripe(b, file_b, i, &y), 0);
    ck_assert_uint_eq(x.number, y.number);
    ck_assert_uint_eq(x.offset, y.offset);
    ck_assert_uint_eq(x.length, y.length);
    ck_assert_uint_eq(x.shard_bytes, y.shard_bytes);
    ck_assert_uint_eq(x.k, y.k);
    ck_assert_uint_eq(x.n, y.n);
    ck_assert_uint_eq(x.n_losses, y.n_losses);
    for (size_t k = 0; k < x.n; k++)
        expect_same_shard(a, file_a, b, file_b, i, k);
}

static inline void expect_same_file(const struct xd_manifest *a, size_t file_a,
                                    const struct xd_manifest *b, size_t file_b)
{
    struct xd_file x = {.struct_size = sizeof x}, y = x;
    ck_assert_int_eq(xd_manifest_file(a, file_a, &x), 0);
    ck_assert_int_eq(xd_manifest_file(b, file_b, &y), 0);
    expect_same_word(x.path, y.path);
    ck_assert_uint_eq(x.size, y.size);
    ck_assert_uint_eq(x.n_extents, y.n_extents);
    ck_assert_uint_eq(x.n_hashes, y.n_hashes);
    ck_assert_uint_eq(x.n_pieces, y.n_pieces);
    ck_assert_uint_eq(x.piece_bytes, y.piece_bytes);
    expect_same_word(x.piece_algorithm, y.piece_algorithm);
    ck_assert_uint_eq(x.max_connections, y.max_connections);
    expect_same_hashes(a, file_a, b, file_b, &x);
    for (size_t i = 0; i < x.n_extents; i++)
        expect_same_extent(a, file_a, b, file_b, i);
    ck_assert_uint_eq(x.n_stripes, y.n_stripes);
    for (size_t i = 0; i < x.n_stripes; i++)
        expect_same_stripe(a, file_a, b, file_b, i);
}

static inline void expect_same(const struct xd_manifest *a,
                               const struct xd_manifest *b)
{
    ck_assert_uint_eq(xd_manifest_n_files(a), xd_manifest_n_files(b));
    for (size_t i = 0; i < xd_manifest_n_files(a); i++)
        expect_same_file(a, i, b, i);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Inspect the parity of a file: which parts of it survive the loss of servers.
 *
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *     #include <xdpublish/xdpublish.h>
 *
 *     void print_parity(const struct xd_manifest *m)
 *     {
 *         struct xd_stripe s;
 *
 *         for (size_t i = 0; xd_manifest_stripe(m, 0, i, &s) == 0; i++)
 *             printf("from byte %" PRIu64 ": %u shards may be lost\n", s.offset,
 *                    s.n_losses);
 *     }
 *
 * Downloads use parity by themselves.  Uploads add it if the field `code` of
 * struct xd_upload_wish is set (upload.h).
 *
 * Ownership: strings in the structs live as long as the manifest.
 * Threads:   any thread may call all functions here.
 */
#ifndef XDPUBLISH_PARITY_H
#define XDPUBLISH_PARITY_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>

/*
 * A range of the file that is protected by parity (an erasure code).
 *
 * The range is divided into `k` data shards of shard_bytes each, and `n` - `k`
 * parity shards are computed from them.  Any `k` of the `n` shards restore the
 * range.
 *
 * - Shards 0 to k - 1 are data: the bytes of the file themselves.  Extents say
 *   where they are.
 * - Shards k to n - 1 are parity, with replicas of their own.
 * - The last data shards may be short or empty.  They are coded as if they were
 *   padded with zeros.
 *
 * xdownload-manifest(5) describes the code.
 */
struct xd_stripe {
    size_t struct_size;
    uint64_t number; /* number of the stripe in the manifest and in warnings */
    uint64_t offset, length;
    uint64_t shard_bytes;
    unsigned k, n; /* 1 <= k < n <= 255 */
    /* Number of shards that may be lost: the number of parity shards that have
     * a replica. */
    unsigned n_losses;
};

/* One shard of a stripe. */
struct xd_shard {
    size_t struct_size;
    /* data shard: offset of its first byte in the file; parity shard: 0 */
    uint64_t offset;
    /* data shard: number of bytes of the file in it; parity shard:
     * shard_bytes */
    uint64_t length;
    const char *sha256; /* SHA-256 of exactly these bytes in hex, or NULL */
    /* number of replicas of a parity shard; 0 for a data shard: see the
     * extents */
    size_t n_replicas;
};

XD_BEGIN_DECLS

/*
 * Report one stripe, one of its shards (0 to n - 1), or one replica of a parity
 * shard.  The `offset` of a parity replica is the offset of the shard in the
 * object.
 * Returns: 0, or INVAL if a number is out of range.
 * Threads: any.
 */
XD_API int xd_manifest_stripe(const struct xd_manifest *m, size_t file,
                              size_t stripe, struct xd_stripe *out);
XD_API int xd_manifest_shard(const struct xd_manifest *m, size_t file,
                             size_t stripe, size_t shard, struct xd_shard *out);
XD_API int xd_manifest_shard_replica(const struct xd_manifest *m, size_t file,
                                     size_t stripe, size_t shard,
                                     size_t replica, struct xd_replica *out);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_stripe)
XD_FILLS(xd_shard)
#define xd_manifest_stripe(m, file, stripe, out) \
    xd_manifest_stripe(m, file, stripe, xd_stripe_sized(out))
#define xd_manifest_shard(m, file, stripe, shard, out) \
    xd_manifest_shard(m, file, stripe, shard, xd_shard_sized(out))
#define xd_manifest_shard_replica(m, file, stripe, shard, replica, out) \
    xd_manifest_shard_replica(m, file, stripe, shard, replica,          \
                              xd_replica_sized(out))
#endif

XD_END_DECLS

#endif

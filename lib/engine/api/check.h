/* SPDX-License-Identifier: MIT */
/*
 * An existing file that is compared with its manifest: shared by the functions
 * of xdownload/check.h.
 */
#ifndef XD_ENGINE_API_CHECK_H
#define XD_ENGINE_API_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/check.h>

#include "base/range.h"
#include "engine/trust/pieces.h"
#include "io/hash.h"

struct xd_check {
    /* constant after new() */
    struct xd_manifest *manifest;
    size_t file; /* index in the manifest */
    char *path;
    uint64_t size;     /* size of the file on disk */
    int64_t modified;  /* modification time of the file on disk, in seconds
                          since 1970 */
    uint64_t expected; /* size according to the manifest, or XD_SIZE_UNKNOWN */
    struct xd_pieces pieces;
    size_t n_right_pieces;
    const char *algorithm; /* algorithm of the hashes that were compared, or
                              NULL */
    /* hashes of the whole file if it is wrong, else "" */
    char expected_hash[XD_HASH_HEX_MAX + 1], actual_hash[XD_HASH_HEX_MAX + 1];
    /* set by xd_check_compare() */
    struct xd_rangeset wrong;
    bool was_compared, agrees; /* samples were compared; all agree */
    size_t n_agree;            /* number of samples that agree */
    bool was_asked;            /* depots were asked for the modification time */
    int64_t stated;            /* the time that they stated, as in struct
                                  xd_checked */
    bool has_new_version;      /* a URL has a newer version than the downloaded
                                  one */
};

/* Fails with STATE, because the manifest states no size. */
int xd_check_fail_unknown_size(const struct xd_check *c, struct xd_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* Names that the reader and the writer of exNodes share.  Other tools ignore
 * our additions. */
#ifndef XD_MANIFEST_EXNODE_H
#define XD_MANIFEST_EXNODE_H

#define XD_EXNODE_URI "http://loci.cs.utk.edu/exnode"

/* Metadata that we add to the file: hashes as "hash.md5", and pieces as
 * "pieces" ("sha-1 262144") and "piece.0". */
#define XD_EXNODE_HASH "hash."
#define XD_EXNODE_PIECES "pieces"
#define XD_EXNODE_PIECE "piece."

/* Metadata that we add to the file: notes about an incomplete upload. */
#define XD_EXNODE_UPLOAD "upload"

/* Metadata that we add to a mapping.  max_connections may also be in the
 * file. */
#define XD_EXNODE_SHA256 "sha256"
#define XD_EXNODE_PRIORITY "priority"
#define XD_EXNODE_LOCATION "location"
#define XD_EXNODE_MAX_CONNECTIONS "max_connections"

/* Metadata that we add to the file for parity.  "parity" contains "stripe.0"
 * and so on.  Each stripe has the values below and "shard.4" and so on.  Each
 * shard has "replica.0" and so on. */
#define XD_EXNODE_PARITY "parity"
#define XD_EXNODE_STRIPE "stripe."
#define XD_EXNODE_CODE "code"
#define XD_EXNODE_REED_SOLOMON "reed-solomon"
#define XD_EXNODE_POLYNOMIAL "polynomial"
#define XD_EXNODE_0X11D "0x11d"
#define XD_EXNODE_MATRIX "matrix"
#define XD_EXNODE_CAUCHY "cauchy"
#define XD_EXNODE_K "k"
#define XD_EXNODE_N "n"
#define XD_EXNODE_SHARD_LENGTH "shard_length"
#define XD_EXNODE_OFFSET "exnode_offset"  /* same as in a mapping */
#define XD_EXNODE_LENGTH "logical_length" /* same as in a mapping */
#define XD_EXNODE_SHARD "shard."
#define XD_EXNODE_REPLICA "replica."
#define XD_EXNODE_READ "read"
#define XD_EXNODE_WRITE "write"
#define XD_EXNODE_MANAGE "manage"
#define XD_EXNODE_ALLOC_OFFSET "alloc_offset"

/* Metadata of a mapping that LoRS writes: expiry time of the allocation. */
#define XD_EXNODE_END "end"

#endif

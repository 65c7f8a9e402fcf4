/* SPDX-License-Identifier: MIT */
/* What the reader and the writer of exNodes agree upon.  Other tools pass over
 * what is ours. */
#ifndef XD_MANIFEST_EXNODE_H
#define XD_MANIFEST_EXNODE_H

#define XD_EXNODE_URI "http://loci.cs.utk.edu/exnode"

/* Ours, of the file: "hash.md5"; "pieces" ("sha-1 262144"), then "piece.0". */
#define XD_EXNODE_HASH "hash."
#define XD_EXNODE_PIECES "pieces"
#define XD_EXNODE_PIECE "piece."

/* Ours, of the file: what is known of an upload that is not complete. */
#define XD_EXNODE_UPLOAD "upload"

/* Ours, of a mapping; the last also of the file. */
#define XD_EXNODE_SHA256 "sha256"
#define XD_EXNODE_PRIORITY "priority"
#define XD_EXNODE_LOCATION "location"
#define XD_EXNODE_MAX_CONNECTIONS "max_connections"

/* Ours, of the file: "parity", which holds "stripe.0" and others; of each its
 * values, and "shard.4" and others; of each "replica.0" and others. */
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
#define XD_EXNODE_OFFSET "exnode_offset"  /* as of a mapping, */
#define XD_EXNODE_LENGTH "logical_length" /* and likewise */
#define XD_EXNODE_SHARD "shard."
#define XD_EXNODE_REPLICA "replica."
#define XD_EXNODE_READ "read"
#define XD_EXNODE_WRITE "write"
#define XD_EXNODE_MANAGE "manage"
#define XD_EXNODE_ALLOC_OFFSET "alloc_offset"

/* Of a mapping, as LoRS has it: when its allocation expires. */
#define XD_EXNODE_END "end"

#endif

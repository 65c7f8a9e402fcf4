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

/* Of a mapping, as LoRS has it: when its allocation expires. */
#define XD_EXNODE_END "end"

#endif

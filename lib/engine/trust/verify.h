/* SPDX-License-Identifier: MIT */
/*
 * Verifies received bytes as far as the manifest allows.
 *
 *     written by workers  -->  pieces hashed  -->  verified
 *                         \-> no piece: verified at once
 *
 * When a byte is verified, the scheduler accepts it, readers may get it, and it
 * is added to the hash of the whole file, which is computed in order.  No
 * second hash is computed for bytes that pieces with an equally strong hash
 * have proved.
 *
 * A lane that writes a piece from its first to its last byte also hashes it
 * (piece_hash.h).  The keeper hashes all other pieces, reading them back from
 * the file.  It also reads a piece back that a lane found wrong.  At the end
 * it hashes all pieces again if another program may have changed them
 * meanwhile.
 *
 * Every function is called with engine.lock held, unless it says otherwise.
 */
#ifndef XD_ENGINE_VERIFY_H
#define XD_ENGINE_VERIFY_H

#include <stdbool.h>

#include "base/range.h"
#include "engine/trust/piece_hash.h"
#include "engine/trust/pieces.h"
#include "engine/trust/proof.h"
#include "engine/trust/signed.h"
#include "io/hash.h"
#include "ledger/ledger.h"
#include "session/blame.h"

struct xd_engine;

struct xd_verify {
    struct xd_pieces pieces;
    uint64_t era;                 /* incremented when bytes are discarded */
    struct xd_range reading;      /* bytes that the keeper is reading without
                                     the lock */
    struct xd_rangeset postponed; /* parts of `reading` that are discarded after
                                     the read */
    enum xd_discard_reason postponed_why;
    struct xd_blame blame; /* the search for depots that sent wrong bytes */

    size_t *queue; /* pieces to hash, in the order in which they were
                      completed */
    size_t queue_first, queue_n, queue_capacity;
    struct xd_hasher *piece_hasher; /* used by the keeper, or NULL */

    struct xd_proof *whole; /* NULL if no hash is wanted or possible */
    /* the expected hash that failed in the last check */
    const char *whole_algorithm, *whole_hex;
    char whole_got[XD_HASH_HEX_MAX + 1]; /* the actual hash in that check */
    struct xd_signature *signature; /* required signature of the whole file, or
                                       NULL */
    char signer[XD_SIGNER_SIZE];    /* "" before it is verified */
    uint64_t hashed_to; /* all bytes before this one were added to `whole` and
                           `signature`, or are being added */
    size_t n_read_back; /* number of pieces that were hashed again at the end */
    unsigned n_changed; /* how many of these had changed */

    unsigned char *buffer; /* used by the keeper to read back */
};

/* Prepares the hashes.  Call it when e->wanted is known.  Errors: NOMEM. */
int xd_verify_start_locked(struct xd_engine *e, struct xd_error *err);

/* Reserves memory for `n_pieces` pieces that may be added.  Errors: NOMEM. */
int xd_verify_expect_locked(struct xd_engine *e, size_t n_pieces);

/* Requires that the whole file also matches the hashes in `m`, which must
 * outlive the engine.  Call it before any byte is written, and only if no other
 * hash is known.  Errors: NOMEM. */
int xd_verify_bind_locked(struct xd_engine *e, const struct xd_manifest *m,
                          struct xd_error *err);
void xd_verify_fini(struct xd_verify *v);

/* Call it when all bytes have been received.  Returns true if the keeper still
 * has to hash the whole file, or pieces again. */
bool xd_verify_has_check_locked(const struct xd_engine *e);

/* Returns true if hashes find every wrong byte while it can still be replaced:
 * each byte has a piece hash, or the whole file has a hash and is stored.  For
 * a set, `range` selects the file.  Constant once e->wanted is known; false
 * before. */
bool xd_verify_decides(const struct xd_engine *e, struct xd_range range);

/* Call it when `range`, which was missing, was written.  `hash` is the running
 * hash of the lane that wrote it, to which the bytes were added already, or
 * NULL. */
void xd_verify_written_locked(struct xd_engine *e, struct xd_range range,
                              const struct xd_piece_hash *hash);

/* Call it for a range that an earlier run received. */
void xd_verify_held_locked(struct xd_engine *e, struct xd_range range);

/* can_work() returns true if there is something to hash now.  work() hashes a
 * part of it, and releases the lock meanwhile.  Called by the keeper only. */
bool xd_verify_can_work_locked(const struct xd_engine *e);
void xd_verify_work_locked(struct xd_engine *e);

/* Call it after all work.  Returns 0, or CORRUPT if the whole file is wrong. */
int xd_verify_judge_locked(struct xd_engine *e, struct xd_error *err);

/*
 * A check of the signature, by the keeper or the thread of a pipe.  It takes
 * the signature, compares it with the data added so far (without the lock), and
 * gives the result back.
 */
struct xd_signature_check {
    struct xd_signature *signature; /* NULL if the file needs none */
    char signer[XD_SIGNER_SIZE];
    struct xd_error error; /* code XD_OK if the signature is valid */
};

struct xd_signature_check xd_verify_take_signature_locked(
    const struct xd_engine *e);
void xd_verify_check_signature(struct xd_signature_check *c);

/* Gives the signature back.  Returns 0, or one of the error codes of
 * io/signature/signature.h. */
int xd_verify_give_signature_locked(struct xd_engine *e,
                                    const struct xd_signature_check *c,
                                    struct xd_error *err);

/* Stops hashing, because the download has failed. */
void xd_verify_stop_locked(struct xd_engine *e);

/* passes_whole() returns true if all bytes of the file must be passed in order
 * to xd_verify_pass(), for its hash or signature.  pass() adds the next bytes
 * of a pipe; call it without the lock. */
bool xd_verify_passes_whole(const struct xd_engine *e);
void xd_verify_pass(struct xd_engine *e, const void *data, size_t len);

/* Sets `err` to the last mismatch, followed by `more`.  Returns CORRUPT. */
int xd_verify_fail_locked(const struct xd_engine *e, const char *more,
                          struct xd_error *err);

/* algorithm() returns the algorithm that proved every byte of the complete
 * file, signer() the key that signed it.  NULL if there is none. */
const char *xd_verify_algorithm_locked(const struct xd_engine *e);
const char *xd_verify_signer_locked(const struct xd_engine *e);

#endif

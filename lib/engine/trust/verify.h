/* SPDX-License-Identifier: MIT */
/*
 * No byte counts before it is proved as far as the manifest allows.
 *
 *     written by workers  -->  pieces hashed  -->  verified
 *                         \-> no piece: verified at once
 *
 * A byte that is verified was accepted by the scheduler, may be handed to a
 * reader, and goes into the hash of the whole file, which follows the frontier
 * of the verified bytes.  Bytes that pieces of the same strength have proved
 * need no second hash.
 *
 * A piece that one lane writes from end to end it hashes in passing
 * (piece_hash.h).  All else the keeper hashes, and reads back what was just
 * written for it; it always reads a wrong piece itself.
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
    uint64_t era;                 /* it changes when bytes are discarded */
    struct xd_range reading;      /* a piece, by the keeper, without the lock */
    struct xd_rangeset postponed; /* of that, what is discarded afterwards, */
    enum xd_discard_reason postponed_why;
    struct xd_blame blame; /* where pieces were wrong */

    size_t *queue; /* pieces to hash, first come first served */
    size_t queue_first, queue_n, queue_capacity;
    struct xd_hasher *piece_hasher; /* the keeper's, or NULL */

    struct xd_proof *whole; /* NULL: not wanted, or not possible */
    const char *whole_algorithm, *whole_hex; /* by which it was wrong last */
    char whole_got[XD_HASH_HEX_MAX + 1];     /* what it was instead */
    struct xd_signature *signature; /* which the whole must have; or NULL */
    char signer[XD_SIGNER_SIZE];    /* "": not verified yet */
    uint64_t hashed_to; /* all before it is in these, or soon will be */
    size_t n_read_back; /* pieces that were hashed again at the end */
    unsigned n_changed; /* of them, since they were found right */

    unsigned char *buffer; /* the keeper's, for reading back */
};

/* Once what is wanted is known.  Errors: NOMEM. */
int xd_verify_start_locked(struct xd_engine *e, struct xd_error *err);

/* So many pieces may be added.  Errors: NOMEM. */
int xd_verify_expect_locked(struct xd_engine *e, size_t n_pieces);

/* The whole file must match the given hashes of `m`, too, which outlives the
 * engine: before any byte is written, and only where no hash is known.  Errors:
 * NOMEM. */
int xd_verify_bind_locked(struct xd_engine *e, const struct xd_manifest *m,
                          struct xd_error *err);
void xd_verify_fini(struct xd_verify *v);

/* Every byte is in.  Whether the keeper has something to hash yet: the whole,
 * or pieces once more, as they lie on the disk. */
bool xd_verify_has_check_locked(const struct xd_engine *e);

/* Whether hashes find every wrong byte while it can still be replaced: each
 * byte has the hash of a piece, or the whole file, which stays here, has one.
 * Of a set `range` tells of which file.
 * Constant once what is wanted is known; before that false. */
bool xd_verify_decides(const struct xd_engine *e, struct xd_range range);

/* `range`, which was missing, is WRITTEN; the lane that wrote it has added it
 * to `hash`, or that is NULL. */
void xd_verify_written_locked(struct xd_engine *e, struct xd_range range,
                              const struct xd_piece_hash *hash);

/* `range` was received by an earlier run. */
void xd_verify_held_locked(struct xd_engine *e, struct xd_range range);

/* Whether there is something to hash now, and the doing of a part of it:
 * releases the lock meanwhile.  Only the keeper calls these. */
bool xd_verify_can_work_locked(const struct xd_engine *e);
void xd_verify_work_locked(struct xd_engine *e);

/* At the end of all work: 0, or CORRUPT if the whole is not what it should
 * be. */
int xd_verify_judge_locked(struct xd_engine *e, struct xd_error *err);

/*
 * Likewise, by the keeper or the thread of a pipe: the signature, which is taken,
 * held against all that has passed by, without the lock, and given back.
 */
struct xd_signature_check {
    struct xd_signature *signature; /* NULL: the file needs none */
    char signer[XD_SIGNER_SIZE];
    struct xd_error error; /* code XD_OK: it is right */
};

struct xd_signature_check xd_verify_take_signature_locked(
    const struct xd_engine *e);
void xd_verify_check_signature(struct xd_signature_check *c);

/* Returns 0, or the code of `err`: those of io/signature/signature.h. */
int xd_verify_give_signature_locked(struct xd_engine *e,
                                    const struct xd_signature_check *c,
                                    struct xd_error *err);

/* The download fails: it is not waited for any more. */
void xd_verify_stop_locked(struct xd_engine *e);

/* Whether all of the file passes by in order, for its hash or its signature; and
 * the passing of a pipe's next bytes, without the lock. */
bool xd_verify_passes_whole(const struct xd_engine *e);
void xd_verify_pass(struct xd_engine *e, const void *data, size_t len);

/* The sentence of the last mismatch, with `more` behind it.  Returns
 * CORRUPT. */
int xd_verify_fail_locked(const struct xd_engine *e, const char *more,
                          struct xd_error *err);

/* The algorithm that proved every byte, once it is complete; else NULL.  And the
 * key that signed it, likewise. */
const char *xd_verify_algorithm_locked(const struct xd_engine *e);
const char *xd_verify_signer_locked(const struct xd_engine *e);

#endif

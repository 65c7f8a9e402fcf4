/* SPDX-License-Identifier: MIT */
/*
 * A piece is wrong: carries out what session/blame.h decides, which depot is
 * asked for it alone, and which is banned.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_BLAME_H
#define XD_ENGINE_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xd_engine;
struct xd_error;

/* Of a new engine: before any byte is wrong.  Without the lock. */
void xd_blame_begin(struct xd_engine *e);

/* `depot` is not to be relied on, as `why` says: it is not used again, and what
 * it delivered and no piece has proved is fetched again, but for what has left
 * to a reader or through a pipe: that may well be right. */
void xd_blame_ban_locked(struct xd_engine *e, unsigned depot,
                         const struct xd_error *why);

/* The same for a depot that delivered wrong bytes: a reader that has bytes of
 * it is informed. */
void xd_blame_confirm_bad_locked(struct xd_engine *e, unsigned depot,
                                 const struct xd_error *why);

/* What the depot delivered, or is about to, is fetched again, but for what is proved or
 * out. */
void xd_blame_discard_locked(struct xd_engine *e, unsigned depot);

/* Piece `i`, all of which is written, was hashed, and `*bytes` are what was, or
 * NULL; takes those that it keeps.  Only the keeper calls this. */
void xd_blame_hashed_locked(struct xd_engine *e, size_t i, bool is_right,
                            unsigned char **bytes);

/* No depot is left that could deliver `byte`: if that is because one alone was
 * asked, ask the next.  True if there is one. */
bool xd_blame_ask_another_locked(struct xd_engine *e, uint64_t byte);

/* A depot can be asked for more than was known: not for what another is asked
 * for alone. */
void xd_blame_joined_locked(struct xd_engine *e, unsigned depot);

#endif

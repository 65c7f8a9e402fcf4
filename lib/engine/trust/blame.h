/*
 * A piece is wrong: which depot delivered the wrong bytes?
 *
 * When all of it came from one depot, that one did.  Else the piece is fetched
 * again from one depot alone, the one with the most verified bytes first, then
 * from the next, until it is right; what differs in the first copy names the
 * depot that delivered it.  A bad depot is not used again in this run, and what
 * else it delivered and nothing has proved is fetched again, from any other: it
 * explains other pieces that it had a part in.
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
struct xd_suspicion;

/* `depot` is not to be relied on, as `why` says: it is not used again, and what
 * it delivered and no piece has proved is fetched again, but for what has left
 * to a reader or through a pipe: that may well be right. */
void xd_blame_ban_locked(struct xd_engine *e, unsigned depot,
                         const struct xd_error *why);

/* The same for a depot that delivered wrong bytes: a reader that has bytes of
 * it is informed. */
void xd_blame_confirm_bad_locked(struct xd_engine *e, unsigned depot,
                                 const struct xd_error *why);

/* Whether `piece` was wrong, and the bad depot is not known yet. */
bool xd_blame_suspects_locked(const struct xd_engine *e, size_t piece);

/* Piece `i`, all of which is written, does not match its hash.  May release the
 * lock to read back what is wrong.  Only the keeper calls this. */
void xd_blame_bad_locked(struct xd_engine *e, size_t i);

/* Piece `i` matches, perhaps after it did not: then compare. */
void xd_blame_good_locked(struct xd_engine *e, size_t i);

/* No depot is left that could deliver `byte`: if that is because one alone was
 * asked, ask the next.  True if there is one. */
bool xd_blame_next_locked(struct xd_engine *e, uint64_t byte);

/* A depot can be asked for more than was known: not for what another is asked
 * for alone. */
void xd_blame_joined_locked(struct xd_engine *e, unsigned depot);

void xd_blame_free(struct xd_suspicion *list);

#endif

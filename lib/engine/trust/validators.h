/*
 * A depot's file must stay the same while it is fetched.
 *
 * What the first answer of a source says of its object, a strong ETag or
 * Last-Modified, goes with each later request (If-Range), and is held against
 * each later answer.  A depot that changes its file is not used again, and
 * what it brought and no hash has proved is fetched again from others.  Who
 * has nobody else is told so: bytes of two files are never put together.
 *
 * Only servers are compared with themselves: who is redirected elsewhere finds
 * another copy, with validators of its own.  Where each byte has the hash of a
 * piece nothing is compared: hashes say more, and the machines behind one name
 * often disagree in their ETags.
 */
#ifndef XD_ENGINE_VALIDATORS_H
#define XD_ENGINE_VALIDATORS_H

#include <stdbool.h>

struct xd_engine;
struct xd_head;
struct xd_lane;

/* Take what `lane` is to be asked with. */
void xd_validators_ask_locked(struct xd_engine *e, struct xd_lane *lane);

/* What the answer on `lane` says: 0, or DIFFERENT, and then lane->outcome is
 * decided.  Called without the lock, before the first byte. */
int xd_validators_learned(struct xd_engine *e, struct xd_lane *lane,
                          const struct xd_head *head);

/* Whether the request on `lane`, which has ended, found another file than an
 * earlier one. */
bool xd_validators_have_changed_locked(const struct xd_lane *lane);

#endif

/*
 * What a store in memory lets go of: all that nobody wants, looks at, copies or
 * hashes.
 */
#ifndef XD_ENGINE_DROP_H
#define XD_ENGINE_DROP_H

struct xd_engine;

/* Drop it; what is wanted again is fetched again. */
void xd_readers_drop_locked(struct xd_engine *e);

#endif

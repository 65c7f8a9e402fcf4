/*
 * What all transports of one download, or of one batch, have in common: the
 * addresses of names that one of them has looked up, and the watchdog over
 * calls that do not return.  Only transports look inside.
 */
#ifndef XD_IO_COMMONS_H
#define XD_IO_COMMONS_H

#include <xdownload/error.h>

struct xd_commons;

/*
 * Ownership: *out is the caller's, to release with xd_commons_free() after the
 *            last transport that uses it.
 * Errors:    NOMEM.
 */
int xd_commons_new(struct xd_commons **out, struct xd_error *err);
void xd_commons_free(struct xd_commons *c); /* NULL does nothing */

/* All transports are about to be freed: calls that do not return are ended
 * within a quarter of a second.  NULL does nothing.
 * Threads: any.  Blocks: no. */
void xd_commons_hurry(struct xd_commons *c);

#endif

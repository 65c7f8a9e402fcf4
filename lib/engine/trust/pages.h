/* SPDX-License-Identifier: MIT */
/*
 * Error pages: a depot that sends a page for people instead of the file is
 * refused when the first byte of the page comes.  Where a hash proves the file
 * that decides, and nothing is refused here.
 */
#ifndef XD_ENGINE_PAGES_H
#define XD_ENGINE_PAGES_H

#include <stddef.h>

struct xd_engine;
struct xd_lane;

/* The lane's request has an answer of this type: lane->may_be_page says
 * whether its bytes are to be looked at, which may not come. */
void xd_pages_learned(const struct xd_engine *e, struct xd_lane *lane,
                      const char *media_type);

/* The first bytes of that answer.  Returns 0, or a code when they are refused:
 * the lane's outcome says why. */
int xd_pages_look(struct xd_lane *lane, const void *data, size_t len);

#endif

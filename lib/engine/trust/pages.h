/* SPDX-License-Identifier: MIT */
/*
 * Refuses error pages as soon as their first bytes arrive: web pages that a
 * server sends instead of the file.  If a hash proves the file, nothing is
 * refused here.
 */
#ifndef XD_ENGINE_PAGES_H
#define XD_ENGINE_PAGES_H

#include <stddef.h>

struct xd_engine;
struct xd_lane;

/* Examines the media type of the response.  Sets lane->may_be_page if its first
 * bytes must be checked with xd_pages_look(). */
void xd_pages_learned(const struct xd_engine *e, struct xd_lane *lane,
                      const char *media_type);

/* Checks the first bytes of a response with lane->may_be_page.  Returns 0, or
 * an error if the response is refused; lane->outcome has the reason. */
int xd_pages_look(struct xd_lane *lane, const void *data, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Files that are added to a set while it runs, behind those that there are:
 *
 *     files   |===0===|=====1=====|==2==|====3====|
 *                                        `- added: wanted ends behind it now
 *
 * There is room for as many as were expected, so that nothing moves which other
 * threads use.
 */
#ifndef XD_ENGINE_SET_ADD_H
#define XD_ENGINE_SET_ADD_H

#include <stddef.h>

/* So many at most. */
#define XD_SET_MOST_ADDED 1000000

struct xd_engine;
struct xd_error;
struct xd_manifest;

/* As the functions of <xdownload/download.h>.  Without the lock. */
int xd_set_expect(struct xd_engine *e, size_t most, struct xd_error *err);
int xd_set_add(struct xd_engine *e, struct xd_manifest *m, size_t file,
               struct xd_error *err);
void xd_set_no_more(struct xd_engine *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Adds files to a set while it is being downloaded.  They are placed at the
 * end:
 *
 *     files   |===0===|=====1=====|==2==|====3====|
 *                                        `- added: `wanted` is extended by it
 *
 * Memory for the expected number of files is allocated in advance, so that
 * addresses used by other threads never change.
 */
#ifndef XD_ENGINE_SET_ADD_H
#define XD_ENGINE_SET_ADD_H

#include <stddef.h>

/* Maximum number of files. */
#define XD_SET_MOST_ADDED 1000000

struct xd_engine;
struct xd_error;
struct xd_manifest;

/* Implement the functions of <xdownload/download.h>.  Call them without the
 * lock. */
int xd_set_expect(struct xd_engine *e, size_t most, struct xd_error *err);
int xd_set_add(struct xd_engine *e, struct xd_manifest *m, size_t file,
               struct xd_error *err);
void xd_set_no_more(struct xd_engine *e);

#endif

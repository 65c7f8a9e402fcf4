/* SPDX-License-Identifier: MIT */
/*
 * Checks the free disk space before a set is downloaded: several files as one
 * download (set.h).
 */
#ifndef XD_ENGINE_SET_SPACE_H
#define XD_ENGINE_SET_SPACE_H

struct xd_engine;
struct xd_error;

/*
 * Returns IO if a disk has too little room for the files of known size that do
 * not exist yet, otherwise 0.  The space of .part files from earlier runs
 * counts as room, on whichever disk they are.
 *
 * Some files are not checked:
 * - files whose disk cannot be determined or examined, for example for lack of
 *   memory;
 * - files on further disks, after the first eight.
 *
 * Call it without the lock before anything is fetched.
 */
int xd_set_check_space(const struct xd_engine *e, struct xd_error *err);

#endif

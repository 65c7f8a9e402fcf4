/* SPDX-License-Identifier: MIT */
/*
 * A folder of its own, for files that are there only while a run lasts.
 */
#ifndef CLI_SCRATCH_H
#define CLI_SCRATCH_H

#define SCRATCH_SIZE 4096

/* Make one in $TMPDIR, or else in /var/tmp.  Returns 0, or a status after the
 * reason was said. */
int scratch_make(char out[SCRATCH_SIZE]);

/* Remove what is in it; and that and the folder. */
void scratch_empty(const char *path);
void scratch_remove(const char *path);

#endif

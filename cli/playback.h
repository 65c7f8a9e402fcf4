/*
 * What a viewer suffered, told to people or as JSON.
 */
#ifndef CLI_PLAYBACK_H
#define CLI_PLAYBACK_H

#include <stdio.h>

#include <xdownload/stream.h>

#include "args.h"

/* `name` (or NULL) is that of the file. */
void playback_put(FILE *to, const struct args *a, const char *name,
                  struct xd_source *s, struct xd_reader *r);

#endif

/*
 * How many bytes of a file each depot holds, as the manifest says.
 */
#ifndef CLI_HOSTS_H
#define CLI_HOSTS_H

#include <stdint.h>

#include <xdownload/manifest.h>

#include "snapshot.h"

struct hosts {
    uint64_t *held; /* by the depot's place in the snapshot; XD_SIZE_UNKNOWN:
                       the whole of a file of unknown size */
    uint64_t *end;  /* all before it has been counted */
};

/* Returns 0, or -1 without memory.  Release with hosts_fini(). */
int hosts_init(struct hosts *h, const struct snapshot *s,
               const struct xd_manifest *m, size_t file);
void hosts_fini(struct hosts *h);

#endif

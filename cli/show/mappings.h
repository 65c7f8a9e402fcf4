/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a file: a line each, and a warning of each, and of each replica of
 * parity, that is about to expire.  `probe` is what the file's depots said of them, or
 * NULL if they were not asked.
 */
#ifndef CLI_MAPPINGS_H
#define CLI_MAPPINGS_H

#include <xdownload/probe.h>

/* On standard output, as lors_ls lists them. */
void mappings_put(const struct xd_manifest *m, size_t file,
                  const struct xd_probe *probe);

/* On standard error: what has expired, or will within a day. */
void mappings_warn(const struct xd_manifest *m, size_t file,
                   const struct xd_probe *probe);

/* Behind a line: what its depot said; nothing if it was not asked. */
void mappings_put_probed(const struct xd_probed *p);

#endif

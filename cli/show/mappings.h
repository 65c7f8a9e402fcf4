/* SPDX-License-Identifier: MIT */
/*
 * Prints the mappings of a file, one per line.  Also warns about replicas that
 * will expire soon, including replicas of parity.  `probe` has the answers of
 * the depots, or is NULL if they were not asked.
 */
#ifndef CLI_MAPPINGS_H
#define CLI_MAPPINGS_H

#include <xdpublish/probe.h>

/* Prints the mappings to standard output, in a format like that of lors_ls. */
void mappings_put(const struct xd_manifest *m, size_t file,
                  const struct xd_probe *probe);

/* Prints to standard error which replicas have expired or will expire within a
 * day. */
void mappings_warn(const struct xd_manifest *m, size_t file,
                   const struct xd_probe *probe);

/* Prints the answer of the depot at the end of a line.  Prints nothing if the
 * depot was not asked. */
void mappings_put_probed(const struct xd_probed *p);

#endif

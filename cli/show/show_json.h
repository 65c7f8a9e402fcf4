/* SPDX-License-Identifier: MIT */
/*
 * Prints the output of xdownload show as JSON.  xdownload(1) documents the
 * format.
 */
#ifndef CLI_SHOW_JSON_H
#define CLI_SHOW_JSON_H

#include <xdpublish/probe.h>

/* Prints the files [first, end).  Unknown values are null.  `probes` has the
 * answers of the depots for each file, or is NULL. */
void show_json(const struct xd_manifest *m, size_t first, size_t end,
               struct xd_probe *const *probes);

#endif

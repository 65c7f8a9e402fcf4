/* SPDX-License-Identifier: MIT */
/*
 * Files of a manifest as one JSON document, whose shape xdownload(1) promises.
 */
#ifndef CLI_SHOW_JSON_H
#define CLI_SHOW_JSON_H

#include <xdownload/probe.h>

/* Those from `first` to before `end`, on standard output; what is unknown is
 * null.  `probes` has what the depots of each said, or NULL. */
void show_json(const struct xd_manifest *m, size_t first, size_t end,
               struct xd_probe *const *probes);

#endif

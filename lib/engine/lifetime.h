/* SPDX-License-Identifier: MIT */
/*
 * Creates, starts and destroys an engine with all its parts.
 */
#ifndef XD_ENGINE_LIFETIME_H
#define XD_ENGINE_LIFETIME_H

#include "engine/engine.h"

/*
 * Creates an engine.  Takes a reference to `m`, and copies `o` and `path` (the
 * path of the file, or NULL).  `fd` is the destination of an output that is
 * written in order.
 * Errors: those of xd_download_new().
 */
int xd_engine_new(struct xd_engine **out, struct xd_manifest *m, size_t file,
                  const struct xd_output_traits *output, const char *path,
                  int fd, const struct xd_options *o, struct xd_error *err);

/* Starts the threads.  Errors: those of xd_download_start(). */
int xd_engine_start(struct xd_engine *e, struct xd_error *err);

/* A new engine has one reference.  The last unref() cancels the download, joins
 * its threads and releases the engine.  unref(NULL) does nothing.  Threads:
 * any. */
struct xd_engine *xd_engine_ref(struct xd_engine *e);
void xd_engine_unref(struct xd_engine *e);

#endif

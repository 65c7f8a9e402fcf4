/* SPDX-License-Identifier: MIT */
/*
 * The beginning and the end of an engine: every part of it is put together, and
 * taken apart again, here and nowhere else.
 */
#ifndef XD_ENGINE_LIFETIME_H
#define XD_ENGINE_LIFETIME_H

#include "engine/engine.h"

/*
 * Prepare.  Takes a reference to `m`, copies `o` and `path`, which is that of
 * the file, or NULL.  `fd` is for an output in order.
 * Errors: those of xd_download_new().
 */
int xd_engine_new(struct xd_engine **out, struct xd_manifest *m, size_t file,
                  const struct xd_output_traits *output, const char *path,
                  int fd, const struct xd_options *o, struct xd_error *err);

/* Errors: those of xd_download_start(). */
int xd_engine_start(struct xd_engine *e, struct xd_error *err);

/* An engine is born with one reference.  The last unref() cancels it, joins its
 * threads and releases it.  unref(NULL) does nothing.  Threads: any. */
struct xd_engine *xd_engine_ref(struct xd_engine *e);
void xd_engine_unref(struct xd_engine *e);

#endif

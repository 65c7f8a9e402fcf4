/* SPDX-License-Identifier: MIT */
/* Checks which URLs are plain enough for a mesh, and writes their normal form.
 * Private to lib/mesh. */
#ifndef XD_MESH_MESH_URL_H
#define XD_MESH_MESH_URL_H

#include <stdbool.h>

#include "base/text.h"
#include "base/url.h"

/* Returns whether a server can be in a mesh: http or https, an ASCII host
 * without a trailing dot, no login. */
bool xd_mesh_is_server(const struct xd_url *u);

/* Returns whether all servers would interpret path and query in the same
 * way. */
bool xd_mesh_path_is_plain(const struct xd_url *u);

/* Appends the scheme, `between` ("://"), the host in lower case, and the port
 * unless it is the default. */
void xd_mesh_write_server(struct xd_text *t, const struct xd_url *u,
                          const char *between);

#endif

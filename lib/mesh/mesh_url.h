/* SPDX-License-Identifier: MIT */
/* Which URLs are plain enough for a mesh, and their normal form: for files of this
 * layer. */
#ifndef XD_MESH_MESH_URL_H
#define XD_MESH_MESH_URL_H

#include <stdbool.h>

#include "base/text.h"
#include "base/url.h"

/* What servers can be in a mesh: http or https, a host in ASCII without a dot at
 * its end, no login. */
bool xd_mesh_is_server(const struct xd_url *u);

/* Whether path and query are such that every server reads them alike. */
bool xd_mesh_path_is_plain(const struct xd_url *u);

/* Scheme, `between` ("://"), and the host in lower case, with its port if that is
 * not the scheme's. */
void xd_mesh_write_server(struct xd_text *t, const struct xd_url *u,
                          const char *between);

#endif

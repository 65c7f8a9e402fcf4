/* SPDX-License-Identifier: MIT */
/*
 * Attaches a note to each complete file that says which version was downloaded
 * (os/file_note.h).  It has a line "HASH validator" for each URL that delivered
 * bytes.  If a later run finds another validator at the same URL, the file is
 * outdated, even if the server states an older time.
 *
 * The note has hashes instead of URLs, so that it does not reveal to others
 * where the file comes from.
 */
#ifndef XD_ENGINE_FETCHED_VERSION_H
#define XD_ENGINE_FETCHED_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_depot_source;
struct xd_depots;
struct xd_engine;

/* Returns the note for the file that has the bytes `range`.  The caller
 * releases it with xd_free().  NULL if no depot stated a validator, or when out
 * of memory. */
char *xd_fetched_version_locked(const struct xd_engine *e,
                                struct xd_range range);

/* Returns true if the note of a file of a set needs the facts about `s`, a
 * source of that file. */
bool xd_fetched_version_needs(const struct xd_engine *e,
                              const struct xd_depot_source *s);

/* Attaches the note to file `i` of a set after it was renamed.  Call it without
 * the lock. */
void xd_fetched_version_keep(struct xd_engine *e, size_t i);

/* Returns the content of the note of the open file, as lines of the form "URL
 * validator", for those URLs of `d` that are in the note.  The caller releases
 * it with xd_free().  NULL if there are none. */
char *xd_fetched_version_known(int fd, const struct xd_depots *d);

#endif

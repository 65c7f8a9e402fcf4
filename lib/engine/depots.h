/* SPDX-License-Identifier: MIT */
/*
 * The depots of a download.
 *
 * A manifest lists replicas by extent.  Here they are grouped by depot.
 */
#ifndef XD_ENGINE_DEPOTS_H
#define XD_ENGINE_DEPOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/download.h>

#include "base/range.h"

struct xd_choice;
struct xd_depot;
struct xd_manifest;
struct xd_model_file;
struct xd_new_source;
struct xd_url;
struct xd_via;

struct xd_depots {
    struct xd_manifest *manifest; /* owns the strings */
    size_t file;
    struct xd_depot **list; /* the best first, then those added later; addresses
                               never change */
    size_t n, capacity;
    uint64_t size; /* size of the file, or XD_SIZE_UNKNOWN */
    /* numbers of failed depots and of depots in reserve; guarded by
     * engine.lock */
    size_t n_failed, n_in_reserve;
    /* limit on connections to all depots together; 0: no limit */
    unsigned max_connections;
    size_t n_files_refused; /* sources refused because allow_file is not set */
    struct xd_via *via;     /* owned by the caller; NULL if no mesh is used:
                               via.h */
};

/*
 * Creates the depots of file number `file`.  Leaves out sources that `choice`
 * refuses and, unless it allows them, files of this machine.  Sources at a
 * preferred location come first.
 * Errors: INVAL, NOMEM, NOREPLICA (only refused files of this machine hold
 * the file).  After an error nothing needs to be released.
 */
int xd_depots_init(struct xd_depots *d, struct xd_manifest *m, size_t file,
                   const struct xd_choice *choice, struct xd_error *err);
void xd_depots_fini(struct xd_depots *d);

/* Estimates the throughput of unknown depots from those in the depot cache, and
 * sorts depots of equal priority by it. */
void xd_depots_rank(struct xd_depots *d);

/*
 * Counts the failures that were stored in the manifest before the download.  A
 * depot that is not used because it failed is added for the report: as FAILED
 * and without sources.  It is not added if the size is unknown.  Call it after
 * xd_depots_rank().  Errors: NOMEM.
 */
int xd_depots_note_failures(struct xd_depots *d);

/* Sets the state of a depot and keeps n_failed and n_in_reserve up to date.
 * Every change from or to FAILED or RESERVE must use this function. */
void xd_depots_set_state(struct xd_depots *d, struct xd_depot *depot,
                         enum xd_depot_state state);

/* Sets the size that depots stated, for a file whose manifest has none. */
void xd_depots_set_size(struct xd_depots *d, uint64_t size);

/* Returns the depot of `url`, or NULL.  Mesh nodes do not count. */
struct xd_depot *xd_depots_find(const struct xd_depots *d,
                                const struct xd_url *url);

/*
 * Adds a source to the depot of its URL, and that depot to the end of the list
 * if it is new.  The URL is copied.
 * Errors: NOMEM; then nothing has changed.
 */
int xd_depots_add(struct xd_depots *d, const struct xd_new_source *what,
                  struct xd_depot **out);

/*
 * Adds a source for bytes that lie after those of all other sources: replica
 * number `place` of the file `in`, which must outlive the depots.  Sets *out to
 * its depot, and *out_is_new to true if that depot was added.
 * Errors: NOMEM; then nothing has changed.
 */
int xd_depots_append(struct xd_depots *d, struct xd_range range,
                     const struct xd_model_file *in, uint32_t place,
                     struct xd_depot **out, bool *out_is_new);

/*
 * Adds a depot without sources to the end of the list: a node of a mesh at the
 * address of `url`.  Returns NULL when out of memory.
 */
struct xd_depot *xd_depots_add_node(struct xd_depots *d,
                                    const struct xd_url *url, const char *id,
                                    unsigned node, bool is_other_address);

#endif

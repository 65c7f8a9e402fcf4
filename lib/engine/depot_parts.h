/* SPDX-License-Identifier: MIT */
/*
 * Internals of source.c, depot.c and depots.c.
 *
 * A depot has three kinds of sources:
 * - `sources`, an array with the sources of the manifest, up to about 100,000;
 * - `appended`, each allocated separately: files that were added, and files of
 *   a mesh node, whose sources have more fields;
 * - `added`, a list of sources that were added with xd_download_add_replica().
 *
 * Parity sources are in a separate array, `parity`.  They hold no bytes of the
 * file, and a request uses one only if no other source is left.
 */
#ifndef XD_ENGINE_DEPOT_PARTS_H
#define XD_ENGINE_DEPOT_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>

#include "base/range.h"
#include "engine/source.h"
#include "manifest/model.h"

struct xd_depot;

/* Values of `order`.  Sources that were added later are sorted after all
 * others, and appended sources just before them. */
#define XD_ORDER_ADDED UINT32_MAX
#define XD_ORDER_APPENDED (UINT32_MAX - 1)
#define XD_ORDER_PARITY (UINT32_MAX - 2)

/* A source that was added with xd_download_add_replica(), and the data that the
 * manifest has for other sources. */
struct xd_added_source {
    struct xd_depot_source source; /* the first member */
    struct xd_added_source *next;
    struct xd_model_file file;
    struct xd_model_replica replica;
    struct xd_replica more;
    struct xd_url *url; /* includes its text */
};

/* Returns the replica of the source in its manifest. */
const struct xd_model_replica *xd_source_replica(
    const struct xd_depot_source *s);

/* Compares by preference: negative if `x` is better. */
int xd_source_compare(const struct xd_depot_source *x,
                      const struct xd_depot_source *y);

/* Releases the facts from responses. */
void xd_source_free_facts(struct xd_depot_source *s);

/* Create sources that belong to no depot yet.  NULL when out of memory. */
struct xd_added_source *xd_added_source_new(const struct xd_new_source *what);
struct xd_depot_source *xd_appended_source_new(struct xd_range range,
                                               const struct xd_model_file *in,
                                               uint32_t place);
struct xd_depot_source *xd_node_source_new(const struct xd_via_file *via,
                                           struct xd_range range,
                                           const struct xd_url *url);

struct xd_depot_source *xd_parity_source_new(
    const struct xd_model_stripe *stripe, unsigned number,
    const struct xd_model_shard_replica *replica);

void xd_parity_source_free(struct xd_depot_source *s);
void xd_added_source_free(struct xd_added_source *a);
/* Also releases sources of mesh nodes. */
void xd_appended_source_free(struct xd_depot_source *s);

/* Creates a depot without sources for the server of `url`.  NULL when out of
 * memory. */
struct xd_depot *xd_depot_new(const struct xd_url *url);

/* Creates a depot from at least one source of the manifest, in any order.
 * Takes ownership of the sources, also on failure.  NULL when out of memory. */
struct xd_depot *xd_depot_new_of(struct xd_depot_source *sources, size_t n);

void xd_depot_free(struct xd_depot *d);

/* Implement xd_depots_add() and xd_depots_append() for a known depot.
 * xd_depot_add_parity() adds a parity shard of a stripe after all stripes added
 * before.  Errors: NOMEM; then nothing has changed. */
int xd_depot_add_source(struct xd_depot *depot,
                        const struct xd_new_source *what);
int xd_depot_add_parity(struct xd_depot *depot,
                        const struct xd_model_stripe *stripe, unsigned number,
                        const struct xd_model_shard_replica *replica);
int xd_depot_append_source(struct xd_depot *depot, struct xd_range range,
                           const struct xd_model_file *in, uint32_t place);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What source.c, depot.c and depots.c share, and no other file sees.
 *
 * A depot has sources of three kinds, by when they came:
 *  - those of the manifest are one array, `sources`, as there may be 100 000;
 *  - of those that were appended, `appended`, each is memory of its own: also of
 *    those of a node of a mesh, which have more;
 *  - those that were added, or joined, `added`, are a list.
 *
 * Those of parity, `parity`, stand apart: what they have is none of the file's
 * bytes, and only a request that finds no other source gets one.
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

/* The order of what joined, and before that of what was appended. */
#define XD_ORDER_ADDED UINT32_MAX
#define XD_ORDER_APPENDED (UINT32_MAX - 1)
#define XD_ORDER_PARITY (UINT32_MAX - 2)

/* One that joined: with what a manifest says of others. */
struct xd_added_source {
    struct xd_depot_source source; /* the first member */
    struct xd_added_source *next;
    struct xd_model_file file;
    struct xd_model_replica replica;
    struct xd_replica more;
    struct xd_url *url; /* with its text */
};

/* What the manifest says of it beside its URL. */
const struct xd_model_replica *xd_source_replica(
    const struct xd_depot_source *s);

/* By preference: less than 0 if `x` is the better one. */
int xd_source_compare(const struct xd_depot_source *x,
                      const struct xd_depot_source *y);

/* What was known of it is known no longer. */
void xd_source_free_facts(struct xd_depot_source *s);

/* Sources that come later, in no depot yet.  NULL when out of memory. */
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
void xd_appended_source_free(struct xd_depot_source *s); /* of a node, too */

/* A depot that holds nothing yet, at the address of `url`.  NULL when out of
 * memory. */
struct xd_depot *xd_depot_new(const struct xd_url *url);

/* The depot of these sources of the manifest, at least one, in any order.
 * Ownership: they are the depot's, or are released.  NULL when out of memory. */
struct xd_depot *xd_depot_new_of(struct xd_depot_source *sources, size_t n);

void xd_depot_free(struct xd_depot *d);

/* As xd_depots_add() and xd_depots_append(), once it is known to which depot; and
 * a shard of parity, of a stripe behind those before it.
 * Errors: NOMEM; then all is as before. */
int xd_depot_add_source(struct xd_depot *depot,
                        const struct xd_new_source *what);
int xd_depot_add_parity(struct xd_depot *depot,
                        const struct xd_model_stripe *stripe, unsigned number,
                        const struct xd_model_shard_replica *replica);
int xd_depot_append_source(struct xd_depot *depot, struct xd_range range,
                           const struct xd_model_file *in, uint32_t place);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The depots of a download: which holds which bytes, under which URL.
 *
 * A manifest lists replicas by extent; here they stand by depot.
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
    struct xd_manifest *manifest; /* holds the strings */
    size_t file;
    struct xd_depot **list; /* best first; those that joined later are last.
                               A depot stays where it is in memory */
    size_t n, capacity;
    uint64_t size;                 /* of the file, or XD_SIZE_UNKNOWN */
    size_t n_failed, n_in_reserve; /* of `list`; guarded by engine.lock */
    unsigned max_connections;      /* to all together; 0: no limit */
    size_t n_files_refused;        /* sources: for want of allow_file */
    struct xd_via *via; /* NULL: no mesh is used.  The caller's: via.h */
};

/* Those that `choice` refuses are left out, and files of this machine unless it
 * allows them; those at a location that it prefers come first.
 * Errors: INVAL, NOMEM, NOREPLICA (nothing but such files holds the file).  On
 * failure nothing is held. */
int xd_depots_init(struct xd_depots *d, struct xd_manifest *m, size_t file,
                   const struct xd_choice *choice, struct xd_error *err);
void xd_depots_fini(struct xd_depots *d);

/* Give every depot that is not known its promise, by what is known of others,
 * and let those of equal priority stand in the order of their promises. */
void xd_depots_rank(struct xd_depots *d);

/* A depot's state changes; all that make it one that has failed or is in
 * reserve, or is so no longer, do it by this. */
void xd_depots_set_state(struct xd_depots *d, struct xd_depot *depot,
                         enum xd_depot_state state);

/* The size that depots stated, of a file of which no manifest said it. */
void xd_depots_set_size(struct xd_depots *d, uint64_t size);

/* The depot that `url` lies on, which is no node; NULL if it is none of these. */
struct xd_depot *xd_depots_find(const struct xd_depots *d,
                                const struct xd_url *url);

/*
 * Add a source to the depot of its URL, which may be a new one, the last of the
 * list.  The URL is copied.
 * Errors: NOMEM; then all is as before.
 */
int xd_depots_add(struct xd_depots *d, const struct xd_new_source *what,
                  struct xd_depot **out);

/*
 * Add a source for bytes behind all others of the file: replica number `place` of
 * the file `in`, which outlives the depots.  Of its depot, which may be a new one,
 * *out_is_new.
 * Errors: NOMEM; then all is as before.
 */
int xd_depots_append(struct xd_depots *d, struct xd_range range,
                     const struct xd_model_file *in, uint32_t place,
                     struct xd_depot **out, bool *out_is_new);

/*
 * The depot that is a node of a mesh, at the address of `url`, as the last of the
 * list; it holds nothing yet.  NULL when out of memory.
 */
struct xd_depot *xd_depots_add_node(struct xd_depots *d,
                                    const struct xd_url *url, const char *id,
                                    unsigned node, bool is_other_address);

#endif

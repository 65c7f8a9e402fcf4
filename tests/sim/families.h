/* SPDX-License-Identifier: MIT */
/*
 * Families of random networks: a ruler that no single scenario can bend.
 *
 *     family, seed --> scenario as text --> a download by each policy --> time / bound
 *
 * The table in families.c says for each family its class, its parameters with their
 * ranges, and its bound.  The same seed gives the same network, whatever the policy.
 */
#ifndef XD_TESTS_SIM_FAMILIES_H
#define XD_TESTS_SIM_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "sim/run.h"

/* What is watched while it arrives, in parts of the file. */
struct xd_draw_film {
    double share; /* of the sustainable rate; 0: nothing is watched */
    double leaves_at, goes_to; /* 0: nobody seeks */
    double pauses_at;          /* 0: nobody pauses */
    double second; /* where another viewer begins; 0: there is none */
};

/* A network that is being drawn. */
struct xd_draw_network {
    struct xd_text text; /* the scenario */
    uint64_t random;
    unsigned n_depots;
    struct xd_sim_options *o; /* of the download, such as its size */
    struct xd_draw_film film;
};

struct xd_family {
    const char *name;
    const char *class;
    const char *parameters;
    const char *bound;
    void (*draw)(struct xd_draw_network *w);
    bool
        has_loss; /* its bound includes what TCP does, as the fluid has no loss */
    bool is_foreign; /* aria2 has no word for such a file */
};

extern const struct xd_family xd_families[];
extern const size_t xd_n_families;

/* From XD_RULED_FIXED on these are the clients with fixed rules, of which the first
 * is aria2. */
enum xd_ruled_policy {
    XD_RULED_ADAPTIVE,
    XD_RULED_BASIC,
    XD_RULED_PROGRESS,
    XD_RULED_ADAPTIVE2, /* only if it is asked for */
    XD_RULED_FIXED
};

struct xd_family_run {
    uint64_t size;     /* of the file, in bytes */
    double seconds;    /* INFINITY: it did not end */
    double over;       /* seconds divided by the bound */
    double duplicates; /* bytes that came in vain, per byte of the file */
    double requests, in_vain, connections;
    double cpu; /* microseconds per decision; 0: not measured */

    /* Seconds, of films: what the viewers waited, and what the bound waits. */
    double start, start_bound, stall, stall_bound, seek, seek_bound;
};

/* Draws the network of a seed, and runs one download.  With `text` it gets the
 * scenario, which the caller releases.  `has_bbr`: the depots' TCP is BBR, not
 * CUBIC.  0 or NOMEM. */
int xd_family_run(const struct xd_family *f, enum xd_ruled_policy policy,
                  uint64_t seed, bool has_bbr, struct xd_family_run *out,
                  struct xd_text *text);

/* Median, 95th percentile and worst of a column of `n` values, which it sorts. */
struct xd_spread {
    double median, p95, worst;
};
struct xd_spread xd_spread_of(double *values, size_t n);

/* families_fixed.c: clients with fixed rules, by their number.  0 is aria2 with 16
 * connections per server; the others are a menu, with which families_main.c finds what
 * knowing a family is worth. */
extern const unsigned xd_n_fixed;
void xd_fixed_name(unsigned fixed, char *out, size_t size);

/* Time in seconds, or INFINITY.  0 or NOMEM. */
int xd_fixed_run(unsigned fixed, const struct xd_scenario *s,
                 const struct xd_sim_options *o, struct xd_family_run *out,
                 double *out_seconds);

#endif

/* SPDX-License-Identifier: MIT */
/* Which block of its file a client gets next: in order, or by the algorithm of
 * the library's depot. */
#ifndef SIM_ONE_DEPOT_ORDER_H
#define SIM_ONE_DEPOT_ORDER_H

#include "one_depot.h"
#include "one_depot_memory.h"

struct one_depot_order;

/* For up to so many clients at a time.  These exit without memory. */
struct one_depot_order *one_depot_order_new(const struct one_depot *o,
                                            uint32_t n_clients);
void one_depot_order_free(struct one_depot_order *order);

void one_depot_order_begin(struct one_depot_order *order, uint32_t client,
                           uint32_t file, uint64_t now_us);
void one_depot_order_end(struct one_depot_order *order, uint32_t client,
                         uint64_t now_us);

/* A block of the client's file, never the same twice; NONE: it had all. */
uint32_t one_depot_order_next(struct one_depot_order *order, uint32_t client,
                              uint64_t now_us);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A bounded queue of fetch records.  When it is full, the oldest record is
 * dropped and counted, so a program that does not read records never delays a
 * download.
 *
 * Not thread-safe: guarded by engine.lock.
 */
#ifndef XD_ENGINE_RECORDS_H
#define XD_ENGINE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/download.h>

struct xd_fetch_record;
struct xd_records {
    struct xd_fetch_record *ring; /* NULL if records are not wanted */
    size_t first, n, capacity;
    uint64_t lost;
};

int xd_records_init(struct xd_records *r, bool wanted);
void xd_records_fini(struct xd_records *r);
void xd_records_put(struct xd_records *r, const struct xd_fetch_record *record);
bool xd_records_take(struct xd_records *r, struct xd_fetch_record *out);

#endif

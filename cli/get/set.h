/*
 * Small files that are fetched together: round trips cost more than their bytes.
 */
#ifndef CLI_SET_H
#define CLI_SET_H

#include <stddef.h>
#include <stdio.h>

#include "args/args.h"

struct xd_manifest;

/* How many files of the manifest, from number i on, are fetched together; 0: that
 * one is fetched by itself. */
size_t set_count(const struct args *a, const struct xd_manifest *m, size_t i);

/* Fetch those, say how it went, report (NULL: no report is wanted).  Returns a
 * status. */
int set_fetch(const struct args *a, struct xd_manifest *m, size_t i, size_t n,
              FILE *report);

#endif

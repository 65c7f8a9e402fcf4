/* SPDX-License-Identifier: MIT */
/* What there is to tell of an upload: for the display, as a snapshot, and for
 * programs, as JSON. */
#ifndef CLI_PUT_REPORT_H
#define CLI_PUT_REPORT_H

#include <stdio.h>

#include <xdownload/upload.h>

#include "common/snapshot.h"

/* The present state, with stores in the places of depots; what was sent more than
 * once counts as redundant. */
void put_snapshot(struct snapshot *s, struct xd_upload *u);

/* A line for each record that is new: "a.example  bytes 0-1048575  in 1.2 s". */
void put_records(FILE *to, struct xd_upload *u);

/* One JSON object in a line; `manifest` is its path, `error` NULL if all went
 * well. */
void put_report(FILE *to, struct xd_upload *u, const char *manifest,
                const char *outcome, const char *error);

#endif

/* SPDX-License-Identifier: MIT */
/* Reports on an upload: as a snapshot for the display, as lines for each
 * record, and as JSON. */
#ifndef CLI_PUT_REPORT_H
#define CLI_PUT_REPORT_H

#include <stdio.h>

#include <xdpublish/upload.h>

#include "common/json.h"
#include "common/snapshot.h"

/* Takes the current state, with stores as depots.  Bytes that were sent
 * repeatedly count as redundant. */
void put_snapshot(struct snapshot *s, struct xd_upload *u);

/* Prints a line like "a.example  bytes 0-1048575  in 1.2 s" for each new
 * record. */
void put_records(FILE *to, struct xd_upload *u);

/* Writes the members of a JSON object.  `manifest` is the path of the manifest;
 * `error` is NULL on success. */
void put_report(struct json *j, struct xd_upload *u, const char *manifest,
                const char *outcome, const char *error);

#endif

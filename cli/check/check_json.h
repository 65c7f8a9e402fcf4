/* SPDX-License-Identifier: MIT */
/* Prints the results of xdownload check as JSON. */
#ifndef CLI_CHECK_JSON_H
#define CLI_CHECK_JSON_H

#include <xdpublish/audit.h>

struct json;

/* Begins a JSON object on standard output and writes `n` files, starting with
 * number `first`. */
void check_json_begin(struct json *j, const struct xd_manifest *m, size_t first,
                      struct xd_audit *const *audits, size_t n);

#endif

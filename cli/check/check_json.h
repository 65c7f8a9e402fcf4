/* SPDX-License-Identifier: MIT */
/* The same for programs. */
#ifndef CLI_CHECK_JSON_H
#define CLI_CHECK_JSON_H

#include <xdownload/audit.h>

/* Of the `n` files from `first` on, on standard output. */
void check_json(const struct xd_manifest *m, size_t first,
                struct xd_audit *const *audits, size_t n);

#endif

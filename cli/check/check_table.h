/* SPDX-License-Identifier: MIT */
/* Prints the results of xdownload check as a table. */
#ifndef CLI_CHECK_TABLE_H
#define CLI_CHECK_TABLE_H

#include <xdpublish/audit.h>

#include "args/args.h"

void check_table(const struct args *a, const struct xd_manifest *m, size_t file,
                 const struct xd_audit *audit);

#endif

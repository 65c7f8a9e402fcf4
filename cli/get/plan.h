/* SPDX-License-Identifier: MIT */
/*
 * What --dry-run prints, on standard output: what would be fetched, from
 * where, and how.
 */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "get/fetch.h"

/* Contacts no depot and writes no file.  Returns a status. */
int plan_print(const struct job *job);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Prints the output of --dry-run: what would be downloaded, from which servers,
 * and with which options.
 */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "get/fetch.h"

/* Prints the plan for a job.  Contacts no depot and writes no file.  Returns a
 * status. */
int plan_print(const struct job *job);

#endif

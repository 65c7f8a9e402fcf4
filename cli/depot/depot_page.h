/* SPDX-License-Identifier: MIT */
/*
 * Writes the status of a depot as a page or as JSON: the files being served,
 * their clients, and the bytes read from disks compared to the bytes sent.
 *
 * Threads: any.
 */
#ifndef CLI_DEPOT_PAGE_H
#define CLI_DEPOT_PAGE_H

#include <stdio.h>

struct depot;
struct http_server;

void depot_page_put(FILE *to, struct depot *d, const struct http_server *s);
void depot_json_put(FILE *to, struct depot *d, const struct http_server *s);

#endif

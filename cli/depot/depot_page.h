/* SPDX-License-Identifier: MIT */
/*
 * How a depot stands: its files that are being served, their clients, and what was
 * read from disks for what was sent; as a page for people, and as JSON.
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

/* SPDX-License-Identifier: MIT */
/* Options in the form that the engine uses: parsed and checked. */
#ifndef XD_ENGINE_OPTIONS_H
#define XD_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <xdownload/options.h>

#include "base/choice.h"
#include "base/range.h"
#include "engine/begun.h"
#include "io/net_options.h"
#include "transfer/batch.h"

/* The value of --range, before the size of the file is known. */
struct xd_range_option {
    uint64_t first; /* first byte; XD_AUTO: the last `count` bytes */
    uint64_t last;  /* last byte, inclusive; UINT64_MAX: to the end */
    uint64_t count;
};

/* Options for S3.  A string is NULL if it was not given. */
struct xd_s3_options {
    char *endpoint, *region, *access_key, *secret_key, *session_token;
    uint64_t host_style, part_bytes;
};

/* Fields are named after the rows of the table in options.def; switches are 0
 * or 1. */
struct xd_options {
    uint64_t algorithm; /* enum algorithm of options.c */
    uint64_t redundancy, progress_number, block_bytes, threads_per_depot,
        max_depots, max_files, allow_file, https_only, no_metalink, same_file,
        accept_html, content_disposition, remote_time, force, no_continue,
        no_final_check, no_cancel, whole_blocks, silence, retry, patience,
        lookahead, lookahead_time /* 0: use `lookahead`, in bytes */, records,
        max_time, via_copies;
    struct xd_range_option range;
    unsigned most_lanes; /* maximum number of lanes of a depot, from the
                            manifest or the number of free descriptors; 0: no
                            limit */
    char *exclude;       /* list of hosts for base/hosts.h, or NULL; owned */
    char *only;          /* like `exclude` */
    char *locations;     /* list for base/choice.h, or NULL; owned */
    /* owned, or NULL */
    char *keep, *spool, *depot_cache, *keyring, *public_key, *via;
    struct xd_net_options net; /* its strings are owned */
    struct xd_s3_options s3;   /* its strings are owned */
    uint64_t set[2]; /* bit set of the options that the user has set, by row of
                        the table, 64 in each element */
    xd_log_fn *log;
    void *log_user;
    struct xd_cancel *cancel;     /* counted reference, or NULL */
    struct xd_begun_place *begun; /* what inspection started with these options
                                     or a copy of them; counted reference, or
                                     NULL */
};

/* Sets all options to their defaults. */
void xd_options_init(struct xd_options *o);

/* Copies options, or the defaults if `o` is NULL.  Release them with fini().
 * Errors: NOMEM. */
int xd_options_copy(struct xd_options *out, const struct xd_options *o);
void xd_options_fini(struct xd_options *o);

/* Returns true if the algorithm divides the file into blocks. */
bool xd_options_have_blocks(const struct xd_options *o);

/* Return the value that applies: the one that the user set, or the default of
 * the algorithm. */
unsigned xd_options_lanes(const struct xd_options *o);
/* Returns the number of simultaneous requests for each of `n_depots` depots, if
 * there are many short files and requests share a connection. */
unsigned xd_options_streams(const struct xd_options *o, size_t n_depots);
unsigned xd_options_first_lanes(const struct xd_options *o);
unsigned xd_options_most_depots(const struct xd_options *o);

const char *xd_options_algorithm(const struct xd_options *o);

/* Returns true if the user has set the option `name`. */
bool xd_options_is_set(const struct xd_options *o, const char *name);

/* Returns true if requests would be the same with both sets of options. */
bool xd_options_have_same_net(const struct xd_options *a,
                              const struct xd_options *b);

/* Returns how long to wait for the first byte of a response that no other depot
 * can replace; 0 if the user has set the silence limit. */
xd_usec xd_options_first_byte(const struct xd_options *o);

/* Returns the settings for a batch of requests.  They point into `o`. */
struct xd_batch_config xd_options_batch(const struct xd_options *o);

/* Returns the filter for replicas.  It points into `o`. */
struct xd_choice xd_options_choice(const struct xd_options *o);

/* Returns true if no range was given. */
bool xd_options_want_all(const struct xd_options *o);

/*
 * Sets *out to the bytes that the user wants of a file of `size` bytes.
 * Errors: INVAL if none of them is in the file.
 */
int xd_options_wanted(const struct xd_options *o, uint64_t size,
                      struct xd_range *out, struct xd_error *err);

#endif

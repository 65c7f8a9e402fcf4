/* SPDX-License-Identifier: MIT */
/* Options as the engine reads them: numbers, checked one by one. */
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

/* What --range said, before the size is known. */
struct xd_range_option {
    uint64_t first; /* XD_AUTO: the last `count` bytes */
    uint64_t last;  /* included; UINT64_MAX: to the end */
    uint64_t count;
};

/* Of stores of S3; a string may be NULL: it was not given. */
struct xd_s3_options {
    char *endpoint, *region, *access_key, *secret_key, *session_token;
    uint64_t host_style, part_bytes;
};

/* Fields have the names of the table; switches are 0 or 1. */
struct xd_options {
    uint64_t algorithm; /* an enum algorithm of options.c */
    uint64_t redundancy, progress_number, block_bytes, threads_per_depot,
        max_depots, max_files, allow_file, https_only, no_metalink, same_file,
        accept_html, content_disposition, remote_time, force, no_continue,
        no_final_check, no_cancel, whole_blocks, silence, retry, patience,
        lookahead, lookahead_time /* 0: lookahead says it */, records, max_time,
        via_copies;
    struct xd_range_option range;
    unsigned most_lanes; /* of a depot, by the manifest or the descriptors that
                            are left; 0: any number */
    char *exclude;       /* a list of base/hosts.h, or NULL; owned */
    char *only;          /* likewise */
    char *locations;     /* of base/choice.h, or NULL; owned */
    char *keep, *spool, *depot_cache, *keyring, *public_key, *via; /* owned; or
                                                                      NULL */
    struct xd_net_options net; /* its strings are owned */
    struct xd_s3_options s3;   /* likewise */
    uint64_t set[2]; /* bit i, 64 of them in each: row i of the table was set by
                        the user */
    xd_log_fn *log;
    void *log_user;
    struct xd_cancel *cancel;     /* NULL: there is none; a reference */
    struct xd_begun_place *begun; /* of what was begun with these options, and
                                     copies of them; or NULL; a reference */
};

/* The defaults. */
void xd_options_init(struct xd_options *o);

/* Of NULL: the defaults.  Errors: NOMEM.  A copy is released with fini(), and so
 * is what was set. */
int xd_options_copy(struct xd_options *out, const struct xd_options *o);
void xd_options_fini(struct xd_options *o);

/* "progress" */
/* Whether the algorithm cuts the file into blocks. */
bool xd_options_have_blocks(const struct xd_options *o);

/* What is in force: what was asked for, or what suits the algorithm. */
unsigned xd_options_lanes(const struct xd_options *o);
/* What is asked for at a time of each of so many depots, where files are many and
 * short and requests share a connection. */
unsigned xd_options_streams(const struct xd_options *o, size_t n_depots);
unsigned xd_options_first_lanes(const struct xd_options *o);
unsigned xd_options_most_depots(const struct xd_options *o);

const char *xd_options_algorithm(const struct xd_options *o);

/* Whether the user has set a row of the table. */
bool xd_options_is_set(const struct xd_options *o, const char *name);

/* Whether requests are made in the same way. */
bool xd_options_have_same_net(const struct xd_options *a,
                              const struct xd_options *b);

/* How a batch of requests is carried out; lives as long as `o`. */
struct xd_batch_config xd_options_batch(const struct xd_options *o);

/* Which replicas may be asked; lives as long as `o`. */
struct xd_choice xd_options_choice(const struct xd_options *o);

/* Whether no range was given. */
bool xd_options_want_all(const struct xd_options *o);

/* The bytes that the options want of a file of `size` bytes.
 * Errors: INVAL, when none of them is in the file. */
int xd_options_wanted(const struct xd_options *o, uint64_t size,
                      struct xd_range *out, struct xd_error *err);

#endif

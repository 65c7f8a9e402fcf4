/* SPDX-License-Identifier: MIT */
/*
 * Files that are fetched together: each by itself would have a start and an end in
 * which connections have nothing to do.  They are gathered one by one, and fetched
 * when the next one is not one of them.
 */
#ifndef CLI_SET_H
#define CLI_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "args/args.h"

struct xd_manifest;

/* A file of a set: no more than is needed, as there may be 100 000. */
struct set_row {
    uint32_t manifest, file; /* its number in that, */
    uint32_t line;           /* and which line of a list it is of */
};

/* A zeroed struct is an empty set. */
struct set {
    size_t n, capacity;
    struct set_row *rows;
    char *
        *paths; /* where each goes; NULL: where its manifest says, or NULL: all
                     do */
    struct xd_manifest **manifests; /* of the rows */
    size_t n_manifests;
    uint32_t
        *slots; /* a table of the rows by their paths: a row's number and 1,
                        or 0; none is there twice */
    size_t n_slots;
};

/* What a row says. */
struct set_file {
    struct xd_manifest *manifest;
    size_t file;      /* its number in it, */
    const char *path; /* where it goes, */
    uint32_t line;    /* and which line of a list it is of */
};

/* Whether file number i of the manifest, which goes to `path`, can be one of a
 * set: it is not very long, and no file of its name is there, or may be it. */
bool set_takes(const struct args *a, const struct xd_manifest *m, size_t i,
               const char *path);

/* Whether one of a plain URL, which has turned out to be so long, can be one of a
 * set after all. */
bool set_takes_sized(const struct args *a, uint64_t size, const char *path);

/* Whether one of them goes there already. */
bool set_has(const struct set *s, const char *path);

/* `line` is the caller's.  Takes a reference to the manifest.  False: there is no
 * memory. */
bool set_add(struct set *s, struct xd_manifest *m, size_t i, const char *path,
             uint32_t line);

/* One of them.  It is good until the set changes. */
struct set_file set_get(const struct set *s, size_t i);

/* What became of a set. */
struct set_outcome {
    size_t n_failed;      /* for themselves */
    size_t *left;         /* of the set: those that are to be fetched alone, */
    uint64_t *left_sizes; /* and how long they are, or XD_SIZE_UNKNOWN */
    size_t n_left;
};

/* Fetch them, say how it went, report (NULL: no report is wanted).  Nothing is added
 * any more, nor looked for.  Returns a status.  Ownership: the arrays of *out are the caller's, to be freed. */
int set_fetch(struct set *s, const struct args *a, FILE *report,
              struct set_outcome *out);

/* It is empty from then on. */
void set_clear(struct set *s);

#endif

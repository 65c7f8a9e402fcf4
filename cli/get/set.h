/* SPDX-License-Identifier: MIT */
/*
 * A set of files that are downloaded together, so that connections are not idle
 * at the start and end of each file.  Files are collected one by one.  The set
 * is downloaded when the next file cannot be added.
 */
#ifndef CLI_SET_H
#define CLI_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "args/args.h"

struct xd_manifest;

/* A file of a set; small, because there may be 100,000. */
struct set_row {
    /* index of the manifest in `manifests`, and of the file in the manifest */
    uint32_t manifest, file;
    uint32_t line; /* line number in the list */
};

/* A zeroed struct is an empty set. */
struct set {
    size_t n, capacity;
    struct set_row *rows;
    /* The path of each file.  An element is NULL if the path is from the
     * manifest.  The array is NULL if this is so for all files. */
    char **paths;
    struct xd_manifest **manifests; /* the manifests of all rows */
    size_t n_manifests;
    uint32_t
        /* Hash table of the rows by path.  An element is the index of a row +
         * 1, or 0.  Paths are unique. */
        *slots;
    size_t n_slots;
};

/* One file of a set. */
struct set_file {
    struct xd_manifest *manifest;
    size_t file;      /* number in the manifest */
    const char *path; /* path to which the file is written */
    uint32_t line;    /* line number in the list */
};

/* Returns whether file `i` of the manifest, to be written to `path`, can be
 * part of a set.  It can if it is not very long, and if no file exists at the
 * path, except a file that can be compared. */
bool set_takes(const struct args *a, const struct xd_manifest *m, size_t i,
               const char *path);

/* Returns whether a file can be part of a set.  For a file that is given by a
 * plain URL and whose size is known now. */
bool set_takes_sized(const struct args *a, uint64_t size, const char *path);

/* Returns whether a file of the set will be written to `path`. */
bool set_has(const struct set *s, const char *path);

/* Adds a file.  `line` is for the caller.  Takes a reference to the manifest.
 * Returns false if memory runs out. */
bool set_add(struct set *s, struct xd_manifest *m, size_t i, const char *path,
             uint32_t line);

/* Returns file `i`.  The result is valid until the set changes. */
struct set_file set_get(const struct set *s, size_t i);

/* The result of downloading a set. */
struct set_outcome {
    size_t n_failed; /* number of files that failed */
    /* numbers of the files in the set that must be downloaded separately */
    size_t *left;
    uint64_t *left_sizes; /* the sizes of these files, or XD_SIZE_UNKNOWN */
    size_t n_left;
};

/* Downloads the set, displays the result and writes the report (NULL: no
 * report).  Do not change the set afterwards.  Returns a status.
 * Ownership: the caller frees the arrays of *out. */
int set_fetch(struct set *s, const struct args *a, FILE *report,
              struct set_outcome *out);

/* Empties the set. */
void set_clear(struct set *s);

#endif

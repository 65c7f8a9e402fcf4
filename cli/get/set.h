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
#include <stdio.h>

#include "args/args.h"

struct xd_manifest;

/* A zeroed struct is an empty set. */
struct set {
    size_t n, capacity;
    struct xd_manifest **manifests; /* of each file, */
    size_t *files;                  /* its number in it, */
    char **paths;                   /* where it goes, */
    size_t *lines;                  /* and which line of a list it is of */
    void *known;                    /* a tree of paths: none is there twice */
};

/* Whether file number i of the manifest, which goes to `path`, can be one of a
 * set: it is not very long, and no file of its name is there, or may be it. */
bool set_takes(const struct args *a, const struct xd_manifest *m, size_t i,
               const char *path);

/* Whether one of them goes there already. */
bool set_has(const struct set *s, const char *path);

/* `line` is the caller's.  Takes a reference to the manifest.  False: there is no
 * memory. */
bool set_add(struct set *s, struct xd_manifest *m, size_t i, const char *path,
             size_t line);

/* What became of a set. */
struct set_outcome {
    size_t n_failed; /* for themselves */
    size_t *left;    /* of the set: those that are to be fetched alone */
    size_t n_left;
};

/* Fetch them, say how it went, report (NULL: no report is wanted).  Returns a
 * status.  Ownership: out->left is the caller's, to be freed. */
int set_fetch(const struct set *s, const struct args *a, FILE *report,
              struct set_outcome *out);

/* It is empty from then on. */
void set_clear(struct set *s);

#endif

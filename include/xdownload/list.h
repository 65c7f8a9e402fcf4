/* SPDX-License-Identifier: MIT */
/*
 * A list of different files, in the form that aria2 and wget read with
 * --input-file:
 *
 *     # a comment
 *     https://a.example/d.iso<TAB>https://b.example/d.iso
 *       out=disk.iso
 *       dir=images
 *       checksum=sha-256=HEX
 *     https://a.example/film.mkv
 *
 * Each line is a file, and the URLs on it, with tabs between them, are its
 * copies; a URL may also lead to a manifest, which xd_inspect() finds out.
 * Indented lines are options of the file above them.
 *
 * A list says nothing of sizes and pieces, and so is no manifest; a list of URLs
 * of one file is one (xd_manifest_read()).
 *
 * Life:     parse -> get -> free.
 * Threads:  immutable once made; any number of threads may read one.
 *           Strings that a getter hands out live as long as the list.
 */
#ifndef XDOWNLOAD_LIST_H
#define XDOWNLOAD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

struct xd_list;
struct xd_manifest;

/* Filled in by the library and may grow: the caller sets struct_size first. */
struct xd_listed {
    size_t struct_size;
    size_t line;             /* of its URLs, from 1 */
    const char *const *urls; /* http, https and ftp */
    size_t n_urls;           /* at least 1 */
    /* The path of the file within the folder that the program chooses, as in
     * xd_file: that of `directory` and `name`.  NULL: its server names it. */
    const char *path;
    const char *directory; /* of dir=; "" if there is none */
    const char *name;      /* of out=; NULL: that of the first URL */
    const char *checksum;  /* of checksum=, for xd_checksums_add(); or NULL */
};

XD_BEGIN_DECLS

/*
 * Parse `len` bytes at `data`.  `origin` is where the text came from, for error
 * sentences: a path, or "-" for standard input.  `servers_name`: files that no
 * out= names will have the names that their servers give them (the option
 * content-disposition), so that URLs need not name them, and may end alike.
 *
 * Ownership: *out is the caller's, to release with xd_list_free(); it is NULL
 *            after an error.  Nothing passed in is kept.
 * Errors:    INVAL with the number of the line: one that is no URL, an option of
 *            which the value cannot be used, a second file with the path of
 *            another, or no URL at all; NOMEM.
 * Blocks:    no.
 */
XD_API XD_MUST_CHECK int xd_list_parse(struct xd_list **out, const void *data,
                                       size_t len, const char *origin,
                                       bool servers_name, struct xd_error *err);

/* The same of a file; "-" is standard input.  At most 64 MiB are read.
 * Errors: also IO.  Blocks: on the disk, or on what writes to the pipe. */
XD_API XD_MUST_CHECK int xd_list_read(struct xd_list **out, const char *path,
                                      bool servers_name, struct xd_error *err);

/* How many files; at least 1. */
XD_API size_t xd_list_n_files(const struct xd_list *l);

/* The i-th file: 0, or INVAL past the last. */
XD_API int xd_list_file(const struct xd_list *l, size_t i,
                        struct xd_listed *out);

/*
 * The files of the list as those of a manifest, in its order: of each the size is
 * not known, and its URLs are taken for copies of it.  What the list says of
 * checksums is not in it, and `path` may be NULL, as above.
 * Ownership: *out has one reference, the caller's; the list need not outlive it.
 * Errors:    NOMEM.  Blocks: no.
 */
XD_API XD_MUST_CHECK int xd_list_manifest(struct xd_manifest **out,
                                          const struct xd_list *l,
                                          struct xd_error *err);

/* What was passed over and why, one sentence each; NULL past the last one. */
XD_API const char *xd_list_warning(const struct xd_list *l, size_t i);

XD_API void xd_list_free(struct xd_list *l); /* NULL does nothing */

XD_END_DECLS

#endif

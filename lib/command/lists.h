/* SPDX-License-Identifier: MIT */
/*
 * Lists of different files to download, in the format that aria2 and wget read
 * with --input-file.  xd_list_read() reads a list, and xd_list_manifest() makes
 * a manifest of its files:
 *
 *     # a comment
 *     https://a.example/d.iso<TAB>https://b.example/d.iso
 *       out=disk.iso
 *       dir=images
 *       checksum=sha-256=HEX
 *     https://a.example/film.mkv
 *
 * Each line without indentation describes one file: it lists the URLs of the
 * copies, separated by tabs.  The indented lines below it are options of that
 * file: out, dir and checksum.  Other options are ignored, with a warning.  An
 * indented line that begins with SCHEME:// also describes a file.
 *
 * A URL of the list may also lead to a manifest; use xd_inspect() to find out.
 * A list of the copies of a single file is a manifest: see xd_manifest_read().
 *
 * Ownership: strings that functions return live as long as the list.
 * Threads:   any thread may call all functions here, and any number of threads
 *            may use one list at the same time.
 */
#ifndef XD_COMMAND_LISTS_H
#define XD_COMMAND_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

struct xd_list;
struct xd_manifest;

/* One file of a list.  The library fills it in, and later releases may add
 * fields at its end.  For struct_size see version.h. */
struct xd_listed {
    size_t struct_size;
    size_t line;             /* line number of its URLs, from 1 */
    const char *const *urls; /* http:, https:, ftp: and ftps: URLs */
    size_t n_urls;           /* at least 1 */
    /* Relative path of the file, made of `directory` and `name`, without ".."
     * components.  NULL if the server will choose the name (`servers_name`). */
    const char *path;
    const char *directory; /* from dir=; "" if not given */
    const char *name;      /* from out=; NULL: the name in the first URL */
    const char *checksum;  /* from checksum=, for xd_checksums_add(); or NULL */
};

/*
 * Parses a list from memory.  `origin` is the name of the list in error
 * messages: a path, or "-" for standard input.
 *
 * If `servers_name` is true, the servers will choose the names of files without
 * out= (option content-disposition).  URLs then need not end in a file name,
 * and several URLs may end in the same name.
 *
 * Ownership: the caller releases *out with xd_list_free().  The list keeps no
 *            pointers to `data` and `origin`.
 * Blocks:    no.
 * Errors:
 * - INVAL: a line is neither a URL nor an option; an option has an invalid
 *   value, is before the first URL, or is given twice for a file; two files
 *   have the same path; or there is no URL.  The message names the line.
 * - INVAL: the list is longer than 64 MiB or has a zero byte, or `origin` is
 *   NULL.
 * - NOMEM.
 */
XD_MUST_CHECK int xd_list_parse(struct xd_list **out, const void *data,
                                size_t len, const char *origin,
                                bool servers_name, struct xd_error *err);

/*
 * Reads and parses the list in the file `path`; "-" is standard input.  It
 * reads at most 64 MiB.
 * Blocks: on disk I/O, or on the writer of a pipe.
 * Errors: the errors of xd_list_parse(); IO.
 */
XD_MUST_CHECK int xd_list_read(struct xd_list **out, const char *path,
                               bool servers_name, struct xd_error *err);

/* Returns the number of files, at least 1. */
size_t xd_list_n_files(const struct xd_list *l);

/* Reports file number `i`, from 0.  Returns 0, or INVAL if `i` is out of
 * range. */
int xd_list_file(const struct xd_list *l, size_t i, struct xd_listed *out);

/*
 * Makes a manifest of the files of a list, in the same order.  The sizes are
 * unknown, and the library assumes that all URLs of a file lead to copies of
 * it.  Checksums are left out, and xd_file.path is NULL where xd_listed.path is
 * NULL.
 *
 * xd_checksums_apply() can add a checksum to a file.  After that,
 * xd_download_new_set() rejects the file, because a file with a checksum needs
 * a known size there.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  The manifest
 *            does not need the list.
 * Blocks:    no.
 * Errors:    NOMEM.
 */
XD_MUST_CHECK int xd_list_manifest(struct xd_manifest **out,
                                   const struct xd_list *l,
                                   struct xd_error *err);

/* Returns warning number `i`: one sentence about a line that was ignored or
 * changed.  Returns NULL if `i` is out of range.  There are at most 100
 * warnings. */
const char *xd_list_warning(const struct xd_list *l, size_t i);

/* Releases a list; NULL does nothing. */
void xd_list_free(struct xd_list *l);

#endif

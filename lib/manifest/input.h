/* SPDX-License-Identifier: MIT */
/*
 * The text of a manifest, from a file (block by block) or from memory.
 *
 *     file --> front --> reader     while the format is unknown: kept, because
 *                                   it is read again from the beginning
 *     file ------------> reader     afterwards: nothing is kept
 *
 * So a large manifest in a file is never in memory as a whole, unless it is a
 * list of URLs.
 */
#ifndef XD_MANIFEST_INPUT_H
#define XD_MANIFEST_INPUT_H

#include "base/text.h"
#include "manifest/builder.h"

struct xd_input {
    int fd; /* -1: `front` contains the whole text */
    const char *name;
    char *owned; /* memory of `front`; NULL: `front` is the caller's text */
    size_t capacity;
    struct xd_span front; /* beginning of the text, which was read and kept */
    size_t at;            /* offset of the next byte to return */
    size_t n_read;        /* bytes read from the file */
    bool is_at_end;
    bool is_last; /* the text will not be read again, so nothing more is kept */
};

/* Reads from memory, which must outlive the input. */
void xd_input_init(struct xd_input *in, struct xd_span text);

/* Opens the file at `path`; "-" is standard input.  `path` must outlive the
 * input.  Errors: IO. */
int xd_input_open(struct xd_input *in, const char *path, struct xd_error *err);

void xd_input_fini(struct xd_input *in);

/*
 * Reads until `front` has at least `least` bytes or the whole text.  Stops at
 * one byte more than XD_MANIFEST_MAX.
 * Errors: IO, NOMEM.
 */
int xd_input_fill(struct xd_input *in, size_t least, struct xd_error *err);

/* Reads the whole text to `front`, with the same limit. */
int xd_input_fill_all(struct xd_input *in, struct xd_error *err);

/* Starts a new pass over the text, at offset `at` of `front`.  `is_last` says
 * that this is the last pass.  Then text after `front` is not kept in
 * memory. */
void xd_input_rewind(struct xd_input *in, size_t at, bool is_last);

/*
 * Returns the next bytes, at most `room`; none at the end.
 * Errors: MANIFEST (too long, or not text), IO, NOMEM.
 */
int xd_input_read(struct xd_input *in, struct xd_builder *b, char *out,
                  size_t room, size_t *out_len);

/* Checks that `front` is text and not too long.  Errors: MANIFEST. */
int xd_input_check(const struct xd_input *in, struct xd_builder *b);

#endif

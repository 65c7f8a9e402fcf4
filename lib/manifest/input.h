/* SPDX-License-Identifier: MIT */
/*
 * The text of a manifest, as its reader takes it: from a file, a block at a
 * time, or from memory.
 *
 *     file --> front --> reader     until the format is known: kept, as it
 *                                   is read again from its beginning
 *     file ------------> reader     then: nothing is held
 *
 * A large manifest in a file never lies in memory as a whole, unless it is a
 * list of URLs.
 */
#ifndef XD_MANIFEST_INPUT_H
#define XD_MANIFEST_INPUT_H

#include "base/text.h"
#include "manifest/builder.h"

struct xd_input {
    int fd; /* -1: `front` is all there is */
    const char *name;
    char *owned; /* what holds `front`, or NULL: the caller's text */
    size_t capacity;
    struct xd_span front; /* the beginning of the text: read, and kept */
    size_t at;            /* offset in the text of what is handed out next */
    size_t n_read;        /* bytes of the file */
    bool is_at_end;
    bool is_last; /* the text is read for the last time: no more is kept */
};

/* Of a text in memory, which must outlive the input. */
void xd_input_init(struct xd_input *in, struct xd_span text);

/* Of the file at `path`, "-" being standard input; both must outlive the input.
 * Errors: IO. */
int xd_input_open(struct xd_input *in, const char *path, struct xd_error *err);

void xd_input_fini(struct xd_input *in);

/*
 * Keep at least `least` bytes in `front`, or all there are, but of a text that
 * is longer than a manifest may be no more than one byte beyond.
 * Errors: IO, NOMEM.
 */
int xd_input_fill(struct xd_input *in, size_t least, struct xd_error *err);

/* All of it is in `front`, likewise. */
int xd_input_fill_all(struct xd_input *in, struct xd_error *err);

/* Go to offset `at` of the front; with `is_last` for the last time, so that
 * what is not yet in the front need not be kept. */
void xd_input_rewind(struct xd_input *in, size_t at, bool is_last);

/*
 * The next bytes, at most `room`; none at the end.
 * Errors: MANIFEST (longer than a manifest may be, or not text), IO, NOMEM.
 */
int xd_input_read(struct xd_input *in, struct xd_builder *b, char *out,
                  size_t room, size_t *out_len);

/* Whether `front` is text, and no longer than a manifest.  Errors: MANIFEST. */
int xd_input_check(const struct xd_input *in, struct xd_builder *b);

#endif

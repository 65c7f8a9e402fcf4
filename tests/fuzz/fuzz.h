/* SPDX-License-Identifier: MIT */
/*
 * What every fuzz target is made of: bytes come in, something is done with
 * them, and the process dies when a promise is broken.
 *
 * libFuzzer calls the target in the preset "fuzz"; elsewhere replay.c does,
 * with the inputs that are kept in corpus/.
 */
#ifndef XD_TESTS_FUZZ_H
#define XD_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Always 0.  The names are libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define FUZZ_CHECK(promise)                                               \
    ((promise)                                                            \
         ? (void)0                                                        \
         : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #promise), \
            abort()))

/* Bytes as choices.  Past the end all are 0. */
struct fuzz_input {
    const uint8_t *at, *end;
};

static inline struct fuzz_input fuzz_input(const uint8_t *data, size_t len)
{
    return (struct fuzz_input){data, data + len};
}

static inline bool fuzz_is_over(const struct fuzz_input *in)
{
    return in->at == in->end;
}

static inline unsigned fuzz_byte(struct fuzz_input *in)
{
    return fuzz_is_over(in) ? 0 : *in->at++;
}

/* A number below `n`, which is at most 65536, out of one byte or two. */
static inline unsigned fuzz_below(struct fuzz_input *in, unsigned n)
{
    unsigned value = fuzz_byte(in);

    if (n > 256)
        value |= fuzz_byte(in) << 8;
    return value % n;
}

static inline unsigned fuzz_between(struct fuzz_input *in, unsigned least,
                                    unsigned most)
{
    return least + fuzz_below(in, most - least + 1);
}

/* The next line as a string of its own, so that AddressSanitizer sees who
 * reads beyond it; NULL past the last.  The caller's, to free(). */
static inline char *fuzz_line(struct fuzz_input *in, size_t *out_len)
{
    size_t left = (size_t)(in->end - in->at), len;
    const uint8_t *newline = left > 0 ? memchr(in->at, '\n', left) : NULL;
    char *line;

    if (left == 0)
        return NULL;
    len = newline ? (size_t)(newline - in->at) : left;
    line = malloc(len + 1);
    FUZZ_CHECK(line != NULL);
    memcpy(line, in->at, len);
    line[len] = '\0';
    in->at += newline ? len + 1 : len;
    *out_len = len;
    return line;
}

#endif

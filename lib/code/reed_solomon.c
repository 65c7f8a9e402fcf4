/* SPDX-License-Identifier: MIT */
#include "code/reed_solomon.h"

#include <stdbool.h>
#include <string.h>

#include <isa-l/erasure_code.h>

#include "base/alloc.h"

/* Bytes of tables that ISA-L needs for each matrix element. */
#define TABLE_BYTES 32

/* Number of bytes of each shard for one call of ISA-L.  ISA-L reads the sources
 * again for every few outputs, so they should stay in the cache.  For 100 data
 * shards with 50 of parity, this takes half the time of 64 KiB. */
#define STEP_BYTES 4096

static const unsigned char zeros[STEP_BYTES];

/* Rows of a matrix, in the form of tables that ISA-L needs for a
 * multiplication. */
struct multiplier {
    unsigned n_from, n_to;
    /* not const, because ISA-L takes no pointer to const */
    unsigned char *tables;
};

struct xd_coder {
    unsigned k, n;
    unsigned char *matrix; /* n rows of k elements */
    struct multiplier parity;
};

struct xd_decoder {
    struct multiplier wanted;
};

/* Prepares a matrix for ISA-L.  `rows` has n_to rows of n_from elements; it is
 * not kept.  Returns 0 or NOMEM. */
static int make_multiplier(struct multiplier *m, unsigned n_from, unsigned n_to,
                           unsigned char *rows)
{
    m->n_from = n_from;
    m->n_to = n_to;
    m->tables = xd_alloc((size_t)n_from * n_to, TABLE_BYTES);
    if (m->tables == NULL)
        return XD_E_NOMEM;
    ec_init_tables((int)n_from, (int)n_to, rows, m->tables);
    return 0;
}

static void multiply(const struct multiplier *m, size_t len,
                     const uint8_t *const *from, uint8_t *const *to)
{
    unsigned char *sources[XD_SHARDS_MAX], *outputs[XD_SHARDS_MAX];

    for (size_t at = 0; at < len; at += STEP_BYTES) {
        size_t step = len - at < STEP_BYTES ? len - at : STEP_BYTES;

        for (unsigned i = 0; i < m->n_from; i++) {
            const unsigned char *source = from[i] ? from[i] + at : zeros;

            /* ISA-L only reads it; its prototype lacks the const. */
            sources[i] = (unsigned char *)(uintptr_t)source;
        }
        for (unsigned i = 0; i < m->n_to; i++)
            outputs[i] = to[i] + at;
        ec_encode_data((int)step, (int)m->n_from, (int)m->n_to, m->tables,
                       sources, outputs);
    }
}

int xd_coder_new(struct xd_coder **out, unsigned k, unsigned n,
                 struct xd_error *err)
{
    struct xd_coder *c;

    *out = NULL;
    if (k < 1 || k > n || n > XD_SHARDS_MAX)
        return xd_fail(err, XD_E_INVAL,
                       "invalid code of %u shards, %u of them data: use 1 to "
                       "%u shards, and at least one for data",
                       n, k, (unsigned)XD_SHARDS_MAX);
    c = xd_alloc(1, sizeof *c);
    if (c == NULL)
        return xd_fail_nomem(err);
    c->k = k;
    c->n = n;
    c->matrix = xd_alloc(n, k);
    if (c->matrix == NULL)
        goto no_memory;
    gf_gen_cauchy1_matrix(c->matrix, (int)n, (int)k);
    if (make_multiplier(&c->parity, k, n - k, c->matrix + (size_t)k * k) < 0)
        goto no_memory;
    *out = c;
    return 0;

no_memory:
    xd_coder_free(c);
    return xd_fail_nomem(err);
}

void xd_coder_free(struct xd_coder *c)
{
    if (c == NULL)
        return;
    xd_free(c->parity.tables);
    xd_free(c->matrix);
    xd_free(c);
}

void xd_coder_encode(const struct xd_coder *c, size_t len,
                     const uint8_t *const *data, uint8_t *const *parity)
{
    multiply(&c->parity, len, data, parity);
}

static int check_shards(const struct xd_coder *c, const unsigned *present,
                        const unsigned *wanted, unsigned n_wanted,
                        struct xd_error *err)
{
    bool is_present[XD_SHARDS_MAX] = {false};

    for (unsigned i = 0; i < c->k; i++) {
        if (present[i] >= c->n || is_present[present[i]])
            return xd_fail(err, XD_E_INVAL,
                           "shard %u is none of %u, or is named twice",
                           present[i], c->n);
        is_present[present[i]] = true;
    }
    if (n_wanted < 1 || n_wanted > c->n)
        return xd_fail(err, XD_E_INVAL, "%u shards are wanted of %u", n_wanted,
                       c->n);
    for (unsigned i = 0; i < n_wanted; i++)
        if (wanted[i] >= c->n)
            return xd_fail(err, XD_E_INVAL, "shard %u is none of %u", wanted[i],
                           c->n);
    return 0;
}

/* Multiplies a row of k elements by a k x k matrix. */
static void multiply_row(unsigned char *out, const unsigned char *row,
                         const unsigned char *matrix, unsigned k)
{
    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < k; j++)
            out[j] ^= gf_mul(row[i], matrix[(size_t)i * k + j]);
}

/*
 * Computes the rows by which the available shards are multiplied to get the
 * wanted ones.
 *
 * The available shards are their matrix rows times the data.  So the data is
 * the inverse of those rows times the available shards, and a wanted shard is
 * its own row times the data.
 *
 * `work` has room for two k x k matrices; `rows` is zeroed.
 */
static int find_rows(const struct xd_coder *c, const unsigned *present,
                     const unsigned *wanted, unsigned n_wanted,
                     unsigned char *work, unsigned char *rows,
                     struct xd_error *err)
{
    size_t k = c->k;
    unsigned char *inverse = work + k * k;

    for (unsigned i = 0; i < c->k; i++)
        memcpy(work + i * k, c->matrix + present[i] * k, k);
    if (gf_invert_matrix(work, inverse, (int)c->k) < 0)
        return xd_fail(err, XD_E_BUG,
                       "%u of %u shards cannot be decoded: their matrix has no "
                       "inverse",
                       c->k, c->n);
    for (unsigned i = 0; i < n_wanted; i++)
        multiply_row(rows + i * k, c->matrix + wanted[i] * k, inverse, c->k);
    return 0;
}

int xd_decoder_new(struct xd_decoder **out, const struct xd_coder *c,
                   const unsigned *present, const unsigned *wanted,
                   unsigned n_wanted, struct xd_error *err)
{
    struct xd_decoder *d = NULL;
    unsigned char *work = NULL, *rows = NULL;
    int rc;

    *out = NULL;
    rc = check_shards(c, present, wanted, n_wanted, err);
    if (rc < 0)
        return rc;
    d = xd_alloc(1, sizeof *d);
    work = xd_alloc(2 * (size_t)c->k, c->k);
    rows = xd_alloc(n_wanted, c->k);
    rc = d && work && rows ? 0 : xd_fail_nomem(err);
    if (rc == 0)
        rc = find_rows(c, present, wanted, n_wanted, work, rows, err);
    if (rc == 0 && make_multiplier(&d->wanted, c->k, n_wanted, rows) < 0)
        rc = xd_fail_nomem(err);
    if (rc == 0) {
        *out = d;
        d = NULL;
    }
    xd_decoder_free(d);
    xd_free(work);
    xd_free(rows);
    return rc;
}

void xd_decoder_free(struct xd_decoder *d)
{
    if (d == NULL)
        return;
    xd_free(d->wanted.tables);
    xd_free(d);
}

void xd_decoder_run(const struct xd_decoder *d, size_t len,
                    const uint8_t *const *from, uint8_t *const *out)
{
    multiply(&d->wanted, len, from, out);
}

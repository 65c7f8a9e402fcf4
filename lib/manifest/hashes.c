/* SPDX-License-Identifier: MIT */
#include "manifest/hashes.h"

#include <strings.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/number.h"
#include "manifest/names.h"

#define MAX_HEX 512

/* Strongest first.  Hashes of other algorithms are kept too, after these. */
static const struct xd_algorithm algorithms[XD_ALGORITHMS] = {
    {"sha-512", "sha512", 128, true}, {"sha-384", "sha384", 96, true},
    {"sha-256", "sha256", 64, true},  {"sha-224", "sha224", 56, true},
    {"sha-1", "sha1", 40, true},      {"md5", NULL, 32, true},
    {"crc32c", NULL, 8, false},       {"adler32", NULL, 8, false},
};

const struct xd_algorithm *xd_algorithm_find(struct xd_span type)
{
    for (size_t i = 0; i < XD_ALGORITHMS; i++) {
        const char *alias = algorithms[i].alias;

        if (xd_span_is_word(type, algorithms[i].name) ||
            (alias && xd_span_is_word(type, alias)))
            return &algorithms[i];
    }
    return NULL;
}

unsigned xd_algorithm_strength(const char *name)
{
    const struct xd_algorithm *a = xd_algorithm_find(xd_span_of(name));

    return a && a->checks_pieces ? XD_ALGORITHMS - (unsigned)(a - algorithms)
                                 : 0;
}

static bool is_plain_word(struct xd_span s)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_./";
    for (size_t i = 0; i < s.len; i++) {
        if (!memchr(allowed, s.s[i], sizeof allowed - 1))
            return false;
    }
    return s.len > 0 && s.len <= 32;
}

const struct xd_algorithm *xd_algorithm_of_length(size_t hex_len)
{
    for (size_t i = 0; i < XD_ALGORITHMS; i++) {
        if (algorithms[i].checks_pieces && algorithms[i].hex_len == hex_len)
            return &algorithms[i];
    }
    return NULL;
}

/* Copies hex digits in lower case.  Returns false for other characters. */
static bool copy_hex(char *out, struct xd_span s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.s[i];
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
        out[i] = c;
    }
    out[s.len] = '\0';
    return true;
}

/* Copies a hash in lower case.  Returns false if it is not a hash of this
 * algorithm (NULL: unknown). */
static bool is_hash(const struct xd_algorithm *algorithm, struct xd_span hex,
                    char out[MAX_HEX + 1])
{
    if (algorithm ? hex.len != algorithm->hex_len
                  : hex.len == 0 || hex.len > MAX_HEX)
        return false;
    return copy_hex(out, hex);
}

bool xd_hash_read(const struct xd_algorithm *algorithm, struct xd_span hex,
                  char out[XD_KNOWN_HEX_MAX + 1])
{
    char value[MAX_HEX + 1];
    if (!is_hash(algorithm, hex, value))
        return false;
    memcpy(out, value, hex.len + 1);
    return true;
}

/* Adds a hash.  Names of known algorithms are constants and are not copied. */
static void add_hash(struct xd_builder *b, const struct xd_algorithm *known,
                     const char *algorithm, struct xd_span hex)
{
    struct xd_draft *d = &b->draft;
    size_t i = 0;
    while (i < d->n_hashes && strcasecmp(d->hashes[i].algorithm, algorithm))
        i++;
    struct xd_model_hash *h = &d->hashes[i];
    if (i < d->n_hashes) {
        if (h->hex && !xd_span_is(hex, h->hex)) {
            xd_builder_warn(b, "two values of the hash %s: neither is used",
                            algorithm);
            h->hex = NULL;
        }
    } else if (i == XD_HASHES_MAX) {
        xd_builder_warn(b, "more than %d hashes: %s is not used", XD_HASHES_MAX,
                        algorithm);
    } else {
        h->algorithm =
            known ? known->name : xd_builder_copy(b, xd_span_of(algorithm));
        h->hex = xd_builder_copy(b, hex);
        d->n_hashes += h->algorithm && h->hex;
    }
}

void xd_builder_hash(struct xd_builder *b, struct xd_span type,
                     struct xd_span hex)
{
    const struct xd_algorithm *known = xd_algorithm_find(type);
    struct xd_quoted q;
    char value[MAX_HEX + 1], word[33];
    if (!is_plain_word(type)) {
        xd_builder_warn(b, "a hash without the name of its algorithm");
    } else if (!is_hash(known, hex, value)) {
        xd_builder_warn(b, "%s is no value of the hash %.*s", xd_quote(&q, hex),
                        (int)type.len, type.s);
    } else {
        memcpy(word, type.s, type.len);
        word[type.len] = '\0';
        add_hash(b, known, known ? known->name : word, xd_span_of(value));
    }
}

const char *xd_builder_sha256(struct xd_builder *b, struct xd_span hex)
{
    struct xd_quoted q;
    char value[MAX_HEX + 1];
    if (is_hash(xd_algorithm_find(xd_span_of("sha-256")), hex, value))
        return xd_builder_copy(b, xd_span_of(value));
    xd_builder_warn(b, "%s is no value of the hash sha-256", xd_quote(&q, hex));
    return NULL;
}

void xd_builder_pieces(struct xd_builder *b, struct xd_span type,
                       uint64_t piece_bytes)
{
    struct xd_draft *d = &b->draft;
    struct xd_quoted q;
    if (d->n_lists == XD_PIECE_LISTS_MAX) {
        d->n_lists--;
        xd_free(d->lists[d->n_lists].hex);
        xd_builder_warn(b, "more than %d lists of pieces", XD_PIECE_LISTS_MAX);
    }
    struct xd_piece_list *l = &d->lists[d->n_lists++];
    *l = (struct xd_piece_list){.algorithm = xd_algorithm_find(type),
                                .piece_bytes = piece_bytes};
    l->bad = !l->algorithm || !l->algorithm->checks_pieces;
    if (l->bad && !xd_span_is(type, "zsync"))
        xd_builder_warn(b, "pieces of type %s are not used",
                        xd_quote(&q, type));
    if (piece_bytes == 0) {
        xd_builder_warn(b, "pieces without a length are not used");
        l->bad = true;
    }
}

/* Checks the number, because with a wrong order good pieces would fail
 * verification. */
void xd_builder_piece_number(struct xd_builder *b, struct xd_span number)
{
    struct xd_piece_list *l = &b->draft.lists[b->draft.n_lists - 1];
    struct xd_quoted q;
    uint64_t n;
    number = xd_span_trim(number);
    if (l->bad || (xd_parse_u64(number.s, number.len, &n) && n == l->n))
        return;
    xd_builder_warn(b,
                    "piece %s stands where piece %zu belongs: the pieces are "
                    "not used",
                    xd_quote(&q, number), l->n);
    l->bad = true;
}

void xd_builder_piece(struct xd_builder *b, struct xd_span hex)
{
    struct xd_draft *d = &b->draft;
    struct xd_piece_list *l = &d->lists[d->n_lists - 1];
    struct xd_quoted q;
    char value[MAX_HEX + 1];
    if (l->bad || b->out_of_memory)
        return;
    if (!is_hash(l->algorithm, hex, value)) {
        xd_builder_warn(b, "%s is no %s of a piece: the pieces are not used",
                        xd_quote(&q, hex), l->algorithm->name);
        l->bad = true;
        return;
    }
    size_t stride = hex.len + 1;
    if (l->n == l->capacity) {
        char *grown = xd_grow(l->hex, l->n, &l->capacity, stride);
        if (!grown) {
            b->out_of_memory = true;
            return;
        }
        l->hex = grown;
    }
    memcpy(l->hex + l->n++ * stride, value, stride);
}

/* Returns whether the list has one hash per piece of the file; warns if not. */
static bool fits(struct xd_builder *b, const struct xd_piece_list *l,
                 uint64_t size)
{
    if (size == XD_SIZE_UNKNOWN) {
        xd_builder_warn(b, "pieces of a file without a size are not used");
        return false;
    }
    uint64_t count = size / l->piece_bytes + (size % l->piece_bytes != 0);
    if (l->n == count)
        return true;
    xd_builder_warn(b,
                    "%zu pieces of %llu bytes, where a file of %llu bytes "
                    "has %llu: they are not used",
                    l->n, (unsigned long long)l->piece_bytes,
                    (unsigned long long)size, (unsigned long long)count);
    return false;
}

static bool keep_pieces(struct xd_builder *b, struct xd_model_rare *rare,
                        const struct xd_piece_list *l)
{
    struct xd_pool *pool = &b->manifest->pool;
    struct xd_model_pieces *p = xd_pool_alloc(pool, sizeof *p);
    const size_t stride = l->algorithm->hex_len + 1;
    char *hex = xd_pool_array(pool, l->n, stride);
    if (!p || !hex)
        return false;
    memcpy(hex, l->hex, l->n * stride);
    *p = (struct xd_model_pieces){.algorithm = l->algorithm->name,
                                  .piece_bytes = l->piece_bytes,
                                  .n = l->n,
                                  .hex = hex,
                                  .stride = stride};
    rare->pieces = p;
    return true;
}

static void take_pieces(struct xd_builder *b, const struct xd_model_file *f,
                        struct xd_model_rare *rare)
{
    struct xd_draft *d = &b->draft;
    struct xd_piece_list *best = NULL;
    for (size_t i = 0; i < d->n_lists; i++) {
        struct xd_piece_list *l = &d->lists[i];
        /* The table is sorted by strength. */
        if (!l->bad && fits(b, l, f->size) &&
            (!best || l->algorithm < best->algorithm))
            best = l;
    }
    if (best && best->n > 0 && !keep_pieces(b, rare, best))
        b->out_of_memory = true;
}

static size_t rank(const char *algorithm)
{
    const struct xd_algorithm *a = xd_algorithm_find(xd_span_of(algorithm));
    return a ? (size_t)(a - algorithms) : XD_ALGORITHMS;
}

bool xd_algorithm_is_strong(const char *name)
{
    return strcasecmp(name, "sha-256") == 0 ||
           strcasecmp(name, "sha-384") == 0 || strcasecmp(name, "sha-512") == 0;
}

bool xd_draft_has_strong_hash(const struct xd_draft *d)
{
    for (size_t i = 0; i < d->n_hashes; i++) {
        if (d->hashes[i].hex && xd_algorithm_is_strong(d->hashes[i].algorithm))
            return true;
    }
    return false;
}

void xd_hashes_insert(struct xd_model_file *f, const struct xd_model_hash *hash)
{
    size_t at = f->n_hashes++, own = rank(hash->algorithm);
    for (; at > 0 && rank(f->hashes[at - 1].algorithm) > own; at--)
        f->hashes[at] = f->hashes[at - 1];
    f->hashes[at] = *hash;
}

bool xd_hashes_take(struct xd_builder *b, struct xd_model_file *f,
                    struct xd_model_rare *rare)
{
    struct xd_draft *d = &b->draft;
    take_pieces(b, f, rare);
    if (d->n_hashes == 0)
        return true;
    f->hashes =
        xd_pool_array(&b->manifest->pool, d->n_hashes, sizeof *f->hashes);
    if (!f->hashes)
        return false;
    for (size_t i = 0; i < d->n_hashes; i++) {
        if (!d->hashes[i].hex)
            continue;
        d->hashes[i].is_offered = d->is_offered;
        xd_hashes_insert(f, &d->hashes[i]);
    }
    return true;
}

void xd_hashes_fini(struct xd_draft *d)
{
    for (size_t i = 0; i < d->n_lists; i++)
        xd_free(d->lists[i].hex);
}

void xd_builder_copy_pieces(struct xd_builder *b,
                            const struct xd_model_pieces *p)
{
    if (!p)
        return;
    xd_builder_pieces(b, xd_span_of(p->algorithm), p->piece_bytes);
    for (size_t i = 0; i < p->n; i++)
        xd_builder_piece(b, xd_span_of(p->hex + i * p->stride));
}

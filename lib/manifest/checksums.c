/* SPDX-License-Identifier: MIT */
/*
 * Checksums, sorted by file name; those without a name come first.
 */
#include <xdownload/check.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/url.h"
#include "command/checks.h"
#include "manifest/model.h"
#include "manifest/names.h"
#include "manifest/parse.h"
#include "manifest/signed_texts.h"
#include "manifest/sums.h"

#define MIB ((size_t)1 << 20)

struct entry {
    const char *signed_by; /* key, or NULL */
    const char *name;      /* file name as in the manifest; "": none */
    const char *path;      /* path as written, with its folders */
    const struct xd_algorithm *algorithm;
    const char *hex;
    size_t origin;
};

struct xd_checksums {
    struct xd_pool pool; /* holds all strings */
    struct entry *list;
    size_t n, capacity;
    const char **origins; /* names of the texts for messages, without secrets */
    size_t n_origins, origins_capacity;
    const char *signer; /* key of the entries being added, or NULL */
};

int xd_checksums_new(struct xd_checksums **out, struct xd_error *err)
{
    *out = xd_alloc(1, sizeof **out);
    return *out ? 0 : xd_fail_nomem(err);
}

void xd_checksums_free(struct xd_checksums *c)
{
    if (!c)
        return;
    xd_pool_fini(&c->pool);
    xd_free(c->list);
    xd_free(c->origins);
    xd_free(c);
}

static int compare(const struct entry *a, const char *name, size_t origin)
{
    int c = strcmp(a->name, name);
    return c ? c : (a->origin > origin) - (a->origin < origin);
}

static int by_name(const void *left, const void *right)
{
    const struct entry *b = right;
    return compare(left, b->name, b->origin);
}

/* Returns the index of the first entry that is not before (name, origin). */
static size_t find(const struct xd_checksums *c, const char *name,
                   size_t origin)
{
    size_t begin = 0, end = c->n;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (compare(&c->list[middle], name, origin) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

bool xd_checksums_are_of_one(const struct xd_checksums *c)
{
    return c->n > 0 && c->list[0].name[0] == '\0';
}

/* Stores the name of the next origin, number n_origins. */
static int name_origin(struct xd_checksums *c, const char *said)
{
    const char *copy = xd_pool_copy(&c->pool, xd_span_of(said));
    const char **more =
        xd_grow(c->origins, c->n_origins, &c->origins_capacity, sizeof *more);
    if (more)
        c->origins = more;
    if (!more || !copy)
        return XD_E_NOMEM;
    c->origins[c->n_origins] = copy;
    return 0;
}

static int add(struct xd_checksums *c, struct xd_span name, struct xd_span path,
               const struct xd_algorithm *algorithm, const char *hex)
{
    struct entry e = {
        .algorithm = algorithm, .origin = c->n_origins, .signed_by = c->signer};
    e.name = xd_pool_copy(&c->pool, name);
    e.path = xd_pool_copy(&c->pool, path);
    e.hex = xd_pool_copy(&c->pool, xd_span_of(hex));
    struct entry *more = xd_grow(c->list, c->n, &c->capacity, sizeof *more);
    if (more)
        c->list = more;
    if (!more || !e.name || !e.path || !e.hex)
        return XD_E_NOMEM;
    c->list[c->n++] = e;
    return 0;
}

static void finish_origin(struct xd_checksums *c)
{
    c->n_origins++;
    if (c->n > 0)
        qsort(c->list, c->n, sizeof *c->list, by_name);
}

/* Finds the algorithm by the number of hex digits. */
static const struct xd_algorithm *algorithm_of_digits(const char *text)
{
    size_t len = strlen(text);
    if (strspn(text, "0123456789abcdefABCDEF") != len)
        return NULL;
    return xd_algorithm_of_length(len);
}

/* Splits "ALGORITHM=HEX", "ALGORITHM:HEX" or "HEX".  Returns NULL if the
 * algorithm is unknown. */
static const struct xd_algorithm *split_value(const char *text,
                                              struct xd_span *out_hex)
{
    size_t len = strcspn(text, "=:");
    if (text[len] == '\0') {
        *out_hex = xd_span_of(text);
        return algorithm_of_digits(text);
    }
    *out_hex = xd_span_of(text + len + 1);
    return xd_algorithm_find(xd_span(text, len));
}

bool xd_checksum_is_value(const char *text)
{
    struct xd_span hex;
    return split_value(text, &hex) != NULL;
}

/* Returns a nameless checksum of this algorithm that differs from `hex`, or
 * NULL. */
static const char *other_value(const struct xd_checksums *c,
                               const struct xd_algorithm *algorithm,
                               const char *hex)
{
    for (size_t i = 0; i < c->n && c->list[i].name[0] == '\0'; i++) {
        if (c->list[i].algorithm == algorithm &&
            strcmp(c->list[i].hex, hex) != 0)
            return c->list[i].hex;
    }
    return NULL;
}

int xd_checksums_add(struct xd_checksums *c, const char *value,
                     struct xd_error *err)
{
    char hex[XD_KNOWN_HEX_MAX + 1];
    struct xd_span digits, none = {NULL, 0};
    const struct xd_algorithm *algorithm = split_value(value, &digits);
    if (!algorithm)
        return xd_fail(err, XD_E_INVAL,
                       "invalid checksum '%s': use TYPE=HEX, such as "
                       "sha-256=3f2a..., or the hex digits alone",
                       value);
    if (!algorithm->checks_pieces)
        return xd_fail(err, XD_E_INVAL, "%s cannot be computed",
                       algorithm->name);
    if (!xd_hash_read(algorithm, digits, hex))
        return xd_fail(err, XD_E_INVAL,
                       "'%s' is no %s, which has %zu hex digits", digits.s,
                       algorithm->name, algorithm->hex_len);
    const char *other = other_value(c, algorithm, hex);
    if (other)
        return xd_fail(err, XD_E_MANIFEST,
                       "two values of %s are given, %s and %s: one file has "
                       "only one",
                       algorithm->name, other, hex);
    if (name_origin(c, "the value given") < 0 ||
        add(c, none, none, algorithm, hex) < 0)
        return xd_fail_nomem(err);
    finish_origin(c);
    return 0;
}

static struct xd_span without_dots(struct xd_span path)
{
    while (path.len > 2 && path.s[0] == '.' && path.s[1] == '/')
        path = xd_span(path.s + 2, path.len - 2);
    return path;
}

static int add_sum(struct xd_checksums *c, const struct xd_sum *sum)
{
    char name[XD_NAME_MAX + 1] = "";
    char *path = xd_alloc(sum->path.len + 1, 1);
    if (!path)
        return XD_E_NOMEM;
    struct xd_span whole = xd_span(path, xd_sum_path(sum, path));
    int rc = 0;
    if (whole.len == 0 || xd_name_safe(whole, name))
        rc = add(c, xd_span_of(name), without_dots(whole), sum->algorithm,
                 sum->hex);
    xd_free(path);
    return rc;
}

/* Removes lines without a name if other lines have names.  Such a line is not a
 * checksum, but for example the fingerprint of a key. */
static void drop_nameless(struct xd_checksums *c, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < c->n; i++) {
        if (c->list[i].name[0] != '\0')
            c->list[kept++] = c->list[i];
    }
    if (kept > first)
        c->n = kept;
}

static int parse(struct xd_checksums *c, struct xd_span text, const char *said,
                 struct xd_error *err)
{
    struct xd_sums reader;
    struct xd_sum sum;
    size_t before = c->n;
    int rc = 0;
    if (text.len > XD_MANIFEST_MAX)
        return xd_fail(err, XD_E_MANIFEST,
                       "%s: longer than %zu MiB: no file of checksums is", said,
                       XD_MANIFEST_MAX / MIB);
    xd_sums_init(&reader, text);
    while (rc == 0 && xd_sums_next(&reader, &sum))
        rc = add_sum(c, &sum);
    drop_nameless(c, before);
    if (rc == 0 && c->n > before)
        rc = name_origin(c, said);
    else if (rc == 0)
        return xd_fail(err, XD_E_MANIFEST,
                       "%s: no line of it is an MD5, SHA-1 or SHA-2 checksum",
                       said);
    if (rc == 0) {
        finish_origin(c);
        return 0;
    }
    c->n = before;
    return xd_fail_nomem(err);
}

int xd_checksums_parse(struct xd_checksums *c, const void *data, size_t len,
                       const char *origin, struct xd_error *err)
{
    struct xd_url url;
    if (!origin)
        return xd_fail(err, XD_E_INVAL, "the checksums need an origin");
    char *said = xd_origin_name(origin, &url);
    if (!said)
        return xd_fail_nomem(err);
    int rc = parse(c, xd_span(data, len), said, err);
    xd_free(said);
    return rc;
}

int xd_checksums_parse_signed(struct xd_checksums *c, struct xd_span text,
                              const char *origin, const char *signed_by,
                              struct xd_error *err)
{
    c->signer = xd_pool_copy(&c->pool, xd_span_of(signed_by));
    if (!c->signer)
        return xd_fail_nomem(err);
    int rc = xd_checksums_parse(c, text.s, text.len, origin, err);
    c->signer = NULL;
    return rc;
}

/* State while checksums are assigned to one file. */
struct applying {
    const struct xd_checksums *c;
    struct xd_model_file *file;
    /* name of the file, for messages */
    const char *name;
    const struct entry *given[XD_ALGORITHMS]; /* checksums assigned so far */
    size_t n_given;
    struct xd_error *err;
};

/* Returns the hash of a piece or extent that covers the whole file, or NULL. */
static const char *whole_piece(const struct xd_model_file *f,
                               const char *algorithm)
{
    const struct xd_model_pieces *p = f->rare->pieces;

    if (p && p->n == 1 && strcmp(p->algorithm, algorithm) == 0)
        return p->hex;
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];
        if (e->offset > 0)
            break;
        if (e->length == f->size && xd_model_sha256(f, i) &&
            strcmp(algorithm, "sha-256") == 0)
            return xd_model_sha256(f, i);
    }
    return NULL;
}

static int contradict(const struct applying *a, const struct entry *e,
                      const char *other)
{
    const char *by = "the manifest";
    for (size_t i = 0; i < a->n_given; i++) {
        if (a->given[i]->algorithm == e->algorithm)
            by = a->c->origins[a->given[i]->origin];
    }
    return xd_fail(a->err, XD_E_MANIFEST,
                   "%s: by %s its %s is %s, but by %s it is %s", a->name,
                   a->c->origins[e->origin], e->algorithm->name, e->hex, by,
                   other);
}

/* Gives the checksum to the file.  There is room, because each algorithm is
 * added once. */
static int give(struct applying *a, const struct entry *e)
{
    struct xd_model_file *f = a->file;
    struct xd_model_hash hash = {.algorithm = e->algorithm->name,
                                 .hex = e->hex,
                                 .is_given = true,
                                 .signed_by = e->signed_by};
    const char *piece = whole_piece(f, e->algorithm->name);
    bool is_there = false;
    if (piece && strcmp(piece, e->hex) != 0)
        return contradict(a, e, piece);
    for (size_t i = 0; i < f->n_hashes; i++) {
        struct xd_model_hash *h = &f->hashes[i];
        if (strcmp(h->algorithm, e->algorithm->name) != 0)
            continue;
        if (strcmp(h->hex, e->hex) != 0)
            return contradict(a, e, h->hex);
        h->is_given = true;
        if (e->signed_by)
            h->signed_by = e->signed_by;
        is_there = true;
    }
    if (!is_there)
        xd_hashes_insert(f, &hash);
    for (size_t i = 0; i < a->n_given; i++) {
        if (a->given[i]->algorithm == e->algorithm)
            return 0;
    }
    a->given[a->n_given++] = e;
    return 0;
}

/* Returns how many bytes the entry's path shares with the end of the first
 * URL's path; 0 if they do not match in whole components. */
static size_t agreement(const struct applying *a, const struct entry *e)
{
    struct xd_span path = a->file->n_extents > 0
                              ? xd_url_path(&a->file->urls[0])
                              : xd_span_of("");
    size_t len = strlen(e->path);
    if (path.len <= len)
        return 0;
    const char *end = path.s + path.len - len;
    return end[-1] == '/' && memcmp(end, e->path, len) == 0 ? len : 0;
}

/* Assigns the entries of this name and origin whose folders match the URL best.
 * Returns the number of entries of this name, or an error. */
static int64_t give_best(struct applying *a, const char *name, size_t origin)
{
    const struct xd_checksums *c = a->c;
    size_t begin = find(c, name, origin), end = find(c, name, origin + 1);
    size_t best = 0;
    int rc = 0;
    for (size_t i = begin; i < end; i++) {
        size_t own = agreement(a, &c->list[i]);
        best = own > best ? own : best;
    }
    for (size_t i = begin; rc == 0 && i < end; i++) {
        if (agreement(a, &c->list[i]) == best)
            rc = give(a, &c->list[i]);
    }
    return rc < 0 ? rc : (int64_t)(end - begin);
}

static int apply_origin(struct applying *a, size_t origin)
{
    const char *name = xd_model_name(a->file), *said = a->c->origins[origin];
    int64_t nameless = give_best(a, "", origin), named = 0;
    if (nameless >= 0 && name)
        named = give_best(a, name, origin);
    if (nameless < 0 || named < 0)
        return (int)(nameless < 0 ? nameless : named);
    if (nameless + named > 0)
        return 0;
    if (!name)
        return xd_fail(a->err, XD_E_MANIFEST,
                       "%s: the file has no name by which its checksum could "
                       "be found there",
                       said);
    return xd_fail(a->err, XD_E_MANIFEST,
                   "%s: no MD5, SHA-1 or SHA-2 checksum of %s stands there",
                   said, name);
}

static int apply_all(const struct xd_checksums *c, struct xd_manifest *m,
                     size_t file, struct xd_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->n_files; i++) {
        struct xd_model_file *f = &m->files[i];
        const char *name = xd_model_name(f);
        struct applying a = {
            .c = c, .file = f, .name = name ? name : "the file", .err = err};
        bool is_meant = file == XD_ALL_FILES || file == i;
        if (xd_model_take_hashes(m, i, is_meant ? XD_ALGORITHMS : 0) < 0)
            return xd_fail_nomem(err);
        for (size_t k = 0; is_meant && rc == 0 && k < c->n_origins; k++)
            rc = apply_origin(&a, k);
    }
    return rc;
}

/* Copies the strings, because the manifest lives longer than the checksums. */
static int keep_strings(struct xd_manifest *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        for (size_t k = 0; k < m->files[i].n_hashes; k++) {
            struct xd_model_hash *h = &m->files[i].hashes[k];
            const bool is_signed = h->signed_by != NULL;
            if (!h->is_given)
                continue;
            h->hex = xd_pool_copy(&m->pool, xd_span_of(h->hex));
            if (h->signed_by)
                h->signed_by = xd_pool_copy(&m->pool, xd_span_of(h->signed_by));
            if (!h->hex || (is_signed && !h->signed_by))
                return XD_E_NOMEM;
        }
    }
    return 0;
}

int xd_checksums_apply(struct xd_manifest **out, const struct xd_checksums *c,
                       struct xd_manifest *m, size_t file, struct xd_error *err)
{
    struct xd_manifest *made;
    *out = NULL;
    if (file != XD_ALL_FILES && file >= m->n_files)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    if (file == XD_ALL_FILES && m->n_files > 1 && xd_checksums_are_of_one(c))
        return xd_fail(err, XD_E_INVAL,
                       "a checksum without a name is of one file, and the "
                       "manifest describes %zu",
                       m->n_files);
    if (xd_model_derive(&made, m) < 0)
        return xd_fail_nomem(err);
    int rc = apply_all(c, made, file, err);
    if (rc == 0 && keep_strings(made) < 0)
        rc = xd_fail_nomem(err);
    if (rc < 0)
        xd_manifest_unref(made);
    else
        *out = made;
    return rc;
}

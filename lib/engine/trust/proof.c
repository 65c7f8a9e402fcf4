/* SPDX-License-Identifier: MIT */
#include "engine/trust/proof.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "command/manifests.h"

/* Number of algorithms. */
#define PARTS_MAX 6

struct part {
    const char *algorithm, *hex;
    struct xd_hasher *hasher;
};

struct xd_proof {
    struct part parts[PARTS_MAX]; /* strongest first */
    size_t n;
};

bool xd_hash_is_weak(const char *algorithm)
{
    return xd_hash_strength(algorithm) == 0;
}

/* Returns the strength of the pieces' hashes; -1 if they do not cover
 * `wanted`. */
static int strength_of_pieces(const struct xd_pieces *pieces,
                              struct xd_range wanted)
{
    return pieces->n > 0 && xd_pieces_cover(pieces, wanted)
               ? xd_hash_strength(pieces->algorithm)
               : -1;
}

static bool has(const struct xd_proof *p, const char *algorithm)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->parts[i].algorithm, algorithm) == 0)
            return true;
    }
    return false;
}

static int add_part(struct xd_proof *p, const struct xd_hash *hash,
                    struct xd_error *err)
{
    struct part *part = &p->parts[p->n];

    part->algorithm = hash->algorithm;
    part->hex = hash->hex;
    if (xd_hasher_new(&part->hasher, part->algorithm, err) < 0)
        return XD_E_NOMEM;
    p->n++;
    return 0;
}

/* Adds the strongest hash of the manifest that can be computed, which is the
 * first.  The pieces come from the same manifest, so a hash that is stronger
 * than theirs adds nothing, unless collisions are known for their algorithm. */
static int choose(struct xd_proof *p, const struct xd_manifest *m, size_t file,
                  int pieces, struct xd_error *err)
{
    struct xd_hash hash = {.struct_size = sizeof hash};
    bool is_first = pieces <= 0;
    int proved = pieces;
    int rc = 0;

    for (size_t i = 0; xd_manifest_hash(m, file, i, &hash) == 0; i++) {
        if (hash.is_given && xd_hash_strength(hash.algorithm) > proved)
            proved = xd_hash_strength(hash.algorithm);
    }
    for (size_t i = 0; rc == 0 && xd_manifest_hash(m, file, i, &hash) == 0;
         i++) {
        int strength = xd_hash_strength(hash.algorithm);

        if (strength < 0 || p->n == PARTS_MAX || has(p, hash.algorithm))
            continue;
        if (hash.is_given || (is_first && strength > proved))
            rc = add_part(p, &hash, err);
        is_first = is_first && hash.is_given;
    }
    return rc;
}

int xd_proof_new(struct xd_proof **out, const struct xd_manifest *m,
                 size_t file, const struct xd_pieces *pieces,
                 struct xd_range wanted, struct xd_error *err)
{
    struct xd_proof *p = xd_alloc(1, sizeof *p);
    int rc;

    *out = NULL;
    if (!p)
        return xd_fail_nomem(err);
    rc = choose(p, m, file, strength_of_pieces(pieces, wanted), err);
    if (rc == 0 && p->n > 0)
        *out = p;
    else
        xd_proof_free(p);
    return rc;
}

void xd_proof_free(struct xd_proof *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        xd_hasher_free(p->parts[i].hasher);
    xd_free(p);
}

void xd_proof_add(struct xd_proof *p, const void *data, size_t len)
{
    for (size_t i = 0; i < p->n; i++)
        xd_hasher_add(p->parts[i].hasher, data, len);
}

void xd_proof_restart(struct xd_proof *p)
{
    char unused[XD_HASH_HEX_MAX + 1];

    for (size_t i = 0; i < p->n; i++)
        xd_hasher_end(p->parts[i].hasher, unused);
}

const char *xd_proof_end(struct xd_proof *p, const char **out_right,
                         char out_hex[XD_HASH_HEX_MAX + 1])
{
    const char *wrong = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct part *part = &p->parts[i];
        char hex[XD_HASH_HEX_MAX + 1];

        xd_hasher_end(part->hasher, hex);
        if (wrong || strcmp(hex, part->hex) == 0)
            continue;
        wrong = part->algorithm;
        *out_right = part->hex;
        memcpy(out_hex, hex, strlen(hex) + 1);
    }
    return wrong;
}

const char *xd_proof_strongest(const struct xd_proof *p,
                               const struct xd_pieces *pieces,
                               struct xd_range wanted)
{
    int strength = strength_of_pieces(pieces, wanted);

    if (p && xd_hash_strength(p->parts[0].algorithm) >= strength)
        return p->parts[0].algorithm;
    return strength < 0 ? NULL : pieces->algorithm;
}

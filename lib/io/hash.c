/* SPDX-License-Identifier: MIT */
#include "io/hash.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"

struct xd_hasher {
    const EVP_MD *algorithm;
    EVP_MD_CTX *context;
};

static const struct known {
    const char *name;
    const EVP_MD *(*get)(void);
    int strength;
} known[] = {
    {"sha-512", EVP_sha512, 256}, {"sha-384", EVP_sha384, 192},
    {"sha-256", EVP_sha256, 128}, {"sha-224", EVP_sha224, 112},
    {"sha-1", EVP_sha1, 0},       {"md5", EVP_md5, 0},
};

static const struct known *find(const char *algorithm)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(algorithm, known[i].name) == 0)
            return &known[i];
    }
    return NULL;
}

int xd_hash_strength(const char *algorithm)
{
    const struct known *k = find(algorithm);

    return k ? k->strength : -1;
}

static int make(struct xd_hasher **out, const EVP_MD *algorithm,
                struct xd_error *err)
{
    struct xd_hasher *h = xd_alloc(1, sizeof *h);

    *out = NULL;
    if (!h)
        return xd_fail_nomem(err);
    h->algorithm = algorithm;
    h->context = EVP_MD_CTX_new();
    if (!h->context || EVP_DigestInit_ex(h->context, h->algorithm, NULL) != 1) {
        xd_hasher_free(h);
        return xd_fail_nomem(err);
    }
    *out = h;
    return 0;
}

int xd_hasher_new(struct xd_hasher **out, const char *algorithm,
                  struct xd_error *err)
{
    const struct known *k = find(algorithm);

    *out = NULL;
    return k ? make(out, k->get(), err)
             : xd_fail(err, XD_E_INVAL, "%s cannot be computed", algorithm);
}

int xd_hasher_new_blake2b(struct xd_hasher **out, struct xd_error *err)
{
    return make(out, EVP_blake2b512(), err);
}

void xd_hasher_free(struct xd_hasher *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->context);
    xd_free(h);
}

int xd_hasher_become(struct xd_hasher **h, const char *algorithm,
                     struct xd_error *err)
{
    const struct known *k = find(algorithm);

    if (*h && k && (*h)->algorithm == k->get())
        return 0;
    xd_hasher_free(*h);
    return xd_hasher_new(h, algorithm, err);
}

/* Adds data.  An update cannot fail; if it does, an abort is better than a
 * wrong hash. */
void xd_hasher_add(struct xd_hasher *h, const void *data, size_t len)
{
    if (EVP_DigestUpdate(h->context, data, len) != 1)
        abort();
}

void xd_hasher_end(struct xd_hasher *h, char out_hex[XD_HASH_HEX_MAX + 1])
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned n;

    if (EVP_DigestFinal_ex(h->context, bytes, &n) != 1 ||
        EVP_DigestInit_ex(h->context, h->algorithm, NULL) != 1)
        abort();
    xd_hex_write(out_hex, bytes, n);
}

int xd_sha256_hex(struct xd_span data, char out_hex[XD_SHA256_HEX + 1])
{
    unsigned char bytes[XD_SHA256_BYTES];

    if (EVP_Digest(data.s, data.len, bytes, NULL, EVP_sha256(), NULL) != 1)
        return XD_E_NOMEM;
    xd_hex_write(out_hex, bytes, sizeof bytes);
    return 0;
}

int xd_hmac_sha256(struct xd_span key, struct xd_span data,
                   unsigned char out[XD_SHA256_BYTES])
{
    bool done = HMAC(EVP_sha256(), key.s, (int)key.len,
                     (const unsigned char *)data.s, data.len, out, NULL);

    return done ? 0 : XD_E_NOMEM;
}

/* SPDX-License-Identifier: MIT */
#include "io/signature/signature.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/hash.h"
#include "io/signature/minisign.h"
#include "os/small_file.h"

#define KEY_MAX ((size_t)4096) /* limit of a minisign key file in bytes */

/* Without prehashing the whole file must be held in memory, so its size is
 * limited. */
#define HELD_MAX ((size_t)16 << 20)

#define DIGEST_BYTES 64 /* bytes of BLAKE2b-512 */

struct xd_signature {
    struct xd_span text;
    struct xd_signature_keys keys;
    bool is_minisign;
    struct xd_gpgv gpgv;
    struct xd_minisign minisign;
    struct xd_hasher *hasher; /* hasher for prehashed minisign signatures */
    struct xd_text held;      /* whole file, for other minisign signatures */
    struct xd_error error;    /* first error of xd_signature_add() */
};

static int fail_without_key(const char *what, const char *option,
                            struct xd_error *err)
{
    return xd_fail(err, XD_E_CORRUPT,
                   "the signature is one of %s, and no %s was given", what,
                   option);
}

static int prepare_minisign(struct xd_signature *s, struct xd_error *err)
{
    if (!s->keys.public_key)
        return fail_without_key("minisign", "public-key", err);
    if (!xd_minisign_read(&s->minisign, s->text))
        return xd_fail(err, XD_E_CORRUPT, "it is no signature of minisign");
    return s->minisign.is_prehashed ? xd_hasher_new_blake2b(&s->hasher, err)
                                    : 0;
}

static int prepare(struct xd_signature *s, struct xd_error *err)
{
    if (s->text.len == 0)
        return xd_fail(err, XD_E_CORRUPT, "the signature is empty");
    if (s->text.len > XD_SIGNATURE_MAX)
        return xd_fail(err, XD_E_CORRUPT,
                       "the signature is longer than %zu KiB",
                       XD_SIGNATURE_MAX >> 10);
    s->is_minisign = xd_minisign_may_be(s->text);
    if (s->is_minisign)
        return prepare_minisign(s, err);
    return s->keys.keyring ? 0 : fail_without_key("OpenPGP", "keyring", err);
}

int xd_signature_new(struct xd_signature **out, struct xd_span text,
                     const struct xd_signature_keys *keys, struct xd_error *err)
{
    struct xd_signature *s = xd_alloc(1, sizeof *s);
    int rc;

    *out = NULL;
    if (!s)
        return xd_fail_nomem(err);
    s->text = text;
    s->keys = *keys;
    if (xd_gpgv_init(&s->gpgv) < 0) {
        xd_free(s);
        return xd_fail_nomem(err);
    }
    rc = prepare(s, err);
    if (rc < 0)
        xd_signature_free(s);
    else
        *out = s;
    return rc;
}

void xd_signature_free(struct xd_signature *s)
{
    if (!s)
        return;
    xd_gpgv_fini(&s->gpgv);
    xd_hasher_free(s->hasher);
    xd_text_fini(&s->held);
    xd_free(s);
}

static void hold(struct xd_signature *s, const void *data, size_t len)
{
    if (len > HELD_MAX - s->held.len) {
        (void)xd_fail(&s->error, XD_E_CORRUPT,
                      "a file of more than %zu MiB is signed without a hash "
                      "of it: 'minisign -H' signs with one",
                      HELD_MAX >> 20);
        return;
    }
    xd_text_add(&s->held, data, len);
    if (s->held.failed)
        (void)xd_fail_nomem(&s->error);
}

static int feed(struct xd_signature *s, const void *data, size_t len,
                struct xd_error *err)
{
    int rc = 0;

    if (!xd_gpgv_is_running(&s->gpgv))
        rc = xd_gpgv_start(&s->gpgv, s->keys.keyring, s->text, err);
    return rc < 0 ? rc : xd_gpgv_feed(&s->gpgv, data, len, err);
}

void xd_signature_add(struct xd_signature *s, const void *data, size_t len)
{
    if (s->error.code < 0)
        return;
    if (!s->is_minisign)
        (void)feed(s, data, len, &s->error);
    else if (s->hasher)
        xd_hasher_add(s->hasher, data, len);
    else
        hold(s, data, len);
}

void xd_signature_restart(struct xd_signature *s)
{
    char unused[XD_HASH_HEX_MAX + 1];

    xd_gpgv_abandon(&s->gpgv);
    if (s->hasher)
        xd_hasher_end(s->hasher, unused);
    xd_text_fini(&s->held);
    s->error = (struct xd_error){0};
}

/* Reads the key from the string itself, or from the file it names. */
static int read_key(struct xd_minisign_key *out, const char *key,
                    struct xd_error *err)
{
    struct xd_text text = {0};
    int rc = 0;

    if (xd_minisign_read_key(out, xd_span_of(key)))
        return 0;
    rc = xd_small_file_read(&text, key, KEY_MAX, err);
    if (rc == 0 && !xd_minisign_read_key(out, xd_span(text.s, text.len)))
        rc = xd_fail(err, XD_E_IO,
                     "%s: neither a public key of minisign nor a file with one",
                     key);
    xd_text_fini(&text);
    return rc;
}

/* Writes the name of a key.  Like minisign, it shows the key ID as a
 * little-endian number. */
static void name_key(const struct xd_minisign_key *key,
                     char out[XD_SIGNER_SIZE])
{
    int n = snprintf(out, XD_SIGNER_SIZE, "minisign key ");

    for (size_t i = XD_MINISIGN_ID; i > 0; i--)
        n += snprintf(out + n, XD_SIGNER_SIZE - (size_t)n, "%02X",
                      key->id[i - 1]);
}

static unsigned value_of(char hex)
{
    return (unsigned)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

/* Verifies the hash of the message, or the message itself. */
static bool is_signed(struct xd_signature *s, const struct xd_minisign_key *key)
{
    unsigned char digest[DIGEST_BYTES];
    char hex[XD_HASH_HEX_MAX + 1];

    if (!s->hasher)
        return xd_minisign_verify(&s->minisign, key, s->held.s, s->held.len);
    xd_hasher_end(s->hasher, hex);
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        digest[i] = (unsigned char)(value_of(hex[2 * i]) << 4 |
                                    value_of(hex[2 * i + 1]));
    return xd_minisign_verify(&s->minisign, key, digest, sizeof digest);
}

static int end_minisign(struct xd_signature *s, char out[XD_SIGNER_SIZE],
                        struct xd_error *err)
{
    struct xd_minisign_key key;
    int rc = read_key(&key, s->keys.public_key, err);

    if (rc < 0)
        return rc;
    if (memcmp(key.id, s->minisign.id, sizeof key.id) != 0)
        return xd_fail(err, XD_E_CORRUPT,
                       "another key signed it than the one given");
    if (!is_signed(s, &key))
        return xd_fail(err, XD_E_CORRUPT,
                       "it is not the signature of this file");
    name_key(&key, out);
    return 0;
}

static int end(struct xd_signature *s, char out[XD_SIGNER_SIZE],
               struct xd_error *err)
{
    int rc = 0;

    if (s->error.code < 0) {
        if (err)
            *err = s->error;
        return s->error.code;
    }
    if (s->is_minisign)
        return end_minisign(s, out, err);
    if (!xd_gpgv_is_running(&s->gpgv)) /* the file is empty */
        rc = xd_gpgv_start(&s->gpgv, s->keys.keyring, s->text, err);
    return rc < 0 ? rc : xd_gpgv_end(&s->gpgv, out, NULL, err);
}

int xd_signature_end(struct xd_signature *s, char out[XD_SIGNER_SIZE],
                     struct xd_error *err)
{
    int rc = end(s, out, err);

    xd_signature_restart(s);
    return rc;
}

void xd_signature_stop(struct xd_signature *s)
{
    xd_gpgv_stop(&s->gpgv);
}

int xd_signature_open(struct xd_text *out, struct xd_span text,
                      const struct xd_signature_keys *keys,
                      char signer[XD_SIGNER_SIZE], struct xd_error *err)
{
    static const struct xd_span inside = {NULL, 0};
    struct xd_gpgv gpgv;
    struct xd_span within;
    int rc;

    if (!keys->keyring)
        return fail_without_key("OpenPGP", "keyring", err);
    if (xd_gpgv_init(&gpgv) < 0)
        return xd_fail_nomem(err);
    rc = xd_gpgv_start(&gpgv, keys->keyring, inside, err);
    if (rc == 0)
        rc = xd_gpgv_feed(&gpgv, text.s, text.len, err);
    if (rc == 0)
        rc = xd_gpgv_end(&gpgv, signer, &within, err);
    if (rc == 0 && within.len > 0)
        xd_text_add(out, within.s, within.len);
    if (rc == 0 && out->failed)
        rc = xd_fail_nomem(err);
    xd_gpgv_fini(&gpgv);
    return rc;
}

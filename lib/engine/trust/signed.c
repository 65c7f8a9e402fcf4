/* SPDX-License-Identifier: MIT */
#include "engine/trust/signed.h"

#include "base/error.h"
#include "io/hash.h"

struct xd_signature_keys xd_signed_keys(const struct xd_options *o)
{
    return (struct xd_signature_keys){.keyring = o->keyring,
                                      .public_key = o->public_key};
}

const char *xd_signed_by(const struct xd_manifest *m, size_t file)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t i = 0; xd_manifest_hash(m, file, i, &hash) == 0; i++) {
        if (hash.signed_by && hash.is_given &&
            xd_hash_strength(hash.algorithm) > 0)
            return hash.signed_by;
    }
    return NULL;
}

int xd_signed_new(struct xd_signature **out, const struct xd_manifest *m,
                  size_t file, const struct xd_options *o, struct xd_error *err)
{
    struct xd_file info = {.struct_size = sizeof info};
    const struct xd_signature_keys keys = xd_signed_keys(o);
    struct xd_error cause;
    const char *name;
    int rc;

    *out = NULL;
    if (!xd_signature_is_asked(&keys) || xd_manifest_file(m, file, &info) < 0)
        return 0;
    name = info.name ? info.name : "the file";
    if (!xd_options_want_all(o))
        return xd_fail(err, XD_E_INVAL,
                       "a signature is of the whole file: leave out range, or "
                       "keyring and public-key");
    if (xd_signed_by(m, file))
        return 0;
    if (!info.signature)
        return xd_fail(err, XD_E_CORRUPT,
                       "%s is not signed: it has no signature, and no checksum "
                       "from a signed text",
                       name);
    rc = xd_signature_new(out, xd_span(info.signature, info.signature_bytes),
                          &keys, &cause);
    return rc < 0 ? xd_signed_fail(name, &cause, err) : 0;
}

int xd_signed_check(const struct xd_manifest *m, size_t file,
                    const struct xd_options *o, struct xd_error *err)
{
    struct xd_signature *s;
    int rc = xd_signed_new(&s, m, file, o, err);

    xd_signature_free(s);
    return rc;
}

int xd_signed_fail(const char *name, const struct xd_error *cause,
                   struct xd_error *err)
{
    if (cause->code == XD_E_CANCELED || cause->code == XD_E_NOMEM) {
        if (err)
            *err = *cause;
        return cause->code;
    }
    return xd_fail_because(err, cause->code, cause,
                           "%s: the signature does not hold: %s", name,
                           cause->msg);
}

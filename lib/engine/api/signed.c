/* SPDX-License-Identifier: MIT */
/*
 * Checksum files and signatures that the user names.
 */
#include <string.h>

#include <xdownload/check.h>

#include "base/error.h"
#include "base/url.h"
#include "command/manifests.h"
#include "engine/api/text_fetch.h"
#include "engine/trust/signed.h"
#include "manifest/parse.h"
#include "manifest/signed_texts.h"

static int read_text(struct xd_text *out, const char *source, size_t most,
                     const struct xd_options *o, struct xd_error *err)
{
    *out = (struct xd_text){0};
    return xd_names_url(source) ? xd_text_fetch(out, source, most, o, err)
                                : xd_text_read(out, source, err);
}

/* Turns the error into CORRUPT: the required signature could not be fetched, so
 * nothing is verified. */
static int fail_missing(struct xd_error *err)
{
    if (!err)
        return XD_E_CORRUPT;
    switch (err->code) {
    case XD_E_IO:
    case XD_E_NET:
    case XD_E_MANIFEST:
    case XD_E_DIFFERENT:
    case XD_E_NOREPLICA:
        return xd_fail_because(err, XD_E_CORRUPT, err,
                               "the signature is missing: %s", err->msg);
    default:
        return err->code;
    }
}

static int read_signature(struct xd_text *out, const char *source,
                          const struct xd_options *o, struct xd_error *err)
{
    struct xd_error error = {0};
    int rc = read_text(out, source, XD_SIGNATURE_MAX, o, &error);

    if (rc < 0)
        rc = fail_missing(&error);
    if (rc < 0 && err)
        *err = error;
    return rc;
}

int xd_manifest_add_signature(struct xd_manifest **out, struct xd_manifest *m,
                              size_t file, const char *source,
                              const struct xd_options *o, struct xd_error *err)
{
    struct xd_text text;
    int rc;

    *out = NULL;
    if (file >= xd_manifest_n_files(m))
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    rc = read_signature(&text, source, o, err);
    if (rc == 0 && (text.len == 0 || text.len > XD_SIGNATURE_MAX))
        rc = xd_fail(err, XD_E_CORRUPT, "%s: no signature is %s", source,
                     text.len == 0 ? "empty" : "longer than 64 KiB");
    if (rc == 0 && xd_model_sign(out, m, file, xd_span(text.s, text.len)) < 0)
        rc = xd_fail_nomem(err);
    xd_text_fini(&text);
    return rc;
}

int xd_checksums_read(struct xd_checksums *c, const char *source,
                      const struct xd_options *o, struct xd_error *err)
{
    struct xd_text text = {0};
    int rc;

    if (!xd_names_url(source))
        return xd_checksums_read_file(c, source, err);
    rc = xd_text_fetch(&text, source, XD_MANIFEST_MAX, o, err);
    if (rc == 0)
        rc = xd_checksums_parse(c, text.s, text.len, source, err);
    xd_text_fini(&text);
    return rc;
}

/* Replaces the text by its signed part. */
static int open_inline(struct xd_text *text,
                       const struct xd_signature_keys *keys,
                       char signer[XD_SIGNER_SIZE], struct xd_error *err)
{
    struct xd_text within = {0};
    int rc = xd_signature_open(&within, xd_span(text->s, text->len), keys,
                               signer, err);

    xd_text_fini(text);
    *text = within;
    return rc;
}

static int verify_detached(const struct xd_text *text, const char *source,
                           const struct xd_options *o,
                           char signer[XD_SIGNER_SIZE], struct xd_error *err)
{
    const struct xd_signature_keys keys = xd_signed_keys(o);
    struct xd_signature *s = NULL;
    struct xd_text signature;
    int rc = read_signature(&signature, source, o, err);

    if (rc == 0)
        rc = xd_signature_new(&s, xd_span(signature.s, signature.len), &keys,
                              err);
    if (rc == 0) {
        xd_signature_add(s, text->s, text->len);
        rc = xd_signature_end(s, signer, err);
    }
    xd_signature_free(s);
    xd_text_fini(&signature);
    return rc;
}

static int verify(struct xd_text *text, const char *signature,
                  const struct xd_options *o, char signer[XD_SIGNER_SIZE],
                  struct xd_error *err)
{
    const struct xd_signature_keys keys = xd_signed_keys(o);

    if (signature)
        return verify_detached(text, signature, o, signer, err);
    if (!keys.keyring)
        return xd_fail(err, XD_E_CORRUPT,
                       "one of minisign lies beside the text, and none was "
                       "given");
    return open_inline(text, &keys, signer, err);
}

int xd_checksums_read_signed(struct xd_checksums *c, const char *source,
                             const char *signature, const struct xd_options *o,
                             struct xd_error *err)
{
    char signer[XD_SIGNER_SIZE] = "";
    struct xd_error cause = {0};
    struct xd_text text;
    int rc = read_text(&text, source, XD_MANIFEST_MAX, o, err);

    if (rc == 0) {
        rc = verify(&text, signature, o, signer, &cause);
        if (rc < 0)
            rc = xd_signed_fail(source, &cause, err);
    }
    if (rc == 0)
        rc = xd_checksums_parse_signed(c, xd_span(text.s, text.len), source,
                                       signer, err);
    xd_text_fini(&text);
    return rc;
}

/* SPDX-License-Identifier: MIT */
#include "io/signature/minisign.h"

#include <openssl/evp.h>

#include "base/base64.h"

#define ALGORITHM 2 /* bytes: "Ed" or "ED" */
#define HEAD (ALGORITHM + XD_MINISIGN_ID)

static const char untrusted[] = "untrusted comment:";
static const char trusted[] = "trusted comment: ";

static bool begins_with(struct xd_span s, const char *with)
{
    size_t len = strlen(with);

    return s.len >= len && memcmp(s.s, with, len) == 0;
}

/* Returns the next line without its line ending. */
static struct xd_span next_line(struct xd_span *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->s, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->s) : rest->len;
    struct xd_span line = xd_span(rest->s, len);

    len += end != NULL;
    *rest = xd_span(rest->s + len, rest->len - len);
    if (line.len > 0 && line.s[line.len - 1] == '\r')
        line.len--;
    return line;
}

static bool decode(struct xd_span line, unsigned char *out, size_t n)
{
    return xd_base64_read(xd_base64_letters(line), out, n);
}

bool xd_minisign_may_be(struct xd_span text)
{
    return begins_with(text, untrusted);
}

bool xd_minisign_read(struct xd_minisign *out, struct xd_span text)
{
    unsigned char bytes[HEAD + XD_MINISIGN_SIGNATURE];

    if (!begins_with(next_line(&text), untrusted) ||
        !decode(next_line(&text), bytes, sizeof bytes) || bytes[0] != 'E' ||
        (bytes[1] != 'd' && bytes[1] != 'D'))
        return false;
    out->is_prehashed = bytes[1] == 'D';
    memcpy(out->id, bytes + ALGORITHM, sizeof out->id);
    memcpy(out->signature, bytes + HEAD, sizeof out->signature);
    out->comment = next_line(&text);
    if (!begins_with(out->comment, trusted))
        return false;
    out->comment.s += sizeof trusted - 1;
    out->comment.len -= sizeof trusted - 1;
    return out->comment.len <= XD_MINISIGN_COMMENT_MAX &&
           decode(next_line(&text), out->global, sizeof out->global) &&
           xd_span_trim(text).len == 0;
}

bool xd_minisign_read_key(struct xd_minisign_key *out, struct xd_span text)
{
    unsigned char bytes[HEAD + XD_MINISIGN_KEY];
    struct xd_span rest = xd_span_trim(text);

    if (begins_with(rest, untrusted))
        (void)next_line(&rest);
    if (!decode(next_line(&rest), bytes, sizeof bytes) ||
        xd_span_trim(rest).len > 0 || bytes[0] != 'E' || bytes[1] != 'd')
        return false;
    memcpy(out->id, bytes + ALGORITHM, sizeof out->id);
    memcpy(out->key, bytes + HEAD, sizeof out->key);
    return true;
}

static bool verify(EVP_PKEY *key, const unsigned char *signature,
                   const void *message, size_t len)
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    bool is_right = c && EVP_DigestVerifyInit(c, NULL, NULL, NULL, key) == 1 &&
                    EVP_DigestVerify(c, signature, XD_MINISIGN_SIGNATURE,
                                     message, len) == 1;

    EVP_MD_CTX_free(c);
    return is_right;
}

bool xd_minisign_verify(const struct xd_minisign *s,
                        const struct xd_minisign_key *key, const void *message,
                        size_t len)
{
    unsigned char both[XD_MINISIGN_SIGNATURE + XD_MINISIGN_COMMENT_MAX];
    EVP_PKEY *k = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->key,
                                              sizeof key->key);
    bool is_right;

    memcpy(both, s->signature, sizeof s->signature);
    if (s->comment.len > 0)
        memcpy(both + sizeof s->signature, s->comment.s, s->comment.len);
    is_right = k && memcmp(s->id, key->id, sizeof key->id) == 0 &&
               verify(k, s->signature, len > 0 ? message : "", len) &&
               verify(k, s->global, both, sizeof s->signature + s->comment.len);
    EVP_PKEY_free(k);
    return is_right;
}

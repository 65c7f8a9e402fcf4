/* SPDX-License-Identifier: MIT */
/*
 * A text is read as a signature of minisign, as a key of it, as what gpgv says,
 * and as keys in ASCII armor.
 */
#include "io/signature/signature.h"

#include "fuzz.h"
#include "io/signature/minisign.h"

#define KEY "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"

static void read_minisign(struct xd_span text)
{
    struct xd_minisign_key key;
    struct xd_minisign s;

    if (xd_minisign_read(&s, text)) {
        FUZZ_CHECK(xd_minisign_may_be(text));
        FUZZ_CHECK(s.comment.len <= XD_MINISIGN_COMMENT_MAX);
        FUZZ_CHECK(s.comment.s >= text.s &&
                   s.comment.s + s.comment.len <= text.s + text.len);
        FUZZ_CHECK(xd_minisign_read_key(&key, xd_span_of(KEY)));
        (void)xd_minisign_verify(&s, &key, "x", 1);
    }
    (void)xd_minisign_read_key(&key, text);
}

static void judge(struct xd_span text)
{
    for (int is_inline = 0; is_inline < 2; is_inline++) {
        char signer[XD_SIGNER_SIZE] = "";
        struct xd_error err;

        if (xd_gpgv_judge(text, is_inline, signer, &err) == 0)
            FUZZ_CHECK(strncmp(signer, "OpenPGP key ", 12) == 0);
        else
            FUZZ_CHECK(err.code == XD_E_CORRUPT);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* Of its own length, so that no byte beyond it is read. */
    char *copy = malloc(len > 0 ? len : 1);
    size_t n = len;

    if (len > 0)
        memcpy(copy, data, len);
    read_minisign(xd_span(copy, len));
    judge(xd_span(copy, len));
    if (xd_gpgv_unarmor(copy, &n))
        FUZZ_CHECK(n <= len);
    free(copy);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Signatures of minisign, and what gpgv says; gpgv itself is run by
 * tests/integration/test_signatures.py. */
#include "io/signature/signature.h"

#include <stdio.h>
#include <string.h>

#include "io/signature/minisign.h"
#include "suite.h"

/* Those of minisign's own tests: the text is "test". */
#define KEY "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
#define HASHED                                                               \
    "untrusted comment: signature from minisign secret key\n"                \
    "RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/"        \
    "z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n"                                \
    "trusted comment: timestamp:1633700835\tfile:test\tprehashed\n"          \
    "wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJ" \
    "np94ABQkJAgAooBQ==\n"
#define LEGACY                                                               \
    "untrusted comment: signature from minisign secret key\n"                \
    "RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq" \
    "71Wi+dP9eKL8OC351vwIasSSbXxwA=\n"                                       \
    "trusted comment: timestamp:1555779966\tfile:test\n"                     \
    "QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/"        \
    "VqE81QFuMKI5k/SfNQUaOAA==\n"

static char signer[XD_SIGNER_SIZE], text[1000];
static struct xd_error err;

static int verify_with(const char *key, const char *signature,
                       const char *message)
{
    const struct xd_signature_keys keys = {.public_key = key};
    struct xd_signature *s;
    int rc = xd_signature_new(&s, xd_span_of(signature), &keys, &err);

    if (rc < 0)
        return rc;
    for (const char *c = message; *c != '\0'; c++)
        xd_signature_add(s, c, 1);
    rc = xd_signature_end(s, signer, &err);
    xd_signature_free(s);
    return rc;
}

static int verify(const char *signature, const char *message)
{
    return verify_with(KEY, signature, message);
}

START_TEST(both_kinds_of_minisign_are_verified)
{
    ck_assert_msg(verify(HASHED, "test") == 0, "%s", err.msg);
    ck_assert_str_eq(signer, "minisign key E7620F1842B4E81F");
    ck_assert_msg(verify(LEGACY, "test") == 0, "%s", err.msg);
}
END_TEST

START_TEST(another_text_is_not_what_was_signed)
{
    ck_assert_int_eq(verify(HASHED, "tesT"), XD_E_CORRUPT);
    ck_assert_int_eq(verify(LEGACY, "tes"), XD_E_CORRUPT);
    ck_assert_int_eq(verify(LEGACY, ""), XD_E_CORRUPT);
}
END_TEST

/* Any one character of what is signed, or signs, is another one. */
START_TEST(a_signature_that_was_changed_is_refused)
{
    static const char *const signatures[] = {HASHED, LEGACY};

    for (size_t k = 0; k < 2; k++) {
        const char *s = signatures[k];

        for (size_t i = strcspn(s, "\n") + 1; i < strlen(s); i++) {
            snprintf(text, sizeof text, "%s", s);
            text[i] = text[i] == 'A' ? 'B' : 'A';
            /* The last letters before '=' have bits that do not count. */
            if (s[i] == '\n' || s[i] == '=' || s[i + 1] == '=')
                continue;
            ck_assert_msg(verify(text, "test") == XD_E_CORRUPT, "%zu", i);
        }
    }
}
END_TEST

START_TEST(a_signature_that_was_cut_is_refused)
{
    for (size_t i = 0; i + 1 < strlen(HASHED); i++) {
        struct xd_minisign m;

        if (HASHED[i] == '=')
            continue;
        ck_assert_msg(!xd_minisign_read(&m, xd_span(HASHED, i)), "%zu", i);
    }
}
END_TEST

START_TEST(the_ends_of_lines_may_be_those_of_windows)
{
    const char *from = HASHED;
    size_t n = 0;

    for (; *from != '\0'; from++) {
        if (*from == '\n')
            text[n++] = '\r';
        text[n++] = *from;
    }
    text[n] = '\0';
    ck_assert_int_eq(verify(text, "test"), 0);
}
END_TEST

START_TEST(a_trusted_comment_has_an_end)
{
    char long_text[10000];
    struct xd_minisign m;
    size_t n = (size_t)(strstr(HASHED, "trusted comment: t") - HASHED) + 17;

    for (int more = 0; more < 2; more++) {
        int len = snprintf(long_text, sizeof long_text, "%.*s%0*d\n%s", (int)n,
                           HASHED, 8192 + more, 0, strstr(HASHED, "wLMD"));

        ck_assert_int_lt(len, sizeof long_text);
        ck_assert_int_eq(xd_minisign_read(&m, xd_span_of(long_text)),
                         more == 0);
    }
}
END_TEST

START_TEST(a_key_is_itself_or_a_file)
{
    char folder[SUITE_FOLDER], path[100];
    FILE *f;

    suite_folder(folder);
    snprintf(path, sizeof path, "%s/key", folder);
    ck_assert_int_eq(verify_with(path, HASHED, "test"), XD_E_IO);
    f = fopen(path, "w");
    fprintf(f, "untrusted comment: minisign public key\n%s\n", KEY);
    fclose(f);
    ck_assert_int_eq(verify_with(path, HASHED, "test"), 0);
    remove(path);
    remove(folder);
}
END_TEST

START_TEST(another_key_did_not_sign_it)
{
    /* The key's number, then its bytes. */
    ck_assert_int_eq(
        verify_with("RWQf6LRCGA9i6HmlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
                    HASHED, "test"),
        XD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.msg, "another key"));
    ck_assert_int_eq(
        verify_with("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO4",
                    HASHED, "test"),
        XD_E_CORRUPT);
}
END_TEST

START_TEST(what_takes_a_key_that_was_not_given_is_refused)
{
    ck_assert_int_eq(verify_with(NULL, HASHED, "test"), XD_E_CORRUPT);
    ck_assert_int_eq(verify("-----BEGIN PGP SIGNATURE-----\n", "test"),
                     XD_E_CORRUPT);
    ck_assert_int_eq(verify("", "test"), XD_E_CORRUPT);
}
END_TEST

START_TEST(it_begins_anew)
{
    const struct xd_signature_keys keys = {.public_key = KEY};
    static const char *const signatures[] = {HASHED, LEGACY};

    for (size_t i = 0; i < 2; i++) {
        struct xd_signature *s;

        ck_assert_int_eq(
            xd_signature_new(&s, xd_span_of(signatures[i]), &keys, &err), 0);
        xd_signature_add(s, "x", 1);
        xd_signature_restart(s);
        xd_signature_add(s, "test", 4);
        ck_assert_int_eq(xd_signature_end(s, signer, &err), 0);
        xd_signature_add(s, "test", 4);
        ck_assert_int_eq(xd_signature_end(s, signer, &err), 0);
        xd_signature_free(s);
    }
}
END_TEST

/* 16 MiB may be held, and no byte more. */
START_TEST(a_long_file_takes_a_signature_of_its_hash)
{
    const struct xd_signature_keys keys = {.public_key = KEY};
    static const char mib[1 << 20];

    for (size_t more = 0; more < 2; more++) {
        struct xd_signature *s;

        ck_assert_int_eq(xd_signature_new(&s, xd_span_of(LEGACY), &keys, &err),
                         0);
        for (int i = 0; i < 16; i++)
            xd_signature_add(s, mib, sizeof mib);
        xd_signature_add(s, mib, more);
        ck_assert_int_eq(xd_signature_end(s, signer, &err), XD_E_CORRUPT);
        ck_assert_int_eq(strstr(err.msg, "minisign -H") != NULL, more == 1);
        xd_signature_free(s);
    }
}
END_TEST

START_TEST(a_signature_may_have_64_kib)
{
    const struct xd_signature_keys keys = {.keyring = "none"};
    static char zeros[(64 << 10) + 1];
    struct xd_signature *s;

    ck_assert_int_eq(
        xd_signature_new(&s, xd_span(zeros, sizeof zeros - 1), &keys, &err), 0);
    xd_signature_free(s);
    ck_assert_int_eq(
        xd_signature_new(&s, xd_span(zeros, sizeof zeros), &keys, &err),
        XD_E_CORRUPT);
}
END_TEST

/* ---- what gpgv says ---- */

#define GOOD "[GNUPG:] GOODSIG 57108AB00612CFD2 A <a@x>\n"
#define VALID                                                                \
    "[GNUPG:] VALIDSIG 1111111111111111111111111111111111111111 2026-11-23 " \
    "1795476672 0 4 0 22 8 00 6AB0EA9F564E9A2A342A5E2157108AB00612CFD2\n"
#define PLAINTEXT "[GNUPG:] PLAINTEXT 74 0 \n"

static int judge(const char *status, bool is_inline)
{
    return xd_gpgv_judge(xd_span_of(status), is_inline, signer, &err);
}

START_TEST(a_valid_signature_names_its_primary_key)
{
    ck_assert_int_eq(judge("[GNUPG:] NEWSIG\n" GOOD VALID, false), 0);
    ck_assert_str_eq(signer,
                     "OpenPGP key 6AB0EA9F564E9A2A342A5E2157108AB00612CFD2");
    ck_assert_int_eq(judge(PLAINTEXT GOOD VALID, true), 0);
    ck_assert_int_eq(judge(GOOD VALID GOOD VALID, false), 0);
}
END_TEST

START_TEST(less_than_that_is_no_signature)
{
    static const char *const detached[] = {"",
                                           GOOD,
                                           VALID,
                                           GOOD VALID VALID,
                                           GOOD GOOD VALID,
                                           PLAINTEXT GOOD VALID,
                                           "[GNUPG:] FAILURE gpgv 1\n",
                                           "GOODSIG x\nVALIDSIG y\n",
                                           "[GNUPG:]\n"};
    static const char *const inside[] = {GOOD VALID,
                                         PLAINTEXT PLAINTEXT GOOD VALID};

    for (size_t i = 0; i < sizeof detached / sizeof *detached; i++)
        ck_assert_msg(judge(detached[i], false) == XD_E_CORRUPT, "%zu", i);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        ck_assert_msg(judge(inside[i], true) == XD_E_CORRUPT, "%zu", i);
}
END_TEST

START_TEST(each_bad_word_refuses_all)
{
    static const char *const words[] = {"BADSIG", "EXPSIG", "EXPKEYSIG",
                                        "REVKEYSIG"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(text, sizeof text, "%s[GNUPG:] %s 57108AB00612CFD2 x\n%s%s",
                 GOOD VALID, words[i], GOOD, VALID);
        ck_assert_int_eq(judge(text, false), XD_E_CORRUPT);
    }
}
END_TEST

START_TEST(a_signature_by_an_unknown_key_counts_for_nothing)
{
    static const char unknown[] =
        "[GNUPG:] ERRSIG 57108AB00612CFD2 1 8 00 0 9\n";

    ck_assert_int_eq(judge(unknown, false), XD_E_CORRUPT);
    snprintf(text, sizeof text, "%s%s%s", unknown, GOOD, VALID);
    ck_assert_int_eq(judge(text, false), 0);
    snprintf(text, sizeof text, "%s%s%s", GOOD, VALID, unknown);
    ck_assert_int_eq(judge(text, false), 0);
}
END_TEST

static bool unarmors(const char *armored, const char *to)
{
    size_t len = strlen(armored);

    memcpy(text, armored, len + 1);
    return xd_gpgv_unarmor(text, &len) && len == strlen(to) &&
           memcmp(text, to, len) == 0;
}

#define BEGIN "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"
#define END "-----END PGP PUBLIC KEY BLOCK-----\n"

START_TEST(armor_is_taken_off)
{
    ck_assert(unarmors(BEGIN "\nZm9v\nYmFy\n=abcd\n" END, "foobar"));
    ck_assert(unarmors(BEGIN "Comment: x\n\nZm9vYg==\n" END, "foob"));
    ck_assert(
        unarmors(BEGIN "\nZm9v\n" END "\n" BEGIN "\nYmFy\n" END, "foobar"));
    ck_assert(unarmors("\x99no armor", "\x99no armor"));
}
END_TEST

START_TEST(armor_that_is_cut_or_garbled_is_refused)
{
    ck_assert(!unarmors(BEGIN "\nZm9v\n", ""));
    ck_assert(!unarmors(BEGIN, ""));
    ck_assert(!unarmors(BEGIN "\nZm9v*\n" END, ""));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("signature");

    tcase_set_timeout(t, 300);
    tcase_add_test(t, both_kinds_of_minisign_are_verified);
    tcase_add_test(t, another_text_is_not_what_was_signed);
    tcase_add_test(t, a_signature_that_was_changed_is_refused);
    tcase_add_test(t, a_signature_that_was_cut_is_refused);
    tcase_add_test(t, the_ends_of_lines_may_be_those_of_windows);
    tcase_add_test(t, a_trusted_comment_has_an_end);
    tcase_add_test(t, a_key_is_itself_or_a_file);
    tcase_add_test(t, another_key_did_not_sign_it);
    tcase_add_test(t, what_takes_a_key_that_was_not_given_is_refused);
    tcase_add_test(t, it_begins_anew);
    tcase_add_test(t, a_long_file_takes_a_signature_of_its_hash);
    tcase_add_test(t, a_signature_may_have_64_kib);
    tcase_add_test(t, a_valid_signature_names_its_primary_key);
    tcase_add_test(t, less_than_that_is_no_signature);
    tcase_add_test(t, each_bad_word_refuses_all);
    tcase_add_test(t, a_signature_by_an_unknown_key_counts_for_nothing);
    tcase_add_test(t, armor_is_taken_off);
    tcase_add_test(t, armor_that_is_cut_or_garbled_is_refused);
    return run_suite("signature", t);
}

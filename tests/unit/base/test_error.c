/* SPDX-License-Identifier: MIT */
/* lib/base/error: one sentence per failure, told where it is noticed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "suite.h"

START_TEST(every_code_has_its_name_and_its_meaning)
{
#define X(name, value, text)                      \
    ck_assert_int_eq(XD_E_##name, value);         \
    ck_assert_str_eq(xd_code_name(value), #name); \
    ck_assert_str_eq(xd_code_text(value), text);
    XD_CODE_MAP(X)
#undef X
    ck_assert_str_eq(xd_code_name(XD_OK), "OK");
    ck_assert_str_eq(xd_code_text(XD_OK), "success");
}
END_TEST

START_TEST(an_unknown_code_is_called_unknown)
{
    const int unknown[] = {1, -1000, XD_E_UNUSED_};

    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        ck_assert_str_eq(xd_code_name(unknown[i]), "UNKNOWN");
        ck_assert_str_eq(xd_code_text(unknown[i]), "UNKNOWN");
    }
}
END_TEST

START_TEST(a_failure_tells_its_code_and_its_sentence)
{
    struct xd_error err = {.os_errno = 7, .http_status = 503};

    ck_assert_int_eq(
        xd_fail(&err, XD_E_NET, "depot %s: no bytes for %.1f s", "d3", 4.0),
        XD_E_NET);
    ck_assert_int_eq(err.code, XD_E_NET);
    ck_assert_str_eq(err.msg, "depot d3: no bytes for 4.0 s");
    ck_assert_int_eq(err.os_errno, 0);
    ck_assert_int_eq(err.http_status, 0);
}
END_TEST

START_TEST(a_consequence_tells_where_the_failure_was)
{
    struct xd_error cause = {.os_errno = 7, .http_status = 503}, err;

    xd_error_locate(&cause, "d3:80", "http://d3/x");
    ck_assert_int_eq(xd_fail_because(&err, XD_E_NOREPLICA, &cause, "none"),
                     XD_E_NOREPLICA);
    ck_assert_int_eq(err.code, XD_E_NOREPLICA);
    ck_assert_str_eq(err.msg, "none");
    ck_assert_int_eq(err.os_errno, 7);
    ck_assert_int_eq(err.http_status, 503);
    ck_assert_str_eq(err.depot, "d3:80");
    ck_assert_str_eq(err.url, "http://d3/x");
    xd_fail_because(&err, XD_E_NET, &err, "once more: %s", err.msg);
    ck_assert_str_eq(err.msg, "once more: none");
    ck_assert_str_eq(err.url, "http://d3/x");
    ck_assert_int_eq(xd_fail_because(NULL, XD_E_NET, &err, "%d", 1), XD_E_NET);
    xd_error_locate(NULL, "d3", "d3");
}
END_TEST

START_TEST(a_long_url_is_cut)
{
    struct xd_error err = {.code = XD_OK};
    char url[4000];

    memset(url, 'u', sizeof url - 1);
    url[sizeof url - 1] = '\0';
    xd_error_locate(&err, url, url);
    ck_assert_uint_eq(strlen(err.url), sizeof err.url - 1);
    ck_assert_uint_eq(strlen(err.depot), sizeof err.depot - 1);
    ck_assert_uint_eq(err.reserved[0], 0);
}
END_TEST

START_TEST(nobody_has_to_listen)
{
    ck_assert_int_eq(xd_fail(NULL, XD_E_INVAL, "%d", 1), XD_E_INVAL);
    ck_assert_int_eq(xd_fail_errno(NULL, XD_E_IO, ENOSPC, "%d", 1), XD_E_IO);
    ck_assert_int_eq(xd_fail_nomem(NULL), XD_E_NOMEM);
}
END_TEST

START_TEST(the_system_has_the_last_word)
{
    struct xd_error err;
    char expected[500];

    ck_assert_int_eq(xd_fail_errno(&err, XD_E_IO, ENOSPC, "%s", "a.part"),
                     XD_E_IO);
    snprintf(expected, sizeof expected, "a.part: %s", strerror(ENOSPC));
    ck_assert_str_eq(err.msg, expected);
    ck_assert_int_eq(err.os_errno, ENOSPC);
}
END_TEST

START_TEST(a_long_path_does_not_push_out_the_reason)
{
    struct xd_error err;
    char path[4000], *reason;

    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    xd_fail_errno(&err, XD_E_IO, EACCES, "%s", path);
    reason = strstr(err.msg, ": ");
    ck_assert_ptr_nonnull(reason);
    ck_assert_str_eq(reason + 2, strerror(EACCES));
    ck_assert_uint_eq(strlen(err.msg), sizeof err.msg - 1);
}
END_TEST

START_TEST(a_fact_can_be_added_to_the_sentence_that_is_there)
{
    struct xd_error err;

    xd_fail(&err, XD_E_IO, "no space");
    xd_fail(&err, err.code, "a.part: %s", err.msg);
    ck_assert_str_eq(err.msg, "a.part: no space");
}
END_TEST

START_TEST(out_of_memory_says_so)
{
    struct xd_error err;

    ck_assert_int_eq(xd_fail_nomem(&err), XD_E_NOMEM);
    ck_assert_str_eq(err.msg, "out of memory");
}
END_TEST

START_TEST(an_error_that_is_kept_is_the_same_afterwards)
{
    struct xd_error err = {.code = XD_OK}, again;
    const struct xd_kept_error *kept;

    xd_fail_errno(&err, XD_E_NET, 7, "depot d3");
    err.http_status = 503;
    xd_error_locate(&err, "d3:80", "http://d3/x");
    kept = xd_error_keep(&err);
    ck_assert_str_eq(kept->msg, err.msg);
    again = xd_kept_error_get(kept);
    ck_assert_mem_eq(&again, &err, sizeof err);
    xd_kept_error_free(kept);
}
END_TEST

START_TEST(where_none_is_kept_there_is_none)
{
    ck_assert_int_eq(xd_kept_error_get(NULL).code, XD_OK);
    xd_kept_error_free(NULL);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("error");

    tcase_add_test(t, every_code_has_its_name_and_its_meaning);
    tcase_add_test(t, an_unknown_code_is_called_unknown);
    tcase_add_test(t, a_failure_tells_its_code_and_its_sentence);
    tcase_add_test(t, a_consequence_tells_where_the_failure_was);
    tcase_add_test(t, a_long_url_is_cut);
    tcase_add_test(t, nobody_has_to_listen);
    tcase_add_test(t, the_system_has_the_last_word);
    tcase_add_test(t, a_long_path_does_not_push_out_the_reason);
    tcase_add_test(t, a_fact_can_be_added_to_the_sentence_that_is_there);
    tcase_add_test(t, out_of_memory_says_so);
    tcase_add_test(t, an_error_that_is_kept_is_the_same_afterwards);
    tcase_add_test(t, where_none_is_kept_there_is_none);
    return run_suite("base.error", t);
}

/* SPDX-License-Identifier: MIT */
/* At which stores a command acts: those that were typed, and what follows from a
 * host that was. */
#include "publish/stores.h"

#include <string.h>

#include "suite.h"

static struct xd_stores stores;
static struct xd_options options;
static struct xd_error err;

static void setup(void)
{
    stores = (struct xd_stores){.n = 0};
    xd_options_init(&options);
}

static void teardown(void)
{
    xd_stores_fini(&stores);
    xd_options_fini(&options);
}

static bool is_at(const char *url, const char *host)
{
    struct xd_url u;

    (void)xd_url_parse(&u, url);
    return xd_url_is_at(&u, host);
}

START_TEST(a_host_is_at_its_port)
{
    ck_assert(is_at("http://a.example/x", "a.example"));
    ck_assert(is_at("https://A.example/x", "a.EXAMPLE"));
    ck_assert(is_at("http://a.example:80/x", "a.example"));
    ck_assert(is_at("http://a.example/x", "a.example:80"));
    ck_assert(is_at("https://a.example/x", "a.example:443"));
    ck_assert(is_at("http://a.example:8080/x", "a.example:8080"));
    ck_assert(is_at("ibp://a.example:6714/k/1/READ", "a.example"));
    ck_assert(is_at("http://[::1]:81/x", "[::1]:81"));
}
END_TEST

START_TEST(another_host_or_port_is_another_one)
{
    ck_assert(!is_at("http://b.example/x", "a.example"));
    ck_assert(!is_at("http://a.example:8080/x", "a.example"));
    ck_assert(!is_at("http://a.example/x", "a.example:8080"));
    ck_assert(!is_at("https://a.example/x", "a.example:80"));
    ck_assert(!is_at("http://x.a.example/x", "a.example"));
    ck_assert(!is_at("http://a.example@b.example/x", "a.example"));
    ck_assert(!is_at("http://a.example.b.example/x", "a.example"));
    ck_assert(!is_at("s3://a.example/x", "a.example"));
    ck_assert(!is_at("file:///x", ""));
    ck_assert(!is_at("nonsense", "nonsense"));
}
END_TEST

START_TEST(what_has_more_than_a_port_is_no_host)
{
    static const char *const bad[] = {"",           "a/b",  "a?b",    "me@a",
                                      "a:b",        "a b",  "a#b",    "a\\b",
                                      "a.example:", "a:0x", "a:70000"};

    ck_assert(xd_is_host("a.example"));
    ck_assert(xd_is_host("a.example:81"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!xd_is_host(bad[i]) || strcmp(bad[i], "a.example:") == 0,
                      "%s", bad[i]);
}
END_TEST

static const char *made(const char *manage)
{
    const struct xd_store *store;

    if (xd_stores_make(&store, &stores, manage, &options, &err) < 0)
        return NULL;
    ck_assert(xd_store_has(store, manage));
    return xd_store_name(store);
}

START_TEST(the_store_of_an_object_is_its_folder_or_depot)
{
    ck_assert_str_eq(made("http://a.example/dav/o-0"), "http://a.example/dav/");
    ck_assert_str_eq(made("http://a.example/dav/o-1"), "http://a.example/dav/");
    ck_assert_uint_eq(stores.n, 1);
    ck_assert_str_eq(made("https://a.example/o-1"), "https://a.example/");
    ck_assert_str_eq(made("ibp://a.example:6714/k/3/MANAGE"),
                     "ibp://a.example:6714");
    ck_assert_uint_eq(stores.n, 3);
}
END_TEST

START_TEST(what_is_no_object_has_none)
{
    static const char *const bad[] = {"http://a.example/dav/",
                                      "http://a.example",
                                      "http://a.example/dav/../o",
                                      "http://a.example/dav/%2e%2e/o",
                                      "http://a.example/dav/o?x",
                                      "http://me:word@a.example/dav/o",
                                      "s3://bucket/o",
                                      "ftp://a.example/o",
                                      "file:///o",
                                      "ibp://a.example:6714/k/3/READ",
                                      "ibp://a.example:6714/k",
                                      "o"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(made(bad[i]) == NULL, "%s", bad[i]);
}
END_TEST

START_TEST(what_was_typed_has_what_is_below_it)
{
    ck_assert_int_eq(
        xd_stores_add(&stores, "https://a.example/dav", &options, &err), 0);
    ck_assert_ptr_nonnull(xd_stores_find(&stores, "https://a.example/dav/o"));
    ck_assert_ptr_null(xd_stores_find(&stores, "https://a.example/o"));
    ck_assert_ptr_null(xd_stores_find(&stores, "https://a.example/davx/o"));
    ck_assert_ptr_null(xd_stores_find(&stores, NULL));
    ck_assert_int_eq(xd_stores_add(&stores, "nonsense", &options, &err),
                     XD_E_INVAL);
    ck_assert_uint_eq(stores.n, 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("stores");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_host_is_at_its_port);
    tcase_add_test(tcase, another_host_or_port_is_another_one);
    tcase_add_test(tcase, what_has_more_than_a_port_is_no_host);
    tcase_add_test(tcase, the_store_of_an_object_is_its_folder_or_depot);
    tcase_add_test(tcase, what_is_no_object_has_none);
    tcase_add_test(tcase, what_was_typed_has_what_is_below_it);
    return run_suite("stores", tcase);
}

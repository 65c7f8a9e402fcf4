/* SPDX-License-Identifier: MIT */
/* One depot: which of its sources serves, and what they hold. */
#include "engine/depot.h"

#include "base/range.h"
#include "base/url.h"
#include "engine/depots.h"
#include "engine/depots_of.h"
#include "engine/source.h"
#include "suite.h"

START_TEST(the_best_source_serves_until_it_is_gone)
{
    struct xd_range all = {0, 10};
    struct xd_depot_source *source;

    read_text(METALINK("<file name=\"f\"><size>10</size>"
                       "<url priority=\"2\">http://a.example/f</url>"
                       "<url priority=\"1\">https://a.example/f</url>"
                       "</file>"));
    source = xd_depot_source(depots.list[0], all);
    ck_assert_str_eq(xd_url_secret_text(xd_source_url(source)),
                     "https://a.example/f");
    xd_depot_drop_source(depots.list[0], source);
    source = xd_depot_source(depots.list[0], all);
    ck_assert_str_eq(xd_url_secret_text(xd_source_url(source)),
                     "http://a.example/f");
    xd_depot_drop_source(depots.list[0], source);
    ck_assert_ptr_null(xd_depot_source(depots.list[0], all));
}
END_TEST

START_TEST(a_fragment_is_found_among_many)
{
    struct xd_depot_source *source;

    read_text(EXNODE(MAPPING("20", "10", "http://a.example/3")
                         MAPPING("0", "10", "http://a.example/1")
                             MAPPING("10", "10", "http://a.example/2")));
    source = xd_depot_source(depots.list[0], (struct xd_range){12, 18});
    ck_assert_str_eq(xd_url_secret_text(xd_source_url(source)),
                     "http://a.example/2");
    ck_assert_uint_eq(xd_source_offset(source), 7);
    ck_assert_ptr_null(
        xd_depot_source(depots.list[0], (struct xd_range){8, 12}));
}
END_TEST

START_TEST(a_depot_says_how_much_it_holds)
{
    read_text(EXNODE(MAPPING("0", "30", "http://a.example/all")
                         MAPPING("0", "10", "http://b.example/1")
                             MAPPING("5", "10", "http://b.example/2")));
    ck_assert_str_eq(depots.list[0]->host, "b.example");
    ck_assert_uint_eq(depots.list[0]->bytes_held, 15);
    ck_assert_uint_eq(depots.list[1]->bytes_held, 30);
}
END_TEST

#define R(begin, end) ((struct xd_range){begin, end})

/* Byte by byte, in all ranges of a file of 60. */
static void assert_held(const struct xd_depot *depot, const char *is_held)
{
    struct xd_rangeset held;

    for (uint64_t i = 0; i < 60; i++) {
        for (uint64_t k = i + 1; k <= 60; k++) {
            ck_assert_int_eq(xd_depot_holds(depot, R(i, k), &held), 0);
            for (uint64_t byte = 0; byte < 60; byte++)
                ck_assert_int_eq(xd_rangeset_contains(&held, R(byte, byte + 1)),
                                 byte >= i && byte < k &&
                                     is_held[byte / 5] == 'x');
            xd_rangeset_fini(&held);
        }
    }
}

static void drop(struct xd_depot *depot, uint64_t begin, uint64_t end)
{
    struct xd_depot_source *source = xd_depot_source(depot, R(begin, end));

    ck_assert_ptr_nonnull(source);
    xd_depot_drop_source(depot, source);
    xd_depot_drop_source(depot, source); /* it is gone once */
}

/* One that reaches over others, one that was appended, and one that joined. */
START_TEST(what_a_depot_holds_of_a_range_is_what_its_sources_do_that_are_left)
{
    struct xd_model_file more;
    struct xd_depot *depot;
    struct xd_url url;
    bool is_new;

    read_text(EXNODE(MAPPING("0", "20", "http://a.example/1")
                         MAPPING("5", "5", "http://a.example/2")
                             MAPPING("30", "10", "http://a.example/3")
                                 MAPPING("0", "60", "http://b.example/all")));
    more = manifest->files[0];
    ck_assert_int_eq(
        xd_depots_append(&depots, R(45, 55), &more, 0, &depot, &is_new), 0);
    xd_url_parse(&url, "http://a.example/4");
    ck_assert_int_eq(xd_depots_add(&depots,
                                   &(struct xd_new_source){.range = R(20, 25),
                                                           .url = url,
                                                           .object_size = 5},
                                   &depot),
                     0);
    ck_assert_uint_eq(depots.n, 2);
    ck_assert_uint_eq(depot->n_left, 5);
    assert_held(depot, "xxxxx-xx-xx-");
    drop(depot, 0, 20);
    assert_held(depot, "-x--x-xx-xx-");
    drop(depot, 45, 55);
    drop(depot, 20, 25);
    assert_held(depot, "-x----xx----");
    ck_assert_uint_eq(depot->n_left, 2);
    drop(depot, 30, 40);
    drop(depot, 5, 10);
    assert_held(depot, "------------");
    ck_assert_uint_eq(depot->n_left, 0);
    xd_depot_restore_source(depot, &depot->sources[0]);
    xd_depot_restore_source(depot, &depot->sources[0]);
    assert_held(depot, "xxxx--------");
    ck_assert_uint_eq(depot->n_left, 1);
    xd_depot_drop_sources(depot);
    ck_assert_uint_eq(depot->n_left, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("depot");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, the_best_source_serves_until_it_is_gone);
    tcase_add_test(tcase, a_fragment_is_found_among_many);
    tcase_add_test(tcase, a_depot_says_how_much_it_holds);
    tcase_add_test(
        tcase,
        what_a_depot_holds_of_a_range_is_what_its_sources_do_that_are_left);
    return run_suite("depot", tcase);
}

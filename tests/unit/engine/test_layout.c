/* SPDX-License-Identifier: MIT */
/* What the scheduler gets of depots. */
#include "engine/layout.h"

#include <stdio.h>

#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/depots_of.h"
#include "suite.h"

START_TEST(edges_of_extents_are_cuts)
{
    struct xd_layout layout;

    read_text(EXNODE(MAPPING("0", "30", "http://a.example/all")
                         MAPPING("0", "10", "http://b.example/1")
                             MAPPING("10", "20", "http://c.example/2")));
    ck_assert_int_eq(
        xd_depots_layout(&depots, (struct xd_range){0, 30}, &layout, &error),
        0);
    ck_assert_uint_eq(layout.n_cuts, 1);
    ck_assert_uint_eq(layout.cuts[0], 10);
    ck_assert_uint_eq(layout.n_depots, 3);
    ck_assert_str_eq(depots.list[0]->host, "b.example");
    ck_assert_uint_eq(layout.depots[0].n_held, 1);
    ck_assert_uint_eq(layout.depots[0].held[0].end, 10);
    xd_layout_fini(&layout);
}
END_TEST

#define WEB(offset) MAPPING(offset, "10", "http://a.example/" offset)
#define OUT(offset) MAPPING(offset, "10", "http://b.example/" offset)

START_TEST(bytes_that_only_an_excluded_depot_holds_are_named)
{
    static const struct {
        const char *text, *said;
    } files[] = {
        {EXNODE(OUT("0")), "bytes 0-9"},
        {EXNODE(WEB("0") OUT("10")), "bytes 10-19"},
        {EXNODE(OUT("0") WEB("10") OUT("20")), "bytes 0-9, 20-29"},
        {EXNODE(OUT("0") WEB("10") OUT("20") WEB("30") OUT("40") WEB("50")
                    OUT("60")),
         "bytes 0-9, 20-29, 40-49 and 1 more range"},
    };
    struct xd_layout layout;
    char said[200];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        read_without("b.example", files[i].text);
        ck_assert_int_eq(xd_depots_layout(&depots,
                                          (struct xd_range){0, depots.size},
                                          &layout, &error),
                         XD_E_NOREPLICA);
        snprintf(said, sizeof said, "no replica that can be fetched holds %s",
                 files[i].said);
        ck_assert_str_eq(error.msg, said);
        teardown();
    }
    read_without("b.example", EXNODE(OUT("0") WEB("0")));
    ck_assert_int_eq(
        xd_depots_layout(&depots, (struct xd_range){0, 10}, &layout, &error),
        0);
    xd_layout_fini(&layout);
}
END_TEST

START_TEST(bytes_that_only_excluded_depots_hold_are_named)
{
    struct xd_layout layout;

    read_without("a.example b.example [2001:db8::1]", FOUR);
    ck_assert_uint_eq(depots.n, 0);
    ck_assert_int_eq(
        xd_depots_layout(&depots, (struct xd_range){0, 10}, &layout, &error),
        XD_E_NOREPLICA);
    ck_assert_str_eq(error.msg,
                     "no replica that can be fetched holds bytes 0-9");
}
END_TEST

START_TEST(the_strictest_source_limits_its_depot)
{
    struct xd_layout layout;

    read_text("<metalink version='3.0'><files><file name='f'><size>10</size>"
              "<resources maxconnections='7'>"
              "<url preference='9' maxconnections='3'>http://a.example/f</url>"
              "<url preference='8' maxconnections='2'>ftp://a.example/f</url>"
              "<url preference='7'>https://a.example/f</url>"
              "<url preference='6'>http://b.example/f</url>"
              "</resources></file></files></metalink>");
    ck_assert_uint_eq(depots.max_connections, 7);
    ck_assert_uint_eq(depots.n, 2);
    ck_assert_uint_eq(depots.list[0]->max_connections, 2);
    ck_assert_uint_eq(depots.list[1]->max_connections, 0);
    ck_assert_int_eq(
        xd_depots_layout(&depots, (struct xd_range){0, 10}, &layout, &error),
        0);
    ck_assert_uint_eq(layout.depots[0].max_lanes, 2);
    ck_assert_uint_eq(layout.depots[1].max_lanes, 0);
    xd_layout_fini(&layout);
}
END_TEST

START_TEST(the_scheduler_gets_the_guess_of_each_depot)
{
    struct xd_layout layout;

    read_text(EXNODE(MAPPING("0", "30", "http://a.example/all")
                         MAPPING("0", "30", "http://b.example/all")));
    known("b.example", 100);
    xd_depots_rank(&depots);
    ck_assert_int_eq(
        xd_depots_layout(&depots, (struct xd_range){0, 30}, &layout, &error),
        0);
    ck_assert_double_eq(layout.guesses[0].rate, 100);
    ck_assert_double_eq(layout.guesses[1].rate, 0);
    xd_layout_fini(&layout);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("layout");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, edges_of_extents_are_cuts);
    tcase_add_test(tcase, bytes_that_only_an_excluded_depot_holds_are_named);
    tcase_add_test(tcase, bytes_that_only_excluded_depots_hold_are_named);
    tcase_add_test(tcase, the_strictest_source_limits_its_depot);
    tcase_add_test(tcase, the_scheduler_gets_the_guess_of_each_depot);
    return run_suite("layout", tcase);
}

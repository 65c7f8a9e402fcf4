/* SPDX-License-Identifier: MIT */
/* The depots of a manifest, and how they stand. */
#include "engine/depots.h"

#include <string.h>

#include "engine/depot.h"
#include "engine/depots_of.h"
#include "engine/set.h"
#include "engine/source.h"
#include "manifest/list.h"
#include "manifest/model.h"
#include "suite.h"
#include "url_of.h"

START_TEST(extents_that_follow_each_other_in_one_object_are_one_source)
{
    read_text(EXNODE(
        MAPPING_AT("0", "10", "7", "http://a.example/f")
            MAPPING_AT("20", "10", "27", "http://a.example/f")
                MAPPING_AT("10", "10", "17", "http://a.example/f")
                    MAPPING_AT("30", "10", "0", "http://a.example/g")
                        MAPPING_AT("40", "10", "12", "http://a.example/g")));
    ck_assert_uint_eq(depots.n, 1);
    ck_assert_uint_eq(depots.list[0]->n_sources, 3);
    ck_assert_uint_eq(depots.list[0]->sources[0].range.end, 30);
    ck_assert_uint_eq(xd_source_offset(&depots.list[0]->sources[0]), 7);
    ck_assert_uint_eq(depots.list[0]->sources[1].range.begin, 30);
    ck_assert_uint_eq(xd_source_offset(&depots.list[0]->sources[2]), 12);
    ck_assert_uint_eq(depots.list[0]->bytes_held, 50);
}
END_TEST

/* What there may be 100 000 of: on a machine of 64 bits these are 24 MB. */
START_TEST(a_file_of_many_takes_little)
{
    ck_assert_uint_le(sizeof(struct xd_depot_source), 48);
    ck_assert_uint_le(sizeof(struct xd_set_place), 40);
    ck_assert_uint_le(sizeof(struct xd_set_file), 16);
    ck_assert_uint_le(sizeof(struct xd_model_file), 64);
    ck_assert_uint_le(sizeof(struct xd_model_replica), 24);
    ck_assert_uint_le(sizeof(struct xd_model_extent), 24);
    ck_assert_uint_le(sizeof(struct xd_model_hash), 32);
    ck_assert_uint_le(sizeof(struct xd_list_row), 48);
}
END_TEST

START_TEST(urls_of_one_host_are_one_depot)
{
    read_text(METALINK("<file name=\"f\"><size>10</size>"
                       "<url priority=\"2\">http://a.example/f</url>"
                       "<url priority=\"1\">https://A.example/f</url>"
                       "<url priority=\"3\">http://b.example:8080/f</url>"
                       "</file>"));
    ck_assert_uint_eq(depots.n, 2);
    ck_assert_str_eq(depots.list[0]->host, "a.example");
    ck_assert_str_eq(depots.list[0]->shown_url, "https://A.example/f");
    ck_assert_uint_eq(depots.list[0]->n_sources, 2);
    ck_assert_str_eq(depots.list[1]->host, "b.example:8080");
}
END_TEST

START_TEST(an_ibp_depot_and_a_web_server_of_one_port_are_two)
{
    struct xd_depot *web, *ibp;

    read_text(
        EXNODE(MAPPING_AT("0", "10", "0", "http://a.example:6714/f")
                   MAPPING_AT("0", "10", "0", "ibp://a.example:6714/k/1/READ")
                       MAPPING_AT("0", "10", "0", "https://a.example:6714/g")));
    ck_assert_uint_eq(depots.n, 2);
    web = xd_depots_find(&depots, url_of("http://a.example:6714/h"));
    ibp = xd_depots_find(&depots, url_of("ibp://a.example:6714/l/2/READ"));
    ck_assert(web && ibp && web != ibp);
    ck_assert_uint_eq(web->n_sources, 2);
    ck_assert_uint_eq(ibp->n_sources, 1);
}
END_TEST

START_TEST(depots_stand_in_the_manifests_order_of_preference)
{
    read_text(METALINK("<file name=\"f\"><size>10</size>"
                       "<url priority=\"9\">http://last.example/f</url>"
                       "<url>http://none.example/f</url>"
                       "<url priority=\"1\">http://first.example/f</url>"
                       "</file>"));
    ck_assert_str_eq(depots.list[0]->host, "first.example");
    ck_assert_str_eq(depots.list[1]->host, "last.example");
    ck_assert_str_eq(depots.list[2]->host, "none.example");
}
END_TEST

START_TEST(a_size_that_depots_told_is_every_sources_end)
{
    read_text("http://a.example/f\nhttp://b.example/f\n");
    ck_assert_uint_eq(depots.size, XD_SIZE_UNKNOWN);
    xd_depots_set_size(&depots, 1234);
    ck_assert_uint_eq(depots.list[1]->sources[0].range.end, 1234);
    ck_assert_ptr_nonnull(
        xd_depot_source(depots.list[1], (struct xd_range){0, 1234}));
}
END_TEST

START_TEST(a_host_is_excluded_with_all_its_ports)
{
    read_without("a.example [2001:db8::1]", FOUR);
    ck_assert_uint_eq(depots.n, 1);
    ck_assert_str_eq(depots.list[0]->host, "b.example:8080");
}
END_TEST

START_TEST(a_port_is_excluded_alone)
{
    read_without("a.example:443 b.example:80", FOUR);
    ck_assert_uint_eq(depots.n, 3);
    ck_assert_uint_eq(depots.list[0]->n_sources, 1);
    ck_assert_str_eq(depots.list[0]->shown_url, "http://a.example/f");
}
END_TEST

START_TEST(part_of_a_hosts_name_excludes_nothing)
{
    read_without("a.exampl example .example xa.example", FOUR);
    ck_assert_uint_eq(depots.n, 3);
}
END_TEST

static void stand(const char *expected)
{
    char hosts[100] = "";

    xd_depots_rank(&depots);
    for (size_t i = 0; i < depots.n; i++)
        strncat(hosts, depots.list[i]->host, 1);
    ck_assert_str_eq(hosts, expected);
}

#define FIVE                                                       \
    "http://a.example/f\nhttp://b.example/f\nhttp://c.example/f\n" \
    "http://d.example/f\nhttp://e.example/f\n"

START_TEST(depots_of_whom_nothing_is_known_stay_in_the_manifests_order)
{
    read_text(FIVE);
    stand("abcde");
}
END_TEST

START_TEST(the_unknown_stand_between_the_fast_and_the_slow)
{
    read_text(FIVE);
    known("b.example", 40);
    known("c.example", 0); /* it only failed */
    known("d.example", 60);
    known("e.example", 100);
    stand("edabc");
}
END_TEST

START_TEST(the_unknown_are_taken_to_be_like_those_at_their_location)
{
    read_text(METALINK("<file name=\"f\"><size>10</size>"
                       "<url location=\"us\">http://a.example/f</url>"
                       "<url>http://b.example/f</url>"
                       "<url location=\"us\">http://c.example/f</url>"
                       "<url location=\"de\">http://d.example/f</url>"
                       "<url location=\"de\">http://e.example/f</url>"
                       "<url location=\"de\">http://f.example/f</url>"
                       "</file>"));
    known("c.example", 10);
    known("e.example", 100);
    known("f.example", 80);
    stand("edfbac");
}
END_TEST

START_TEST(a_promise_counts_only_among_depots_of_one_priority)
{
    read_text(METALINK("<file name=\"f\"><size>10</size>"
                       "<url priority=\"1\">http://a.example/f</url>"
                       "<url priority=\"2\">http://b.example/f</url>"
                       "<url priority=\"2\">http://c.example/f</url>"
                       "</file>"));
    known("c.example", 100);
    stand("acb");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("depots");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase,
                   extents_that_follow_each_other_in_one_object_are_one_source);
    tcase_add_test(tcase, a_file_of_many_takes_little);
    tcase_add_test(tcase, urls_of_one_host_are_one_depot);
    tcase_add_test(tcase, an_ibp_depot_and_a_web_server_of_one_port_are_two);
    tcase_add_test(tcase, depots_stand_in_the_manifests_order_of_preference);
    tcase_add_test(tcase, a_size_that_depots_told_is_every_sources_end);
    tcase_add_test(tcase, a_host_is_excluded_with_all_its_ports);
    tcase_add_test(tcase, a_port_is_excluded_alone);
    tcase_add_test(tcase, part_of_a_hosts_name_excludes_nothing);
    tcase_add_test(tcase,
                   depots_of_whom_nothing_is_known_stay_in_the_manifests_order);
    tcase_add_test(tcase, the_unknown_stand_between_the_fast_and_the_slow);
    tcase_add_test(tcase,
                   the_unknown_are_taken_to_be_like_those_at_their_location);
    tcase_add_test(tcase, a_promise_counts_only_among_depots_of_one_priority);
    return run_suite("depots", tcase);
}

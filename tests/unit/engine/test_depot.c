/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/choice.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/layout.h"
#include "engine/set.h"
#include "engine/source.h"
#include "manifest/list.h"
#include "manifest/model.h"
#include "suite.h"
#include "url_of.h"

static struct xd_manifest *manifest;
static struct xd_depots depots;
static struct xd_error error;

static void read_without(const char *exclude, const char *text)
{
    int rc = xd_manifest_parse(&manifest, text, strlen(text), NULL, &error);

    ck_assert_msg(rc == 0, "%s", error.msg);
    rc = xd_depots_init(&depots, manifest, 0,
                        &(struct xd_choice){.exclude = exclude}, &error);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

static void read_text(const char *text)
{
    read_without(NULL, text);
}

static void teardown(void)
{
    xd_depots_fini(&depots);
    xd_manifest_unref(manifest);
    manifest = NULL;
}

#define METALINK(files)         \
    "<?xml version=\"1.0\"?>\n" \
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">" files "</metalink>"

#define MAPPING(offset, length, url) MAPPING_AT(offset, length, "7", url)

#define MAPPING_AT(offset, length, there, url)                          \
    "<exnode:mapping>"                                                  \
    "<exnode:metadata name=\"exnode_offset\" type=\"integer\">" offset  \
    "</exnode:metadata>"                                                \
    "<exnode:metadata name=\"logical_length\" type=\"integer\">" length \
    "</exnode:metadata>"                                                \
    "<exnode:metadata name=\"alloc_offset\" type=\"integer\">" there    \
    "</exnode:metadata>"                                                \
    "<exnode:read>" url "</exnode:read></exnode:mapping>"

#define EXNODE(mappings)                                      \
    "<?xml version=\"1.0\"?>\n"                               \
    "<exnode xmlns:exnode=\"http://loci.cs.utk.edu/exnode\">" \
    "<exnode:metadata name=\"filename\" "                     \
    "type=\"string\">f</exnode:metadata>" mappings "</exnode>"

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

#define FOUR                                                       \
    METALINK("<file name=\"f\"><size>10</size>"                    \
             "<url priority=\"1\">http://a.example/f</url>"        \
             "<url priority=\"2\">https://a.example./f</url>"      \
             "<url priority=\"3\">http://b.example:8080/f</url>"   \
             "<url priority=\"4\">http://[2001:db8::1]:81/f</url>" \
             "</file>")

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

/* What is remembered of the depot of that name, before they are ranked. */
static void known(const char *host, double promise)
{
    for (size_t i = 0; i < depots.n; i++) {
        if (strcmp(depots.list[i]->host, host) != 0)
            continue;
        depots.list[i]->is_known = true;
        depots.list[i]->promise = depots.list[i]->guess.rate = promise;
        return;
    }
    ck_abort_msg("there is no %s", host);
}

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
    TCase *tcase = tcase_create("depot");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase,
                   extents_that_follow_each_other_in_one_object_are_one_source);
    tcase_add_test(tcase, a_file_of_many_takes_little);
    tcase_add_test(tcase, urls_of_one_host_are_one_depot);
    tcase_add_test(tcase, an_ibp_depot_and_a_web_server_of_one_port_are_two);
    tcase_add_test(tcase, the_best_source_serves_until_it_is_gone);
    tcase_add_test(tcase, depots_stand_in_the_manifests_order_of_preference);
    tcase_add_test(tcase, a_fragment_is_found_among_many);
    tcase_add_test(tcase, a_depot_says_how_much_it_holds);
    tcase_add_test(
        tcase,
        what_a_depot_holds_of_a_range_is_what_its_sources_do_that_are_left);
    tcase_add_test(tcase, edges_of_extents_are_cuts);
    tcase_add_test(tcase, bytes_that_only_an_excluded_depot_holds_are_named);
    tcase_add_test(tcase, a_size_that_depots_told_is_every_sources_end);
    tcase_add_test(tcase, a_host_is_excluded_with_all_its_ports);
    tcase_add_test(tcase, a_port_is_excluded_alone);
    tcase_add_test(tcase, part_of_a_hosts_name_excludes_nothing);
    tcase_add_test(tcase, bytes_that_only_excluded_depots_hold_are_named);
    tcase_add_test(tcase, the_strictest_source_limits_its_depot);
    tcase_add_test(tcase,
                   depots_of_whom_nothing_is_known_stay_in_the_manifests_order);
    tcase_add_test(tcase, the_unknown_stand_between_the_fast_and_the_slow);
    tcase_add_test(tcase,
                   the_unknown_are_taken_to_be_like_those_at_their_location);
    tcase_add_test(tcase, a_promise_counts_only_among_depots_of_one_priority);
    tcase_add_test(tcase, the_scheduler_gets_the_guess_of_each_depot);
    return run_suite("depot", tcase);
}

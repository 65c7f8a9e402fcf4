/* SPDX-License-Identifier: MIT */
#include "command/manifests.h"
#include "reading.h"
#include "same.h"

#define METALINK3 "<metalink version='3.0' xmlns='http://www.metalinker.org/'>"

static void parse_file(const char *inner)
{
    char text[16384];
    snprintf(text, sizeof text,
             METALINK3 "<files><file name='f'>%s</file></files></metalink>",
             inner);
    parse(text);
}

static void parse_url(const char *attributes, const char *url)
{
    char inner[1000];
    snprintf(inner, sizeof inner,
             "<resources><url>http://keep/x</url><url %s>%s</url></resources>",
             attributes, url);
    parse_file(inner);
}

START_TEST(a_metalink_3_says_the_same_as_its_twin_of_version_4)
{
    read_data("film.metalink");
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink3");
    struct xd_manifest *third = xd_manifest_ref(manifest);
    read_data("film.meta4");
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink4");
    expect_same(third, manifest);
    xd_manifest_unref(third);
}
END_TEST

START_TEST(mirrors_stand_by_preference_and_then_as_written)
{
    static const char *const urls[] = {"http://de.example/repo/repomd.xml",
                                       "ftp://de.example/repo/repomd.xml",
                                       "http://us.example/$version/repomd.xml",
                                       "http://jp.example/repo/repomd.xml",
                                       "http://fr.example/repo/repomd.xml"};
    static const unsigned priorities[] = {1, 2, 3, XD_PRIORITY_NONE,
                                          XD_PRIORITY_NONE};
    read_data("mirrors.metalink");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 1);
    expect_bytes(0, 0, 4761, 5);
    for (size_t i = 0; i < 5; i++) {
        expect_url(0, 0, i, urls[i]);
        ck_assert_uint_eq(replica_at(0, 0, i).priority, priorities[i]);
    }
    ck_assert_str_eq(replica_at(0, 0, 0).location, "de");
    ck_assert_ptr_null(replica_at(0, 0, 4).location);
    expect_warning("line 25: a source is not used"); /* rsync */
    expect_warning("line 31: a source is not used"); /* 256.0.0.1 */
    ck_assert_uint_eq(n_warnings(), 2);
}
END_TEST

START_TEST(older_versions_of_a_file_are_not_mixed_with_it)
{
    read_data("mirrors.metalink");
    ck_assert_uint_eq(file_at(0).size, 4761);
    ck_assert_uint_eq(file_at(0).n_hashes, 2);
    ck_assert_str_eq(hash_at(0, 0).algorithm, "sha-256");
    ck_assert_str_eq(hash_at(0, 1).hex, "0123456789abcdef0123456789abcdef");
}
END_TEST

START_TEST(connections_are_limited_for_the_file_and_for_a_source)
{
    read_data("mirrors.metalink");
    ck_assert_uint_eq(file_at(0).max_connections, 3);
    ck_assert_uint_eq(replica_at(0, 0, 0).max_connections, 1);
    ck_assert_uint_eq(replica_at(0, 0, 1).max_connections, 0);
    /* Given twice, the stricter one. */
    ck_assert_uint_eq(replica_at(0, 0, 2).max_connections, 2);
}
END_TEST

START_TEST(the_stricter_limit_holds_whichever_comes_first)
{
    static const char *const numbers[][3] = {
        {"2", "5", "2"}, {"5", "2", "2"}, {"", "7", "7"}, {"7", "", "7"}};
    for (size_t i = 0; i < 4; i++) {
        char inner[1000];
        unsigned most = (unsigned)atoi(numbers[i][2]);
        snprintf(inner, sizeof inner,
                 "<resources maxconnections='%s'>"
                 "<url maxconnections='%s'>http://a/x</url></resources>"
                 "<resources maxconnections='%s'>"
                 "<url maxconnections='%s'>http://a/x</url></resources>",
                 numbers[i][0], numbers[i][0], numbers[i][1], numbers[i][1]);
        parse_file(inner);
        ck_assert_uint_eq(file_at(0).max_connections, most);
        ck_assert_uint_eq(replica_at(0, 0, 0).max_connections, most);
    }
}
END_TEST

START_TEST(a_number_of_connections_that_is_none_is_no_limit)
{
    static const char *const bad[] = {"0", "-1", "many", "", "4294967296"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char attribute[100];
        snprintf(attribute, sizeof attribute, "maxconnections='%s'", bad[i]);
        parse_url(attribute, "http://a/x");
        ck_assert_uint_eq(replica_at(0, 0, 1).max_connections, 0);
        expect_warning("is no number of connections");
    }
    parse_url("maxconnections=' 4294967295 '", "http://a/x");
    ck_assert_uint_eq(replica_at(0, 0, 1).max_connections, 4294967295u);
}
END_TEST

START_TEST(a_preference_counts_from_100_down)
{
    static const struct {
        const char *preference;
        unsigned priority;
    } rows[] = {{"100", 1},
                {"1", 100},
                {" 50 ", 51},
                {"0", XD_PRIORITY_NONE},
                {"101", XD_PRIORITY_NONE},
                {"-5", XD_PRIORITY_NONE},
                {"foobar", XD_PRIORITY_NONE},
                {"", XD_PRIORITY_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char attribute[100];
        snprintf(attribute, sizeof attribute, "preference='%s'",
                 rows[i].preference);
        parse_url(attribute, "http://a/x");
        size_t at = rows[i].priority == XD_PRIORITY_NONE;
        expect_url(0, 0, at, "http://a/x");
        ck_assert_uint_eq(replica_at(0, 0, at).priority, rows[i].priority);
        ck_assert_uint_eq(n_warnings(), i >= 4);
    }
}
END_TEST

START_TEST(the_scheme_and_not_the_type_says_how_a_url_is_asked)
{
    static const char *const types[] = {"", "type='http'", "type='ftp'",
                                        "type='file'", "type='no such'"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        parse_url(types[i], "https://a/x");
        ck_assert_uint_eq(extent_at(0, 0).n_replicas, 2);
        ck_assert_uint_eq(n_warnings(), 0);
    }
    parse_url("type='http'", "rsync://a/x");
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 1);
}
END_TEST

START_TEST(a_torrent_is_no_copy_of_the_file)
{
    static const char *const urls[][2] = {
        {"type='bittorrent' preference='200'", "http://a/x"},
        {"type='http'", "http://a/x.torrent"},
        {"", "http://a/x.TORRENT?y=1"},
        {"", "http://a/x.torrent#y"}};
    for (size_t i = 0; i < 4; i++) {
        parse_url(urls[i][0], urls[i][1]);
        ck_assert_uint_eq(extent_at(0, 0).n_replicas, 1);
        ck_assert_uint_eq(n_warnings(), 1);
        expect_warning("a source is not used: it is a torrent");
    }
    parse_url("", "http://a/x?.torrent");
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 2);
}
END_TEST

START_TEST(a_file_that_is_a_torrent_has_copies)
{
    read_data("odd.metalink");
    ck_assert_str_eq(file_at(4).name, "disk.torrent");
    expect_url(4, 0, 0, "http://a.example/disk.torrent");
}
END_TEST

START_TEST(a_document_of_torrents_is_refused_with_the_reason)
{
    expect_refused(METALINK3
                   "<files><file name='f'><resources>\n<url "
                   "type='bittorrent'>http://a/x</url></resources></file>"
                   "</files></metalink>",
                   "no file in it has a source; line 2: a source is not used: "
                   "it is a torrent");
}
END_TEST

START_TEST(a_document_without_a_url_is_refused)
{
    expect_refused(METALINK3 "<files><file name='f'><resources/></file>"
                             "</files></metalink>",
                   "no file in it has a source");
    expect_refused(METALINK3 "<files/></metalink>",
                   "no file in it has a source");
}
END_TEST

START_TEST(bad_values_cost_only_themselves)
{
    read_data("odd.metalink");
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink3");
    struct xd_file f = file_at(0);
    ck_assert_uint_eq(f.size, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(f.n_hashes, 0);
    ck_assert_uint_eq(f.max_connections, 0);
    expect_warning("line 4: \"bar\" is no size");
    expect_warning("line 6: a hash without the name of its algorithm");
    expect_warning("line 7: \"\" is no value of the hash foo");
    expect_warning("line 8: ");
    expect_warning("line 11: \"-1\" is no number of connections");
    expect_warning("line 12: a preference is not between 0 and 100");
    expect_warning("line 13: a preference");
    expect_warning("line 14: a preference");
    expect_warning("line 15: \"0\" is no number of connections");
    expect_warning("line 16: a source is not used");
    expect_warning("line 17: a source is not used: it is a torrent");
    expect_warning("line 18: a source is not used: it is a torrent");
    expect_warning("line 19: a source is not used");
}
END_TEST

START_TEST(a_url_outside_of_resources_is_a_source_too)
{
    read_data("odd.metalink");
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 5);
    expect_url(0, 0, 0, "http://early.example/odd.bin");
    ck_assert_uint_eq(replica_at(0, 0, 0).priority, 1);
    expect_url(0, 0, 1, "http://letters.example/odd.bin");
}
END_TEST

START_TEST(names_are_made_safe_and_may_be_missing)
{
    read_data("odd.metalink");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 5);
    ck_assert_ptr_null(file_at(2).name);
    ck_assert_str_eq(file_at(3).name, "unsafe");
    expect_warning("the file \"nowhere.bin\" is left out");
}
END_TEST

START_TEST(a_negative_size_is_unknown)
{
    read_data("odd.metalink");
    ck_assert_uint_eq(file_at(3).size, XD_SIZE_UNKNOWN);
    expect_warning("\"-1\" is no size");
}
END_TEST

START_TEST(a_piece_without_a_number_is_left_out)
{
    read_data("odd.metalink");
    ck_assert_uint_eq(file_at(1).n_pieces, 2);
    ck_assert_str_eq(xd_manifest_piece(manifest, 1, 1),
                     "61188767d84a1a3c1fc2d65a9fad68acf2861c48");
    expect_warning("line 27: the hash of a piece without a number");
}
END_TEST

START_TEST(pieces_out_of_order_are_not_used)
{
    static const char *const numbers[][2] = {
        {"1", "0"}, {"1", "2"}, {"0", "2"}, {"0", "0"}, {"0", "x"}};
    static const char hash[] = "0123456789abcdef0123456789abcdef";
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char inner[1000];
        snprintf(inner, sizeof inner,
                 "<size>9</size><verification><pieces type='md5' length='5'>"
                 "<hash piece='%s'>%s</hash><hash piece='%s'>%s</hash>"
                 "</pieces></verification>"
                 "<resources><url>http://a/x</url></resources>",
                 numbers[i][0], hash, numbers[i][1], hash);
        parse_file(inner);
        ck_assert_uint_eq(file_at(0).n_pieces, 0);
        ck_assert_uint_eq(n_warnings(), 1);
        expect_warning("belongs: the pieces are not used");
    }
}
END_TEST

START_TEST(each_list_of_pieces_counts_from_0)
{
    read_data("film.metalink");
    ck_assert_uint_eq(file_at(0).n_pieces, 2);
    ck_assert_str_eq(file_at(0).piece_algorithm, "sha-256");
    ck_assert_uint_eq(n_warnings(), 2); /* root://, the torrent */
}
END_TEST

START_TEST(the_namespace_has_a_few_spellings_and_the_version_stands_in_for_it)
{
    static const char *const roots[] = {
        "xmlns='http://www.metalinker.org/'",
        "xmlns='https://www.metalinker.org/'",
        "xmlns='http://www.metalinker.org' version='3.0'",
        "xmlns='https://www.metalinker.org' version='4.0'", "version='3.0'"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<metalink %s><files><file name='f'><resources><url>"
                 "http://a/x</url></resources></file></files></metalink>",
                 roots[i]);
        parse(text);
        ck_assert_str_eq(xd_manifest_format(manifest), "metalink3");
        expect_url(0, 0, 0, "http://a/x");
    }
    parse("<metalink><file name='f'><url>http://a/x</url></file></metalink>");
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink4");
    expect_refused("<metalink version='3.0' xmlns='urn:other'/>",
                   "is that of no manifest");
}
END_TEST

START_TEST(prefixes_do_not_count)
{
    parse("<m:metalink xmlns:m='http://www.metalinker.org/'><m:files><m:file "
          "name='f'><url>http://no/x</url><m:resources><m:url>http://a/x"
          "</m:url></m:resources></m:file></m:files></m:metalink>");
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 1);
    expect_url(0, 0, 0, "http://a/x");
}
END_TEST

START_TEST(the_same_url_eight_times_is_one_source_of_the_best_preference)
{
    char inner[2000] = "<resources>";
    for (int i = 1; i <= 8; i++)
        snprintf(inner + strlen(inner), 100,
                 "<url preference='%d0'>https://a/x</url>", i);
    strcat(inner, "</resources>");
    parse_file(inner);
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 1);
    ck_assert_uint_eq(replica_at(0, 0, 0).priority, 21);
}
END_TEST

START_TEST(every_file_of_several_is_read)
{
    parse(METALINK3
          "<files><file name='a'><resources><url>http://a/a</url></resources>"
          "</file><file name='b'><size>0</size></file><file name='d/a'>"
          "<resources><url>http://a/c</url></resources></file></files>"
          "</metalink>");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 3);
    ck_assert_uint_eq(file_at(1).size, 0);
    ck_assert_str_eq(file_at(2).path, "d/a");
}
END_TEST

START_TEST(a_metalink_4_with_preferences_keeps_its_order)
{
    read_data("grid.meta4");
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink4");
    ck_assert_str_eq(file_at(0).name, "output.dat");
    ck_assert_uint_eq(file_at(0).size, 16777216);
    expect_bytes(0, 0, 16777216, 2);
    expect_url(0, 0, 0, "http://first.example//data/output.dat");
    ck_assert_uint_eq(replica_at(0, 0, 0).priority, XD_PRIORITY_NONE);
    expect_url(0, 0, 1, "http://second.example//data/output.dat");
    ck_assert_uint_eq(file_at(0).n_hashes, 2);
    ck_assert_str_eq(hash_at(0, 0).algorithm, "crc32c");
    ck_assert_str_eq(hash_at(0, 1).algorithm, "zcrc32");
}
END_TEST

START_TEST(a_metalink_4_may_limit_connections_in_the_other_namespace)
{
    parse("<metalink xmlns='urn:ietf:params:xml:ns:metalink' "
          "xmlns:m='http://www.metalinker.org/'><file name='f' "
          "m:maxconnections='4'><url m:maxconnections='2'>http://a/x</url>"
          "<url maxconnections='3'>http://b/x</url></file></metalink>");
    ck_assert_uint_eq(file_at(0).max_connections, 4);
    ck_assert_uint_eq(replica_at(0, 0, 0).max_connections, 2);
    ck_assert_uint_eq(replica_at(0, 0, 1).max_connections, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("metalink3");
    tcase_add_checked_fixture(t, NULL, forget_manifest);
    tcase_add_test(t, a_metalink_3_says_the_same_as_its_twin_of_version_4);
    tcase_add_test(t, mirrors_stand_by_preference_and_then_as_written);
    tcase_add_test(t, older_versions_of_a_file_are_not_mixed_with_it);
    tcase_add_test(t, connections_are_limited_for_the_file_and_for_a_source);
    tcase_add_test(t, the_stricter_limit_holds_whichever_comes_first);
    tcase_add_test(t, a_number_of_connections_that_is_none_is_no_limit);
    tcase_add_test(t, a_preference_counts_from_100_down);
    tcase_add_test(t, the_scheme_and_not_the_type_says_how_a_url_is_asked);
    tcase_add_test(t, a_torrent_is_no_copy_of_the_file);
    tcase_add_test(t, a_file_that_is_a_torrent_has_copies);
    tcase_add_test(t, a_document_of_torrents_is_refused_with_the_reason);
    tcase_add_test(t, a_document_without_a_url_is_refused);
    tcase_add_test(t, bad_values_cost_only_themselves);
    tcase_add_test(t, a_url_outside_of_resources_is_a_source_too);
    tcase_add_test(t, names_are_made_safe_and_may_be_missing);
    tcase_add_test(t, a_negative_size_is_unknown);
    tcase_add_test(t, a_piece_without_a_number_is_left_out);
    tcase_add_test(t, pieces_out_of_order_are_not_used);
    tcase_add_test(t, each_list_of_pieces_counts_from_0);
    tcase_add_test(
        t, the_namespace_has_a_few_spellings_and_the_version_stands_in_for_it);
    tcase_add_test(t, prefixes_do_not_count);
    tcase_add_test(
        t, the_same_url_eight_times_is_one_source_of_the_best_preference);
    tcase_add_test(t, every_file_of_several_is_read);
    tcase_add_test(t, a_metalink_4_with_preferences_keeps_its_order);
    tcase_add_test(t,
                   a_metalink_4_may_limit_connections_in_the_other_namespace);
    return run_suite("metalink3", t);
}

/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "command/manifests.h"
#include "reading.h"

#define SHA1(digit) digit "123456789012345678901234567890123456789"

static void parse_file(const char *inner)
{
    char text[16384];
    snprintf(text, sizeof text, METALINK "<file name='f'>%s</file></metalink>",
             inner);
    parse(text);
}

START_TEST(a_metalink_tells_name_size_hashes_pieces_and_sources)
{
    read_data("film.meta4");
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink4");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 1);
    struct xd_file f = file_at(0);
    ck_assert_str_eq(f.name, "film.mkv");
    ck_assert_uint_eq(f.size, 1000000);
    ck_assert_uint_eq(f.n_extents, 1);
    expect_bytes(0, 0, 1000000, 4);
    struct xd_replica r = replica_at(0, 0, 0);
    ck_assert_uint_eq(r.offset, 0);
    ck_assert_uint_eq(r.object_size, 1000000);
}
END_TEST

START_TEST(sources_stand_by_priority_and_then_as_written)
{
    read_data("film.meta4");
    expect_url(0, 0, 0, "http://de.example/film.mkv");
    ck_assert_uint_eq(replica_at(0, 0, 0).priority, 1);
    expect_url(0, 0, 1, "http://fr.example/film.mkv");
    ck_assert_uint_eq(replica_at(0, 0, 1).priority, 20);
    expect_url(0, 0, 2, "ftp://gb.example/film.mkv");
    expect_url(0, 0, 3, "https://us.example/film.mkv");
    ck_assert_uint_eq(replica_at(0, 0, 3).priority, XD_PRIORITY_NONE);
}
END_TEST

START_TEST(locations_are_lower_case_country_codes)
{
    read_data("film.meta4");
    ck_assert_str_eq(replica_at(0, 0, 0).location, "de");
    ck_assert_str_eq(replica_at(0, 0, 1).location, "fr");
    read_data("odd.meta4");
    ck_assert_ptr_null(replica_at(0, 0, 0).location); /* "Germany" */
    static const char *const none[] = {"d", "d1", "d{", "d@", "d e", ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char text[100];
        snprintf(text, sizeof text, "<url location='%s'>http://a/x</url>",
                 none[i]);
        parse_file(text);
        ck_assert_msg(!replica_at(0, 0, 0).location, "\"%s\"", none[i]);
    }
    parse_file("<url location='AZ'>http://a/x</url>");
    ck_assert_str_eq(replica_at(0, 0, 0).location, "az");
}
END_TEST

START_TEST(hashes_stand_strongest_first_and_unknown_ones_last)
{
    read_data("film.meta4");
    static const char *const order[] = {"sha-256", "sha-1", "md5", "crc32c"};
    ck_assert_uint_eq(file_at(0).n_hashes, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(hash_at(0, i).algorithm, order[i]);
    ck_assert_str_eq(hash_at(0, 3).hex, "40e5fdb0");
}
END_TEST

START_TEST(every_algorithm_has_its_place)
{
    char text[4096] = "<url>http://a/x</url>";
    static const struct {
        const char *written, *name;
        int digits;
    } hashes[] = {{"whirlpool", "whirlpool", 128}, {"MD5", "md5", 32},
                  {"sha224", "sha-224", 56},       {"sha1", "sha-1", 40},
                  {"SHA-512", "sha-512", 128},     {"sha384", "sha-384", 96},
                  {"tiger", "tiger", 48},          {"sha256", "sha-256", 64}};
    static const size_t order[] = {4, 5, 7, 2, 3, 1, 0, 6};
    for (size_t i = 0; i < 8; i++)
        snprintf(text + strlen(text), 300, "<hash type='%s'>%0*d</hash>",
                 hashes[i].written, hashes[i].digits, 7);
    parse_file(text);
    ck_assert_uint_eq(file_at(0).n_hashes, 8);
    for (size_t i = 0; i < 8; i++)
        ck_assert_str_eq(hash_at(0, i).algorithm, hashes[order[i]].name);
}
END_TEST

START_TEST(the_strongest_pieces_are_taken_and_zsync_is_no_hash)
{
    read_data("film.meta4");
    struct xd_file f = file_at(0);
    ck_assert_str_eq(f.piece_algorithm, "sha-256");
    ck_assert_uint_eq(f.n_pieces, 2);
    ck_assert_uint_eq(f.piece_bytes, 500000);
    ck_assert_uint_eq(strlen(xd_manifest_piece(manifest, 0, 0)), 64);
    ck_assert_uint_eq(strlen(xd_manifest_piece(manifest, 0, 1)), 64);
    ck_assert_str_ne(xd_manifest_piece(manifest, 0, 0),
                     xd_manifest_piece(manifest, 0, 1));
    ck_assert_ptr_null(xd_manifest_piece(manifest, 0, 2));
    ck_assert_uint_eq(n_warnings(), 1); /* root:// */
}
END_TEST

START_TEST(the_last_piece_may_be_short)
{
    parse_file(
        "<size>2001</size><url>http://a/x</url>"
        "<pieces length='1000' type='sha-1'><hash>" SHA1(
            "A") "</hash><hash>" SHA1("b") "</hash><hash>" SHA1("c") "</hash></"
                                                                     "pieces>");
    ck_assert_uint_eq(file_at(0).n_pieces, 3);
    ck_assert_str_eq(xd_manifest_piece(manifest, 0, 0), SHA1("a"));
    ck_assert_str_eq(xd_manifest_piece(manifest, 0, 2), SHA1("c"));
}
END_TEST

START_TEST(pieces_that_do_not_fit_the_file_are_dropped)
{
    static const char *const bad[] = {
        /* too few, too many, of no length, of a length that cannot be */
        "<size>2001</size><pieces length='1000' type='sha-1'><hash>" SHA1(
            "a") "</hash></pieces>",
        "<size>9</size><pieces length='9' type='sha-1'><hash>" SHA1(
            "a") "</hash><hash>" SHA1("b") "</hash></pieces>",
        "<size>9</size><pieces length='0' type='sha-1'><hash>" SHA1(
            "a") "</hash></pieces>",
        "<size>9</size><pieces type='sha-1'><hash>" SHA1(
            "a") "</hash></pieces>",
        "<size>9</size><pieces length='18446744073709551616' "
        "type='sha-1'><hash>" SHA1("a") "</hash></pieces>",
        /* a bad hash, another length of hash, another type, no type, no size */
        "<size>9</size><pieces length='9' type='sha-1'><hash>xy</hash>"
        "</pieces>",
        "<size>9</size><pieces length='9' type='sha-256'><hash>" SHA1(
            "a") "</hash></pieces>",
        "<size>9</size><pieces length='9' type='crc32'><hash>01234567</hash>"
        "</pieces>",
        "<size>9</size><pieces length='9' type='crc32c'><hash>01234567</hash>"
        "</pieces>",
        "<size>9</size><pieces length='9'><hash>01234567</hash></pieces>",
        "<pieces length='9' type='sha-1'><hash>" SHA1("a") "</hash></pieces>",
        "<size>9</size><pieces length='9' type='sha-1'/>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s<url>http://a/x</url>", bad[i]);
        parse_file(text);
        ck_assert_msg(file_at(0).n_pieces == 0, "%s", bad[i]);
        ck_assert_ptr_null(file_at(0).piece_algorithm);
        ck_assert_ptr_null(xd_manifest_piece(manifest, 0, 0));
        ck_assert_msg(n_warnings() == 1, "%s", bad[i]);
    }
}
END_TEST

START_TEST(pieces_of_the_longest_possible_length_do_not_overflow)
{
    parse_file("<size>9223372036854775807</size><url>http://a/x</url>"
               "<pieces length='18446744073709551615' type='sha-1'><hash>" SHA1(
                   "a") "</hash></pieces>");
    ck_assert_uint_eq(file_at(0).n_pieces, 1);
}
END_TEST

START_TEST(a_weaker_list_that_fits_beats_a_stronger_that_does_not)
{
    parse_file(
        "<size>9</size><url>http://a/x</url>"
        "<pieces length='1' type='sha-256'/>"
        "<pieces length='9' type='sha-1'><hash>" SHA1("a") "</hash></pieces>");
    ck_assert_str_eq(file_at(0).piece_algorithm, "sha-1");
}
END_TEST

START_TEST(many_lists_of_pieces_are_bounded)
{
    char text[16384] = "<size>9</size><url>http://a/x</url>";
    for (int i = 0; i < 40; i++)
        strcat(text, "<pieces length='9' type='sha-1'><hash>" SHA1(
                         "a") "</hash></pieces>");
    parse_file(text);
    ck_assert_uint_eq(file_at(0).n_pieces, 1);
    expect_warning("more than 8 lists of pieces");
    text[0] = '\0';
    for (int i = 0; i < 8; i++)
        strcat(text, "<pieces length='9' type='sha-1'><hash>" SHA1(
                         "a") "</hash></pieces>");
    strcat(text, "<size>9</size><url>http://a/x</url>");
    parse_file(text);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(a_hash_of_an_unknown_kind_is_bounded)
{
    static const struct {
        int name, hex;
        unsigned n;
    } lengths[] = {{32, 2, 1}, {33, 2, 0}, {1, 512, 1}, {1, 513, 0}, {1, 0, 0}};
    char letters[600];
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<hash type='%.*s'>%.*s</hash><url>http://a/x</url>",
                 lengths[i].name, letters, lengths[i].hex, letters);
        parse_file(text);
        ck_assert_uint_eq(file_at(0).n_hashes, lengths[i].n);
        ck_assert_uint_eq(n_warnings(), 1 - lengths[i].n);
    }
}
END_TEST

START_TEST(a_size_of_zero_is_an_empty_file)
{
    read_data("several.meta4");
    ck_assert_uint_eq(file_at(1).size, 0);
    ck_assert_uint_eq(file_at(1).n_extents, 0);
    parse_file("<size>0</size><pieces length='9' type='sha-1'/>"
               "<url>http://a/x</url>");
    ck_assert_uint_eq(file_at(0).n_pieces, 0);
    ck_assert_ptr_null(file_at(0).piece_algorithm);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(several_files_are_read_and_unusable_ones_left_out)
{
    struct xd_manifest_info info = {.struct_size = sizeof info};
    read_data("several.meta4");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 4);
    xd_manifest_info(manifest, &info);
    ck_assert_uint_eq(info.n_left_out, 1);
    ck_assert_str_eq(file_at(0).name, "one.iso");
    expect_url(0, 0, 0, "http://a.example/one.iso");
    ck_assert_str_eq(file_at(1).name, "two.iso");
    expect_warning("the name \"../two.iso\" is not safe: \"two.iso\"");
    expect_warning("line 5: the file \"nowhere.iso\" is left out");
    ck_assert_str_eq(file_at(2).name, "one.iso");
    ck_assert_str_eq(file_at(2).path, "b/one.iso");
    ck_assert_ptr_null(file_at(3).name);
    ck_assert_ptr_null(file_at(3).path);
    expect_warning("line 7: a <file> without a name");
}
END_TEST

START_TEST(two_files_of_one_path_are_refused)
{
    static const char *const others[] = {"d/x", "d//x", "./d/x", "d\\x"};
    char text[300];

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text,
                 METALINK "<file name='d/x'><size>0</size></file>"
                          "<file name='%s'><size>0</size></file></metalink>",
                 others[i]);
        expect_refused(text, "two files have the path \"d/x\"");
    }
}
END_TEST

START_TEST(what_a_file_lacks_stays_unknown)
{
    read_data("several.meta4");
    struct xd_file f = file_at(0);
    ck_assert_uint_eq(f.size, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(f.n_extents, 1);
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 1);
    ck_assert_uint_eq(replica_at(0, 0, 0).object_size, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(f.n_hashes, 0);
}
END_TEST

START_TEST(a_document_without_a_usable_file_is_refused_with_the_reason)
{
    expect_refused(METALINK "</metalink>", "no file in it has a source");
    expect_refused(METALINK "<file name='../f'>\n<url>root://a/x</url></file>"
                            "</metalink>",
                   "no file in it has a source; line 2: a source is not "
                   "used: its URL has a scheme other than");
}
END_TEST

START_TEST(bad_values_cost_only_themselves)
{
    read_data("odd.meta4");
    struct xd_file f = file_at(0);
    ck_assert_uint_eq(f.size, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(f.n_hashes, 0);
    ck_assert_uint_eq(f.n_pieces, 0);
    expect_warning("line 3: \"abc\" is no size");
    expect_warning("line 4: a hash without the name of its algorithm");
    expect_warning("line 5: \"xyz\" is no value of the hash md5");
    expect_warning("line 6: ");
    expect_warning("line 8: two values of the hash sha-1: neither is used");
    expect_warning("pieces of a file without a size");
    expect_warning("line 16: a source is not used");
}
END_TEST

START_TEST(a_priority_out_of_range_is_the_last)
{
    read_data("odd.meta4");
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 7);
    expect_url(0, 0, 0, "http://seven.example/odd.bin");
    expect_url(0, 0, 1, "http://zero.example/odd.bin");
    for (size_t i = 1; i < 6; i++)
        ck_assert_uint_eq(replica_at(0, 0, i).priority, XD_PRIORITY_NONE);
    expect_warning("line 10: a priority is not between 1 and 999999");
    expect_warning("line 13: a priority");
}
END_TEST

START_TEST(equal_hashes_are_no_contradiction)
{
    parse_file("<url>http://a/x</url><hash type='sha1'>" SHA1(
        "a") "</hash><hash type='sha-1'>" SHA1("A") "</hash>");
    ck_assert_uint_eq(file_at(0).n_hashes, 1);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(a_contradicted_hash_stays_dropped_at_the_third_value)
{
    parse_file("<url>http://a/x</url><hash type='sha-1'>" SHA1(
        "a") "</hash><hash type='sha-1'>" SHA1("b") "</hash><hash "
                                                    "type='sha-1'>" SHA1(
                                                        "c") "</hash>");
    ck_assert_uint_eq(file_at(0).n_hashes, 0);
}
END_TEST

START_TEST(many_hashes_are_bounded)
{
    char text[16384] = "<url>http://a/x</url>";
    for (int i = 0; i < 100; i++)
        snprintf(text + strlen(text), 100, "<hash type='h%d'>00</hash>", i);
    parse_file(text);
    ck_assert_uint_eq(file_at(0).n_hashes, 32);
    expect_warning("more than 32 hashes");
}
END_TEST

START_TEST(sizes_that_contradict_each_other_are_dropped)
{
    parse_file("<size>5</size><size>6</size><size>5</size>"
               "<url>http://a/x</url>");
    ck_assert_uint_eq(file_at(0).size, XD_SIZE_UNKNOWN);
    expect_warning("two sizes, 5 and 6");
    parse_file("<size>5</size><size> 5\n</size><url>http://a/x</url>");
    ck_assert_uint_eq(file_at(0).size, 5);
}
END_TEST

START_TEST(bad_sizes_are_unknown)
{
    static const char *const bad[] = {"",
                                      "-1",
                                      "+5",
                                      "0x10",
                                      "1e9",
                                      "12 3",
                                      "abc",
                                      "1.5",
                                      "9223372036854775808",
                                      "18446744073709551615",
                                      "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text, "<size>%s</size><url>http://a/x</url>",
                 bad[i]);
        parse_file(text);
        ck_assert_uint_eq(file_at(0).size, XD_SIZE_UNKNOWN);
        ck_assert_uint_eq(n_warnings(), 1);
    }
    parse_file("<size>9223372036854775807</size><url>http://a/x</url>");
    ck_assert_uint_eq(file_at(0).size, INT64_MAX);
}
END_TEST

START_TEST(the_same_url_twice_is_one_source_of_the_better_priority)
{
    parse_file("<url priority='9'>http://a/x</url>"
               "<url priority='5'>http://b/x</url>"
               "<url priority='1'>http://a/x</url>"
               "<url>https://a/x</url>");
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 3);
    expect_url(0, 0, 0, "http://a/x");
    ck_assert_uint_eq(replica_at(0, 0, 0).priority, 1);
    expect_url(0, 0, 1, "http://b/x");
    expect_url(0, 0, 2, "https://a/x");
}
END_TEST

START_TEST(relative_urls_resolve_against_where_the_manifest_came_from)
{
    const char *text = METALINK "<file name='f'><url>m/x</url>"
                                "<url>/y</url><url>//b/z</url>"
                                "<url>../up?q</url></file></metalink>";
    ck_assert_int_eq(parse_from(text, "http://a.example/d/e/f.meta4?x=1"), 0);
    expect_url(0, 0, 0, "http://a.example/d/e/m/x");
    expect_url(0, 0, 1, "http://a.example/y");
    expect_url(0, 0, 2, "http://b/z");
    expect_url(0, 0, 3, "http://a.example/d/up?q");
    ck_assert_int_eq(parse_from(text, "file:///home/f.meta4"), XD_E_MANIFEST);
    ck_assert_int_eq(parse_from(text, NULL), XD_E_MANIFEST);
}
END_TEST

START_TEST(relative_urls_of_a_manifest_on_disk_lie_beside_it)
{
    const char *text = METALINK "<file name='f'><url>m/x</url>"
                                "<url>/y</url><url>../up</url></file>"
                                "</metalink>";
    char folder[500], beside[600];
    ck_assert_int_eq(parse_from(text, "/home/my files/d/f.meta4"), 0);
    expect_url(0, 0, 0, "file:///home/my%20files/d/m/x");
    expect_url(0, 0, 1, "file:///y");
    expect_url(0, 0, 2, "file:///home/my%20files/up");
    ck_assert_int_eq(parse_from(text, "d/f.meta4"), 0);
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    snprintf(beside, sizeof beside, "file://%s/d/m/x", folder);
    expect_url(0, 0, 0, beside);
    ck_assert_int_eq(parse_from(text, "-"), XD_E_MANIFEST);
}
END_TEST

START_TEST(a_missing_namespace_is_forgiven_and_a_wrong_one_is_not)
{
    parse("<metalink><file name='f'><url>http://a/x</url></file></metalink>");
    expect_refused("<metalink xmlns='https://metalink.example/'><file "
                   "name='f'><url>http://a/x</url></file></metalink>",
                   "namespace \"https://metalink.example/\"");
}
END_TEST

START_TEST(elements_of_other_namespaces_are_passed_over)
{
    parse("<metalink xmlns='urn:ietf:params:xml:ns:metalink' "
          "xmlns:mm0='http://fedorahosted.org/mirrormanager'>"
          "<file name='f'><size>5</size><mm0:alternates><mm0:alternate>"
          "<size>6</size><hash type='md5'>0123456789abcdef0123456789abcdef"
          "</hash><url>http://old/x</url></mm0:alternate></mm0:alternates>"
          "<mm0:size>7</mm0:size><url>http://a/x</url></file></metalink>");
    ck_assert_uint_eq(file_at(0).size, 5);
    ck_assert_uint_eq(file_at(0).n_hashes, 0);
    expect_bytes(0, 0, 5, 1);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(elements_out_of_their_place_are_passed_over)
{
    parse(METALINK "<url>http://no/1</url><publisher><url>http://no/2</url>"
                   "</publisher><file name='f'><resources><url>http://no/3"
                   "</url></resources><file name='g'><url>http://no/4</url>"
                   "</file><url>http://a/x</url></file></metalink>");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 1);
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 1);
    expect_url(0, 0, 0, "http://a/x");
    parse_file("<size>1<b>9</b>2</size><url>http://a/x</url>");
    ck_assert_uint_eq(file_at(0).size, 12);
}
END_TEST

START_TEST(entities_and_cdata_stand_for_their_characters)
{
    parse(METALINK "<file name='a&amp;b&#x41;.iso'>"
                   "<url>http://a/x?p=1&amp;q=2</url>"
                   "<url><![CDATA[ http://b/x?p=1&q=2 ]]></url>"
                   "</file></metalink>");
    ck_assert_str_eq(file_at(0).name, "a&bA.iso");
    expect_url(0, 0, 0, "http://a/x?p=1&q=2");
    expect_url(0, 0, 1, "http://b/x?p=1&q=2");
}
END_TEST

START_TEST(two_hundred_mirrors_keep_their_order)
{
    size_t size = 1 << 16;
    char *text = calloc(1, size);
    for (int i = 0; i < 217; i++)
        snprintf(text + strlen(text), 100,
                 "<url priority='%d'>http://m%d.example/x</url>", 217 - i, i);
    char *whole = malloc(size + 100);
    snprintf(whole, size + 100, METALINK "<file name='f'>%s</file></metalink>",
             text);
    parse(whole);
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 217);
    expect_url(0, 0, 0, "http://m216.example/x");
    expect_url(0, 0, 216, "http://m0.example/x");
    free(whole);
    free(text);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("metalink4");
    tcase_add_checked_fixture(t, NULL, forget_manifest);
    tcase_add_test(t, a_metalink_tells_name_size_hashes_pieces_and_sources);
    tcase_add_test(t, sources_stand_by_priority_and_then_as_written);
    tcase_add_test(t, locations_are_lower_case_country_codes);
    tcase_add_test(t, hashes_stand_strongest_first_and_unknown_ones_last);
    tcase_add_test(t, every_algorithm_has_its_place);
    tcase_add_test(t, the_strongest_pieces_are_taken_and_zsync_is_no_hash);
    tcase_add_test(t, the_last_piece_may_be_short);
    tcase_add_test(t, pieces_that_do_not_fit_the_file_are_dropped);
    tcase_add_test(t, pieces_of_the_longest_possible_length_do_not_overflow);
    tcase_add_test(t, a_weaker_list_that_fits_beats_a_stronger_that_does_not);
    tcase_add_test(t, many_lists_of_pieces_are_bounded);
    tcase_add_test(t, a_hash_of_an_unknown_kind_is_bounded);
    tcase_add_test(t, a_size_of_zero_is_an_empty_file);
    tcase_add_test(t, several_files_are_read_and_unusable_ones_left_out);
    tcase_add_test(t, two_files_of_one_path_are_refused);
    tcase_add_test(t, what_a_file_lacks_stays_unknown);
    tcase_add_test(t,
                   a_document_without_a_usable_file_is_refused_with_the_reason);
    tcase_add_test(t, bad_values_cost_only_themselves);
    tcase_add_test(t, a_priority_out_of_range_is_the_last);
    tcase_add_test(t, equal_hashes_are_no_contradiction);
    tcase_add_test(t, a_contradicted_hash_stays_dropped_at_the_third_value);
    tcase_add_test(t, many_hashes_are_bounded);
    tcase_add_test(t, sizes_that_contradict_each_other_are_dropped);
    tcase_add_test(t, bad_sizes_are_unknown);
    tcase_add_test(t, the_same_url_twice_is_one_source_of_the_better_priority);
    tcase_add_test(t,
                   relative_urls_resolve_against_where_the_manifest_came_from);
    tcase_add_test(t, relative_urls_of_a_manifest_on_disk_lie_beside_it);
    tcase_add_test(t, a_missing_namespace_is_forgiven_and_a_wrong_one_is_not);
    tcase_add_test(t, elements_of_other_namespaces_are_passed_over);
    tcase_add_test(t, elements_out_of_their_place_are_passed_over);
    tcase_add_test(t, entities_and_cdata_stand_for_their_characters);
    tcase_add_test(t, two_hundred_mirrors_keep_their_order);
    return run_suite("metalink4", t);
}

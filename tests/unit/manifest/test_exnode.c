/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include "command/manifests.h"

#define FILENAME "<e:metadata name='filename'>f</e:metadata>"

/* A mapping whose numbers and the rest are given. */
#define MAPPING_AT(offset, length, rest)                     \
    "<e:mapping><e:metadata name='exnode_offset'>" offset    \
    "</e:metadata><e:metadata name='logical_length'>" length \
    "</e:metadata>" rest "</e:mapping>"
#define READ(url) "<e:read>" url "</e:read>"
#define NUMBER(name, value) "<e:metadata name='" name "'>" value "</e:metadata>"

static void parse_mappings(const char *mappings)
{
    char text[8192];
    snprintf(text, sizeof text, EXNODE FILENAME "%s</exnode>", mappings);
    parse(text);
}

static void expect_mappings_refused(const char *mappings, const char *words)
{
    char text[8192];
    snprintf(text, sizeof text, EXNODE FILENAME "\n%s</exnode>", mappings);
    expect_refused(text, words);
}

START_TEST(a_tiny_exnode_is_one_file_with_one_replica)
{
    read_data("tiny.xnd");
    ck_assert_str_eq(xd_manifest_format(manifest), "exnode");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 1);
    struct xd_file f = file_at(0);
    ck_assert_str_eq(f.name, "tiny");
    ck_assert_uint_eq(f.size, 20);
    ck_assert_uint_eq(f.n_extents, 1);
    ck_assert_uint_eq(f.n_hashes, 0);
    ck_assert_uint_eq(f.n_pieces, 0);
    expect_bytes(0, 0, 20, 1);
    struct xd_replica r = replica_at(0, 0, 0);
    ck_assert_int_eq(strncmp(r.url, "ibp://depot1.example:6714/0#IBP-", 32), 0);
    ck_assert_str_eq(strrchr(r.url, '/'), "/READ");
    ck_assert_uint_eq(r.offset, 0);
    ck_assert_uint_eq(r.object_size, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(r.priority, XD_PRIORITY_NONE);
    ck_assert_ptr_null(r.location);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(copies_of_a_fragment_are_replicas_of_one_extent)
{
    read_data("copies.xnd");
    ck_assert_uint_eq(file_at(0).n_extents, 2);
    expect_bytes(0, 0, 524288, 3);
    expect_bytes(1, 524288, 475712, 3);
    for (size_t extent = 0; extent < 2; extent++) {
        const char *port[] = {":6714/", ":6715/", ":6716/"};
        for (size_t i = 0; i < 3; i++)
            ck_assert_ptr_nonnull(
                strstr(replica_at(0, extent, i).url, port[i]));
    }
}
END_TEST

START_TEST(mappings_in_descending_order_and_an_empty_parent_are_read)
{
    read_data("fragments.xnd");
    ck_assert_uint_eq(file_at(0).size, 1000000);
    ck_assert_uint_eq(file_at(0).n_extents, 4);
    expect_bytes(0, 0, 262144, 3);
    expect_bytes(1, 262144, 262144, 3);
    expect_bytes(2, 524288, 262144, 3);
    expect_bytes(3, 786432, 213568, 3);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(empty_write_and_manage_capabilities_are_no_obstacle)
{
    read_data("readonly.xnd");
    expect_bytes(0, 0, 524288, 3);
    expect_bytes(1, 524288, 475712, 3);
}
END_TEST

START_TEST(a_hole_is_named_with_its_first_and_last_byte)
{
    int rc = xd_manifest_read(&manifest, XD_TEST_DATA "/hole.xnd", &error);
    ck_assert_int_eq(rc, XD_E_MANIFEST);
    ck_assert_ptr_nonnull(
        strstr(error.msg, "no replica holds bytes 2560000-5119999"));
    ck_assert_ptr_nonnull(strstr(error.msg, "hole.xnd"));
}
END_TEST

START_TEST(a_hole_at_the_beginning_is_named)
{
    expect_mappings_refused(MAPPING_AT("7", "3", READ("http://a/x")),
                            "no replica holds bytes 0-6");
}
END_TEST

START_TEST(a_hole_of_the_last_byte_is_named)
{
    expect_mappings_refused(MAPPING_AT("0", "9", READ("http://a/x"))
                                MAPPING_AT("9", "1", READ("gopher://b/x")),
                            "no replica holds byte");
}
END_TEST

START_TEST(a_hole_is_not_explained_by_what_was_dropped_beside_it)
{
    expect_mappings_refused(MAPPING_AT("0", "5", READ("http://a/x")) MAPPING_AT(
                                "0", "5", READ("gopher://b/x"))
                                MAPPING_AT("7", "5", READ("gopher://b/x"))
                                    MAPPING_AT("7", "5", READ("http://a/x")),
                            "no replica holds bytes 5-6");
    ck_assert_ptr_null(strstr(error.msg, "5-6 ("));
}
END_TEST

START_TEST(a_mapping_within_another_makes_no_hole)
{
    parse_mappings(MAPPING_AT("0", "10", READ("http://a/x"))
                       MAPPING_AT("2", "3", READ("http://b/x"))
                           MAPPING_AT("10", "2", READ("http://c/x")));
    ck_assert_uint_eq(file_at(0).size, 12);
    ck_assert_uint_eq(file_at(0).n_extents, 3);
}
END_TEST

START_TEST(one_object_may_hold_the_same_bytes_twice)
{
    parse_mappings(MAPPING_AT("0", "5", READ("http://a/x")) MAPPING_AT(
        "0", "5", NUMBER("alloc_offset", "7") READ("http://a/x")));
    expect_bytes(0, 0, 5, 2);
    ck_assert_uint_eq(replica_at(0, 0, 1).offset, 7);
}
END_TEST

START_TEST(functions_that_cannot_be_undone_are_named)
{
    int rc = xd_manifest_read(&manifest, XD_TEST_DATA "/functions.xnd", &error);
    ck_assert_int_eq(rc, XD_E_MANIFEST);
    ck_assert_ptr_nonnull(strstr(error.msg, "no replica holds bytes 0-999999"));
    ck_assert_ptr_nonnull(
        strstr(error.msg, "it is stored through xor_encrypt over checksum, "
                          "which cannot be undone"));
}
END_TEST

START_TEST(a_replica_without_functions_stands_in_for_one_with)
{
    parse_mappings(MAPPING_AT(
        "0", "9", "<e:function name='zlib_compress'/>" READ("http://a/x"))
                       MAPPING_AT("0", "9", READ("http://b/x")));
    expect_bytes(0, 0, 9, 1);
    expect_url(0, 0, 0, "http://b/x");
    expect_warning("bytes 0-8 is not used: it is stored through "
                   "zlib_compress, which cannot be undone");
}
END_TEST

START_TEST(an_unknown_function_cannot_be_undone_either)
{
    expect_mappings_refused(
        MAPPING_AT("0", "9", "<e:function name='rot13'/>" READ("http://a/x")),
        "through rot13");
    expect_mappings_refused(
        MAPPING_AT("0", "9", "<e:function/>" READ("http://a/x")),
        "through a function");
}
END_TEST

START_TEST(the_identity_is_no_obstacle)
{
    parse_mappings(MAPPING_AT(
        "0", "9", "<e:function name='identity'/>" READ("http://a/x")));
    expect_bytes(0, 0, 9, 1);
}
END_TEST

START_TEST(frames_without_a_function_cannot_be_undone)
{
    expect_mappings_refused(
        MAPPING_AT("0", "9", NUMBER("e2e_blocksize", "512") READ("http://a/x")),
        "no replica holds bytes 0-8");
    expect_mappings_refused(
        MAPPING_AT("0", "9", NUMBER("e2e_blocksize", "1") READ("http://a/x")),
        "in frames of a function");
}
END_TEST

START_TEST(stripes_overlap_and_only_together_cover_the_file)
{
    read_data("stripes.xnd");
    struct xd_file f = file_at(0);
    ck_assert_str_eq(f.name, "film & sound.mkv");
    ck_assert_uint_eq(f.size, 3000);
    ck_assert_uint_eq(f.n_extents, 3);
    expect_bytes(0, 0, 1500, 2);
    expect_bytes(1, 1000, 2000, 1);
    expect_bytes(2, 2000, 1000, 1);
    struct xd_replica a = replica_at(0, 0, 0);
    ck_assert_str_eq(a.url, "http://a.example/head");
    ck_assert_uint_eq(a.offset, 200);
    ck_assert_uint_eq(a.object_size, 1700);
    expect_url(0, 0, 1, "ftp://d.example/head");
    ck_assert_uint_eq(replica_at(0, 0, 1).object_size, 1500);
    ck_assert_uint_eq(replica_at(0, 2, 0).object_size, 1000);
}
END_TEST

START_TEST(an_allocation_shorter_than_its_bytes_tells_no_size)
{
    read_data("stripes.xnd");
    ck_assert_uint_eq(replica_at(0, 1, 0).object_size, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(sha256_metadata_is_a_hash_of_the_file_or_of_a_mapping)
{
    read_data("stripes.xnd");
    struct xd_file f = file_at(0);
    const char *sha = "0123456789abcdef0123456789abcdef"
                      "0123456789abcdef0123456789abcdef";
    ck_assert_uint_eq(f.n_hashes, 1);
    ck_assert_str_eq(hash_at(0, 0).algorithm, "sha-256");
    ck_assert_str_eq(hash_at(0, 0).hex, sha);
    ck_assert_str_eq(extent_at(0, 1).sha256, sha);
    ck_assert_ptr_null(extent_at(0, 0).sha256);
}
END_TEST

#define SHA(digit)                                                        \
    NUMBER("sha256", digit "23456789abcdef0123456789abcdef0123456789abcd" \
                           "ef0123456789abcdef0")

START_TEST(contradicting_hashes_of_one_extent_are_both_dropped)
{
    parse_mappings(MAPPING_AT("0", "9", SHA("1") READ("http://a/x"))
                       MAPPING_AT("0", "9", SHA("2") READ("http://b/x")));
    expect_bytes(0, 0, 9, 2);
    ck_assert_ptr_null(extent_at(0, 0).sha256);
    expect_warning("two values of the sha256 of bytes 0-8");
}
END_TEST

START_TEST(a_hash_on_one_replica_holds_for_the_extent)
{
    parse_mappings(MAPPING_AT("0", "9", READ("http://a/x"))
                       MAPPING_AT("0", "9", SHA("2") READ("http://b/x")));
    ck_assert_ptr_nonnull(extent_at(0, 0).sha256);
    parse_mappings(MAPPING_AT("0", "9", SHA("2") READ("http://a/x"))
                       MAPPING_AT("0", "9", READ("http://a/x")));
    expect_bytes(0, 0, 9, 1);
    ck_assert_ptr_nonnull(extent_at(0, 0).sha256);
}
END_TEST

START_TEST(a_broken_hash_of_a_mapping_is_dropped)
{
    parse_mappings(
        MAPPING_AT("0", "9", NUMBER("sha256", "abc") READ("http://a/x")));
    ck_assert_ptr_null(extent_at(0, 0).sha256);
    expect_warning("\"abc\" is no value of the hash sha-256");
}
END_TEST

START_TEST(unknown_elements_and_metadata_are_passed_over)
{
    read_data("stripes.xnd");
    /* <warmer> holds a mapping without numbers; it must not have been read. */
    ck_assert_uint_eq(file_at(0).n_extents, 3);
    expect_warning("bytes 0-2999 is not used: it is a file: URL");
    ck_assert_uint_eq(n_warnings(), 1);
}
END_TEST

START_TEST(elements_are_known_by_namespace_and_not_by_prefix)
{
    parse("<exnode xmlns:q='http://loci.cs.utk.edu/exnode'>"
          "<q:mapping><q:metadata name='logical_length'>5</q:metadata>"
          "<q:metadata name='exnode_offset'>0</q:metadata>"
          "<q:read>http://a/x</q:read></q:mapping></exnode>");
    expect_bytes(0, 0, 5, 1);
    expect_refused("<exnode xmlns:exnode='urn:other'><exnode:mapping/>"
                   "</exnode>",
                   "no mapping");
}
END_TEST

START_TEST(a_root_inside_the_namespace_is_read_too)
{
    parse("<exnode xmlns='http://loci.cs.utk.edu/exnode'><mapping>"
          "<metadata name='logical_length'>5</metadata>"
          "<metadata name='exnode_offset'>0</metadata>"
          "<read>http://a/x</read></mapping></exnode>");
    expect_bytes(0, 0, 5, 1);
}
END_TEST

START_TEST(a_root_of_another_namespace_is_no_exnode)
{
    expect_refused("<exnode xmlns='urn:other'/>",
                   "the root element \"exnode\" of namespace \"urn:other\"");
}
END_TEST

START_TEST(numbers_that_decide_bytes_are_strict)
{
    static const char *const bad[] = {"-1",    "+5",
                                      "0x10",  "1e9",
                                      "12 3",  "5.0",
                                      "abc",   "9223372036854775808",
                                      "1,000", "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1000], words[100];
        snprintf(words, sizeof words, "line 2: exnode_offset \"%s\"", bad[i]);
        snprintf(text, sizeof text, MAPPING_AT("%s", "5", READ("http://a/x")),
                 bad[i]);
        expect_mappings_refused(text, words);
        snprintf(words, sizeof words, "logical_length \"%s\"", bad[i]);
        snprintf(text, sizeof text, MAPPING_AT("0", "%s", READ("http://a/x")),
                 bad[i]);
        expect_mappings_refused(text, words);
        snprintf(text, sizeof text,
                 MAPPING_AT("0", "5",
                            NUMBER("alloc_offset", "%s") READ("http://a/x")),
                 bad[i]);
        expect_mappings_refused(text, "alloc_offset \"");
        snprintf(text, sizeof text,
                 MAPPING_AT("0", "5",
                            NUMBER("e2e_blocksize", "%s") READ("http://a/x")),
                 bad[i]);
        expect_mappings_refused(text, "e2e_blocksize \"");
    }
}
END_TEST

START_TEST(a_mapping_without_offset_or_length_is_refused)
{
    expect_mappings_refused("<e:mapping>" READ("http://a/x") "</e:mapping>",
                            "a mapping has no exnode_offset");
    expect_mappings_refused(MAPPING_AT("0", "", READ("http://a/x")),
                            "a mapping has no logical_length");
}
END_TEST

START_TEST(two_values_of_one_number_are_refused)
{
    expect_mappings_refused(
        MAPPING_AT("0", "5", NUMBER("exnode_offset", "5") READ("http://a/x")),
        "two values of exnode_offset");
    parse_mappings(
        MAPPING_AT("0", "5", NUMBER("exnode_offset", "0") READ("http://a/x")));
}
END_TEST

START_TEST(sums_beyond_any_file_are_refused)
{
    expect_mappings_refused(
        MAPPING_AT("9223372036854775807", "1", READ("http://a/x")),
        "ends beyond any file");
    expect_mappings_refused(
        MAPPING_AT("0", "9",
                   NUMBER("alloc_offset", "9223372036854775800")
                       READ("http://a/x")),
        "ends beyond any file");
}
END_TEST

START_TEST(a_broken_alloc_length_costs_only_the_object_size)
{
    parse_mappings(MAPPING_AT(
        "0", "9", NUMBER("alloc_length", "many") READ("http://a/x")));
    ck_assert_uint_eq(replica_at(0, 0, 0).object_size, XD_SIZE_UNKNOWN);
    parse_mappings(MAPPING_AT("0", "9",
                              NUMBER("alloc_length", "9223372036854775808")
                                  READ("http://a/x")));
    ck_assert_uint_eq(replica_at(0, 0, 0).object_size, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(blanks_and_comments_in_a_number_do_not_count)
{
    parse_mappings(
        MAPPING_AT("\n 0 \t", "1<!-- two -->2<?pi?>", READ(" http://a/x\n")));
    expect_bytes(0, 0, 12, 1);
    expect_url(0, 0, 0, "http://a/x");
}
END_TEST

START_TEST(mappings_of_no_bytes_are_passed_over)
{
    parse_mappings(MAPPING_AT("0", "9", READ("http://a/x"))
                       MAPPING_AT("3", "0", READ("http://b/x")));
    ck_assert_uint_eq(file_at(0).n_extents, 1);
    parse_mappings(MAPPING_AT("0", "0", READ("http://a/x")));
    ck_assert_uint_eq(file_at(0).size, 0);
    ck_assert_uint_eq(file_at(0).n_extents, 0);
}
END_TEST

START_TEST(an_exnode_without_mappings_is_empty_only_if_it_says_so)
{
    parse_mappings(NUMBER("size", "0"));
    ck_assert_uint_eq(file_at(0).size, 0);
    ck_assert_uint_eq(file_at(0).n_extents, 0);
    expect_mappings_refused(NUMBER("size", "5"), "the exNode has no mapping");
    expect_mappings_refused("", "the exNode has no mapping");
}
END_TEST

START_TEST(the_mappings_decide_the_size_and_a_contradiction_is_said)
{
    parse_mappings(NUMBER("size", "12")
                       MAPPING_AT("0", "9", READ("http://a/x")));
    ck_assert_uint_eq(file_at(0).size, 9);
    expect_warning("says 12 bytes, but its mappings end at 9");
    parse_mappings(NUMBER("size", "3")
                       MAPPING_AT("0", "9", READ("http://a/x")));
    ck_assert_uint_eq(file_at(0).size, 9);
}
END_TEST

START_TEST(a_dropped_mapping_at_the_end_does_not_shorten_the_file)
{
    expect_mappings_refused(MAPPING_AT("0", "9", READ("http://a/x"))
                                MAPPING_AT("9", "3", READ("gopher://b/x")),
                            "no replica holds bytes 9-11 (a mapping of them "
                            "is not used: its URL has a scheme other than");
}
END_TEST

START_TEST(capabilities_that_are_none_drop_the_source)
{
    static const char *const bad[] = {
        "ibp://a:6714/k/1/WRITE", "ibp://a:6714/k/READ", "ibp://a:6714",
        "ibp://a:99999/k/1/READ", "http://a b/x",        "http://a/x y",
        "data:text/plain,x",      "javascript:alert(1)", "/etc/passwd",
        "file:///etc/passwd",     "scp://a/x",           "http://",
        "http://a:0/x",           "http://a\\b/x",       ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 MAPPING_AT("0", "9", READ("%s"))
                     MAPPING_AT("0", "9", READ("http://good/x")),
                 bad[i]);
        parse_mappings(text);
        ck_assert_msg(extent_at(0, 0).n_replicas == 1, "%s", bad[i]);
        expect_url(0, 0, 0, "http://good/x");
        expect_warning("the mapping of bytes 0-8 is not used: it");
    }
}
END_TEST

START_TEST(a_capability_longer_than_ibp_allows_is_dropped)
{
    char text[4000], key[2100];
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    snprintf(text, sizeof text,
             MAPPING_AT("0", "9", READ("ibp://a:6714/%s/1/READ"))
                 MAPPING_AT("0", "9", READ("http://good/x")),
             key);
    parse_mappings(text);
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 1);
    expect_warning("its read capability is broken");
    key[2048 - strlen("ibp://a:6714//1/READ")] = '\0';
    snprintf(text, sizeof text,
             MAPPING_AT("0", "9", READ("ibp://a:6714/%s/1/READ")), key);
    parse_mappings(text);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(a_missing_name_is_a_warning)
{
    parse(EXNODE MAPPING_AT("0", "9", READ("http://a/x")) "</exnode>");
    ck_assert_ptr_null(file_at(0).name);
    expect_warning("the exNode names no file");
}
END_TEST

START_TEST(secrets_stay_out_of_sentences)
{
    parse_mappings(MAPPING_AT("0", "9", READ("ibp://a:1/SECRET/77/WRITE"))
                       MAPPING_AT("0", "9",
                                  "<e:function name='aes_encrypt'>"
                                  "<e:argument name='KEY'>SECRET</e:argument>"
                                  "</e:function>" READ("http://a/SECRET"))
                           MAPPING_AT("0", "9", READ("http://b/x")));
    ck_assert_uint_eq(n_warnings(), 2);
    for (size_t i = 0; i < 2; i++)
        ck_assert_ptr_null(strstr(xd_manifest_warning(manifest, i), "SECRET"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("exnode");
    tcase_add_checked_fixture(t, NULL, forget_manifest);
    tcase_add_test(t, a_tiny_exnode_is_one_file_with_one_replica);
    tcase_add_test(t, copies_of_a_fragment_are_replicas_of_one_extent);
    tcase_add_test(t,
                   mappings_in_descending_order_and_an_empty_parent_are_read);
    tcase_add_test(t, empty_write_and_manage_capabilities_are_no_obstacle);
    tcase_add_test(t, a_hole_is_named_with_its_first_and_last_byte);
    tcase_add_test(t, a_hole_at_the_beginning_is_named);
    tcase_add_test(t, a_hole_of_the_last_byte_is_named);
    tcase_add_test(t, a_hole_is_not_explained_by_what_was_dropped_beside_it);
    tcase_add_test(t, a_mapping_within_another_makes_no_hole);
    tcase_add_test(t, one_object_may_hold_the_same_bytes_twice);
    tcase_add_test(t, functions_that_cannot_be_undone_are_named);
    tcase_add_test(t, a_replica_without_functions_stands_in_for_one_with);
    tcase_add_test(t, an_unknown_function_cannot_be_undone_either);
    tcase_add_test(t, the_identity_is_no_obstacle);
    tcase_add_test(t, frames_without_a_function_cannot_be_undone);
    tcase_add_test(t, stripes_overlap_and_only_together_cover_the_file);
    tcase_add_test(t, an_allocation_shorter_than_its_bytes_tells_no_size);
    tcase_add_test(t, sha256_metadata_is_a_hash_of_the_file_or_of_a_mapping);
    tcase_add_test(t, contradicting_hashes_of_one_extent_are_both_dropped);
    tcase_add_test(t, a_hash_on_one_replica_holds_for_the_extent);
    tcase_add_test(t, a_broken_hash_of_a_mapping_is_dropped);
    tcase_add_test(t, unknown_elements_and_metadata_are_passed_over);
    tcase_add_test(t, elements_are_known_by_namespace_and_not_by_prefix);
    tcase_add_test(t, a_root_inside_the_namespace_is_read_too);
    tcase_add_test(t, a_root_of_another_namespace_is_no_exnode);
    tcase_add_test(t, numbers_that_decide_bytes_are_strict);
    tcase_add_test(t, a_mapping_without_offset_or_length_is_refused);
    tcase_add_test(t, two_values_of_one_number_are_refused);
    tcase_add_test(t, sums_beyond_any_file_are_refused);
    tcase_add_test(t, a_broken_alloc_length_costs_only_the_object_size);
    tcase_add_test(t, blanks_and_comments_in_a_number_do_not_count);
    tcase_add_test(t, mappings_of_no_bytes_are_passed_over);
    tcase_add_test(t, an_exnode_without_mappings_is_empty_only_if_it_says_so);
    tcase_add_test(t, the_mappings_decide_the_size_and_a_contradiction_is_said);
    tcase_add_test(t, a_dropped_mapping_at_the_end_does_not_shorten_the_file);
    tcase_add_test(t, capabilities_that_are_none_drop_the_source);
    tcase_add_test(t, a_capability_longer_than_ibp_allows_is_dropped);
    tcase_add_test(t, a_missing_name_is_a_warning);
    tcase_add_test(t, secrets_stay_out_of_sentences);
    return run_suite("exnode", t);
}

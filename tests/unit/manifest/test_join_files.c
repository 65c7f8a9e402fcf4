/* SPDX-License-Identifier: MIT */
/* Several files as one: which can be, and what the one then says. */
#include "manifest/join.h"

#include <xdownload/check.h>

#include "command/manifests.h"
#include "manifest/model.h"
#include "reading.h"
#include "same.h"

#define LONGEST "9223372036854775807" /* bytes that a file can have */

#define SHA(digit)                          \
    digit "123456789abcdef0123456789abcdef" \
          "0123456789abcdef0123456789abcdef"
#define HASH(digit) "<hash type='sha-256'>" SHA(digit) "</hash>"
#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define SIZE(n) "<size>" n "</size>"
#define FILE_OF(name, more)                                        \
    "<file name='" name "'>" more "<url>http://a.example/" name    \
    "</url><url location='de' priority='2'>http://b.example/" name \
    "</url></file>"
#define MANY                                                                   \
    METALINK FILE_OF("one", SIZE("10") HASH("1"))                              \
        FILE_OF("two", SIZE("7") HASH("2")) "<file name='d/three'>" SIZE("20") \
            HASH("3") "<url>ftp://c.example/three</url></file>" FILE_OF(       \
                "four", SIZE("1") HASH("4")) "</metalink>"

static struct xd_manifest *joined;

static void forget_all(void)
{
    xd_manifest_unref(joined);
    joined = NULL;
    forget_manifest();
}

static int join(const size_t *files, size_t n)
{
    xd_manifest_unref(joined);
    return xd_manifest_join(&joined, manifest, files, n, &error);
}

/* The joined one in place of what it was made of. */
static void join_and_forget(const size_t *files, size_t n)
{
    ck_assert_msg(join(files, n) == 0, "%s", error.msg);
    forget_manifest();
    manifest = joined;
    joined = NULL;
}

static struct xd_joined_proof proof_at(const struct xd_manifest *m, size_t i)
{
    struct xd_joined_proof proof;

    ck_assert(xd_manifest_joined_proof(m, i, &proof));
    return proof;
}

static void expect_can_join(const char *text, bool can)
{
    parse(text);
    ck_assert(xd_manifest_can_join(manifest, 0) == can);
}

START_TEST(a_file_of_which_all_is_known_can_join)
{
    expect_can_join(METALINK FILE_OF("f", SIZE("1") HASH("1")) "</metalink>",
                    true);
    expect_can_join(
        METALINK FILE_OF("f", SIZE(LONGEST) HASH("1")) "</metalink>", true);
    read_data("film.meta4"); /* which has weaker hashes, and pieces */
    ck_assert(xd_manifest_can_join(manifest, 0));
}
END_TEST

START_TEST(a_file_without_size_or_hash_cannot_join)
{
    expect_can_join(METALINK FILE_OF("f", HASH("1")) "</metalink>", false);
    expect_can_join(METALINK FILE_OF("f", SIZE("0") HASH("1")) "</metalink>",
                    false);
    expect_can_join(METALINK FILE_OF("f", SIZE("1")) "</metalink>", false);
    expect_can_join(METALINK FILE_OF("f",
                                     SIZE("1") "<hash type='crc32c'>"
                                               "01234567</hash>") "</metalink>",
                    false);
}
END_TEST

/* The checksum is one that has to be compared. */
static void apply(const char *checksum)
{
    struct xd_manifest *with = NULL;
    struct xd_checksums *c = NULL;

    ck_assert_int_eq(xd_checksums_new(&c, &error), 0);
    ck_assert_int_eq(xd_checksums_add(c, checksum, &error), 0);
    ck_assert_msg(xd_checksums_apply(&with, c, manifest, 0, &error) == 0, "%s",
                  error.msg);
    xd_checksums_free(c);
    forget_manifest();
    manifest = with;
}

START_TEST(an_empty_file_cannot_join)
{
    static const char *const urls[] = {"http://a.example/f"};

    forget_manifest();
    ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 1, 0, &error), 0);
    apply("sha-256=" SHA("1"));
    ck_assert(!xd_manifest_can_join(manifest, 0));
    forget_manifest();
    ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 1, 1, &error), 0);
    apply("sha-256=" SHA("1"));
    ck_assert(xd_manifest_can_join(manifest, 0));
}
END_TEST

START_TEST(a_file_that_is_not_there_cannot_join)
{
    parse(MANY);
    ck_assert(xd_manifest_can_join(manifest, 3));
    ck_assert(!xd_manifest_can_join(manifest, 4));
    ck_assert(!xd_manifest_can_join(manifest, SIZE_MAX));
}
END_TEST

#define PART(offset, length, url)                                            \
    "<e:mapping><e:metadata name='exnode_offset'>" offset                    \
    "</e:metadata><e:metadata name='logical_length'>" length "</e:metadata>" \
    "<e:read>" url "</e:read></e:mapping>"
#define EXNODE_OF(mappings)                                              \
    EXNODE                                                               \
    "<e:metadata name='filename'>f</e:metadata>"                         \
    "<e:metadata name='hash.sha-256'>" SHA("1") "</e:metadata>" mappings \
                                                "</exnode>"

START_TEST(a_file_with_replicas_of_a_part_cannot_join)
{
    expect_can_join(EXNODE_OF(PART("0", "10", "http://a.example/f")
                                  PART("0", "10", "http://b.example/f")),
                    true);
    expect_can_join(EXNODE_OF(PART("0", "5", "http://a.example/f")
                                  PART("5", "5", "http://b.example/f")),
                    false);
    expect_can_join(EXNODE_OF(PART("0", "10", "http://a.example/f")
                                  PART("0", "5", "http://b.example/f")),
                    false);
    expect_can_join(EXNODE_OF(PART("0", "10", "http://a.example/f")
                                  PART("5", "5", "http://b.example/f")),
                    false);
}
END_TEST

START_TEST(a_file_whose_other_hash_was_given_cannot_join)
{
    parse(METALINK FILE_OF("f", SIZE("1") HASH("1")) "</metalink>");
    apply("sha-256=" SHA("1"));
    ck_assert(xd_manifest_can_join(manifest, 0));
    apply("md5=" MD5);
    ck_assert(!xd_manifest_can_join(manifest, 0));
}
END_TEST

START_TEST(a_hash_that_was_given_lets_a_file_join)
{
    static const size_t first[] = {0};

    parse(METALINK FILE_OF("f", SIZE("1")) "</metalink>");
    apply("sha-256=" SHA("1"));
    ck_assert(xd_manifest_can_join(manifest, 0));
    join_and_forget(first, 1);
    ck_assert_str_eq(proof_at(manifest, 0).hex, SHA("1"));
}
END_TEST

#define MD5_HASH "<hash type='md5'>" MD5 "</hash>"
#define SHA_1 "0123456789abcdef0123456789abcdef01234567"
#define PIECES(type, hashes) \
    "<pieces type='" type "' length='5'>" hashes "</pieces>"
#define SHA_PIECES \
    PIECES("sha-256", "<hash>" SHA("2") "</hash><hash>" SHA("3") "</hash>")
#define MD5_PIECES PIECES("md5", "<hash>" MD5 "</hash><hash>" MD5 "</hash>")

static void expect_proof(const char *of_file, const char *algorithm,
                         uint64_t piece_bytes, size_t n, const char *last)
{
    static const size_t first[] = {0};
    struct xd_joined_proof proof;
    char text[1000];

    snprintf(text, sizeof text, METALINK "%s</metalink>", of_file);
    parse(text);
    ck_assert(xd_manifest_can_join(manifest, 0));
    ck_assert_int_eq(join(first, 1), 0);
    proof = proof_at(joined, 0);
    ck_assert_str_eq(proof.algorithm, algorithm);
    ck_assert_uint_eq(proof.piece_bytes, piece_bytes);
    ck_assert_uint_eq(proof.n, n);
    ck_assert_str_eq(proof.hex + (n - 1) * proof.stride, last);
    ck_assert(!xd_manifest_joined_proof(manifest, 0, &proof));
    ck_assert(!xd_manifest_joined_proof(joined, 1, &proof));
}

/* The strongest, of equal ones that of the pieces. */
START_TEST(any_hash_that_can_be_computed_proves_a_file)
{
    expect_proof(FILE_OF("f", SIZE("10") MD5_HASH), "md5", 10, 1, MD5);
    expect_proof(FILE_OF("f", SIZE("10") MD5_HASH HASH("1")), "sha-256", 10, 1,
                 SHA("1"));
    expect_proof(FILE_OF("f", SIZE("10") MD5_PIECES), "md5", 5, 2, MD5);
    expect_proof(FILE_OF("f", SIZE("10") HASH("1") MD5_PIECES), "sha-256", 10,
                 1, SHA("1"));
    expect_proof(FILE_OF("f", SIZE("9") HASH("1") SHA_PIECES), "sha-256", 5, 2,
                 SHA("3"));
}
END_TEST

#define ONE_URL(more) \
    "<file name='f'>" more "<url>http://a.example/f</url></file>"

START_TEST(without_a_hash_a_file_of_one_replica_can_join)
{
    static const size_t first[] = {0};

    expect_can_join(METALINK ONE_URL(SIZE("7")) "</metalink>", true);
    ck_assert_int_eq(join(first, 1), 0);
    ck_assert_uint_eq(proof_at(joined, 0).n, 0);
}
END_TEST

/* In a place that it may fill or not. */
START_TEST(a_file_of_unknown_size_and_one_replica_can_join)
{
    static const size_t both[] = {0, 1};

    expect_can_join(METALINK ONE_URL(HASH("1")) "</metalink>", false);
    parse(METALINK ONE_URL("") "<file name='g'>" SIZE(
        "3") "<url>http://a.example/g</url></file></metalink>");
    ck_assert(xd_manifest_can_join(manifest, 0));
    join_and_forget(both, 2);
    expect_bytes(0, 0, XD_JOINED_PLACE, 1);
    expect_bytes(1, XD_JOINED_PLACE, 3, 1);
    ck_assert_uint_eq(file_at(0).size, XD_JOINED_PLACE + 3);
    ck_assert_uint_eq(replica_at(0, 0, 0).object_size, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(a_given_hash_and_stronger_pieces_cannot_both_be_compared)
{
    parse(METALINK FILE_OF("f", SIZE("10") MD5_PIECES) "</metalink>");
    apply("sha-1=" SHA_1);
    ck_assert(xd_manifest_can_join(manifest, 0));
    parse(METALINK FILE_OF("f", SIZE("10") SHA_PIECES) "</metalink>");
    apply("sha-1=" SHA_1);
    ck_assert(!xd_manifest_can_join(manifest, 0));
    apply("sha-256=" SHA("1"));
    ck_assert(!xd_manifest_can_join(manifest, 0)); /* two were given */
}
END_TEST

static size_t n_replicas(const struct xd_manifest *m, size_t file)
{
    struct xd_extent e = {.struct_size = sizeof e};

    ck_assert_int_eq(xd_manifest_extent(m, file, 0, &e), 0);
    return e.n_replicas;
}

/* Each extent says what its file said. */
static void expect_joined(const struct xd_manifest *of, const size_t *files,
                          size_t n)
{
    uint64_t size = 0;

    ck_assert_uint_eq(xd_manifest_n_files(joined), 1);
    for (size_t i = 0; i < n; i++) {
        struct xd_file f = {.struct_size = sizeof f};
        struct xd_extent e = {.struct_size = sizeof e};
        struct xd_hash h = {.struct_size = sizeof h};

        ck_assert_int_eq(xd_manifest_file(of, files[i], &f), 0);
        ck_assert_int_eq(xd_manifest_hash(of, files[i], 0, &h), 0);
        ck_assert_int_eq(xd_manifest_extent(joined, 0, i, &e), 0);
        ck_assert_uint_eq(e.offset, size);
        ck_assert_uint_eq(e.length, f.size);
        ck_assert_str_eq(proof_at(joined, i).hex, h.hex);
        ck_assert_str_eq(proof_at(joined, i).algorithm, h.algorithm);
        ck_assert_uint_eq(e.n_replicas, n_replicas(of, files[i]));
        for (size_t k = 0; k < e.n_replicas; k++) {
            struct xd_replica r = {.struct_size = sizeof r}, s = r;

            ck_assert_int_eq(xd_manifest_replica(of, files[i], 0, k, &r), 0);
            ck_assert_int_eq(xd_manifest_replica(joined, 0, i, k, &s), 0);
            expect_same_replica(&r, &s);
        }
        size += f.size;
    }
    ck_assert_uint_eq(joined->files[0].size, size);
}

START_TEST(the_joined_file_has_an_extent_for_each)
{
    static const size_t all[] = {0, 1, 2, 3};
    struct xd_file f;

    parse(MANY);
    ck_assert_int_eq(join(all, 4), 0);
    expect_joined(manifest, all, 4);
    join_and_forget(all, 4);
    f = file_at(0);
    ck_assert_uint_eq(f.size, 38);
    ck_assert_uint_eq(f.n_extents, 4);
    ck_assert_uint_eq(f.n_hashes, 0);
    ck_assert_uint_eq(f.n_pieces, 0);
    ck_assert_ptr_null(f.path);
    expect_bytes(0, 0, 10, 2);
    expect_bytes(1, 10, 7, 2);
    expect_bytes(2, 17, 20, 1);
    expect_bytes(3, 37, 1, 2);
    ck_assert_str_eq(proof_at(manifest, 2).hex, SHA("3"));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink4");
}
END_TEST

/* With what it knows of them that has no place in a row: how near their servers
 * may be. */
START_TEST(replicas_stay_those_of_their_files)
{
    static const size_t files[] = {2, 0};
    size_t place = 99;

    parse(MANY);
    ck_assert_int_eq(join(files, 2), 0);
    for (size_t i = 0; i < 2; i++) {
        const struct xd_model_file *f = &manifest->files[files[i]];
        const struct xd_model_file *all = &joined->files[0];
        const size_t last = f->n_extents > 0 ? f->extents[0].n_replicas : 0;

        ck_assert_ptr_eq(
            xd_model_replica(all, &all->extents[i], last - 1, &place), f);
        ck_assert_uint_eq(place, last - 1);
        ck_assert_ptr_eq(xd_model_replica(f, &f->extents[0], last - 1, &place),
                         f);
        ck_assert_uint_eq(place, last - 1);
    }
}
END_TEST

/* Its strings are those of the manifest that it was made of. */
START_TEST(the_joined_file_outlives_what_it_was_made_of)
{
    static const size_t all[] = {0, 1, 2, 3};

    parse(MANY);
    join_and_forget(all, 4);
    expect_url(0, 0, 0, "http://b.example/one");
    expect_url(0, 0, 1, "http://a.example/one");
    expect_url(0, 2, 0, "ftp://c.example/three");
    expect_url(0, 3, 1, "http://a.example/four");
    ck_assert_str_eq(replica_at(0, 3, 0).location, "de");
    ck_assert_uint_eq(replica_at(0, 3, 0).priority, 2);
    ck_assert_uint_eq(replica_at(0, 0, 0).object_size, 10);
    ck_assert_uint_eq(replica_at(0, 2, 0).object_size, 20);
    ck_assert_str_eq(proof_at(manifest, 3).hex, SHA("4"));
}
END_TEST

START_TEST(what_was_joined_can_outlive_the_joined_file)
{
    static const size_t all[] = {0, 1, 2, 3};

    parse(MANY);
    ck_assert_int_eq(join(all, 4), 0);
    xd_manifest_unref(joined);
    joined = NULL;
    expect_url(3, 0, 1, "http://a.example/four");
}
END_TEST

START_TEST(files_are_joined_in_the_order_that_is_given)
{
    static const size_t some[][3] = {{3, 2, 0}, {1, 0, 3}, {2, 2, 1}};

    parse(MANY);
    ck_assert_int_eq(join(some[_i], 3), 0);
    expect_joined(manifest, some[_i], 3);
    ck_assert_int_eq(join(some[_i], 1), 0);
    expect_joined(manifest, some[_i], 1);
}
END_TEST

/* What requests are made of. */
START_TEST(parsed_urls_stand_in_the_order_of_the_replicas)
{
    static const size_t some[] = {1, 2, 0};
    static const char *const urls[] = {
        "http://b.example/two", "http://a.example/two", "ftp://c.example/three",
        "http://b.example/one", "http://a.example/one"};
    const struct xd_model_file *f;
    size_t n = 0, place;

    parse(MANY);
    join_and_forget(some, 3);
    f = &manifest->files[0];
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < f->extents[i].n_replicas; k++) {
            const struct xd_model_file *in =
                xd_model_replica(f, &f->extents[i], k, &place);

            ck_assert_str_eq(xd_url_name(&in->urls[place]).s, urls[n++]);
        }
    ck_assert_uint_eq(n, sizeof urls / sizeof *urls);
}
END_TEST

#define METALINK_3 \
    "<metalink version='3.0' xmlns='http://www.metalinker.org/'><files>"
#define LIMITED(name, limit)                                    \
    "<file name='" name "'>" SIZE(                              \
        "5") "<verification><hash "                             \
             "type='sha256'>" SHA(                              \
                 "1") "</hash></verification><resources " limit \
                      "><url>http://a.example/f</url></resources></file>"
#define LIMIT(n) LIMITED("f" n, "maxconnections='" n "'")

START_TEST(the_strictest_limit_of_connections_is_that_of_all)
{
    static const size_t all[] = {0, 1, 2, 3, 4}, back[] = {4, 3, 2, 1, 0},
                        last[] = {3, 4};

    parse(METALINK_3 LIMITED("f", "") LIMIT("7") LIMIT("3") LIMIT("5")
              LIMITED("g", "") "</files></metalink>");
    ck_assert_uint_eq(file_at(2).max_connections, 3);
    ck_assert_int_eq(join(all, 5), 0);
    ck_assert_uint_eq(joined->files[0].rare->max_connections, 3);
    ck_assert_int_eq(join(back, 5), 0);
    ck_assert_uint_eq(joined->files[0].rare->max_connections, 3);
    ck_assert_int_eq(join(last, 2), 0);
    ck_assert_uint_eq(joined->files[0].rare->max_connections, 5);
    ck_assert_int_eq(join(&last[1], 1), 0);
    ck_assert_uint_eq(joined->files[0].rare->max_connections, 0);
}
END_TEST

/* The sizes of hostile files could run over. */
START_TEST(files_that_are_too_long_together_are_refused)
{
    static const size_t two[] = {0, 1}, many[] = {0, 0, 1, 1};

    parse(METALINK FILE_OF("f", SIZE(LONGEST) HASH("1"))
              FILE_OF("g", SIZE("1") HASH("2")) "</metalink>");
    ck_assert_int_eq(join(two, 1), 0);
    ck_assert_int_eq(join(two, 2), XD_E_MANIFEST);
    ck_assert_ptr_null(joined);
    ck_assert_ptr_nonnull(strstr(error.msg, LONGEST));
    ck_assert_int_eq(join(many, 4), XD_E_MANIFEST);

    parse(METALINK FILE_OF("f", SIZE("9223372036854775806") HASH("1"))
              FILE_OF("g", SIZE("1") HASH("2")) "</metalink>");
    join_and_forget(two, 2);
    ck_assert_uint_eq(file_at(0).size, INT64_MAX);
}
END_TEST

/* At other paths, and in spite of what becomes of their manifests. */
START_TEST(files_of_several_manifests_can_be_gathered)
{
    static const char *const paths[] = {NULL, "x/y", NULL};
    static const size_t files[] = {3, 0, 1}, all[] = {0, 1, 2};
    struct xd_manifest *of[3], *gathered;

    parse(METALINK FILE_OF("f", SIZE("9") HASH("5")) "</metalink>");
    of[1] = xd_manifest_ref(manifest);
    parse(MANY);
    of[0] = of[2] = manifest;
    ck_assert_int_eq(xd_manifest_gather(&gathered, of, files, paths, 3, &error),
                     0);
    xd_manifest_unref(of[1]);
    forget_manifest();
    manifest = gathered;
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 3);
    ck_assert_str_eq(file_at(0).path, "four");
    ck_assert_str_eq(file_at(1).path, "x/y");
    ck_assert_str_eq(file_at(2).path, "two");
    join_and_forget(all, 3);
    ck_assert_uint_eq(file_at(0).size, 17);
    ck_assert_str_eq(proof_at(manifest, 1).hex, SHA("5"));
    expect_url(0, 1, 0, "http://b.example/f");
    expect_url(0, 2, 1, "http://a.example/two");
}
END_TEST

START_TEST(what_a_manifest_does_not_have_is_not_gathered)
{
    static const size_t fifth[] = {4};
    struct xd_manifest *gathered;

    parse(MANY);
    ck_assert_int_eq(
        xd_manifest_gather(&gathered, &manifest, fifth, NULL, 1, &error),
        XD_E_INVAL);
    ck_assert_ptr_null(gathered);
    ck_assert_int_eq(
        xd_manifest_gather(&gathered, &manifest, fifth, NULL, 0, &error),
        XD_E_INVAL);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("join_files");

    tcase_add_checked_fixture(t, NULL, forget_all);
    tcase_add_test(t, a_file_of_which_all_is_known_can_join);
    tcase_add_test(t, a_file_without_size_or_hash_cannot_join);
    tcase_add_test(t, an_empty_file_cannot_join);
    tcase_add_test(t, a_file_that_is_not_there_cannot_join);
    tcase_add_test(t, a_file_with_replicas_of_a_part_cannot_join);
    tcase_add_test(t, a_file_whose_other_hash_was_given_cannot_join);
    tcase_add_test(t, a_hash_that_was_given_lets_a_file_join);
    tcase_add_test(t, any_hash_that_can_be_computed_proves_a_file);
    tcase_add_test(t, without_a_hash_a_file_of_one_replica_can_join);
    tcase_add_test(t, a_file_of_unknown_size_and_one_replica_can_join);
    tcase_add_test(t, a_given_hash_and_stronger_pieces_cannot_both_be_compared);
    tcase_add_test(t, the_joined_file_has_an_extent_for_each);
    tcase_add_test(t, replicas_stay_those_of_their_files);
    tcase_add_test(t, the_joined_file_outlives_what_it_was_made_of);
    tcase_add_test(t, what_was_joined_can_outlive_the_joined_file);
    tcase_add_loop_test(t, files_are_joined_in_the_order_that_is_given, 0, 3);
    tcase_add_test(t, parsed_urls_stand_in_the_order_of_the_replicas);
    tcase_add_test(t, the_strictest_limit_of_connections_is_that_of_all);
    tcase_add_test(t, files_that_are_too_long_together_are_refused);
    tcase_add_test(t, files_of_several_manifests_can_be_gathered);
    tcase_add_test(t, what_a_manifest_does_not_have_is_not_gathered);
    return run_suite("join_files", t);
}

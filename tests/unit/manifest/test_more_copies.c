/* SPDX-License-Identifier: MIT */
#include "manifest/more_copies.h"

#include "command/manifests.h"
#include "manifest/builder.h"

#include "reading.h"

#define SHA256(digit)                        \
    digit "12345678901234567890123456789012" \
          "3456789012345678901234567890123"
#define ONE(inner) METALINK "<file name='f'>" inner "</file></metalink>"
#define HASH "<hash type='sha-256'>" SHA256("a") "</hash>"
#define META \
    "<metaurl mediatype='application/metalink4+xml'>http://m/x</metaurl>"

static struct xd_manifest *before; /* the one that gets copies */

static void fini(void)
{
    forget_manifest();
    xd_manifest_unref(before);
    before = NULL;
}

/* `manifest` has then what `own` has and the copies that `other` names. */
static void add_from(const char *own, const char *other, enum xd_reach reach)
{
    struct xd_more_copies more = {.reach = reach};
    struct xd_manifest *with;

    parse(own);
    xd_manifest_unref(before);
    before = xd_manifest_ref(manifest);
    parse(other);
    more.from = before->files[0].rare->metaurls;
    more.manifest = manifest;
    ck_assert_int_eq(xd_manifest_add_copies(&with, before, &more, 1, &error),
                     0);
    forget_manifest();
    manifest = with;
}

START_TEST(copies_stand_behind_those_that_were_there)
{
    add_from(ONE("<size>5</size>" HASH META "<url priority='7'>http://a/x</url>"
                 "<url priority='9'>http://b/x</url>"),
             ONE(HASH "<url priority='1' location='DE'>http://c/x</url>"
                      "<url priority='2'>http://b/x</url>"
                      "<url priority='11'>http://d/x</url>"),
             XD_REACH_PUBLIC);
    expect_bytes(0, 0, 5, 4);
    expect_url(0, 0, 0, "http://a/x");
    expect_url(0, 0, 1, "http://b/x");
    expect_url(0, 0, 2, "http://c/x");
    expect_url(0, 0, 3, "http://d/x");
    ck_assert_uint_eq(replica_at(0, 0, 2).priority, 9);
    ck_assert_str_eq(replica_at(0, 0, 2).location, "de");
    ck_assert_uint_eq(replica_at(0, 0, 2).object_size, 5);
    ck_assert_uint_eq(replica_at(0, 0, 3).priority, 11);
    ck_assert_int_eq(manifest->files[0].rare->reaches[1], XD_REACH_MACHINE);
    ck_assert_int_eq(manifest->files[0].rare->reaches[2], XD_REACH_PUBLIC);
    ck_assert_str_eq(hash_at(0, 0).hex, SHA256("a"));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(before->files[0].extents[0].n_replicas, 2);
}
END_TEST

START_TEST(a_file_may_have_no_copies_but_those)
{
    add_from(ONE("<size>5</size>" HASH META), ONE(HASH "<url>http://c/x</url>"),
             XD_REACH_MACHINE);
    ck_assert_uint_eq(before->files[0].n_extents, 0);
    expect_bytes(0, 0, 5, 1);
    expect_url(0, 0, 0, "http://c/x");
}
END_TEST

START_TEST(an_empty_file_needs_no_copies)
{
    add_from(ONE("<size>0</size>" HASH META), ONE(HASH "<url>http://c/x</url>"),
             XD_REACH_MACHINE);
    ck_assert_uint_eq(manifest->files[0].n_extents, 0);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

/* The copies of `other` are not used, with these words. */
static void expect_unused(const char *other, const char *words)
{
    add_from(ONE("<size>5</size>" HASH META "<url>http://a/x</url>"), other,
             XD_REACH_MACHINE);
    expect_bytes(0, 0, 5, 1);
    ck_assert_uint_eq(n_warnings(), 1);
    expect_warning(words);
    ck_assert_uint_eq(before->n_warnings, 0);
}

START_TEST(copies_of_another_file_are_not_used)
{
    expect_unused(
        ONE("<hash type='sha-256'>" SHA256("b") "</hash><url>http://c/x</url>"),
        "http://m/x: it is of a file with another hash");
    expect_unused(ONE("<size>6</size><url>http://c/x</url>"), "another size");
    expect_unused(METALINK
                  "<file name='g'><url>http://c/g</url></file>"
                  "<file name='h'><url>http://c/h</url></file></metalink>",
                  "does not describe this file");
}
END_TEST

START_TEST(the_file_is_that_of_the_name_that_the_metaurl_gives)
{
    add_from(ONE(HASH "<metaurl name='h' mediatype='application/metalink+xml'>"
                      "http://m/x</metaurl><url>http://a/x</url>"),
             METALINK "<file name='f'><url>http://c/f</url></file>"
                      "<file name='h'><url>http://c/h</url></file></metalink>",
             XD_REACH_MACHINE);
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 2);
    expect_url(0, 0, 1, "http://c/h");
}
END_TEST

START_TEST(several_manifests_name_copies_of_one_file)
{
    struct xd_more_copies more[2] = {{.reach = XD_REACH_MACHINE}};
    struct xd_manifest *with;

    parse(ONE(HASH META META "<url>http://a/x</url>"));
    before = xd_manifest_ref(manifest);
    parse(ONE("<url>http://c/x</url>"));
    more[0].from = before->files[0].rare->metaurls;
    more[1] = more[0];
    more[0].manifest = manifest;
    ck_assert_ptr_nonnull(more[0].from->next);
    ck_assert_int_eq(
        xd_manifest_parse(&more[1].manifest, ONE("<url>http://d/x</url>"),
                          strlen(ONE("<url>http://d/x</url>")), NULL, &error),
        0);
    ck_assert_int_eq(xd_manifest_add_copies(&with, before, more, 2, &error), 0);
    xd_manifest_unref(more[1].manifest);
    forget_manifest();
    manifest = with;
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 3);
    expect_url(0, 0, 1, "http://c/x");
    expect_url(0, 0, 2, "http://d/x");
}
END_TEST

START_TEST(a_list_without_end_is_cut)
{
    static char text[64 * 400];

    strcpy(text, METALINK "<file name='f'>");
    for (int i = 0; i < 300; i++)
        snprintf(text + strlen(text), 60, "<url>http://m%d/x</url>", i);
    strcat(text, "</file></metalink>");
    add_from(ONE(HASH META "<url>http://a/x</url>"), text, XD_REACH_MACHINE);
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 257);
}
END_TEST

/* ---- which metaurls are kept ---- */

static size_t n_metaurls(void)
{
    size_t n = 0;
    for (const struct xd_metaurl *m = manifest->files[0].rare->metaurls; m;
         m = m->next)
        n++;
    return n;
}

START_TEST(a_metaurl_is_known_by_its_media_type)
{
    parse(ONE(
        "<url>http://a/x</url>"
        "<metaurl mediatype=' Application/Metalink4+XML'>http://m/x</metaurl>"
        "<metaurl mediatype='torrent'>http://m/t</metaurl>"
        "<metaurl mediatype='application/x-bittorrent'>http://m/t</metaurl>"
        "<metaurl mediatype='text/plain'>http://m/p</metaurl>"
        "<metaurl>http://m/none</metaurl>"));
    ck_assert_uint_eq(n_metaurls(), 1);
    ck_assert_str_eq(
        xd_url_secret_text(&manifest->files[0].rare->metaurls->url),
        "http://m/x");
    ck_assert_ptr_null(manifest->files[0].rare->metaurls->name);
    ck_assert_uint_eq(manifest->files[0].rare->n_torrents, 2);
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(metaurls_are_bounded_and_of_the_web)
{
    parse(ONE("<url>http://a/x</url>" META META META META META));
    ck_assert_uint_eq(n_metaurls(), XD_METAURLS_MAX);
    parse(ONE(
        "<url>http://a/x</url>"
        "<metaurl mediatype='application/metalink4+xml'>file:///x</metaurl>"));
    ck_assert_uint_eq(n_metaurls(), 0);
    expect_warning("a metaurl is not used");
}
END_TEST

START_TEST(without_a_strong_hash_a_metaurl_is_no_source)
{
    struct xd_manifest_info info = {.struct_size = sizeof info};
    parse(METALINK "<file name='a'><url>http://a/x</url></file>"
                   "<file name='b'><hash type='md5'>"
                   "0123456789abcdef0123456789abcdef</hash>" META "</file>"
                   "<file name='c'>" HASH META "</file></metalink>");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 2);
    xd_manifest_info(manifest, &info);
    ck_assert_uint_eq(info.n_left_out, 1);
    ck_assert(!xd_manifest_has_strong_hash(manifest, 0));
    ck_assert(xd_manifest_has_strong_hash(manifest, 1));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("more_copies");
    tcase_add_checked_fixture(t, NULL, fini);
    tcase_add_test(t, copies_stand_behind_those_that_were_there);
    tcase_add_test(t, a_file_may_have_no_copies_but_those);
    tcase_add_test(t, an_empty_file_needs_no_copies);
    tcase_add_test(t, copies_of_another_file_are_not_used);
    tcase_add_test(t, the_file_is_that_of_the_name_that_the_metaurl_gives);
    tcase_add_test(t, several_manifests_name_copies_of_one_file);
    tcase_add_test(t, a_list_without_end_is_cut);
    tcase_add_test(t, a_metaurl_is_known_by_its_media_type);
    tcase_add_test(t, metaurls_are_bounded_and_of_the_web);
    tcase_add_test(t, without_a_strong_hash_a_metaurl_is_no_source);
    return run_suite("more_copies", t);
}

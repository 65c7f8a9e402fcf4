/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "io/http/http_digest.h"
#include "io/http/http_link.h"
#include "io/http/http_offer.h"
#include "suite.h"
#include "url_of.h"

static struct xd_offer offer;
static struct xd_http_answer answer;

static void teardown(void)
{
    xd_offer_fini(&offer);
    answer = (struct xd_http_answer){.status = 0};
}

/* One line of an answer of `url`; `first` was typed. */
static bool take(const char *first, const char *url, const char *line)
{
    char text[2000];
    int len = snprintf(text, sizeof text, "%s\r\n", line);

    return xd_http_offer_line(&offer, &answer, url_of(first), url_of(url), text,
                              (size_t)len);
}

#define HOST "http://a.example/d/x?q"

static void from(unsigned status, const char *line)
{
    answer.status = status;
    take(HOST, HOST, line);
}

static void check(size_t i, enum xd_offered_kind kind, const char *url,
                  unsigned priority, bool is_preferred, const char *location)
{
    ck_assert_uint_gt(offer.n, i);
    ck_assert_int_eq(offer.items[i].kind, kind);
    ck_assert_str_eq(xd_url_secret_text(offer.items[i].url), url);
    ck_assert_uint_eq(offer.items[i].priority, priority);
    ck_assert_int_eq(offer.items[i].is_preferred, is_preferred);
    ck_assert_str_eq(offer.items[i].location, location);
}

static void check_copy(size_t i, const char *url, unsigned priority,
                       bool is_preferred, const char *location)
{
    check(i, XD_OFFERED_COPY, url, priority, is_preferred, location);
}

/* Of no header, but the parser is given a length. */
START_TEST(a_nul_ends_no_word)
{
    static const char text[] =
        "<http://b.example/x>; rel=\"x\0 duplicate\"; pri=3";
    struct xd_span rest = xd_span(text, sizeof text - 1);
    struct xd_http_link link;

    ck_assert(xd_http_link_next(&rest, &link));
    ck_assert_uint_eq(link.priority, 3);
    ck_assert(!xd_http_link_next(&rest, &link));
}
END_TEST

START_TEST(links_are_read_as_they_are_written)
{
    from(200, "Link: <http://b.example/x>; rel=duplicate; pri=1; pref; geo=JP");
    from(200, "link: <http://c.example/x>;;;;rel=duplicate;;;pri=2;;;");
    from(200, "Link: <http://d.example/x>;rel=duplicate;=pri=1;pref");
    from(200, "Link: <http://e.example/x>; rel =\"duplicate\";pref; pri=\"7\"");
    from(200, "Link: <http://f.example/x>; REL='duplicate'; geo=\"uk\" ; x=y");
    from(200, "Link: <http://g.example/x>; rel=\"next duplicate\"; pri=-1");
    from(200, "Link: <http://h.example/a,b;c>; title=\"a,\\\"<b>;\"; "
              "rel=duplicate; depth=2");
    ck_assert_uint_eq(offer.n, 7);
    check_copy(0, "http://b.example/x", 1, true, "jp");
    check_copy(1, "http://c.example/x", 2, false, "");
    check_copy(2, "http://d.example/x", XD_OFFER_LAST, true, "");
    check_copy(3, "http://e.example/x", 7, true, "");
    check_copy(4, "http://f.example/x", XD_OFFER_LAST, false, "uk");
    check_copy(5, "http://g.example/x", XD_OFFER_LAST, false, "");
    check_copy(6, "http://h.example/a,b;c", XD_OFFER_LAST, false, "");
}
END_TEST

START_TEST(many_links_stand_in_one_line)
{
    from(200, "Link: <http://b.example/x>; rel=duplicate; pri=1,"
              "<http://c.example/x>;rel=\"duplicate\";pri=2 , , "
              "<http://d.example/x>; rel=next, <http://e.example/x>; "
              "pri=4; rel=duplicate");
    ck_assert_uint_eq(offer.n, 3);
    check_copy(1, "http://c.example/x", 2, false, "");
    check_copy(2, "http://e.example/x", 4, false, "");
}
END_TEST

START_TEST(references_resolve_against_what_was_asked)
{
    from(200, "Link: <y>; rel=duplicate");
    from(302, "Link: </y>; rel=duplicate");
    from(200, "Link: <//b.example:80/y?metalink>; rel=describedby; "
              "type=\"application/metalink+xml\"");
    from(200, "Link: <ftp://b.example/y>; rel=duplicate");
    check_copy(0, "http://a.example/d/y", XD_OFFER_LAST, false, "");
    check_copy(1, "http://a.example/y", XD_OFFER_LAST, false, "");
    check(2, XD_OFFERED_MANIFEST, "http://b.example:80/y?metalink",
          XD_OFFER_LAST, false, "");
    check_copy(3, "ftp://b.example/y", XD_OFFER_LAST, false, "");
    ck_assert_uint_eq(offer.n, 4);
}
END_TEST

START_TEST(what_describes_it_has_a_type_that_is_known)
{
    from(200, "Link: <m>; rel=describedby; type=\"application/metalink4+xml\"");
    from(200, "Link: <s>; rel=describedby; type=application/pgp-signature");
    from(200, "Link: <t>; rel=describedby; type=\"application/x-bittorrent\"");
    from(200, "Link: <u>; rel=describedby");
    ck_assert_uint_eq(offer.n, 2);
    ck_assert_int_eq(offer.items[0].kind, XD_OFFERED_MANIFEST);
    ck_assert_int_eq(offer.items[1].kind, XD_OFFERED_SIGNATURE);
}
END_TEST

START_TEST(what_makes_no_sense_is_passed_over)
{
    static const char *const lines[] = {
        "Link: <http://norel.example/>",
        "Link: <http://b.example/x>; rel=strange; rel=duplicate",
        "Link: <http://b.example/x; rel=duplicate",
        "Link: http://b.example/x; rel=duplicate",
        "Link: <>; rel=duplicate",
        "Link: <http://b.example/x>; rel=duplicate; anchor=\"#y\"",
        "Link: <file:///etc/passwd>; rel=duplicate",
        "Link: <ibp://b.example/x>; rel=duplicate",
        "Link: <http://a@b@c/>; rel=duplicate",
        "Link: <http://b.example:99999/>; rel=duplicate",
        "Location: <http://b.example/x>; rel=duplicate",
        "Link <http://b.example/x>; rel=duplicate",
        "Link:",
        "Link: <",
        "Link: <http://b.example/x>; rel=\"duplicat",
        "Digest: NOT_SUPPORTED",
        "Digest: SHA-256=bad_base64",
        "Digest: sha-512=+D8nGudz3G/kpkVKQeDrI3xD57v0UeQmzGCZOk03nsU=",
        ("Content-Digest: sha-256="
         ":+D8nGudz3G/kpkVKQeDrI3xD57v0UeQmzGCZOk03nsU=:"),
        "Digest: MD5=LJDK2+9ClF8Nz/K5WZd/+A==",
        "Digest:"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        from(200, lines[i]);
        ck_assert_msg(xd_offer_is_empty(&offer), "%s", lines[i]);
    }
}
END_TEST

#define HEX "f83f271ae773dc6fe4a6454a41e0eb237c43e7bbf451e426cc60993a4d379ec5"
#define BASE64 "+D8nGudz3G/kpkVKQeDrI3xD57v0UeQmzGCZOk03nsU="

START_TEST(digests_are_read_as_they_are_written)
{
    static const char *const lines[] = {
        "Digest: SHA-256=" BASE64 ",MD5=LJDK2+9ClF8Nz/K5WZd/+A==",
        "digest: md5=LJDK2+9ClF8Nz/K5WZd/+A==, sha-256='" BASE64 "'",
        "Repr-Digest: unixsum=12 , sha-256=:" BASE64 ":",
        "Repr-Digest:sha-256 = :" BASE64 ":",
        ("Digest: SHA-256=bad,SHA-256=" BASE64)};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        from(206, lines[i]);
        ck_assert_uint_eq(offer.n_hashes, i + 1);
        ck_assert_str_eq(offer.hashes[i].algorithm, "sha-256");
        ck_assert_str_eq(offer.hashes[i].hex, HEX);
    }
}
END_TEST

START_TEST(a_sha_512_is_read_too)
{
    from(200,
         "Repr-Digest: sha-512=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
         "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==:");
    ck_assert_uint_eq(offer.n_hashes, 1);
    ck_assert_str_eq(offer.hashes[0].algorithm, "sha-512");
    ck_assert_uint_eq(strlen(offer.hashes[0].hex), 128);
}
END_TEST

START_TEST(only_the_host_that_was_asked_has_a_say)
{
    static const char link[] = "Link: <http://b.example/x>; rel=duplicate";
    static const char digest[] = "Repr-Digest: sha-256=:" BASE64 ":";

    answer.status = 200;
    ck_assert(!take("http://b.example/x", HOST, link));
    ck_assert(!take("http://b.example/x", HOST, digest));
    ck_assert(!take("http://a.example:81/x", HOST, link));
    ck_assert(take("https://a.example/x", HOST, link));
    answer.status = 404;
    ck_assert(!take(HOST, HOST, link));
    answer.status = 103;
    ck_assert(!take(HOST, HOST, link));
    answer.status = 302;
    ck_assert(take(HOST, HOST, link));
    ck_assert(!take(HOST, HOST, digest));
    ck_assert_uint_eq(offer.n, 2);
    ck_assert_uint_eq(offer.n_hashes, 0);
}
END_TEST

START_TEST(those_that_are_preferred_come_first)
{
    struct xd_offer copy;

    from(200, "Link: <http://uri1/>; rel=duplicate; pri=1; pref, "
              "<http://uri2/>; rel=duplicate, <http://uri3/>; pri=2; "
              "rel=duplicate, <http://uri4/>; pref; rel=duplicate, "
              "<http://uri5/>; rel=duplicate; pri=2");
    ck_assert_int_eq(xd_offer_copy(&copy, &offer), 0);
    xd_offer_fini(&offer);
    offer = copy;
    xd_offer_sort(&offer);
    check_copy(0, "http://uri1/", 1, true, "");
    check_copy(1, "http://uri4/", XD_OFFER_LAST, true, "");
    check_copy(2, "http://uri3/", 2, false, "");
    check_copy(3, "http://uri5/", 2, false, "");
    check_copy(4, "http://uri2/", XD_OFFER_LAST, false, "");
}
END_TEST

START_TEST(no_server_fills_the_memory)
{
    for (unsigned i = 0; i < XD_OFFERED_MAX + 10; i++)
        from(200, "Link: <http://b.example/x>; rel=duplicate");
    for (unsigned i = 0; i < XD_OFFER_HASHES_MAX + 10; i++)
        from(200, "Digest: SHA-256=" BASE64);
    ck_assert_uint_eq(offer.n, XD_OFFERED_MAX);
    ck_assert_uint_eq(offer.n_hashes, XD_OFFER_HASHES_MAX);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("http_offer");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, a_nul_ends_no_word);
    tcase_add_test(tcase, links_are_read_as_they_are_written);
    tcase_add_test(tcase, many_links_stand_in_one_line);
    tcase_add_test(tcase, references_resolve_against_what_was_asked);
    tcase_add_test(tcase, what_describes_it_has_a_type_that_is_known);
    tcase_add_test(tcase, what_makes_no_sense_is_passed_over);
    tcase_add_test(tcase, digests_are_read_as_they_are_written);
    tcase_add_test(tcase, a_sha_512_is_read_too);
    tcase_add_test(tcase, only_the_host_that_was_asked_has_a_say);
    tcase_add_test(tcase, those_that_are_preferred_come_first);
    tcase_add_test(tcase, no_server_fills_the_memory);
    return run_suite("http_offer", tcase);
}

/* SPDX-License-Identifier: MIT */
#include "engine/trust/copies_vote.h"

#include <xdownload/manifest.h>

#include "suite.h"
#include "url_of.h"

static struct xd_copy copy(const char *url, uint64_t size, const char *samples)
{
    return (struct xd_copy){.url = url_of(url),
                            .has_answered = true,
                            .size = size,
                            .samples = {"first", samples}};
}

START_TEST(equal_copies_are_one_file)
{
    struct xd_copy list[] = {copy("http://a", 9, "x"),
                             copy("http://b", 9, "x")};
    struct xd_copies_vote v = xd_copies_vote(list, 2);

    ck_assert_uint_eq(v.file, 0);
    ck_assert_uint_eq(v.other, XD_NO_COPY);
    ck_assert(v.is_decided);
    ck_assert_uint_eq(list[1].file, 0);
}
END_TEST

START_TEST(one_against_one_decides_nothing)
{
    struct xd_copy sizes[] = {copy("http://a", 9, "x"),
                              copy("http://b", 8, "x")};
    struct xd_copy bytes[] = {copy("http://a", 9, "x"),
                              copy("http://b", 9, "y")};

    ck_assert(!xd_copies_vote(sizes, 2).is_decided);
    ck_assert_uint_eq(xd_copies_vote(sizes, 2).other, 1);
    ck_assert(!xd_copies_vote(bytes, 2).is_decided);
}
END_TEST

START_TEST(more_than_half_of_the_votes_decide)
{
    struct xd_copy list[] = {copy("http://a", 1, "x"), copy("http://b", 9, "x"),
                             copy("http://c", 9, "x"),
                             copy("http://d", 2, "x")};
    struct xd_copies_vote v = xd_copies_vote(list, 4);

    ck_assert_uint_eq(v.file, 1);
    ck_assert(!v.is_decided); /* two of four */
    v = xd_copies_vote(list, 3);
    ck_assert_uint_eq(v.file, 1);
    ck_assert_uint_eq(v.other, 0);
    ck_assert(v.is_decided); /* two of three */
}
END_TEST

START_TEST(a_host_has_one_vote_for_a_file)
{
    struct xd_copy list[] = {copy("http://a", 1, "x"), copy("http://a", 1, "x"),
                             copy("http://b", 9, "x"),
                             copy("http://a", 9, "x")};
    struct xd_copies_vote v = xd_copies_vote(list, 3);

    ck_assert(!v.is_decided); /* a against b */
    v = xd_copies_vote(list, 4);
    ck_assert_uint_eq(v.file, 2);
    ck_assert(v.is_decided); /* a and b against a */
}
END_TEST

START_TEST(what_does_not_answer_has_no_vote)
{
    struct xd_copy list[] = {copy("http://a", 1, "x"),
                             copy("http://b", 9, "x")};
    struct xd_copies_vote v;

    list[0].has_answered = false;
    v = xd_copies_vote(list, 2);
    ck_assert_uint_eq(v.file, 1);
    ck_assert(v.is_decided);
    ck_assert_uint_eq(list[0].file, XD_NO_COPY);
    list[1].has_answered = false;
    v = xd_copies_vote(list, 2);
    ck_assert_uint_eq(v.file, XD_NO_COPY);
    ck_assert(!v.is_decided);
}
END_TEST

START_TEST(of_unknown_size_the_first_bytes_tell)
{
    struct xd_copy list[] = {copy("http://a", XD_SIZE_UNKNOWN, NULL),
                             copy("http://b", 9, "x"),
                             copy("http://c", 8, "x")};

    ck_assert_uint_eq(xd_copies_vote(list, 2).other, XD_NO_COPY);
    ck_assert_uint_eq(list[0].file, 1);
    ck_assert_uint_eq(xd_copies_vote(list, 3).file, 1);
    list[0].samples[0] = "another";
    ck_assert_uint_eq(xd_copies_vote(list, 2).other, 1);
}
END_TEST

START_TEST(what_a_copy_cannot_show_is_not_compared)
{
    struct xd_copy list[] = {copy("http://a", 8, "x"), copy("http://b", 9, "x"),
                             copy("http://c", 9, NULL)};
    struct xd_copies_vote v = xd_copies_vote(list, 3);

    ck_assert_uint_eq(v.file, 1);
    ck_assert(v.is_decided);
    ck_assert_uint_eq(list[2].file, 1);
}
END_TEST

static const struct {
    const char *one, *other;
    bool is_one_name;
} names[] = {
    {"http://a/d.iso", "http://b/pub/d.iso", true},
    {"http://a/d.iso", "http://a/e.iso", false},
    {"http://a/d.iso", "http://a/xd.iso", false},
    {"http://a/get?f=1", "http://b/get?f=1", true},
    {"http://a/get?f=1", "http://b/get?f=2", false},
    {"http://a/get?f=a/x", "http://b/get?f=b/x", false},
    {"http://a/d.iso#one", "http://b/d.iso", true},
    {"http://a/x/", "http://b/y/", true},
};

START_TEST(the_last_component_and_the_query_are_the_name)
{
    struct xd_url urls[] = {*url_of(names[_i].one), *url_of(names[_i].other)};

    ck_assert_int_eq(xd_copies_have_one_name(urls, 2), names[_i].is_one_name);
    ck_assert_int_eq(xd_copies_have_one_name(urls, 1), true);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("copies_vote");

    tcase_add_test(tests, equal_copies_are_one_file);
    tcase_add_test(tests, one_against_one_decides_nothing);
    tcase_add_test(tests, more_than_half_of_the_votes_decide);
    tcase_add_test(tests, a_host_has_one_vote_for_a_file);
    tcase_add_test(tests, what_does_not_answer_has_no_vote);
    tcase_add_test(tests, of_unknown_size_the_first_bytes_tell);
    tcase_add_test(tests, what_a_copy_cannot_show_is_not_compared);
    tcase_add_loop_test(tests, the_last_component_and_the_query_are_the_name, 0,
                        sizeof names / sizeof *names);
    return run_suite("copies_vote", tests);
}

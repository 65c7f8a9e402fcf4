/* SPDX-License-Identifier: MIT */
/* lib/io/ibp/ibp_frames: where data lies in frames of `checksum`. */
#include "io/ibp/ibp_frames.h"

#include <string.h>

#include "suite.h"

/* 25 bytes of data in frames of 10, behind 7 bytes of something else. */
static const struct xd_framing f = {
    .data_bytes = 10, .stored_bytes = 43, .offset = 7, .length = 43 + 43 + 38};

START_TEST(a_byte_lies_in_the_frame_of_its_block)
{
    static const struct {
        uint64_t at;
        struct xd_range stored, data;
    } rows[] = {
        {0, {7, 50}, {0, 10}},     {9, {7, 50}, {0, 10}},
        {10, {50, 93}, {10, 20}},  {19, {50, 93}, {10, 20}},
        {20, {93, 131}, {20, 25}}, {24, {93, 131}, {20, 25}},
    };

    ck_assert_uint_eq(xd_framing_data(&f), 25);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xd_ibp_frame frame = xd_ibp_frames_at(&f, rows[i].at);

        ck_assert_uint_eq(frame.stored.begin, rows[i].stored.begin);
        ck_assert_uint_eq(frame.stored.end, rows[i].stored.end);
        ck_assert_uint_eq(frame.data.begin, rows[i].data.begin);
        ck_assert_uint_eq(frame.data.end, rows[i].data.end);
    }
}
END_TEST

START_TEST(a_rest_that_holds_no_data_counts_for_none)
{
    struct xd_framing cut = f;

    cut.length = 43;
    ck_assert_uint_eq(xd_framing_data(&cut), 10);
    cut.length = 43 + 33;
    ck_assert_uint_eq(xd_framing_data(&cut), 10);
    cut.length = 43 + 34;
    ck_assert_uint_eq(xd_framing_data(&cut), 11);
}
END_TEST

START_TEST(frames_that_cannot_be_are_refused)
{
    static const struct xd_framing impossible[] = {
        {.data_bytes = 0, .stored_bytes = 33, .length = 100},
        {.data_bytes = 10, .stored_bytes = 42, .length = 100},
        {.data_bytes = 10, .stored_bytes = 10, .length = 100},
        {.data_bytes = 10, .stored_bytes = 43, .length = 0},
        {.data_bytes = UINT64_MAX - 32, .stored_bytes = 0, .length = 100},
        {.data_bytes = 16 << 20, .stored_bytes = (16 << 20) + 33, .length = 9},
        {.data_bytes = 10,
         .stored_bytes = 43,
         .offset = UINT64_MAX,
         .length = 43},
    };

    ck_assert(xd_framing_is_possible(&f));
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
        ck_assert_msg(!xd_framing_is_possible(&impossible[i]), "%zu", i);
}
END_TEST

START_TEST(a_frame_is_right_if_its_md5_is)
{
    char frame[] = "900150983CD24FB0D6963F7D28E17F72 abc";
    struct xd_hasher *md5;

    ck_assert_int_eq(xd_hasher_new(&md5, "md5", NULL), 0);
    ck_assert(xd_ibp_frame_is_right(md5, frame, strlen(frame)));
    frame[32] = 'x'; /* says nothing */
    ck_assert(xd_ibp_frame_is_right(md5, frame, strlen(frame)));
    frame[35] = 'd';
    ck_assert(!xd_ibp_frame_is_right(md5, frame, strlen(frame)));
    xd_hasher_free(md5);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ibp_frames");

    tcase_add_test(t, a_byte_lies_in_the_frame_of_its_block);
    tcase_add_test(t, a_rest_that_holds_no_data_counts_for_none);
    tcase_add_test(t, frames_that_cannot_be_are_refused);
    tcase_add_test(t, a_frame_is_right_if_its_md5_is);
    return run_suite("ibp_frames", t);
}

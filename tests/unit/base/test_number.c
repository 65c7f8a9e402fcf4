/* SPDX-License-Identifier: MIT */
/* lib/base/number: what is a number, and what only looks like one. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "suite.h"

#define UNTOUCHED UINT64_C(4711)
#define K UINT64_C(1024)

struct sample {
    const char *text;
    uint64_t value;
};

typedef bool parse_fn(const char *s, uint64_t *out);

static bool parse_whole(const char *s, uint64_t *out)
{
    return xd_parse_u64(s, strlen(s), out);
}

static void accepts(parse_fn *parse, const struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = UNTOUCHED;

        ck_assert_msg(parse(samples[i].text, &value), "refused: \"%s\"",
                      samples[i].text);
        ck_assert_msg(value == samples[i].value, "\"%s\" became %" PRIu64,
                      samples[i].text, value);
    }
}

static void refuses(parse_fn *parse, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = UNTOUCHED;

        ck_assert_msg(!parse(texts[i], &value), "accepted: \"%s\"", texts[i]);
        ck_assert_msg(value == UNTOUCHED, "\"%s\" was written", texts[i]);
    }
}

#define ACCEPTS(parse, samples) \
    accepts(parse, samples, sizeof(samples) / sizeof *(samples))
#define REFUSES(parse, texts) \
    refuses(parse, texts, sizeof(texts) / sizeof *(texts))

START_TEST(digits_are_a_number_up_to_the_largest)
{
    const struct sample samples[] = {
        {"0", 0},
        {"007", 7},
        {"1048576", 1048576},
        {"18446744073709551615", UINT64_MAX},
        {"000000000000000000000000000018446744073709551615", UINT64_MAX},
    };

    ACCEPTS(parse_whole, samples);
}
END_TEST

START_TEST(anything_but_digits_is_no_number)
{
    const char *const texts[] = {"",
                                 " 1",
                                 "1 ",
                                 "+1",
                                 "-1",
                                 "1k",
                                 "0x1",
                                 "1e3",
                                 "1.0",
                                 "\xd9\xa1",
                                 "1,",
                                 "1\n",
                                 "one",
                                 "18446744073709551616",
                                 "99999999999999999999999999",
                                 "184467440737095516150"};

    REFUSES(parse_whole, texts);
}
END_TEST

START_TEST(only_the_given_length_is_read)
{
    uint64_t value;

    ck_assert(xd_parse_u64("123456", 3, &value));
    ck_assert_uint_eq(value, 123);
    ck_assert(!xd_parse_u64("12\0", 3, &value));
}
END_TEST

START_TEST(a_letter_is_a_power_of_1024_and_with_a_b_of_1000)
{
    const struct sample samples[] = {
        {"0", 0},
        {"1048576", 1048576},
        {"1024k", K * K},
        {"1K", K},
        {"1M", K * K},
        {"5B", 5},
        {"1kB", 1000},
        {"1KB", 1000},
        {"1MB", 1000000},
        {"1.5MB", 1500000},
        {"3TB", UINT64_C(3000000000000)},
        {"1KiB", K},
        {"3m", 3 * K * K},
        {"3MiB", 3 * K * K},
        {"2g", 2 * K * K * K},
        {"2GB", 2000000000},
        {"1t", K * K * K * K},
        {"1TiB", K * K * K * K},
        {"1.5g", 3 * K * K * K / 2},
        {"0.5k", 512},
        {"16777215t", 16777215 * (K * K * K * K)},
    };

    ACCEPTS(xd_parse_size, samples);
}
END_TEST

START_TEST(parts_of_a_byte_are_dropped)
{
    const struct sample samples[] = {
        {"1.3k", 1331}, /* 1331.2 */
        {"0.0009k", 0}, /* 0.9 */
        {"0.99999999999999999999999999999k", 1023},
        {"1.000000000000000000000000000001t", K * K * K * K},
    };

    ACCEPTS(xd_parse_size, samples);
}
END_TEST

START_TEST(what_is_not_quite_a_size_is_refused)
{
    const char *const texts[] = {
        "",      "k",      "-1k",  "+1k",       " 1k",
        "1k ",   "1 k",    "1.5",  "1.k",       ".5k",
        "1..5k", "1.5.5k", "1kk",  "1ki",       "1.5B",
        "1mb",   "1MB/s",  "1iB",  "1KIB",      "1x",
        "1e3",   "0x10",   "1,5k", "16777216t", "99999999999999999999",
        "nan",   "inf"};

    REFUSES(xd_parse_size, texts);
}
END_TEST

START_TEST(a_rate_is_a_size_per_second_or_bits)
{
    const struct sample samples[] = {
        {"2m", 2 * K * K},     {"500000", 500000},    {"1MB/s", 1000000},
        {"512k/s", 512 * K},   {"2MiB/s", 2 * K * K}, {"7B/s", 7},
        {"15Mbit/s", 1875000}, {"1.5kbit/s", 187},    {"2Gbit/s", 250000000},
        {"8Mibit/s", K * K},   {"8Kibit/s", K},       {"8Gibit/s", K * K * K},
    };

    ACCEPTS(xd_parse_rate, samples);
}
END_TEST

START_TEST(what_is_not_quite_a_rate_is_refused)
{
    const char *const texts[] = {
        "",        "/s",     "k/s",
        "1/m",     "1k/s/s", "1Mb/s",
        "1mbit/s", "1Mbit",  "5q",
        "1 MB/s",  "1s",     "1000000000000000000000000000000000000/s"};

    REFUSES(xd_parse_rate, texts);
}
END_TEST

START_TEST(durations_are_seconds_unless_they_say_otherwise)
{
    const struct sample samples[] = {
        {"500ms", 500000},
        {"5s", 5000000},
        {"2m", 120000000},
        {"1d", 86400000000},
        {"2days", 172800000000},
        {"1day", 86400000000},
        {"5sec", 5000000},
        {"1second", 1000000},
        {"2seconds", 2000000},
        {"1min", 60000000},
        {"1minute", 60000000},
        {"2minutes", 120000000},
        {"1hour", 3600000000},
        {"2hours", 7200000000},
        {"1h", 3600000000},
        {"3", 3000000},
        {"0", 0},
        {"0.25", 250000},
        {"1.5h", 5400000000},
        {"0.0000001s", 0},
    };

    ACCEPTS(xd_parse_duration, samples);
}
END_TEST

START_TEST(what_is_not_quite_a_duration_is_refused)
{
    const char *const texts[] = {"",
                                 "s",
                                 "-1s",
                                 "5 s",
                                 "5S",
                                 "5us",
                                 "1D",
                                 "1w",
                                 "1secs",
                                 ".5",
                                 "5.",
                                 "1m30s",
                                 "18446744073710",
                                 "6000000000h"};

    REFUSES(xd_parse_duration, texts);
}
END_TEST

START_TEST(sums_and_products_that_do_not_fit_are_refused)
{
    uint64_t value = UNTOUCHED;

    ck_assert(!xd_add_u64(UINT64_MAX, 1, &value));
    ck_assert(!xd_mul_u64(UINT64_MAX / 2 + 1, 2, &value));
    ck_assert(!xd_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &value));
    ck_assert_uint_eq(value, UNTOUCHED);
    ck_assert(xd_add_u64(UINT64_MAX, 0, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert(xd_add_u64(UINT64_MAX - 5, 5, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert(xd_mul_u64(UINT64_MAX / 3, 3, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert(xd_mul_u64(UINT64_MAX, 0, &value));
    ck_assert_uint_eq(value, 0);
}
END_TEST

START_TEST(size_as_text_has_one_unit_and_at_most_one_decimal)
{
    static const struct sample samples[] = {
        {"0 bytes", 0},           {"1 byte", 1},
        {"1023 bytes", 1023},     {"1 KiB", 1024},
        {"1.5 KiB", 1536},        {"10.5 MiB", 10 * K * K + 512 * K},
        {"64 MiB", 64 * K * K},   {"1023.9 MiB", K * K * K - 1},
        {"15.9 EiB", UINT64_MAX},
    };
    char text[XD_SIZE_TEXT];

    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        ck_assert_str_eq(xd_size_text(text, samples[i].value), samples[i].text);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("number");

    tcase_add_test(t, digits_are_a_number_up_to_the_largest);
    tcase_add_test(t, anything_but_digits_is_no_number);
    tcase_add_test(t, only_the_given_length_is_read);
    tcase_add_test(t, a_letter_is_a_power_of_1024_and_with_a_b_of_1000);
    tcase_add_test(t, a_rate_is_a_size_per_second_or_bits);
    tcase_add_test(t, what_is_not_quite_a_rate_is_refused);
    tcase_add_test(t, parts_of_a_byte_are_dropped);
    tcase_add_test(t, what_is_not_quite_a_size_is_refused);
    tcase_add_test(t, durations_are_seconds_unless_they_say_otherwise);
    tcase_add_test(t, what_is_not_quite_a_duration_is_refused);
    tcase_add_test(t, sums_and_products_that_do_not_fit_are_refused);
    tcase_add_test(t, size_as_text_has_one_unit_and_at_most_one_decimal);
    return run_suite("base.number", t);
}

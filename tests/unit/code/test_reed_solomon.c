/* SPDX-License-Identifier: MIT */
#include "code/reed_solomon.h"

#include <stdbool.h>
#include <string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xdownload/error.h>

#include "naive.h"
#include "suite.h"

#define MOST_BYTES 10000 /* of a shard: more than two steps of the coder */
#define EDGE 64          /* bytes beside each shard that stay as they are */
#define UNTOUCHED 0xa5

static struct xd_coder *coder;
static struct xd_decoder *decoder;
static unsigned k, n;
static size_t len;

/* Shards as they are, and room for those that are made. */
static uint8_t right[XD_SHARDS_MAX][MOST_BYTES];
static uint8_t rooms[XD_SHARDS_MAX][EDGE + MOST_BYTES + EDGE];

#ifdef XD_LINKER_WRAPS
static bool finds_no_inverse;

int __real_gf_invert_matrix(unsigned char *in, unsigned char *out, const int m);
int __wrap_gf_invert_matrix(unsigned char *in, unsigned char *out, const int m);

int __wrap_gf_invert_matrix(unsigned char *in, unsigned char *out, const int m)
{
    int rc = __real_gf_invert_matrix(in, out, m);

    return finds_no_inverse ? -1 : rc;
}
#endif

static unsigned random_below(unsigned bound)
{
    static uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + 1;
    return (unsigned)(state >> 33) % bound;
}

static void teardown(void)
{
    xd_decoder_free(decoder);
    decoder = NULL;
    xd_coder_free(coder);
    coder = NULL;
}

static void make(unsigned data_shards, unsigned shards)
{
    struct xd_error error;

    teardown();
    k = data_shards;
    n = shards;
    if (xd_coder_new(&coder, k, n, &error) < 0)
        ck_abort_msg("%s", error.msg);
}

/* Data that are random, and by the definition their parity. */
static void fill(size_t bytes)
{
    len = bytes;
    for (unsigned j = 0; j < k; j++)
        for (size_t b = 0; b < len; b++)
            right[j][b] = (uint8_t)random_below(256);
    for (size_t b = 0; b < len; b++) {
        uint8_t column[XD_SHARDS_MAX];

        for (unsigned j = 0; j < k; j++)
            column[j] = right[j][b];
        for (unsigned i = k; i < n; i++)
            right[i][b] = naive_byte(k, i, column);
    }
}

static void clear_rooms(unsigned count)
{
    memset(rooms, UNTOUCHED, count * sizeof *rooms);
}

static void is_untouched(const uint8_t *bytes, size_t count)
{
    size_t b = 0;

    while (b < count && bytes[b] == UNTOUCHED)
        b++;
    ck_assert_uint_eq(b, count);
}

/* What was made in a room, and nothing beside it. */
static void has_made(unsigned room, unsigned shard)
{
    const uint8_t *made = rooms[room] + EDGE;

    ck_assert_mem_eq(made, right[shard], len);
    is_untouched(rooms[room], EDGE);
    is_untouched(made + len, EDGE);
}

static void encodes_in_slices(size_t slice)
{
    clear_rooms(n - k);
    for (size_t at = 0; at < len; at += slice) {
        const uint8_t *data[XD_SHARDS_MAX];
        uint8_t *parity[XD_SHARDS_MAX];

        for (unsigned j = 0; j < k; j++)
            data[j] = right[j] + at;
        for (unsigned i = 0; i < n - k; i++)
            parity[i] = rooms[i] + EDGE + at;
        xd_coder_encode(coder, len - at < slice ? len - at : slice, data,
                        parity);
    }
    for (unsigned i = k; i < n; i++)
        has_made(i - k, i);
}

/* Make the decoder, and run it. */
static void decodes(const unsigned *present, const unsigned *wanted,
                    unsigned n_wanted)
{
    const uint8_t *from[XD_SHARDS_MAX];
    uint8_t *out[XD_SHARDS_MAX];
    struct xd_error error;

    xd_decoder_free(decoder);
    if (xd_decoder_new(&decoder, coder, present, wanted, n_wanted, &error) < 0)
        ck_abort_msg("%s", error.msg);
    clear_rooms(n_wanted);
    for (unsigned i = 0; i < k; i++)
        from[i] = right[present[i]];
    for (unsigned i = 0; i < n_wanted; i++)
        out[i] = rooms[i] + EDGE;
    xd_decoder_run(decoder, len, from, out);
    for (unsigned i = 0; i < n_wanted; i++)
        has_made(i, wanted[i]);
}

/* Elimination says the same of the first byte. */
static void is_solved(const unsigned *present)
{
    uint8_t bytes[XD_SHARDS_MAX], data[XD_SHARDS_MAX];

    for (unsigned i = 0; i < k; i++)
        bytes[i] = right[present[i]][0];
    ck_assert(naive_solve(k, present, bytes, data));
    for (unsigned j = 0; j < k; j++)
        ck_assert_uint_eq(data[j], right[j][0]);
}

/* Each set of k shards gives all of them, in whatever order they are. */
static void decodes_each_pattern(void)
{
    unsigned all[XD_SHARDS_MAX], patterns = 0;

    for (unsigned i = 0; i < n; i++)
        all[i] = i;
    for (unsigned set = 0; set < 1u << n; set++) {
        unsigned present[XD_SHARDS_MAX], reverse[XD_SHARDS_MAX], count = 0;

        for (unsigned i = 0; i < n; i++)
            if (set >> i & 1 && count < k)
                present[count++] = i;
        if (count < k || set >> present[k - 1] != 1)
            continue; /* fewer, or more */
        for (unsigned i = 0; i < k; i++)
            reverse[i] = present[k - 1 - i];
        decodes(present, all, n);
        decodes(reverse, all, n);
        is_solved(present);
        patterns++;
    }
    ck_assert_uint_gt(patterns, 0);
}

/* k of the n shards in `shards`, and the others behind them, in any order. */
static void shuffle(unsigned *shards)
{
    for (unsigned i = 0; i < n; i++)
        shards[i] = i;
    for (unsigned i = 0; i < n; i++) {
        unsigned j = i + random_below(n - i), shard = shards[j];

        shards[j] = shards[i];
        shards[i] = shard;
    }
}

/* Numbers that another program has computed from the definition. */
START_TEST(parity_is_what_is_written_down)
{
    static const char text[] = "Any k of n shards give all data.";
    static const uint8_t expected[2][8] = {
        {0x77, 0x35, 0xb5, 0x85, 0x4e, 0x19, 0xf6, 0x6c},
        {0xcc, 0x16, 0x32, 0x15, 0x95, 0x07, 0xce, 0xcf}};
    const uint8_t *data[4];
    uint8_t parity[2][8], *out[] = {parity[0], parity[1]};

    for (unsigned j = 0; j < 4; j++)
        data[j] = (const uint8_t *)text + j * sizeof *parity;
    make(4, 6);
    xd_coder_encode(coder, sizeof *parity, data, out);
    ck_assert_mem_eq(parity, expected, sizeof parity);
}
END_TEST

/* Likewise.  Data shard j has the byte j + 1. */
START_TEST(parity_of_many_shards_is_what_is_written_down)
{
    static const uint8_t expected[55] = {
        0xe2, 0xea, 0x4c, 0x3d, 0xc5, 0x67, 0xfe, 0xdc, 0x92, 0x6c, 0x87,
        0xcd, 0xc7, 0xbf, 0xb8, 0x0c, 0x0e, 0xfc, 0xd2, 0xd4, 0xb9, 0xf2,
        0x1f, 0x57, 0x31, 0x91, 0x51, 0x43, 0x54, 0xd6, 0x8b, 0x89, 0x4b,
        0x37, 0xe8, 0x03, 0xc3, 0x7d, 0xce, 0x14, 0xcc, 0x09, 0xf1, 0x0b,
        0x3f, 0x50, 0x87, 0x32, 0x88, 0xc4, 0x1d, 0xed, 0xe7, 0x40, 0xe4};
    uint8_t bytes[200], made[55], *parity[55];
    const uint8_t *data[200];

    for (unsigned j = 0; j < 200; j++) {
        bytes[j] = (uint8_t)(j + 1);
        data[j] = &bytes[j];
    }
    for (unsigned i = 0; i < 55; i++)
        parity[i] = &made[i];
    make(200, 255);
    xd_coder_encode(coder, 1, data, parity);
    ck_assert_mem_eq(made, expected, sizeof made);
}
END_TEST

START_TEST(any_four_of_six_give_all)
{
    make(4, 6);
    fill(100);
    encodes_in_slices(100);
    decodes_each_pattern();
}
END_TEST

START_TEST(any_three_of_six_give_all)
{
    make(3, 6);
    fill(33);
    encodes_in_slices(33);
    decodes_each_pattern();
}
END_TEST

START_TEST(any_shard_gives_all_if_one_is_enough)
{
    make(1, 5);
    fill(65);
    encodes_in_slices(65);
    decodes_each_pattern();
    make(1, 1);
    fill(65);
    decodes_each_pattern();
}
END_TEST

START_TEST(without_parity_all_shards_are_needed)
{
    make(7, 7);
    fill(40);
    encodes_in_slices(40);
    decodes_each_pattern();
}
END_TEST

static void decodes_at_random(int patterns)
{
    for (int p = 0; p < patterns; p++) {
        unsigned shards[XD_SHARDS_MAX];

        shuffle(shards);
        decodes(shards, shards, n);
        if (n > k)
            decodes(shards, shards + k, n - k);
    }
}

START_TEST(any_k_of_255_give_all)
{
    static const unsigned data_shards[] = {1, 2, 17, 128, 200, 254, 255};

    make(data_shards[_i], XD_SHARDS_MAX);
    fill(37);
    encodes_in_slices(37);
    decodes_at_random(suite_cases(2, 50));
}
END_TEST

START_TEST(any_k_of_any_n_give_all)
{
    for (int i = 0; i < suite_cases(200, 5000); i++) {
        unsigned shards = 1 + random_below(24);

        make(1 + random_below(shards), shards);
        fill(random_below(70));
        encodes_in_slices(1 + random_below(70));
        decodes_at_random(3);
    }
}
END_TEST

/* Vectors are of 16, 32 and 64 bytes; beside them there are ways for what is
 * shorter, and for the end. */
START_TEST(slices_have_any_length)
{
    unsigned shards[XD_SHARDS_MAX];

    make(5, 9);
    for (size_t bytes = 0; bytes < 300; bytes++) {
        fill(bytes);
        encodes_in_slices(bytes > 0 ? bytes : 1);
        shuffle(shards);
        decodes(shards, shards + k, n - k);
    }
}
END_TEST

START_TEST(long_slices_are_as_good)
{
    static const size_t lengths[] = {4095, 4096, 4097, 8192, 8193, MOST_BYTES};

    make(3, 5);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        fill(lengths[i]);
        encodes_in_slices(lengths[i]);
        decodes_at_random(3);
    }
}
END_TEST

START_TEST(a_stripe_may_be_coded_in_slices)
{
    static const size_t slices[] = {1, 3, 31, 64, 77, 4097, 5001};

    make(4, 6);
    fill(MOST_BYTES);
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        encodes_in_slices(slices[i]);
}
END_TEST

START_TEST(pointers_need_no_alignment)
{
    unsigned present[] = {6, 1, 4, 3}, wanted[] = {0, 5, 2};
    static uint8_t shifted[XD_SHARDS_MAX][200];

    make(4, 7);
    fill(131);
    ck_assert_int_eq(xd_decoder_new(&decoder, coder, present, wanted, 3, NULL),
                     0);
    for (unsigned shift = 0; shift < 64; shift++) {
        const uint8_t *from[4];
        uint8_t *out[3];

        clear_rooms(3);
        for (unsigned i = 0; i < 4; i++) {
            from[i] = shifted[i] + (shift + 5 * i) % 64;
            memcpy(shifted[i] + (shift + 5 * i) % 64, right[present[i]], len);
        }
        for (unsigned i = 0; i < 3; i++)
            out[i] = rooms[i] + EDGE + (3 * shift + 7 * i) % 64;
        xd_decoder_run(decoder, len, from, out);
        for (unsigned i = 0; i < 3; i++) {
            ck_assert_mem_eq(out[i], right[wanted[i]], len);
            is_untouched(rooms[i], (size_t)(out[i] - rooms[i]));
            is_untouched(out[i] + len, EDGE);
        }
    }
}
END_TEST

/* Bytes that end where memory does. */
static uint8_t *at_the_edge(uint8_t *pages, size_t page, size_t bytes)
{
    return pages + page - bytes;
}

/* No sanitizer sees what ISA-L's assembler reads. */
START_TEST(nothing_is_read_or_written_beyond_a_slice)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int zero = open("/dev/zero", O_RDWR);
    uint8_t *pages[5];

    ck_assert_int_ge(zero, 0);
    make(3, 5);
    for (unsigned i = 0; i < n; i++) {
        pages[i] =
            mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
        ck_assert_ptr_ne(pages[i], MAP_FAILED);
        ck_assert_int_eq(mprotect(pages[i] + page, page, PROT_NONE), 0);
    }
    for (size_t bytes = 0; bytes < 200; bytes++) {
        const uint8_t *data[3];
        uint8_t *parity[2];

        fill(bytes);
        for (unsigned j = 0; j < k; j++) {
            data[j] = at_the_edge(pages[j], page, bytes);
            memcpy(pages[j] + page - bytes, right[j], bytes);
        }
        for (unsigned i = 0; i < 2; i++)
            parity[i] = at_the_edge(pages[k + i], page, bytes);
        xd_coder_encode(coder, bytes, data, parity);
        for (unsigned i = 0; i < 2; i++)
            ck_assert_mem_eq(parity[i], right[k + i], bytes);
    }
    for (unsigned i = 0; i < n; i++)
        munmap(pages[i], 2 * page);
    close(zero);
}
END_TEST

/* The last stripe of a file: shard 1 is short, shards 2 and 3 are empty. */
START_TEST(no_bytes_are_zeros)
{
    unsigned present[] = {5, 4, 2, 3}, wanted[] = {0, 1};
    const uint8_t *data[] = {right[0], right[1], NULL, NULL};
    const uint8_t *from[] = {right[5], right[4], NULL, NULL};
    uint8_t *parity[] = {rooms[0] + EDGE, rooms[1] + EDGE};

    make(4, 6);
    fill(MOST_BYTES);
    memset(right[2], 0, len);
    memset(right[3], 0, len);
    for (size_t b = 0; b < len; b++) {
        uint8_t column[] = {right[0][b], right[1][b], 0, 0};

        right[4][b] = naive_byte(4, 4, column);
        right[5][b] = naive_byte(4, 5, column);
    }
    clear_rooms(2);
    xd_coder_encode(coder, len, data, parity);
    has_made(0, 4);
    has_made(1, 5);

    clear_rooms(2);
    ck_assert_int_eq(xd_decoder_new(&decoder, coder, present, wanted, 2, NULL),
                     0);
    xd_decoder_run(decoder, len, from, parity);
    has_made(0, 0);
    has_made(1, 1);
}
END_TEST

START_TEST(what_is_present_may_be_wanted_and_anything_twice)
{
    unsigned present[] = {2, 4}, wanted[] = {4, 0, 2, 0, 3};

    make(2, 5);
    fill(50);
    decodes(present, wanted, 5);
}
END_TEST

START_TEST(a_decoder_outlives_its_coder)
{
    unsigned present[] = {2, 1}, wanted[] = {0};
    const uint8_t *from[] = {right[2], right[1]};
    uint8_t *out[] = {rooms[0] + EDGE};

    make(2, 3);
    fill(50);
    ck_assert_int_eq(xd_decoder_new(&decoder, coder, present, wanted, 1, NULL),
                     0);
    xd_coder_free(coder);
    coder = NULL;
    clear_rooms(1);
    xd_decoder_run(decoder, len, from, out);
    has_made(0, 0);
}
END_TEST

static void is_no_code(unsigned data_shards, unsigned shards)
{
    struct xd_error error = {.code = XD_OK};
    struct xd_coder *c = (struct xd_coder *)&error;

    ck_assert_int_eq(xd_coder_new(&c, data_shards, shards, &error), XD_E_INVAL);
    ck_assert_ptr_null(c);
    ck_assert_int_eq(error.code, XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "use 1 to 255 shards"));
}

START_TEST(codes_that_cannot_be_are_refused)
{
    is_no_code(0, 0);
    is_no_code(0, 6);
    is_no_code(7, 6);
    is_no_code(4, 256);
    is_no_code(256, 256);
    is_no_code(1, 0x80000001);
}
END_TEST

static void is_refused(const unsigned *present, const unsigned *wanted,
                       unsigned n_wanted, const char *words)
{
    struct xd_error error = {.code = XD_OK};
    struct xd_decoder *d = (struct xd_decoder *)&error;

    ck_assert_int_eq(
        xd_decoder_new(&d, coder, present, wanted, n_wanted, &error),
        XD_E_INVAL);
    ck_assert_ptr_null(d);
    ck_assert_msg(strstr(error.msg, words) != NULL, "%s", error.msg);
}

START_TEST(shards_that_are_not_there_are_refused)
{
    unsigned good[] = {0, 3, 2}, wanted[] = {0, 1, 2, 3, 4, 0};

    make(3, 5);
    is_refused((unsigned[]){0, 3, 5}, wanted, 1, "shard 5 is none of 5");
    is_refused((unsigned[]){300, 3, 2}, wanted, 1, "shard 300 is none of 5");
    is_refused((unsigned[]){0, 3, 0}, wanted, 1, "shard 0 is none of 5, or");
    is_refused(good, (unsigned[]){4, 5}, 2, "shard 5 is none of 5");
    is_refused(good, (unsigned[]){UINT32_MAX}, 1, "is none of 5");
    is_refused(good, wanted, 0, "0 shards are wanted of 5");
    is_refused(good, wanted, 6, "6 shards are wanted of 5");
    fill(1);
    decodes(good, wanted, 5);
}
END_TEST

#ifdef XD_LINKER_WRAPS
START_TEST(a_matrix_without_an_inverse_is_no_decoder)
{
    unsigned present[] = {2, 1}, wanted[] = {0};
    struct xd_error error;

    make(2, 3);
    finds_no_inverse = true;
    ck_assert_int_eq(
        xd_decoder_new(&decoder, coder, present, wanted, 1, &error), XD_E_BUG);
    ck_assert_ptr_null(decoder);
    ck_assert_str_eq(error.msg, "2 of 3 shards cannot be decoded: their matrix "
                                "has no inverse");
}
END_TEST
#endif

START_TEST(nothing_is_released_in_vain)
{
    xd_coder_free(NULL);
    xd_decoder_free(NULL);
}
END_TEST

static TCase *reed_solomon_tests(void)
{
    TCase *t = tcase_create("reed_solomon");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, parity_is_what_is_written_down);
    tcase_add_test(t, parity_of_many_shards_is_what_is_written_down);
    tcase_add_test(t, any_four_of_six_give_all);
    tcase_add_test(t, any_three_of_six_give_all);
    tcase_add_test(t, any_shard_gives_all_if_one_is_enough);
    tcase_add_test(t, without_parity_all_shards_are_needed);
    tcase_add_loop_test(t, any_k_of_255_give_all, 0, 7);
    tcase_add_test(t, any_k_of_any_n_give_all);
    tcase_add_test(t, slices_have_any_length);
    tcase_add_test(t, long_slices_are_as_good);
    tcase_add_test(t, a_stripe_may_be_coded_in_slices);
    tcase_add_test(t, pointers_need_no_alignment);
    tcase_add_test(t, nothing_is_read_or_written_beyond_a_slice);
    tcase_add_test(t, no_bytes_are_zeros);
    tcase_add_test(t, what_is_present_may_be_wanted_and_anything_twice);
    tcase_add_test(t, a_decoder_outlives_its_coder);
    tcase_add_test(t, codes_that_cannot_be_are_refused);
    tcase_add_test(t, shards_that_are_not_there_are_refused);
#ifdef XD_LINKER_WRAPS
    tcase_add_test(t, a_matrix_without_an_inverse_is_no_decoder);
#endif
    tcase_add_test(t, nothing_is_released_in_vain);
    return t;
}

int main(void)
{
    return run_suite("reed_solomon", reed_solomon_tests());
}

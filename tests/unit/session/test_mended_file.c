/* SPDX-License-Identifier: MIT */
/*
 * Files of a few bytes that depots have right or wrong, at random: whatever
 * they do, a repair ends, blames no honest depot, and costs three files at
 * most; and where one depot is bad, the file comes right.
 */
#include "session/repair.h"

#include <string.h>

#include "suite.h"

#define SIZE 64
#define MOST_DEPOTS 6
#define N_WORLDS 3000

static struct xd_ledger ledger;
static struct xd_range wanted;
static struct xd_repair repair;

/* A right byte is 0.  `second` is the second copy of the file. */
static unsigned char has[MOST_DEPOTS][SIZE], file[SIZE], second[SIZE];
static unsigned n_depots, n_bad;
static bool votes, is_over, is_right;
static uint64_t fetched, random_state;

static unsigned below(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1;
    return (unsigned)(random_state >> 33) % n;
}

static struct xd_repair_depot look(const void *world, unsigned depot)
{
    (void)world;
    (void)depot;
    return (struct xd_repair_depot){.has_all = true};
}

static void deliver(unsigned char *copy, unsigned depot, struct xd_range r)
{
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_ledger_written(&ledger, r, depot), 0);
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_VERIFY, r), 0);
    memcpy(copy + r.begin, has[depot] + r.begin, xd_range_length(r));
}

/* The first `n_bad` depots have some bytes wrong, alike or each in its way. */
static void make_world(unsigned seed)
{
    bool are_alike;

    random_state = seed;
    (void)below(2); /* the first says little */
    n_depots = 2 + below(MOST_DEPOTS - 1);
    n_bad = below(n_depots + 1);
    are_alike = below(2);
    votes = below(2);
    fetched = 0;
    is_over = is_right = false;
    memset(has, 0, sizeof has);
    for (unsigned i = 0; i < n_bad; i++)
        for (unsigned n = 1 + below(SIZE); n > 0; n--)
            has[i][below(SIZE)] = (unsigned char)(are_alike ? 1 : i + 1);
    for (unsigned at = 0, end; at < SIZE; at = end) {
        end = at + 1 + below(SIZE / 4);
        if (end > SIZE)
            end = SIZE;
        deliver(file, below(n_depots), (struct xd_range){at, end});
    }
}

static void setup(void)
{
    wanted.end = SIZE;
    repair =
        (struct xd_repair){.ledger = &ledger, .wanted = &wanted, .look = look};
}

static void teardown(void)
{
    xd_repair_fini(&repair);
    xd_ledger_fini(&ledger);
    ledger = (struct xd_ledger){0};
}

/* The depot of the two that has it wrong, as if a third were asked, which is
 * honest. */
static bool is_outvoted(unsigned depot, uint64_t byte)
{
    unsigned origin;

    (void)xd_runs_next_depot(&ledger.origins, (struct xd_range){byte, byte + 1},
                             &origin);
    if (has[depot][byte] == file[byte] ||
        !xd_repair_compares(&repair, n_depots))
        return false;
    xd_repair_disputed(&repair);
    return xd_repair_outvoted(&repair, file[byte] != 0 ? origin : depot);
}

/* Byte by byte, of any depot that may deliver it. */
static void fetch(void)
{
    struct xd_range gap;

    ck_assert_int_eq(xd_repair_set_aside(&repair), 0);
    while (gap = xd_ledger_next_gap(&ledger, XD_BYTES_STORED, wanted),
           !xd_range_is_empty(gap)) {
        unsigned depot = below(n_depots);

        while (xd_repair_avoids(&repair, depot))
            depot = (depot + 1) % n_depots;
        if (votes && is_outvoted(depot, gap.begin))
            return;
        gap.end = gap.begin + 1;
        deliver(second, depot, gap);
        fetched++;
    }
    xd_repair_fetched(&repair);
}

static void exchange(struct xd_range r)
{
    unsigned char copy[SIZE];
    size_t n = xd_range_length(r);

    if (memcmp(file + r.begin, second + r.begin, n) == 0)
        return;
    ck_assert_int_eq(xd_rangeset_add(&repair.exchanged, r), 0);
    memcpy(copy, file + r.begin, n);
    memcpy(file + r.begin, second + r.begin, n);
    memcpy(second + r.begin, copy, n);
}

static void check(void)
{
    static const unsigned char right[SIZE];

    is_right = memcmp(file, right, SIZE) == 0;
    if (is_right)
        xd_repair_right(&repair);
    else
        xd_repair_wrong(&repair, true);
}

static void expect_wrong(unsigned depot, struct xd_range r)
{
    ck_assert_uint_lt(depot, n_bad);
    while (r.begin < r.end && has[depot][r.begin] == 0)
        r.begin++;
    ck_assert_uint_lt(r.begin, r.end);
}

static void carry_out(const struct xd_repair_action *a)
{
    switch (a->kind) {
    case XD_REPAIR_PREPARE:
        break;
    case XD_REPAIR_SUSPECT:
    case XD_REPAIR_FETCH_ALONE:
        fetch();
        break;
    case XD_REPAIR_EXCHANGE:
        exchange(a->range);
        break;
    case XD_REPAIR_CHECK:
        check();
        break;
    case XD_REPAIR_BLAME:
        expect_wrong(a->depot, a->range);
        break;
    case XD_REPAIR_FINISH:
    case XD_REPAIR_GIVE_UP:
        ck_assert(is_right == (a->kind == XD_REPAIR_FINISH));
        is_over = true;
        break;
    case XD_REPAIR_FETCH_HELD:
    case XD_REPAIR_NO_MEMORY:
    case XD_REPAIR_NOTHING:
        ck_abort();
    }
}

static void mend(unsigned seed)
{
    make_world(seed);
    check();
    for (unsigned n = 0; !is_over; n++) {
        struct xd_repair_action a = xd_repair_next(&repair, n_depots);

        ck_assert_msg(n < 1000, "world %u does not end", seed);
        carry_out(&a);
    }
    ck_assert_msg(is_right || n_bad > 1, "world %u stays wrong", seed);
    ck_assert_msg(fetched <= 3 * SIZE, "world %u costs too much", seed);
    ck_assert(xd_ledger_has(&ledger, XD_BYTES_STORED, wanted));
}

START_TEST(every_repair_ends_and_finds_one_bad_depot)
{
    for (unsigned seed = 0; seed < N_WORLDS; seed++) {
        setup();
        mend(seed);
        teardown();
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("mended_file");

    tcase_add_test(t, every_repair_ends_and_finds_one_bad_depot);
    return run_suite("mended_file", t);
}

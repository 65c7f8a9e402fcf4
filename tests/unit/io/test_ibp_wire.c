/* SPDX-License-Identifier: MIT */
/* lib/io/ibp/ibp_wire: what is sent to an IBP depot, and what it answers. */
#include "io/ibp/ibp_wire.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static struct xd_ibp_capability capability_of(const char *url)
{
    struct xd_ibp_capability c;
    struct xd_url u;

    ck_assert_msg(xd_url_parse(&u, url), "%s", url);
    ck_assert_msg(xd_ibp_split(&u, &c), "%s", url);
    return c;
}

static void is_word(const char *word, int len, const char *expected)
{
    ck_assert_int_eq(len, (int)strlen(expected));
    ck_assert_int_eq(strncmp(word, expected, strlen(expected)), 0);
}

START_TEST(both_keys_of_a_capability_are_strings)
{
    static const struct {
        const char *url, *key, *type_key;
    } rows[] = {
        {"ibp://h:6714/IBP-abc/123/READ", "IBP-abc", "123"},
        {"ibp://h:6714/0#IBP-abc/007/READ", "0#IBP-abc", "007"},
        {"IBP://h:0/0#k?x=1/18446744073709551616/READ", "0#k?x=1",
         "18446744073709551616"},
        {"ibp://h/k%20/key-1/READ", "k%20", "key-1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xd_ibp_capability c = capability_of(rows[i].url);

        is_word(c.key, c.key_len, rows[i].key);
        is_word(c.type_key, c.type_key_len, rows[i].type_key);
    }
}
END_TEST

START_TEST(what_is_no_read_capability_is_refused)
{
    static const char *const urls[] = {
        "ibp://h:6714",           "ibp://h:6714/",      "ibp://h/k/1",
        "ibp://h/k/1/",           "ibp://h/k/1/WRITE",  "ibp://h//1/READ",
        "ibp://h/k//READ",        "ibp://h/k/1/READ/",  "ibp://h/k/1/READ#x",
        "http://h:6714/k/1/READ", "ibp://h/k/1/2/READ",
    };

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct xd_ibp_capability c;
        struct xd_url u;

        ck_assert_msg(xd_url_parse(&u, urls[i]), "%s", urls[i]);
        ck_assert_msg(!xd_ibp_split(&u, &c), "%s", urls[i]);
    }
}
END_TEST

START_TEST(requests_are_as_the_original_tools_write_them)
{
    struct xd_ibp_capability c =
        capability_of("ibp://localhost:6714/0#IBP-oMry/168748003/READ");
    struct xd_text text = {.s = NULL};

    xd_ibp_write_load(&text, &c, 0, 20, 31);
    ck_assert_str_eq(text.s, "0 8 0#IBP-oMry 168748003 0 20 31 \n");
    xd_text_clear(&text);
    xd_ibp_write_probe(&text, &c, 20);
    ck_assert_str_eq(text.s, "0 9 0#IBP-oMry 168748003 40 0 0 0 0 20 \n");
    xd_text_fini(&text);
}
END_TEST

START_TEST(a_reply_is_read_with_blanks_or_without)
{
    static const struct {
        const char *line;
        int64_t code;
        size_t n;
        int64_t first;
    } rows[] = {
        {"1 100000 ", 1, 1, 100000},
        {"1 100000", 1, 1, 100000},
        {" -4 ", -4, 0, 0},
        {"-27", -27, 0, 0},
        {"  1   20  ", 1, 1, 20},
        {"1 20 \r", 1, 1, 20},
        {"1 ", 1, 0, 0},
        {"-66 0.083984", -66, 0, 0},
        {"1 -5", 1, 1, -5},
        {"1 1 1 300000 1000000 3592 2 1 ", 1, 7, 1},
        {"1 9223372036854775807", 1, 1, INT64_MAX},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xd_ibp_reply r;

        ck_assert_msg(
            xd_ibp_parse_reply(rows[i].line, strlen(rows[i].line), &r), "%s",
            rows[i].line);
        ck_assert_int_eq(r.code, rows[i].code);
        ck_assert_uint_eq(r.n, rows[i].n);
        if (r.n > 0)
            ck_assert_int_eq(r.numbers[0], rows[i].first);
    }
}
END_TEST

START_TEST(what_is_no_reply_is_refused)
{
    static const char *const lines[] = {
        "",
        " ",
        "OK",
        "-",
        "- 4",
        "+1",
        "1 2x",
        "1 - 2",
        "--4",
        "1\t20",
        "0x10",
        "1.5",
        "1 ibp://h/k/1/READ",
        "220 mail.example ESMTP",
        "1 99999999999999999999",
        "1 9223372036854775808",
        "1 2 3 4 5 6 7 8 9 10",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct xd_ibp_reply r;

        ck_assert_msg(!xd_ibp_parse_reply(lines[i], strlen(lines[i]), &r), "%s",
                      lines[i]);
    }
    ck_assert(!xd_ibp_parse_reply("1 20\0", 5, &(struct xd_ibp_reply){0}));
}
END_TEST

static struct xd_ibp_reply reply(const char *line)
{
    struct xd_ibp_reply r;

    ck_assert(xd_ibp_parse_reply(line, strlen(line), &r));
    return r;
}

START_TEST(the_reply_to_load_says_how_many_bytes_follow)
{
    struct xd_ibp_reply good = reply("1 100000"), bare = reply("1"),
                        failed = reply("-4 7"), negative = reply("1 -7");
    uint64_t n = 0;

    ck_assert(xd_ibp_loaded(&good, &n));
    ck_assert_uint_eq(n, 100000);
    ck_assert(!xd_ibp_loaded(&bare, &n));
    ck_assert(!xd_ibp_loaded(&failed, &n));
    ck_assert(!xd_ibp_loaded(&negative, &n));
}
END_TEST

START_TEST(the_reply_to_probe_says_what_is_written_and_how_long_it_lives)
{
    struct xd_ibp_reply good = reply("1 1 2 300000 1000000 3592 2 1"),
                        few = reply("1 1 1 300000 1000000"),
                        negative = reply("1 1 1 300000 1000000 -1 2 1"),
                        failed = reply("-4 1 1 1 1 1");
    struct xd_ibp_probe p;

    ck_assert(xd_ibp_probed(&good, &p));
    ck_assert_uint_eq(p.readers, 1);
    ck_assert_uint_eq(p.writers, 2);
    ck_assert_uint_eq(p.written, 300000);
    ck_assert_uint_eq(p.allocated, 1000000);
    ck_assert_uint_eq(p.lifetime, 3592);
    ck_assert(!xd_ibp_probed(&few, &p));
    ck_assert(!xd_ibp_probed(&negative, &p));
    ck_assert(!xd_ibp_probed(&failed, &p));
}
END_TEST

START_TEST(every_error_has_words_and_only_some_may_pass)
{
    static const struct {
        int64_t code;
        const char *words;
        bool may_pass;
    } rows[] = {
        {-1, "generic error", true},
        {-4, "capability not found", false},
        {-9, "invalid read capability", false},
        {-19, "would exceed the allocation", false},
        {-24, "internal error", true},
        {-27, "protocol version not supported", false},
        {-46, "server timed out", true},
        {-53, "the depot's queue is full", true},
        {-66, "out of sockets", true},
        {-39, "unknown error", true},
        {-67, "unknown error", true},
        {-9999, "unknown error", true},
        {INT64_MIN, "unknown error", true},
        {0, "unknown error", true},
        {2, "unknown error", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_str_eq(xd_ibp_words(rows[i].code), rows[i].words);
        ck_assert_int_eq(xd_ibp_may_pass(rows[i].code), rows[i].may_pass);
    }
}
END_TEST

START_TEST(a_probe_may_show_any_capability)
{
    static const struct {
        const char *right;
        bool is_one;
    } rights[] = {{"READ", true},     {"WRITE", true}, {"MANAGE", true},
                  {"MANAGED", false}, {"", false},     {"READ/MANAGE", false}};

    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        struct xd_ibp_capability c;
        struct xd_url u;
        char url[64];

        snprintf(url, sizeof url, "ibp://d3:6714/0#k/12/%s", rights[i].right);
        ck_assert(xd_url_parse(&u, url));
        ck_assert_msg(xd_ibp_split_right(&u, "", &c) == rights[i].is_one, "%s",
                      url);
        if (rights[i].is_one)
            ck_assert(strncmp(c.key, "0#k", (size_t)c.key_len) == 0 &&
                      strncmp(c.type_key, "12", (size_t)c.type_key_len) == 0);
    }
}
END_TEST

/* ---- commands ---- */

START_TEST(commands_take_numbers_alone_and_as_many_as_they_have_fields)
{
    static const struct {
        const char *method, *fields;
        bool takes;
    } rows[] = {
        {"ALLOCATE", "2 1 3600 1000000", true},
        {"ALLOCATE", "2 1 -1 1000000", true},
        {"ALLOCATE", "2 1 3600", false},
        {"ALLOCATE", "2 1 3600 10 20", false},
        {"ALLOCATE", "2 1 3600 x", false},
        {"ALLOCATE", "2 1 3600 10\n", false},
        {"ALLOCATE", "2 1 3600 10 x", false},
        {"ALLOCATE", "", false},
        {"ALLOCATE", NULL, false},
        {"STORE", NULL, true},
        {"STORE", "", true},
        {"STORE", "1", false},
        {"LOAD", "0 10", true},
        {"CHANGE", "1 2 3", true},
        {"DECREMENT", "1", true},
        {"PROBE", NULL, true},
        {"STATUS", NULL, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct xd_ibp_command *c = xd_ibp_command(rows[i].method);

        ck_assert_ptr_nonnull(c);
        ck_assert_msg(xd_ibp_takes(c, rows[i].fields) == rows[i].takes, "%s %s",
                      rows[i].method, rows[i].fields);
    }
    ck_assert_ptr_null(xd_ibp_command("PUT"));
    ck_assert_ptr_null(xd_ibp_command("store"));
}
END_TEST

START_TEST(code_of_a_reply_is_split_from_its_words)
{
    static const struct {
        const char *line, *words;
        int64_t code;
    } rows[] = {
        {"1 ", "", 1},
        {"1", "", 1},
        {" -4 ", "", -4},
        {"1 a b \r", "a b", 1},
        {"-66 0.08", "0.08", -66},
        {"  1   7 ", "7", 1},
    };
    static const char *const bad[] = {"", " ", "x", "1x", "- 1", "1\t2"};
    struct xd_span words;
    int64_t code;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert(xd_ibp_split_reply(rows[i].line, strlen(rows[i].line), &code,
                                     &words));
        ck_assert_int_eq(code, rows[i].code);
        ck_assert(xd_span_is(words, rows[i].words));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(
            !xd_ibp_split_reply(bad[i], strlen(bad[i]), &code, &words), "%s",
            bad[i]);
    ck_assert(!xd_ibp_split_reply("1 a\0b", 5, &code, &words));
}
END_TEST

#define READ_OF "ibp://h:1/0#k/1/READ"
#define WRITE_OF "ibp://h:1/0#k/22/WRITE"
#define MANAGE_OF "ibp://h:1/0#k/333/MANAGE"

START_TEST(new_allocation_has_three_capabilities)
{
#define ODD                                       \
    "IBP://other/0#k/1/READ ibp:///0#k/22/WRITE " \
    "ibp://[::1]:7/0#k/333/MANAGE"
    static const char *const good[] = {
        READ_OF " " WRITE_OF " " MANAGE_OF,
        "  " READ_OF "  " WRITE_OF "   " MANAGE_OF "  ",
        ODD,
    };
    static const char *const bad[] = {
        "",
        READ_OF,
        READ_OF " " WRITE_OF,
        READ_OF " " MANAGE_OF " " WRITE_OF,
        READ_OF " " WRITE_OF " " MANAGE_OF " more",
        "http://h:1/k/1/READ " WRITE_OF " " MANAGE_OF,
        "ibp://h:1/k/READ " WRITE_OF " " MANAGE_OF,
        "ibp://h:1//1/READ " WRITE_OF " " MANAGE_OF,
        "ibp://h:1/k//READ " WRITE_OF " " MANAGE_OF,
        "ibp://h:1/k/1/2/READ " WRITE_OF " " MANAGE_OF,
        "ibp://h:1/READ " WRITE_OF " " MANAGE_OF,
        "ibp://READ " WRITE_OF " " MANAGE_OF,
        "ibp:///READ " WRITE_OF " " MANAGE_OF,
        "ibp:/READ " WRITE_OF " " MANAGE_OF,
        "/READ " WRITE_OF " " MANAGE_OF,
        READ_OF " " WRITE_OF " ibp://h:1/k/3/MANAGED",
    };
    struct xd_ibp_allocation a;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(xd_ibp_allocated(good[i], &a), "%s", good[i]);
        is_word(a.read.key, a.read.key_len, "0#k");
        is_word(a.read.type_key, a.read.type_key_len, "1");
        is_word(a.write.type_key, a.write.type_key_len, "22");
        is_word(a.manage.key, a.manage.key_len, "0#k");
        is_word(a.manage.type_key, a.manage.type_key_len, "333");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!xd_ibp_allocated(bad[i], &a), "%s", bad[i]);
}
END_TEST

START_TEST(status_says_for_how_long_an_allocation_may_live)
{
    static const struct {
        const char *line;
        bool is_one;
        uint64_t seconds;
    } rows[] = {
        {"200 0 200 0 864000", true, 864000},
        {"0 0 0 0 60 ", true, 60},
        {"200 0 200 0 -1", true, 0},
        {"200 0 200 0", false, 0},
        {"1 151", false, 0},
        {"", false, 0},
        {"-29", false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t s = 0;

        ck_assert_msg(xd_ibp_longest(rows[i].line, &s) == rows[i].is_one, "%s",
                      rows[i].line);
        ck_assert_uint_eq(s, rows[i].seconds);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ibp_wire");

    tcase_add_test(t, both_keys_of_a_capability_are_strings);
    tcase_add_test(t, what_is_no_read_capability_is_refused);
    tcase_add_test(t, requests_are_as_the_original_tools_write_them);
    tcase_add_test(t, a_reply_is_read_with_blanks_or_without);
    tcase_add_test(t, what_is_no_reply_is_refused);
    tcase_add_test(t, the_reply_to_load_says_how_many_bytes_follow);
    tcase_add_test(
        t, the_reply_to_probe_says_what_is_written_and_how_long_it_lives);
    tcase_add_test(t, every_error_has_words_and_only_some_may_pass);
    tcase_add_test(t, a_probe_may_show_any_capability);
    tcase_add_test(t,
                   commands_take_numbers_alone_and_as_many_as_they_have_fields);
    tcase_add_test(t, code_of_a_reply_is_split_from_its_words);
    tcase_add_test(t, new_allocation_has_three_capabilities);
    tcase_add_test(t, status_says_for_how_long_an_allocation_may_live);
    return run_suite("ibp_wire", t);
}

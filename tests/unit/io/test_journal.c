/* SPDX-License-Identifier: MIT */
/*
 * A journal that is cut or changed anywhere never makes a byte good that was
 * not written.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/journal/journal.h"
#include "os/file.h"
#include "suite.h"

#define SIZE ((uint64_t)10 << 20)
#define ROOM ((size_t)4096)

static const struct xd_journal_identity identity = {.name = "film.bin",
                                                    .size = SIZE,
                                                    .wanted = {0, SIZE},
                                                    .hashes = "sha-256:00ff\n"};

static char folder[64], path[90];
static int in; /* the folder, open */
static struct xd_error err;
static struct xd_journal *journal;
static struct xd_journal_contents contents;

static void set_up(void)
{
    strcpy(folder, "journal-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/film.bin.part.journal", folder);
    ck_assert_int_eq(xd_folder_open(&in, path, &err), 0);
    journal = NULL;
    contents = (struct xd_journal_contents){0};
}

static void tear_down(void)
{
    xd_journal_free(journal);
    xd_journal_contents_fini(&contents);
    xd_file_close(in);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void open_it(void)
{
    ck_assert_msg(xd_journal_open(&journal, &contents, in, path, &err) == 0,
                  "%s", err.msg);
}

static void open_new(void)
{
    open_it();
    ck_assert(!contents.has_header);
    ck_assert_int_eq(xd_journal_restart(journal, &identity, "boot 1", &err), 0);
}

static void reopen(void)
{
    xd_journal_free(journal);
    xd_journal_contents_fini(&contents);
    open_it();
}

static void written(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(
        xd_journal_written(journal, (struct xd_range){begin, end}, &err), 0);
}

static void dropped(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(
        xd_journal_dropped(journal, (struct xd_range){begin, end}, &err), 0);
}

static void synced(void)
{
    ck_assert_int_eq(xd_journal_synced(journal, xd_journal_mark(journal), &err),
                     0);
}

/* "0-5 7-9": what is believed after a start of the machine called `boot`. */
static const char *believed(const char *boot, uint64_t limit)
{
    static char text[200];
    struct xd_rangeset set;

    ck_assert_int_eq(xd_journal_believed(&contents, boot, limit, &set), 0);
    text[0] = '\0';
    for (size_t i = 0; i < set.n; i++)
        sprintf(text + strlen(text), "%s%llu-%llu", i ? " " : "",
                (unsigned long long)set.ranges[i].begin,
                (unsigned long long)set.ranges[i].end);
    xd_rangeset_fini(&set);
    return text;
}

START_TEST(what_was_written_is_believed_until_the_machine_restarts)
{
    open_new();
    written(0, 100);
    written(200, 300);
    reopen();
    ck_assert_str_eq(contents.name, "film.bin");
    ck_assert_uint_eq(contents.size, SIZE);
    ck_assert_str_eq(contents.hashes.s, "sha-256:00ff\n");
    ck_assert_str_eq(believed("boot 1", SIZE), "0-100 200-300");
    ck_assert_str_eq(believed("boot 2", SIZE), "");
}
END_TEST

START_TEST(where_nobody_tells_when_the_machine_started_only_synced_bytes_count)
{
    open_it();
    ck_assert_int_eq(xd_journal_restart(journal, &identity, "", &err), 0);
    written(0, 100);
    synced();
    written(100, 200);
    reopen();
    ck_assert_str_eq(believed("", SIZE), "0-100");
}
END_TEST

START_TEST(what_was_synced_is_believed_for_ever)
{
    uint64_t mark;

    open_new();
    written(0, 100);
    mark = xd_journal_mark(journal);
    written(200, 300);
    ck_assert_int_eq(xd_journal_synced(journal, mark, &err), 0);
    written(400, 500);
    reopen();
    ck_assert_str_eq(believed("boot 2", SIZE), "0-100");
    ck_assert_str_eq(believed("boot 1", SIZE), "0-100 200-300 400-500");
}
END_TEST

START_TEST(a_later_sync_does_not_bring_back_what_a_restart_lost)
{
    open_new();
    written(0, 100);
    reopen();
    ck_assert_int_eq(xd_journal_continue(journal, &contents, "boot 2", &err),
                     0);
    written(200, 300);
    synced();
    reopen();
    ck_assert_str_eq(believed("boot 2", SIZE), "200-300");
    ck_assert_str_eq(believed("boot 3", SIZE), "200-300");
}
END_TEST

START_TEST(sessions_of_one_start_of_the_machine_add_up)
{
    open_new();
    written(0, 100);
    reopen();
    ck_assert_int_eq(xd_journal_continue(journal, &contents, "boot 1", &err),
                     0);
    written(200, 300);
    reopen();
    ck_assert_str_eq(believed("boot 1", SIZE), "0-100 200-300");
}
END_TEST

START_TEST(what_was_dropped_is_not_believed_until_it_is_written_again)
{
    open_new();
    written(0, 100);
    synced();
    written(100, 200);
    dropped(50, 150);
    reopen();
    ck_assert_str_eq(believed("boot 1", SIZE), "0-50 150-200");
    ck_assert_str_eq(believed("boot 2", SIZE), "0-50");
    ck_assert_int_eq(xd_journal_continue(journal, &contents, "boot 1", &err),
                     0);
    written(60, 70);
    dropped(180, 190);
    reopen();
    ck_assert_str_eq(believed("boot 1", SIZE), "0-50 60-70 150-180 190-200");
}
END_TEST

START_TEST(bytes_that_a_short_file_does_not_have_are_not_believed)
{
    open_new();
    written(0, 100);
    written(200, 300);
    reopen();
    ck_assert_str_eq(believed("boot 1", 250), "0-100 200-250");
    ck_assert_str_eq(believed("boot 1", 0), "");
}
END_TEST

START_TEST(after_a_restart_nothing_is_left_of_what_was_said)
{
    open_new();
    written(0, 100);
    synced();
    ck_assert_int_eq(xd_journal_restart(journal, &identity, "boot 1", &err), 0);
    reopen();
    ck_assert(contents.has_header);
    ck_assert_str_eq(believed("boot 1", SIZE), "");
}
END_TEST

START_TEST(validators_are_remembered_and_too_long_ones_left_out)
{
    char longest[XD_JOURNAL_BODY_MAX];

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    open_new();
    ck_assert_int_eq(xd_journal_validator(journal, "http://a/x", "\"1\"", &err),
                     0);
    ck_assert_int_eq(xd_journal_validator(journal, longest, "\"1\"", &err), 0);
    ck_assert_int_eq(xd_journal_validator(journal, "http://b/x", "\"2\"", &err),
                     0);
    reopen();
    ck_assert_str_eq(contents.depots.s, "http://a/x \"1\"\nhttp://b/x \"2\"\n");
}
END_TEST

START_TEST(what_is_no_journal_stays_as_it_is)
{
    char got[20] = "";
    int fd = open(path, O_RDWR | O_CREAT, 0600);

    ck_assert_int_eq(write(fd, "my own words", 12), 12);
    ck_assert_int_eq(xd_journal_open(&journal, &contents, in, path, &err),
                     XD_E_IO);
    ck_assert_ptr_null(journal);
    ck_assert_ptr_nonnull(strstr(err.msg, path));
    ck_assert_int_eq(pread(fd, got, sizeof got, 0), 12);
    ck_assert_str_eq(got, "my own words");
    close(fd);
}
END_TEST

START_TEST(zeros_and_a_cut_header_are_a_journal_that_says_nothing)
{
    static const char zeros[100];
    unsigned char lost[100] = {0};

    ck_assert(xd_journal_is_ours((const unsigned char *)zeros, 100));
    ck_assert(xd_journal_is_ours((const unsigned char *)zeros, 0));
    ck_assert(xd_journal_is_ours((const unsigned char *)"\1\0\60\0xdown", 9));
    ck_assert(!xd_journal_is_ours((const unsigned char *)"\1\0\60\0down", 8));
    /* The first write is lost, or half of it; the next is not. */
    memcpy(lost + 90, "\2\0\4\0boot", 8);
    ck_assert(xd_journal_is_ours(lost, 100));
    memcpy(lost, "\1\0\60\0xdown", 9);
    ck_assert(xd_journal_is_ours(lost, 100));
    lost[20] = 'x';
    ck_assert(!xd_journal_is_ours(lost, 100));
}
END_TEST

START_TEST(hashes_agree_differ_or_cannot_be_compared)
{
    ck_assert_int_eq(xd_journal_compare_hashes("a:1\n", "a:1\n"), 1);
    ck_assert_int_eq(xd_journal_compare_hashes("a:1\n", "a:12\n"), -1);
    ck_assert_int_eq(xd_journal_compare_hashes("a:12\n", "a:1\n"), -1);
    ck_assert_int_eq(xd_journal_compare_hashes("a:1\nb:2\n", "b:2\nc:3\n"), 1);
    ck_assert_int_eq(xd_journal_compare_hashes("a:1\n", "b:1\n"), 0);
    ck_assert_int_eq(xd_journal_compare_hashes("", "b:1\n"), 0);
    ck_assert_int_eq(xd_journal_compare_hashes("a:1", "a:1\n"), 1);
}
END_TEST

/* ---- damage ---- */

static unsigned char whole[ROOM];
static size_t whole_len;
static size_t edges[40], n_edges;

static void remember_edge(void)
{
    edges[n_edges++] = (size_t)xd_journal_mark(journal);
}

/* A journal with all kinds of records, of which no byte from 1000 on is
 * good. */
static void make_journal(void)
{
    int fd;

    n_edges = 0;
    open_new();
    remember_edge();
    for (uint64_t i = 0; i < 8; i++) {
        written(100 * i, 100 * i + 90);
        remember_edge();
        if (i % 3 == 2) {
            synced();
            remember_edge();
        }
    }
    dropped(300, 400);
    remember_edge();
    ck_assert_int_eq(xd_journal_validator(journal, "http://a/x", "\"1\"", &err),
                     0);
    remember_edge();
    written(900, 1000);
    remember_edge();
    fd = open(path, O_RDONLY);
    whole_len = (size_t)read(fd, whole, sizeof whole);
    close(fd);
}

/* What these bytes come to. */
static void tell(const unsigned char *data, size_t len, struct xd_rangeset *out)
{
    struct xd_journal_contents s = {0};
    bool is_bad;

    ck_assert_int_ge(xd_journal_take(&s, data, len, &is_bad), 0);
    ck_assert_int_eq(xd_journal_believed(&s, "boot 1", SIZE, out), 0);
    xd_journal_contents_fini(&s);
}

/* That no byte is believed which was not written at some time. */
static void assert_nothing_is_made_up(const struct xd_rangeset *set)
{
    struct xd_range all = {0, SIZE};

    for (struct xd_range r; r = xd_rangeset_next(set, all), r.begin < SIZE;
         all.begin = r.end) {
        ck_assert_uint_le(r.end, 1000);
        ck_assert_uint_eq(r.begin % 100, 0);
        ck_assert(r.end == 1000 || r.end % 100 == 90);
    }
}

START_TEST(a_journal_that_is_cut_anywhere_tells_what_came_before)
{
    struct xd_rangeset cut, edge;
    size_t last = 0;

    make_journal();
    for (size_t len = 0; len <= whole_len; len++) {
        for (size_t i = 0; i < n_edges && edges[i] <= len; i++)
            last = edges[i];
        tell(whole, len, &cut);
        tell(whole, last, &edge);
        ck_assert_uint_eq(cut.n, edge.n);
        ck_assert_uint_eq(cut.bytes, edge.bytes);
        assert_nothing_is_made_up(&cut);
        xd_rangeset_fini(&cut);
        xd_rangeset_fini(&edge);
    }
    ck_assert_uint_gt(n_edges, 10);
}
END_TEST

START_TEST(a_bit_that_is_flipped_anywhere_makes_no_byte_good)
{
    unsigned char bytes[ROOM];
    struct xd_rangeset set;

    make_journal();
    for (size_t bit = 0; bit < 8 * whole_len; bit++) {
        memcpy(bytes, whole, whole_len);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        tell(bytes, whole_len, &set);
        assert_nothing_is_made_up(&set);
        ck_assert(!xd_rangeset_contains(&set, (struct xd_range){900, 1000}));
        xd_rangeset_fini(&set);
    }
}
END_TEST

START_TEST(random_bytes_in_place_of_others_make_no_byte_good)
{
    unsigned char bytes[ROOM];
    struct xd_rangeset set;

    make_journal();
    srand(1);
    for (int i = 0; i < 5000; i++) {
        memcpy(bytes, whole, whole_len);
        for (int j = rand() % 8; j >= 0; j--)
            bytes[(size_t)rand() % whole_len] = (unsigned char)rand();
        tell(bytes, whole_len, &set);
        assert_nothing_is_made_up(&set);
        xd_rangeset_fini(&set);
    }
}
END_TEST

START_TEST(what_follows_damage_is_cut_off_before_more_is_said)
{
    int fd;

    make_journal();
    fd = open(path, O_RDWR);
    ck_assert_int_eq(pwrite(fd, "\377", 1, (off_t)edges[2] + 6), 1);
    close(fd);
    reopen();
    ck_assert_uint_eq(contents.length, edges[2]);
    ck_assert_str_eq(believed("boot 1", SIZE), "0-90 100-190");
    ck_assert_int_eq(xd_journal_continue(journal, &contents, "boot 1", &err),
                     0);
    written(500, 510);
    reopen();
    ck_assert_str_eq(believed("boot 1", SIZE), "0-90 100-190 500-510");
}
END_TEST

/* Records whose checksum is right, as an enemy would make them. */
START_TEST(a_record_that_leaves_the_file_ends_the_journal)
{
    static const struct xd_range bad[] = {
        {0, SIZE + 1}, {5, 5}, {7, 6}, {UINT64_MAX, 3}, {SIZE, UINT64_MAX}};
    struct xd_journal_record r;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool is_bad;

        xd_journal_contents_fini(&contents);
        xd_journal_put_header(&r, &identity);
        ck_assert_int_eq(xd_journal_take(&contents, r.bytes, r.len, &is_bad),
                         (int64_t)r.len);
        xd_journal_put_range(&r, XD_JOURNAL_WRITTEN, bad[i]);
        ck_assert_int_eq(xd_journal_take(&contents, r.bytes, r.len, &is_bad),
                         0);
        ck_assert(is_bad);
        xd_journal_put_synced(&r, UINT64_MAX);
        ck_assert_int_eq(xd_journal_take(&contents, r.bytes, r.len, &is_bad),
                         0);
        ck_assert(is_bad);
        xd_journal_put_header(&r, &identity);
        ck_assert_int_eq(xd_journal_take(&contents, r.bytes, r.len, &is_bad),
                         0);
        ck_assert(is_bad);
    }
}
END_TEST

/* A range that was written so often, and cut so often, would be in a million
 * parts; the journal takes no more than 40 kB. */
START_TEST(records_that_are_cut_to_pieces_are_bounded)
{
    enum { TIMES = 1000, MOST = 1 << 18 };
    struct xd_journal_record r;
    bool is_bad = false;

    xd_journal_put_header(&r, &identity);
    xd_journal_take(&contents, r.bytes, r.len, &is_bad);
    xd_journal_put_range(&r, XD_JOURNAL_WRITTEN, (struct xd_range){0, SIZE});
    for (unsigned i = 0; i < TIMES; i++)
        xd_journal_take(&contents, r.bytes, r.len, &is_bad);
    ck_assert(!is_bad);
    for (unsigned i = 1; i < TIMES && !is_bad; i++) {
        xd_journal_put_range(&r, XD_JOURNAL_DROPPED,
                             (struct xd_range){2 * i, 2 * i + 1});
        ck_assert_int_ge(xd_journal_take(&contents, r.bytes, r.len, &is_bad),
                         0);
    }
    ck_assert(is_bad);
    ck_assert_uint_le(contents.n_written, MOST);
}
END_TEST

START_TEST(nothing_comes_before_the_header)
{
    struct xd_journal_record r;
    bool is_bad;

    xd_journal_put_range(&r, XD_JOURNAL_WRITTEN, (struct xd_range){0, 0});
    ck_assert_int_eq(xd_journal_take(&contents, r.bytes, r.len, &is_bad), 0);
    ck_assert(is_bad);
}
END_TEST

START_TEST(bytes_whose_sync_failed_are_not_believed)
{
    open_new();
    written(0, 100);
    synced();
    written(100, 200);
    ck_assert_int_eq(xd_journal_lost(journal, &err), 0);
    written(300, 400);
    reopen();
    ck_assert_str_eq(believed("boot 1", SIZE), "0-100");
}
END_TEST

/* ---- written anew ---- */

static uint64_t length_of(const char *name)
{
    struct stat st;

    ck_assert_int_eq(stat(name, &st), 0);
    return (uint64_t)st.st_size;
}

static void shrink(void)
{
    ck_assert_msg(xd_journal_shrink(journal, &err) == 0, "%s", err.msg);
}

static void validator(const char *url, const char *tag)
{
    ck_assert_int_eq(xd_journal_validator(journal, url, tag, &err), 0);
}

/* Longer than a short one may be; says that bytes 1000-2000 are written. */
static void make_long(void)
{
    while (xd_journal_mark(journal) <= 1 << 20)
        written(1000, 2000);
}

START_TEST(a_long_journal_is_written_anew_and_says_the_same)
{
    open_new();
    written(0, 100);
    validator("http://a/x", "\"old\"");
    validator("http://b/x", "\"b\"");
    synced();
    make_long();
    dropped(1500, 1600);
    dropped(50, 60);
    validator("http://a/x", "\"new\"");
    shrink();
    ck_assert_uint_lt(length_of(path), 1000);
    ck_assert_uint_eq(length_of(path), xd_journal_mark(journal));
    written(3000, 3100);
    reopen();
    ck_assert_str_eq(contents.name, "film.bin");
    ck_assert_uint_eq(contents.wanted.end, SIZE);
    ck_assert_str_eq(contents.hashes.s, "sha-256:00ff\n");
    ck_assert_str_eq(believed("boot 1", SIZE),
                     "0-50 60-100 1000-1500 1600-2000 3000-3100");
    ck_assert_str_eq(believed("boot 2", SIZE), "0-50 60-100");
    ck_assert_str_eq(contents.depots.s,
                     "http://b/x \"b\"\nhttp://a/x \"new\"\n");
}
END_TEST

START_TEST(a_mark_in_a_new_journal_covers_what_the_old_one_said)
{
    open_new();
    make_long();
    shrink();
    synced();
    reopen();
    ck_assert_str_eq(believed("boot 2", SIZE), "1000-2000");
}
END_TEST

START_TEST(a_short_journal_stays_and_one_that_is_needed_does)
{
    uint64_t length;

    open_new();
    written(0, 100);
    written(0, 100);
    shrink();
    reopen();
    ck_assert_uint_eq(contents.n_written, 2);
    ck_assert_int_eq(xd_journal_continue(journal, &contents, "boot 1", &err),
                     0);
    for (uint64_t at = 0; xd_journal_mark(journal) <= 1 << 20; at += 2)
        written(at, at + 1);
    shrink();
    length = length_of(path);
    ck_assert_uint_gt(length, 1 << 19);
    written(0, 1);
    shrink();
    ck_assert_uint_gt(length_of(path), length);
}
END_TEST

static void *write_on(void *unused)
{
    for (uint64_t at = 5000; at < 6000; at++)
        written(at, at + 1);
    return unused;
}

START_TEST(what_is_written_meanwhile_is_in_it)
{
    pthread_t writer;

    open_new();
    make_long();
    ck_assert_int_eq(pthread_create(&writer, NULL, write_on, NULL), 0);
    shrink();
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    ck_assert_uint_lt(length_of(path), 1 << 19);
    reopen();
    ck_assert_str_eq(believed("boot 1", SIZE), "1000-2000 5000-6000");
}
END_TEST

START_TEST(a_journal_that_cannot_be_written_anew_goes_on)
{
    char in_the_way[110];

    snprintf(in_the_way, sizeof in_the_way, "%s.new", path);
    ck_assert_int_eq(mkdir(in_the_way, 0777), 0);
    open_new();
    make_long();
    ck_assert_int_eq(xd_journal_shrink(journal, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, in_the_way));
    shrink(); /* not again at once */
    ck_assert_int_eq(rmdir(in_the_way), 0);
    written(0, 100);
    reopen();
    ck_assert_str_eq(believed("boot 1", SIZE), "0-100 1000-2000");
    ck_assert_int_eq(xd_journal_continue(journal, &contents, "boot 1", &err),
                     0);
    shrink();
    ck_assert_uint_lt(length_of(path), 1000);
    ck_assert_int_eq(access(in_the_way, F_OK), -1);
}
END_TEST

START_TEST(another_journal_still_cannot_be_opened_beside_a_new_one)
{
    struct xd_journal_contents other_contents;
    struct xd_journal *other;

    open_new();
    make_long();
    shrink();
    ck_assert_int_eq(xd_journal_open(&other, &other_contents, in, path, &err),
                     XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "another download"));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("journal");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase,
                   what_was_written_is_believed_until_the_machine_restarts);
    tcase_add_test(
        tcase,
        where_nobody_tells_when_the_machine_started_only_synced_bytes_count);
    tcase_add_test(tcase, what_was_synced_is_believed_for_ever);
    tcase_add_test(tcase, a_later_sync_does_not_bring_back_what_a_restart_lost);
    tcase_add_test(tcase, sessions_of_one_start_of_the_machine_add_up);
    tcase_add_test(tcase,
                   what_was_dropped_is_not_believed_until_it_is_written_again);
    tcase_add_test(tcase,
                   bytes_that_a_short_file_does_not_have_are_not_believed);
    tcase_add_test(tcase, after_a_restart_nothing_is_left_of_what_was_said);
    tcase_add_test(tcase, validators_are_remembered_and_too_long_ones_left_out);
    tcase_add_test(tcase, what_is_no_journal_stays_as_it_is);
    tcase_add_test(tcase,
                   zeros_and_a_cut_header_are_a_journal_that_says_nothing);
    tcase_add_test(tcase, hashes_agree_differ_or_cannot_be_compared);
    tcase_add_test(tcase,
                   a_journal_that_is_cut_anywhere_tells_what_came_before);
    tcase_add_test(tcase, a_bit_that_is_flipped_anywhere_makes_no_byte_good);
    tcase_add_test(tcase, random_bytes_in_place_of_others_make_no_byte_good);
    tcase_add_test(tcase, what_follows_damage_is_cut_off_before_more_is_said);
    tcase_add_test(tcase, a_record_that_leaves_the_file_ends_the_journal);
    tcase_add_test(tcase, records_that_are_cut_to_pieces_are_bounded);
    tcase_add_test(tcase, nothing_comes_before_the_header);
    tcase_add_test(tcase, bytes_whose_sync_failed_are_not_believed);
    tcase_add_test(tcase, a_long_journal_is_written_anew_and_says_the_same);
    tcase_add_test(tcase, a_mark_in_a_new_journal_covers_what_the_old_one_said);
    tcase_add_test(tcase, a_short_journal_stays_and_one_that_is_needed_does);
    tcase_add_test(tcase, what_is_written_meanwhile_is_in_it);
    tcase_add_test(tcase, a_journal_that_cannot_be_written_anew_goes_on);
    tcase_add_test(tcase,
                   another_journal_still_cannot_be_opened_beside_a_new_one);
    return run_suite("journal", tcase);
}

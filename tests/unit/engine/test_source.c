/* SPDX-License-Identifier: MIT */
/*
 * A file that is read while it arrives, as a program that links the library
 * sees it.
 */
#include <xdownload/stream.h>

#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "command/downloads.h"
#include "command/manifests.h"
#include "command/readers.h"
#include "command/records.h"
#include "engine/engine.h"
#include "engine/free_source.h"
#include "io/hash.h"
#include "io/mock_server.h"
#include "os/clock.h"
#include "suite.h"

#define SIZE (3 * 1024 * 1024 + 12345)

static char folder[SUITE_FOLDER];
static char copy_path[64], keep_path[64];
static unsigned char *bytes; /* the true ones */
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_source *source;
static struct xd_reader *reader;
static struct xd_error error;

/* A name server that never answers, for the names that begin with "mute". */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **out)
{
    (void)service;
    (void)hints;
    (void)out;
    if (node && strncmp(node, "mute", 4) == 0)
        sleep(30);
    return EAI_FAIL;
}

/* Free bytes of the disk; 0: unknown */
static unsigned long free_bytes;

int statvfs(const char *name, struct statvfs *out)
{
    (void)name;
    memset(out, 0, sizeof *out);
    out->f_frsize = 1;
    out->f_blocks = out->f_bavail = free_bytes;
    return 0;
}

static void write_file(const char *path, const void *data, size_t len)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

static void set(const char *name, const char *value)
{
    ck_assert_msg(xd_options_set(options, name, value, &error) == 0, "%s",
                  error.msg);
}

static void setup(void)
{
    suite_folder(folder);
    snprintf(copy_path, sizeof copy_path, "%s/copy", folder);
    snprintf(keep_path, sizeof keep_path, "%s/keep", folder);
    bytes = malloc(SIZE);
    ck_assert_ptr_nonnull(bytes);
    for (uint64_t i = 0; i < SIZE; i++)
        bytes[i] = mock_byte(i);
    write_file(copy_path, bytes, SIZE);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("allow-file", "yes");
    set("spool", folder);
    set("silence", "10s");
}

static void teardown(void)
{
    char command[100];

    free_source_and_readers(source);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    free(bytes);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* A file of SIZE bytes, or of unknown size, of which each URL is a copy; of
 * "" the copy is the file in the folder. */
static void describe_with(const char *more, const char *first_url,
                          const char *second_url)
{
    const char *urls[] = {first_url, second_url};
    char text[2000], path[64];
    int n = snprintf(text, sizeof text,
                     "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                     "<file name=\"f\">%s",
                     more);

    for (int i = 0; i < 2 && urls[i]; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "<url priority=\"%d\">%s%s</url>", i + 1,
                      urls[i][0] ? "" : "file://",
                      urls[i][0] ? urls[i] : copy_path);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "</file></metalink>");
    /* Only a manifest that is a file may name files. */
    snprintf(path, sizeof path, "%s/f.meta4", folder);
    write_file(path, text, (size_t)n);
    ck_assert_msg(xd_manifest_read(&manifest, path, &error) == 0, "%s",
                  error.msg);
}

static void describe(const char *first_url, const char *second_url)
{
    char size[64];

    snprintf(size, sizeof size, "<size>%d</size>", SIZE);
    describe_with(size, first_url, second_url);
}

static void open_source(void)
{
    ck_assert_msg(xd_source_new(&source, manifest, 0, options, &error) == 0,
                  "%s", error.msg);
    ck_assert_int_eq(xd_reader_new(&reader, source, &error), 0);
}

static void open_local(void)
{
    describe("", NULL);
    open_source();
}

static void assert_bytes(const unsigned char *got, uint64_t from, size_t len)
{
    ck_assert_uint_le(from + len, SIZE);
    ck_assert_int_eq(memcmp(got, bytes + from, len), 0);
}

/* Reads len bytes, in whatever portions they come. */
static void expect_read(struct xd_reader *r, size_t len)
{
    static _Thread_local unsigned char buffer[200000];
    size_t done = 0;

    while (done < len) {
        size_t most = len - done < sizeof buffer ? len - done : sizeof buffer;
        uint64_t at = xd_reader_position(r);
        int64_t n = xd_reader_read(r, buffer, most, 20000);
        struct xd_error why;

        xd_reader_error(r, &why);
        ck_assert_msg(n > 0, "at %llu: %s", (unsigned long long)at, why.msg);
        assert_bytes(buffer, at, (size_t)n);
        done += (size_t)n;
    }
}

static void expect_end(struct xd_reader *r)
{
    unsigned char byte;

    ck_assert_int_eq(xd_reader_read(r, &byte, 1, 20000), 0);
}

static void expect_code(struct xd_reader *r, int timeout_ms, int code)
{
    unsigned char byte;
    struct xd_error why;

    ck_assert_int_eq(xd_reader_read(r, &byte, 1, timeout_ms), code);
    xd_reader_error(r, &why);
    ck_assert_int_eq(why.code, code);
    ck_assert_str_ne(why.msg, "");
}

START_TEST(a_reader_gets_every_byte_and_then_the_end)
{
    open_local();
    expect_read(reader, SIZE);
    expect_end(reader);
    expect_end(reader);
}
END_TEST

static const struct mock_step silent[] = {HOLD, END};

START_TEST(nothing_is_asked_for_before_the_first_read)
{
    struct mock_server *m = mock_start(silent);

    describe(mock_url(m), NULL);
    open_source();
    ck_assert_int_eq(xd_reader_size(reader, 0), SIZE);
    ck_assert_int_eq(xd_reader_seek(reader, 100), 100);
    suite_rest_ms(50);
    ck_assert_uint_eq(mock_connections(m), 0);
    expect_code(reader, 0, XD_E_AGAIN);
    for (int i = 0; i < 2000 && mock_requests(m) == 0; i++)
        suite_rest_ms(5);
    ck_assert_uint_gt(mock_requests(m), 0);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}
END_TEST

START_TEST(seeks_in_any_order_find_the_true_bytes)
{
    unsigned seed = 7;

    open_local();
    for (int i = 0; i < 300; i++) {
        uint64_t to, len;

        seed = seed * 1103515245U + 12345U;
        to = seed / 7 % (SIZE + 1);
        ck_assert_int_eq(xd_reader_seek(reader, to), (int64_t)to);
        seed = seed * 1103515245U + 12345U;
        len = seed / 7 % 60000;
        if (len > SIZE - to)
            len = SIZE - to;
        expect_read(reader, len);
        if (to + len == SIZE)
            expect_end(reader);
    }
}
END_TEST

START_TEST(a_seek_to_the_size_is_the_end_and_beyond_is_refused)
{
    open_local();
    ck_assert_int_eq(xd_reader_seek(reader, SIZE), SIZE);
    expect_end(reader);
    ck_assert_int_eq(xd_reader_seek(reader, SIZE + 1), XD_E_INVAL);
    ck_assert_uint_eq(xd_reader_position(reader), SIZE);
    ck_assert_int_eq(xd_reader_seek(reader, 5), 5);
    expect_read(reader, 10);
}
END_TEST

START_TEST(behind_an_end_that_was_not_known_lies_an_error_and_no_end)
{
    describe_with("", "", NULL);
    open_source();
    ck_assert_int_eq(xd_reader_seek(reader, SIZE + 1), SIZE + 1);
    expect_code(reader, 20000, XD_E_INVAL);
    expect_code(reader, 20000, XD_E_INVAL);
    ck_assert_int_eq(xd_reader_seek(reader, SIZE), SIZE);
    expect_end(reader);
}
END_TEST

START_TEST(a_size_that_nobody_says_comes_from_a_depot)
{
    describe_with("", "", NULL);
    open_source();
    ck_assert_int_eq(xd_reader_size(reader, 20000), SIZE);
    expect_read(reader, 1000);
}
END_TEST

static const struct mock_step refuses[] = {
    SAY("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n"), END};

/* A thread that reads until it is told why it got nothing. */
struct waiting {
    pthread_t thread;
    bool for_size;
    int64_t result;
    xd_usec ended;
};

static void *wait_main(void *arg)
{
    struct waiting *w = arg;
    unsigned char byte;

    w->result = w->for_size ? xd_reader_size(reader, -1)
                            : xd_reader_read(reader, &byte, 1, -1);
    w->ended = xd_now();
    return NULL;
}

/* A read or size that waits for a depot that says nothing ends at once. */
static void interrupt_a_wait(bool for_size)
{
    struct waiting w = {.for_size = for_size};

    ck_assert_int_eq(pthread_create(&w.thread, NULL, wait_main, &w), 0);
    suite_rest_ms(200);
    xd_reader_interrupt(reader, 1);
    ck_assert_int_eq(pthread_join(w.thread, NULL), 0);
    ck_assert_int_eq(w.result, XD_E_CANCELED);
}

START_TEST(an_interrupt_ends_a_wait_for_a_silent_depot_and_is_taken_back)
{
    struct mock_server *m = mock_start(silent);

    describe(mock_url(m), NULL);
    open_source();
    interrupt_a_wait(false);
    expect_code(reader, -1, XD_E_CANCELED);
    ck_assert_int_eq(xd_reader_size(reader, -1), XD_E_CANCELED);
    xd_reader_interrupt(reader, 0);
    expect_code(reader, 10, XD_E_AGAIN);
    ck_assert_int_eq(xd_reader_size(reader, -1), SIZE);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}
END_TEST

START_TEST(an_interrupt_ends_a_wait_for_a_mute_name_server)
{
    describe_with("", "http://mute.example/f", "http://mute2.example/f");
    open_source();
    interrupt_a_wait(true);
    xd_reader_interrupt(reader, 0);
    interrupt_a_wait(false);
}
END_TEST

START_TEST(a_silent_depot_beside_a_good_one_does_not_keep_a_reader)
{
    struct mock_server *m = mock_start(silent);

    set("silence", "100ms");
    describe(mock_url(m), "");
    open_source();
    expect_read(reader, SIZE);
    expect_end(reader);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}
END_TEST

START_TEST(bytes_that_nobody_has_are_an_error_where_they_are_read)
{
    struct mock_server *m = mock_start(refuses);

    describe(mock_url(m), NULL);
    open_source();
    expect_code(reader, 20000, XD_E_NOREPLICA);
    expect_code(reader, 20000, XD_E_NOREPLICA);
    ck_assert_int_eq(xd_reader_seek(reader, SIZE), SIZE);
    expect_end(reader);
    ck_assert_int_eq(xd_reader_seek(reader, 1000), 1000);
    expect_code(reader, 20000, XD_E_NOREPLICA);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}
END_TEST

START_TEST(many_readers_each_get_the_true_bytes)
{
    struct xd_reader *more[5];

    open_local();
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_eq(xd_reader_new(&more[i], source, &error), 0);
        ck_assert_int_ge(xd_reader_seek(more[i], i * 500000), 0);
    }
    for (unsigned round = 0; round < 40; round++)
        for (unsigned i = 0; i < 5; i++)
            expect_read(more[i], 10000);
    xd_reader_free(more[2]);
    expect_read(reader, SIZE);
    expect_end(reader);
}
END_TEST

static void *read_all(void *arg)
{
    struct xd_reader *r = arg;

    expect_read(r, SIZE);
    expect_end(r);
    return NULL;
}

START_TEST(readers_on_threads_of_their_own_share_what_arrives)
{
    struct xd_progress p = {.struct_size = sizeof p};
    struct xd_reader *r[8];
    pthread_t threads[8];

    open_local();
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(xd_reader_new(&r[i], source, &error), 0);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_all, r[i]), 0);
    }
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    xd_download_progress(xd_source_download(source), &p);
    ck_assert_uint_eq(p.bytes_done, SIZE);
    ck_assert_uint_le(p.bytes_received, SIZE + SIZE / 10);
}
END_TEST

START_TEST(what_is_kept_becomes_the_file_though_nobody_reads_on)
{
    unsigned char *got = malloc(SIZE + 1);
    FILE *f;

    set("keep", keep_path);
    open_local();
    expect_read(reader, 1000);
    xd_reader_free(reader);
    ck_assert_int_eq(
        xd_download_wait(xd_source_download(source), 20000, &error), 0);
    f = fopen(keep_path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(got, 1, SIZE + 1, f), SIZE);
    fclose(f);
    assert_bytes(got, 0, SIZE);
    free(got);
    /* And it can be read from still. */
    ck_assert_int_eq(xd_reader_new(&reader, source, &error), 0);
    ck_assert_int_eq(xd_reader_seek(reader, SIZE - 5), SIZE - 5);
    expect_read(reader, 5);
    expect_end(reader);
}
END_TEST

START_TEST(without_keep_the_folder_stays_empty)
{
    DIR *d;
    int n = 0;

    open_local();
    expect_read(reader, 100000);
    d = opendir(folder);
    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    ck_assert_int_eq(n, 4); /* ., .., the copy and the manifest */
}
END_TEST

START_TEST(a_spool_that_cannot_be_made_is_an_error_of_the_read)
{
    set("spool", copy_path);
    open_local();
    expect_code(reader, 20000, XD_E_IO);
}
END_TEST

START_TEST(nothing_far_ahead_of_the_readers_is_fetched)
{
    struct xd_buffered b[20] = {{.struct_size = sizeof *b}};
    size_t n;

    set("lookahead", "256k");
    set("block-size", "16k");
    open_local();
    expect_read(reader, 1000);
    for (int i = 0; i < 100; i++) {
        struct xd_progress p = {.struct_size = sizeof p};

        xd_download_progress(xd_source_download(source), &p);
        if (p.bytes_done >= 1024 * 1024 + 256 * 1024)
            break;
        suite_rest_ms(10);
    }
    suite_rest_ms(100);
    n = xd_source_buffered(source, b, 20);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(b[0].begin, 0);
    ck_assert_uint_ge(b[0].end, 192 * 1024);
    ck_assert_uint_le(b[0].end, 256 * 1024);
    ck_assert_uint_eq(b[1].begin, SIZE - 1024 * 1024); /* the tail */
    ck_assert_uint_eq(b[1].end, SIZE);
}
END_TEST

static uint64_t bytes_buffered(void)
{
    struct xd_buffered b[20] = {{.struct_size = sizeof *b}};
    size_t n = xd_source_buffered(source, b, 20);
    uint64_t sum = 0;

    ck_assert_uint_le(n, 20);
    for (size_t i = 0; i < n; i++)
        sum += b[i].end - b[i].begin;
    return sum;
}

static void wait_until_fetched(uint64_t n)
{
    struct xd_progress p = {.struct_size = sizeof p};

    for (int i = 0; i < 500 && p.bytes_done < n; i++) {
        suite_rest_ms(10);
        xd_download_progress(xd_source_download(source), &p);
    }
    ck_assert_uint_ge(p.bytes_done, n);
}

#define RANGE_FIRST ((uint64_t)500001)
#define RANGE_SIZE ((uint64_t)2500003)

static void open_range(void)
{
    char range[50];

    snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)RANGE_FIRST,
             (unsigned long long)(RANGE_FIRST + RANGE_SIZE - 1));
    set("range", range);
    open_local();
}

static void expect_read_in_range(uint64_t from, size_t len)
{
    static unsigned char buffer[RANGE_SIZE];
    size_t done = 0;

    while (done < len) {
        int64_t n = xd_reader_read(reader, buffer + done, len - done, 20000);

        ck_assert_int_gt(n, 0);
        done += (size_t)n;
    }
    ck_assert_int_eq(memcmp(buffer, bytes + RANGE_FIRST + from, len), 0);
    ck_assert_uint_eq(xd_reader_position(reader), from + len);
}

/* Its head and its tail are those of the range. */
START_TEST(what_is_buffered_counts_from_the_begin_of_the_range)
{
    struct xd_buffered b[20] = {{.struct_size = sizeof *b}};
    struct xd_playback p = {.struct_size = sizeof p};

    set("lookahead", "256k");
    set("block-size", "16k");
    open_range();
    expect_read_in_range(0, 1000);
    wait_until_fetched(1024 * 1024 + 192 * 1024);
    suite_rest_ms(100);
    ck_assert_uint_eq(xd_source_buffered(source, b, 20), 2);
    ck_assert_uint_eq(b[0].begin, 0);
    ck_assert_uint_ge(b[0].end, 192 * 1024);
    ck_assert_uint_le(b[0].end, 300 * 1024);
    ck_assert_uint_eq(b[1].begin, RANGE_SIZE - 1024 * 1024);
    ck_assert_uint_eq(b[1].end, RANGE_SIZE);
    ck_assert_int_eq(xd_reader_seek(reader, 1200000), 1200000);
    expect_read_in_range(1200000, 1);
    suite_rest_ms(200);
    ck_assert_uint_eq(xd_source_buffered(source, b, 20), 3);
    ck_assert_uint_le(b[1].begin, 1200000);
    ck_assert_uint_gt(b[1].end, 1200000);
    ck_assert_uint_le(b[1].end, 1200000 + 300 * 1024);
    xd_reader_playhead(reader, 1200000, 1000, XD_PLAY_PAUSED);
    xd_reader_playback(reader, &p);
    ck_assert_double_ge(p.level_s, 100);
    ck_assert_double_le(p.level_s, 310);
}
END_TEST

START_TEST(a_reader_of_a_range_counts_from_its_begin)
{
    unsigned char byte;
    struct xd_error why;

    open_range();
    ck_assert_uint_eq(xd_source_buffered(source, NULL, 0), 0);
    ck_assert_int_eq(xd_reader_size(reader, 0), RANGE_SIZE);
    ck_assert_uint_eq(xd_reader_position(reader), 0);
    expect_read_in_range(0, RANGE_SIZE);
    expect_end(reader);
    ck_assert_int_eq(xd_reader_seek(reader, RANGE_SIZE), RANGE_SIZE);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 20000), 0);
    ck_assert_int_eq(xd_reader_seek(reader, RANGE_SIZE + 1), XD_E_INVAL);
    xd_reader_error(reader, &why);
    ck_assert_ptr_nonnull(strstr(why.msg, "2500004"));
    ck_assert_int_eq(xd_reader_seek(reader, RANGE_SIZE - 1), RANGE_SIZE - 1);
    expect_read_in_range(RANGE_SIZE - 1, 1);
}
END_TEST

START_TEST(a_download_of_a_range_counts_its_bytes_alone)
{
    struct xd_progress p = {.struct_size = sizeof p};
    struct xd_fetch_record r = {.struct_size = sizeof r};
    struct xd_depot_stats depot = {.struct_size = sizeof depot};
    struct xd_download *d;
    uint64_t sum = 0;

    set("records", "yes");
    open_range();
    d = xd_source_download(source);
    expect_read_in_range(0, RANGE_SIZE);
    ck_assert_int_eq(xd_download_wait(d, 20000, &error), 0);
    xd_download_progress(d, &p);
    ck_assert_uint_eq(p.bytes_total, RANGE_SIZE);
    ck_assert_uint_eq(p.bytes_done, RANGE_SIZE);
    ck_assert_int_eq(xd_download_depot(d, 0, &depot), 0);
    ck_assert_uint_eq(depot.bytes, RANGE_SIZE);
    ck_assert_uint_eq(depot.bytes_held, SIZE); /* of the file */
    while (xd_download_next_record(d, &r, NULL)) {
        ck_assert_uint_ge(r.begin, RANGE_FIRST); /* in the file */
        ck_assert_uint_le(r.end, RANGE_FIRST + RANGE_SIZE);
        sum += r.received;
    }
    ck_assert_uint_eq(sum, RANGE_SIZE);
}
END_TEST

/* With a byte on the screen, in the range, all before which was shown. */
START_TEST(a_player_of_a_range_counts_from_its_begin)
{
    const double rate = 1e6;
    const uint64_t at = 500000;
    struct xd_playback p = {.struct_size = sizeof p};
    struct xd_level level = {.struct_size = sizeof level};

    open_range();
    expect_read_in_range(0, RANGE_SIZE);
    xd_reader_playhead(reader, at, rate, XD_PLAY_RUNNING);
    xd_reader_playback(reader, &p);
    ck_assert_double_le(p.level_s, (double)(RANGE_SIZE - at) / rate);
    ck_assert_double_ge(p.level_s, (double)(RANGE_SIZE - at) / rate - 0.5);
    ck_assert_uint_eq(p.n_stalls, 0);
    ck_assert_double_ge(p.startup_least_s, 0);
    ck_assert_int_eq(xd_reader_get_level(reader, 0, &level), 0);
    ck_assert_double_le(level.level_s, (double)RANGE_SIZE / rate);
}
END_TEST

START_TEST(head_and_tail_are_fetched_for_who_reads_only)
{
    struct xd_reader *other;

    set("block-size", "16k");
    describe_with("", "", NULL);
    open_source();
    ck_assert_int_eq(xd_reader_size(reader, 20000), SIZE);
    suite_rest_ms(100);
    ck_assert_uint_le(bytes_buffered(), 16 * 1024);
    xd_reader_free(reader);
    ck_assert_int_eq(xd_reader_new(&other, source, &error), 0);
    suite_rest_ms(100);
    ck_assert_uint_le(bytes_buffered(), 16 * 1024);
    expect_read(other, 1000);
    for (int i = 0; i < 2000 && bytes_buffered() < 1024 * 1024; i++)
        suite_rest_ms(10);
    ck_assert_uint_ge(bytes_buffered(), 1024 * 1024);
}
END_TEST

START_TEST(a_reader_that_has_not_read_has_nothing_fetched)
{
    struct xd_reader *idle;
    struct xd_buffered b[20] = {{.struct_size = sizeof *b}};
    size_t n;

    set("lookahead", "256k");
    set("block-size", "16k");
    open_local();
    ck_assert_int_eq(xd_reader_new(&idle, source, &error), 0);
    ck_assert_int_eq(xd_reader_seek(idle, 1500000), 1500000);
    expect_read(reader, 300000);
    ck_assert_int_eq(xd_reader_seek(reader, SIZE - 1000), SIZE - 1000);
    expect_read(reader, 1000);
    suite_rest_ms(50);
    n = xd_source_buffered(source, b, 20);
    ck_assert_uint_le(n, 20);
    for (size_t i = 0; i < n; i++)
        ck_assert(1500000 < b[i].begin || b[i].end <= 1500000);
    expect_read(idle, 1000);
}
END_TEST

START_TEST(a_range_is_a_file_of_its_own)
{
    unsigned char buffer[10];

    set("range", "1000-1999");
    open_local();
    ck_assert_int_eq(xd_reader_size(reader, 0), 1000);
    ck_assert_int_eq(xd_reader_seek(reader, 990), 990);
    for (int done = 0; done < 10;) {
        int64_t n = xd_reader_read(reader, buffer + done, 10, 20000);

        ck_assert_int_gt(n, 0);
        done += (int)n;
    }
    assert_bytes(buffer, 1990, 10);
    expect_end(reader);
}
END_TEST

START_TEST(keep_is_refused_for_a_download)
{
    struct xd_download *d;

    set("keep", keep_path);
    describe("", NULL);
    ck_assert_int_eq(
        xd_download_new(&d, manifest, 0, NULL, keep_path, options, &error),
        XD_E_INVAL);
}
END_TEST

START_TEST(a_player_that_waits_for_a_silent_depot_has_a_stall)
{
    struct mock_server *m = mock_start(silent);
    struct xd_playback p = {.struct_size = sizeof p};
    struct xd_stall stall = {.struct_size = sizeof stall};

    describe(mock_url(m), NULL);
    open_source();
    xd_reader_playhead(reader, 0, 1e6, XD_PLAY_RUNNING);
    xd_reader_playhead(reader, 0, 1e6, XD_PLAY_WAITING);
    expect_code(reader, 50, XD_E_AGAIN);
    xd_reader_playhead(reader, 0, 1e6, XD_PLAY_PAUSED);
    xd_reader_playback(reader, &p);
    ck_assert_uint_eq(p.n_stalls, 1);
    ck_assert(p.stall_s > 0.045);
    ck_assert(p.stall_least_s > 0.045);
    ck_assert(p.blocked_s > 0);
    ck_assert_int_eq(xd_reader_get_stall(reader, 0, &stall), 0);
    ck_assert(stall.seconds > 0.045);
    ck_assert_int_eq(xd_reader_get_stall(reader, 1, &stall), XD_E_INVAL);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}
END_TEST

START_TEST(a_request_in_flight_is_told_and_the_bytes_it_is_for)
{
    struct mock_server *m = mock_start(silent);
    struct xd_fetch_record r[20] = {{.struct_size = sizeof *r}};
    struct xd_part parts[7] = {{.struct_size = sizeof *parts}};
    struct xd_download *d;
    uint64_t requested = 0;
    size_t n;

    describe(mock_url(m), NULL);
    open_source();
    d = xd_source_download(source);
    ck_assert_uint_eq(xd_download_requests(d, NULL, 0), 0);
    expect_code(reader, 50, XD_E_AGAIN);
    n = xd_download_requests(d, r, 20);
    ck_assert_uint_ge(n, 1);
    ck_assert_uint_le(n, 20);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(r[i].depot, 0);
        ck_assert_int_eq(r[i].code, XD_E_AGAIN);
        ck_assert(r[i].end_s < 0);
        ck_assert(r[i].queued_s >= 0 && r[i].start_s >= r[i].queued_s);
        ck_assert_uint_eq(r[i].received, 0);
    }
    ck_assert_uint_eq(xd_download_parts(d, parts, 7), 7);
    for (size_t i = 0; i < 7; i++)
        requested += parts[i].bytes_requested;
    ck_assert_uint_gt(requested, 0);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}
END_TEST

START_TEST(parts_are_the_file_and_tell_what_is_here)
{
    struct xd_part parts[11] = {{.struct_size = sizeof *parts}};
    uint64_t stored = 0, readable = 0, at = 0, positions[2] = {7, 7};
    struct xd_reader *other;

    open_range();
    ck_assert_int_eq(xd_reader_new(&other, source, &error), 0);
    ck_assert_uint_eq(xd_source_positions(source, positions, 2), 0);
    expect_read_in_range(0, RANGE_SIZE);
    wait_until_fetched(RANGE_SIZE);
    ck_assert_uint_eq(xd_download_parts(xd_source_download(source), parts, 11),
                      11);
    for (size_t i = 0; i < 11; i++) {
        ck_assert_uint_eq(parts[i].begin, at);
        at = parts[i].end;
        ck_assert_uint_le(at - parts[i].begin, RANGE_SIZE / 11 + 1);
        ck_assert_uint_eq(parts[i].bytes_requested, 0);
        stored += parts[i].bytes_stored;
        readable += parts[i].bytes_readable;
    }
    ck_assert_uint_eq(at, RANGE_SIZE);
    ck_assert_uint_eq(stored, RANGE_SIZE);
    ck_assert_uint_eq(readable, RANGE_SIZE);
    ck_assert_uint_eq(xd_source_positions(source, NULL, 0), 1);
    ck_assert_uint_eq(xd_source_positions(source, positions, 2), 1);
    ck_assert_uint_eq(positions[0], RANGE_SIZE);
    ck_assert_uint_eq(positions[1], 7);
    xd_reader_free(other);
}
END_TEST

static uint64_t bytes_here(void)
{
    struct xd_buffered b[500] = {{.struct_size = sizeof *b}};
    size_t n = xd_source_buffered(source, b, 500);
    uint64_t sum = 0;

    ck_assert_uint_le(n, 500);
    for (size_t i = 0; i < n; i++)
        sum += b[i].end - b[i].begin;
    return sum;
}

/* Until so many bytes are here; what they wait for may have failed. */
static void wait_for_bytes(uint64_t n)
{
    for (int ms = 0; bytes_here() < n; ms++) {
        ck_assert_int_lt(ms, 20000);
        suite_rest_ms(1);
    }
}

START_TEST(the_least_start_is_when_the_bytes_came_though_nobody_looked)
{
    struct xd_playback p = {.struct_size = sizeof p};
    xd_usec began = xd_now();
    unsigned char byte;
    double seen_s;

    open_local();
    xd_reader_playhead(reader, 0, 1e6, XD_PLAY_WAITING);
    (void)!xd_reader_read(reader, &byte, 1, 0);
    wait_for_bytes(1);
    seen_s = (double)(xd_now() - began) / (double)XD_SECOND;
    wait_for_bytes(SIZE);
    suite_rest_ms(20);
    xd_reader_playback(reader, &p);
    ck_assert(p.startup_least_s >= 0 && p.startup_least_s <= seen_s);
}
END_TEST

/* ---- hashes ---- */

#define PIECE (512 * 1024)

static void add_hash(char *text, size_t *len, size_t room, const void *data,
                     size_t n)
{
    char hex[XD_HASH_HEX_MAX + 1];
    struct xd_hasher *h;

    ck_assert_int_eq(xd_hasher_new(&h, "sha-256", &error), 0);
    xd_hasher_add(h, data, n);
    xd_hasher_end(h, hex);
    xd_hasher_free(h);
    *len += (size_t)snprintf(text + *len, room - *len, "<hash%s>%s</hash>",
                             n == SIZE ? " type=\"sha-256\"" : "", hex);
}

static void describe_pieces(const char *url)
{
    char text[2000];
    size_t len = (size_t)snprintf(
        text, sizeof text,
        "<size>%d</size><pieces length=\"%d\" type=\"sha-256\">", SIZE, PIECE);

    for (size_t at = 0; at < SIZE; at += PIECE)
        add_hash(text, &len, sizeof text, bytes + at,
                 SIZE - at < PIECE ? SIZE - at : PIECE);
    snprintf(text + len, sizeof text - len, "</pieces>");
    describe_with(text, url, NULL);
}

static void read_pieces(void)
{
    open_source();
    ck_assert_int_eq(xd_reader_seek(reader, 2500000), 2500000);
    expect_read(reader, 300000);
    ck_assert_int_eq(xd_reader_seek(reader, 700000), 700000);
    expect_read(reader, 100);
    ck_assert_int_eq(xd_reader_seek(reader, 0), 0);
    expect_read(reader, SIZE);
    expect_end(reader);
}

START_TEST(windows_shorter_than_a_piece_have_all_of_it)
{
    set("lookahead", "64k");
    describe_pieces("");
    read_pieces();
}
END_TEST

START_TEST(in_memory_pieces_are_checked_too)
{
    set("spool", "none");
    set("lookahead", "256k"); /* less than two pieces */
    describe_pieces("");
    read_pieces();
}
END_TEST

START_TEST(bytes_that_do_not_match_their_piece_are_not_read)
{
    describe_pieces("");
    bytes[PIECE + 7] ^= 1;
    write_file(copy_path, bytes, SIZE);
    bytes[PIECE + 7] ^= 1;
    open_source();
    ck_assert_int_eq(xd_reader_seek(reader, PIECE), PIECE);
    expect_code(reader, 20000, XD_E_CORRUPT);
}
END_TEST

static const struct mock_step begins[] = {
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 3158073\r\n\r\n"),
    BODY(0, PIECE + 100000), HOLD, END};

static uint64_t bytes_kept(void)
{
    struct xd_engine *e = (struct xd_engine *)source;
    uint64_t kept;

    xd_engine_lock(e);
    kept = xd_ledger_bytes(&e->ledger, XD_BYTES_STORED);
    xd_engine_unlock(e);
    return kept;
}

START_TEST(a_part_of_a_piece_is_not_there_for_readers)
{
    struct mock_server *m = mock_start(begins);

    describe_pieces(mock_url(m));
    open_source();
    expect_read(reader, PIECE);
    for (int i = 0; i < 2000 && bytes_kept() < PIECE + 100000; i++)
        suite_rest_ms(5);
    ck_assert_uint_eq(bytes_kept(), PIECE + 100000);
    ck_assert_uint_eq(bytes_here(), PIECE);
    expect_code(reader, 0, XD_E_AGAIN);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}
END_TEST

START_TEST(a_wrong_hash_of_the_whole_is_told_instead_of_the_end)
{
    char text[300];
    size_t len = (size_t)snprintf(text, sizeof text, "<size>%d</size>", SIZE);

    bytes[5] ^= 1;
    add_hash(text, &len, sizeof text, bytes, SIZE);
    bytes[5] ^= 1;
    describe_with(text, "", NULL);
    open_source();
    expect_read(reader, SIZE);
    expect_code(reader, 20000, XD_E_CORRUPT);
    ck_assert_int_eq(xd_reader_seek(reader, 100), 100);
    expect_read(reader, 100);
}
END_TEST

/* ---- without ranges ---- */

static const struct mock_step whole[] = {
    SAY("HTTP/1.1 200 OK\r\nConnection: close\r\n"
        "Content-Length: 3158073\r\n\r\n"),
    BODY(0, SIZE), CLOSE, END};

static void read_without_ranges(void)
{
    struct mock_server *m = mock_start(whole);

    ck_assert_int_eq(SIZE, 3158073);
    set("lookahead", "256k");
    describe(mock_url(m), NULL);
    open_source();
    expect_read(reader, 2000000);
    ck_assert_int_eq(xd_reader_seek(reader, 100000), 100000);
    expect_read(reader, SIZE - 100000);
    expect_end(reader);
    ck_assert_int_eq(xd_reader_seek(reader, 1000000), 1000000);
    expect_read(reader, 500000);
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}

START_TEST(a_depot_without_ranges_is_held_back_and_read)
{
    read_without_ranges();
}
END_TEST

START_TEST(in_memory_a_depot_without_ranges_is_asked_again_for_what_was_left)
{
    set("spool", "none");
    read_without_ranges();
}
END_TEST

/* ---- of unknown size ---- */

static const struct mock_step endless[] = {
    SAY("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), BODY(0, SIZE), CLOSE,
    END};

static void read_of_unknown_size(void)
{
    struct mock_server *m = mock_start(endless);

    describe_with("", mock_url(m), NULL);
    open_source();
    expect_read(reader, 1000000);
    expect_read(reader, SIZE - 1000000);
    expect_end(reader);
    ck_assert_int_eq(xd_reader_size(reader, 0), SIZE);
    if (bytes_here() == SIZE) {
        ck_assert_int_eq(xd_reader_seek(reader, 10), 10);
        expect_read(reader, SIZE - 10);
    } else {
        ck_assert_int_eq(xd_reader_seek(reader, 500000), 500000);
        expect_code(reader, 20000, XD_E_NOREPLICA);
    }
    free_source_and_readers(source);
    source = NULL;
    mock_stop(m);
}

START_TEST(a_file_of_unknown_size_is_read_as_it_comes)
{
    set("lookahead", "256k");
    read_of_unknown_size();
}
END_TEST

START_TEST(in_memory_a_file_of_unknown_size_is_read_once)
{
    set("lookahead", "256k");
    set("spool", "none");
    read_of_unknown_size();
}
END_TEST

/* ---- in memory ---- */

static void open_in_memory(void)
{
    set("spool", "none");
    set("lookahead", "256k");
    open_local();
}

/* Beside the lookahead: the head, the tail, a probe's length for each reader,
 * where it was before, what was under way, and the edges of chunks. */
#define MEMORY_MOST (3 * 1024 * 1024 - 512 * 1024)

static void read_all_in_little_room(void)
{
    for (size_t done = 0; done + 10000 <= SIZE; done += 10000) {
        expect_read(reader, 10000);
        ck_assert_uint_le(bytes_here(), MEMORY_MOST);
    }
}

/* The lookahead becomes a quarter of the room. */
START_TEST(in_a_spool_that_is_too_small_only_windows_are_held)
{
    free_bytes = SIZE - 1;
    open_local();
    read_all_in_little_room();
    ck_assert_int_eq(xd_reader_seek(reader, 0), 0);
    expect_read(reader, 10000);
}
END_TEST

START_TEST(a_spool_that_is_large_enough_holds_the_whole_file)
{
    free_bytes = SIZE;
    open_local();
    expect_read(reader, SIZE);
    ck_assert_uint_eq(bytes_here(), SIZE);
}
END_TEST

START_TEST(in_memory_a_reader_gets_every_byte_and_little_is_held)
{
    open_in_memory();
    read_all_in_little_room();
    expect_read(reader, SIZE % 10000);
    expect_end(reader);
}
END_TEST

START_TEST(in_memory_what_was_left_behind_is_fetched_again)
{
    open_in_memory();
    expect_read(reader, SIZE);
    expect_end(reader);
    ck_assert_int_eq(xd_reader_seek(reader, 1000000), 1000000);
    expect_read(reader, 1000000);
    ck_assert_int_eq(xd_reader_seek(reader, 300000), 300000);
    expect_read(reader, 1000000);
    ck_assert_uint_le(bytes_here(), MEMORY_MOST);
}
END_TEST

START_TEST(in_memory_seeks_in_any_order_find_the_true_bytes)
{
    unsigned seed = 11;

    open_in_memory();
    for (int i = 0; i < 300; i++) {
        uint64_t to, len;

        seed = seed * 1103515245U + 12345U;
        to = seed / 7 % (SIZE + 1);
        ck_assert_int_eq(xd_reader_seek(reader, to), (int64_t)to);
        seed = seed * 1103515245U + 12345U;
        len = seed / 7 % 300000;
        if (len > SIZE - to)
            len = SIZE - to;
        expect_read(reader, len);
        ck_assert_uint_le(bytes_here(), MEMORY_MOST);
    }
}
END_TEST

START_TEST(in_memory_many_readers_share_the_lookahead)
{
    struct xd_reader *r[4];

    open_in_memory();
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(xd_reader_new(&r[i], source, &error), 0);
        ck_assert_int_ge(xd_reader_seek(r[i], (uint64_t)i * 700000), 0);
    }
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 4; i++)
            expect_read(r[i], 10000);
        ck_assert_uint_le(bytes_here(), MEMORY_MOST + 4 * 512 * 1024);
    }
}
END_TEST

START_TEST(in_memory_who_does_not_read_any_more_leaves_its_room)
{
    struct xd_reader *other;
    struct xd_engine *e;
    uint64_t half;

    open_in_memory();
    e = (struct xd_engine *)source;
    ck_assert_int_eq(xd_reader_new(&other, source, &error), 0);
    ck_assert_int_eq(xd_reader_seek(other, 2000000), 2000000);
    expect_read(other, 300000);
    expect_read(reader, 300000);
    half = reader->ahead;
    ck_assert_uint_eq(other->ahead, half);
    xd_engine_lock(e);
    other->read_at -= 60 * XD_SECOND;
    xd_engine_unlock(e);
    expect_read(reader, 300000);
    ck_assert_uint_eq(reader->ahead, 2 * half);
    ck_assert_uint_eq(other->ahead, 0);
    expect_read(other, 300000);
    ck_assert_uint_eq(other->ahead, half);
}
END_TEST

START_TEST(in_memory_readers_on_threads_of_their_own_get_the_true_bytes)
{
    struct xd_reader *r[4];
    pthread_t threads[4];

    open_in_memory();
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(xd_reader_new(&r[i], source, &error), 0);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_all, r[i]), 0);
        suite_rest_ms(2);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("source");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_reader_gets_every_byte_and_then_the_end);
    tcase_add_test(t, nothing_is_asked_for_before_the_first_read);
    tcase_add_test(t, seeks_in_any_order_find_the_true_bytes);
    tcase_add_test(t, a_seek_to_the_size_is_the_end_and_beyond_is_refused);
    tcase_add_test(t,
                   behind_an_end_that_was_not_known_lies_an_error_and_no_end);
    tcase_add_test(t, a_size_that_nobody_says_comes_from_a_depot);
    tcase_add_test(
        t, an_interrupt_ends_a_wait_for_a_silent_depot_and_is_taken_back);
    tcase_add_test(t, an_interrupt_ends_a_wait_for_a_mute_name_server);
    tcase_add_test(t, a_silent_depot_beside_a_good_one_does_not_keep_a_reader);
    tcase_add_test(t, bytes_that_nobody_has_are_an_error_where_they_are_read);
    tcase_add_test(t, many_readers_each_get_the_true_bytes);
    tcase_add_test(t, readers_on_threads_of_their_own_share_what_arrives);
    tcase_add_test(t, what_is_kept_becomes_the_file_though_nobody_reads_on);
    tcase_add_test(t, without_keep_the_folder_stays_empty);
    tcase_add_test(t, a_spool_that_cannot_be_made_is_an_error_of_the_read);
    tcase_add_test(t, nothing_far_ahead_of_the_readers_is_fetched);
    tcase_add_test(t, what_is_buffered_counts_from_the_begin_of_the_range);
    tcase_add_test(t, a_reader_of_a_range_counts_from_its_begin);
    tcase_add_test(t, a_download_of_a_range_counts_its_bytes_alone);
    tcase_add_test(t, a_player_of_a_range_counts_from_its_begin);
    tcase_add_test(t, head_and_tail_are_fetched_for_who_reads_only);
    tcase_add_test(t, a_reader_that_has_not_read_has_nothing_fetched);
    tcase_add_test(t, a_range_is_a_file_of_its_own);
    tcase_add_test(t, keep_is_refused_for_a_download);
    tcase_add_test(t, a_player_that_waits_for_a_silent_depot_has_a_stall);
    tcase_add_test(t, a_request_in_flight_is_told_and_the_bytes_it_is_for);
    tcase_add_test(t, parts_are_the_file_and_tell_what_is_here);
    tcase_add_test(t,
                   the_least_start_is_when_the_bytes_came_though_nobody_looked);
    tcase_add_test(t, in_a_spool_that_is_too_small_only_windows_are_held);
    tcase_add_test(t, a_spool_that_is_large_enough_holds_the_whole_file);
    tcase_add_test(t, in_memory_a_reader_gets_every_byte_and_little_is_held);
    tcase_add_test(t, in_memory_what_was_left_behind_is_fetched_again);
    tcase_add_test(t, in_memory_who_does_not_read_any_more_leaves_its_room);
    tcase_add_test(t, in_memory_seeks_in_any_order_find_the_true_bytes);
    tcase_add_test(t, in_memory_many_readers_share_the_lookahead);
    tcase_add_test(
        t, in_memory_readers_on_threads_of_their_own_get_the_true_bytes);
    tcase_add_test(t, windows_shorter_than_a_piece_have_all_of_it);
    tcase_add_test(t, bytes_that_do_not_match_their_piece_are_not_read);
    tcase_add_test(t, a_part_of_a_piece_is_not_there_for_readers);
    tcase_add_test(t, in_memory_pieces_are_checked_too);
    tcase_add_test(t, a_wrong_hash_of_the_whole_is_told_instead_of_the_end);
    tcase_add_test(t, a_file_of_unknown_size_is_read_as_it_comes);
    tcase_add_test(t, in_memory_a_file_of_unknown_size_is_read_once);
    tcase_add_test(t, a_depot_without_ranges_is_held_back_and_read);
    tcase_add_test(
        t, in_memory_a_depot_without_ranges_is_asked_again_for_what_was_left);
    return run_suite("engine.source", t);
}

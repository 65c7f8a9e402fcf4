/*
 * A file that is read while it arrives, as a program that links the library
 * sees it.
 */
#include <xdownload/stream.h>

#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/mock_server.h"
#include "os/clock.h"
#include "suite.h"

#define SIZE (3 * 1024 * 1024 + 12345)

static char folder[] = "/tmp/xd-test-XXXXXX";
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

static void rest_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
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
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(copy_path, sizeof copy_path, "%s/copy", folder);
    snprintf(keep_path, sizeof keep_path, "%s/keep", folder);
    bytes = malloc(SIZE);
    ck_assert_ptr_nonnull(bytes);
    for (uint64_t i = 0; i < SIZE; i++)
        bytes[i] = mock_byte(i);
    write_file(copy_path, bytes, SIZE);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("spool", folder);
    set("silence", "10s");
}

static void teardown(void)
{
    char command[100];

    xd_source_free(source);
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
    rest_ms(50);
    ck_assert_uint_eq(mock_connections(m), 0);
    expect_code(reader, 0, XD_E_AGAIN);
    for (int i = 0; i < 2000 && mock_requests(m) == 0; i++)
        rest_ms(5);
    ck_assert_uint_gt(mock_requests(m), 0);
    xd_source_free(source);
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

START_TEST(a_size_that_nobody_says_comes_from_a_depot)
{
    describe_with("", "", NULL);
    open_source();
    ck_assert_int_eq(xd_reader_size(reader, 0), XD_E_AGAIN);
    ck_assert_int_eq(xd_reader_size(reader, 20000), SIZE);
    expect_read(reader, 1000);
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
    tcase_add_test(t, a_size_that_nobody_says_comes_from_a_depot);
    return run_suite("engine.source", t);
}

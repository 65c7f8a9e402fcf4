/* SPDX-License-Identifier: MIT */
/*
 * Replicas that are added to a download: at every moment of its life, on new
 * depots and on those that there are, right and wrong ones.
 */
#include <xdownload/xdownload.h>

#include <string.h>
#include <time.h>

#include "io/hash.h"
#include "io/mock_server.h"
#include "suite.h"

#define SIZE 100
#define LARGE 4194304
#define BLOCK 4096
#define PIECES (2 * BLOCK)

#define PART(range, length)                  \
    SAY("HTTP/1.1 206 Partial Content\r\n"   \
        "Content-Range: bytes " range "\r\n" \
        "Content-Length: " length "\r\n\r\n")
#define ALL PART("0-99/100", "100"), BODY(0, SIZE)
#define GONE SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
#define BUSY SAY("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")

static const struct mock_step good[] = {ALL, END};
static const struct mock_step slow[] = {SLEEP(600), ALL, END};
static const struct mock_step silent[] = {HOLD, END};
static const struct mock_step gone[] = {GONE, END};
static const struct mock_step busy[] = {BUSY, END};
static const struct mock_step gone_then_good[] = {GONE, NEXT, ALL, END};
static const struct mock_step half[] = {PART("0-99/100", "100"), BODY(0, 50),
                                        HOLD, END};
static const struct mock_step second_half[] = {PART("0-49/50", "50"),
                                               BODY(50, 50), END};
static const struct mock_step first_byte[] = {PART("0-0/100", "1"), BODY(0, 1),
                                              NEXT, ALL, END};
static const struct mock_step other_size[] = {PART("0-98/99", "99"),
                                              BODY(0, 99), END};

#define MOST_SERVERS 3

static char folder[SUITE_FOLDER];
static char path[64];
static struct mock_server *servers[MOST_SERVERS];
static unsigned n_servers;
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_download *download;
static struct xd_source *source;
static struct xd_reader *reader;
static struct xd_error error;

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, name, value, &error), 0);
}

static void setup(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("spool", folder);
    set("algorithm", "basic");
    set("silence", "1s");
}

static void teardown(void)
{
    char command[100];

    xd_reader_free(reader);
    xd_source_unref(source);
    xd_download_unref(download);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    for (unsigned i = 0; i < n_servers; i++)
        mock_stop(servers[i]);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *serve(const struct mock_step *script)
{
    servers[n_servers] = mock_start(script);
    return mock_url(servers[n_servers++]);
}

static void make(const struct mock_step *script, uint64_t size)
{
    const char *url = serve(script);

    ck_assert_int_eq(xd_manifest_from_urls(&manifest, &url, 1, size, &error),
                     0);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
}

static void start(const struct mock_step *script, uint64_t size)
{
    make(script, size);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
}

static int add_part(const char *url, uint64_t begin, uint64_t length)
{
    struct xd_replica replica = {.struct_size = sizeof replica, .url = url};
    struct xd_extent extent = {
        .struct_size = sizeof extent, .offset = begin, .length = length};

    return xd_download_add_replica(download, &replica, &extent, &error);
}

static int add(const char *url)
{
    struct xd_replica replica = {.struct_size = sizeof replica, .url = url};

    return xd_download_add_replica(download, &replica, NULL, &error);
}

static void add_well(const char *url)
{
    ck_assert_msg(add(url) == 0, "%s", error.msg);
}

static void ends_well(void)
{
    ck_assert_msg(xd_download_wait(download, 8000, &error) == 0, "%s",
                  error.msg);
}

static struct xd_depot_stats depot(size_t i)
{
    struct xd_depot_stats stats = {.struct_size = sizeof stats};

    ck_assert_int_eq(xd_download_depot(download, i, &stats), 0);
    return stats;
}

static unsigned n_depots(void)
{
    struct xd_depot_stats stats = {.struct_size = sizeof stats};
    unsigned n = 0;

    while (xd_download_depot(download, n, &stats) == 0)
        n++;
    return n;
}

static void wait_for_requests(unsigned server, unsigned n)
{
    for (int i = 0; i < 500 && mock_requests(servers[server]) < n; i++)
        suite_rest_ms(10);
    ck_assert_uint_ge(mock_requests(servers[server]), n);
}

static void file_is_whole(uint64_t size)
{
    FILE *file = fopen(path, "rb");

    ck_assert_ptr_nonnull(file);
    for (uint64_t i = 0; i < size; i++)
        ck_assert_int_eq(fgetc(file), mock_byte(i));
    ck_assert_int_eq(fgetc(file), EOF);
    fclose(file);
}

/* ---- when ---- */

START_TEST(one_that_joins_brings_what_a_silent_one_does_not)
{
    static const char *const algorithms[] = {"adaptive", "basic", "aggressive",
                                             "progress"};

    set("algorithm", algorithms[_i]);
    start(silent, SIZE);
    wait_for_requests(0, 1);
    add_well(serve(good));
    ck_assert_uint_eq(n_depots(), 2);
    ends_well();
    file_is_whole(SIZE);
    ck_assert_uint_eq(depot(1).bytes, SIZE);
    ck_assert_uint_eq(depot(1).bytes_held, SIZE);
    ck_assert_ptr_nonnull(strstr(mock_url(servers[1]), depot(1).host));
}
END_TEST

START_TEST(it_may_be_added_before_the_start)
{
    make(silent, SIZE);
    add_well(serve(good));
    ck_assert_uint_eq(mock_connections(servers[1]), 0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ends_well();
    file_is_whole(SIZE);
}
END_TEST

START_TEST(one_that_joins_a_pause_is_asked_after_it)
{
    start(silent, SIZE);
    wait_for_requests(0, 1);
    xd_download_pause(download, true);
    add_well(serve(good));
    suite_rest_ms(200);
    ck_assert_uint_eq(mock_connections(servers[1]), 0);
    xd_download_pause(download, false);
    ends_well();
    file_is_whole(SIZE);
}
END_TEST

START_TEST(one_that_joins_the_probe_says_the_size)
{
    set("silence", "20s");
    set("algorithm", "adaptive");
    start(silent, XD_SIZE_UNKNOWN);
    wait_for_requests(0, 1);
    add_well(serve(first_byte));
    ends_well();
    file_is_whole(SIZE);
}
END_TEST

START_TEST(while_the_size_is_unknown_only_whole_copies_join)
{
    struct xd_replica replica = {.struct_size = sizeof replica,
                                 .url = "http://a.example/f",
                                 .offset = 1};

    make(silent, XD_SIZE_UNKNOWN);
    ck_assert_int_eq(add_part("http://a.example/f", 0, 10), XD_E_INVAL);
    ck_assert_int_eq(xd_download_add_replica(download, &replica, NULL, &error),
                     XD_E_INVAL);
    ck_assert_uint_eq(n_depots(), 1);
}
END_TEST

/* Its patience with the only depot is not at its end. */
START_TEST(one_that_joins_when_all_others_fail_is_used_at_once)
{
    set("patience", "60s");
    set("retry", "1");
    start(busy, SIZE);
    wait_for_requests(0, 2);
    add_well(serve(good));
    ends_well();
    ck_assert_uint_eq(depot(0).bytes, 0);
    ck_assert_int_eq(depot(0).last_error.http_status, 503);
}
END_TEST

START_TEST(nothing_joins_after_the_end)
{
    start(_i == 0 ? good : gone, SIZE);
    ck_assert_int_eq(xd_download_wait(download, 5000, &error),
                     _i == 0 ? 0 : XD_E_NOREPLICA);
    ck_assert_int_eq(add(serve(good)), XD_E_STATE);
    ck_assert_str_eq(error.msg, "the download has ended");
    ck_assert_uint_eq(n_depots(), 1);
}
END_TEST

START_TEST(many_join_and_few_are_open_at_once)
{
    char url[60];

    set("max-depots", "2");
    start(slow, SIZE);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(url, sizeof url, "http://127.0.0.1:%u/f", 1 + i);
        add_well(url);
    }
    ck_assert_uint_eq(n_depots(), 101);
    ends_well();
    file_is_whole(SIZE);
}
END_TEST

/* ---- where ---- */

START_TEST(the_same_url_joins_once)
{
    make(silent, SIZE);
    add_well(mock_url(servers[0]));
    add_well("http://a.example/f");
    add_well("http://a.example/f");
    ck_assert_uint_eq(n_depots(), 2);
}
END_TEST

START_TEST(a_depot_that_was_given_up_is_asked_under_another_url)
{
    char url[80];

    set("algorithm", "adaptive");
    make(gone_then_good, SIZE);
    add_well(serve(silent)); /* so that it does not fail */
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    wait_for_requests(0, 1);
    suite_rest_ms(200);
    ck_assert_int_eq(depot(0).state, XD_DEPOT_FAILED);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/other",
             mock_port(servers[0]));
    add_well(url);
    ck_assert_uint_eq(n_depots(), 2);
    ck_assert_int_ne(depot(0).state, XD_DEPOT_FAILED);
    ends_well();
    ck_assert_uint_eq(depot(0).bytes, SIZE);
    ck_assert_ptr_nonnull(strstr(mock_request(servers[0], 1), "GET /other "));
}
END_TEST

START_TEST(a_part_is_asked_where_it_lies_in_its_object)
{
    set("silence", "20s");
    set("algorithm", "adaptive");
    start(half, SIZE);
    wait_for_requests(0, 1);
    ck_assert_int_eq(add_part(serve(second_half), 50, 50), 0);
    ends_well();
    file_is_whole(SIZE);
    ck_assert_uint_eq(depot(1).bytes_held, 50);
    ck_assert_ptr_nonnull(strstr(mock_request(servers[1], 0), "bytes=0-49"));
}
END_TEST

/* One depot, two objects that share no byte: no request goes over both. */
START_TEST(parts_on_one_depot_are_asked_for_apart)
{
    static const struct mock_step halves[] = {
        PART("0-49/50", "50"), BODY(0, 50),  NEXT,
        PART("0-49/50", "50"), BODY(50, 50), END};
    const char *urls[] = {serve(silent)};
    char url[2][80];

    set("threads-per-depot", "1");
    ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 1, SIZE, &error),
                     0);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    serve(halves);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(url[i], sizeof url[i], "http://127.0.0.1:%u/%u",
                 mock_port(servers[1]), i);
        ck_assert_int_eq(add_part(url[i], i * 50, 50), 0);
    }
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ends_well();
    file_is_whole(SIZE);
    ck_assert_uint_eq(depot(1).bytes, SIZE);
}
END_TEST

START_TEST(what_cannot_be_used_is_refused)
{
    static const struct {
        const char *url, *says;
    } cases[] = {{NULL, "no URL"},
                 {"", "is not a URL"},
                 {"mirror.example/f", "is not a URL"},
                 {"gopher://a.example/f", "scheme"},
                 {"file:///etc/passwd", "allow-file"},
                 {"http://user:secret@x.example/f?token=secret", "excluded"}};

    set("exclude", "x.example");
    make(silent, SIZE);
    ck_assert_int_eq(add(cases[_i].url), XD_E_INVAL);
    ck_assert_msg(strstr(error.msg, cases[_i].says) != NULL, "%s", error.msg);
    ck_assert_ptr_null(strstr(error.msg, "secret"));
    ck_assert_uint_eq(n_depots(), 1);
}
END_TEST

START_TEST(a_file_of_this_machine_joins_before_the_start_alone)
{
    set("allow-file", "yes");
    start(silent, SIZE);
    ck_assert_int_eq(add("file:///etc/passwd"), XD_E_INVAL);
    xd_download_unref(download);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    add_well("file:///etc/passwd");
}
END_TEST

START_TEST(bytes_that_are_not_there_are_refused)
{
    static const struct {
        uint64_t begin, length, offset, object_size;
    } cases[] = {{0, 0, 0, 0},     {0, SIZE + 1, 0, 0},     {SIZE, 1, 0, 0},
                 {50, 60, 0, 0},   {1, UINT64_MAX, 0, 0},   {0, 50, 0, 49},
                 {0, 50, 51, 100}, {0, 50, UINT64_MAX, 100}};
    struct xd_replica replica = {.struct_size = sizeof replica,
                                 .url = "http://a.example/f",
                                 .offset = cases[_i].offset,
                                 .object_size = cases[_i].object_size};
    struct xd_extent extent = {.struct_size = sizeof extent,
                               .offset = cases[_i].begin,
                               .length = cases[_i].length};

    make(silent, SIZE);
    ck_assert_int_eq(
        xd_download_add_replica(download, &replica, &extent, &error),
        XD_E_INVAL);
    ck_assert_uint_eq(n_depots(), 1);
}
END_TEST

/* A program that was compiled when the structs ended sooner. */
START_TEST(fields_that_the_caller_does_not_know_are_not_read)
{
    struct xd_replica replica = {
        .url = "http://a.example/f", .object_size = 1, .max_connections = 1};

    replica.struct_size = offsetof(struct xd_replica, object_size);
    make(silent, SIZE);
    ck_assert_msg(xd_download_add_replica(download, &replica, NULL, &error) ==
                      0,
                  "%s", error.msg);
}
END_TEST

/* ---- whom to believe ---- */

START_TEST(one_that_joins_with_another_size_is_left_out)
{
    start(slow, SIZE);
    add_well(serve(other_size));
    ends_well();
    file_is_whole(SIZE);
    ck_assert_uint_eq(depot(1).bytes, 0);
}
END_TEST

static void hash_of(uint64_t begin, uint64_t end, char hex[XD_HASH_HEX_MAX + 1])
{
    struct xd_hasher *hasher;

    ck_assert_int_eq(xd_hasher_new(&hasher, "sha-256", &error), 0);
    for (uint64_t i = begin; i < end; i++) {
        unsigned char byte = mock_byte(i);

        xd_hasher_add(hasher, &byte, 1);
    }
    xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
}

#define BLOCK_OF(range) PART(range "/8192", "4096")

/* Two pieces, of which the first depot is slow to bring the second. */
START_TEST(a_liar_that_joins_is_named_and_may_not_come_back)
{
    static const struct mock_step honest[] = {
        SLEEP(700), BLOCK_OF("0-4095"),    BODY(0, BLOCK),
        NEXT,       BLOCK_OF("4096-8191"), BODY(BLOCK, BLOCK),
        END};
    static const struct mock_step liar[] = {BLOCK_OF("4096-8191"),
                                            BODY(BLOCK + 1, BLOCK), END};
    char text[1000], hex[2][XD_HASH_HEX_MAX + 1];
    int n;

    hash_of(0, BLOCK, hex[0]);
    hash_of(BLOCK, PIECES, hex[1]);
    set("block-size", "4k");
    set("threads-per-depot", "1");
    n = snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                 "<file name=\"f\"><size>%d</size>"
                 "<pieces type=\"sha-256\" length=\"%d\"><hash>%s</hash>"
                 "<hash>%s</hash></pieces><url>%s</url></file></metalink>",
                 PIECES, BLOCK, hex[0], hex[1], serve(honest));
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error), 0);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    wait_for_requests(0, 1);
    add_well(serve(liar));
    for (int i = 0; i < 500 && depot(1).state != XD_DEPOT_FAILED; i++)
        suite_rest_ms(1);
    ck_assert_int_eq(depot(1).last_error.code, XD_E_CORRUPT);
    ck_assert_int_eq(add(mock_url(servers[1])), XD_E_CORRUPT);
    ends_well();
    file_is_whole(PIECES);
}
END_TEST

/* ---- readers ---- */

START_TEST(a_reader_at_a_gap_goes_on_when_somebody_joins)
{
    const char *url = serve(gone);
    char bytes[SIZE];

    ck_assert_int_eq(xd_manifest_from_urls(&manifest, &url, 1, SIZE, &error),
                     0);
    ck_assert_int_eq(xd_source_new(&source, manifest, 0, options, &error), 0);
    ck_assert_int_eq(xd_reader_new(&reader, source, &error), 0);
    download = xd_download_ref(xd_source_download(source));
    ck_assert_int_eq(xd_reader_read(reader, bytes, SIZE, 5000), XD_E_NOREPLICA);
    if (add(serve(good)) == XD_E_STATE) /* it ends with nothing but gaps */
        return;
    ck_assert_int_eq(xd_reader_read(reader, bytes, SIZE, 5000), SIZE);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("add_replica");

    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, one_that_joins_brings_what_a_silent_one_does_not, 0,
                        4);
    tcase_add_test(t, it_may_be_added_before_the_start);
    tcase_add_test(t, one_that_joins_a_pause_is_asked_after_it);
    tcase_add_test(t, one_that_joins_the_probe_says_the_size);
    tcase_add_test(t, while_the_size_is_unknown_only_whole_copies_join);
    tcase_add_test(t, one_that_joins_when_all_others_fail_is_used_at_once);
    tcase_add_loop_test(t, nothing_joins_after_the_end, 0, 2);
    tcase_add_test(t, many_join_and_few_are_open_at_once);
    tcase_add_test(t, the_same_url_joins_once);
    tcase_add_test(t, a_depot_that_was_given_up_is_asked_under_another_url);
    tcase_add_test(t, a_part_is_asked_where_it_lies_in_its_object);
    tcase_add_test(t, parts_on_one_depot_are_asked_for_apart);
    tcase_add_loop_test(t, what_cannot_be_used_is_refused, 0, 6);
    tcase_add_test(t, a_file_of_this_machine_joins_before_the_start_alone);
    tcase_add_loop_test(t, bytes_that_are_not_there_are_refused, 0, 8);
    tcase_add_test(t, fields_that_the_caller_does_not_know_are_not_read);
    tcase_add_test(t, one_that_joins_with_another_size_is_left_out);
    tcase_add_test(t, a_liar_that_joins_is_named_and_may_not_come_back);
    tcase_add_test(t, a_reader_at_a_gap_goes_on_when_somebody_joins);
    return run_suite("engine.add_replica", t);
}

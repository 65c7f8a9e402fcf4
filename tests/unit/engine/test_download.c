/* SPDX-License-Identifier: MIT */
/*
 * The life of a download, as a program that links the library sees it.  Whole
 * files from many depots are the integration tests' business.
 */
/* Hardened headers define pread() inline, which is replaced below. */
#undef _FORTIFY_SOURCE

#include <xdownload/download.h>

#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "command/downloads.h"
#include "command/records.h"
#include "io/mock_server.h"
#include "os/clock.h"
#include "suite.h"

#define SIZE 100
#define OK_HEAD                         \
    "HTTP/1.1 206 Partial Content\r\n"  \
    "Content-Range: bytes 0-99/100\r\n" \
    "Content-Length: 100\r\n\r\n"

static const struct mock_step good[] = {SAY(OK_HEAD), BODY(0, SIZE), END};
static const struct mock_step silent[] = {HOLD, END};
static const struct mock_step half_then_silent[] = {SAY(OK_HEAD), BODY(0, 50),
                                                    HOLD, END};
static const struct mock_step other_size[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-99/200\r\nContent-Length: 100\r\n\r\n"),
    BODY(0, SIZE), END};

static const struct mock_step refuses[] = {
    SAY("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"), END};
static const struct mock_step none[] = {
    SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), END};
static const struct mock_step other_half[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 50-99/100\r\nContent-Length: 50\r\n\r\n"),
    BODY(50, 50), END};
static const struct mock_step half[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-49/50\r\nContent-Length: 50\r\n\r\n"),
    BODY(0, 50), END};

#define NUMBER(name, value) \
    "<e:metadata name=\"" name "\" type=\"integer\">" value "</e:metadata>"
#define MAPPED "<exnode xmlns:e=\"http://loci.cs.utk.edu/exnode\">"
#define MAPPING                                                            \
    "<e:mapping>" NUMBER("exnode_offset", "0") NUMBER("alloc_offset", "0") \
        NUMBER("logical_length", "%d") "<e:read>%s</e:read></e:mapping>"

static char folder[SUITE_FOLDER];
static char path[64], part[80];
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_download *download;
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

/* How many bytes were read back of a file of SIZE. */
static atomic_size_t read_back;

ssize_t pread(int fd, void *data, size_t len, off_t offset)
{
    ssize_t n = lseek(fd, offset, SEEK_SET) < 0 ? -1 : read(fd, data, len);
    struct stat st;

    if (n > 0 && fstat(fd, &st) == 0 && st.st_size == SIZE)
        read_back += (size_t)n;
    return n;
}

static void setup(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.part", path);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
}

static void teardown(void)
{
    xd_download_unref(download);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    unlink(path);
    unlink(part);
    rmdir(folder);
}

/* A file of SIZE bytes, of which each URL is a copy. */
static void describe(const char *first_url, const char *second_url)
{
    char text[1000];
    int n;

    n = snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                 "<file name=\"f\"><size>%d</size>"
                 "<url priority=\"1\">%s</url>",
                 SIZE, first_url);
    if (second_url)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "<url priority=\"2\">%s</url>", second_url);
    n += snprintf(text + n, sizeof text - (size_t)n, "</file></metalink>");
    ck_assert_msg(xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error) ==
                      0,
                  "%s", error.msg);
}

static void prepare(void)
{
    int rc =
        xd_download_new(&download, manifest, 0, NULL, path, options, &error);

    ck_assert_msg(rc == 0, "%s", error.msg);
}

static void start(void)
{
    prepare();
    ck_assert_msg(xd_download_start(download, &error) == 0, "%s", error.msg);
}

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, name, value, &error), 0);
}

/* What lies at `path`, to the byte. */
static void assert_file_is_right(void)
{
    unsigned char bytes[SIZE + 1];
    int fd = open(path, O_RDONLY);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(read(fd, bytes, sizeof bytes), SIZE);
    close(fd);
    for (unsigned i = 0; i < SIZE; i++)
        ck_assert_uint_eq(bytes[i], mock_byte(i));
}

static void put_file(const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* Keeps the first line that is said. */
static void keep_line(void *user, enum xd_log_level level, const char *line)
{
    char *said = user;

    if (said[0] == '\0' && level <= XD_LOG_WARN)
        snprintf(said, 500, "%s", line);
}

/* Until something is in flight. */
static void wait_for_a_request(struct mock_server *server)
{
    while (mock_requests(server) == 0)
        ck_assert_int_eq(xd_download_wait(download, 1, &error), XD_E_AGAIN);
}

START_TEST(a_file_comes_home_and_gets_its_name)
{
    struct mock_server *server = mock_start(good);

    describe(mock_url(server), NULL);
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, 0, &error), 0);
    assert_file_is_right();
    ck_assert_int_eq(access(part, F_OK), -1);
    mock_stop(server);
}
END_TEST

/* Of the bytes that the mock sends. */
#define SHA_256                        \
    "537cf60b8442701a8dfb64c43bb16826" \
    "442a7d4ada97cecf2c6fc9b8c9423770"

START_TEST(a_file_is_read_back_once_for_the_hash_of_the_whole)
{
    struct mock_server *server = mock_start(good);
    char text[500];
    int n;

    n = snprintf(
        text, sizeof text,
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\"><size>%d</size><hash type=\"sha-256\">" SHA_256
        "</hash><url>%s</url></file></metalink>",
        SIZE, mock_url(server));
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error), 0);
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    ck_assert_uint_eq(read_back, SIZE);
    assert_file_is_right();
    mock_stop(server);
}
END_TEST

START_TEST(waiting_before_the_start_is_an_error)
{
    describe("http://127.0.0.1:1/x", NULL);
    prepare();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_STATE);
}
END_TEST

START_TEST(a_second_start_is_an_error)
{
    struct mock_server *server = mock_start(silent);

    describe(mock_url(server), NULL);
    start();
    ck_assert_int_eq(xd_download_start(download, &error), XD_E_STATE);
    ck_assert_int_eq(xd_download_wait(download, 0, &error), XD_E_AGAIN);
    mock_stop(server);
}
END_TEST

START_TEST(making_a_download_touches_neither_disk_nor_network)
{
    struct mock_server *server = mock_start(good);

    describe(mock_url(server), NULL);
    prepare();
    ck_assert_uint_eq(mock_connections(server), 0);
    ck_assert_int_eq(access(part, F_OK), -1);
    mock_stop(server);
}
END_TEST

START_TEST(cancel_ends_a_wait_though_the_depot_is_silent)
{
    struct mock_server *server = mock_start(half_then_silent);

    describe(mock_url(server), NULL);
    start();
    wait_for_a_request(server);
    xd_download_cancel(download);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_CANCELED);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_CANCELED);
    ck_assert_int_eq(access(path, F_OK), -1);
    mock_stop(server);
}
END_TEST

/* Not a bound on time but on waiting for the silent: 30 s would be theirs. */
static void assert_free_does_not_wait(void)
{
    xd_usec before = xd_now();

    xd_download_unref(download);
    download = NULL;
    ck_assert_uint_lt(xd_now() - before, 15 * XD_SECOND);
}

START_TEST(free_does_not_wait_for_a_depot_that_never_answers)
{
    struct mock_server *server = mock_start(silent);

    set("silence", "1h");
    describe(mock_url(server), NULL);
    start();
    wait_for_a_request(server);
    assert_free_does_not_wait();
    mock_stop(server);
}
END_TEST

START_TEST(free_does_not_wait_for_a_connect_that_never_completes)
{
    int hold[3];
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", mock_mute_port(hold));
    set("silence", "1h");
    describe(url, NULL);
    start();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_free_does_not_wait();
    for (int i = 0; i < 3; i++)
        close(hold[i]);
}
END_TEST

START_TEST(free_does_not_wait_for_a_name_server_that_never_answers)
{
    /* Older libcurls wait, as io/transport.h says. */
    if (curl_version_info(CURLVERSION_NOW)->version_num < 0x075700)
        return;
    describe("http://mute.example/x", NULL);
    start();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_free_does_not_wait();
}
END_TEST

/* Twice: one that was refused leaves the lock as it was. */
START_TEST(two_downloads_of_one_path_are_one_too_many)
{
    struct mock_server *server = mock_start(half_then_silent);
    struct xd_download *second;

    describe(mock_url(server), NULL);
    start();
    wait_for_a_request(server);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(
            xd_download_new(&second, manifest, 0, NULL, path, options, &error),
            0);
        ck_assert_int_eq(xd_download_start(second, &error), XD_E_IO);
        ck_assert_ptr_nonnull(strstr(error.msg, "another download"));
        xd_download_unref(second);
        ck_assert_int_eq(access(part, F_OK), 0);
    }
    ck_assert_int_eq(xd_download_wait(download, 0, &error), XD_E_AGAIN);
    mock_stop(server);
}
END_TEST

/* A path that a manifest could not have, and what a program may have mended. */
START_TEST(a_path_that_leads_elsewhere_is_refused)
{
    static const char *const bad[] = {"",     "/x",  "../x", "a/../x", "./x",
                                      "a//x", "a/.", "..",   "a/"};

    describe("http://127.0.0.1:1/x", NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(xd_download_new(&download, manifest, 0, folder, bad[i],
                                         options, &error),
                         XD_E_INVAL);
        ck_assert_ptr_null(download);
    }
    ck_assert_int_eq(xd_download_new(&download, manifest, 0, folder, "..a/.b",
                                     options, &error),
                     0);
}
END_TEST

START_TEST(the_manifests_path_is_made_within_a_folder)
{
    struct mock_server *server = mock_start(good);
    char made[80];

    describe(mock_url(server), NULL);
    ck_assert_int_eq(xd_download_new(&download, manifest, 0, folder, "p/q/f",
                                     options, &error),
                     0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    snprintf(made, sizeof made, "%s/p/q/f", folder);
    xd_download_unref(download);
    ck_assert_int_eq(unlink(made), 0);
    /* "f", as the manifest has it. */
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, folder, NULL, options, &error),
        0);
    for (char *end = made;
         (end = strrchr(made, '/')) > made + strlen(folder);) {
        *end = '\0';
        ck_assert_int_eq(rmdir(made), 0);
    }
    mock_stop(server);
}
END_TEST

START_TEST(a_download_of_which_nothing_came_leaves_nothing)
{
    char url[64], made[80];

    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", mock_dead_port());
    set("retry", "1");
    set("patience", "0s");
    describe(url, NULL);
    ck_assert_int_eq(xd_download_new(&download, manifest, 0, folder, "p/q/f",
                                     options, &error),
                     0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_NOREPLICA);
    snprintf(made, sizeof made, "%s/p/q/f.part", folder);
    ck_assert_int_eq(access(made, F_OK), -1);
    xd_download_unref(download);
    download = NULL;
    snprintf(made, sizeof made, "%s/p", folder);
    ck_assert_int_eq(access(made, F_OK), -1);
}
END_TEST

START_TEST(an_existing_file_is_kept_and_named)
{
    describe("http://127.0.0.1:1/x", NULL);
    put_file("precious");
    prepare();
    ck_assert_int_eq(xd_download_start(download, &error), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(error.msg, path));
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_IO);
    ck_assert_int_eq(access(part, F_OK), -1);
}
END_TEST

START_TEST(an_existing_file_is_replaced_by_force)
{
    struct mock_server *server = mock_start(good);

    describe(mock_url(server), NULL);
    put_file("worthless");
    set("force", "yes");
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    assert_file_is_right();
    mock_stop(server);
}
END_TEST

START_TEST(options_are_copied)
{
    struct mock_server *server = mock_start(good);

    describe(mock_url(server), NULL);
    put_file("worthless");
    set("force", "yes");
    prepare();
    set("force", "no");
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    mock_stop(server);
}
END_TEST

START_TEST(a_depot_with_another_file_is_dropped_by_name)
{
    struct mock_server *bad = mock_start(other_size);
    struct mock_server *server = mock_start(good);
    struct xd_depot_stats stats = {.struct_size = sizeof stats};

    set("algorithm", "basic"); /* nobody overtakes the first answer */
    describe(mock_url(bad), mock_url(server));
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    assert_file_is_right();
    ck_assert_int_eq(xd_download_depot(download, 0, &stats), 0);
    ck_assert_int_eq(stats.state, XD_DEPOT_FAILED);
    ck_assert_ptr_nonnull(strstr(stats.last_error.msg, "200"));
    ck_assert_ptr_nonnull(strstr(stats.last_error.msg, stats.host));
    ck_assert_uint_eq(stats.bytes, 0);
    mock_stop(server);
    mock_stop(bad);
}
END_TEST

/* No manifest says how long the object is, only which bytes it holds. */
START_TEST(a_copy_that_ends_too_early_is_not_taken_for_whole)
{
    struct mock_server *bad = mock_start(half);
    struct mock_server *server = mock_start(other_half);
    struct xd_depot_stats stats = {.struct_size = sizeof stats};
    char text[2000];
    int n = snprintf(text, sizeof text, MAPPED MAPPING MAPPING "</exnode>",
                     SIZE, mock_url(bad), SIZE, mock_url(server));

    set("algorithm", "basic");
    ck_assert_msg(xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error) ==
                      0,
                  "%s", error.msg);
    start();
    ck_assert_msg(xd_download_wait(download, -1, &error) == 0, "%s", error.msg);
    assert_file_is_right();
    ck_assert_int_eq(xd_download_depot(download, 0, &stats), 0);
    ck_assert_int_eq(stats.state, XD_DEPOT_FAILED);
    ck_assert_ptr_nonnull(strstr(stats.last_error.msg, "ends 50 bytes before"));
    mock_stop(server);
    mock_stop(bad);
}
END_TEST

/* Enough for a program to ask for a password, without reading English. */
START_TEST(a_refusal_tells_its_status_and_where_it_came_from)
{
    struct mock_server *server = mock_start(refuses);
    struct xd_depot_stats stats = {.struct_size = sizeof stats};
    char url[100], shown[100];

    snprintf(url, sizeof url, "http://me:secret@127.0.0.1:%u/x?token=secret",
             mock_port(server));
    snprintf(shown, sizeof shown, "http://127.0.0.1:%u/x", mock_port(server));
    describe(url, NULL);
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_NOREPLICA);
    ck_assert_int_eq(error.http_status, 401);
    ck_assert_str_eq(error.url, shown);
    ck_assert_int_eq(xd_download_depot(download, 0, &stats), 0);
    ck_assert_str_eq(error.depot, stats.host);
    ck_assert_int_eq(stats.last_error.code, XD_E_NET);
    ck_assert_int_eq(stats.last_error.http_status, 401);
    ck_assert_str_eq(stats.last_error.url, shown);
    mock_stop(server);
}
END_TEST

START_TEST(a_login_that_is_wanted_counts_for_more_than_an_absence)
{
    struct mock_server *first = mock_start(_i == 0 ? refuses : none);
    struct mock_server *second = mock_start(_i == 0 ? none : refuses);

    describe(mock_url(first), mock_url(second));
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_NOREPLICA);
    ck_assert_int_eq(error.http_status, 401);
    mock_stop(second);
    mock_stop(first);
}
END_TEST

START_TEST(when_every_depot_has_failed_the_sentence_says_why)
{
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", mock_dead_port());
    set("retry", "1");
    set("patience", "0s");
    describe(url, NULL);
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_NOREPLICA);
    ck_assert_ptr_nonnull(strstr(error.msg, url));
    ck_assert_ptr_nonnull(strstr(error.msg, "byte 0"));
}
END_TEST

START_TEST(every_request_leaves_a_record)
{
    struct mock_server *server = mock_start(good);
    struct xd_fetch_record record = {.struct_size = sizeof record};
    uint64_t lost = 1;

    describe(mock_url(server), NULL);
    set("records", "yes");
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    ck_assert(xd_download_next_record(download, &record, &lost));
    ck_assert_uint_eq(record.begin, 0);
    ck_assert_uint_eq(record.end, SIZE);
    ck_assert_uint_eq(record.received, SIZE);
    ck_assert_int_eq(record.code, XD_OK);
    ck_assert_double_ge(record.end_s, record.first_byte_s);
    ck_assert_double_ge(record.first_byte_s, record.start_s);
    ck_assert(!xd_download_next_record(download, &record, &lost));
    ck_assert_uint_eq(lost, 0);
    mock_stop(server);
}
END_TEST

START_TEST(progress_ends_with_every_byte)
{
    struct mock_server *server = mock_start(good);
    struct xd_progress p = {.struct_size = sizeof p};

    describe(mock_url(server), NULL);
    prepare();
    xd_download_progress(download, &p);
    ck_assert_uint_eq(p.bytes_done, 0);
    ck_assert_uint_eq(p.bytes_total, SIZE);
    ck_assert_uint_eq(p.depots_reserve, 1);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    xd_download_progress(download, &p);
    ck_assert_uint_eq(p.bytes_done, SIZE);
    ck_assert_uint_eq(p.bytes_received, SIZE);
    ck_assert_uint_eq(p.bytes_redundant, 0);
    ck_assert_uint_eq(p.lanes_busy, 0);
    ck_assert_str_eq(p.algorithm, "adaptive");
    ck_assert_uint_eq(p.redundancy, 0);
    mock_stop(server);
}
END_TEST

/* Nobody answers at these. */
static void describe_three(const char *limit)
{
    char text[1000];

    snprintf(
        text, sizeof text,
        "<metalink version='3.0'><files><file name='f'><size>1000000</size>"
        "<resources maxconnections='%s'><url>http://127.0.0.1:1/x</url>"
        "<url>http://127.0.0.1:2/x</url><url>http://127.0.0.1:3/x</url>"
        "</resources></file></files></metalink>",
        limit);
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, strlen(text), NULL, &error), 0);
}

START_TEST(no_more_requests_run_than_the_manifest_allows)
{
    static const struct {
        const char *limit;
        unsigned depots, threads;
    } rows[] = {{"1", 1, 1}, {"2", 2, 1}, {"5", 3, 1},
                {"7", 3, 2}, {"9", 3, 3}, {"1000", 3, 4}};
    struct xd_progress p = {.struct_size = sizeof p};

    describe_three(rows[_i].limit);
    set("threads-per-depot", "4");
    set("block-size", "4k");
    set("max-depots", "8");
    start();
    xd_download_progress(download, &p);
    ck_assert_uint_eq(p.threads_per_depot, rows[_i].threads);
    ck_assert_uint_le(p.lanes_busy, rows[_i].depots * rows[_i].threads);
    ck_assert_uint_le(p.depots_open, rows[_i].depots);
}
END_TEST

START_TEST(a_limit_of_connections_that_is_felt_is_said)
{
    static char said[500]; /* until the download is freed */

    describe_three("2");
    xd_options_set_log(options, keep_line, said);
    prepare();
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_str_eq(said, "the manifest allows no more connections at a time "
                           "than 2");
}
END_TEST

START_TEST(a_caller_with_a_smaller_struct_gets_no_more_than_that)
{
    struct xd_progress p = {.struct_size =
                                offsetof(struct xd_progress, bytes_received),
                            .bytes_received = 42};

    describe("http://127.0.0.1:1/x", NULL);
    prepare();
    xd_download_progress(download, &p);
    ck_assert_uint_eq(p.bytes_total, SIZE);
    ck_assert_uint_eq(p.bytes_received, 42);
}
END_TEST

START_TEST(an_empty_file_is_made_without_a_request)
{
    static const char text[] =
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"f\">"
        "<size>0</size><url>http://127.0.0.1:1/x</url></file></metalink>";
    struct xd_depot_stats stats = {.struct_size = sizeof stats};
    struct stat st;

    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, strlen(text), NULL, &error), 0);
    start();
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_size, 0);
    if (xd_download_depot(download, 0, &stats) == 0)
        ck_assert_uint_eq(stats.requests, 0);
}
END_TEST

START_TEST(a_reader_that_goes_away_ends_it_without_a_signal)
{
    struct mock_server *server = mock_start(good);
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    close(fds[0]);
    describe(mock_url(server), NULL);
    ck_assert_int_eq(
        xd_download_new_fd(&download, manifest, 0, fds[1], options, &error), 0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_PIPE);
    close(fds[1]);
    mock_stop(server);
}
END_TEST

START_TEST(a_descriptor_that_is_not_open_for_writing_is_refused)
{
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    close(fds[1]);
    describe("http://127.0.0.1:1/x", NULL);
    for (size_t i = 0; i < 3; i++) {
        const int bad[] = {-1, fds[0], fds[1]};

        ck_assert_int_eq(
            xd_download_new_fd(&download, manifest, 0, bad[i], options, &error),
            XD_E_INVAL);
        ck_assert_ptr_null(download);
        ck_assert_ptr_nonnull(strstr(error.msg, "not open for writing"));
    }
    close(fds[0]);
}
END_TEST

START_TEST(a_file_number_past_the_last_is_refused)
{
    describe("http://127.0.0.1:1/x", NULL);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 1, NULL, path, options, &error),
        XD_E_INVAL);
    ck_assert_ptr_null(download);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("download");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_file_comes_home_and_gets_its_name);
    tcase_add_test(tcase, a_file_is_read_back_once_for_the_hash_of_the_whole);
    tcase_add_test(tcase, waiting_before_the_start_is_an_error);
    tcase_add_test(tcase, a_second_start_is_an_error);
    tcase_add_test(tcase, making_a_download_touches_neither_disk_nor_network);
    tcase_add_test(tcase, cancel_ends_a_wait_though_the_depot_is_silent);
    tcase_add_test(tcase, free_does_not_wait_for_a_depot_that_never_answers);
    tcase_add_test(tcase,
                   free_does_not_wait_for_a_connect_that_never_completes);
    tcase_add_test(tcase,
                   free_does_not_wait_for_a_name_server_that_never_answers);
    tcase_add_test(tcase, two_downloads_of_one_path_are_one_too_many);
    tcase_add_test(tcase, a_path_that_leads_elsewhere_is_refused);
    tcase_add_test(tcase, the_manifests_path_is_made_within_a_folder);
    tcase_add_test(tcase, a_download_of_which_nothing_came_leaves_nothing);
    tcase_add_test(tcase, an_existing_file_is_kept_and_named);
    tcase_add_test(tcase, an_existing_file_is_replaced_by_force);
    tcase_add_test(tcase, options_are_copied);
    tcase_add_test(tcase, a_depot_with_another_file_is_dropped_by_name);
    tcase_add_test(tcase, a_copy_that_ends_too_early_is_not_taken_for_whole);
    tcase_add_test(tcase, when_every_depot_has_failed_the_sentence_says_why);
    tcase_add_test(tcase, a_refusal_tells_its_status_and_where_it_came_from);
    tcase_add_loop_test(
        tcase, a_login_that_is_wanted_counts_for_more_than_an_absence, 0, 2);
    tcase_add_test(tcase, every_request_leaves_a_record);
    tcase_add_test(tcase, progress_ends_with_every_byte);
    tcase_add_loop_test(tcase, no_more_requests_run_than_the_manifest_allows, 0,
                        6);
    tcase_add_test(tcase, a_limit_of_connections_that_is_felt_is_said);
    tcase_add_test(tcase,
                   a_caller_with_a_smaller_struct_gets_no_more_than_that);
    tcase_add_test(tcase, an_empty_file_is_made_without_a_request);
    tcase_add_test(tcase, a_reader_that_goes_away_ends_it_without_a_signal);
    tcase_add_test(tcase, a_descriptor_that_is_not_open_for_writing_is_refused);
    tcase_add_test(tcase, a_file_number_past_the_last_is_refused);
    return run_suite("download", tcase);
}

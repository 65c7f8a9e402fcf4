/* SPDX-License-Identifier: MIT */
/* A cancel ends whatever waits for the network, whatever that waits for. */
#include <xdownload/xdownload.h>

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "command/inspect.h"
#include "command/manifests.h"
#include "io/mock_server.h"
#include "os/cancel.h"
#include "os/clock.h"
#include "suite.h"

static const struct mock_step silent[] = {HOLD, END};

static char folder[SUITE_FOLDER];
static char manifest_path[64], out_path[64], part_path[80];
static struct xd_options *options;
static struct xd_cancel *cancel;
static struct xd_manifest *manifest;
static char url[100];
static struct xd_error error;

/* What a name server does that does not answer. */
static atomic_bool is_asked, may_answer;

/* Libcurl is as one older than 7.87. */
static atomic_bool waits_for_resolver;

int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **out)
{
    (void)service;
    (void)hints;
    (void)out;
    if (!node || strncmp(node, "mute", 4) != 0)
        return EAI_FAIL;
    atomic_store(&is_asked, true);
    while (!atomic_load(&may_answer))
        suite_rest_ms(1);
    return EAI_FAIL;
}

typedef CURLcode setopt_fn(CURL *, CURLoption, ...);

#undef curl_easy_setopt
CURLcode curl_easy_setopt(CURL *e, CURLoption option, ...)
{
    union {
        void *object;
        setopt_fn *function;
    } real = {.object = dlsym(RTLD_NEXT, "curl_easy_setopt")};
    va_list args;
    void *value;

    va_start(args, option);
    value = va_arg(args, void *); /* a long and a curl_off_t are as wide */
    va_end(args);
#if LIBCURL_VERSION_NUM >= 0x075700
    if (option == CURLOPT_QUICK_EXIT && atomic_load(&waits_for_resolver))
        return CURLE_OK;
#endif
    return real.function(e, option, value);
}

/* What is freed next waits for the name server with libcurl before 7.87. */
static void let_go(void)
{
    atomic_store(&may_answer, true);
}

/* ---- what waits ---- */

static int wait_in_inspect(void)
{
    struct xd_inspection *in;
    const char *urls[] = {url};
    int rc = xd_inspect(&in, urls, 1, 0, options, &error);

    ck_assert((rc == 0) == (in != NULL));
    xd_inspection_free(in);
    return rc;
}

static int wait_in_checksums(void)
{
    struct xd_checksums *c;
    int rc;

    ck_assert_int_eq(xd_checksums_new(&c, &error), 0);
    rc = xd_checksums_read(c, url, options, &error);
    xd_checksums_free(c);
    return rc;
}

static int wait_in_copies(void)
{
    char other[sizeof url + 1];
    const char *urls[] = {url, other};
    struct xd_manifest *m, *checked;
    int rc;

    snprintf(other, sizeof other, "%sx", url);
    ck_assert_int_eq(
        xd_manifest_from_urls(&m, urls, 2, XD_SIZE_UNKNOWN, &error), 0);
    rc = xd_copies_find(&checked, m, options, &error);
    ck_assert((rc == 0) == (checked != NULL));
    xd_manifest_unref(checked);
    xd_manifest_unref(m);
    return rc;
}

static int wait_in_manifest(void)
{
    const char *urls[] = {url};
    struct xd_manifest *m;
    int rc = xd_manifest_open(&m, urls, 1, options, &error);

    ck_assert((rc == 0) == (m != NULL));
    xd_manifest_unref(m);
    return rc;
}

static int wait_in_fetch(void)
{
    return xd_fetch(manifest_path, out_path, options, &error);
}

static int wait_in_reader(void)
{
    struct xd_source *s;
    struct xd_reader *r;
    char byte;
    int rc;

    ck_assert_int_eq(xd_source_new(&s, manifest, 0, options, &error), 0);
    ck_assert_int_eq(xd_reader_new(&r, s, &error), 0);
    rc = (int)xd_reader_read(r, &byte, 1, -1);
    let_go();
    xd_reader_error(r, &error);
    xd_reader_free(r);
    xd_source_unref(s);
    return rc;
}

static int wait_in_size(void)
{
    struct xd_source *s;
    struct xd_reader *r;
    int rc;

    ck_assert_int_eq(xd_source_new(&s, manifest, 0, options, &error), 0);
    ck_assert_int_eq(xd_reader_new(&r, s, &error), 0);
    rc = (int)xd_reader_size(r, -1);
    let_go();
    xd_reader_error(r, &error);
    xd_reader_free(r);
    xd_source_unref(s);
    return rc;
}

static int wait_in_download(void)
{
    struct xd_download *d;
    int rc;

    ck_assert_int_eq(
        xd_download_new(&d, manifest, 0, NULL, out_path, options, &error), 0);
    rc = xd_download_start(d, &error);
    if (rc == 0)
        rc = xd_download_wait(d, -1, &error);
    let_go();
    xd_download_unref(d);
    return rc;
}

static int (*const waits[])(void) = {
    wait_in_inspect, wait_in_manifest, wait_in_checksums, wait_in_fetch,
    wait_in_copies,  wait_in_reader,   wait_in_size,      wait_in_download};
#define N_WAITS ((int)(sizeof waits / sizeof *waits))

/* ---- the test's own ---- */

static void setup(void)
{
    suite_folder(folder);
    snprintf(manifest_path, sizeof manifest_path, "%s/f.urls", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    snprintf(part_path, sizeof part_path, "%s.part", out_path);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    ck_assert_int_eq(xd_cancel_new(&cancel, &error), 0);
    xd_options_set_cancel(options, cancel);
    /* A wait that no cancel ends exceeds the time of the test. */
    ck_assert_int_eq(xd_options_set(options, "silence", "1h", &error), 0);
    ck_assert_int_eq(xd_options_set(options, "patience", "1h", &error), 0);
    ck_assert_int_eq(xd_options_set(options, "connect-timeout", "1h", &error),
                     0);
}

static void teardown(void)
{
    xd_options_free(options);
    xd_cancel_free(cancel);
    xd_manifest_unref(manifest);
    unlink(manifest_path);
    unlink(out_path);
    unlink(part_path);
    rmdir(folder);
}

static void describe(void)
{
    const char *urls[] = {url};
    FILE *f = fopen(manifest_path, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f, "%s\n", url);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(
        xd_manifest_from_urls(&manifest, urls, 1, XD_SIZE_UNKNOWN, &error), 0);
}

static void *trigger_soon(void *has_name)
{
    while (has_name && !atomic_load(&is_asked))
        suite_rest_ms(1);
    suite_rest_ms(200);
    xd_cancel_trigger(cancel);
    return NULL;
}

/* Whatever `wait` waits for, a trigger ends it, and nothing before. */
static void expect_canceled(int (*wait)(void))
{
    void *has_name = strstr(url, "mute") ? url : NULL;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, trigger_soon, has_name), 0);
    ck_assert_int_eq(wait(), XD_E_CANCELED);
    ck_assert(xd_cancel_is_triggered(cancel));
    ck_assert_int_eq(error.code, XD_E_CANCELED);
    ck_assert_str_ne(error.msg, "");
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* ---- what is waited for ---- */

START_TEST(a_silent_depot)
{
    struct mock_server *m = mock_start(silent);

    snprintf(url, sizeof url, "%s", mock_url(m));
    describe();
    expect_canceled(waits[_i]);
    mock_stop(m);
}
END_TEST

START_TEST(a_depot_that_never_completes_a_connect)
{
    int hold[3];

    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", mock_mute_port(hold));
    describe();
    expect_canceled(waits[_i]);
    for (int i = 0; i < 3; i++)
        close(hold[i]);
}
END_TEST

START_TEST(a_name_server_that_does_not_answer)
{
    snprintf(url, sizeof url, "http://mute.example/x");
    describe();
    expect_canceled(waits[_i]);
    let_go();
}
END_TEST

static void *answer_soon(void *unused)
{
    suite_rest_ms(200);
    let_go();
    return unused;
}

/* Then the release of the last thing that the call was given waits in its place.
 * Who frees a download or a source waits there, as its header says. */
START_TEST(a_name_server_with_a_libcurl_that_waits_for_it)
{
    pthread_t thread;

    atomic_store(&waits_for_resolver, true);
    snprintf(url, sizeof url, "http://mute.example/x");
    describe();
    expect_canceled(waits[_i]);
    ck_assert_int_eq(pthread_create(&thread, NULL, answer_soon, NULL), 0);
    xd_options_free(options);
    options = NULL;
    xd_cancel_free(cancel);
    cancel = NULL;
    ck_assert(atomic_load(&may_answer));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

/* ---- who triggers ---- */

static void on_alarm(int sig)
{
    (void)sig;
    xd_cancel_trigger(cancel);
}

START_TEST(a_signal_handler_may_trigger_it)
{
    struct mock_server *m = mock_start(silent);
    const struct itimerval soon = {.it_value = {.tv_usec = 200000}};

    snprintf(url, sizeof url, "%s", mock_url(m));
    describe();
    signal(SIGALRM, on_alarm);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
    ck_assert_int_eq(waits[_i](), XD_E_CANCELED);
    mock_stop(m);
}
END_TEST

START_TEST(what_is_given_a_triggered_one_ends_at_once)
{
    struct mock_server *m = mock_start(silent);

    snprintf(url, sizeof url, "%s", mock_url(m));
    describe();
    ck_assert(!xd_cancel_is_triggered(cancel));
    xd_cancel_trigger(cancel);
    ck_assert(xd_cancel_is_triggered(cancel));
    ck_assert_int_eq(waits[_i](), XD_E_CANCELED);
    mock_stop(m);
}
END_TEST

START_TEST(one_ends_all_that_it_was_given_to)
{
    struct mock_server *m = mock_start(silent);
    struct xd_download *d[3];
    char path[3][80];

    snprintf(url, sizeof url, "%s", mock_url(m));
    describe();
    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s%d", out_path, i);
        ck_assert_int_eq(
            xd_download_new(&d[i], manifest, 0, NULL, path[i], options, &error),
            0);
        ck_assert_int_eq(xd_download_start(d[i], &error), 0);
    }
    xd_cancel_trigger(cancel);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(xd_download_wait(d[i], -1, &error), XD_E_CANCELED);
        xd_download_unref(d[i]);
    }
    mock_stop(m);
}
END_TEST

/* Its owner may be released before what it was given to. */
START_TEST(it_may_be_freed_first)
{
    struct mock_server *m = mock_start(silent);
    struct xd_download *d;

    snprintf(url, sizeof url, "%s", mock_url(m));
    describe();
    ck_assert_int_eq(
        xd_download_new(&d, manifest, 0, NULL, out_path, options, &error), 0);
    ck_assert_int_eq(xd_download_start(d, &error), 0);
    xd_cancel_free(cancel);
    cancel = NULL;
    ck_assert_int_eq(xd_download_wait(d, 100, &error), XD_E_AGAIN);
    xd_download_cancel(d);
    ck_assert_int_eq(xd_download_wait(d, -1, &error), XD_E_CANCELED);
    xd_download_unref(d);
    mock_stop(m);
}
END_TEST

START_TEST(time_may_run_out_in_its_place)
{
    struct mock_server *m = mock_start(silent);

    snprintf(url, sizeof url, "%s", mock_url(m));
    describe();
    ck_assert_int_eq(xd_options_set(options, "max-time", "300ms", &error), 0);
    if (waits[_i] != wait_in_inspect)
        ck_assert_int_eq(waits[_i](), XD_E_TIMEOUT);
    else /* the failure stands with the URL */
        ck_assert_int_eq(waits[_i](), 0);
    mock_stop(m);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cancel");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, a_silent_depot, 0, N_WAITS);
    tcase_add_loop_test(t, a_depot_that_never_completes_a_connect, 0, N_WAITS);
    tcase_add_loop_test(t, a_name_server_that_does_not_answer, 0, N_WAITS);
    tcase_add_loop_test(t, a_name_server_with_a_libcurl_that_waits_for_it, 0,
                        4);
    tcase_add_loop_test(t, a_signal_handler_may_trigger_it, 0, N_WAITS);
    tcase_add_loop_test(t, what_is_given_a_triggered_one_ends_at_once, 0,
                        N_WAITS);
    tcase_add_test(t, one_ends_all_that_it_was_given_to);
    tcase_add_test(t, it_may_be_freed_first);
    tcase_add_loop_test(t, time_may_run_out_in_its_place, 0, N_WAITS);
    return run_suite("cancel", t);
}

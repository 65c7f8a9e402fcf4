/* SPDX-License-Identifier: MIT */
/*
 * The library is a guest: what a download must leave alone in the process that
 * it runs in.
 */
#include <xdownload/download.h>

#include <curl/curl.h>
#include <dirent.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/mock_server.h"
#include "suite.h"

#define SIZE 100
#define OK_HEAD                         \
    "HTTP/1.1 206 Partial Content\r\n"  \
    "Content-Range: bytes 0-99/100\r\n" \
    "Content-Length: 100\r\n\r\n"

enum { SIGNALS = 32 };

extern char **environ;

static const struct mock_step good[] = {SAY(OK_HEAD), BODY(0, SIZE), END};
static const struct mock_step half_then_silent[] = {SAY(OK_HEAD), BODY(0, 50),
                                                    HOLD, END};
static const struct mock_step slow[] = {SAY(OK_HEAD), BODY(0, 50), SLEEP(300),
                                        BODY(50, 50), END};

static char folder[SUITE_FOLDER];
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_download *download;
static struct xd_error error;
static pthread_t host;

/* Of threads that are not the host's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned masks_seen;
static bool resolver_was_seen;

/* Each signal but those that a thread brings upon itself. */
static void look_at_mask(void)
{
    sigset_t mask;

    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    for (int i = 1; i < SIGNALS; i++) {
        if (i == SIGKILL || i == SIGSTOP || i == SIGBUS || i == SIGFPE ||
            i == SIGILL || i == SIGSEGV)
            continue;
        ck_assert_msg(sigismember(&mask, i) == 1, "signal %d may come", i);
    }
    pthread_mutex_lock(&lock);
    masks_seen++;
    pthread_mutex_unlock(&lock);
}

static void on_line(void *user, enum xd_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
    if (!pthread_equal(pthread_self(), host))
        look_at_mask();
}

/* Called on a thread of libcurl's own. */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **out)
{
    (void)node;
    (void)service;
    (void)hints;
    (void)out;
    look_at_mask();
    pthread_mutex_lock(&lock);
    resolver_was_seen = true;
    pthread_mutex_unlock(&lock);
    return EAI_NONAME;
}

static void setup(void)
{
    host = pthread_self();
    suite_folder(folder);
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    ck_assert_int_eq(setenv("HOME", folder, 1), 0);
    ck_assert_int_eq(setenv("NO_PROXY", "*", 1), 0);
}

static void teardown(void)
{
    xd_download_unref(download);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    unlink("out");
    unlink("out.part");
    ck_assert_int_eq(chdir("/"), 0);
    rmdir(folder);
}

static void start(const char *url)
{
    char text[500];
    int n = snprintf(text, sizeof text,
                     "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                     "<file name=\"f\"><size>%d</size>"
                     "<url>%s</url></file></metalink>",
                     SIZE, url);

    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error), 0);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, "out", options, &error),
        0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
}

static void finish(void)
{
    ck_assert_msg(xd_download_wait(download, -1, &error) == 0, "%s", error.msg);
    xd_download_unref(download);
    download = NULL;
    xd_manifest_unref(manifest);
    manifest = NULL;
}

static void wait_for_bytes(void)
{
    struct xd_progress p = {.struct_size = sizeof p};

    do {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        xd_download_progress(download, &p);
    } while (p.bytes_received == 0);
}

START_TEST(no_signal_of_the_host_comes_to_a_thread_of_ours)
{
    xd_options_set_log(options, on_line, NULL);
    ck_assert_int_eq(xd_options_set(options, "retry", "1", &error), 0);
    ck_assert_int_eq(xd_options_set(options, "patience", "0s", &error), 0);
    start("http://nowhere.invalid/x");
    ck_assert_int_lt(xd_download_wait(download, -1, &error), 0);
    xd_download_unref(download);
    download = NULL;
    ck_assert(resolver_was_seen);
    ck_assert_uint_ge(masks_seen, 2);
}
END_TEST

/* The number that the system gives to the socket which leads to `server`. */
static unsigned long connection_to(const struct mock_server *server)
{
    FILE *f = fopen("/proc/net/tcp", "r");
    unsigned long inode, found = 0;
    unsigned port;
    char line[300];

    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%*d: %*x:%*x %*x:%x %*x %*s %*s %*s %*d %*d %lu",
                   &port, &inode) == 2 &&
            port == mock_port(server) && inode != 0)
            found = inode;
    }
    fclose(f);
    ck_assert_uint_ne(found, 0);
    return found;
}

/* What a program that the host starts has open. */
static void list_of_a_child(char *out, size_t size)
{
    FILE *f = popen("ls -l /proc/self/fd", "r");
    size_t n;

    ck_assert_ptr_nonnull(f);
    n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    ck_assert_int_eq(pclose(f), 0);
}

/* Linux says what a process has open; the same calls are made elsewhere.  The
 * pairs through which libcurl wakes itself are in the list: libcurl alone
 * could mark them (its issue 13618). */
START_TEST(a_child_of_the_host_inherits_no_connection_and_no_file)
{
    struct mock_server *server = mock_start(half_then_silent);
    char list[10000], socket_name[40];

    if (access("/proc/self/fd", R_OK) == 0) {
        start(mock_url(server));
        wait_for_bytes();
        list_of_a_child(list, sizeof list);
        snprintf(socket_name, sizeof socket_name, "socket:[%lu]",
                 connection_to(server));
        ck_assert_ptr_nonnull(strstr(list, "pipe:"));
        ck_assert_msg(strstr(list, socket_name) == NULL, "%s", list);
        ck_assert_msg(strstr(list, folder) == NULL, "%s", list);
    }
    mock_stop(server);
}
END_TEST

/* What belongs to the host. */
struct house {
    struct {
        void (*handler)(int);
        int flags;
    } actions[SIGNALS];
    sigset_t mask;
    mode_t mask_of_files;
    char locale[200], folder[200], environment[20000];
};

static void look(struct house *h)
{
    size_t n = 0;

    memset(h, 0, sizeof *h);
    for (int i = 1; i < SIGNALS; i++) {
        struct sigaction a;

        memset(&a, 0, sizeof a);
        sigaction(i, NULL, &a);
        h->actions[i].handler = a.sa_handler;
        h->actions[i].flags = a.sa_flags;
    }
    pthread_sigmask(SIG_SETMASK, NULL, &h->mask);
    h->mask_of_files = umask(0);
    umask(h->mask_of_files);
    snprintf(h->locale, sizeof h->locale, "%s", setlocale(LC_ALL, NULL));
    ck_assert_ptr_nonnull(getcwd(h->folder, sizeof h->folder));
    for (char **e = environ; *e != NULL && n < sizeof h->environment; e++)
        n += (size_t)snprintf(h->environment + n, sizeof h->environment - n,
                              "%s\n", *e);
}

START_TEST(a_download_leaves_the_house_as_it_found_it)
{
    static struct house before, after;
    struct mock_server *server = mock_start(good);

    ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    umask(027);
    look(&before);
    start(mock_url(server));
    look(&after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    finish();
    look(&after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    mock_stop(server);
}
END_TEST

START_TEST(no_file_is_written_that_nobody_named)
{
    struct mock_server *server = mock_start(good);
    struct dirent *entry;
    DIR *d;

    start(mock_url(server));
    finish();
    d = opendir(folder);
    ck_assert_ptr_nonnull(d);
    while ((entry = readdir(d)) != NULL)
        ck_assert_msg(entry->d_name[0] == '.'
                          ? entry->d_name[1] == '\0' || entry->d_name[1] == '.'
                          : strcmp(entry->d_name, "out") == 0,
                      "%s", entry->d_name);
    closedir(d);
    mock_stop(server);
}
END_TEST

static size_t ignore(char *data, size_t one, size_t len, void *user)
{
    (void)data;
    (void)one;
    (void)user;
    return len;
}

/* A transfer of the host's own. */
static void fetch_as_host(struct mock_server *server)
{
    CURL *easy = curl_easy_init();

    ck_assert_ptr_nonnull(easy);
    curl_easy_setopt(easy, CURLOPT_URL, mock_url(server));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    ck_assert_int_eq(curl_easy_perform(easy), CURLE_OK);
    curl_easy_cleanup(easy);
}

START_TEST(host_and_library_use_libcurl_side_by_side)
{
    struct mock_server *server = mock_start(slow);

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
        start(mock_url(server));
        wait_for_bytes();
        fetch_as_host(server);
        curl_global_cleanup();
        finish();
        unlink("out");
    }
    mock_stop(server);
}
END_TEST

/* The last to use libcurl as far as the host can know. */
START_TEST(a_host_that_cleans_libcurl_up_takes_nothing_from_a_download)
{
    struct mock_server *server = mock_start(slow);

    start(mock_url(server));
    wait_for_bytes();
    ck_assert_int_eq(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
    curl_global_cleanup();
    finish();
    unlink("out");
    start(mock_url(server));
    finish();
    mock_stop(server);
}
END_TEST

static pid_t child;

enum { DOWNLOAD_HAS_ENDED = 7, DOWNLOAD_RUNS = 8 };

/* Runs after the library's handler, because it was registered before. */
static void judge_download(void)
{
    _exit(xd_download_wait(download, 0, NULL) == XD_E_CANCELED
              ? DOWNLOAD_HAS_ENDED
              : DOWNLOAD_RUNS);
}

static int status_of_child(void)
{
    int status;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

START_TEST(exit_ends_a_download_before_handlers_of_other_libraries_run)
{
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        atexit(judge_download);
        start(mock_url(mock_start(half_then_silent)));
        wait_for_bytes();
        exit(EXIT_FAILURE);
    }
    ck_assert_int_eq(status_of_child(), DOWNLOAD_HAS_ENDED);
    ck_assert_int_eq(access("out.part", F_OK), 0);
    unlink("out.part.journal");
}
END_TEST

/* In the child, the library's handler has run before. */
static void leave(void)
{
    if (child == 0)
        _exit(EXIT_SUCCESS);
}

START_TEST(a_child_releases_what_it_inherited_and_the_parent_goes_on)
{
    struct mock_server *server = mock_start(slow);

    child = getpid();
    atexit(leave);
    start(mock_url(server));
    wait_for_bytes();
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        xd_download_unref(download);
        exit(EXIT_FAILURE);
    }
    ck_assert_int_eq(status_of_child(), EXIT_SUCCESS);
    finish();
    mock_stop(server);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("guest");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, no_signal_of_the_host_comes_to_a_thread_of_ours);
    tcase_add_test(tcase,
                   a_child_of_the_host_inherits_no_connection_and_no_file);
    tcase_add_test(tcase, a_download_leaves_the_house_as_it_found_it);
    tcase_add_test(tcase, no_file_is_written_that_nobody_named);
    tcase_add_test(tcase, host_and_library_use_libcurl_side_by_side);
    tcase_add_test(tcase,
                   a_host_that_cleans_libcurl_up_takes_nothing_from_a_download);
    tcase_add_test(tcase,
                   exit_ends_a_download_before_handlers_of_other_libraries_run);
    tcase_add_test(tcase,
                   a_child_releases_what_it_inherited_and_the_parent_goes_on);
    return run_suite("guest", tcase);
}

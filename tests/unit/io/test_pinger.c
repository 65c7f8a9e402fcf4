/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/pinger.h"
#include "io/net_options.h"
#include "os/thread.h"
#include "suite.h"
#include "url_of.h"

static struct xd_mutex lock;
static struct xd_cond answered;
static struct xd_ping got[200]; /* by number */
static unsigned n_got;

static void hear(void *user, const struct xd_ping *pings, size_t n)
{
    (void)user;
    xd_mutex_lock(&lock);
    for (size_t i = 0; i < n; i++, n_got++)
        got[pings[i].number] = pings[i];
    xd_cond_signal(&answered);
    xd_mutex_unlock(&lock);
}

static void wait_for(unsigned n)
{
    xd_mutex_lock(&lock);
    while (n_got < n)
        xd_cond_wait(&answered, &lock);
    xd_mutex_unlock(&lock);
}

#define AT_A_TIME 32

static struct xd_pinger *chained;
static struct xd_url chain[2]; /* what even numbers ask, and odd ones */

/* Each answer leads to another question. */
static void hear_and_ask(void *user, const struct xd_ping *pings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned next = pings[i].number + AT_A_TIME;

        if (next < 200)
            ck_assert_int_eq(xd_pinger_ask(chained, next, &chain[next % 2],
                                           XD_REACH_MACHINE),
                             0);
    }
    hear(user, pings, n);
}

static struct xd_pinger *begin(const struct xd_net_options *net)
{
    struct xd_pinger *p;

    n_got = 0;
    ck_assert_int_eq(xd_mutex_init(&lock), 0);
    ck_assert_int_eq(xd_cond_init(&answered), 0);
    ck_assert_int_eq(xd_pinger_new(&p, net, NULL, hear, NULL, NULL), 0);
    return p;
}

static void end(struct xd_pinger *p)
{
    xd_pinger_free(p);
    xd_cond_fini(&answered);
    xd_mutex_fini(&lock);
}

/* A port of this machine; nobody accepts there before listen(). */
static int bind_socket(char url[64], const char *host)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    snprintf(url, 64, "http://%s:%u/f", host, ntohs(a.sin_port));
    return fd;
}

static const char *const hosts[] = {"127.0.0.1", "localhost"};

START_TEST(a_server_that_accepts_answers)
{
    char url[64];
    int fd = bind_socket(url, hosts[_i]);
    struct xd_pinger *p = begin(NULL);

    ck_assert_int_eq(listen(fd, 5), 0);
    ck_assert_int_eq(xd_pinger_ask(p, 7, url_of(url), XD_REACH_MACHINE), 0);
    wait_for(1);
    ck_assert_int_eq(got[7].result, XD_PING_ANSWERED);
    ck_assert_uint_lt(got[7].round_trip, XD_SECOND);
    end(p);
    close(fd);
}
END_TEST

START_TEST(one_that_does_not_listen_refuses)
{
    char url[64];
    int fd = bind_socket(url, hosts[_i]);
    struct xd_pinger *p = begin(NULL);

    ck_assert_int_eq(xd_pinger_ask(p, 7, url_of(url), XD_REACH_MACHINE), 0);
    wait_for(1);
    ck_assert_int_eq(got[7].result, XD_PING_REFUSED);
    ck_assert_int_eq(got[7].os_errno, ECONNREFUSED);
    end(p);
    close(fd);
}
END_TEST

START_TEST(each_of_many_is_answered_once)
{
    char listens[64], refuses[64];
    int a = bind_socket(listens, hosts[_i]), b = bind_socket(refuses, hosts[0]);
    struct xd_pinger *p = begin(NULL);

    ck_assert_int_eq(listen(a, 200), 0);
    for (unsigned i = 0; i < 200; i++)
        ck_assert_int_eq(xd_pinger_ask(p, i, url_of(i % 2 ? refuses : listens),
                                       XD_REACH_MACHINE),
                         0);
    wait_for(200);
    for (unsigned i = 0; i < 200; i++)
        ck_assert_int_eq(got[i].result,
                         i % 2 ? XD_PING_REFUSED : XD_PING_ANSWERED);
    ck_assert_uint_eq(n_got, 200);
    end(p);
    close(a);
    close(b);
}
END_TEST

/* Sockets of those that were refused may serve again. */
START_TEST(what_was_refused_before_does_not_matter)
{
    char listens[64], refuses[64];
    int a = bind_socket(listens, hosts[0]), b = bind_socket(refuses, hosts[0]);
    int before = dup(a), after;

    ck_assert_int_eq(listen(a, 200), 0);
    close(before);
    ck_assert_int_eq(xd_mutex_init(&lock), 0);
    ck_assert_int_eq(xd_cond_init(&answered), 0);
    n_got = 0;
    xd_url_parse(&chain[0], refuses);
    xd_url_parse(&chain[1], listens);
    ck_assert_int_eq(
        xd_pinger_new(&chained, NULL, NULL, hear_and_ask, NULL, NULL), 0);
    for (unsigned i = 0; i < AT_A_TIME; i++)
        ck_assert_int_eq(xd_pinger_ask(chained, i, &chain[0], XD_REACH_MACHINE),
                         0);
    wait_for(200);
    for (unsigned i = 0; i < 200; i++)
        ck_assert_int_eq(got[i].result, i < AT_A_TIME || i % 2 == 0
                                            ? XD_PING_REFUSED
                                            : XD_PING_ANSWERED);
    ck_assert_uint_eq(n_got, 200);
    end(chained);
    after = dup(a); /* the lowest that is free: none was left open */
    ck_assert_int_eq(after, before);
    close(after);
    close(a);
    close(b);
}
END_TEST

START_TEST(where_a_proxy_is_between_nothing_is_found_out)
{
    struct xd_net_options net = XD_NET_OPTIONS_INIT;
    struct xd_pinger *p;

    net.proxy = strdup("http://127.0.0.1:1");
    p = begin(&net);
    ck_assert_int_eq(
        xd_pinger_ask(p, 1, url_of("http://127.0.0.1:1/f"), XD_REACH_MACHINE),
        0);
    wait_for(1);
    ck_assert_int_eq(got[1].result, XD_PING_UNKNOWN);
    end(p);
    free(net.proxy);
}
END_TEST

START_TEST(a_file_has_no_server)
{
    struct xd_pinger *p = begin(NULL);

    ck_assert_int_eq(
        xd_pinger_ask(p, 1, url_of("file:///etc/hosts"), XD_REACH_MACHINE), 0);
    wait_for(1);
    ck_assert_int_eq(got[1].result, XD_PING_UNKNOWN);
    end(p);
}
END_TEST

START_TEST(what_is_on_its_way_does_not_hold_up_the_end)
{
    struct xd_pinger *p = begin(NULL);
    xd_usec began = xd_now();

    /* RFC 5737: nobody is there, for which ten seconds are waited. */
    ck_assert_int_eq(
        xd_pinger_ask(p, 1, url_of("http://192.0.2.1:9/f"), XD_REACH_MACHINE),
        0);
    end(p);
    ck_assert_uint_lt(xd_now() - began, 9 * XD_SECOND);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("pinger");

    tcase_add_loop_test(t, a_server_that_accepts_answers, 0, 2);
    tcase_add_loop_test(t, one_that_does_not_listen_refuses, 0, 2);
    tcase_add_loop_test(t, each_of_many_is_answered_once, 0, 2);
    tcase_add_test(t, what_was_refused_before_does_not_matter);
    tcase_add_test(t, where_a_proxy_is_between_nothing_is_found_out);
    tcase_add_test(t, a_file_has_no_server);
    tcase_add_test(t, what_is_on_its_way_does_not_hold_up_the_end);
    return run_suite("io.pinger", t);
}

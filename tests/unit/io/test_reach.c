/* SPDX-License-Identifier: MIT */
/* lib/io/reach: which addresses all the world can reach. */
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/reach.h"
#include "suite.h"

static enum xd_reach of_text(const char *text)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    enum xd_reach reach = xd_reach_of_text(text);

    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        ck_assert_int_eq(xd_reach_of_address((struct sockaddr *)&in), reach);
    else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
        ck_assert_int_eq(xd_reach_of_address((struct sockaddr *)&in6), reach);
    else
        ck_abort_msg("%s is no address", text);
    return reach;
}

static void all_are(const char *const *list, enum xd_reach expected)
{
    for (; *list != NULL; list++)
        ck_assert_msg(of_text(*list) == expected, "%s", *list);
}

START_TEST(this_machine_and_its_link_are_the_nearest)
{
    static const char *const list[] = {"127.0.0.1",
                                       "127.255.255.255",
                                       "0.0.0.0",
                                       "169.254.169.254",
                                       "::1",
                                       "::",
                                       "fe80::1",
                                       "febf::1",
                                       "::ffff:127.0.0.1",
                                       "64:ff9b::127.0.0.1",
                                       NULL};

    all_are(list, XD_REACH_MACHINE);
}
END_TEST

START_TEST(private_networks_are_not_the_worlds)
{
    static const char *const list[] = {"10.0.0.1",
                                       "10.255.255.255",
                                       "172.16.0.1",
                                       "172.31.255.255",
                                       "192.168.1.1",
                                       "100.64.0.1",
                                       "100.127.255.255",
                                       "fc00::1",
                                       "fdff::1",
                                       "::ffff:192.168.1.1",
                                       NULL};

    all_are(list, XD_REACH_PRIVATE);
}
END_TEST

START_TEST(what_lies_beside_them_is_public)
{
    static const char *const list[] = {"1.0.0.0",        "9.255.255.255",
                                       "11.0.0.0",       "100.63.255.255",
                                       "100.128.0.0",    "126.255.255.255",
                                       "128.0.0.0",      "169.253.255.255",
                                       "169.255.0.0",    "172.15.255.255",
                                       "172.32.0.0",     "192.167.255.255",
                                       "192.169.0.0",    "::2",
                                       "2001:db8::1",    "fbff::1",
                                       "fe00::1",        "fec0::1",
                                       "::ffff:8.8.8.8", NULL};

    all_are(list, XD_REACH_PUBLIC);
}
END_TEST

START_TEST(what_is_no_address_is_trusted_with_nothing_near)
{
    ck_assert_int_eq(xd_reach_of_text(NULL), XD_REACH_PUBLIC);
    ck_assert_int_eq(xd_reach_of_text(""), XD_REACH_PUBLIC);
    ck_assert_int_eq(xd_reach_of_text("localhost"), XD_REACH_PUBLIC);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("reach");

    tcase_add_test(t, this_machine_and_its_link_are_the_nearest);
    tcase_add_test(t, private_networks_are_not_the_worlds);
    tcase_add_test(t, what_lies_beside_them_is_public);
    tcase_add_test(t, what_is_no_address_is_trusted_with_nothing_near);
    return run_suite("reach", t);
}

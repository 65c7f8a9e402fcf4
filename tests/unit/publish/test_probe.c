/* SPDX-License-Identifier: MIT */
#include <xdpublish/probe.h>

#include <stdio.h>
#include <string.h>

#include "engine/depots_of.h"
#include "io/mock_server.h"
#include "suite.h"

static const struct mock_step answer[] = {SAY("1 1 1 10 10 60 1 1 \n"), END};

static struct mock_server *server;
static struct xd_options *options;
static struct xd_probe *probe;

static void setup(void)
{
    char url[100], text[1000];

    server = mock_start_lines(answer, "ibp", "/key/1/");
    snprintf(url, sizeof url, "%s", mock_url(server));
    snprintf(text, sizeof text,
             EXNODE("<exnode:mapping>"
                    "<exnode:metadata name=\"exnode_offset\" "
                    "type=\"integer\">0</exnode:metadata>"
                    "<exnode:metadata name=\"logical_length\" "
                    "type=\"integer\">10</exnode:metadata>"
                    "<exnode:read>%sREAD</exnode:read>"
                    "<exnode:manage>%sMANAGE</exnode:manage>"
                    "</exnode:mapping>"),
             url, url);
    read_text(text);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
}

static void end(void)
{
    xd_probe_free(probe);
    xd_options_free(options);
    teardown();
    mock_stop(server);
}

static struct xd_probed ask(const char *option, const char *host)
{
    struct xd_probed row = {.struct_size = sizeof row};

    if (option)
        ck_assert_int_eq(xd_options_set(options, option, host, &error), 0);
    ck_assert_int_eq(xd_probe_new(&probe, manifest, 0, options, &error), 0);
    ck_assert_int_eq(xd_probe_get(probe, 0, 0, &row), 0);
    return row;
}

START_TEST(depot_gets_the_manage_capability)
{
    struct xd_probed row = ask("only", "127.0.0.1");

    ck_assert_int_eq(row.state, XD_PROBE_ANSWERED);
    ck_assert_uint_eq(row.right, XD_MAY_MANAGE);
    ck_assert_uint_eq(row.lifetime_s, 60);
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

static void expect_not_asked(const char *option, const char *host)
{
    struct xd_probed row = ask(option, host);

    ck_assert_int_eq(row.state, XD_PROBE_FAILED);
    ck_assert_uint_eq(row.right, 0);
    ck_assert_ptr_nonnull(strstr(row.error, "127.0.0.1"));
    ck_assert_ptr_null(strstr(row.error, "MANAGE"));
    ck_assert_uint_eq(mock_connections(server), 0);
}

START_TEST(host_that_only_leaves_out_is_not_asked)
{
    expect_not_asked("only", "other.example");
}
END_TEST

START_TEST(excluded_host_is_not_asked)
{
    expect_not_asked("exclude", "127.0.0.1");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("probe");

    tcase_add_checked_fixture(tcase, setup, end);
    tcase_add_test(tcase, depot_gets_the_manage_capability);
    tcase_add_test(tcase, host_that_only_leaves_out_is_not_asked);
    tcase_add_test(tcase, excluded_host_is_not_asked);
    return run_suite("probe", tcase);
}

/* SPDX-License-Identifier: MIT */
/* What a configuration says is run by tests/integration/test_via_nodes.py; here is
 * what it may not say. */
#include "nodes/nginx.h"

#include <string.h>

#include "suite.h"

#define HEAD "xdownload nodes 1\nchunk 4m\nhops 2\n"
#define ORIGIN "origin http://o.example/\n"
#define NODES "node a http://10.0.0.1:8080\nnode b https://b.example\n"

static struct xd_mesh *mesh;
static char *text;

static void teardown(void)
{
    xd_mesh_text_free(text);
    text = NULL;
    xd_mesh_free(mesh);
    mesh = NULL;
}

static void parse(const char *list)
{
    struct xd_error error = {.code = XD_OK};

    teardown();
    if (xd_mesh_parse(&mesh, list, strlen(list), "NODES", &error) < 0)
        ck_abort_msg("%s", error.msg);
}

/* Of the first node. */
static void write_first(const char *list, const struct xd_mesh_nginx *how)
{
    struct xd_error error = {.code = XD_OK};

    parse(list);
    if (xd_mesh_nginx_text(mesh, 0, how, &text, &error) < 0)
        ck_abort_msg("%s", error.msg);
}

static void refused(size_t node, struct xd_mesh_nginx how, const char *words)
{
    struct xd_error error = {.code = XD_OK};
    char *none;

    ck_assert_int_eq(xd_mesh_nginx_text(mesh, node, &how, &none, &error),
                     XD_E_INVAL);
    ck_assert_ptr_null(none);
    ck_assert_msg(strstr(error.msg, words) != NULL, "%s", error.msg);
}

static void has(const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "no '%s'", words);
}

static void lacks(const char *words)
{
    ck_assert_msg(strstr(text, words) == NULL, "'%s'", words);
}

START_TEST(defaults_are_those_that_are_written_down)
{
    write_first(HEAD ORIGIN NODES, NULL);
    has("max_size=10240m");
    has("keys_zone=chunks:2m");
    has("proxy_cache_lock_age 94s;");
    has("slice 4194304;");
    has("tcp_nopush off;");
    has("listen 10.0.0.1:8080;");
    lacks("proxy_ssl");
}
END_TEST

START_TEST(what_is_asked_for_is_said)
{
    write_first(HEAD "origin https://o.example/\n" NODES,
                &(struct xd_mesh_nginx){.cache_bytes = UINT64_C(1) << 40,
                                        .fill_s = 7,
                                        .ca_file = "/etc/a file.pem"});
    has("max_size=1048576m");
    has("keys_zone=chunks:67m");
    has("proxy_cache_lock_age 7s;");
    has("proxy_ssl_verify on;");
    has("proxy_ssl_trusted_certificate \"/etc/a file.pem\";");
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    parse(HEAD ORIGIN NODES);
    refused(2, (struct xd_mesh_nginx){0}, "no node number 2");
    refused(1, (struct xd_mesh_nginx){0}, "node b has no http address");
    refused(0, (struct xd_mesh_nginx){.cache_bytes = (UINT64_C(64) << 20) - 1},
            "too small");
    refused(0, (struct xd_mesh_nginx){.fill_s = XD_MESH_FILL_MOST_S + 1},
            "86401 s");
    refused(0, (struct xd_mesh_nginx){.ca_file = "/a\"b"}, "/a\"b");
    refused(0, (struct xd_mesh_nginx){.ca_file = "/a\\b"}, "cannot name");
    refused(0, (struct xd_mesh_nginx){.ca_file = "/a$b"}, "cannot name");
    refused(0, (struct xd_mesh_nginx){.ca_file = "/a\nb"}, "cannot name");
    write_first(HEAD ORIGIN NODES,
                &(struct xd_mesh_nginx){.cache_bytes = UINT64_C(64) << 20,
                                        .fill_s = XD_MESH_FILL_MOST_S});
}
END_TEST

START_TEST(only_nodes_with_http_are_asked_and_only_with_two_hops)
{
    write_first(HEAD ORIGIN NODES "node c https://x http://10.0.0.3:81\n",
                NULL);
    has("0:c http://node_2;");
    has("server 10.0.0.3:81 max_fails");
    lacks("node_0");
    lacks("node_1");
    write_first("xdownload nodes 1\nchunk 4m\nhops 1\n" ORIGIN NODES
                "node c http://10.0.0.3:81\n",
                NULL);
    lacks("node_2");
    lacks("@peer;");
    write_first(HEAD ORIGIN "node a http://10.0.0.1:8080\n", NULL);
    lacks("@peer {");
}
END_TEST

START_TEST(origins_of_one_server_are_asked_over_the_same_connections)
{
    write_first(HEAD "origin http://o.example/a/\norigin http://p.example/\n"
                     "origin http://o.example/b+c/\norigin http://[::1]:81/\n"
                     "node a http://[::2]:8080\n",
                NULL);
    has("\"~^/http/o[.]example/a/\" http://origin_0;");
    has("\"~^/http/o[.]example/b[+]c/\" http://origin_0;");
    has("\"~^/http/\\[::1\\]:81/\" http://origin_3;");
    has("http://origin_3 [::1]:81;");
    has("server [::1]:81;");
    has("listen [::2]:8080;");
    lacks("origin_2");
}
END_TEST

static TCase *nginx_tests(void)
{
    TCase *t = tcase_create("nginx");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, defaults_are_those_that_are_written_down);
    tcase_add_test(t, what_is_asked_for_is_said);
    tcase_add_test(t, what_cannot_be_is_refused);
    tcase_add_test(t, only_nodes_with_http_are_asked_and_only_with_two_hops);
    tcase_add_test(t,
                   origins_of_one_server_are_asked_over_the_same_connections);
    return t;
}

int main(void)
{
    return run_suite("nginx", nginx_tests());
}

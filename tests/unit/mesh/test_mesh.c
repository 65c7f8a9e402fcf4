/* SPDX-License-Identifier: MIT */
#include "mesh/mesh.h"

#include <stdio.h>
#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "suite.h"
#include "url_of.h"

#define HEADER "xdownload nodes 1\n"
#define REST "chunk 4m\nhops 2\norigin https://releases.example.com/\n"
#define NODES "node a http://10.0.0.1:8080\nnode b http://10.0.0.2:8080\n"

#define RELEASE_KEY UINT64_C(0x2f6d75e248b891df)

static struct xd_mesh *mesh;

static void teardown(void)
{
    xd_mesh_free(mesh);
    mesh = NULL;
}

static void parse(const char *text)
{
    struct xd_error error = {.code = XD_OK};

    teardown();
    if (xd_mesh_parse(&mesh, text, strlen(text), "NODES", &error) < 0)
        ck_abort_msg("%s", error.msg);
}

/* The text is refused by a sentence that has `words` in it. */
static void refused(const char *text, const char *words)
{
    struct xd_error error = {.code = XD_OK};
    struct xd_mesh *m;

    ck_assert_int_eq(xd_mesh_parse(&m, text, strlen(text), "NODES", &error),
                     XD_E_MANIFEST);
    ck_assert_ptr_null(m);
    ck_assert_msg(strstr(error.msg, words) != NULL, "%s", error.msg);
}

/* A mesh of so many nodes with the ids "a", "b", ... or "n0", "n1", ... */
static void make(unsigned n, const char *format)
{
    char text[60000] = HEADER REST;
    size_t len = strlen(text);

    for (unsigned i = 0; i < n; i++) {
        char id[16];

        if (format == NULL)
            snprintf(id, sizeof id, "%c", 'a' + (int)i);
        else
            snprintf(id, sizeof id, "%s%u", format, i);
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "node %s http://10.0.%u.%u:8080\n", id, i / 200,
                                i % 200);
    }
    parse(text);
}

START_TEST(a_mesh_is_read)
{
    parse("# of the lab\n\n" HEADER "hops 2\r\n  chunk\t64k \n"
          "origin HTTPS://Releases.Example.COM:443\n"
          "origin http://127.0.0.1:8000/pub/linux\n"
          "node a-1 http://10.0.0.1:8080\n# one more\n"
          "node B_2 http://10.0.0.2:80/ HTTPS://B.example:8443");
    ck_assert_uint_eq(mesh->chunk, 64 << 10);
    ck_assert_uint_eq(mesh->hops, 2);
    ck_assert_uint_eq(mesh->n_origins, 2);
    ck_assert_str_eq(mesh->origins[0], "https://releases.example.com/");
    ck_assert_str_eq(mesh->origins[1], "http://127.0.0.1:8000/pub/linux/");
    ck_assert_uint_eq(mesh->n_nodes, 2);
    ck_assert_str_eq(mesh->nodes[0].id, "a-1");
    ck_assert_uint_eq(mesh->nodes[0].n_addresses, 1);
    ck_assert_str_eq(mesh->nodes[0].addresses[0], "http://10.0.0.1:8080");
    ck_assert_str_eq(mesh->nodes[1].id, "B_2");
    ck_assert_uint_eq(mesh->nodes[1].n_addresses, 2);
    ck_assert_str_eq(mesh->nodes[1].addresses[0], "http://10.0.0.2");
    ck_assert_str_eq(mesh->nodes[1].addresses[1], "https://b.example:8443");
}
END_TEST

START_TEST(what_is_written_is_read_again)
{
    static const char *const texts[] = {
        HEADER REST NODES,
        HEADER "chunk 68k\nhops 1\norigin http://a.example/\n"
               "node b http://10.0.0.2:8080 http://b.example:8080\n"};

    for (size_t i = 0; i < 2; i++) {
        char *text;

        parse(texts[i]);
        text = xd_mesh_write(mesh);
        ck_assert_str_eq(text, texts[i]);
        xd_free(text);
    }
}
END_TEST

START_TEST(what_is_no_mesh_is_refused_with_its_line)
{
    refused("", "NODES: no line 'xdownload nodes 1'");
    refused("chunk 4m\n", "line 1: 'xdownload nodes 1' expected");
    refused("xdownload nodes 2\n", "line 1");
    refused(HEADER "speed 3\n", "line 2: unknown word 'speed'");
    refused(HEADER REST, "no line 'node'");
    refused(HEADER "hops 1\norigin http://o/\n" NODES, "no line 'chunk'");
    refused(HEADER "chunk 4m\norigin http://o/\n" NODES, "no line 'hops'");
    refused(HEADER "chunk 4m\nhops 1\n" NODES, "no line 'origin'");
    refused(HEADER REST "chunk 4m\n" NODES, "line 5: the chunk size is given");
    refused(HEADER REST "hops 2\n" NODES,
            "line 5: the number of hops is given");
    refused(HEADER "chunk 4m 5m\n", "'chunk' takes one word");
    refused(HEADER "origin http://a/ http://b/\n", "'origin' takes one word");
    refused(HEADER "hops\n", "'hops' takes one word");
    refused(HEADER "hops 3\n", "invalid number of hops '3': use 1 or 2");
    refused(HEADER "hops 22\n", "'22'");
}
END_TEST

START_TEST(absurd_chunks_are_refused)
{
    refused(HEADER "chunk 60k\n", "invalid chunk size '60k'");
    refused(HEADER "chunk 65537\n", "invalid chunk size '65537'");
    refused(HEADER "chunk 1073745920\n", "1073745920");
    refused(HEADER "chunk 0\n", "'0'");
    refused(HEADER "chunk -4m\n", "'-4m'");
    refused(HEADER "chunk 99999999999999999999999999999999999m\n", "invalid");
    parse(HEADER "chunk 1g\nhops 1\norigin http://a/\n" NODES);
    ck_assert_uint_eq(mesh->chunk, XD_MESH_CHUNK_MOST);
}
END_TEST

START_TEST(origins_that_are_not_plain_are_refused)
{
    static const char *const urls[] = {
        "ftp://a/",           "file:///etc/",      "a.example",
        "http://me@a/",       "http://a./",        "http://a/?x=1",
        "http://a/#x",        "http://a/../",      "http://a//b/",
        "http://a/%2e%2e/",   "http://a/%2f/",     "http://a/$uri/",
        "http://a/(x)/",      "http://b\xc3\xbc/", "http://a/;x/",
        "http://a/\xc3\xbc/", "http://a/x\"/",     "http://a/{b}/"};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        char text[200];

        snprintf(text, sizeof text, HEADER "origin %s\n", urls[i]);
        refused(text, "line 2");
        refused(text, "is no origin");
    }
    refused(HEADER REST "origin https://RELEASES.example.com:443\n",
            "https://releases.example.com/ is listed twice");
    refused(HEADER REST "node a https://releases.example.com\n",
            "origin https://releases.example.com/ is node a");
}
END_TEST

START_TEST(nodes_that_are_not_plain_are_refused)
{
    refused(HEADER "node\n", "invalid node id ''");
    refused(HEADER "node a/b http://b:1\n", "invalid node id 'a/b'");
    refused(HEADER "node 123456789012345678901234567890123 http://b:1\n",
            "invalid node id");
    refused(HEADER "node a\n", "node a has no address");
    refused(HEADER "node a http://b:1/x\n", "is no address of a node");
    refused(HEADER "node a http://b:1/?x\n", "is no address of a node");
    refused(HEADER "node a b:1\n", "is no address of a node");
    refused(HEADER "node a http://b:1 http://b:1/\n", "nodes a and a");
    refused(HEADER "node a http://b:1\nnode A http://b:2\n",
            "line 3: there is a node a already");
    refused(HEADER "node a http://b:1\nnode c http://B:1/\n",
            "line 3: nodes a and c have the same address http://b:1");
    refused(HEADER "node a http://a:1 http://a:2 http://a:3 http://a:4 "
                   "http://a:5 http://a:6 http://a:7 http://a:8 http://a:9\n",
            "more than 8 addresses");
}
END_TEST

START_TEST(more_nodes_or_origins_than_are_allowed_are_refused)
{
    struct xd_error error;
    struct xd_mesh *m;
    static struct {
        char s[80000];
        size_t len;
    } text;

    text.len = (size_t)sprintf(text.s, HEADER);
    for (int i = 0; i <= XD_MESH_NODES_MAX; i++)
        text.len += (size_t)sprintf(text.s + text.len, "node %d http://a:%d\n",
                                    i, i + 1);
    ck_assert_int_eq(xd_mesh_parse(&m, text.s, text.len, "N", &error),
                     XD_E_MANIFEST);
    ck_assert_str_eq(error.msg, "N: line 1026: more than 1024 nodes");
    text.len = (size_t)sprintf(text.s, HEADER);
    for (int i = 0; i <= XD_MESH_ORIGINS_MAX; i++)
        text.len +=
            (size_t)sprintf(text.s + text.len, "origin http://a:%d\n", i + 1);
    ck_assert_int_eq(xd_mesh_parse(&m, text.s, text.len, "N", &error),
                     XD_E_MANIFEST);
    ck_assert_str_eq(error.msg, "N: line 258: more than 256 origins");
}
END_TEST

START_TEST(a_nul_is_refused)
{
    static const char text[] = HEADER "hops\0002\n";
    struct xd_error error;
    struct xd_mesh *m;

    ck_assert_int_eq(xd_mesh_parse(&m, text, sizeof text - 1, "N", &error),
                     XD_E_MANIFEST);
}
END_TEST

START_TEST(files_at_its_origins_are_taken)
{
    static const char *const urls[] = {
        "https://releases.example.com/12/a.iso",
        "HTTPS://Releases.Example.com:443/12/a.iso",
        "https://releases.example.com",
        "https://releases.example.com/",
        "https://releases.example.com/a/",
        "https://releases.example.com/a%20b/.hidden/...x",
        "https://releases.example.com/a?raw=1&path=x/y?z#part",
        "http://10.1.1.1/pub/a",
    };

    parse(HEADER REST "origin http://10.1.1.1/pub/\n" NODES);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        ck_assert_msg(xd_mesh_takes(mesh, url_of(urls[i])), "%s", urls[i]);
}
END_TEST

START_TEST(other_files_are_not_taken)
{
    static const char *const urls[] = {
        "http://releases.example.com/a",
        "https://releases.example.com:8443/a",
        "https://releases.example.com.evil/a",
        "https://me:pw@releases.example.com/a",
        "https://releases.example.com./a",
        "https://evil/releases.example.com/",
        "ftp://10.1.1.1/pub/a",
        "http://10.1.1.1/private/a",
        "http://10.1.1.1/pub",
        "http://10.1.1.1/Pub/a",
        "http://10.1.1.1/",
        "http://10.1.1.1",
        "not a URL",
    };

    parse(HEADER REST "origin http://10.1.1.1/pub/\n" NODES);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        ck_assert_msg(!xd_mesh_takes(mesh, url_of(urls[i])), "%s", urls[i]);
}
END_TEST

START_TEST(paths_that_two_servers_could_read_differently_are_not_taken)
{
    static const char *const paths[] = {
        "a/../b", "..",    "a/..",     "./a",       ".",     "/a",
        "a//b",   "a%2fb", "a%2Fb",    "%2e%2e/a",  "a%5cb", "a%00",
        "a%0a",   "a%7F",  "a%",       "a%2",       "a%zz",  "a?x%00",
        "a?x%2",  "a|b",   "a\"b",     "a<b",       "a[b",   "a{b",
        "a^b",    "a`b",   "\xc3\xbc", "a?\xc3\xbc"};

    parse(HEADER REST NODES);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char url[200];

        snprintf(url, sizeof url, "https://releases.example.com/%s", paths[i]);
        ck_assert_msg(!xd_mesh_takes(mesh, url_of(url)), "%s", url);
    }
}
END_TEST

START_TEST(presigned_files_are_not_taken)
{
    static const char *const queries[] = {"X-Amz-Signature=1",
                                          "a=1&X-Amz-Credential=b",
                                          "x=1;token=2",
                                          "X-Goog-Signature=1",
                                          "sv=1&se=2&sp=r&sig=x",
                                          "AWSAccessKeyId=1",
                                          "Expires=1&Signature=2&Key-Pair-Id=3",
                                          "access_token=1",
                                          "KEY=1",
                                          "Policy=1",
                                          "password=1",
                                          "auth"};

    parse(HEADER REST NODES);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        char url[200];

        snprintf(url, sizeof url, "https://releases.example.com/a?%s",
                 queries[i]);
        ck_assert_msg(!xd_mesh_takes(mesh, url_of(url)), "%s", url);
    }
    ck_assert(xd_mesh_takes(
        mesh, url_of("https://releases.example.com/a?v=sig&name=token")));
}
END_TEST

static void has_url(const char *url, size_t node, size_t address,
                    const char *expected)
{
    char *s = xd_mesh_url(mesh, node, address, url_of(url));

    ck_assert_str_eq(s, expected);
    xd_free(s);
}

START_TEST(a_file_has_a_url_at_each_node)
{
    parse(HEADER REST NODES "node c http://10.0.0.3:1 https://c.example\n");
    has_url("https://Releases.example.com:443/12/A%20.iso?x=/1#top", 0, 0,
            "http://10.0.0.1:8080/https/releases.example.com/12/A%20.iso?x=/1");
    has_url("http://[2001:DB8::1]:8000/a", 2, 1,
            "https://c.example/http/[2001:db8::1]:8000/a");
    has_url("http://a.example?x", 1, 0,
            "http://10.0.0.2:8080/http/a.example/?x");
}
END_TEST

START_TEST(a_file_has_one_key_however_its_url_is_written)
{
    uint64_t key = xd_mesh_file_key(url_of("http://a.example/?x"));

    ck_assert_uint_eq(xd_mesh_file_key(url_of("HTTP://A.Example:80?x#y")), key);
    ck_assert_uint_ne(xd_mesh_file_key(url_of("https://a.example/?x")), key);
    ck_assert_uint_ne(xd_mesh_file_key(url_of("http://a.example:81/?x")), key);
    ck_assert_uint_ne(xd_mesh_file_key(url_of("http://a.example/")), key);
    ck_assert_uint_ne(xd_mesh_file_key(url_of("http://a.example/?X")), key);
}
END_TEST

/* Numbers that another program has computed from the header's words. */
START_TEST(ranks_are_those_that_are_written_down)
{
    unsigned out[5];

    make(5, NULL);
    ck_assert_uint_eq(mesh->nodes[0].weight_seed, UINT64_C(0x5f29c2aadd9b8527));
    ck_assert_uint_eq(
        xd_mesh_file_key(url_of("https://Releases.example.com:443/12/a.iso")),
        RELEASE_KEY);
    xd_mesh_rank(mesh, RELEASE_KEY, 0, out, 5);
    ck_assert_mem_eq(out, ((unsigned[]){0, 3, 4, 1, 2}), sizeof out);
    xd_mesh_rank(mesh, RELEASE_KEY, 12345678901, out, 5);
    ck_assert_mem_eq(out, ((unsigned[]){3, 1, 4, 2, 0}), sizeof out);
}
END_TEST

START_TEST(the_first_few_of_a_rank_are_the_first_of_all)
{
    unsigned all[40], few[40];

    make(40, "n");
    for (unsigned n = 1; n <= 40; n++)
        for (uint64_t chunk = 0; chunk < 50; chunk++) {
            xd_mesh_rank(mesh, 7, chunk, all, 40);
            xd_mesh_rank(mesh, 7, chunk, few, n);
            ck_assert_mem_eq(few, all, n * sizeof *few);
        }
}
END_TEST

START_TEST(the_order_in_which_nodes_stand_changes_no_rank)
{
    unsigned forwards[3], backwards[3];

    for (uint64_t chunk = 0; chunk < 100; chunk++) {
        parse(HEADER REST
              "node a http://a\nnode b http://b\nnode c http://c\n");
        xd_mesh_rank(mesh, 1, chunk, forwards, 3);
        parse(HEADER REST
              "node c http://x\nnode b http://y\nnode a http://z\n");
        xd_mesh_rank(mesh, 1, chunk, backwards, 3);
        for (size_t i = 0; i < 3; i++)
            ck_assert_uint_eq(backwards[i], 2 - forwards[i]);
    }
}
END_TEST

/* Within four standard deviations of even, for each place, and for pairs of the
 * first two: what `a` owns is not all `b`'s second. */
static void shares_are_even(unsigned n, const char *ids, uint64_t chunks)
{
    double even = (double)chunks / n, pair = even / (n - 1);
    unsigned out[8], first[8] = {0}, second[8][8] = {{0}};

    make(n, ids);
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        xd_mesh_rank(mesh, xd_mesh_file_key(url_of("https://a.example/b.iso")),
                     chunk, out, 2);
        first[out[0]]++;
        second[out[0]][out[1]]++;
    }
    for (unsigned i = 0; i < n; i++) {
        double off = first[i] - even;

        ck_assert_msg(off * off < 16 * even, "node %u: %u", i, first[i]);
        for (unsigned k = 0; k < n; k++) {
            off = second[i][k] - pair;
            ck_assert(k == i ? second[i][k] == 0 : off * off < 16 * pair);
        }
    }
}

START_TEST(ids_of_one_letter_and_ids_with_numbers_have_even_shares)
{
    shares_are_even(3, NULL, 30000);
    shares_are_even(5, NULL, 30000);
    shares_are_even(5, "node-0", 30000);
    shares_are_even(8, "cache", 30000);
}
END_TEST

/* Of many files that have one chunk each, likewise. */
START_TEST(files_of_one_chunk_have_even_shares)
{
    unsigned first[5] = {0}, out[1];

    make(5, NULL);
    for (int i = 0; i < 20000; i++) {
        char url[60];

        snprintf(url, sizeof url, "https://a.example/%d.deb", i);
        xd_mesh_rank(mesh, xd_mesh_file_key(url_of(url)), 0, out, 1);
        first[out[0]]++;
    }
    for (int i = 0; i < 5; i++)
        ck_assert(first[i] > 3750 && first[i] < 4250);
}
END_TEST

START_TEST(a_node_that_leaves_moves_only_what_it_had)
{
    unsigned before[1000], out[2], moved = 0;

    make(5, NULL);
    for (uint64_t chunk = 0; chunk < 1000; chunk++) {
        xd_mesh_rank(mesh, 99, chunk, out, 2);
        before[chunk] = out[0] == 4 ? out[1] : out[0];
        moved += out[0] == 4;
    }
    ck_assert_uint_gt(moved, 100);
    make(4, NULL);
    for (uint64_t chunk = 0; chunk < 1000; chunk++) {
        xd_mesh_rank(mesh, 99, chunk, out, 1);
        ck_assert_uint_eq(out[0], before[chunk]);
    }
}
END_TEST

static TCase *mesh_tests(void)
{
    TCase *t = tcase_create("mesh");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, a_mesh_is_read);
    tcase_add_test(t, what_is_written_is_read_again);
    tcase_add_test(t, what_is_no_mesh_is_refused_with_its_line);
    tcase_add_test(t, absurd_chunks_are_refused);
    tcase_add_test(t, origins_that_are_not_plain_are_refused);
    tcase_add_test(t, nodes_that_are_not_plain_are_refused);
    tcase_add_test(t, more_nodes_or_origins_than_are_allowed_are_refused);
    tcase_add_test(t, a_nul_is_refused);
    tcase_add_test(t, files_at_its_origins_are_taken);
    tcase_add_test(t, other_files_are_not_taken);
    tcase_add_test(t,
                   paths_that_two_servers_could_read_differently_are_not_taken);
    tcase_add_test(t, presigned_files_are_not_taken);
    tcase_add_test(t, a_file_has_a_url_at_each_node);
    tcase_add_test(t, a_file_has_one_key_however_its_url_is_written);
    tcase_add_test(t, ranks_are_those_that_are_written_down);
    tcase_add_test(t, the_first_few_of_a_rank_are_the_first_of_all);
    tcase_add_test(t, the_order_in_which_nodes_stand_changes_no_rank);
    tcase_add_test(t, ids_of_one_letter_and_ids_with_numbers_have_even_shares);
    tcase_add_test(t, files_of_one_chunk_have_even_shares);
    tcase_add_test(t, a_node_that_leaves_moves_only_what_it_had);
    return t;
}

int main(void)
{
    return run_suite("mesh", mesh_tests());
}

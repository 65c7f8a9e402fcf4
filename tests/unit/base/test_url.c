/* SPDX-License-Identifier: MIT */
/* lib/base/url: which depot a URL names, and what is no URL at all. */
#include <string.h>

#include "base/alloc.h"
#include "base/url.h"
#include "suite.h"
#include "url_of.h"

static struct xd_url parse(const char *s)
{
    struct xd_url u;

    ck_assert_msg(xd_url_parse(&u, s), "refused: %s", s);
    return u;
}

static void is_text(struct xd_span s, const char *expected)
{
    ck_assert_uint_eq(s.len, strlen(expected));
    ck_assert_mem_eq(s.s, expected, s.len);
}

static void has_depot(const char *url, const char *expected)
{
    struct xd_url u = parse(url);
    char *depot = xd_url_depot(&u);

    ck_assert_ptr_nonnull(depot);
    ck_assert_msg(strcmp(depot, expected) == 0, "%s lies on %s", url, depot);
    xd_free(depot);
}

static void is_shown_as(const char *url, const char *expected)
{
    char *shown = xd_url_public(url_of(url));

    ck_assert_ptr_nonnull(shown);
    ck_assert_str_eq(shown, expected);
    ck_assert_str_eq(xd_url_name(url_of(url)).s, expected);
    xd_free(shown);
}

static void refuses(const char *const *urls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct xd_url u;

        ck_assert_msg(!xd_url_parse(&u, urls[i]), "accepted: %s", urls[i]);
    }
}

#define REFUSES(urls) refuses(urls, sizeof(urls) / sizeof *(urls))

START_TEST(a_url_falls_into_its_parts)
{
    struct xd_url u =
        parse("http://me:pw@Mirror.example:8080/pub/a%20b.iso?x=1&y@z#top");

    ck_assert_int_eq(u.scheme, XD_SCHEME_HTTP);
    ck_assert(xd_url_has_login(&u));
    is_text(xd_url_host(&u), "Mirror.example");
    ck_assert_uint_eq(u.port, 8080);
    ck_assert(!u.port_is_default);
    is_text(xd_url_path(&u), "/pub/a%20b.iso");
}
END_TEST

START_TEST(a_url_that_keys_have_signed_is_known)
{
    struct xd_url u = parse("http://h/b/k?X-Amz-Date=d&X-Amz-Signature=00");

    ck_assert(xd_url_is_presigned(&u));
    u = parse("http://h/b/k?signature=00");
    ck_assert(!xd_url_is_presigned(&u));
}
END_TEST

START_TEST(each_scheme_is_known_in_either_case_with_its_own_port)
{
    const struct {
        const char *url;
        enum xd_scheme scheme;
        unsigned port;
    } samples[] = {
        {"http://h/", XD_SCHEME_HTTP, 80},
        {"HTTP://h/", XD_SCHEME_HTTP, 80},
        {"https://h/", XD_SCHEME_HTTPS, 443},
        {"Ftp://h/", XD_SCHEME_FTP, 21},
        {"ftps://h/", XD_SCHEME_FTPS, 990},
        {"ibp://h/", XD_SCHEME_IBP, 6714},
        {"file:///f", XD_SCHEME_FILE, 0},
        {"httpx://h/", XD_SCHEME_OTHER, 0},
        {"svn+ssh://h/", XD_SCHEME_OTHER, 0},
    };

    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct xd_url u = parse(samples[i].url);

        ck_assert_int_eq(u.scheme, samples[i].scheme);
        ck_assert_uint_eq(u.port, samples[i].port);
        ck_assert(u.port_is_default);
        ck_assert(!xd_url_has_login(&u));
    }
}
END_TEST

START_TEST(a_path_may_be_missing_and_ends_at_query_and_fragment)
{
    struct xd_url bare = parse("http://h"), query = parse("http://h?q/r"),
                  fragment = parse("http://h/a#b?c"),
                  at_sign = parse("http://h/@scope/p"),
                  beyond_ascii = parse("http://h/caf\xc3\xa9");

    is_text(xd_url_path(&bare), "");
    is_text(xd_url_path(&query), "");
    is_text(xd_url_host(&query), "h");
    is_text(xd_url_path(&fragment), "/a");
    is_text(xd_url_path(&at_sign), "/@scope/p");
    is_text(xd_url_path(&beyond_ascii), "/caf\xc3\xa9");
}
END_TEST

START_TEST(a_local_file_has_no_host)
{
    struct xd_url u = parse("file:///data/x.bin");

    is_text(xd_url_host(&u), "");
    is_text(xd_url_path(&u), "/data/x.bin");
}
END_TEST

START_TEST(a_capability_keeps_all_that_follows_the_host)
{
    struct xd_url u = parse("ibp://host:6714/0#IBP-key?/123/READ");

    ck_assert_int_eq(u.scheme, XD_SCHEME_IBP);
    ck_assert_uint_eq(u.port, 6714);
    ck_assert_uint_eq(u.path_len, strlen("/0#IBP-key?/123/READ"));
    is_text(xd_url_path(&u), ""); /* it is a secret */
}
END_TEST

START_TEST(the_port_0_of_a_capability_is_that_of_ibp)
{
    struct xd_url u = parse("ibp://host:0/k/1/READ"), other;

    ck_assert_uint_eq(u.port, 6714);
    ck_assert(u.port_is_default);
    ck_assert(!xd_url_parse(&other, "http://host:0/"));
}
END_TEST

START_TEST(an_ipv6_host_of_a_capability_may_lack_its_brackets)
{
    struct xd_url bare = parse("ibp://2001:db8::1:6715/k/1/READ"),
                  bracketed = parse("ibp://[::1]:6715/k/1/READ"), other;

    is_text(xd_url_host(&bare), "2001:db8::1");
    ck_assert_uint_eq(bare.port, 6715);
    is_text(xd_url_host(&bracketed), "[::1]");
    ck_assert_uint_eq(bracketed.port, 6715);
    ck_assert(!xd_url_parse(&other, "http://2001:db8::1:80/"));
    ck_assert(!xd_url_parse(&other, "ibp://a.example:1:6714/k"));
    ck_assert(!xd_url_parse(&other, "ibp://::1:99999/k"));
}
END_TEST

START_TEST(an_ipv6_host_stays_in_its_brackets)
{
    struct xd_url bare = parse("http://[2001:DB8::1]/x"),
                  port = parse("https://u@[::1]:8443/x");

    is_text(xd_url_host(&bare), "[2001:DB8::1]");
    ck_assert_uint_eq(bare.port, 80);
    is_text(xd_url_host(&port), "[::1]");
    ck_assert_uint_eq(port.port, 8443);
    has_depot("http://[2001:DB8::1]/x", "[2001:db8::1]");
    has_depot("https://[::1]:8443/", "[::1]:8443");
    has_depot("https://[fe80::1%25E0]:8443/", "[fe80::1%25e0]:8443");
}
END_TEST

START_TEST(what_two_parsers_could_read_differently_is_no_url)
{
    const char *const urls[] = {
        "http://a\\@b/",
        "http://a\\b",
        "http://a:80\\b/",
        "http://a@b@c/",
        "http://a /x",
        "http://a/x y",
        "http://a/x\ty",
        " http://a/",
        "http://a/\n",
        "http://a/\x7f",
        "http://a?@b/",
        "http://a#@b/",
        "http://a[b]/",
        "http://a%2eb/",
        "http://caf\xe9/",
        "http://a,b/",
        "http://[::1]@b/",
        "http://[@b/",
        "http://b]/",
        "http://[::1]x/",
        "http://[::1]80/",
        "http://[fe80::1%e0]/",
        "http://[fe80::1%25]/",
        "http://[fe80::1%25e 0]/",
        "http://[%25e0]/",
        "http://[1.2.3.4]/",
        "http://[]/",
        "http://a:b:80/",
        "http://[::]/",
        "http://a\xc2\xad"
        "b/",
        "http://a\xe2\x80\xae"
        "b/",
        "http://a\xc0\xaf/",
    };

    REFUSES(urls);
}
END_TEST

START_TEST(a_host_may_have_letters_of_any_script)
{
    struct xd_url u = parse("http://caf\xc3\xa9.example:81/x");

    ck_assert_uint_eq(u.host_len, strlen("caf\xc3\xa9.example"));
    ck_assert_uint_eq(u.port, 81);
}
END_TEST

START_TEST(a_port_that_cannot_be_is_no_url)
{
    const char *const urls[] = {
        "http://h:/",      "http://h:0/",      "http://h:65536/",
        "http://h:99999/", "http://h:-1/",     "http://h:+80/",
        "http://h:80a/",   "http://h:000080/", "http://h:80:80/",
        "file://h:80/x",   "http://:80/",      "http://h:18446744073709551696/",
    };

    REFUSES(urls);
    ck_assert_uint_eq(parse("http://h:65535/").port, 65535);
    ck_assert_uint_eq(parse("http://h:1/").port, 1);
}
END_TEST

START_TEST(a_number_is_a_host_only_as_a_dotted_quad)
{
    const char *const urls[] = {
        "http://127.1/",       "http://2130706433/",  "http://0x7f000001/",
        "http://0177.0.0.1/",  "http://127.0.0.010/", "http://1.2.3.256/",
        "http://1.2.3.4.5/",   "http://127.0.0.0X1/", "http://1.2.3.4./",
        "http://a.example.7/", "http://127.0.0.01/",  "http://1.2.3.0001/",
        "http://1.2.3./",
    };

    REFUSES(urls);
    has_depot("http://127.0.0.1:8080/", "127.0.0.1:8080");
    has_depot("http://0.10.255.199/", "0.10.255.199");
    has_depot("http://7.example/", "7.example");
    has_depot("http://0xcafe.example/", "0xcafe.example");
}
END_TEST

START_TEST(what_has_no_scheme_or_no_host_is_no_url)
{
    const char *const urls[] = {
        "",           "a",          "/a/b",       "//h/x",       "://h/x",
        "http",       "http:",      "http:/h/x",  "http:h",      "1http://h/",
        "ht_tp://h",  "http://",    "http:///x",  "http://?x",   "https://#x",
        "ftp:///x",   "ibp:///0#k", "http://@/x", "http://u@/x", "file://u@/x",
        "mailto:a@b",
    };

    REFUSES(urls);
}
END_TEST

START_TEST(a_url_may_be_long_but_not_endless)
{
    char url[XD_URL_MAX + 2] = "http://h/";
    struct xd_url u;

    memset(url + 9, 'x', sizeof url - 9);
    url[XD_URL_MAX] = '\0';
    ck_assert(xd_url_parse(&u, url));
    url[XD_URL_MAX] = 'x';
    url[XD_URL_MAX + 1] = '\0';
    ck_assert(!xd_url_parse(&u, url));
}
END_TEST

START_TEST(the_web_urls_of_one_host_are_one_depot)
{
    has_depot("http://Mirror.Example/a", "mirror.example");
    has_depot("https://u:p@mirror.example/a?b", "mirror.example");
    has_depot("ftp://mirror.example./a", "mirror.example");
    has_depot("http://mirror.example:80/", "mirror.example");
    has_depot("https://mirror.example:443/", "mirror.example");
    has_depot("http://mirror.example:443/", "mirror.example:443");
    has_depot("http://mirror.example:8080/", "mirror.example:8080");
}
END_TEST

START_TEST(an_ibp_depot_and_the_disk_are_no_web_server)
{
    has_depot("ibp://Mirror.example/0#k", "mirror.example:6714");
    has_depot("ibp://mirror.example:6714/0#k", "mirror.example:6714");
    has_depot("file:///a/b", "file:");
    has_depot("file://localhost/a/b", "file:");
}
END_TEST

START_TEST(secrets_are_not_shown)
{
    is_shown_as("http://me:pw@h:8080/a/b?token=1#f", "http://h:8080/a/b");
    is_shown_as("HTTPS://H/a", "HTTPS://H/a");
    is_shown_as("http://h?token", "http://h");
    is_shown_as("ibp://h:6714/0#IBP-key/123/READ", "ibp://h:6714/...");
    is_shown_as("ibp://h", "ibp://h/...");
}
END_TEST

START_TEST(what_is_no_url_is_shown_unless_it_may_hold_a_secret)
{
    is_shown_as("htp:/h/x", "htp:/h/x");
    is_shown_as("http://me:pw@h h/", "(not a URL)");
    is_shown_as("http://h h/?token=1", "(not a URL)");
    is_shown_as("IBP:h/key", "(not a URL)");
}
END_TEST

static void has_path(const char *url, const char *expected)
{
    struct xd_url u = parse(url);
    char *path;

    ck_assert_msg(xd_url_is_local(&u), "%s", url);
    path = xd_url_local_path(&u);
    ck_assert_str_eq(path, expected);
    xd_free(path);
}

START_TEST(a_file_url_names_a_path_of_this_machine)
{
    has_path("file:///", "/");
    has_path("file:///a/b", "/a/b");
    has_path("FILE://LocalHost/a", "/a");
    has_path("file:///a%20b%2f%C3%a9%7E", "/a b/\xc3\xa9~");
    has_path("file:///%01%10", "/\x01\x10");
}
END_TEST

START_TEST(what_names_more_or_less_than_a_path_here_is_not_local)
{
    static const char *const urls[] = {
        "http://h/a",          "file://",      "file://elsewhere/a",
        "file://localhostx/a", "file:///a?b",  "file:///a#b",
        "file:///a%00b",       "file:///a%2",  "file:///a%",
        "file:///a%g0",        "file:///a%0g", "file://me@localhost/a"};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct xd_url u = parse(urls[i]);

        ck_assert_msg(!xd_url_is_local(&u), "%s", urls[i]);
    }
}
END_TEST

START_TEST(names_of_compressed_files_end_so)
{
    static const char *const yes[] = {"a.tar.gz", "http://h/a.TGZ",
                                      "http://h/a.xz?x=1#y",
                                      "http://h/get?file=a.svgz", "x.Z"};
    static const char *const no[] = {"gz",    ".gz", "http://h/a.tar",
                                     "a.gz/", "",    "http://h.gz/a"};

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_msg(xd_name_is_compressed(yes[i]) &&
                          xd_url_names_compressed(url_of(yes[i])),
                      "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(!xd_name_is_compressed(no[i]) &&
                          !xd_url_names_compressed(url_of(no[i])),
                      "%s", no[i]);
}
END_TEST

static bool depots_are_one(const char *a, const char *b)
{
    return xd_url_compare_depots(url_of(a), url_of(b)) == 0;
}

/* What each URL gives away, and what it keeps. */
static const struct odd {
    const char *url, *depot, *shown;
    unsigned port;
    const char *secret; /* not to be seen, or NULL */
} odd[] = {
    {"http://[2001:DB8::1]:8080/f", "[2001:db8::1]:8080",
     "http://[2001:DB8::1]:8080/f", 8080, NULL},
    {"https://[::1]/f?key=1", "[::1]", "https://[::1]/f", 443, "key"},
    {"http://user:pw@h/f", "h", "http://h/f", 80, "user"},
    {"http://@h/f", "h", "http://h/f", 80, "@"},
    {"http://:pw@h:80/f", "h", "http://h:80/f", 80, "pw"},
    {"ftp://user@h/f;type=i", "h", "ftp://h/f;type=i", 21, "user"},
    {"ftps://user:pw@h/f", "h", "ftps://h/f", 990, "pw"},
    {"http://h:/f", NULL, "http://h:/f", 0, NULL}, /* an empty port */
    {"http://caf\xc3\xa9.example/f", "caf\xc3\xa9.example",
     "http://caf\xc3\xa9.example/f", 80, NULL},
    {"http://xn--caf-dma.example./f", "xn--caf-dma.example",
     "http://xn--caf-dma.example./f", 80, NULL},
    {"http://h?token=1", "h", "http://h", 80, "token"},
    {"http://h/a#secret", "h", "http://h/a", 80, "secret"},
    {"ibp://h:6715/0#IBP-key?x/77/READ", "h:6715", "ibp://h:6715/...", 6715,
     "key"},
    {"ibp://::1:6714/k/1/READ", "::1:6714", "ibp://::1:6714/...", 6714, "k/1"},
    {"ibp://me:pw@h/k/1/READ", "h:6714", "ibp://h/...", 6714, "pw"},
    {"file:///a%20b", "file:", "file:///a%20b", 0, NULL},
    {"file://localhost/a?b", "file:", "file://localhost/a", 0, "b"},
    {"http://h/a b", NULL, "http://h/a b", 0, NULL}, /* a raw blank */
    {"http://u:pw@h/a b", NULL, "(not a URL)", 0, "pw"},
    {"http://h/\xc3\xa9?q", "h", "http://h/\xc3\xa9", 80, "q"},
    {"gopher://me:pw@h:70/x", "h:70", "gopher://h:70/x", 70, "pw"},
};

START_TEST(an_odd_url_says_what_it_may)
{
    const struct odd *o = &odd[_i];
    struct xd_url u, *copy;

    ck_assert_int_eq(xd_url_parse(&u, o->url), o->depot != NULL);
    ck_assert_int_eq(u.is_valid, o->depot != NULL);
    is_shown_as(o->url, o->shown);
    if (o->secret != NULL)
        ck_assert_ptr_null(strstr(xd_url_name(&u).s, o->secret));
    if (o->depot != NULL)
        has_depot(o->url, o->depot);
    ck_assert_uint_eq(u.port, o->port);
    copy = xd_url_copy(&u);
    ck_assert_ptr_nonnull(copy);
    ck_assert_ptr_ne(xd_url_secret_text(copy), o->url);
    ck_assert_str_eq(xd_url_secret_text(copy), o->url);
    ck_assert_int_eq(xd_url_compare(copy, &u), 0);
    ck_assert_str_eq(xd_url_name(copy).s, o->shown);
    ck_assert_int_eq(xd_url_same_origin(copy, &u), u.is_valid);
    xd_free(copy);
}
END_TEST

START_TEST(depots_compare_as_their_names_do)
{
    size_t n = sizeof odd / sizeof *odd;

    for (size_t i = 0; i < n * n; i++) {
        const struct odd *a = &odd[i / n], *b = &odd[i % n];

        if (a->depot != NULL && b->depot != NULL)
            ck_assert_msg(depots_are_one(a->url, b->url) ==
                              (strcmp(a->depot, b->depot) == 0),
                          "%s and %s", a->url, b->url);
    }
    ck_assert(depots_are_one("http://A.Example/", "ftps://a.example./x"));
    ck_assert(!depots_are_one("http://a.example/", "http://a.example.org/"));
    ck_assert(!depots_are_one("http://h:6714/", "http://h/"));
    ck_assert_int_lt(
        xd_url_compare_depots(url_of("http://a/"), url_of("http://B/")), 0);
    ck_assert_int_gt(
        xd_url_compare_depots(url_of("http://B/"), url_of("http://a/")), 0);
}
END_TEST

START_TEST(a_long_url_is_cut_in_sentences)
{
    char url[1000] = "http://user:pw@h/";
    struct xd_url_name name;

    memset(url + strlen(url), 'x', sizeof url - strlen(url) - 1);
    name = xd_url_name(url_of(url));
    ck_assert_uint_eq(strlen(name.s), sizeof name.s - 1);
    ck_assert_int_eq(strncmp(name.s, "http://h/xxx", 12), 0);
    ck_assert_str_eq(name.s + strlen(name.s) - 4, "x...");
}
END_TEST

START_TEST(a_value_is_small)
{
    /* There may be one for each of 200 000 replicas. */
    ck_assert_uint_le(sizeof(struct xd_url), 24);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("url");

    tcase_add_test(t, a_url_falls_into_its_parts);
    tcase_add_test(t, a_url_that_keys_have_signed_is_known);
    tcase_add_test(t, each_scheme_is_known_in_either_case_with_its_own_port);
    tcase_add_test(t, a_path_may_be_missing_and_ends_at_query_and_fragment);
    tcase_add_test(t, a_local_file_has_no_host);
    tcase_add_test(t, a_capability_keeps_all_that_follows_the_host);
    tcase_add_test(t, the_port_0_of_a_capability_is_that_of_ibp);
    tcase_add_test(t, an_ipv6_host_of_a_capability_may_lack_its_brackets);
    tcase_add_test(t, an_ipv6_host_stays_in_its_brackets);
    tcase_add_test(t, what_two_parsers_could_read_differently_is_no_url);
    tcase_add_test(t, a_host_may_have_letters_of_any_script);
    tcase_add_test(t, a_port_that_cannot_be_is_no_url);
    tcase_add_test(t, a_number_is_a_host_only_as_a_dotted_quad);
    tcase_add_test(t, what_has_no_scheme_or_no_host_is_no_url);
    tcase_add_test(t, a_url_may_be_long_but_not_endless);
    tcase_add_test(t, the_web_urls_of_one_host_are_one_depot);
    tcase_add_test(t, an_ibp_depot_and_the_disk_are_no_web_server);
    tcase_add_test(t, secrets_are_not_shown);
    tcase_add_test(t, what_is_no_url_is_shown_unless_it_may_hold_a_secret);
    tcase_add_test(t, a_file_url_names_a_path_of_this_machine);
    tcase_add_test(t, what_names_more_or_less_than_a_path_here_is_not_local);
    tcase_add_test(t, names_of_compressed_files_end_so);
    tcase_add_loop_test(t, an_odd_url_says_what_it_may, 0,
                        sizeof odd / sizeof *odd);
    tcase_add_test(t, depots_compare_as_their_names_do);
    tcase_add_test(t, a_long_url_is_cut_in_sentences);
    tcase_add_test(t, a_value_is_small);
    return run_suite("base.url", t);
}

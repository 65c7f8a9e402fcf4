/* SPDX-License-Identifier: MIT */
/*
 * Numbers, URLs and options as people and manifests write them: one in each
 * line.  Numbers are held against their own digits, URLs against libcurl,
 * which must ask the host that we compare.
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <strings.h>
#include <xdownload/options.h>

#include "base/number.h"
#include "base/hosts.h"
#include "base/typed_url.h"
#include "base/url.h"
#include "command/settings.h"
#include "engine/options.h"
#include "fuzz.h"

/* The number as digits, without leading zeros. */
static bool digits_say(const char *s, uint64_t number)
{
    char said[32];

    snprintf(said, sizeof said, "%" PRIu64, number);
    while (s[0] == '0' && s[1] != '\0')
        s++;
    return strcmp(s, said) == 0;
}

/* Digits that stand for more than 64 bits hold. */
static bool is_too_large(const char *s)
{
    while (*s == '0')
        s++;
    return strlen(s) > 20 ||
           (strlen(s) == 20 && strcmp(s, "18446744073709551615") > 0);
}

static void try_numbers(const char *s, size_t len)
{
    uint64_t number, size, usec;
    bool is_number = xd_parse_u64(s, len, &number);
    bool is_size = xd_parse_size(s, &size);
    bool is_duration = xd_parse_duration(s, &usec);

    if (is_number) {
        FUZZ_CHECK(digits_say(s, number) && is_size && size == number);
        if (is_duration)
            FUZZ_CHECK(usec / 1000000 == number && usec % 1000000 == 0);
    } else if (len > 0 && s[strspn(s, "0123456789")] == '\0') {
        FUZZ_CHECK(is_too_large(s) && !is_size && !is_duration);
    }
    if (is_size || is_duration)
        FUZZ_CHECK(s[0] >= '0' && s[0] <= '9');
}

/* With a unit behind it a number is that many times as much. */
static void try_units(const char *s, size_t len)
{
    uint64_t plain, product;
    char *with_unit;

    if (!xd_parse_u64(s, len, &plain))
        return;
    with_unit = malloc(len + 4);
    FUZZ_CHECK(with_unit != NULL);
    sprintf(with_unit, "%sMiB", s);
    if (xd_parse_size(with_unit, &product))
        FUZZ_CHECK(product >> 20 == plain && product % (1 << 20) == 0);
    else
        FUZZ_CHECK(plain >= UINT64_C(1) << 44);
    sprintf(with_unit, "%sms", s);
    if (xd_parse_duration(with_unit, &product))
        FUZZ_CHECK(product / 1000 == plain && product % 1000 == 0);
    else
        FUZZ_CHECK(plain > UINT64_MAX / 1000);
    free(with_unit);
}

/* libcurl may refuse what we take, but not read it differently.  It writes an
 * IPv6 address in its own way. */
static void hold_against_libcurl(const char *s, const struct xd_url *u)
{
    CURLU *c = curl_url();
    char *host = NULL, *port = NULL;

    FUZZ_CHECK(c != NULL);
    if (curl_url_set(c, CURLUPART_URL, s, 0) == CURLUE_OK &&
        curl_url_get(c, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(c, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) ==
            CURLUE_OK) {
        struct xd_span ours = xd_url_host(u);

        FUZZ_CHECK(host[0] == '[' || strlen(host) == ours.len);
        FUZZ_CHECK((host[0] == '[') == (ours.s[0] == '['));
        FUZZ_CHECK(host[0] == '[' || strncasecmp(host, ours.s, ours.len) == 0);
        FUZZ_CHECK(digits_say(port, u->port));
    }
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(c);
}

/* The places lie within the URL, one behind the other. */
static void check_places(const char *s, const struct xd_url *u)
{
    if (xd_url_has_login(u))
        FUZZ_CHECK(u->userinfo < u->host && s[u->host - 1] == '@');
    FUZZ_CHECK(u->host > 0 && u->host + u->host_len <= u->path);
    FUZZ_CHECK((size_t)u->path + u->path_len <= strlen(s));
}

/* What people see tells the same host, and of the secrets nothing. */
static void check_public(const struct xd_url *u)
{
    char *shown = xd_url_public(u), *depot = xd_url_depot(u), *same;
    struct xd_url again;

    FUZZ_CHECK(shown != NULL && depot != NULL);
    FUZZ_CHECK(xd_url_parse(&again, shown));
    FUZZ_CHECK(!xd_url_has_login(&again) && strpbrk(shown, "?#") == NULL);
    same = xd_url_depot(&again);
    FUZZ_CHECK(same != NULL && strcmp(depot, same) == 0);
    for (const char *c = depot; *c != '\0'; c++)
        FUZZ_CHECK(*c < 'A' || *c > 'Z');
    free(same);
    free(depot);
    free(shown);
}

static void try_url(const char *s, const struct xd_options *o)
{
    struct xd_url u;
    char *path;

    if (!xd_url_parse(&u, s)) {
        path = xd_url_public(&u);
        FUZZ_CHECK(path != NULL && strpbrk(path, "@?#") == NULL);
        free(path);
        return;
    }
    check_places(s, &u);
    check_public(&u);
    (void)xd_url_names_compressed(&u);
    FUZZ_CHECK(xd_hosts_match(o->exclude, &u) >= 0);
    if (u.scheme == XD_SCHEME_HTTP || u.scheme == XD_SCHEME_HTTPS ||
        u.scheme == XD_SCHEME_FTP)
        hold_against_libcurl(s, &u);
    if (xd_url_is_local(&u)) {
        path = xd_url_local_path(&u);
        FUZZ_CHECK(path != NULL && path[0] == '/');
        free(path);
    }
}

static int sign(int c)
{
    return (c > 0) - (c < 0);
}

/* Both ways of telling depots apart, by order and by name, say the same, and a
 * server is a part of a depot. */
static void compare(const struct xd_url *a, const struct xd_url *b)
{
    char *depot_a = xd_url_depot(a), *depot_b = xd_url_depot(b);
    bool same = xd_url_compare_depots(a, b) == 0;

    FUZZ_CHECK(depot_a != NULL && depot_b != NULL);
    FUZZ_CHECK(same == (strcmp(depot_a, depot_b) == 0));
    FUZZ_CHECK(same || !xd_url_same_origin(a, b));
    FUZZ_CHECK(sign(xd_url_compare_depots(a, b)) ==
               -sign(xd_url_compare_depots(b, a)));
    FUZZ_CHECK(sign(xd_url_compare(a, b)) == -sign(xd_url_compare(b, a)));
    FUZZ_CHECK(xd_url_same_name(a, b) == xd_url_same_name(b, a));
    FUZZ_CHECK(xd_url_same_name(a, b) || xd_url_compare(a, b) != 0);
    free(depot_a);
    free(depot_b);
}

/* A copy has a text of its own, and is the same to whoever looks. */
static void check_copy(const struct xd_url *u)
{
    struct xd_url *copy = xd_url_copy(u);
    struct xd_url_name name = xd_url_name(u);

    FUZZ_CHECK(copy != NULL && copy->secret_text != u->secret_text);
    FUZZ_CHECK(xd_url_compare(u, copy) == 0 && xd_url_same_name(u, copy));
    if (u->is_valid) {
        FUZZ_CHECK(xd_url_path(u).len == xd_url_path(copy).len);
        compare(u, copy);
    }
    FUZZ_CHECK(strcmp(name.s, xd_url_name(copy).s) == 0);
    free(copy);
}

/* The URL of a line beside that of the line before, if both are some. */
static void try_pair(const char *before, const char *s)
{
    struct xd_url a, b;

    if (xd_url_parse(&b, s) && before != NULL && xd_url_parse(&a, before))
        compare(&a, &b);
    check_copy(&b);
}

/* A host that was just excluded matches, as people type it: with blanks around
 * it, for example.  Which ones a pattern with a '*' fits is for the unit test. */
static void check_excluded(const struct xd_options *o, const char *host)
{
    char *s, *typed;
    struct xd_url u;

    if (strchr(host, '*') != NULL)
        return;
    s = malloc(strlen(host) + 16);
    FUZZ_CHECK(s != NULL);
    sprintf(s, "http://%s", host);
    typed = xd_typed_url(s);
    FUZZ_CHECK(typed != NULL && xd_url_parse(&u, typed));
    FUZZ_CHECK(xd_hosts_match(o->exclude, &u) == 1);
    free(typed);
    free(s);
}

/* "name value" sets an option, or leaves all as they are. */
static void try_option(struct xd_options *o, char *line)
{
    char *value = strchr(line, ' ');
    struct xd_error error = {.code = XD_OK};
    const uint64_t set[] = {o->set[0], o->set[1]};

    if (value == NULL)
        return;
    *value++ = '\0';
    if (xd_options_set(o, line, value, &error) < 0) {
        FUZZ_CHECK(error.code == XD_E_INVAL && error.msg[0] != '\0');
        FUZZ_CHECK(memcmp(o->set, set, sizeof set) == 0);
    } else if (strcmp(line, "exclude") == 0) {
        check_excluded(o, value);
    }
}

static void check_options(struct xd_options *o)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    struct xd_options copy;
    struct xd_range wanted;

    FUZZ_CHECK(xd_options_algorithm(o) != NULL);
    if (xd_options_check(o, NULL) < 0)
        FUZZ_CHECK((o->set[0] | o->set[1]) != 0);
    if (xd_options_wanted(o, 1000, &wanted, NULL) == 0) {
        FUZZ_CHECK(wanted.begin < wanted.end && wanted.end <= 1000);
        FUZZ_CHECK(!xd_options_want_all(o) || wanted.end == 1000);
    }
    FUZZ_CHECK(xd_options_copy(&copy, o) == 0);
    FUZZ_CHECK(memcmp(copy.set, o->set, sizeof o->set) == 0);
    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        FUZZ_CHECK(xd_options_is_set(&copy, info.name) ==
                   (o->set[i / 64] >> i % 64 & 1));
    xd_options_fini(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct xd_options *o;
    size_t line_len;
    char *line, *before = NULL;

    FUZZ_CHECK(xd_options_new(&o, NULL) == 0);
    while ((line = fuzz_line(&in, &line_len)) != NULL) {
        if (strlen(line) == line_len) {
            try_numbers(line, line_len);
            try_units(line, line_len);
        }
        try_url(line, o);
        try_pair(before, line);
        try_option(o, line);
        free(before);
        before = line;
    }
    free(before);
    check_options(o);
    xd_options_free(o);
    return 0;
}

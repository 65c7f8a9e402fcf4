/* SPDX-License-Identifier: MIT */
#include "base/hosts.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/idn.h"
#include "base/text.h"
#include "base/typed_url.h"

/* Returns the host in normalized form, so that hosts can be compared.  NULL if
 * out of memory. */
static char *spell(struct xd_url u, bool with_port)
{
    char *host, *letters = NULL;

    u.scheme = XD_SCHEME_HTTP;
    u.port_is_default = !with_port;
    host = xd_url_depot(&u);
    if (host)
        letters = xd_idn_letters(host);
    xd_free(host);
    return letters;
}

typedef bool equals_fn(const char *pattern, size_t n, const char *word);

static bool is_equal(const char *pattern, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(pattern, word, n) == 0;
}

/* Matches a word against a pattern with '*'.  On a mismatch, the last '*'
 * absorbs one more character. */
static bool fits(const char *pattern, size_t n, const char *word)
{
    const char *end = pattern + n, *star = NULL, *taken = NULL;

    while (*word) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            taken = word;
        } else if (pattern < end && *pattern == *word) {
            pattern++;
            word++;
        } else if (star) {
            pattern = star;
            word = ++taken;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static bool has_word(const char *list, const char *word, equals_fn *equals)
{
    while (*list) {
        size_t n = strcspn(list, " ");

        if (equals(list, n, word))
            return true;
        list += n + (list[n] == ' ');
    }
    return false;
}

/* Parses `text`, which is "http://HOST".  *u points into it. */
static bool parse_host(const char *text, struct xd_url *u)
{
    return xd_url_parse(u, text) && !xd_url_has_login(u) && !text[u->path];
}

static int add_word(char **list, const char *word)
{
    struct xd_text t = {.s = NULL};

    if (*list)
        xd_text_addf(&t, "%s ", *list);
    xd_text_add(&t, word, strlen(word));
    if (t.failed) {
        xd_text_fini(&t);
        return XD_E_NOMEM;
    }
    xd_free(*list);
    *list = t.s;
    return 0;
}

static int add_server(char **list, struct xd_url u, bool with_port)
{
    char *word = spell(u, with_port);
    int rc = word ? add_word(list, word) : XD_E_NOMEM;

    xd_free(word);
    return rc;
}

int xd_hosts_add(char **list, const char *host)
{
    struct xd_text t = {.s = NULL};
    char *typed = NULL;
    struct xd_url u;
    int rc = XD_E_NOMEM;

    xd_text_addf(&t, "http://%s", host);
    if (!t.failed)
        typed = xd_typed_url(t.s);
    if (!typed)
        goto out;
    rc = XD_E_INVAL;
    if (parse_host(typed, &u))
        rc =
            add_server(list, u, strlen(typed) > strlen("http://") + u.host_len);
out:
    xd_free(typed);
    xd_text_fini(&t);
    return rc;
}

int xd_hosts_add_pattern(char **list, const char *host)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_:*";
    char *word;
    int rc = XD_E_INVAL;

    if (!strchr(host, '*'))
        return xd_hosts_add(list, host);
    word = xd_strdup(host);
    if (!word)
        return XD_E_NOMEM;
    for (char *c = word; *c; c++) {
        if (strchr(upper, *c))
            *c = (char)(*c | 0x20); /* 'A' becomes 'a' */
    }
    if (strspn(word, others) == strlen(word))
        rc = add_word(list, word);
    xd_free(word);
    return rc;
}

int xd_hosts_add_url(char **list, const char *url)
{
    char *typed = xd_typed_url(url);
    struct xd_url u;
    int rc = XD_E_INVAL;

    if (!typed)
        return XD_E_NOMEM;
    if (xd_url_parse(&u, typed) && u.host_len > 0)
        rc = add_server(list, u, true);
    xd_free(typed);
    return rc;
}

static int search(const char *list, const struct xd_url *u, equals_fn *equals)
{
    char *all, *one;
    int rc = XD_E_NOMEM;

    if (!list || u->host_len == 0)
        return 0;
    all = spell(*u, false);
    one = spell(*u, true);
    if (all && one)
        rc = has_word(list, all, equals) || has_word(list, one, equals);
    xd_free(all);
    xd_free(one);
    return rc;
}

int xd_hosts_have(const char *list, const struct xd_url *u)
{
    return search(list, u, is_equal);
}

int xd_hosts_match(const char *list, const struct xd_url *u)
{
    return search(list, u, fits);
}

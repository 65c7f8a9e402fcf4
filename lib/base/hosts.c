#include "base/hosts.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/idn.h"
#include "base/text.h"

/* As a web server's URL gives it: in the one way in which hosts are compared.
 * NULL when out of memory. */
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

static bool has_word(const char *list, const char *word)
{
    const size_t len = strlen(word);

    while (*list) {
        size_t n = strcspn(list, " ");

        if (n == len && memcmp(list, word, n) == 0)
            return true;
        list += n + (list[n] == ' ');
    }
    return false;
}

/* `text` is "http://HOST", which the value borrows. */
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
    struct xd_url u;
    int rc = XD_E_NOMEM;

    xd_text_addf(&t, "http://%s", host);
    if (t.failed)
        goto out;
    rc = XD_E_INVAL;
    if (parse_host(t.s, &u))
        rc = add_server(list, u, strlen(host) > u.host_len);
out:
    xd_text_fini(&t);
    return rc;
}

int xd_hosts_add_url(char **list, const char *url)
{
    struct xd_url u;

    if (!xd_url_parse(&u, url) || u.host_len == 0)
        return XD_E_INVAL;
    return add_server(list, u, true);
}

int xd_hosts_have(const char *list, const struct xd_url *u)
{
    char *all, *one;
    int rc = XD_E_NOMEM;

    if (!list || u->host_len == 0)
        return 0;
    all = spell(*u, false);
    one = spell(*u, true);
    if (all && one)
        rc = has_word(list, all) || has_word(list, one);
    xd_free(all);
    xd_free(one);
    return rc;
}

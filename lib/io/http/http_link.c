/* SPDX-License-Identifier: MIT */
#include "io/http/http_link.h"

#include <string.h>

#include "base/number.h"

/* Parameters of one link. */
struct parameters {
    struct xd_span rel, type, pri, geo;
    bool has_rel, has_pref, has_anchor;
};

static bool begins_with(struct xd_span s, char c)
{
    return s.len > 0 && s.s[0] == c;
}

/* Removes the text up to one of `ends` and returns it without blanks around
 * it. */
static struct xd_span take_until(struct xd_span *s, const char *ends)
{
    const size_t n_ends = strlen(ends);
    size_t n = 0;

    while (n < s->len && !memchr(ends, s->s[n], n_ends))
        n++;
    struct xd_span taken = xd_span_trim(xd_span(s->s, n));
    xd_span_skip(s, n);
    return taken;
}

/* Removes a quoted string; without a closing quote, the rest.  Escapes are not
 * decoded, because no relevant value needs them. */
static struct xd_span take_quoted(struct xd_span *s)
{
    size_t n = 1;

    while (n < s->len && s->s[n] != '"')
        n += s->s[n] == '\\' && n + 1 < s->len ? 2 : 1;
    struct xd_span taken = xd_span_trim(xd_span(s->s + 1, n - 1));
    xd_span_skip(s, n < s->len ? n + 1 : s->len);
    return taken;
}

/* Removes single quotes, because some servers write 'duplicate'. */
static struct xd_span without_quotes(struct xd_span s)
{
    if (s.len >= 2 && s.s[0] == '\'' && s.s[s.len - 1] == '\'')
        return xd_span(s.s + 1, s.len - 2);
    return s;
}

/* Parses "name", "name=value" or "name = \"value\"". */
static void take_parameter(struct xd_span *s, struct xd_span *name,
                           struct xd_span *value)
{
    *name = take_until(s, "=;,");
    *value = xd_span(NULL, 0);
    if (!begins_with(*s, '='))
        return;
    xd_span_skip(s, 1);
    xd_span_skip_blanks(s);
    if (begins_with(*s, '"'))
        *value = take_quoted(s);
    else
        *value = without_quotes(take_until(s, ";,"));
    take_until(s, ";,");
}

/* Stores a parameter.  Only the first `rel` counts (RFC 8288 section 3.3), and
 * we use the same rule for the other parameters. */
static void note(struct parameters *p, struct xd_span name,
                 struct xd_span value)
{
    if (xd_span_is_word(name, "rel") && !p->has_rel) {
        p->has_rel = true;
        p->rel = value;
    } else if (xd_span_is_word(name, "type") && p->type.len == 0) {
        p->type = value;
    } else if (xd_span_is_word(name, "pri") && p->pri.len == 0) {
        p->pri = value;
    } else if (xd_span_is_word(name, "geo") && p->geo.len == 0) {
        p->geo = value;
    } else if (xd_span_is_word(name, "pref")) {
        p->has_pref = true;
    } else if (xd_span_is_word(name, "anchor")) {
        p->has_anchor = true;
    }
}

/* Returns whether `rel`, a list of words, contains `word`. */
static bool has_relation(struct xd_span rel, const char *word)
{
    while (rel.len > 0) {
        if (xd_span_is_word(take_until(&rel, " \t"), word))
            return true;
        xd_span_skip_blanks(&rel);
    }
    return false;
}

static bool find_kind(const struct parameters *p, enum xd_offered_kind *out)
{
    if (has_relation(p->rel, "duplicate"))
        *out = XD_OFFERED_COPY;
    else if (!has_relation(p->rel, "describedby"))
        return false;
    else if (xd_span_is_word(p->type, "application/metalink4+xml") ||
             xd_span_is_word(p->type, "application/metalink+xml"))
        *out = XD_OFFERED_MANIFEST;
    else if (xd_span_is_word(p->type, "application/pgp-signature"))
        *out = XD_OFFERED_SIGNATURE;
    else
        return false;
    return true;
}

static void read_location(struct xd_span geo, char out[2 + 1])
{
    out[0] = '\0';
    if (geo.len != 2)
        return;
    for (size_t i = 0; i < 2; i++) {
        char c = (char)(geo.s[i] | 0x20); /* to lower case */

        if (c < 'a' || c > 'z') {
            out[0] = '\0';
            return;
        }
        out[i] = c;
    }
    out[2] = '\0';
}

static unsigned read_priority(struct xd_span pri)
{
    uint64_t n;

    return xd_parse_u64(pri.s, pri.len, &n) && n >= 1 && n < XD_OFFER_LAST
               ? (unsigned)n
               : XD_OFFER_LAST;
}

/* Converts the parameters of a link.  Returns false for a link that is not
 * used, such as one with an anchor, which is about another object. */
static bool understand(const struct parameters *p, struct xd_http_link *out)
{
    if (p->has_anchor || out->target.len == 0 || !find_kind(p, &out->kind))
        return false;
    out->priority = read_priority(p->pri);
    out->is_preferred = p->has_pref;
    read_location(p->geo, out->location);
    return true;
}

/* Parses "<target>; name=value; ..." and the comma after it. */
static bool take_link(struct xd_span *rest, struct xd_http_link *out)
{
    struct parameters p = {.has_rel = false};
    struct xd_span name, value;
    const char *end;

    take_until(rest, "<");
    end = rest->len > 0 ? memchr(rest->s, '>', rest->len) : NULL;
    if (!end) {
        xd_span_skip(rest, rest->len);
        return false;
    }
    out->target =
        xd_span_trim(xd_span(rest->s + 1, (size_t)(end - rest->s) - 1));
    xd_span_skip(rest, (size_t)(end - rest->s) + 1);
    take_until(rest, ";,");
    while (begins_with(*rest, ';')) {
        xd_span_skip(rest, 1);
        take_parameter(rest, &name, &value);
        note(&p, name, value);
    }
    return understand(&p, out);
}

bool xd_http_link_next(struct xd_span *rest, struct xd_http_link *out)
{
    while (rest->len > 0) {
        if (take_link(rest, out))
            return true;
    }
    return false;
}

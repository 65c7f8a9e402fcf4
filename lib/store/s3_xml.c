/* SPDX-License-Identifier: MIT */
#include "store/s3_xml.h"

#include "store/s3_place.h"

#define MOST_DEPTH 8 /* S3 uses three levels */

enum tag { TAG_NONE, TAG_OPENS, TAG_CLOSES, TAG_EMPTY };

static bool is_of_name(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           c == ':';
}

static bool begins_with(struct xd_span s, const char *prefix)
{
    size_t len = strlen(prefix);

    return s.len >= len && memcmp(s.s, prefix, len) == 0;
}

static bool same(struct xd_span a, struct xd_span b)
{
    return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

/* Moves past the next `end`.  Returns false if there is none. */
static bool skip_past(struct xd_span *s, const char *end)
{
    while (s->len > 0 && !begins_with(*s, end))
        xd_span_skip(s, 1);
    if (s->len == 0)
        return false;
    xd_span_skip(s, strlen(end));
    return true;
}

/* Moves to the next tag, past text, comments and processing instructions. */
static bool skip_to_tag(struct xd_span *s)
{
    for (;;) {
        while (s->len > 0 && s->s[0] != '<')
            xd_span_skip(s, 1);
        if (begins_with(*s, "<?")) {
            if (!skip_past(s, "?>"))
                return false;
        } else if (begins_with(*s, "<!--")) {
            if (!skip_past(s, "-->"))
                return false;
        } else {
            return s->len > 0 && !begins_with(*s, "<!");
        }
    }
}

/* Moves past the attributes and the '>'. */
static bool skip_attributes(struct xd_span *s, bool *out_is_empty)
{
    char quote = '\0', last = '\0';

    for (; s->len > 0; xd_span_skip(s, 1)) {
        char c = s->s[0];

        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '<') {
            return false;
        } else if (c == '>') {
            *out_is_empty = last == '/';
            xd_span_skip(s, 1);
            return true;
        }
        last = c;
    }
    return false;
}

/* Reads the tag at the front of `s` and moves past it. */
static enum tag read_tag(struct xd_span *s, struct xd_span *out_name)
{
    bool closes = begins_with(*s, "</"), is_empty;
    struct xd_span name;

    xd_span_skip(s, closes ? 2 : 1);
    name = xd_span(s->s, 0);
    while (s->len > 0 && is_of_name(s->s[0])) {
        xd_span_skip(s, 1);
        name.len++;
    }
    if (name.len == 0 || !skip_attributes(s, &is_empty) || (closes && is_empty))
        return TAG_NONE;
    *out_name = name;
    return closes ? TAG_CLOSES : is_empty ? TAG_EMPTY : TAG_OPENS;
}

static void skip_front(struct xd_span *s)
{
    if (begins_with(*s, "\xef\xbb\xbf"))
        xd_span_skip(s, 3);
    xd_span_skip_blanks(s);
}

/* Reads the tag of the root and moves past it. */
static enum tag read_root(struct xd_span *s, struct xd_span *out_name)
{
    skip_front(s);
    if (s->len == 0 || s->s[0] != '<' || !skip_to_tag(s))
        return TAG_NONE;
    return read_tag(s, out_name);
}

struct xd_span xd_s3_xml_root(struct xd_span text)
{
    struct xd_span name;
    enum tag tag = read_root(&text, &name);

    return tag == TAG_OPENS || tag == TAG_EMPTY ? name : xd_span(NULL, 0);
}

/* Returns the character of the entity at the front of `s`, or '\0'. */
static char read_entity(struct xd_span *s)
{
    static const struct {
        const char *text;
        char c;
    } entities[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                    {"&quot;", '"'}, {"&apos;", '\''}, {"&#34;", '"'},
                    {"&#39;", '\''}};

    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        if (begins_with(*s, entities[i].text)) {
            xd_span_skip(s, strlen(entities[i].text));
            return entities[i].c;
        }
    }
    return '\0';
}

/* Copies the text before the end tag of the element `name`. */
static bool read_text(struct xd_span s, struct xd_span name, char *out,
                      size_t size)
{
    struct xd_span closed;
    size_t n = 0;

    while (s.len > 0 && s.s[0] != '<') {
        char c = s.s[0];

        if (c == '&')
            c = read_entity(&s);
        else
            xd_span_skip(&s, 1);
        if (c == '\0' || n + 1 >= size)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return s.len > 0 && read_tag(&s, &closed) == TAG_CLOSES &&
           same(closed, name);
}

/* The child of the root to look for. */
struct wanted {
    const char *name;
    const char *key; /* required text of its child <Key>; NULL: any */
};

/* Returns whether the child whose tag begins at `at` matches.  The function
 * parses the child like a root. */
static bool is_wanted(const struct wanted *w, struct xd_span at,
                      struct xd_span name)
{
    char key[XD_S3_KEY_MAX + 1];

    if (!xd_span_is(name, w->name))
        return false;
    return !w->key || (xd_s3_xml_child(at, "Key", key, sizeof key) &&
                       strcmp(key, w->key) == 0);
}

/* Moves `s` past the opening tag of the wanted child, which begins at *out_at.
 * Returns false if there is none. */
static bool find_child(struct xd_span *s, const struct wanted *wanted,
                       struct xd_span *out_name, struct xd_span *out_at)
{
    struct xd_span open[MOST_DEPTH], name;
    size_t depth = 1;

    if (read_root(s, &open[0]) != TAG_OPENS)
        return false;
    while (depth > 0 && skip_to_tag(s)) {
        *out_at = *s;
        switch (read_tag(s, &name)) {
        case TAG_NONE:
            return false;
        case TAG_EMPTY:
            break;
        case TAG_OPENS:
            if (depth == 1 && is_wanted(wanted, *out_at, name)) {
                *out_name = name;
                return true;
            }
            if (depth == MOST_DEPTH)
                return false;
            open[depth++] = name;
            break;
        case TAG_CLOSES:
            if (!same(name, open[--depth]))
                return false;
            break;
        }
    }
    return false;
}

bool xd_s3_xml_child(struct xd_span text, const char *name, char *out,
                     size_t size)
{
    const struct wanted wanted = {.name = name};
    struct xd_span found, at;

    if (find_child(&text, &wanted, &found, &at) &&
        read_text(text, found, out, size))
        return true;
    out[0] = '\0';
    return false;
}

bool xd_s3_xml_upload(struct xd_span text, const char *key, char *out,
                      size_t size)
{
    const struct wanted wanted = {.name = "Upload", .key = key};
    struct xd_span found, at;

    out[0] = '\0';
    return xd_span_is(xd_s3_xml_root(text), "ListMultipartUploadsResult") &&
           find_child(&text, &wanted, &found, &at) &&
           xd_s3_xml_child(at, "UploadId", out, size) && out[0] != '\0';
}

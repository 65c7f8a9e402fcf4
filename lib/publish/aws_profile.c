/* SPDX-License-Identifier: MIT */
#include "publish/aws_profile.h"

static const struct {
    const char *name;
    enum xd_aws_setting setting;
} settings[] = {
    {"aws_access_key_id", XD_AWS_ACCESS_KEY},
    {"aws_secret_access_key", XD_AWS_SECRET_KEY},
    {"aws_session_token", XD_AWS_SESSION_TOKEN},
    {"region", XD_AWS_REGION},
    {"endpoint_url", XD_AWS_ENDPOINT},
    {"credential_process", XD_AWS_ELSEWHERE},
    {"role_arn", XD_AWS_ELSEWHERE},
    {"sso_session", XD_AWS_ELSEWHERE},
    {"sso_start_url", XD_AWS_ELSEWHERE},
    {"web_identity_token_file", XD_AWS_ELSEWHERE},
};

/* Returns the next line without its newline.  The last line may have no
 * newline. */
static struct xd_span next_line(struct xd_span *text)
{
    struct xd_span line = xd_span(text->s, 0);

    while (line.len < text->len && line.s[line.len] != '\n')
        line.len++;
    xd_span_skip(text, line.len + (line.len < text->len));
    return line;
}

/* Returns the text before a comment.  A '#' or ';' after a blank begins a
 * comment. */
static struct xd_span without_comment(struct xd_span s)
{
    for (size_t i = 1; i < s.len; i++)
        if ((s.s[i] == '#' || s.s[i] == ';') && xd_is_blank(s.s[i - 1]))
            return xd_span_trim(xd_span(s.s, i));
    return xd_span_trim(s);
}

static struct xd_span without_quotes(struct xd_span s)
{
    if (s.len >= 2 && s.s[0] == s.s[s.len - 1] &&
        (s.s[0] == '"' || s.s[0] == '\''))
        return xd_span(s.s + 1, s.len - 2);
    return s;
}

/* Returns whether "[...]" is the header of the profile's section. */
static bool is_section_of(struct xd_span line, const char *name, bool is_config)
{
    size_t end = 0;
    struct xd_span title;

    while (end < line.len && line.s[end] != ']')
        end++;
    if (end == line.len)
        return false;
    title = xd_span_trim(xd_span(line.s + 1, end - 1));
    if (is_config && !xd_span_is(title, "default")) {
        const size_t len = strlen("profile");

        if (!xd_span_begins_with(title, "profile") || title.len == len ||
            !xd_is_blank(title.s[len]))
            return false;
        title = xd_span_trim(xd_span(title.s + len, title.len - len));
    }
    return xd_span_is(without_quotes(title), name);
}

static void take(struct xd_aws_profile *out, struct xd_span line)
{
    const char *sign = memchr(line.s, '=', line.len);
    struct xd_span name, value;

    if (!sign)
        return;
    name = xd_span_trim(xd_span(line.s, (size_t)(sign - line.s)));
    value = without_comment(
        xd_span(sign + 1, line.len - (size_t)(sign + 1 - line.s)));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (!xd_span_is_word(name, settings[i].name))
            continue;
        out->settings[settings[i].setting] =
            settings[i].setting == XD_AWS_ELSEWHERE ? name : value;
    }
}

void xd_aws_profile_read(struct xd_aws_profile *out, struct xd_span text,
                         const char *name, bool is_config)
{
    bool is_in = false;

    *out = (struct xd_aws_profile){.is_there = false};
    while (text.len > 0) {
        struct xd_span line = next_line(&text);

        if (line.len == 0 || line.s[0] == '#' || line.s[0] == ';' ||
            xd_is_blank(line.s[0]))
            continue;
        if (line.s[0] != '[') {
            if (is_in)
                take(out, line);
            continue;
        }
        is_in = is_section_of(line, name, is_config);
        out->is_there = out->is_there || is_in;
    }
}

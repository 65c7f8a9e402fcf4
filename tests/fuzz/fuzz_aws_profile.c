/* SPDX-License-Identifier: MIT */
/* A file of profiles.  What is found lies in it, on one line, without blanks around
 * it. */
#include "fuzz.h"
#include "publish/aws_profile.h"

static void check(const uint8_t *data, size_t len, const char *name,
                  bool is_config)
{
    const char *text = (const char *)data;
    struct xd_aws_profile p;

    xd_aws_profile_read(&p, xd_span(text, len), name, is_config);
    for (size_t i = 0; i < XD_AWS_N_SETTINGS; i++) {
        struct xd_span s = p.settings[i];

        FUZZ_CHECK(s.len == 0 || p.is_there);
        FUZZ_CHECK(s.len == 0 || (s.s >= text && s.s + s.len <= text + len));
        FUZZ_CHECK(s.len == 0 || memchr(s.s, '\n', s.len) == NULL);
        FUZZ_CHECK(xd_span_trim(s).len == s.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    check(data, len, "default", false);
    check(data, len, "default", true);
    check(data, len, "work", true);
    return 0;
}

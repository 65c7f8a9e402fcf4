/* SPDX-License-Identifier: MIT */
/*
 * Lines of a header come in, and what is made of them is held against the
 * request.  The first line of the input is the request: offset, length, size
 * of the object ("-": to the end, unknown) and perhaps "whole", and "if" when
 * only the object with the ETag "e" will do.
 */
#include "io/http/http_answer.h"

#include <ctype.h>
#include <strings.h>

#include "fuzz.h"
#include "io/http/http_reply.h"

#define NAME "http://d/x"

static uint64_t read_number(char **at)
{
    char *end;
    unsigned long long number;

    while (**at == ' ')
        ++*at;
    if (**at == '-') {
        ++*at;
        return UINT64_MAX;
    }
    number = isdigit((unsigned char)**at) ? strtoull(*at, &end, 10) : 0;
    if (isdigit((unsigned char)**at))
        *at = end;
    return number;
}

/* A request as the engine makes them: of some bytes, which the object has if
 * its size is known. */
static struct xd_request read_request(char *line)
{
    struct xd_request r = {.url = NULL};

    r.offset = read_number(&line);
    r.length = read_number(&line);
    r.object_size = read_number(&line);
    r.whole = strstr(line, "whole") != NULL;
    r.if_range = strstr(line, "if") != NULL ? "\"e\"" : NULL;
    if (r.length == 0)
        r.length = 1;
    if (r.offset > INT64_MAX)
        r.offset = INT64_MAX;
    if (r.object_size != XD_SIZE_UNKNOWN && r.offset > 0 &&
        r.offset >= r.object_size)
        r.object_size = XD_SIZE_UNKNOWN;
    return r;
}

static uint64_t asked_end(const struct xd_request *r)
{
    return r->length > UINT64_MAX - r->offset ? UINT64_MAX
                                              : r->offset + r->length;
}

static void check_answer(const struct xd_http_answer *a)
{
    FUZZ_CHECK(a->status <= 999);
    FUZZ_CHECK(memchr(a->encoding, 0, sizeof a->encoding) != NULL);
    FUZZ_CHECK(memchr(a->etag, 0, sizeof a->etag) != NULL);
    FUZZ_CHECK(memchr(a->modified, 0, sizeof a->modified) != NULL);
    FUZZ_CHECK(memchr(a->file_name, 0, sizeof a->file_name) != NULL);
    FUZZ_CHECK(xd_http_modified(a) >= 0);
    FUZZ_CHECK(strncasecmp(a->etag, "W/", 2) != 0);
    if (a->has_range && !a->range_is_empty) {
        FUZZ_CHECK(a->first <= a->last && a->last != UINT64_MAX);
        FUZZ_CHECK(a->last < a->total);
    }
    FUZZ_CHECK(a->next.begin <= a->next.end);
    FUZZ_CHECK(a->has_next || a->next.end == 0);
}

/* The same as a request that sends has it. */
static void check_reply(const struct xd_http_answer *a)
{
    struct xd_reply r;

    xd_http_reply(a, &r);
    FUZZ_CHECK(r.code == a->status && r.date >= 0);
    FUZZ_CHECK(r.etag == NULL || r.etag[0] != '\0');
    FUZZ_CHECK(r.location == NULL || strlen(r.location) <= XD_URL_MAX);
    FUZZ_CHECK(!a->contradicts || r.length == XD_SIZE_UNKNOWN);
    if (!r.is_range)
        return;
    FUZZ_CHECK(r.code == 206 && !a->contradicts);
    FUZZ_CHECK(r.range.begin < r.range.end && r.range.end <= r.length);
}

static bool is_whole(const struct xd_http_answer *a)
{
    return a->status == 200 || a->status == 203;
}

/* The bytes of the body are some that were asked for, of that object. */
static void check_accepted(const struct xd_http_answer *a,
                           const struct xd_request *r,
                           const struct xd_http_judgement *j)
{
    FUZZ_CHECK(j->outcome.error.code == XD_OK);
    FUZZ_CHECK(is_whole(a) || a->status == 206);
    FUZZ_CHECK(!a->contradicts);
    FUZZ_CHECK(a->encoding[0] == '\0' || j->object_size == r->object_size);
    FUZZ_CHECK(r->if_range == NULL || a->etag[0] == '\0' ||
               strcmp(a->etag, r->if_range) == 0);
    FUZZ_CHECK(j->end <= asked_end(r));
    FUZZ_CHECK(j->end >= r->offset && (j->end > r->offset || r->offset == 0));
    FUZZ_CHECK(j->object_size == XD_SIZE_UNKNOWN || j->end <= j->object_size);
    if (r->object_size != XD_SIZE_UNKNOWN)
        FUZZ_CHECK(j->object_size == r->object_size ||
                   j->object_size == XD_SIZE_UNKNOWN);
    if (a->status == 206) {
        FUZZ_CHECK(!r->whole && !a->is_multipart);
        FUZZ_CHECK(a->has_range && a->first == r->offset);
        FUZZ_CHECK(a->last + 1 == j->end && a->total == j->object_size);
        FUZZ_CHECK(j->end == asked_end(r) || j->end == a->total ||
                   j->outcome.is_cut || a->total == XD_SIZE_UNKNOWN);
    }
}

static void check_refused(const struct xd_http_answer *a,
                          const struct xd_http_judgement *j)
{
    const struct xd_error *e = &j->outcome.error;

    bool is_other = j->outcome.verdict == XD_VERDICT_DIFFERENT ||
                    j->outcome.verdict == XD_VERDICT_CHANGED;

    FUZZ_CHECK(j->outcome.verdict != XD_VERDICT_STOPPED);
    FUZZ_CHECK(e->code == (is_other ? XD_E_DIFFERENT : XD_E_NET));
    FUZZ_CHECK(e->http_status == (int)a->status);
    FUZZ_CHECK(strncmp(e->msg, NAME ": ", strlen(NAME ": ")) == 0);
    for (const char *s = e->msg; *s != '\0'; s++)
        FUZZ_CHECK(!iscntrl((unsigned char)*s));
    if (j->outcome.verdict == XD_VERDICT_NO_RANGES)
        FUZZ_CHECK(is_whole(a) || (a->status == 206 && a->has_range));
}

#ifdef XD_FUZZ_PLANTED
/* What the fuzzer must find: a version that is longer than any in corpus/. */
static void read_version(const char *line, size_t len)
{
    char version[16];
    const char *blank = memchr(line, ' ', len);

    if (blank != NULL && len > 5 && strncasecmp(line, "HTTP/", 5) == 0)
        memcpy(version, line, (size_t)(blank - line));
    FUZZ_CHECK(version[0] != '\n');
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct xd_http_answer a = {.status = 0};
    struct xd_http_judgement j;
    struct xd_request r;
    size_t line_len;
    char *line = fuzz_line(&in, &line_len);

    if (line == NULL)
        return 0;
    r = read_request(line);
    free(line);
    while ((line = fuzz_line(&in, &line_len)) != NULL) {
#ifdef XD_FUZZ_PLANTED
        read_version(line, line_len);
#endif
        xd_http_answer_line(&a, line, line_len);
        check_answer(&a);
        free(line);
    }
    check_reply(&a);
    xd_http_judge(&a, &r, NAME, &j);
    if (j.outcome.verdict == XD_VERDICT_OK)
        check_accepted(&a, &r, &j);
    else
        check_refused(&a, &j);
    xd_http_answer_fini(&a);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "io/http/ftp_answer.h"

#include "base/error.h"
#include "base/number.h"
#include "io/request.h"

/* RFC 959, 4.2.1: "213 1234" ends a reply, "213-" and blanks do not. */
#define CODE_LEN 3
#define SIZE_REPLY 213
#define NOT_LOGGED_IN 530
#define BUSY 421

static size_t trimmed(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r' ||
                       line[len - 1] == ' '))
        len--;
    return len;
}

void xd_ftp_answer_line(struct xd_http_answer *a, const char *line, size_t len)
{
    uint64_t code;

    len = trimmed(line, len);
    if (len < CODE_LEN || !xd_parse_u64(line, CODE_LEN, &code) ||
        (len > CODE_LEN && line[CODE_LEN] != ' '))
        return;
    a->status = (unsigned)code;
    if (code == SIZE_REPLY && len > CODE_LEN + 1)
        a->has_length =
            xd_parse_u64(line + CODE_LEN + 1, len - CODE_LEN - 1, &a->length);
}

void xd_ftp_judge(const struct xd_http_answer *a, const struct xd_request *r,
                  const char *name, struct xd_http_judgement *out)
{
    uint64_t end = xd_request_end(r);
    bool is_all = !xd_http_asks_for_range(r) && r->offset == 0;

    *out = (struct xd_http_judgement){
        .outcome = {.verdict = XD_VERDICT_OK, .object_size = XD_SIZE_UNKNOWN}};
    if (!a->has_length) {
        out->end = end;
        out->object_size = XD_SIZE_UNKNOWN;
    } else if ((r->object_size != XD_SIZE_UNKNOWN &&
                a->length != r->object_size) ||
               (a->length <= r->offset && !is_all)) {
        xd_request_is_different(r, name, a->length, &out->outcome);
    } else {
        out->end = end < a->length ? end : a->length;
        out->object_size = a->length;
    }
}

bool xd_ftp_has_refused(const struct xd_http_answer *a)
{
    return a->status >= 400;
}

/* Many servers refuse the login when too many are there already. */
void xd_ftp_judge_refusal(const struct xd_http_answer *a, const char *name,
                          struct xd_outcome *out)
{
    bool may_pass = a->status < 500 || a->status == NOT_LOGGED_IN;

    out->verdict = may_pass ? XD_VERDICT_AGAIN : XD_VERDICT_GONE;
    out->is_refusal = a->status == BUSY || a->status == NOT_LOGGED_IN;
    xd_fail(&out->error, XD_E_NET, "%s: answered %u", name, a->status);
    out->error.http_status = (int)a->status;
}

void xd_ftp_judge_no_ranges(const struct xd_http_answer *a, const char *name,
                            struct xd_outcome *out)
{
    out->verdict = XD_VERDICT_NO_RANGES;
    if (a->has_length)
        out->object_size = a->length;
    xd_fail(&out->error, XD_E_NET,
            "%s: answered %u to a request to begin within the object", name,
            a->status);
    out->error.http_status = (int)a->status;
}

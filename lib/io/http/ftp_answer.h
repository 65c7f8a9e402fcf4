/* SPDX-License-Identifier: MIT */
/*
 * What an FTP server says, and whether it is what was asked for.
 *
 * Pure: text in, a judgement out.  Of struct xd_http_answer it uses `status`,
 * the code of the last reply, and `length`, the answer to SIZE.
 */
#ifndef XD_IO_FTP_ANSWER_H
#define XD_IO_FTP_ANSWER_H

#include "io/http/http_answer.h"

/* One line of the control connection. */
void xd_ftp_answer_line(struct xd_http_answer *a, const char *line, size_t len);

/* Before the first byte.  Of an object of unsaid size all has come when the
 * server says so at the end. */
void xd_ftp_judge(const struct xd_http_answer *a, const struct xd_request *r,
                  const char *name, struct xd_http_judgement *out);

/* The last reply was a refusal. */
bool xd_ftp_has_refused(const struct xd_http_answer *a);
void xd_ftp_judge_refusal(const struct xd_http_answer *a, const char *name,
                          struct xd_outcome *out);

/* It cannot begin anywhere but at the first byte. */
void xd_ftp_judge_no_ranges(const struct xd_http_answer *a, const char *name,
                            struct xd_outcome *out);

#endif

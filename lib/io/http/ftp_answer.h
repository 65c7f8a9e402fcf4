/* SPDX-License-Identifier: MIT */
/*
 * Parses the replies of an FTP server and decides whether it sends what was
 * requested.
 *
 * Pure.  Uses these fields of struct xd_http_answer: `status` for the code of
 * the last reply, `length` for the reply to SIZE, `modified` for the reply to
 * MDTM (sent after SIZE), and `announced`.
 *
 * Nothing in FTP says which bytes a server sends.  A server may accept REST and
 * still begin at the first byte, or at the beginning of a block; or report a
 * wrong size.  Four observations reveal that:
 *
 *     a trial               asked for the last bytes, the server sends more
 *     the reply to RETR     150 Opening data connection for f (300000 bytes)
 *     bytes beyond the end  more than the size allows
 *     the reply at the end  226 Transfer complete, before all bytes arrived
 */
#ifndef XD_IO_FTP_ANSWER_H
#define XD_IO_FTP_ANSWER_H

#include "io/http/http_answer.h"

/* What earlier requests have shown about an object.  Zeroed: nothing is
 * known. */
struct xd_ftp_object {
    bool has_wrong_size; /* the object is longer than the server says */
    bool has_no_size;    /* the server does not support SIZE */
};

/* Parses one line of the control connection. */
void xd_ftp_answer_line(struct xd_http_answer *a, const char *line, size_t len);

/* Returns the offset to request from the server. */
uint64_t xd_ftp_begin(const struct xd_request *r);

/* Returns the offset at which a trial of REST begins in an object of `size`
 * bytes.  `size` must be at least 2. */
uint64_t xd_ftp_trial_begin(uint64_t size);

/* Returns how many bytes the trial should receive: everything up to the end of
 * the object, even if the object has grown since. */
uint64_t xd_ftp_trial_bytes(const struct xd_http_answer *a, uint64_t size);

/*
 * Judges a response by its first `len` bytes.  A size contradicted by the reply
 * to RETR or by the data counts as unknown.  If these bytes show that the
 * server ignores the offset, the verdict is NO_RANGES.  An object of unknown
 * size is complete when the server says so.
 */
void xd_ftp_judge(const struct xd_http_answer *a, const struct xd_request *r,
                  const char *name, const struct xd_ftp_object *known,
                  size_t len, struct xd_http_judgement *out);

/* Fills in the outcome for a server that sends more bytes than the object
 * has. */
void xd_ftp_judge_overlong(const struct xd_request *r, const char *name,
                           uint64_t size, struct xd_outcome *out);

/* Returns true if the last reply says that the transfer is complete. */
bool xd_ftp_says_complete(const struct xd_http_answer *a);

/* Fills in the outcome for a server that reports completion too early, at
 * offset `at`. */
void xd_ftp_judge_short(const struct xd_http_answer *a, const char *name,
                        uint64_t at, struct xd_outcome *out);

/* Returns true if the server accepted REST at first but now refuses to start at
 * that offset. */
bool xd_ftp_refuses_offset(const struct xd_http_answer *a,
                           const struct xd_request *r);

/* Returns true if the last reply answers SIZE or MDTM. */
bool xd_ftp_is_size_reply(const struct xd_http_answer *a);

/* Returns true if the last reply is a refusal. */
bool xd_ftp_has_refused(const struct xd_http_answer *a);

/* Returns true if the last reply says that the command is unknown. */
bool xd_ftp_is_unknown_command(const struct xd_http_answer *a);
void xd_ftp_judge_refusal(const struct xd_http_answer *a, const char *name,
                          struct xd_outcome *out);

/* Fills in the outcome for a server that refused to start within the object. */
void xd_ftp_judge_no_ranges(const struct xd_http_answer *a, const char *name,
                            struct xd_outcome *out);

/* Fills in the outcome for a server whose ranges cannot be trusted: the trial
 * did not return the last bytes, or no trial is possible because the size is
 * unknown. */
void xd_ftp_judge_trial(const struct xd_http_answer *a, const char *name,
                        uint64_t size, struct xd_outcome *out);

/* Fills in the outcome for a server whose reply libcurl does not recognize as
 * complete. */
void xd_ftp_judge_bare(const struct xd_http_answer *a, const char *name,
                       struct xd_outcome *out);

#endif

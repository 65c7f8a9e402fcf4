/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* The size is part of the ABI. */
_Static_assert(sizeof(struct xd_error) == 2048, "xd_error has a fixed size");

const char *xd_code_name(int code)
{
    switch (code) {
    case XD_OK:
        return "OK";
#define X(name, value, text) \
    case XD_E_##name:        \
        return #name;
        XD_CODE_MAP(X)
#undef X
    }
    return "UNKNOWN";
}

const char *xd_code_text(int code)
{
    switch (code) {
    case XD_OK:
        return "success";
#define X(name, value, text) \
    case XD_E_##name:        \
        return text;
        XD_CODE_MAP(X)
#undef X
    }
    return "UNKNOWN";
}

/*
 * Formats into a separate buffer, because an argument may point to the old
 * message in `err`.  A long message is cut before `reason`, the part that users
 * need most.
 */
XD_PRINTF(4, 0)
static void set_error(struct xd_error *err, enum xd_code code,
                      const char *reason, const char *format, va_list args)
{
    char line[sizeof err->msg];
    size_t reason_len = strlen(reason);

    if (err == NULL)
        return;
    xd_format_line(line, sizeof line - reason_len, format, args);
    memcpy(line + strlen(line), reason, reason_len + 1);

    *err = (struct xd_error){.code = code};
    memcpy(err->msg, line, strlen(line));
}

int xd_fail(struct xd_error *err, enum xd_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_error(err, code, "", format, args);
    va_end(args);
    return code;
}

int xd_fail_errno(struct xd_error *err, enum xd_code code, int os_errno,
                  const char *format, ...)
{
    char reason[200] = ": ";
    va_list args;

    if (strerror_r(os_errno, reason + 2, sizeof reason - 2) != 0)
        snprintf(reason, sizeof reason, ": error %d", os_errno);
    va_start(args, format);
    set_error(err, code, reason, format, args);
    va_end(args);
    if (err != NULL)
        err->os_errno = os_errno;
    return code;
}

int xd_fail_because(struct xd_error *err, enum xd_code code,
                    const struct xd_error *cause, const char *format, ...)
{
    const int os_errno = cause->os_errno, http_status = cause->http_status;
    struct xd_error where;
    va_list args;

    if (err == NULL)
        return code;
    memcpy(where.depot, cause->depot, sizeof where.depot);
    memcpy(where.url, cause->url, sizeof where.url);
    va_start(args, format);
    set_error(err, code, "", format, args);
    va_end(args);
    err->os_errno = os_errno;
    err->http_status = http_status;
    xd_error_locate(err, where.depot, where.url);
    return code;
}

static void copy_cut(char *out, size_t size, const char *text)
{
    size_t len = strlen(text);

    if (len >= size)
        len = size - 1;
    memmove(out, text, len);
    out[len] = '\0';
}

void xd_error_locate(struct xd_error *err, const char *depot, const char *url)
{
    if (err != NULL && depot != NULL)
        copy_cut(err->depot, sizeof err->depot, depot);
    if (err != NULL && url != NULL)
        copy_cut(err->url, sizeof err->url, url);
}

int xd_fail_nomem(struct xd_error *err)
{
    return xd_fail(err, XD_E_NOMEM, "out of memory");
}

static const struct xd_kept_error no_memory = {
    .code = XD_E_NOMEM, .msg = "out of memory", .depot = "", .url = ""};

/* A stored error followed by its strings. */
struct kept {
    /* first, so that it has the address of the whole struct */
    struct xd_kept_error error;
    char text[];
};

/* Copies `text` to *at and moves *at past the copy.  Returns the copy. */
static const char *put_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *begin = *at;

    memcpy(begin, text, size);
    *at += size;
    return begin;
}

const struct xd_kept_error *xd_error_keep(const struct xd_error *err)
{
    size_t size = strlen(err->msg) + strlen(err->depot) + strlen(err->url) + 3;
    struct kept *kept = xd_alloc(1, sizeof *kept + size);
    char *at;

    if (kept == NULL)
        return &no_memory;
    at = kept->text;
    kept->error = (struct xd_kept_error){.code = err->code,
                                         .os_errno = err->os_errno,
                                         .http_status = err->http_status,
                                         .msg = put_text(&at, err->msg),
                                         .depot = put_text(&at, err->depot),
                                         .url = put_text(&at, err->url)};
    return &kept->error;
}

struct xd_error xd_kept_error_get(const struct xd_kept_error *kept)
{
    struct xd_error err = {.code = XD_OK};

    if (kept == NULL)
        return err;
    err.code = kept->code;
    err.os_errno = kept->os_errno;
    err.http_status = kept->http_status;
    copy_cut(err.msg, sizeof err.msg, kept->msg);
    xd_error_locate(&err, kept->depot, kept->url);
    return err;
}

void xd_kept_error_free(const struct xd_kept_error *kept)
{
    if (kept != &no_memory)
        xd_free((void *)(uintptr_t)kept);
}

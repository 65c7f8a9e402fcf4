#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

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
 * The sentence is made beside `err`, because an argument may be the sentence
 * that is in it.  The reason comes last and is what people look for, so a
 * long path is cut before it is.
 */
XD_PRINTF(4, 0)
static void tell(struct xd_error *err, enum xd_code code, const char *reason,
                 const char *format, va_list args)
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
    tell(err, code, "", format, args);
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
    tell(err, code, reason, format, args);
    va_end(args);
    if (err != NULL)
        err->os_errno = os_errno;
    return code;
}

int xd_fail_nomem(struct xd_error *err)
{
    return xd_fail(err, XD_E_NOMEM, "out of memory");
}

/* SPDX-License-Identifier: MIT */
#include "common/status.h"

#include <xdownload/error.h>

int status_of(int code)
{
    switch ((enum xd_code)code) {
    case XD_OK:
        return STATUS_COMPLETE;
    case XD_E_INVAL:
        return STATUS_USAGE;
    case XD_E_MANIFEST:
        return STATUS_MANIFEST;
    case XD_E_CORRUPT:
        return STATUS_CORRUPT;
    case XD_E_IO:
        return STATUS_LOCAL;
    case XD_E_CANCELED:
        return STATUS_INTERRUPTED;
    case XD_E_PIPE:
        return STATUS_PIPE;
    case XD_E_NOREPLICA:
    case XD_E_NET:
    case XD_E_DIFFERENT:
    case XD_E_NOMEM:
    case XD_E_AGAIN:
    case XD_E_TIMEOUT:
    case XD_E_STATE:
    case XD_E_BUG:
    case XD_E_UNUSED_:
        return STATUS_FAILED;
    }
    return STATUS_FAILED; /* a code that only a newer library knows */
}

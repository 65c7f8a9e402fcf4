/* SPDX-License-Identifier: MIT */
#include "trace/trace_format.h"

const char *trace_reason(enum xd_fetch_reason reason)
{
    switch (reason) {
    case XD_FETCH_NEXT:
        return "next";
    case XD_FETCH_PROBE:
        return "probe";
    case XD_FETCH_AGAIN:
        return "again";
    case XD_FETCH_SPLIT:
        return "split";
    case XD_FETCH_HEDGE:
        return "hedge";
    case XD_FETCH_SAMPLE:
        return "sample";
    }
    return "other"; /* to a newer library it means something */
}

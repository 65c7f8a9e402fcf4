/* SPDX-License-Identifier: MIT */
/*
 * What came of an attempt to connect to a depot, and nothing more.
 */
#ifndef XD_BASE_PING_H
#define XD_BASE_PING_H

enum xd_ping_result {
    XD_PING_ANSWERED, /* it accepts connections */
    XD_PING_REFUSED,  /* it said that it does not */
    XD_PING_SILENT,   /* nothing came in time, or there is no way to it */
    XD_PING_UNKNOWN   /* this could not be found out */
};

#endif

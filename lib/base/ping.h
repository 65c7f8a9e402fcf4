/* SPDX-License-Identifier: MIT */
/*
 * Results of connecting to a depot without a request.
 */
#ifndef XD_BASE_PING_H
#define XD_BASE_PING_H

enum xd_ping_result {
    XD_PING_ANSWERED, /* accepts connections */
    XD_PING_REFUSED,  /* refused the connection */
    XD_PING_SILENT,   /* no answer in time, or no route */
    XD_PING_UNKNOWN   /* could not be determined */
};

#endif

/* SPDX-License-Identifier: MIT */
#include <xdownload/version.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *xd_version(void)
{
    return TEXT(XD_VERSION_MAJOR) "." TEXT(XD_VERSION_MINOR) "." TEXT(
        XD_VERSION_PATCH);
}

/* SPDX-License-Identifier: MIT */
/*
 * The only mutable global variable in lib/manifest.
 *
 * libxml2 before 2.11 initializes its locks on first use, which is not
 * thread-safe.  libxml2 is never cleaned up, because other code in the process
 * may use it.
 */
#include "manifest/xml_global.h"

#include <libxml/parser.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

void xd_xml_global_init(void)
{
    pthread_once(&once, xmlInitParser);
}

/* SPDX-License-Identifier: MIT */
/*
 * The one mutable global of this layer.
 *
 * libxml2 before 2.11 makes its locks when it is first used, in whichever
 * threads that happens.  It is never cleaned up: others in the process may be
 * using it.
 */
#include "manifest/xml_global.h"

#include <libxml/parser.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

void xd_xml_global_init(void)
{
    pthread_once(&once, xmlInitParser);
}

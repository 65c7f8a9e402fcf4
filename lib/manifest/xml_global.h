/* SPDX-License-Identifier: MIT */
#ifndef XD_MANIFEST_XML_GLOBAL_H
#define XD_MANIFEST_XML_GLOBAL_H

/* Initializes libxml2 once.  Call before using it.  Threads: any. */
void xd_xml_global_init(void);

#endif

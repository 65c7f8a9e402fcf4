/* SPDX-License-Identifier: MIT */
#ifndef XD_MANIFEST_XML_GLOBAL_H
#define XD_MANIFEST_XML_GLOBAL_H

/* Sets libxml2 up, once.  Before any other call of it.  Threads: any. */
void xd_xml_global_init(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A few words out of an answer of S3, which is XML.
 *
 * A scanner for what S3 writes and no parser: elements, their text, and no more
 * than the five entities that XML has by itself.  A DTD, a CDATA section, an
 * element that its end does not match or that is too deep ends it.  libxml2 is
 * for manifests; what is asked here are single words of a text that is at most a
 * few KiB long and hostile, and this needs no memory for them.
 */
#ifndef XD_STORE_S3_XML_H
#define XD_STORE_S3_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

/* The name of the root; empty if there is none.  Blanks may stand before it. */
struct xd_span xd_s3_xml_root(struct xd_span text);

/*
 * The text of the root's first child of that name, with a NUL behind it.  False,
 * and "": there is none before the text breaks off or breaks a rule, it holds
 * elements, or it has `size` bytes or more.
 */
bool xd_s3_xml_child(struct xd_span text, const char *name, char *out,
                     size_t size);

/* Of an answer to ListMultipartUploads the id of the first upload of exactly that key,
 * of at most XD_S3_KEY_MAX bytes; likewise. */
bool xd_s3_xml_upload(struct xd_span text, const char *key, char *out,
                      size_t size);

#endif

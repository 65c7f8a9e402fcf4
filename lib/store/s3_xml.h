/* SPDX-License-Identifier: MIT */
/*
 * Extracts single values from the XML in answers of S3.
 *
 * This is a scanner, not a complete XML parser.  It supports elements, text and
 * the five predefined entities.  It stops at a DTD, a CDATA section, an end tag
 * that does not match, or nesting that is too deep.  Manifests are parsed with
 * libxml2, but here single words are read from a few KiB of untrusted text,
 * without allocating memory.
 */
#ifndef XD_STORE_S3_XML_H
#define XD_STORE_S3_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

/* Returns the name of the root element, or an empty span.  Leading blanks are
 * skipped. */
struct xd_span xd_s3_xml_root(struct xd_span text);

/*
 * Copies the text of the root's first child of that name to `out`,
 * NUL-terminated.
 *
 * Returns false, and sets `out` to "", if there is none before the text ends or
 * is malformed, if it contains elements, or if it has `size` bytes or more.
 */
bool xd_s3_xml_child(struct xd_span text, const char *name, char *out,
                     size_t size);

/* Copies the id of the first upload of exactly that key from an answer to
 * ListMultipartUploads.  `key` has at most XD_S3_KEY_MAX bytes.  Returns like
 * xd_s3_xml_child(). */
bool xd_s3_xml_upload(struct xd_span text, const char *key, char *out,
                      size_t size);

#endif

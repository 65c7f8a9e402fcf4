/* SPDX-License-Identifier: MIT */
/* Shared by the readers of Metalink 3 and 4, which have the same elements in
 * different places; and constants for the writer. */
#ifndef XD_MANIFEST_METALINK_H
#define XD_MANIFEST_METALINK_H

#include "manifest/xml.h"

#define XD_METALINK3_URI "http://www.metalinker.org/"
#define XD_METALINK4_URI "urn:ietf:params:xml:ns:metalink"

/* Media types: RFC 5854 section 8.1, and what servers use for version 3. */
#define XD_METALINK4_TYPE "application/metalink4+xml"
#define XD_METALINK3_TYPE "application/metalink+xml"

/* `mediatype` of an OpenPGP signature (RFC 5854 section 4.2.13). */
#define XD_METALINK_OPENPGP "application/pgp-signature"

/* Passed as `user` to all functions here.  The readers' own structs begin with
 * it. */
struct xd_metalink {
    struct xd_builder *b;
    char hash_type[33];      /* type of the <hash> being read */
    bool is_openpgp;         /* the <signature> being read is OpenPGP */
    struct xd_source source; /* the <url> being read */
};

/* Functions for the tables of rules of the readers. */
int xd_metalink_begin_file(struct xd_xml *x, void *user);
int xd_metalink_end_file(void *user);
int xd_metalink_take_size(void *user, struct xd_span text);
int xd_metalink_begin_hash(struct xd_xml *x, void *user);
int xd_metalink_take_hash(void *user, struct xd_span text);
int xd_metalink_begin_pieces(struct xd_xml *x, void *user);
int xd_metalink_take_piece(void *user, struct xd_span text);
int xd_metalink_take_url(void *user, struct xd_span text);
int xd_metalink_take_signature(void *user, struct xd_span text);

/* Sets is_openpgp from the attribute of a <signature>. */
void xd_metalink_begin_signature(struct xd_xml *x, struct xd_metalink *m,
                                 const char *attribute, const char *openpgp);

/* Begins a source, with the location of the <url> but without a priority. */
void xd_metalink_begin_source(const struct xd_xml *x, struct xd_metalink *m);

/* Returns a numeric attribute if it is between `least` and `most`; else 0, with
 * a warning unless it is absent. */
unsigned xd_metalink_rank(const struct xd_xml *x, struct xd_metalink *m,
                          const char *name, unsigned least, unsigned most);

/* Returns the attribute maxconnections in this namespace (NULL: none), or 0. */
unsigned xd_metalink_connections(const struct xd_xml *x, struct xd_metalink *m,
                                 const char *namespace_uri);

#endif

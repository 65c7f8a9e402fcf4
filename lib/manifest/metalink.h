/* SPDX-License-Identifier: MIT */
/* What the readers of Metalink 3 and 4 share: the same elements in another
 * order.  And what the writer calls them. */
#ifndef XD_MANIFEST_METALINK_H
#define XD_MANIFEST_METALINK_H

#include "manifest/xml.h"

#define XD_METALINK3_URI "http://www.metalinker.org/"
#define XD_METALINK4_URI "urn:ietf:params:xml:ns:metalink"

/* Their media types: RFC 5854, section 8.1, and what servers call the other. */
#define XD_METALINK4_TYPE "application/metalink4+xml"
#define XD_METALINK3_TYPE "application/metalink+xml"

/* RFC 5854, section 4.2.13: what a <signature> of OpenPGP says it is. */
#define XD_METALINK_OPENPGP "application/pgp-signature"

/* The `user` of all functions here; a reader's own struct begins with it. */
struct xd_metalink {
    struct xd_builder *b;
    char hash_type[33];      /* of the <hash> being read */
    bool is_openpgp;         /* the <signature> being read */
    struct xd_source source; /* the <url> being read */
};

/* As in a table of rules. */
int xd_metalink_begin_file(struct xd_xml *x, void *user);
int xd_metalink_end_file(void *user);
int xd_metalink_take_size(void *user, struct xd_span text);
int xd_metalink_begin_hash(struct xd_xml *x, void *user);
int xd_metalink_take_hash(void *user, struct xd_span text);
int xd_metalink_begin_pieces(struct xd_xml *x, void *user);
int xd_metalink_take_piece(void *user, struct xd_span text);
int xd_metalink_take_url(void *user, struct xd_span text);
int xd_metalink_take_signature(void *user, struct xd_span text);

/* Whether the attribute of a <signature> says that it is one of OpenPGP. */
void xd_metalink_begin_signature(struct xd_xml *x, struct xd_metalink *m,
                                 const char *attribute, const char *openpgp);

/* A source without a priority, but with the location of the <url>. */
void xd_metalink_begin_source(const struct xd_xml *x, struct xd_metalink *m);

/* The attribute, if it is a number from `least` to `most`; else 0, with a
 * warning if it is there. */
unsigned xd_metalink_rank(const struct xd_xml *x, struct xd_metalink *m,
                          const char *name, unsigned least, unsigned most);

/* The attribute maxconnections of this namespace (NULL: of none), or 0. */
unsigned xd_metalink_connections(const struct xd_xml *x, struct xd_metalink *m,
                                 const char *namespace_uri);

#endif

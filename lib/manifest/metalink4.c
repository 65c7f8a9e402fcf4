/* SPDX-License-Identifier: MIT */
/*
 * Reads Metalink 4 (RFC 5854).
 *
 * It has no maxconnections.  We accept the attribute of Metalink 3 in that
 * format's namespace, so that converting loses nothing.
 */
#include <string.h>

#include "manifest/format.h"
#include "manifest/metalink.h"
#include "manifest/names.h"

enum state {
    TOP = XD_XML_TOP,
    METALINK,
    A_FILE,
    SIZE,
    HASH,
    PIECES,
    PIECE,
    SIGNATURE,
    URL,
    METAURL
};

struct reader {
    struct xd_metalink common; /* must be first: shared functions cast to it */
    /* The type of the <metaurl> being read. */
    enum { OTHER, MANIFEST, TORRENT } kind;
    char name[XD_NAME_MAX + 1];
};

static int begin_file(struct xd_xml *x, void *user)
{
    struct xd_metalink *m = user;
    xd_builder_max_connections(m->b,
                               xd_metalink_connections(x, m, XD_METALINK3_URI));
    return xd_metalink_begin_file(x, m);
}

static int begin_url(struct xd_xml *x, void *user)
{
    struct xd_metalink *m = user;
    xd_metalink_begin_source(x, m);
    unsigned priority = xd_metalink_rank(x, m, "priority", 1, XD_PRIORITY_NONE);
    if (priority > 0)
        m->source.priority = priority;
    m->source.max_connections = xd_metalink_connections(x, m, XD_METALINK3_URI);
    return 0;
}

static int begin_signature(struct xd_xml *x, void *user)
{
    xd_metalink_begin_signature(x, user, "mediatype", XD_METALINK_OPENPGP);
    return 0;
}

/* Stores the type of a metaurl: "torrent" or a media type (RFC 5854 section
 * 4.2.8.2). */
static void note_kind(struct reader *r, struct xd_span type)
{
    static const char *const manifests[] = {XD_METALINK4_TYPE,
                                            XD_METALINK3_TYPE};
    static const char *const torrents[] = {"torrent",
                                           "application/x-bittorrent"};
    type = xd_span_trim(type);
    if (xd_span_is_among(type, manifests, sizeof manifests / sizeof *manifests))
        r->kind = MANIFEST;
    else if (xd_span_is_among(type, torrents,
                              sizeof torrents / sizeof *torrents))
        r->kind = TORRENT;
    else
        r->kind = OTHER;
}

static int begin_metaurl(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_span type = {"", 0}, name = {"", 0};
    xd_xml_attribute(x, NULL, "mediatype", &type);
    xd_xml_attribute(x, NULL, "name", &name);
    note_kind(r, type);
    if (name.len >= sizeof r->name) /* longer than any file name */
        r->kind = OTHER;
    else
        memcpy(r->name, name.s, name.len);
    r->name[name.len < sizeof r->name ? name.len : 0] = '\0';
    return 0;
}

static int take_metaurl(void *user, struct xd_span text)
{
    struct reader *r = user;
    struct xd_builder *b = r->common.b;
    if (r->kind == MANIFEST)
        xd_builder_metaurl(b, text, xd_span_of(r->name), XD_REACH_MACHINE);
    else if (r->kind == TORRENT)
        xd_builder_torrent(b);
    return 0;
}

static const struct xd_xml_rule rules[] = {
    {TOP, "metalink", METALINK, NULL, NULL, NULL},
    {METALINK, "file", A_FILE, begin_file, xd_metalink_end_file, NULL},
    {A_FILE, "size", SIZE, NULL, NULL, xd_metalink_take_size},
    {A_FILE, "hash", HASH, xd_metalink_begin_hash, NULL, xd_metalink_take_hash},
    {A_FILE, "pieces", PIECES, xd_metalink_begin_pieces, NULL, NULL},
    {PIECES, "hash", PIECE, NULL, NULL, xd_metalink_take_piece},
    {A_FILE, "signature", SIGNATURE, begin_signature, NULL,
     xd_metalink_take_signature},
    {A_FILE, "url", URL, begin_url, NULL, xd_metalink_take_url},
    {A_FILE, "metaurl", METAURL, begin_metaurl, NULL, take_metaurl},
};

/* Returns whether this is the root of a Metalink 4, which may lack its
 * namespace. */
static bool has_root(const struct xd_xml_root *root)
{
    return strcmp(root->name, "metalink") == 0 &&
           (root->namespace_uri[0] == '\0' ||
            strcmp(root->namespace_uri, XD_METALINK4_URI) == 0);
}

static int read_metalink4(struct xd_builder *b, struct xd_input *in,
                          const struct xd_xml_root *root)
{
    struct reader r = {.common = {.b = b}};
    const char *uri = root->namespace_uri[0] ? root->namespace_uri : NULL;
    return xd_xml_parse(b, in, uri, rules, sizeof rules / sizeof *rules, NULL,
                        &r);
}

const struct xd_format xd_format_metalink4 = {"metalink4", has_root,
                                              read_metalink4};

/* SPDX-License-Identifier: MIT */
/*
 * Reads Metalink 3.0, which mirror systems still serve.
 *
 * A <url> may be in <resources> or, as in Metalink 4, directly in <file>: some
 * writers mix the versions up.
 */
#include <strings.h>

#include "manifest/format.h"
#include "manifest/metalink.h"

/* The best preference in Metalink 3.  It becomes priority 1 of Metalink 4,
 * where smaller is better. */
#define BEST_PREFERENCE 100

enum state {
    TOP = XD_XML_TOP,
    METALINK,
    FILES,
    A_FILE,
    SIZE,
    VERIFICATION,
    HASH,
    PIECES,
    PIECE,
    SIGNATURE,
    RESOURCES,
    URL
};

struct reader {
    struct xd_metalink common; /* must be first: shared functions cast to it */
    bool is_torrent;           /* the <url> being read is a torrent */
    bool has_number;           /* the <hash> of the piece has a number */
};

static int begin_piece(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_builder *b = r->common.b;
    struct xd_span number;
    r->has_number = xd_xml_attribute(x, NULL, "piece", &number);
    if (r->has_number)
        xd_builder_piece_number(b, number);
    else
        xd_builder_warn(b, "the hash of a piece without a number");
    return 0;
}

static int take_piece(void *user, struct xd_span text)
{
    struct reader *r = user;
    return r->has_number ? xd_metalink_take_piece(&r->common, text) : 0;
}

static int begin_signature(struct xd_xml *x, void *user)
{
    xd_metalink_begin_signature(x, user, "type", "pgp");
    return 0;
}

static int begin_resources(struct xd_xml *x, void *user)
{
    struct xd_metalink *m = user;
    xd_builder_max_connections(m->b, xd_metalink_connections(x, m, NULL));
    return 0;
}

static int begin_url(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_metalink *m = &r->common;
    struct xd_span type;
    r->is_torrent = xd_xml_attribute(x, NULL, "type", &type) &&
                    xd_span_is(xd_span_trim(type), "bittorrent");
    if (r->is_torrent) /* torrents in practice have a preference of 200 */
        return 0;
    xd_metalink_begin_source(x, m);
    unsigned preference =
        xd_metalink_rank(x, m, "preference", 0, BEST_PREFERENCE);
    if (preference > 0)
        m->source.priority = BEST_PREFERENCE + 1 - preference;
    m->source.max_connections = xd_metalink_connections(x, m, NULL);
    return 0;
}

static bool ends_in_torrent(struct xd_span s)
{
    static const char end[] = ".torrent";
    size_t len = sizeof end - 1;
    return s.len >= len && strncasecmp(s.s + s.len - len, end, len) == 0;
}

/* Skips torrents; their bytes are not those of the file. */
static int take_url(void *user, struct xd_span text)
{
    struct reader *r = user;
    struct xd_builder *b = r->common.b;
    struct xd_span path = text;
    for (size_t i = 0; i < text.len; i++) {
        if (text.s[i] == '?' || text.s[i] == '#') {
            path.len = i;
            break;
        }
    }
    if (!r->is_torrent &&
        (!ends_in_torrent(path) || ends_in_torrent(xd_span_of(b->draft.path))))
        return xd_metalink_take_url(&r->common, text);
    xd_builder_drop_source(b, "it is a torrent");
    return 0;
}

static const struct xd_xml_rule rules[] = {
    {TOP, "metalink", METALINK, NULL, NULL, NULL},
    {METALINK, "files", FILES, NULL, NULL, NULL},
    {FILES, "file", A_FILE, xd_metalink_begin_file, xd_metalink_end_file, NULL},
    {A_FILE, "size", SIZE, NULL, NULL, xd_metalink_take_size},
    {A_FILE, "verification", VERIFICATION, NULL, NULL, NULL},
    {VERIFICATION, "hash", HASH, xd_metalink_begin_hash, NULL,
     xd_metalink_take_hash},
    {VERIFICATION, "pieces", PIECES, xd_metalink_begin_pieces, NULL, NULL},
    {PIECES, "hash", PIECE, begin_piece, NULL, take_piece},
    {VERIFICATION, "signature", SIGNATURE, begin_signature, NULL,
     xd_metalink_take_signature},
    {A_FILE, "resources", RESOURCES, begin_resources, NULL, NULL},
    {RESOURCES, "url", URL, begin_url, NULL, take_url},
    {A_FILE, "url", URL, begin_url, NULL, take_url},
};

/* Returns whether this is the root of a Metalink 3.  Without a namespace, only
 * the version attribute distinguishes it from Metalink 4, which has none. */
static bool has_root(const struct xd_xml_root *root)
{
    static const char *const uris[] = {
        XD_METALINK3_URI, "http://www.metalinker.org",
        "https://www.metalinker.org/", "https://www.metalinker.org"};
    if (strcmp(root->name, "metalink") != 0)
        return false;
    if (root->namespace_uri[0] == '\0')
        return strcmp(root->version, "3.0") == 0;
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        if (strcmp(root->namespace_uri, uris[i]) == 0)
            return true;
    }
    return false;
}

static int read_metalink3(struct xd_builder *b, struct xd_input *in,
                          const struct xd_xml_root *root)
{
    struct reader r = {.common = {.b = b}};
    const char *uri = root->namespace_uri[0] ? root->namespace_uri : NULL;
    return xd_xml_parse(b, in, uri, rules, sizeof rules / sizeof *rules, NULL,
                        &r);
}

const struct xd_format xd_format_metalink3 = {"metalink3", has_root,
                                              read_metalink3};

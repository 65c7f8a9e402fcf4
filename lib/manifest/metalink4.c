/* Metalink 4, RFC 5854. */
#include "base/number.h"
#include "manifest/format.h"
#include "manifest/names.h"

#define METALINK4_URI "urn:ietf:params:xml:ns:metalink"

enum state {
    TOP = XD_XML_TOP,
    METALINK,
    A_FILE,
    SIZE,
    HASH,
    PIECES,
    PIECE,
    URL
};

struct reader {
    struct xd_builder *b;
    char hash_type[33]; /* of the <hash> being read */
    struct xd_source source;
};

static uint64_t attribute_number(const struct xd_xml *x, const char *name)
{
    struct xd_span text;
    uint64_t value = 0;
    if (xd_xml_attribute(x, name, &text)) {
        text = xd_span_trim(text);
        xd_parse_u64(text.s, text.len, &value);
    }
    return value;
}

static int begin_file(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_span name;
    if (xd_xml_attribute(x, "name", &name))
        xd_builder_name(r->b, name);
    else
        xd_builder_warn(r->b, "a <file> without a name");
    return 0;
}

static int end_file(void *user)
{
    struct reader *r = user;
    return xd_builder_end_file(r->b);
}

static int take_size(void *user, struct xd_span text)
{
    struct reader *r = user;
    struct xd_quoted q;
    uint64_t size;
    if (xd_parse_u64(text.s, text.len, &size))
        xd_builder_size(r->b, size);
    else
        xd_builder_warn(r->b, "%s is no size", xd_quote(&q, text));
    return 0;
}

static int begin_hash(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_span type;
    r->hash_type[0] = '\0';
    if (xd_xml_attribute(x, "type", &type) && type.len < sizeof r->hash_type) {
        memcpy(r->hash_type, type.s, type.len);
        r->hash_type[type.len] = '\0';
    }
    return 0;
}

static int take_hash(void *user, struct xd_span text)
{
    struct reader *r = user;
    xd_builder_hash(r->b, xd_span_of(r->hash_type), text);
    return 0;
}

static int begin_pieces(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_span type = {NULL, 0};
    xd_xml_attribute(x, "type", &type);
    xd_builder_pieces(r->b, type, attribute_number(x, "length"));
    return 0;
}

static int take_piece(void *user, struct xd_span text)
{
    struct reader *r = user;
    xd_builder_piece(r->b, text);
    return 0;
}

static int begin_url(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_span text;
    uint64_t priority = attribute_number(x, "priority");
    r->source = (struct xd_source){.length = XD_SIZE_UNKNOWN,
                                   .object_size = XD_SIZE_UNKNOWN,
                                   .priority = XD_PRIORITY_NONE};
    if (priority >= 1 && priority <= XD_PRIORITY_NONE)
        r->source.priority = (unsigned)priority;
    else if (xd_xml_attribute(x, "priority", &text))
        xd_builder_warn(r->b, "a priority is not between 1 and %u",
                        XD_PRIORITY_NONE);
    if (xd_xml_attribute(x, "location", &text))
        r->source.location = xd_builder_location(r->b, text);
    return 0;
}

static int take_url(void *user, struct xd_span text)
{
    struct reader *r = user;
    r->source.url = text;
    xd_builder_source(r->b, &r->source);
    return 0;
}

static const struct xd_xml_rule rules[] = {
    {TOP, "metalink", METALINK, NULL, NULL, NULL},
    {METALINK, "file", A_FILE, begin_file, end_file, NULL},
    {A_FILE, "size", SIZE, NULL, NULL, take_size},
    {A_FILE, "hash", HASH, begin_hash, NULL, take_hash},
    {A_FILE, "pieces", PIECES, begin_pieces, NULL, NULL},
    {PIECES, "hash", PIECE, NULL, NULL, take_piece},
    {A_FILE, "url", URL, begin_url, NULL, take_url},
};

/* Written without a namespace, it is still meant as one. */
static bool has_root(const struct xd_xml_root *root)
{
    return strcmp(root->name, "metalink") == 0 &&
           (root->namespace_uri[0] == '\0' ||
            strcmp(root->namespace_uri, METALINK4_URI) == 0);
}

static int read_metalink4(struct xd_builder *b, struct xd_span text,
                          const struct xd_xml_root *root)
{
    struct reader r = {.b = b};
    const char *uri = root->namespace_uri[0] ? root->namespace_uri : NULL;
    return xd_xml_parse(b, text, uri, rules, sizeof rules / sizeof *rules, &r);
}

const struct xd_format xd_format_metalink4 = {"metalink4", has_root,
                                              read_metalink4};

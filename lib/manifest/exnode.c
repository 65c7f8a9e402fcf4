/*
 * exNode XML, as the tools of LoCI write it (version "3.0").
 *
 * A mapping says that bytes [exnode_offset, + logical_length) of the file lie
 * at alloc_offset of what its read capability names.  Nothing is certain but
 * that: elements and metadata come in any order, may be empty, and may be
 * ones that nobody knows.
 */
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "base/url.h"
#include "manifest/exnode.h"
#include "manifest/format.h"
#include "manifest/names.h"

/* IBP's own limit (MAX_CAP_LEN). */
#define MAX_CAPABILITY 2048

/* Enough to name what LoRS puts on top of one another. */
#define MAX_FUNCTIONS 5

enum state {
    TOP = XD_XML_TOP,
    EXNODE,
    FILE_METADATA,
    MAPPING,
    MAPPING_METADATA,
    FUNCTION,
    READ
};

struct number {
    bool is_given;
    uint64_t value;
};

struct mapping {
    struct number offset, length, alloc_offset, alloc_length, e2e_blocksize;
    unsigned priority, max_connections; /* or 0 */
    const char *location, *sha256;
    struct xd_text url;
    struct xd_text functions; /* "xor_encrypt over checksum" */
    unsigned n_functions;
};

struct reader {
    struct xd_builder *b;
    char key[48]; /* of the metadata being read */
    struct mapping mapping;
    size_t n_mappings;
    uint64_t end; /* of the file: the largest of all mappings' */
    struct number size;
    bool is_named, has_pieces;
};

static int begin_metadata(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct xd_span name;
    r->key[0] = '\0';
    if (xd_xml_attribute(x, NULL, "name", &name) && name.len < sizeof r->key) {
        memcpy(r->key, name.s, name.len);
        r->key[name.len] = '\0';
    }
    return 0;
}

/* What stands behind `head` in the key; a NULL span if it begins otherwise. */
static struct xd_span key_behind(const struct reader *r, const char *head)
{
    size_t len = strlen(head);
    return xd_span_of(strncmp(r->key, head, len) == 0 ? r->key + len : NULL);
}

/* "sha-1 262144" */
static void begin_pieces(struct reader *r, struct xd_span text)
{
    const char *blank = memchr(text.s, ' ', text.len);
    size_t len = blank ? (size_t)(blank - text.s) : text.len;
    struct xd_span length = xd_span_trim(xd_span(text.s + len, text.len - len));
    uint64_t piece_bytes = 0; /* said to be none, if it is no number */
    xd_parse_u64(length.s, length.len, &piece_bytes);
    xd_builder_pieces(r->b, xd_span(text.s, len), piece_bytes);
    r->has_pieces = true;
}

/* Checks, and what else costs no bytes. */
static void take_file_hint(struct reader *r, struct xd_span text)
{
    struct xd_span piece = key_behind(r, XD_EXNODE_PIECE);
    struct xd_span algorithm = key_behind(r, XD_EXNODE_HASH);
    if (strcmp(r->key, XD_EXNODE_SHA256) == 0) {
        xd_builder_hash(r->b, xd_span_of("sha-256"), text);
    } else if (strcmp(r->key, XD_EXNODE_MAX_CONNECTIONS) == 0) {
        xd_builder_max_connections(r->b, xd_builder_connections(r->b, text));
    } else if (strcmp(r->key, XD_EXNODE_PIECES) == 0) {
        begin_pieces(r, text);
    } else if (algorithm.s) {
        xd_builder_hash(r->b, algorithm, text);
    } else if (piece.s && r->has_pieces) {
        xd_builder_piece_number(r->b, piece);
        xd_builder_piece(r->b, text);
    }
}

static int take_file_metadata(void *user, struct xd_span text)
{
    struct reader *r = user;
    if (text.len == 0)
        return 0;
    if (strcmp(r->key, "filename") == 0) {
        r->is_named = true;
        xd_builder_name(r->b, text);
    } else if (strcmp(r->key, "size") == 0) {
        r->size.is_given = xd_parse_u64(text.s, text.len, &r->size.value);
    } else {
        take_file_hint(r, text);
    }
    return 0;
}

/* Strict: a wrong number would bring wrong bytes. */
static int read_number(struct reader *r, struct number *out,
                       struct xd_span text)
{
    struct xd_quoted q;
    uint64_t value;
    if (text.len == 0)
        return 0;
    if (!xd_parse_u64(text.s, text.len, &value) || value > XD_FILE_MAX)
        return xd_builder_fail(r->b, "%s %s is not a number of bytes", r->key,
                               xd_quote(&q, text));
    if (out->is_given && out->value != value)
        return xd_builder_fail(r->b, "a mapping has two values of %s", r->key);
    *out = (struct number){true, value};
    return 0;
}

/* What costs no bytes. */
static void take_mapping_hint(struct reader *r, struct xd_span text)
{
    struct mapping *m = &r->mapping;
    if (strcmp(r->key, "alloc_length") == 0)
        m->alloc_length.is_given =
            xd_parse_u64(text.s, text.len, &m->alloc_length.value);
    else if (text.len == 0)
        return;
    else if (strcmp(r->key, XD_EXNODE_SHA256) == 0)
        m->sha256 = xd_builder_sha256(r->b, text);
    else if (strcmp(r->key, XD_EXNODE_PRIORITY) == 0)
        m->priority = xd_builder_rank(r->b, r->key, text, 1, XD_PRIORITY_NONE);
    else if (strcmp(r->key, XD_EXNODE_LOCATION) == 0)
        m->location = xd_builder_location(r->b, text);
    else if (strcmp(r->key, XD_EXNODE_MAX_CONNECTIONS) == 0)
        m->max_connections = xd_builder_connections(r->b, text);
}

static int take_mapping_metadata(void *user, struct xd_span text)
{
    struct reader *r = user;
    struct mapping *m = &r->mapping;
    if (strcmp(r->key, "exnode_offset") == 0)
        return read_number(r, &m->offset, text);
    if (strcmp(r->key, "logical_length") == 0)
        return read_number(r, &m->length, text);
    if (strcmp(r->key, "alloc_offset") == 0)
        return read_number(r, &m->alloc_offset, text);
    if (strcmp(r->key, "e2e_blocksize") == 0)
        return read_number(r, &m->e2e_blocksize, text);
    take_mapping_hint(r, text);
    return 0;
}

static int begin_function(struct xd_xml *x, void *user)
{
    struct mapping *m = &((struct reader *)user)->mapping;
    struct xd_span name = {"a function", 10};
    struct xd_quoted q;
    xd_xml_attribute(x, NULL, "name", &name);
    if (xd_span_is(name, "identity") || ++m->n_functions > MAX_FUNCTIONS)
        return 0;
    /* The quotation marks of a word are not needed. */
    const char *quoted = xd_quote(&q, name);
    xd_text_addf(&m->functions, "%s%.*s", m->n_functions > 1 ? " over " : "",
                 (int)strlen(quoted) - 2, quoted + 1);
    return 0;
}

static int take_read(void *user, struct xd_span text)
{
    struct reader *r = user;
    struct mapping *m = &r->mapping;
    if (m->url.len == 0)
        xd_text_add(&m->url, text.s, text.len);
    else if (text.len > 0)
        xd_builder_warn(r->b, "a second read capability of a mapping");
    return 0;
}

static int begin_mapping(struct xd_xml *x, void *user)
{
    struct mapping *m = &((struct reader *)user)->mapping;
    struct xd_text url = m->url, functions = m->functions;
    (void)x;
    xd_text_clear(&url);
    xd_text_clear(&functions);
    *m = (struct mapping){.url = url, .functions = functions};
    return 0;
}

/* IBP capabilities are ibp://HOST:PORT/KEY/TYPEKEY/READ, and what is longer
 * than its server reads is none. */
static bool is_broken_capability(const char *url)
{
    struct xd_url u;
    if (!xd_url_split(url, &u) || u.scheme != XD_SCHEME_IBP)
        return false;
    unsigned slashes = 0;
    for (const char *s = u.path; *s; s++)
        slashes += *s == '/';
    const char *last = strrchr(url, '/');
    return slashes != 3 || strcmp(last, "/READ") != 0 ||
           strlen(url) > MAX_CAPABILITY;
}

/* Whether the mapping's bytes cannot be used; then they are lost. */
static bool is_lost(struct reader *r)
{
    const struct mapping *m = &r->mapping;
    const char *why = NULL;
    if (m->n_functions > 0) {
        xd_builder_loss(r->b, m->offset.value, m->length.value,
                        "it is stored through %s, which cannot be undone",
                        m->functions.s);
        return true;
    }
    if (m->e2e_blocksize.value > 0)
        why = "it is stored in frames of a function that it does not name";
    else if (m->url.len == 0)
        why = "it has no read capability";
    else if (is_broken_capability(m->url.s))
        why = "its read capability is broken";
    if (why)
        xd_builder_loss(r->b, m->offset.value, m->length.value, "%s", why);
    return why != NULL;
}

/* A byte array of IBP may not be full; what others hold is as long as the
 * allocation says. */
static uint64_t object_size(const struct mapping *m, uint64_t object_end)
{
    struct xd_url u;
    bool is_full = xd_url_split(m->url.s, &u) && u.scheme != XD_SCHEME_IBP;
    bool is_long_enough = m->alloc_length.is_given &&
                          m->alloc_length.value >= object_end &&
                          m->alloc_length.value <= XD_FILE_MAX;
    return is_full && is_long_enough ? m->alloc_length.value : XD_SIZE_UNKNOWN;
}

static int check_numbers(struct reader *r, uint64_t *out_end,
                         uint64_t *out_object_end)
{
    const struct mapping *m = &r->mapping;
    if (!m->offset.is_given || !m->length.is_given)
        return xd_builder_fail(r->b, "a mapping has no %s",
                               m->offset.is_given ? "logical_length"
                                                  : "exnode_offset");
    /* Neither sum can wrap: each number is at most XD_FILE_MAX. */
    *out_end = m->offset.value + m->length.value;
    *out_object_end = m->alloc_offset.value + m->length.value;
    if (*out_end > XD_FILE_MAX || *out_object_end > XD_FILE_MAX)
        return xd_builder_fail(
            r->b,
            "a mapping of %llu bytes at %llu (alloc_offset %llu) ends "
            "beyond any file",
            (unsigned long long)m->length.value,
            (unsigned long long)m->offset.value,
            (unsigned long long)m->alloc_offset.value);
    return 0;
}

static int end_mapping(void *user)
{
    struct reader *r = user;
    struct mapping *m = &r->mapping;
    uint64_t end = 0, object_end = 0;
    int rc = check_numbers(r, &end, &object_end);
    if (rc < 0)
        return rc;
    if (m->url.failed || m->functions.failed)
        return xd_fail_nomem(r->b->err);
    r->n_mappings++;
    if (end > r->end)
        r->end = end;
    if (m->length.value == 0)
        return 0;
    if (!is_lost(r))
        xd_builder_source(
            r->b, &(struct xd_source){
                      .offset = m->offset.value,
                      .length = m->length.value,
                      .url = xd_span(m->url.s, m->url.len),
                      .object_offset = m->alloc_offset.value,
                      .object_size = object_size(m, object_end),
                      .priority = m->priority ? m->priority : XD_PRIORITY_NONE,
                      .location = m->location,
                      .sha256 = m->sha256,
                      .max_connections = m->max_connections});
    return 0;
}

static int end_exnode(void *user)
{
    struct reader *r = user;
    bool is_empty = r->size.is_given && r->size.value == 0;
    r->b->number = 0;
    if (r->n_mappings == 0 && !is_empty)
        return xd_builder_fail(r->b, "the exNode has no mapping");
    if (!r->is_named)
        xd_builder_warn(r->b, "the exNode names no file");
    if (r->size.is_given && r->size.value != r->end)
        xd_builder_warn(r->b,
                        "the exNode says %llu bytes, but its mappings end at "
                        "%llu, which holds",
                        (unsigned long long)r->size.value,
                        (unsigned long long)r->end);
    xd_builder_size(r->b, r->end);
    return xd_builder_end_file(r->b);
}

static const struct xd_xml_rule rules[] = {
    {TOP, "exnode", EXNODE, NULL, end_exnode, NULL},
    {EXNODE, "metadata", FILE_METADATA, begin_metadata, NULL,
     take_file_metadata},
    {EXNODE, "mapping", MAPPING, begin_mapping, end_mapping, NULL},
    {MAPPING, "metadata", MAPPING_METADATA, begin_metadata, NULL,
     take_mapping_metadata},
    {MAPPING, "function", FUNCTION, begin_function, NULL, NULL},
    {FUNCTION, "function", FUNCTION, begin_function, NULL, NULL},
    {MAPPING, "read", READ, NULL, NULL, take_read},
};

/* The original writer leaves the root without a namespace. */
static bool has_root(const struct xd_xml_root *root)
{
    return strcmp(root->name, "exnode") == 0 &&
           (root->namespace_uri[0] == '\0' ||
            strcmp(root->namespace_uri, XD_EXNODE_URI) == 0);
}

static int read_exnode(struct xd_builder *b, struct xd_input *in,
                       const struct xd_xml_root *root)
{
    struct reader r = {.b = b};
    (void)root;
    int rc = xd_xml_parse(b, in, XD_EXNODE_URI, rules,
                          sizeof rules / sizeof *rules, &r);
    xd_text_fini(&r.mapping.url);
    xd_text_fini(&r.mapping.functions);
    return rc;
}

const struct xd_format xd_format_exnode = {"exnode", has_root, read_exnode};

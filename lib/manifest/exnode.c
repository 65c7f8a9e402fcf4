/* SPDX-License-Identifier: MIT */
/*
 * Reads exNode XML as written by the LoCI tools (version "3.0").
 *
 * A mapping says that bytes [exnode_offset, + logical_length) of the file are
 * stored at alloc_offset of the object that its read capability names.
 * Everything else is optional: elements and metadata may come in any order, be
 * empty, or be unknown.
 */
#include "base/date.h"
#include "base/error.h"
#include "base/framing.h"
#include "base/number.h"
#include "base/text.h"
#include "base/url.h"
#include "manifest/exnode.h"
#include "manifest/exnode_common.h"
#include "manifest/exnode_parity.h"
#include "manifest/format.h"
#include "manifest/names.h"
#include "manifest/write.h"
#include "manifest/xml_copy.h"

/* Largest number of functions shown in a message; LoRS does not nest more. */
#define MAX_FUNCTIONS 5

enum state {
    TOP = XD_XML_TOP,
    EXNODE,
    FILE_METADATA,
    MAPPING,
    MAPPING_METADATA,
    FUNCTION,
    ARGUMENT,
    READ,
    WRITE,
    MANAGE,
    STRIPE,
    STRIPE_METADATA,
    SHARD_METADATA,
    REPLICA_METADATA
};

/* Elements with these names contain secrets, and so does metadata with these
 * names. */
static const char *const secret_names[] = {"write", "manage", NULL};

struct number {
    bool is_given;
    uint64_t value;
};

struct mapping {
    struct number offset, length, alloc_offset, alloc_length, e2e_blocksize;
    unsigned priority, max_connections; /* 0: not given */
    const char *location, *sha256, *expires, *manage;
    bool has_write;
    uint64_t expires_at; /* 0: unknown */
    struct xd_text url;
    struct xd_url parsed; /* `url`, parsed at the end of the mapping */
    /* functions, such as "xor_encrypt over checksum" */
    struct xd_text functions;
    unsigned n_functions, n_checksums;
    struct number stored_bytes; /* bytes in a frame: argument of `checksum` */
    bool is_checksum;           /* the innermost function is `checksum` */
    size_t n_held;     /* number of elements that the model represents */
    size_t read_begin; /* offset of the read capability in `copy` */
    size_t end_begin, end_end, metadata_at; /* as in struct xd_exnode_part */
};

struct reader {
    /* must be first: its functions cast to it */
    struct xd_parity_reader parity;
    struct xd_builder *b;
    char key[48];      /* name of the metadata being read */
    size_t text_begin; /* offset in `copy` of the text of that metadata */
    struct xd_xml_copy copy;
    struct mapping mapping;
    size_t n_mappings;
    uint64_t end; /* end of the file according to its mappings */
    struct number size;
    bool is_named, has_pieces;
};

static int begin_metadata(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    xd_xml_attribute_text(x, "name", r->key, sizeof r->key);
    r->text_begin = r->copy.text.len;
    return 0;
}

static int begin_file_metadata(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    begin_metadata(x, user);
    xd_parity_begin(&r->parity, x, r->key);
    return 0;
}

static void *allocate(struct reader *r, size_t size)
{
    void *p =
        r->b->out_of_memory ? NULL : xd_pool_alloc(&r->b->manifest->pool, size);
    r->b->out_of_memory |= p == NULL;
    return p;
}

/* Returns the child of the root that just ended, as text; NULL if it was not
 * copied, or if out of memory. */
static struct xd_exnode_part *make_part(struct reader *r)
{
    return xd_exnode_make_part(r->b, &r->copy, 0, r->copy.text.len, 0);
}

/* Keeps what the model cannot represent, to write it back unchanged. */
static void keep(struct reader *r)
{
    struct xd_exnode_part *part = make_part(r);
    if (part)
        xd_builder_keep_part(&r->b->draft, part);
}

static int keep_other(void *user)
{
    keep(user);
    return 0;
}

/* Returns the part of the key after `head`; a NULL span if the key does not
 * start with it. */
static struct xd_span key_behind(const struct reader *r, const char *head)
{
    size_t len = strlen(head);
    return xd_span_of(strncmp(r->key, head, len) == 0 ? r->key + len : NULL);
}

/* Begins a list of piece hashes.  `text` is like "sha-1 262144". */
static void begin_pieces(struct reader *r, struct xd_span text)
{
    const char *blank = memchr(text.s, ' ', text.len);
    size_t len = blank ? (size_t)(blank - text.s) : text.len;
    struct xd_span length = xd_span_trim(xd_span(text.s + len, text.len - len));
    uint64_t piece_bytes = 0; /* 0 is reported as an error */
    xd_parse_u64(length.s, length.len, &piece_bytes);
    xd_builder_pieces(r->b, xd_span(text.s, len), piece_bytes);
    r->has_pieces = true;
}

/* Handles metadata that cannot affect where bytes come from.  Returns false for
 * an unknown key. */
static bool take_file_hint(struct reader *r, struct xd_span text)
{
    struct xd_span piece = key_behind(r, XD_EXNODE_PIECE);
    struct xd_span algorithm = key_behind(r, XD_EXNODE_HASH);
    if (strcmp(r->key, XD_EXNODE_SHA256) == 0) {
        xd_builder_hash(r->b, xd_span_of("sha-256"), text);
    } else if (strcmp(r->key, XD_EXNODE_MAX_CONNECTIONS) == 0) {
        xd_builder_max_connections(r->b, xd_builder_connections(r->b, text));
    } else if (strcmp(r->key, XD_EXNODE_PIECES) == 0) {
        begin_pieces(r, text);
    } else if (strcmp(r->key, XD_EXNODE_UPLOAD) == 0) {
        r->b->draft.upload = xd_builder_copy(r->b, text);
    } else if (algorithm.s) {
        xd_builder_hash(r->b, algorithm, text);
    } else if (piece.s && r->has_pieces) {
        xd_builder_piece_number(r->b, piece);
        xd_builder_piece(r->b, text);
    } else {
        return false;
    }
    return true;
}

static int take_file_metadata(void *user, struct xd_span text)
{
    struct reader *r = user;
    if (xd_parity_end(&r->parity))
        return 0;
    if (text.len > 0 && strcmp(r->key, "filename") == 0) {
        r->is_named = true;
        xd_builder_name(r->b, text);
    } else if (text.len > 0 && strcmp(r->key, "size") == 0) {
        r->size.is_given = xd_parse_u64(text.s, text.len, &r->size.value);
    } else if (text.len > 0 && take_file_hint(r, text)) {
        return 0;
    }
    keep(r);
    return 0;
}

/* Reads a number.  An invalid number is an error, because it would lead to
 * wrong bytes. */
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
    r->mapping.n_held += !out->is_given;
    *out = (struct number){true, value};
    return 0;
}

/* Handles metadata that cannot affect where bytes come from. */
static void take_mapping_hint(struct reader *r, struct xd_span text)
{
    struct mapping *m = &r->mapping;
    bool is_held = true;
    if (strcmp(r->key, "alloc_length") == 0) {
        is_held = !m->alloc_length.is_given;
        m->alloc_length.is_given =
            xd_parse_u64(text.s, text.len, &m->alloc_length.value);
    } else if (text.len == 0) {
        return;
    } else if (strcmp(r->key, XD_EXNODE_SHA256) == 0) {
        is_held = !m->sha256;
        m->sha256 = xd_builder_sha256(r->b, text);
    } else if (strcmp(r->key, XD_EXNODE_PRIORITY) == 0) {
        is_held = m->priority == 0;
        m->priority = xd_builder_rank(r->b, r->key, text, 1, XD_PRIORITY_NONE);
    } else if (strcmp(r->key, XD_EXNODE_LOCATION) == 0) {
        is_held = !m->location;
        m->location = xd_builder_location(r->b, text);
    } else if (strcmp(r->key, XD_EXNODE_MAX_CONNECTIONS) == 0) {
        is_held = m->max_connections == 0;
        m->max_connections = xd_builder_connections(r->b, text);
    } else {
        is_held = false;
    }
    m->n_held += is_held;
    if (strcmp(r->key, XD_EXNODE_END) == 0) {
        m->expires = xd_builder_copy(r->b, text);
        m->end_begin = r->text_begin;
        m->end_end = r->copy.text.len - strlen("</exnode:metadata>");
        if (!xd_date_parse(text.s, text.len, &m->expires_at))
            m->expires_at = 0;
    }
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
    m->is_checksum = xd_span_is(name, "checksum");
    m->n_checksums += m->is_checksum;
    if (xd_span_is(name, "identity") || ++m->n_functions > MAX_FUNCTIONS)
        return 0;
    /* removes the quotation marks that xd_quote() adds */
    const char *quoted = xd_quote(&q, name);
    xd_text_addf(&m->functions, "%s%.*s", m->n_functions > 1 ? " over " : "",
                 (int)strlen(quoted) - 2, quoted + 1);
    return 0;
}

static int end_function(void *user)
{
    struct mapping *m = &((struct reader *)user)->mapping;
    m->is_checksum = false;
    return 0;
}

static int take_argument(void *user, struct xd_span text)
{
    struct reader *r = user;
    struct mapping *m = &r->mapping;
    if (m->is_checksum && strcmp(r->key, "blocksize") == 0)
        return read_number(r, &m->stored_bytes, text);
    return 0;
}

static int take_write(void *user, struct xd_span text)
{
    struct mapping *m = &((struct reader *)user)->mapping;
    m->has_write |= text.len > 0;
    m->n_held += text.len == 0;
    return 0;
}

static int take_manage(void *user, struct xd_span text)
{
    struct reader *r = user;
    if (text.len > 0)
        r->mapping.manage = xd_builder_copy(r->b, text);
    r->mapping.n_held += text.len == 0;
    return 0;
}

static int begin_read(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    (void)x;
    r->mapping.read_begin = r->copy.text.len;
    return 0;
}

static int take_read(void *user, struct xd_span text)
{
    struct reader *r = user;
    struct mapping *m = &r->mapping;
    if (m->url.len == 0) {
        xd_text_add(&m->url, text.s, text.len);
        m->n_held++;
        if (text.len > 0 && !memchr(text.s, ':', text.len))
            xd_exnode_resolve_in_copy(r->b, &r->copy, m->read_begin, "read",
                                      text);
    } else if (text.len > 0)
        xd_builder_warn(r->b, "a second read capability of a mapping");
    return 0;
}

static int begin_mapping(struct xd_xml *x, void *user)
{
    struct reader *r = user;
    struct mapping *m = &r->mapping;
    struct mapping next = {.url = m->url,
                           .functions = m->functions,
                           .n_held = 1,
                           .metadata_at = r->copy.text.len};
    (void)x;
    xd_text_clear(&next.url);
    xd_text_clear(&next.functions);
    *m = next;
    return 0;
}

/* Describes how `checksum` stores the mapping's bytes. */
static struct xd_framing framing_of(const struct mapping *m)
{
    return (struct xd_framing){
        .data_bytes = m->e2e_blocksize.value,
        .stored_bytes = m->stored_bytes.value,
        .offset = m->alloc_offset.value,
        .length = m->alloc_length.is_given &&
                          m->alloc_length.value > m->alloc_offset.value
                      ? m->alloc_length.value - m->alloc_offset.value
                      : 0};
}

static bool is_framed(const struct mapping *m)
{
    return m->n_functions == 1 && m->n_checksums == 1;
}

static const char *find_flaw_of_frames(const struct mapping *m)
{
    struct xd_framing f = framing_of(m);
    if (m->parsed.scheme != XD_SCHEME_IBP)
        return "it is stored through checksum, which is undone for IBP alone";
    if (!xd_framing_is_possible(&f) || xd_framing_data(&f) < m->length.value)
        return "it is stored through checksum, but its frames cannot be as it "
               "says";
    return NULL;
}

/* Returns whether the bytes of this mapping cannot be used, and records the
 * reason. */
static bool is_lost(struct reader *r)
{
    const struct mapping *m = &r->mapping;
    const char *why = NULL;
    if (m->n_functions > 0 && !is_framed(m)) {
        xd_builder_loss(r->b, m->offset.value, m->length.value,
                        "it is stored through %s, which cannot be undone",
                        m->functions.s);
        return true;
    }
    if (m->e2e_blocksize.value > 0 && !is_framed(m))
        why = "it is stored in frames of a function that it does not name";
    else if (m->url.len == 0)
        why = "it has no read capability";
    else if (xd_exnode_is_broken_capability(&m->parsed))
        why = "its read capability is broken";
    else if (is_framed(m))
        why = find_flaw_of_frames(m);
    if (!why && r->copy.is_too_long)
        why = "it is longer than any mapping";
    if (why)
        xd_builder_loss(r->b, m->offset.value, m->length.value, "%s", why);
    return why != NULL;
}

/* Returns the size of the object, or XD_SIZE_UNKNOWN if it is uncertain.  An
 * IBP byte array may be shorter than its allocation. */
static uint64_t object_size(const struct mapping *m, uint64_t object_end)
{
    bool is_full = m->parsed.is_valid && m->parsed.scheme != XD_SCHEME_IBP;
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
    /* The sums cannot overflow: each number is at most XD_FILE_MAX. */
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

/* Returns a copy, or NULL for an empty text. */
static const char *copy_text(struct reader *r, const struct xd_text *t)
{
    return t->len > 0 ? xd_builder_copy(r->b, xd_span(t->s, t->len)) : NULL;
}

/* Returns whether write_exnode.c can reproduce the mapping from the model. */
static bool is_held(const struct reader *r, uint64_t object_end)
{
    const struct mapping *m = &r->mapping;
    if (m->n_held != r->copy.n_elements)
        return false;
    return !m->alloc_length.is_given || m->alloc_length.value == object_end ||
           object_size(m, object_end) != XD_SIZE_UNKNOWN;
}

static struct xd_exnode_part *make_mapping(struct reader *r,
                                           uint64_t object_end)
{
    struct xd_exnode_part *part = is_held(r, object_end) ? NULL : make_part(r);
    if (part) {
        part->manage = r->mapping.manage;
        part->end_begin = r->mapping.end_begin;
        part->end_end = r->mapping.end_end;
        part->metadata_at = r->mapping.metadata_at;
    }
    return part;
}

static const struct xd_framing *keep_framing(struct reader *r)
{
    struct xd_framing *f;
    if (!is_framed(&r->mapping))
        return NULL;
    f = allocate(r, sizeof *f);
    if (f)
        *f = framing_of(&r->mapping);
    return f;
}

static unsigned rights_of(const struct mapping *m)
{
    return (m->url.len > 0 ? XD_MAY_READ : 0) |
           (m->has_write ? XD_MAY_WRITE : 0) | (m->manage ? XD_MAY_MANAGE : 0);
}

static void add_source(struct reader *r, uint64_t object_end)
{
    const struct mapping *m = &r->mapping;
    xd_builder_source(
        r->b, &(struct xd_source){
                  .offset = m->offset.value,
                  .length = m->length.value,
                  .url = xd_span(m->url.s, m->url.len),
                  .object_offset = is_framed(m) ? 0 : m->alloc_offset.value,
                  .object_size = object_size(m, object_end),
                  .priority = m->priority ? m->priority : XD_PRIORITY_NONE,
                  .location = m->location,
                  .sha256 = m->sha256,
                  .max_connections = m->max_connections,
                  .framing = keep_framing(r),
                  .expires = m->expires,
                  .functions = copy_text(r, &m->functions),
                  .part = make_mapping(r, object_end),
                  .rights = rights_of(m),
                  .expires_at = m->expires_at});
}

static int end_mapping(void *user)
{
    struct reader *r = user;
    struct mapping *m = &r->mapping;
    uint64_t end = 0, object_end = 0;
    size_t n_used;
    int rc = check_numbers(r, &end, &object_end);
    if (rc < 0)
        return rc;
    if (m->url.failed || m->functions.failed || r->copy.text.failed)
        return xd_fail_nomem(r->b->err);
    xd_url_parse(&m->parsed, m->url.len > 0 ? m->url.s : "");
    r->n_mappings++;
    if (end > r->end)
        r->end = end;
    n_used = r->b->draft.n_mappings;
    if (m->length.value > 0 && !is_lost(r))
        add_source(r, object_end);
    if (r->b->draft.n_mappings == n_used)
        keep(r);
    return 0;
}

static int end_exnode(void *user)
{
    struct reader *r = user;
    bool is_empty = r->size.is_given && r->size.value == 0;
    r->b->number = 0;
    if (r->n_mappings == 0 && !is_empty && !r->b->draft.upload)
        return xd_builder_fail(r->b, "the exNode has no mapping");
    if (!r->is_named)
        xd_builder_warn(r->b, "the exNode names no file");
    if (r->size.is_given && r->b->draft.upload && r->size.value > r->end)
        r->end = r->size.value;
    if (r->size.is_given && r->size.value != r->end)
        xd_builder_warn(r->b,
                        "the exNode says %llu bytes, but its mappings end at "
                        "%llu, which holds",
                        (unsigned long long)r->size.value,
                        (unsigned long long)r->end);
    xd_builder_size(r->b, r->end);
    if (r->copy.text.failed)
        return xd_fail_nomem(r->b->err);
    r->b->draft.is_exnode = true;
    return xd_builder_end_file(r->b);
}

static const struct xd_xml_rule rules[] = {
    {TOP, "exnode", EXNODE, NULL, end_exnode, NULL},
    {EXNODE, "metadata", FILE_METADATA, begin_file_metadata, NULL,
     take_file_metadata},
    {FILE_METADATA, "metadata", STRIPE, xd_parity_begin_stripe,
     xd_parity_end_stripe, NULL},
    {STRIPE, "metadata", STRIPE_METADATA, xd_parity_begin_metadata, NULL,
     xd_parity_take_metadata},
    {STRIPE_METADATA, "metadata", SHARD_METADATA, xd_parity_begin_of_shard,
     NULL, xd_parity_take_of_shard},
    {SHARD_METADATA, "metadata", REPLICA_METADATA, xd_parity_begin_of_replica,
     NULL, xd_parity_take_of_replica},
    {EXNODE, "mapping", MAPPING, begin_mapping, end_mapping, NULL},
    {MAPPING, "metadata", MAPPING_METADATA, begin_metadata, NULL,
     take_mapping_metadata},
    {MAPPING, "function", FUNCTION, begin_function, end_function, NULL},
    {FUNCTION, "function", FUNCTION, begin_function, end_function, NULL},
    {FUNCTION, "argument", ARGUMENT, begin_metadata, NULL, take_argument},
    {MAPPING, "read", READ, begin_read, NULL, take_read},
    {MAPPING, "write", WRITE, NULL, NULL, take_write},
    {MAPPING, "manage", MANAGE, NULL, NULL, take_manage},
};

/* Returns whether this is the root of an exNode.  The original tools write it
 * without a namespace. */
static bool has_root(const struct xd_xml_root *root)
{
    return strcmp(root->name, "exnode") == 0 &&
           (root->namespace_uri[0] == '\0' ||
            strcmp(root->namespace_uri, XD_EXNODE_URI) == 0);
}

static int read_exnode(struct xd_builder *b, struct xd_input *in,
                       const struct xd_xml_root *root)
{
    struct reader r = {.b = b,
                       .copy = {.namespace_uri = XD_EXNODE_URI,
                                .prefix = "exnode",
                                .secret_names = secret_names,
                                .secret_if_named = "metadata",
                                .other = keep_other}};
    (void)root;
    xd_parity_reader_init(&r.parity, b, &r.copy);
    int rc = xd_xml_parse(b, in, XD_EXNODE_URI, rules,
                          sizeof rules / sizeof *rules, &r.copy, &r);
    xd_text_fini(&r.mapping.url);
    xd_text_fini(&r.mapping.functions);
    xd_parity_reader_fini(&r.parity);
    xd_xml_copy_fini(&r.copy);
    return rc;
}

const struct xd_format xd_format_exnode = {"exnode", has_root, read_exnode};

/* SPDX-License-Identifier: MIT */
/*
 * Writes exNode XML for the LoCI tools.  Metadata is never empty, because the
 * original reader crashes on that.
 */
#include <stdio.h>

#include "base/error.h"
#include "manifest/exnode.h"
#include "manifest/parity.h"
#include "manifest/write.h"
#include "manifest/xml_copy.h"

typedef unsigned long long ull;

/* Indentation in blanks. */
enum place {
    FILE_METADATA = 2,
    MAPPING_METADATA = 4,
    STRIPE = 4,
    STRIPE_METADATA = 6,
    SHARD_METADATA = 8,
    REPLICA_METADATA = 10
};

static void write_string(struct xd_text *to, enum place place, const char *name,
                         const char *value)
{
    xd_text_addf(to, "%*s<exnode:metadata name=\"%s\" type=\"string\">",
                 (int)place, "", name);
    xd_write_escaped(to, value);
    xd_text_addf(to, "</exnode:metadata>\n");
}

static void write_number(struct xd_text *to, enum place place, const char *name,
                         uint64_t value)
{
    xd_text_addf(to,
                 "%*s<exnode:metadata name=\"%s\" type=\"integer\">%llu"
                 "</exnode:metadata>\n",
                 (int)place, "", name, (ull)value);
}

static void write_limit(struct xd_text *to, enum place place, unsigned n)
{
    if (n > 0)
        write_number(to, place, XD_EXNODE_MAX_CONNECTIONS, n);
}

static void write_hashes(struct xd_text *to, const struct xd_model_file *f)
{
    const struct xd_model_pieces *p = f->rare->pieces;
    char name[64];
    for (size_t i = 0; i < f->n_hashes; i++) {
        const struct xd_model_hash *h = &f->hashes[i];
        bool is_sha256 = strcmp(h->algorithm, "sha-256") == 0;
        snprintf(name, sizeof name, XD_EXNODE_HASH "%s", h->algorithm);
        write_string(to, FILE_METADATA, is_sha256 ? XD_EXNODE_SHA256 : name,
                     h->hex);
    }
    if (!p)
        return;
    snprintf(name, sizeof name, "%s %llu", p->algorithm, (ull)p->piece_bytes);
    write_string(to, FILE_METADATA, XD_EXNODE_PIECES, name);
    for (size_t i = 0; i < p->n; i++) {
        snprintf(name, sizeof name, XD_EXNODE_PIECE "%zu", i);
        write_string(to, FILE_METADATA, name, p->hex + i * p->stride);
    }
}

/* Writes the length of the allocation.  If the object size is unknown, only IBP
 * gets a length, because its tools require one: the end of the mapping in the
 * object.  Our reader does not take it for the size of an IBP object. */
static void write_alloc_length(struct xd_text *to, const struct xd_replica *r,
                               enum xd_scheme scheme, uint64_t length)
{
    if (r->object_size != XD_SIZE_UNKNOWN)
        write_number(to, MAPPING_METADATA, "alloc_length", r->object_size);
    else if (scheme == XD_SCHEME_IBP)
        write_number(to, MAPPING_METADATA, "alloc_length", r->offset + length);
}

static void write_capability(struct xd_text *to, const char *name,
                             const char *text)
{
    xd_text_addf(to, "    <exnode:%s>", name);
    if (text)
        xd_write_escaped(to, text);
    xd_text_addf(to, "</exnode:%s>\n", name);
}

/* Writes a mapping.  `secrets` has its write and manage capabilities, or is
 * NULL. */
static void write_mapping(struct xd_text *to, const struct xd_model_extent *e,
                          const char *sha256, const struct xd_replica *r,
                          enum xd_scheme scheme,
                          const struct xd_exnode_part *secrets)
{
    xd_text_addf(to, "  <exnode:mapping>\n");
    write_alloc_length(to, r, scheme, e->length);
    write_number(to, MAPPING_METADATA, "alloc_offset", r->offset);
    write_number(to, MAPPING_METADATA, "e2e_blocksize", 0);
    write_number(to, MAPPING_METADATA, "exnode_offset", e->offset);
    write_number(to, MAPPING_METADATA, "logical_length", e->length);
    if (sha256)
        write_string(to, MAPPING_METADATA, XD_EXNODE_SHA256, sha256);
    if (r->priority != XD_PRIORITY_NONE)
        write_number(to, MAPPING_METADATA, XD_EXNODE_PRIORITY, r->priority);
    if (r->location)
        write_string(to, MAPPING_METADATA, XD_EXNODE_LOCATION, r->location);
    write_limit(to, MAPPING_METADATA, r->max_connections);
    if (r->expires)
        write_string(to, MAPPING_METADATA, XD_EXNODE_END, r->expires);
    write_capability(to, "read", r->url);
    write_capability(to, "write", secrets ? secrets->write : NULL);
    write_capability(to, "manage", secrets ? secrets->manage : NULL);
    xd_text_addf(to, "  </exnode:mapping>\n");
}

/* Writes the original text, without its secrets if so requested.  Stops at a
 * secret whose position is invalid, rather than reveal it. */
static void write_part(struct xd_text *to, enum place place,
                       const struct xd_exnode_part *p, bool with_secrets)
{
    const size_t len = strlen(p->xml);
    size_t at = 0;
    xd_text_addf(to, "%*s", (int)place, "");
    for (size_t i = 0; i < p->n_secrets && !with_secrets; i++) {
        const struct xd_xml_secret *s = &p->secrets[i];
        if (s->begin < at || s->end < s->begin || s->end > len)
            return;
        xd_text_add(to, p->xml + at, s->begin - at);
        at = s->end;
    }
    xd_text_addf(to, "%s\n", p->xml + at);
}

static void write_extent(struct xd_text *to, const struct xd_model_file *f,
                         size_t extent, bool with_secrets)
{
    const struct xd_model_extent *e = &f->extents[extent];
    const char *sha256 = xd_model_sha256(f, extent);
    for (size_t k = 0; k < e->n_replicas; k++) {
        size_t i = e->first_replica + k;
        const struct xd_exnode_part *part =
            f->rare->mappings ? f->rare->mappings[i] : NULL;
        const struct xd_replica row = xd_model_replica_row(f, i);
        if (part && part->xml)
            write_part(to, FILE_METADATA, part, with_secrets);
        else
            write_mapping(to, e, sha256, &row, f->urls[i].scheme,
                          with_secrets ? part : NULL);
    }
}

static void begin_meta(struct xd_text *to, enum place place, const char *head,
                       uint64_t number)
{
    xd_text_addf(to, "%*s<exnode:metadata name=\"%s%llu\" type=\"meta\">\n",
                 (int)place, "", head, (ull)number);
}

static void end_meta(struct xd_text *to, enum place place)
{
    xd_text_addf(to, "%*s</exnode:metadata>\n", (int)place, "");
}

static void write_shard_replica(struct xd_text *to,
                                const struct xd_model_shard_replica *r,
                                size_t number, bool with_secrets)
{
    begin_meta(to, SHARD_METADATA, XD_EXNODE_REPLICA, number);
    write_string(to, REPLICA_METADATA, XD_EXNODE_READ,
                 xd_stripe_replica(r).url);
    if (r->offset > 0)
        write_number(to, REPLICA_METADATA, XD_EXNODE_ALLOC_OFFSET, r->offset);
    if (r->expires)
        write_string(to, REPLICA_METADATA, XD_EXNODE_END, r->expires);
    if (r->write && with_secrets)
        write_string(to, REPLICA_METADATA, XD_EXNODE_WRITE, r->write);
    if (r->manage && with_secrets)
        write_string(to, REPLICA_METADATA, XD_EXNODE_MANAGE, r->manage);
    end_meta(to, SHARD_METADATA);
}

static void write_shard(struct xd_text *to, const struct xd_model_stripe *s,
                        const struct xd_model_shard *shard, bool with_secrets)
{
    begin_meta(to, STRIPE_METADATA, XD_EXNODE_SHARD, shard->number);
    if (shard->sha256)
        write_string(to, SHARD_METADATA, XD_EXNODE_SHA256, shard->sha256);
    for (size_t i = 0; i < shard->n_replicas; i++)
        write_shard_replica(to, &s->replicas[shard->first_replica + i], i,
                            with_secrets);
    end_meta(to, STRIPE_METADATA);
}

static void write_stripe(struct xd_text *to, const struct xd_model_stripe *s,
                         bool with_secrets)
{
    if (s->part) {
        write_part(to, STRIPE, s->part, with_secrets);
        return;
    }
    begin_meta(to, STRIPE, XD_EXNODE_STRIPE, s->number);
    write_string(to, STRIPE_METADATA, XD_EXNODE_CODE, XD_EXNODE_REED_SOLOMON);
    write_string(to, STRIPE_METADATA, XD_EXNODE_POLYNOMIAL, XD_EXNODE_0X11D);
    write_string(to, STRIPE_METADATA, XD_EXNODE_MATRIX, XD_EXNODE_CAUCHY);
    write_number(to, STRIPE_METADATA, XD_EXNODE_K, s->k);
    write_number(to, STRIPE_METADATA, XD_EXNODE_N, s->n);
    write_number(to, STRIPE_METADATA, XD_EXNODE_SHARD_LENGTH, s->shard_bytes);
    write_number(to, STRIPE_METADATA, XD_EXNODE_OFFSET, s->offset);
    write_number(to, STRIPE_METADATA, XD_EXNODE_LENGTH, s->length);
    for (size_t i = 0; i < s->n_shards; i++)
        write_shard(to, s, &s->shards[i], with_secrets);
    end_meta(to, STRIPE);
}

static void write_parity(struct xd_text *to, const struct xd_model_rare *rare,
                         bool with_secrets)
{
    if (!rare->stripes)
        return;
    xd_text_addf(to, "  <exnode:metadata name=\"" XD_EXNODE_PARITY
                     "\" type=\"meta\">\n");
    for (size_t i = 0; i < rare->n_stripes + rare->n_unused_stripes; i++)
        write_stripe(to, &rare->stripes[i], with_secrets);
    xd_text_addf(to, "  </exnode:metadata>\n");
}

/* Writes the first elements of a new exNode.  In an exNode that was read, they
 * are among the parts that were kept. */
static void write_head(struct xd_text *to, const struct xd_model_file *f)
{
    write_string(to, FILE_METADATA, "Version", "3.0");
    if (f->path)
        write_string(to, FILE_METADATA, "filename", f->path);
    write_number(to, FILE_METADATA, "size", f->size);
}

static int write_exnode(struct xd_text *to, const struct xd_model_file *f,
                        size_t n, bool with_secrets, struct xd_error *err)
{
    if (n > 1)
        return xd_fail(err, XD_E_INVAL,
                       "the manifest has %zu files, but an exNode holds one: "
                       "choose one",
                       n);
    if (f->size == XD_SIZE_UNKNOWN)
        return xd_fail(err, XD_E_INVAL,
                       "%s: its size is not known, but an exNode has to say it",
                       xd_write_name(f));
    if (f->n_extents == 0 && f->size > 0 && !f->rare->upload)
        return xd_fail(err, XD_E_INVAL,
                       "%s: only another Metalink names copies of it, which an "
                       "exNode cannot say",
                       xd_write_name(f));
    xd_text_addf(to, "%s<exnode xmlns:exnode=\"%s\">\n", XD_XML_DECLARATION,
                 XD_EXNODE_URI);
    if (!f->rare->is_exnode)
        write_head(to, f);
    for (const struct xd_exnode_part *p = f->rare->parts; p; p = p->next)
        write_part(to, FILE_METADATA, p, with_secrets);
    write_limit(to, FILE_METADATA, f->rare->max_connections);
    if (f->rare->upload && with_secrets)
        write_string(to, FILE_METADATA, XD_EXNODE_UPLOAD, f->rare->upload);
    write_hashes(to, f);
    write_parity(to, f->rare, with_secrets);
    for (size_t i = 0; i < f->n_extents; i++)
        write_extent(to, f, i, with_secrets);
    xd_text_addf(to, "</exnode>\n");
    return 0;
}

const struct xd_writer xd_writer_exnode = {"exnode", write_exnode};

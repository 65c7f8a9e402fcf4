/* SPDX-License-Identifier: MIT */
/*
 * Writes Metalink 4 (RFC 5854), which can only describe copies of whole files.
 *
 * maxconnections exists only in Metalink 3, so it is written in that format's
 * namespace, which other readers ignore.
 */
#include "base/error.h"
#include "manifest/metalink.h"
#include "manifest/write.h"

typedef unsigned long long ull;

/* Checks that each replica is a whole copy. */
static int check_whole(const struct xd_model_file *f, struct xd_error *err)
{
    if (f->n_extents > 1)
        return xd_fail(err, XD_E_INVAL,
                       "%s: bytes %llu-%llu have copies of their own, but a "
                       "Metalink has only copies of the whole file",
                       xd_write_name(f), (ull)f->extents[0].offset,
                       (ull)(f->extents[0].offset + f->extents[0].length - 1));
    for (size_t i = 0; f->n_extents > 0 && i < f->extents->n_replicas; i++) {
        const struct xd_model_replica *r = &f->replicas[i];
        const uint64_t offset = xd_model_offset(f, i);
        const uint64_t object_size = xd_model_object_size(f, i);
        if (r->more && r->more->framing)
            return xd_fail(err, XD_E_INVAL,
                           "%s: a copy is stored in frames, which a Metalink "
                           "cannot say",
                           xd_write_name(f));
        if (offset > 0)
            return xd_fail(err, XD_E_INVAL,
                           "%s: a copy begins at byte %llu of what lies at its "
                           "URL, which a Metalink cannot say",
                           xd_write_name(f), (ull)offset);
        if (object_size != XD_SIZE_UNKNOWN && object_size != f->size)
            return xd_fail(err, XD_E_INVAL,
                           "%s: a copy is %llu of the %llu bytes that lie at "
                           "its URL, which a Metalink cannot say",
                           xd_write_name(f), (ull)f->size, (ull)object_size);
    }
    return 0;
}

static bool limits_connections(const struct xd_model_file *f)
{
    bool limits = f->rare->max_connections > 0;
    for (size_t i = 0; f->n_extents > 0 && i < f->extents->n_replicas; i++)
        limits |= f->replicas[i].max_connections > 0;
    return limits;
}

static void write_connections(struct xd_text *to, unsigned n)
{
    if (n > 0)
        xd_text_addf(to, " m3:maxconnections=\"%u\"", n);
}

static void write_hash(struct xd_text *to, const char *algorithm,
                       const char *hex)
{
    xd_text_addf(to, "    <hash type=\"%s\">%s</hash>\n", algorithm, hex);
}

static void write_hashes(struct xd_text *to, const struct xd_model_file *f)
{
    const struct xd_model_pieces *p = f->rare->pieces;
    /* The hash of the only extent is a hash of the file. */
    const char *sha256 = f->n_extents > 0 ? xd_model_sha256(f, 0) : NULL;
    for (size_t i = 0; i < f->n_hashes; i++) {
        write_hash(to, f->hashes[i].algorithm, f->hashes[i].hex);
        if (sha256 && strcmp(f->hashes[i].hex, sha256) == 0)
            sha256 = NULL;
    }
    if (sha256)
        write_hash(to, "sha-256", sha256);
    if (!p)
        return;
    xd_text_addf(to, "    <pieces length=\"%llu\" type=\"%s\">\n",
                 (ull)p->piece_bytes, p->algorithm);
    for (size_t i = 0; i < p->n; i++)
        xd_text_addf(to, "      <hash>%s</hash>\n", p->hex + i * p->stride);
    xd_text_addf(to, "    </pieces>\n");
}

/* Writes an armored OpenPGP signature.  Other signatures are left out: only
 * OpenPGP has a media type, and binary signatures cannot be in XML. */
static void write_signature(struct xd_text *to, const struct xd_model_file *f)
{
    static const char armor[] = "-----BEGIN PGP SIGNATURE-----";
    if (f->rare->signature_bytes < sizeof armor ||
        memcmp(f->rare->signature, armor, sizeof armor - 1) != 0)
        return;
    xd_text_addf(to, "    <signature mediatype=\"%s\">", XD_METALINK_OPENPGP);
    xd_write_escaped(to, f->rare->signature);
    xd_text_addf(to, "</signature>\n");
}

static void write_url(struct xd_text *to, const struct xd_model_replica *r,
                      const struct xd_url *url)
{
    xd_text_addf(to, "    <url");
    if (r->priority != XD_PRIORITY_NONE)
        xd_text_addf(to, " priority=\"%u\"", r->priority);
    if (r->location)
        xd_text_addf(to, " location=\"%s\"", r->location);
    write_connections(to, r->max_connections);
    xd_text_addf(to, ">");
    xd_write_escaped(to, xd_url_secret_text(url));
    xd_text_addf(to, "</url>\n");
}

/* Writes a metaurl.  When it is read, the server's Content-Type decides between
 * versions 3 and 4. */
static void write_metaurl(struct xd_text *to, const struct xd_metaurl *m)
{
    xd_text_addf(to, "    <metaurl mediatype=\"%s\"", XD_METALINK4_TYPE);
    if (m->name) {
        xd_text_addf(to, " name=\"");
        xd_write_escaped(to, m->name);
        xd_text_addf(to, "\"");
    }
    xd_text_addf(to, ">");
    xd_write_escaped(to, xd_url_secret_text(&m->url));
    xd_text_addf(to, "</metaurl>\n");
}

static void write_file(struct xd_text *to, const struct xd_model_file *f)
{
    xd_text_addf(to, "  <file");
    if (f->path) {
        xd_text_addf(to, " name=\"");
        xd_write_escaped(to, f->path);
        xd_text_addf(to, "\"");
    }
    write_connections(to, f->rare->max_connections);
    xd_text_addf(to, ">\n");
    if (f->size != XD_SIZE_UNKNOWN)
        xd_text_addf(to, "    <size>%llu</size>\n", (ull)f->size);
    write_hashes(to, f);
    write_signature(to, f);
    for (size_t i = 0; f->n_extents > 0 && i < f->extents->n_replicas; i++)
        write_url(to, &f->replicas[i], &f->urls[i]);
    for (const struct xd_metaurl *m = f->rare->metaurls; m; m = m->next)
        write_metaurl(to, m);
    xd_text_addf(to, "  </file>\n");
}

static int write_metalink4(struct xd_text *to,
                           const struct xd_model_file *files, size_t n,
                           bool with_secrets, struct xd_error *err)
{
    (void)with_secrets; /* a Metalink has no capabilities */
    bool has_limits = false;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = check_whole(&files[i], err);
        has_limits |= limits_connections(&files[i]);
    }
    if (rc < 0)
        return rc;
    xd_text_addf(to, "%s<metalink xmlns=\"%s\"", XD_XML_DECLARATION,
                 XD_METALINK4_URI);
    if (has_limits)
        xd_text_addf(to, " xmlns:m3=\"%s\"", XD_METALINK3_URI);
    xd_text_addf(to, ">\n");
    for (size_t i = 0; i < n; i++)
        write_file(to, &files[i]);
    xd_text_addf(to, "</metalink>\n");
    return 0;
}

const struct xd_writer xd_writer_metalink4 = {"metalink", write_metalink4};

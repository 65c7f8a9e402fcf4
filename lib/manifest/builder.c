/* SPDX-License-Identifier: MIT */
#include "manifest/builder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libxml/uri.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/text.h"
#include "base/url.h"
#include "manifest/extents.h"
#include "manifest/hashes.h"
#include "manifest/names.h"
#include "manifest/parity.h"

/* Sets the base to the path as an absolute URL.  If the current folder is
 * unknown, relative URLs cannot be used. */
static int base_on_path(struct xd_builder *b, const char *path)
{
    char folder[PATH_MAX] = "";
    struct xd_text whole = {0}, url = {0};
    if (path[0] != '/' && !getcwd(folder, sizeof folder))
        return 0;
    xd_text_addf(&whole, "%s%s%s", folder, path[0] == '/' ? "" : "/", path);
    xmlChar *escaped = whole.failed ? NULL
                                    : xmlURIEscapeStr((const xmlChar *)whole.s,
                                                      (const xmlChar *)"/");
    if (escaped)
        xd_text_addf(&url, "file://%s", (const char *)escaped);
    bool failed = !escaped || url.failed;
    xmlFree(escaped);
    xd_text_fini(&whole);
    b->base = url.s;
    return failed ? XD_E_NOMEM : 0;
}

static int set_base(struct xd_builder *b, const struct xd_url *u)
{
    if (b->origin_is_path)
        return base_on_path(b, b->origin);
    if (!xd_scheme_is_web(u->scheme))
        return 0;
    b->base = xd_strdup(b->origin);
    return b->base ? 0 : XD_E_NOMEM;
}

int xd_builder_init(struct xd_builder *b, const char *origin,
                    struct xd_error *err)
{
    struct xd_url u;
    *b = (struct xd_builder){.origin = origin, .err = err, .unit = "line"};
    b->draft.size = XD_SIZE_UNKNOWN;
    b->origin_is_path =
        origin && strcmp(origin, "-") != 0 && !strstr(origin, "://");
    b->origin_said = xd_origin_name(origin ? origin : "manifest", &u);
    b->manifest = xd_alloc(1, sizeof *b->manifest);
    if (!b->manifest || !b->origin_said || set_base(b, &u) < 0) {
        xd_builder_fini(b);
        return xd_fail_nomem(err);
    }
    atomic_init(&b->manifest->refs, 1);
    return 0;
}

static void reset_draft(struct xd_draft *d)
{
    xd_hashes_fini(d);
    xd_free(d->path);
    xd_free(d->mappings);
    xd_free(d->losses);
    xd_free(d->stripes);
    *d = (struct xd_draft){.size = XD_SIZE_UNKNOWN};
}

void xd_builder_fini(struct xd_builder *b)
{
    reset_draft(&b->draft);
    xd_free(b->base);
    b->base = NULL;
    xd_free(b->origin_said);
    xd_manifest_unref(b->manifest);
    b->origin_said = NULL;
    b->manifest = NULL;
}

/* The text "line 12: ", or "". */
struct place {
    char s[48];
};

static const char *format_place(const struct xd_builder *b, struct place *out)
{
    out->s[0] = '\0';
    if (b->number > 0)
        snprintf(out->s, sizeof out->s, "%s %lu: ", b->unit, b->number);
    return out->s;
}

int xd_builder_fail(struct xd_builder *b, const char *format, ...)
{
    struct place place;
    char sentence[sizeof b->err->msg];
    va_list args;
    /* If an allocation failed, report that instead: it may have caused the
     * error. */
    if (b->out_of_memory)
        return xd_fail_nomem(b->err);
    va_start(args, format);
    xd_format_line(sentence, sizeof sentence, format, args);
    va_end(args);
    return xd_fail(b->err, XD_E_MANIFEST, "%s: %s%s", b->origin_said,
                   format_place(b, &place), sentence);
}

const char *xd_builder_copy(struct xd_builder *b, struct xd_span s)
{
    const char *copy =
        b->out_of_memory ? NULL : xd_pool_copy(&b->manifest->pool, s);
    if (!copy)
        b->out_of_memory = true;
    return copy;
}

void xd_builder_warn(struct xd_builder *b, const char *format, ...)
{
    if (++b->n_warnings > XD_WARNINGS_MAX)
        return;
    struct place place;
    char sentence[300], line[sizeof place.s + sizeof sentence];
    va_list args;
    va_start(args, format);
    xd_format_line(sentence, sizeof sentence, format, args);
    va_end(args);
    snprintf(line, sizeof line, "%s%s", format_place(b, &place), sentence);
    if (xd_model_warn(b->manifest, line) < 0)
        b->out_of_memory = true;
}

/* Sets the path of the current file; the last name wins. */
static void set_path(struct xd_builder *b, const char *path)
{
    xd_free(b->draft.path);
    b->draft.path = xd_strdup(path);
    b->out_of_memory |= !b->draft.path;
}

void xd_builder_name(struct xd_builder *b, struct xd_span name)
{
    char safe[XD_PATH_MAX + 1];
    struct xd_quoted q;
    if (!xd_path_safe(name, safe)) {
        xd_builder_warn(b, "%s is no name for a file", xd_quote(&q, name));
        return;
    }
    if (!xd_span_is(name, safe))
        xd_builder_warn(b, "the name %s is not safe: \"%s\" is used instead",
                        xd_quote(&q, name), safe);
    set_path(b, safe);
}

bool xd_builder_server_name(struct xd_builder *b)
{
    const struct xd_span name = xd_span_of(b->server_name);
    char safe[XD_NAME_MAX + 1];
    struct xd_quoted q;
    if (!b->server_name)
        return false;
    if (!xd_name_safe(name, safe) || !xd_span_is(name, safe)) {
        xd_builder_warn(b,
                        "the server calls the file %s, which is no safe name: "
                        "that of its URL is used",
                        xd_quote(&q, name));
        return false;
    }
    set_path(b, b->server_name);
    return true;
}

void xd_builder_size(struct xd_builder *b, uint64_t size)
{
    struct xd_draft *d = &b->draft;
    if (size > XD_FILE_MAX) {
        xd_builder_warn(b, "no file has %llu bytes: the size is not used",
                        (unsigned long long)size);
    } else if (d->size != XD_SIZE_UNKNOWN && d->size != size) {
        xd_builder_warn(b, "two sizes, %llu and %llu: neither is used",
                        (unsigned long long)d->size, (unsigned long long)size);
        d->size_is_contradicted = true;
    } else {
        d->size = size;
    }
}

void xd_builder_max_connections(struct xd_builder *b, unsigned n)
{
    struct xd_draft *d = &b->draft;
    d->max_connections = xd_stricter_limit(d->max_connections, n);
}

void xd_builder_signature(struct xd_builder *b, struct xd_span text)
{
    struct xd_draft *d = &b->draft;
    if (text.len == 0 || d->signature.len > 0)
        return;
    d->signature.s = xd_builder_copy(b, text);
    d->signature.len = d->signature.s ? text.len : 0;
}

void xd_builder_keep_part(struct xd_draft *d, struct xd_exnode_part *part)
{
    if (d->last_part)
        d->last_part->next = part;
    else
        d->parts = part;
    d->last_part = part;
}

/* Stores the rare fields of a file.  Most files have none of them and share one
 * empty struct. */
static void keep_rare(struct xd_builder *b, struct xd_model_file *f,
                      const struct xd_model_rare *rare)
{
    bool is_plain = !rare->signature && !rare->reaches && !rare->mappings &&
                    !rare->parts && !rare->is_exnode && !rare->metaurls &&
                    !rare->upload && rare->n_torrents == 0 && !rare->pieces &&
                    !rare->sha256s && !rare->stripes &&
                    rare->max_connections == 0;
    struct xd_model_rare *kept =
        is_plain ? NULL : xd_pool_alloc(&b->manifest->pool, sizeof *kept);
    f->rare = &xd_model_plain;
    if (kept)
        *kept = *rare;
    if (kept)
        f->rare = kept;
    else if (!is_plain)
        b->out_of_memory = true;
}

/* Returns the path of the file.  If a URL ends with the path, the result points
 * into the URL to save memory. */
static const char *keep_path(struct xd_builder *b)
{
    const struct xd_draft *d = &b->draft;
    if (!d->path)
        return NULL;
    const char *url = d->n_mappings > 0 ? d->mappings[0].row.url : "";
    const size_t len = strlen(d->path), whole = strlen(url);
    if (whole > len && url[whole - len - 1] == '/' &&
        strcmp(url + whole - len, d->path) == 0)
        return url + whole - len;
    return xd_builder_copy(b, xd_span_of(d->path));
}

static int make_file(struct xd_builder *b, struct xd_model_file *f)
{
    struct xd_draft *d = &b->draft;
    struct xd_model_rare rare = {.signature = d->signature.s,
                                 .signature_bytes = d->signature.len,
                                 .is_exnode = d->is_exnode,
                                 .upload = d->upload,
                                 .metaurls = d->metaurls,
                                 .n_torrents = d->n_torrents,
                                 .max_connections = d->max_connections};
    f->path = keep_path(b);
    f->size = d->size_is_contradicted ? XD_SIZE_UNKNOWN : d->size;
    if (!xd_hashes_take(b, f, &rare))
        b->out_of_memory = true;
    int rc = xd_extents_take(b, f, &rare);
    xd_parity_take(b, f, &rare);
    /* set only now, because merging of mappings adds parts */
    rare.parts = d->parts;
    keep_rare(b, f, &rare);
    return b->out_of_memory ? xd_fail_nomem(b->err) : rc;
}

/* Returns whether another manifest may add sources to the file.  Only a strong
 * hash can prove that they hold this file. */
static bool may_get_sources(const struct xd_draft *d)
{
    return d->metaurls && xd_draft_has_strong_hash(d);
}

int xd_builder_end_file(struct xd_builder *b)
{
    struct xd_manifest *m = b->manifest;
    struct xd_draft *d = &b->draft;
    if (d->n_mappings == 0 && d->n_losses == 0 && d->size != 0 && !d->upload &&
        !may_get_sources(d)) {
        xd_builder_warn(b, "the file \"%s\" is left out: it has no source",
                        d->path ? d->path : "");
        m->n_left_out++;
        reset_draft(d);
        return 0;
    }
    struct xd_model_file *more =
        xd_grow(m->files, m->n_files, &m->files_capacity, sizeof *more);
    if (!more)
        return xd_fail_nomem(b->err);
    m->files = more;
    struct xd_model_file *f = &m->files[m->n_files++];
    *f = (struct xd_model_file){.rare = &xd_model_plain};
    int rc = make_file(b, f);
    reset_draft(d);
    return rc;
}

static int compare_strings(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Fails if two files have the same path, because they would overwrite each
 * other. */
static int check_paths_differ(struct xd_builder *b)
{
    struct xd_manifest *m = b->manifest;
    const char **paths = xd_alloc(m->n_files, sizeof *paths);
    size_t n = 0;
    int rc = 0;
    if (!paths)
        return xd_fail_nomem(b->err);
    for (size_t i = 0; i < m->n_files; i++) {
        if (m->files[i].path)
            paths[n++] = m->files[i].path;
    }
    qsort(paths, n, sizeof *paths, compare_strings);
    for (size_t i = 1; rc == 0 && i < n; i++) {
        if (strcmp(paths[i - 1], paths[i]) == 0)
            rc = xd_builder_fail(b, "two files have the path \"%s\"", paths[i]);
    }
    xd_free(paths);
    return rc;
}

/* Turns the last warning into the number of warnings that were omitted. */
static void count_lost_warnings(struct xd_builder *b)
{
    char line[80];
    if (b->n_warnings <= XD_WARNINGS_MAX)
        return;
    snprintf(line, sizeof line, "%zu more warnings are not listed",
             b->n_warnings - (XD_WARNINGS_MAX - 1));
    b->manifest->n_warnings = XD_WARNINGS_MAX - 1;
    if (xd_model_warn(b->manifest, line) < 0)
        b->out_of_memory = true;
}

/* Frees unused capacity after the last file. */
static int shrink(struct xd_manifest *m)
{
    struct xd_model_file *files =
        xd_realloc(m->files, m->n_files, sizeof *files);
    if (!files)
        return XD_E_NOMEM;
    m->files = files;
    return 0;
}

int xd_builder_finish(struct xd_builder *b, const char *format,
                      struct xd_manifest **out)
{
    struct xd_manifest *m = b->manifest;
    size_t dropped = b->first_dropped_source;
    b->number = 0;
    if (m->n_files == 0 && !b->out_of_memory)
        return xd_builder_fail(b, "no file in it has a source%s%s",
                               dropped ? "; " : "",
                               dropped ? m->warnings[dropped - 1] : "");
    int rc = b->out_of_memory ? 0 : check_paths_differ(b);
    count_lost_warnings(b);
    if (rc < 0)
        return rc;
    if (b->out_of_memory || shrink(m) < 0)
        return xd_fail_nomem(b->err);
    m->format = format;
    *out = m;
    b->manifest = NULL;
    return 0;
}

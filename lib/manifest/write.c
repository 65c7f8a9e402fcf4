/* SPDX-License-Identifier: MIT */
/* Writes manifests. */
#include "manifest/write.h"

#include <libxml/chvalid.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/unicode.h"
#include "command/manifests.h"

static const struct xd_writer *const writers[] = {&xd_writer_metalink4,
                                                  &xd_writer_exnode};

void xd_write_escaped(struct xd_text *to, const char *s)
{
    while (*s) {
        size_t plain = strcspn(s, "&<>\"");
        xd_text_add(to, s, plain);
        s += plain;
        switch (*s) {
        case '&':
            xd_text_addf(to, "&amp;");
            break;
        case '<':
            xd_text_addf(to, "&lt;");
            break;
        case '>':
            xd_text_addf(to, "&gt;");
            break;
        case '"':
            xd_text_addf(to, "&quot;");
            break;
        }
        s += *s != '\0';
    }
}

const char *xd_write_name(const struct xd_model_file *f)
{
    return f->path ? f->path : "(a file without a name)";
}

static bool can_stand_in_xml(const char *s)
{
    struct xd_span rest = xd_span_of(s);
    while (rest.len > 0) {
        uint32_t character;
        size_t len = xd_utf8_decode(rest.s, rest.len, &character);
        if (len == 0 || !xmlIsCharQ(character))
            return false;
        rest = xd_span(rest.s + len, rest.len - len);
    }
    return true;
}

/* Refuses URLs that cannot be in XML.  Other strings in the model were checked
 * or come from XML, but a list of URLs may contain any bytes. */
static int check_urls(const struct xd_model_file *f, struct xd_error *err)
{
    const size_t n = xd_model_n_replicas(f);

    for (size_t i = 0; i < n; i++) {
        if (!can_stand_in_xml(xd_url_secret_text(&f->urls[i])))
            return xd_fail(err, XD_E_INVAL,
                           "%s: URL number %zu is not UTF-8, as XML must be",
                           xd_write_name(f), i + 1);
    }
    return 0;
}

static bool stripe_has_secrets(const struct xd_model_stripe *s)
{
    if (s->part && s->part->n_secrets > 0)
        return true;
    for (size_t i = 0; i < s->n_replicas; i++) {
        if (s->replicas[i].write || s->replicas[i].manage)
            return true;
    }
    return false;
}

static const struct xd_writer *find_writer(const char *format)
{
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        if (strcmp(writers[i]->name, format) == 0)
            return writers[i];
    }
    return NULL;
}

static int write_text(char **out, const struct xd_manifest *m, size_t file,
                      const char *format, bool with_secrets, size_t *out_len,
                      struct xd_error *err)
{
    const struct xd_writer *writer = find_writer(format);
    const struct xd_model_file *files = m->files;
    size_t n = m->n_files;
    struct xd_text text = {.s = NULL};
    int rc = 0;
    *out = NULL;
    if (!writer)
        return xd_fail(err, XD_E_INVAL,
                       "no manifest can be written as \"%s\": give metalink, "
                       "exnode or private-exnode",
                       format);
    if (file != XD_ALL_FILES && file >= n)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    if (file != XD_ALL_FILES) {
        files += file;
        n = 1;
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = check_urls(&files[i], err);
    if (rc == 0)
        rc = writer->write(&text, files, n, with_secrets, err);
    if (rc == 0 && text.failed)
        rc = xd_fail_nomem(err);
    if (rc < 0) {
        xd_text_fini(&text);
        return rc;
    }
    *out = text.s;
    if (out_len)
        *out_len = text.len;
    return 0;
}

int xd_manifest_write(char **out, const struct xd_manifest *m, size_t file,
                      const char *format, size_t *out_len, struct xd_error *err)
{
    const bool with_secrets = strcmp(format, "private-exnode") == 0;

    return write_text(out, m, file, with_secrets ? "exnode" : format,
                      with_secrets, out_len, err);
}

static bool file_has_secrets(const struct xd_model_file *f)
{
    if (f->rare->upload)
        return true;
    for (const struct xd_exnode_part *p = f->rare->parts; p; p = p->next) {
        if (p->n_secrets > 0)
            return true;
    }
    for (size_t i = 0; i < f->rare->n_stripes + f->rare->n_unused_stripes;
         i++) {
        if (stripe_has_secrets(&f->rare->stripes[i]))
            return true;
    }
    for (size_t i = 0; i < f->n_extents && f->rare->mappings; i++) {
        const struct xd_model_extent *e = &f->extents[i];
        for (size_t k = 0; k < e->n_replicas; k++) {
            const struct xd_exnode_part *p =
                f->rare->mappings[e->first_replica + k];
            if (p && (p->n_secrets > 0 || p->manage))
                return true;
        }
    }
    return false;
}

bool xd_manifest_has_secrets(const struct xd_manifest *m, size_t file)
{
    for (size_t i = 0; i < m->n_files; i++) {
        if ((file == XD_ALL_FILES || file == i) &&
            file_has_secrets(&m->files[i]))
            return true;
    }
    return false;
}

void xd_manifest_text_free(char *text)
{
    xd_free(text);
}

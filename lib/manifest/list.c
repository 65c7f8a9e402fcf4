/* SPDX-License-Identifier: MIT */
/*
 * Reads lists of different files, line by line.
 *
 * Lists are written by hand or by other programs.  A dubious line is an error,
 * which is reported before anything is fetched.  Paths are made safe like those
 * of manifests.
 */
#include "manifest/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xdownload/check.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/text.h"
#include "base/typed_url.h"
#include "base/url.h"
#include "command/lists.h"
#include "manifest/model.h"
#include "manifest/names.h"
#include "manifest/parse.h"

#define MIB ((size_t)1 << 20)
#define WARNINGS_MAX 100

struct reader {
    struct xd_list *list;
    const char *said; /* origin, for messages */
    size_t line;
    bool servers_name; /* files without out= get their names from the server */
    struct xd_error *err;
};

void xd_list_free(struct xd_list *l)
{
    if (!l)
        return;
    xd_manifest_unref(l->strings);
    xd_free(l->rows);
    xd_free(l->urls);
    xd_free(l->warnings);
    xd_free(l);
}

/* ---- messages ---- */

static int fail(const struct reader *r, const char *format, ...)
    XD_PRINTF(2, 3);

static int fail(const struct reader *r, const char *format, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, format);
    xd_format_line(sentence, sizeof sentence, format, args);
    va_end(args);
    return xd_fail(r->err, XD_E_INVAL, "%s: line %zu: %s", r->said, r->line,
                   sentence);
}

static struct xd_pool *pool_of(const struct reader *r)
{
    return &r->list->strings->pool;
}

static int warn(struct reader *r, const char *format, ...) XD_PRINTF(2, 3);

static int warn(struct reader *r, const char *format, ...)
{
    struct xd_list *l = r->list;
    char sentence[300], line[400];
    va_list args;
    if (l->n_warnings == WARNINGS_MAX)
        return 0;
    va_start(args, format);
    xd_format_line(sentence, sizeof sentence, format, args);
    va_end(args);
    snprintf(line, sizeof line, "line %zu: %s", r->line, sentence);
    const char *copy = xd_pool_copy(pool_of(r), xd_span_of(line));
    const char **more = xd_grow(l->warnings, l->n_warnings,
                                &l->warnings_capacity, sizeof *more);
    if (more)
        l->warnings = more;
    if (!more || !copy)
        return xd_fail_nomem(r->err);
    l->warnings[l->n_warnings++] = copy;
    return 0;
}

/* ---- URLs ---- */

/* Explains why `url` is invalid, without showing possible secrets. */
static int fail_url(const struct reader *r, const char *url,
                    const struct xd_url *parsed)
{
    struct xd_quoted q;
    int rc;
    xd_quote(&q, xd_span_of(xd_url_name(parsed).s));
    if (url[0] == '<')
        rc = fail(r, "this is XML or HTML, and no list: a manifest is given "
                     "without --input-file");
    else if (parsed->is_valid)
        rc = fail(r, "%s: only URLs with http, https, ftp and ftps are fetched",
                  q.s);
    else if (strstr(url, "://") && strpbrk(url, " \t"))
        rc = fail(r,
                  "%s is not a URL: tabs separate the URLs on one line, and a "
                  "blank in a URL is written as %%20",
                  q.s);
    else if (strstr(url, "://"))
        rc = fail(r, "%s is not a URL that can be used", q.s);
    else
        rc = fail(r,
                  "%s is not a URL: a URL begins with https://, http:// or "
                  "ftp://",
                  q.s);
    return rc;
}

/* Returns a copy normalized by xd_typed_url(), unless it is several URLs
 * separated by blanks.  NULL if out of memory. */
static const char *copy_url(struct reader *r, struct xd_span text)
{
    const char *copy = xd_pool_copy(pool_of(r), text);
    const char *blank = copy ? strchr(copy, ' ') : NULL;
    if (!copy || (blank && strstr(blank, "://")))
        return copy;
    char *typed = xd_typed_url(copy);
    if (!typed)
        return NULL;
    if (strcmp(typed, copy) != 0)
        copy = xd_pool_copy(pool_of(r), xd_span_of(typed));
    xd_free(typed);
    return copy;
}

static int add_url(struct reader *r, struct xd_span text)
{
    struct xd_list *l = r->list;
    struct xd_url parsed;
    const char *url = copy_url(r, text);
    const char **more =
        xd_grow(l->urls, l->n_urls, &l->urls_capacity, sizeof *more);
    if (more)
        l->urls = more;
    if (!more || !url)
        return xd_fail_nomem(r->err);
    if (!xd_url_parse(&parsed, url) || !xd_scheme_is_web(parsed.scheme))
        return fail_url(r, url, &parsed);
    l->rows[l->n - 1].n_urls++;
    l->urls[l->n_urls++] = url;
    return 0;
}

static int read_urls(struct reader *r, struct xd_span line)
{
    struct xd_list *l = r->list;
    struct xd_list_row *more =
        xd_grow(l->rows, l->n, &l->capacity, sizeof *more);
    int rc = 0;
    if (!more)
        return xd_fail_nomem(r->err);
    l->rows = more;
    l->rows[l->n++] = (struct xd_list_row){.line = (uint32_t)r->line,
                                           .first_url = (uint32_t)l->n_urls};
    while (rc == 0 && line.len > 0) {
        const char *tab = memchr(line.s, '\t', line.len);
        size_t len = tab ? (size_t)(tab - line.s) : line.len;
        rc = add_url(r, xd_span_trim(xd_span(line.s, len)));
        line = xd_span_trim(xd_span(line.s + len, line.len - len));
    }
    return rc;
}

/* ---- options ---- */

static int keep(struct reader *r, const char **field, const char *value)
{
    *field = xd_pool_copy(pool_of(r), xd_span_of(value));
    return *field ? 0 : xd_fail_nomem(r->err);
}

static int warn_changed(struct reader *r, const char *option,
                        struct xd_span given, const char *safe)
{
    struct xd_quoted q;
    if (safe[0] == '\0' || xd_span_is(given, safe))
        return 0;
    return warn(r, "%s=%s is read as \"%s\"", option, xd_quote(&q, given),
                safe);
}

static int take_out(struct reader *r, struct xd_list_row *f,
                    struct xd_span value)
{
    char safe[XD_NAME_MAX + 1];
    struct xd_quoted q;
    if (memchr(value.s, '/', value.len) || memchr(value.s, '\\', value.len))
        return fail(r,
                    "out=%s is a path: out= takes the name alone, and dir= the "
                    "folder, within --directory",
                    xd_quote(&q, value));
    if (!xd_name_safe(value, safe))
        return fail(r, "out=%s is no name for a file", xd_quote(&q, value));
    int rc = warn_changed(r, "out", value, safe);
    return rc < 0 ? rc : keep(r, &f->name, safe);
}

static int take_dir(struct reader *r, struct xd_list_row *f,
                    struct xd_span value)
{
    char safe[XD_PATH_MAX + 1];
    struct xd_quoted q;
    if (!xd_path_inside(value, safe))
        return fail(r,
                    "dir=%s is no folder within that of --directory: it has to "
                    "be relative and without ..",
                    xd_quote(&q, value));
    while (value.len > 0 && value.s[value.len - 1] == '/')
        value.len--;
    int rc = warn_changed(r, "dir", value, safe);
    return rc < 0 ? rc : keep(r, &f->directory, safe);
}

static int take_checksum(struct reader *r, struct xd_list_row *f,
                         struct xd_span value)
{
    struct xd_checksums *c;
    struct xd_error why;
    int rc;
    f->checksum = xd_pool_copy(pool_of(r), value);
    if (!f->checksum || xd_checksums_new(&c, &why) < 0)
        return xd_fail_nomem(r->err);
    rc = xd_checksums_add(c, f->checksum, &why);
    xd_checksums_free(c);
    if (rc == XD_E_NOMEM)
        return xd_fail_nomem(r->err);
    return rc < 0 ? fail(r, "%s", why.msg) : 0;
}

static const struct option {
    const char *name;
    int (*take)(struct reader *r, struct xd_list_row *f, struct xd_span value);
} options[] = {
    {"out", take_out}, {"dir", take_dir}, {"checksum", take_checksum}};

static bool was_given(const struct xd_list_row *f, const struct option *o)
{
    return o->take == take_out   ? f->name != NULL
           : o->take == take_dir ? f->directory != NULL
                                 : f->checksum != NULL;
}

/* Reads an option.  `line` is "name=value". */
static int read_option(struct reader *r, struct xd_span line)
{
    struct xd_list *l = r->list;
    struct xd_quoted q;
    const char *sign = memchr(line.s, '=', line.len);
    if (!sign)
        return fail(r,
                    "%s is neither a URL nor an option of the line above "
                    "(name=value)",
                    xd_quote(&q, line));
    struct xd_span name =
        xd_span_trim(xd_span(line.s, (size_t)(sign - line.s)));
    struct xd_span value =
        xd_span_trim(xd_span(sign + 1, line.len - (size_t)(sign + 1 - line.s)));
    if (l->n == 0)
        return fail(r, "the option %s stands before the first URL",
                    xd_quote(&q, name));
    struct xd_list_row *f = &l->rows[l->n - 1];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct option *o = &options[i];
        if (!xd_span_is(name, o->name))
            continue;
        if (was_given(f, o))
            return fail(r, "%s= is given twice for one file", o->name);
        return o->take(r, f, value);
    }
    return warn(r, "the option %s is not known, and is passed over",
                xd_quote(&q, name));
}

/* ---- lines ---- */

static bool begins_with_scheme(struct xd_span s)
{
    size_t n = 0;
    while (n < s.len && s.s[n] != ':' && s.s[n] != '/' && s.s[n] != '=')
        n++;
    return n > 0 && s.len - n > 3 && memcmp(s.s + n, "://", 3) == 0;
}

static int read_line(struct reader *r, struct xd_span line)
{
    bool is_indented = line.len > 0 && (line.s[0] == ' ' || line.s[0] == '\t');
    line = xd_span_trim(line);
    if (line.len == 0 || line.s[0] == '#')
        return 0;
    return is_indented && !begins_with_scheme(line) ? read_option(r, line)
                                                    : read_urls(r, line);
}

static int read_lines(struct reader *r, struct xd_span text)
{
    int rc = 0;
    if (text.len >= 3 && memcmp(text.s, "\xef\xbb\xbf", 3) == 0)
        text = xd_span(text.s + 3, text.len - 3);
    while (rc == 0 && text.len > 0) {
        const char *end = memchr(text.s, '\n', text.len);
        size_t len = end ? (size_t)(end - text.s) : text.len;
        r->line++;
        rc = read_line(r, xd_span(text.s, len));
        len += end != NULL;
        text = xd_span(text.s + len, text.len - len);
    }
    return rc;
}

/* ---- paths ---- */

/* Sets the path of a file.  If a URL ends with the path, the path points into
 * the URL to save memory. */
static int keep_path(struct reader *r, struct xd_list_row *f, const char *path)
{
    const char *url = r->list->urls[f->first_url];
    const size_t len = strlen(path), whole = strlen(url);
    if (whole <= len || strcmp(url + whole - len, path) != 0)
        return keep(r, &f->path, path);
    f->path = url + whole - len;
    return 0;
}

static int make_path(struct reader *r, struct xd_list_row *f)
{
    char name[XD_NAME_MAX + 1], path[XD_PATH_MAX + 1];
    const char *directory = f->directory ? f->directory : "";
    struct xd_url first;
    r->line = f->line;
    if (!f->name && r->servers_name)
        return 0;
    xd_url_parse(&first, r->list->urls[f->first_url]);
    if (f->name) {
        strcpy(name, f->name);
    } else if (!xd_name_from_url(&first, name)) {
        return fail(r, "the URL does not name the file: write out=NAME in an "
                       "indented line below it");
    }
    const char *slash = directory[0] != '\0' ? "/" : "";
    int n = snprintf(path, sizeof path, "%s%s%s", directory, slash, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return fail(r, "the path of the file is longer than %d bytes",
                    XD_PATH_MAX);
    return keep_path(r, f, path);
}

static int by_path(const void *left, const void *right)
{
    const struct xd_list_row *const *a = left, *const *b = right;
    int c = strcmp((*a)->path, (*b)->path);
    return c ? c : ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

static int check_paths_differ(struct reader *r)
{
    struct xd_list *l = r->list;
    const struct xd_list_row **files = xd_alloc(l->n, sizeof *files);
    size_t n = 0;
    int rc = 0;
    if (!files)
        return xd_fail_nomem(r->err);
    for (size_t i = 0; i < l->n; i++) {
        if (l->rows[i].path)
            files[n++] = &l->rows[i];
    }
    qsort(files, n, sizeof *files, by_path);
    for (size_t i = 1; rc == 0 && i < n; i++) {
        r->line = files[i]->line;
        if (strcmp(files[i - 1]->path, files[i]->path) == 0)
            rc = fail(r,
                      "%s is the file of line %" PRIu32
                      " already: give it another "
                      "name with out=, or write copies of one file on one "
                      "line, with tabs between them",
                      files[i]->path, files[i - 1]->line);
    }
    xd_free(files);
    return rc;
}

static int finish(struct reader *r)
{
    struct xd_list *l = r->list;
    int rc = 0;
    if (l->n == 0)
        return xd_fail(r->err, XD_E_INVAL, "%s: there is no URL in it",
                       r->said);
    for (size_t i = 0; rc == 0 && i < l->n; i++)
        rc = make_path(r, &l->rows[i]);
    return rc < 0 ? rc : check_paths_differ(r);
}

static int check_text(const struct reader *r, struct xd_span text)
{
    const char *nul = text.len > 0 ? memchr(text.s, '\0', text.len) : NULL;
    if (text.len > XD_MANIFEST_MAX)
        return xd_fail(r->err, XD_E_INVAL,
                       "%s: longer than %zu MiB: no list is", r->said,
                       XD_MANIFEST_MAX / MIB);
    if (nul)
        return xd_fail(r->err, XD_E_INVAL,
                       "%s: byte %zu is zero: this is not UTF-8 text", r->said,
                       (size_t)(nul - text.s));
    return 0;
}

/* Frees unused capacity after the last line. */
static int shrink(struct reader *r)
{
    struct xd_list *l = r->list;
    struct xd_list_row *rows = xd_realloc(l->rows, l->n, sizeof *rows);
    const char **urls = xd_realloc(l->urls, l->n_urls, sizeof *urls);
    if (rows)
        l->rows = rows;
    if (urls)
        l->urls = urls;
    return rows && urls ? 0 : xd_fail_nomem(r->err);
}

int xd_list_parse(struct xd_list **out, const void *data, size_t len,
                  const char *origin, bool servers_name, struct xd_error *err)
{
    struct xd_span text = xd_span(data, len);
    *out = NULL;
    if (!origin)
        return xd_fail(err, XD_E_INVAL, "the list needs an origin");
    struct reader r = {.said =
                           strcmp(origin, "-") == 0 ? "standard input" : origin,
                       .servers_name = servers_name,
                       .err = err};
    r.list = xd_alloc(1, sizeof *r.list);
    if (!r.list)
        return xd_fail_nomem(err);
    r.list->strings = xd_model_new_strings();
    int rc = r.list->strings ? check_text(&r, text) : xd_fail_nomem(err);
    if (rc == 0)
        rc = read_lines(&r, text);
    if (rc == 0)
        rc = finish(&r);
    if (rc == 0)
        rc = shrink(&r);
    if (rc < 0)
        xd_list_free(r.list);
    else
        *out = r.list;
    return rc;
}

size_t xd_list_n_files(const struct xd_list *l)
{
    return l->n;
}

int xd_list_file(const struct xd_list *l, size_t i, struct xd_listed *out)
{
    if (i >= l->n)
        return XD_E_INVAL;
    const struct xd_list_row *r = &l->rows[i];
    const struct xd_listed file = {.struct_size = sizeof file,
                                   .line = r->line,
                                   .urls = l->urls + r->first_url,
                                   .n_urls = r->n_urls,
                                   .path = r->path,
                                   .directory =
                                       r->directory ? r->directory : "",
                                   .name = r->name,
                                   .checksum = r->checksum};
    xd_copy_out(out, &file, sizeof file);
    return 0;
}

const char *xd_list_warning(const struct xd_list *l, size_t i)
{
    return i < l->n_warnings ? l->warnings[i] : NULL;
}

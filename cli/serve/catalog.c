/* SPDX-License-Identifier: MIT */
#include "serve/catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args/choose.h"
#include "common/http_words.h"
#include "common/status.h"
#include "common/words.h"

void catalog_init(struct catalog *s, const char *token)
{
    *s = (struct catalog){0};
    if (token != NULL)
        snprintf(s->root, sizeof s->root, "/%s/", token);
    else
        strcpy(s->root, "/");
}

static void end_trace(struct catalog_file *f)
{
    struct xd_error err = {.code = XD_OK};

    if (f->trace != NULL)
        trace_end(f->trace,
                  xd_download_wait(xd_source_download(f->source), 0, &err),
                  &err);
}

void catalog_fini(struct catalog *s)
{
    /* All at once, for each takes its time to end. */
    for (size_t i = 0; i < s->n; i++) {
        end_trace(&s->files[i]);
        xd_download_cancel(xd_source_download(s->files[i].source));
    }
    for (size_t i = 0; i < s->n; i++) {
        xd_reader_free(s->files[i].pace);
        xd_reader_free(s->files[i].viewer.reader);
        xd_source_unref(s->files[i].source);
    }
    free(s->files);
    *s = (struct catalog){0};
}

/* A strong one: the hash of the file; where there is none, nothing holds for
 * longer than this run. */
static void make_etag(struct catalog_file *f, const struct xd_manifest *m,
                      size_t i, uint64_t size)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    if (xd_manifest_hash(m, i, 0, &hash) == 0)
        snprintf(f->etag, sizeof f->etag, "\"%s-%s\"", hash.algorithm,
                 hash.hex);
    else
        snprintf(f->etag, sizeof f->etag, "\"%" PRIx64 "-%" PRIx64 "\"", size,
                 (uint64_t)time(NULL));
}

static void make_paths(const struct catalog *s, struct catalog_file *f)
{
    snprintf(f->path, sizeof f->path, "%s%zu%s%s", s->root, s->n + 1,
             f->name[0] != '\0' ? "/" : "", f->name);
    snprintf(f->link, sizeof f->link, "%s%zu%s", s->root, s->n + 1,
             f->name[0] != '\0' ? "/" : "");
    http_encode(f->link, sizeof f->link, f->name);
}

static int set_rate(struct catalog_file *f, double bytes_per_s)
{
    struct xd_error err;
    const int rc = xd_reader_new(&f->pace, f->source, &err);

    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    xd_reader_playhead(f->pace, 0, bytes_per_s, XD_PAUSED);
    return 0;
}

int catalog_add(struct catalog *s, const struct args *a, struct xd_manifest *m,
                size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct catalog_file *files = realloc(s->files, (s->n + 1) * sizeof *files);
    struct xd_error err;

    if (files == NULL || xd_manifest_file(m, i, &file) < 0) {
        words_error("out of memory");
        s->files = files != NULL ? files : s->files;
        return STATUS_FAILED;
    }
    s->files = files;
    struct catalog_file *f = &files[s->n];
    *f = (struct catalog_file){.type = http_type(file.name)};
    const int rc = xd_source_new(&f->source, m, i, a->options, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    snprintf(f->name, sizeof f->name, "%s", file.name != NULL ? file.name : "");
    f->has_pieces = xd_manifest_piece(m, i, 0) != NULL;
    make_etag(f, m, i, file.size);
    make_paths(s, f);
    f->trace = trace_begin(a->tracer, f->name, xd_source_download(f->source));
    s->n++;
    return a->rate > 0 ? set_rate(f, a->rate) : 0;
}

static int add_manifest(struct catalog *s, const struct args *a,
                        const struct inputs *in, size_t number)
{
    struct xd_manifest *m;
    size_t i = 0, end;

    int status = inputs_require_manifest(in, number, &m);
    if (status != 0)
        return status;
    end = xd_manifest_n_files(m);
    if (a->file != NULL) {
        status = choose_file(&i, a, m, a->inputs[number]);
        end = i + 1;
    }
    for (; status == 0 && i < end; i++)
        status = catalog_add(s, a, m, i);
    xd_manifest_unref(m);
    return status;
}

int catalog_fill(struct catalog *s, const struct args *a,
                 const struct inputs *in)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < in->n; i++)
        status = add_manifest(s, a, in, i);
    if (status == 0 && s->n > 1 && args_value(a, "keep") != NULL)
        status = words_usage("--keep is the name of one file, but there are "
                             "%zu",
                             s->n);
    return status;
}

void catalog_print_failures(const struct catalog *s)
{
    struct xd_error err;

    for (size_t i = 0; i < s->n; i++) {
        struct catalog_file *f = &s->files[i];
        const int rc = xd_download_wait(xd_source_download(f->source), 0, &err);
        if (f->status != 0 || rc == 0 || rc == XD_E_AGAIN || rc == XD_E_STATE)
            continue;
        f->status = status_of(rc);
        words_error("%s: %s", f->link + strlen(s->root), err.msg);
    }
}

struct catalog_file *catalog_find(const struct catalog *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i].path, path) == 0)
            return &s->files[i];
    return NULL;
}

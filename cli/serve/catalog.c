/* SPDX-License-Identifier: MIT */
#include "serve/catalog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args/choose.h"
#include "command/lists.h"
#include "command/manifests.h"
#include "common/http_words.h"
#include "common/status.h"
#include "common/words.h"

#define NAME_MOST 260 /* most bytes of a name: it has at most 255 */
/* most bytes of a path: an escaped name has at most 765 */
#define PATH_MOST 1000

/* If bytes are kept in memory only, at most this many files stay open without
 * users. */
#define IDLE_IN_MEMORY 2

void catalog_init(struct catalog *s, const struct args *a)
{
    const char *spool = args_value(a, "spool");
    const bool is_in_memory = spool != NULL && strcmp(spool, "none") == 0;

    *s = (struct catalog){
        .args = a, .most_idle = is_in_memory ? IDLE_IN_MEMORY : CATALOG_OPEN};
    if (a->token != NULL)
        snprintf(s->root, sizeof s->root, "/%s/", a->token);
    else
        strcpy(s->root, "/");
    pthread_mutex_init(&s->lock, NULL);
}

/* ---- closing ---- */

void catalog_report_failure(const struct catalog *s, struct catalog_file *f,
                            int rc, const char *why)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&f->status, &none, status_of(rc)))
        return;
    words_error("%s: %s", f->link + strlen(s->root), why);
}

static void print_failure(const struct catalog *s,
                          const struct catalog_source *of)
{
    struct xd_error err;
    const int rc = xd_download_wait(xd_source_download(of->source), 0, &err);

    if (rc != 0 && rc != XD_E_AGAIN && rc != XD_E_STATE)
        catalog_report_failure(s, of->file, rc, err.msg);
}

/* Ends the trace of a file.  Call it only after the board has stopped using the
 * file. */
static void end_trace(const struct catalog_source *of)
{
    struct xd_error err = {.code = XD_OK};

    if (of->trace == NULL)
        return;
    trace_leave_records(of->trace, false);
    trace_end(of->trace,
              xd_download_wait(xd_source_download(of->source), 0, &err), &err);
}

static void release(const struct catalog_source *of)
{
    xd_reader_free(of->pace);
    xd_reader_free(of->viewer.reader);
    xd_source_unref(of->source);
}

/* Closes a source that was removed from the catalog. */
static void close_source(const struct catalog *s,
                         const struct catalog_source *of)
{
    print_failure(s, of);
    end_trace(of);
    release(of);
}

static bool is_idle(const struct catalog_source *of)
{
    return of->file != NULL && of->n_clients == 0 && of->n_others == 0;
}

/* Removes the least recently used source and copies it to *out.  The caller
 * closes it.  Returns false if all sources are in use. */
static bool take_idle_locked(struct catalog *s, struct catalog_source *out)
{
    struct catalog_source *oldest = NULL;

    for (size_t i = 0; i < CATALOG_OPEN; i++) {
        struct catalog_source *of = &s->sources[i];
        if (is_idle(of) && (oldest == NULL || of->used < oldest->used))
            oldest = of;
    }
    if (oldest == NULL)
        return false;
    *out = *oldest;
    out->file->open = NULL;
    *oldest = (struct catalog_source){.file = NULL};
    return true;
}

static void close_idle_beyond(struct catalog *s, size_t most)
{
    struct catalog_source taken;
    bool is_taken = true;

    while (is_taken) {
        size_t n = 0;
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < CATALOG_OPEN; i++)
            n += is_idle(&s->sources[i]);
        is_taken = n > most && take_idle_locked(s, &taken);
        pthread_mutex_unlock(&s->lock);
        if (is_taken)
            close_source(s, &taken);
    }
}

static void free_file(struct catalog_file *f)
{
    free(f->name);
    free(f->path);
    free(f->link);
    xd_manifest_unref(f->manifest);
}

void catalog_fini(struct catalog *s)
{
    /* Cancel all downloads first, because each takes some time to end. */
    for (size_t i = 0; i < CATALOG_OPEN; i++)
        if (s->sources[i].file != NULL) {
            end_trace(&s->sources[i]);
            xd_download_cancel(xd_source_download(s->sources[i].source));
        }
    for (size_t i = 0; i < CATALOG_OPEN; i++)
        if (s->sources[i].file != NULL)
            release(&s->sources[i]);
    for (size_t i = 0; i < s->n; i++)
        free_file(&s->files[i]);
    free(s->files);
    pthread_mutex_destroy(&s->lock);
}

/* ---- opening ---- */

/* Makes a strong ETag from the file's hash.  Without a hash, the ETag is valid
 * only while the file is open. */
static void make_etag(struct catalog_source *of)
{
    const struct catalog_file *f = of->file;
    struct xd_hash hash = {.struct_size = sizeof hash};

    if (xd_manifest_hash(f->manifest, f->number, 0, &hash) == 0)
        snprintf(of->etag, sizeof of->etag, "\"%s-%s\"", hash.algorithm,
                 hash.hex);
    else
        snprintf(of->etag, sizeof of->etag, "\"%" PRIx64 "-%" PRIx64 "-%x\"",
                 f->size, (uint64_t)time(NULL), of->opening);
}

static int set_rate(struct catalog_source *of, double bytes_per_s,
                    struct xd_error *err)
{
    const int rc = xd_reader_new(&of->pace, of->source, err);

    if (rc == 0)
        xd_reader_playhead(of->pace, 0, bytes_per_s, XD_PLAY_PAUSED);
    return rc;
}

static int open_locked(struct catalog *s, struct catalog_source *of,
                       struct catalog_file *f, struct xd_error *err)
{
    const struct args *a = s->args;

    *of = (struct catalog_source){.file = f, .opening = ++s->n_openings};
    int rc =
        xd_source_new(&of->source, f->manifest, f->number, a->options, err);
    if (rc == 0 && a->rate > 0)
        rc = set_rate(of, a->rate, err);
    if (rc < 0) {
        xd_source_unref(of->source);
        of->file = NULL;
        return rc;
    }
    make_etag(of);
    of->trace = trace_begin(a->tracer, f->name, xd_source_download(of->source));
    f->open = of;
    return 0;
}

static struct catalog_source *find_room_locked(struct catalog *s)
{
    for (size_t i = 0; i < CATALOG_OPEN; i++)
        if (s->sources[i].file == NULL)
            return &s->sources[i];
    return NULL;
}

static int find_locked(struct catalog *s, struct catalog_file *f,
                       struct xd_error *err)
{
    if (f->open != NULL)
        return 0;
    struct catalog_source *room = find_room_locked(s);
    if (room != NULL)
        return open_locked(s, room, f, err);
    snprintf(err->msg, sizeof err->msg, "%d files are open already",
             CATALOG_OPEN);
    err->os_errno = EMFILE;
    return err->code = XD_E_AGAIN;
}

static void use_locked(struct catalog *s, struct catalog_source *of,
                       enum catalog_use use)
{
    switch (use) {
    case CATALOG_CLIENT:
        of->n_clients++;
        break;
    case CATALOG_OTHER:
        of->n_others++;
        break;
    }
    of->used = ++s->n_uses;
}

/* If there is no room or no descriptor, closes another file. */
int catalog_enter(struct catalog *s, struct catalog_file *f,
                  enum catalog_use use, struct catalog_source **out,
                  struct xd_error *err)
{
    struct catalog_source taken;
    bool is_taken = true;
    int rc = XD_E_AGAIN;

    while (is_taken && rc < 0) {
        *err = (struct xd_error){.code = XD_OK};
        pthread_mutex_lock(&s->lock);
        rc = find_locked(s, f, err);
        if (rc == 0) {
            use_locked(s, f->open, use);
            *out = f->open;
        }
        is_taken =
            rc < 0 && err->os_errno == EMFILE && take_idle_locked(s, &taken);
        pthread_mutex_unlock(&s->lock);
        if (is_taken)
            close_source(s, &taken);
    }
    if (rc < 0 && rc != XD_E_AGAIN)
        catalog_report_failure(s, f, rc, err->msg);
    return rc;
}

void catalog_leave(struct catalog *s, struct catalog_source *of,
                   enum catalog_use use)
{
    pthread_mutex_lock(&s->lock);
    switch (use) {
    case CATALOG_CLIENT:
        of->n_clients--;
        break;
    case CATALOG_OTHER:
        of->n_others--;
        break;
    }
    pthread_mutex_unlock(&s->lock);
    close_idle_beyond(s, s->most_idle);
}

/* Marks a source as in use, but does not change its place in the order of last
 * uses. */
static struct catalog_source *look_locked(struct catalog_source *of)
{
    if (of != NULL)
        of->n_others++;
    return of;
}

struct catalog_source *catalog_look(struct catalog *s, size_t i)
{
    struct catalog_source *of = &s->sources[i];

    pthread_mutex_lock(&s->lock);
    of = look_locked(of->file != NULL ? of : NULL);
    pthread_mutex_unlock(&s->lock);
    return of;
}

struct catalog_source *catalog_look_at(struct catalog *s,
                                       const struct catalog_file *f)
{
    struct catalog_source *of;

    pthread_mutex_lock(&s->lock);
    of = look_locked(f->open);
    pthread_mutex_unlock(&s->lock);
    return of;
}

bool catalog_has_clients(struct catalog *s, const struct catalog_source *of)
{
    pthread_mutex_lock(&s->lock);
    const bool has = of->n_clients > 0;
    pthread_mutex_unlock(&s->lock);
    return has;
}

/* ---- files ---- */

static bool make_names(const struct catalog *s, struct catalog_file *f,
                       const char *name)
{
    char path[PATH_MOST], link[PATH_MOST];
    const char *slash = name[0] != '\0' ? "/" : "";

    snprintf(path, sizeof path, "%s%zu%s%s", s->root, s->n + 1, slash, name);
    snprintf(link, sizeof link, "%s%zu%s", s->root, s->n + 1, slash);
    http_encode(link, sizeof link, name);
    f->name = strdup(name);
    f->path = strdup(path);
    f->link = strdup(link);
    return f->name != NULL && f->path != NULL && f->link != NULL;
}

static bool make_file(const struct catalog *s, struct catalog_file *f,
                      struct xd_manifest *m, size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};
    char name[NAME_MOST];

    if (xd_manifest_file(m, i, &file) < 0)
        return false;
    snprintf(name, sizeof name, "%s", file.name != NULL ? file.name : "");
    *f =
        (struct catalog_file){.type = http_type(file.name),
                              .manifest = xd_manifest_ref(m),
                              .number = i,
                              .size = file.size,
                              .has_pieces = xd_manifest_piece(m, i, 0) != NULL};
    if (make_names(s, f, name))
        return true;
    free_file(f);
    return false;
}

static int add_file(struct catalog *s, struct xd_manifest *m, size_t i)
{
    struct catalog_file *files = s->files;

    /* the array is full when its length is a power of two */
    if ((s->n & (s->n - 1)) == 0)
        files = realloc(s->files, (2 * s->n + 1) * sizeof *files);
    if (files != NULL)
        s->files = files;
    if (files == NULL || !make_file(s, &files[s->n], m, i)) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    s->n++;
    return 0;
}

static int add_manifest(struct catalog *s, const struct inputs *in,
                        size_t number)
{
    const struct args *a = s->args;
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
        status = add_file(s, m, i);
    xd_manifest_unref(m);
    return status;
}

/* Makes the manifest for a line of the list.  Copies at several URLs are
 * compared with each other, and verified with the checksum if the line has
 * one. */
static int list_manifest(struct xd_manifest **out, const struct args *a,
                         const struct xd_listed *l, struct xd_error *err)
{
    struct xd_checksums *c = NULL;
    struct xd_manifest *m = NULL, *with = NULL;

    int rc =
        xd_manifest_from_urls(&m, l->urls, l->n_urls, XD_SIZE_UNKNOWN, err);
    if (rc == 0 && l->checksum != NULL)
        rc = xd_checksums_new(&c, err);
    if (rc == 0 && c != NULL)
        rc = xd_checksums_add(c, l->checksum, err);
    if (rc == 0 && c != NULL)
        rc = xd_checksums_apply(&with, c, m, 0, err);
    if (rc == 0)
        rc = xd_copies_find(out, with != NULL ? with : m, a->options, err);
    xd_manifest_unref(with);
    xd_manifest_unref(m);
    xd_checksums_free(c);
    return rc;
}

static int add_line(struct catalog *s, const struct xd_listed *l,
                    struct xd_manifest *all, size_t line)
{
    struct xd_manifest *m;
    struct xd_error err;

    if (l->n_urls == 1 && l->checksum == NULL)
        return add_file(s, all, line);
    const int rc = list_manifest(&m, s->args, l, &err);
    if (rc < 0) {
        words_error("line %zu: %s", l->line, err.msg);
        return status_of(rc);
    }
    const int status = add_file(s, m, 0);
    xd_manifest_unref(m);
    return status;
}

/* Adds the lines of the list.  It assumes that each URL is a file, and does not
 * ask the servers, because there may be many. */
static int add_list(struct catalog *s)
{
    const struct args *a = s->args;
    struct xd_manifest *all = NULL;
    struct xd_list *list;
    struct xd_error err;
    int status = 0;

    int rc = xd_list_read(&list, a->list, false, &err);
    if (rc == 0)
        rc = xd_list_manifest(&all, list, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        xd_list_free(list);
        return status_of(rc);
    }
    if (!a->quiet)
        words_list_warnings(list);
    for (size_t i = 0; status == 0 && i < xd_list_n_files(list); i++) {
        struct xd_listed l = {.struct_size = sizeof l};
        if (xd_list_file(list, i, &l) == 0)
            status = add_line(s, &l, all, i);
    }
    xd_manifest_unref(all);
    xd_list_free(list);
    return status;
}

/* Opens a file to find errors in the options, which would affect every file. */
static int open_first(struct catalog *s)
{
    struct catalog_source *of = NULL;
    struct xd_error err;
    int rc = XD_E_NOREPLICA;

    for (size_t i = 0; i < s->n && rc < 0 && rc != XD_E_INVAL; i++)
        rc = catalog_enter(s, &s->files[i], CATALOG_OTHER, &of, &err);
    if (of == NULL)
        return status_of(rc);
    catalog_leave(s, of, CATALOG_OTHER);
    return 0;
}

int catalog_fill(struct catalog *s, const struct inputs *in)
{
    int status = s->args->list != NULL ? add_list(s) : 0;

    for (size_t i = 0; status == 0 && i < in->n; i++)
        status = add_manifest(s, in, i);
    if (status == 0 && s->n > 1 && args_value(s->args, "keep") != NULL)
        status = words_usage("--keep is the name of one file, but there are "
                             "%zu",
                             s->n);
    return status == 0 ? open_first(s) : status;
}

void catalog_print_failures(struct catalog *s)
{
    for (size_t i = 0; i < CATALOG_OPEN; i++) {
        struct catalog_source *of = catalog_look(s, i);
        if (of == NULL)
            continue;
        print_failure(s, of);
        catalog_leave(s, of, CATALOG_OTHER);
    }
}

int catalog_status(const struct catalog *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->files[i].status != 0)
            return s->files[i].status;
    return 0;
}

struct catalog_file *catalog_find(const struct catalog *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i].path, path) == 0)
            return &s->files[i];
    return NULL;
}

struct catalog_file *catalog_find_link(const struct catalog *s,
                                       const char *link)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i].link, link) == 0)
            return &s->files[i];
    return NULL;
}

struct catalog_file *catalog_next(const struct catalog *s,
                                  const struct catalog_file *f)
{
    return f + 1 < s->files + s->n ? (struct catalog_file *)(uintptr_t)(f + 1)
                                   : NULL;
}

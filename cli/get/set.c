/* SPDX-License-Identifier: MIT */
#include "get/set.h"

#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include <xdownload/manifest.h>

#include "args/target.h"
#include "common/status.h"
#include "common/words.h"
#include "get/fetch.h"

/* Of what is longer its start and its end cost little.  Alone its bytes are read
 * once more from the disk before it gets its name, and where it has one hash, and
 * that is wrong, not all of it is fetched again. */
#define LONGEST ((uint64_t)64 << 20)

#define COMPARED (1 << 20)

/* What is longer has a journal, also in a set; what an earlier run left of another
 * one, with a journal, comes alone. */
#define LEAST_WITH_JOURNAL ((uint64_t)4 << 20)

static bool is_long(uint64_t size)
{
    return size > LEAST_WITH_JOURNAL && size != XD_SIZE_UNKNOWN;
}

/* A trace is of one file, and so are these options. */
static bool may_be_sets(const struct args *a)
{
    static const char *const of_one[] = {"range", "max-time"};

    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
        if (args_value(a, of_one[i]) != NULL)
            return false;
    return a->output == NULL && a->tracer == NULL && !a->dry_run;
}

/* Whether something lies beside the path, with this suffix. */
static bool has_beside(const char *path, const char *suffix)
{
    char beside[PATH_MAX];
    const int len = snprintf(beside, sizeof beside, "%s%s", path, suffix);

    return len < 0 || (size_t)len >= sizeof beside || target_exists(beside);
}

/* A file that only its bytes prove, and that is no longer than what is compared
 * of a longer one, comes again and is compared, with all others. */
static bool can_compare(const struct args *a, const struct target *t,
                        uint64_t size)
{
    struct stat st;

    return size == XD_SIZE_UNKNOWN && !a->adopts && lstat(t->path, &st) == 0 &&
           S_ISREG(st.st_mode) && st.st_size <= COMPARED &&
           !has_beside(t->path, ".aria2");
}

/* What is there already is looked at by itself, unless it is to be compared. */
static bool can_come(const struct args *a, const char *path, uint64_t size)
{
    struct target t;

    if (target_init(&t, a, path, "") != 0)
        return false;
    const bool can = t.part != NULL && t.fd < 0 &&
                     (is_long(size) || !has_beside(t.part, ".journal")) &&
                     (!target_exists(t.path) || can_compare(a, &t, size));
    target_fini(&t);
    return can;
}

/* Of a long one a hash has to prove what an earlier run left: else that is compared
 * with what the depots have, which is for one file alone. */
static bool has_fit_size(const struct xd_manifest *m, size_t i,
                         const struct xd_file *file)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    return !is_long(file->size) ||
           (file->size <= LONGEST &&
            (file->n_pieces > 0 || xd_manifest_hash(m, i, 0, &hash) == 0));
}

/* Signatures of files themselves are verified one by one. */
static bool has_signed_hash(const struct xd_manifest *m, size_t i)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t k = 0; xd_manifest_hash(m, i, k, &hash) == 0; k++)
        if (hash.signed_by != NULL && !xd_hash_is_weak(hash.algorithm))
            return true;
    return false;
}

bool set_takes(const struct args *a, const struct xd_manifest *m, size_t i,
               const char *path)
{
    struct xd_file file = {.struct_size = sizeof file};

    return path != NULL && may_be_sets(a) &&
           (!args_wants_signed(a) || has_signed_hash(m, i)) &&
           xd_manifest_can_join(m, i) && xd_manifest_file(m, i, &file) == 0 &&
           has_fit_size(m, i, &file) && can_come(a, path, file.size);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

bool set_has(const struct set *s, const char *path)
{
    return tfind(path, &s->known, by_text) != NULL;
}

static bool grow(struct set *s)
{
    const size_t n = s->capacity > 0 ? 2 * s->capacity : 64;
    struct xd_manifest **manifests =
        realloc(s->manifests, n * sizeof *manifests);

    if (manifests != NULL)
        s->manifests = manifests;
    size_t *const files = realloc(s->files, n * sizeof *files);
    if (files != NULL)
        s->files = files;
    char **const paths = realloc(s->paths, n * sizeof *paths);
    if (paths != NULL)
        s->paths = paths;
    size_t *const lines = realloc(s->lines, n * sizeof *lines);
    if (lines != NULL)
        s->lines = lines;
    if (manifests == NULL || files == NULL || paths == NULL || lines == NULL)
        return false;
    s->capacity = n;
    return true;
}

bool set_add(struct set *s, struct xd_manifest *m, size_t i, const char *path,
             size_t line)
{
    if (s->n == s->capacity && !grow(s))
        return false;
    s->paths[s->n] = strdup(path);
    if (s->paths[s->n] == NULL ||
        tsearch(s->paths[s->n], &s->known, by_text) == NULL) {
        free(s->paths[s->n]);
        return false;
    }
    s->manifests[s->n] = xd_manifest_ref(m);
    s->lines[s->n] = line;
    s->files[s->n++] = i;
    return true;
}

void set_clear(struct set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        tdelete(s->paths[i], &s->known, by_text);
        free(s->paths[i]);
        xd_manifest_unref(s->manifests[i]);
    }
    free(s->manifests);
    free(s->files);
    free(s->paths);
    free(s->lines);
    *s = (struct set){0};
}

/* Those of one manifest, at their places in it, are taken as they are. */
static bool is_of_one(const struct set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct xd_file file = {.struct_size = sizeof file};

        if (s->manifests[i] != s->manifests[0] ||
            xd_manifest_file(s->manifests[i], s->files[i], &file) < 0 ||
            file.path == NULL || strcmp(file.path, s->paths[i]) != 0)
            return false;
    }
    return true;
}

static int fetch(const struct set *s, const struct args *a, FILE *report,
                 struct xd_manifest *m, const size_t *files,
                 struct set_outcome *out)
{
    struct target nowhere = {.fd = -1};
    const struct job job = {.args = a,
                            .manifest = m,
                            .set = files,
                            .n_set = s->n,
                            .target = &nowhere,
                            .report = report,
                            .n_failed = &out->n_failed,
                            .left = out->left,
                            .n_left = &out->n_left};
    return fetch_file(&job);
}

static int fetch_gathered(const struct set *s, const struct args *a,
                          FILE *report, struct set_outcome *out)
{
    struct xd_manifest *m;
    struct xd_error err;
    size_t *const files = calloc(s->n, sizeof *files);

    if (files == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    for (size_t i = 0; i < s->n; i++)
        files[i] = i;
    const int rc = xd_manifest_gather(
        &m, s->manifests, s->files, (const char *const *)s->paths, s->n, &err);
    if (rc < 0)
        words_error("%s", err.msg);
    const int status =
        rc < 0 ? status_of(rc) : fetch(s, a, report, m, files, out);
    xd_manifest_unref(m);
    free(files);
    return status;
}

int set_fetch(const struct set *s, const struct args *a, FILE *report,
              struct set_outcome *out)
{
    *out = (struct set_outcome){.left = calloc(s->n, sizeof *out->left)};
    if (out->left == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    return is_of_one(s) ? fetch(s, a, report, s->manifests[0], s->files, out)
                        : fetch_gathered(s, a, report, out);
}

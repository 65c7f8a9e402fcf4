/* SPDX-License-Identifier: MIT */
#include "get/set.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include <xdownload/manifest.h>

#include "args/target.h"
#include "command/manifests.h"
#include "common/status.h"
#include "common/words.h"
#include "get/fetch.h"

/* Files longer than this are downloaded alone, because the time to start and
 * end a download matters little for them.  Before a file that is downloaded
 * alone is renamed, it is read once more.  If its only hash does not match, not
 * all of it must be downloaded again. */
#define LONGEST ((uint64_t)64 << 20)

/* The same limit for files without a hash.  If a run is killed, an incomplete
 * file without a hash must be downloaded again completely. */
#define LONGEST_WITHOUT_HASH ((uint64_t)16 << 20)

#define COMPARED (1 << 20)

/* Files longer than this have a journal, even in a set.  If an earlier run has
 * left a journal for a shorter file, the file is downloaded alone. */
#define LEAST_WITH_JOURNAL ((uint64_t)4 << 20)

static bool is_long(uint64_t size)
{
    return size > LEAST_WITH_JOURNAL && size != XD_SIZE_UNKNOWN;
}

/* Returns whether files may be downloaded as sets.  They may not with --trace,
 * or with options that apply to a single file. */
static bool may_be_sets(const struct args *a)
{
    static const char *const of_one[] = {"range", "max-time"};

    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
        if (args_value(a, of_one[i]) != NULL)
            return false;
    return a->output == NULL && a->tracer == NULL && !a->dry_run;
}

/* Returns whether a file with this suffix exists beside the path. */
static bool has_beside(const char *path, const char *suffix)
{
    char beside[PATH_MAX];
    const int len = snprintf(beside, sizeof beside, "%s%s", path, suffix);

    return len < 0 || (size_t)len >= sizeof beside || target_exists(beside);
}

/* Returns whether a short existing file without a known hash can be part of a
 * set.  It is downloaded again and compared. */
static bool can_compare(const struct args *a, const struct target *t,
                        uint64_t size)
{
    struct stat st;

    return size == XD_SIZE_UNKNOWN && !a->adopts && !a->timestamping &&
           lstat(t->path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size <= COMPARED && !has_beside(t->path, ".aria2");
}

/* Returns whether the path allows the file to be part of a set.  If a file
 * exists at the path, it must be one that can be compared. */
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

/* Returns whether the size allows the file to be part of a set.  A long file
 * needs a hash, because only a hash can prove the bytes that an earlier run has
 * left. */
static bool has_fit_size(const struct xd_manifest *m, size_t i,
                         const struct xd_file *file)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    return !is_long(file->size) ||
           (file->size <= LONGEST &&
            (file->n_pieces > 0 || xd_manifest_hash(m, i, 0, &hash) == 0));
}

bool set_takes_sized(const struct args *a, uint64_t size, const char *path)
{
    return size <= LONGEST_WITHOUT_HASH && can_come(a, path, size);
}

/* Returns whether the file has a signed hash.  Signatures are verified for
 * single files only. */
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
           xd_manifest_file(m, i, &file) == 0 && file.can_join &&
           has_fit_size(m, i, &file) && can_come(a, path, file.size);
}

/* ---- contents of a set ---- */

static const char *path_in(const struct xd_manifest *m, size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};

    return xd_manifest_file(m, i, &file) == 0 ? file.path : NULL;
}

struct set_file set_get(const struct set *s, size_t i)
{
    const struct set_row *row = &s->rows[i];
    struct xd_manifest *const m = s->manifests[row->manifest];
    const char *const placed = s->paths != NULL ? s->paths[i] : NULL;

    return (struct set_file){.manifest = m,
                             .file = row->file,
                             .path = placed != NULL ? placed
                                                    : path_in(m, row->file),
                             .line = row->line};
}

/* Returns the 32-bit FNV-1a hash of the path. */
static size_t hash_of(const char *path)
{
    uint32_t h = 2166136261U;

    for (; *path != '\0'; path++)
        h = (h ^ (unsigned char)*path) * 16777619U;
    return h;
}

/* Returns the slot of the path, or an empty slot for it.  There always is an
 * empty slot. */
static uint32_t *find_slot(const struct set *s, const char *path)
{
    size_t at = hash_of(path) % s->n_slots;

    while (s->slots[at] != 0 &&
           strcmp(set_get(s, s->slots[at] - 1).path, path) != 0)
        at = (at + 1) % s->n_slots;
    return &s->slots[at];
}

bool set_has(const struct set *s, const char *path)
{
    return s->n > 0 && *find_slot(s, path) != 0;
}

/* Doubles the hash table.  At most half of its slots are used. */
static bool grow_slots(struct set *s)
{
    uint32_t *const old = s->slots;
    const size_t n = s->n_slots > 0 ? 2 * s->n_slots : 128;

    if (2 * s->n < s->n_slots)
        return true;
    s->slots = calloc(n, sizeof *s->slots);
    if (s->slots == NULL) {
        s->slots = old;
        return false;
    }
    s->n_slots = n;
    free(old);
    for (uint32_t i = 0; i < s->n; i++)
        *find_slot(s, set_get(s, i).path) = i + 1;
    return true;
}

static bool grow(struct set *s)
{
    const size_t n = s->capacity > 0 ? 2 * s->capacity : 64;

    if (s->n < s->capacity)
        return true;
    struct set_row *const rows = realloc(s->rows, n * sizeof *rows);
    if (rows != NULL)
        s->rows = rows;
    char **const paths =
        s->paths != NULL ? realloc(s->paths, n * sizeof *paths) : NULL;
    if (paths != NULL)
        s->paths = paths;
    if (rows == NULL || (s->paths != NULL && paths == NULL))
        return false;
    s->capacity = n;
    return true;
}

/* Sets the path of the next row. */
static bool put_path(struct set *s, const char *path)
{
    char *const copy = path != NULL ? strdup(path) : NULL;

    if (s->paths == NULL && path != NULL)
        s->paths = calloc(s->capacity, sizeof *s->paths);
    if ((path != NULL && copy == NULL) || (path != NULL && s->paths == NULL)) {
        free(copy);
        return false;
    }
    if (s->paths != NULL)
        s->paths[s->n] = copy;
    return true;
}

/* Adds the manifest if it is not the last one. */
static bool hold(struct set *s, struct xd_manifest *m)
{
    if (s->n_manifests > 0 && s->manifests[s->n_manifests - 1] == m)
        return true;
    struct xd_manifest **const more =
        realloc(s->manifests, (s->n_manifests + 1) * sizeof *more);
    if (more == NULL)
        return false;
    s->manifests = more;
    s->manifests[s->n_manifests++] = xd_manifest_ref(m);
    return true;
}

bool set_add(struct set *s, struct xd_manifest *m, size_t i, const char *path,
             uint32_t line)
{
    const char *const own = path_in(m, i);
    const bool is_own = own != NULL && strcmp(own, path) == 0;

    if (i > UINT32_MAX || s->n >= UINT32_MAX - 1 || !grow(s) ||
        !grow_slots(s) || !hold(s, m) || !put_path(s, is_own ? NULL : path))
        return false;
    *find_slot(s, path) = (uint32_t)s->n + 1;
    s->rows[s->n++] = (struct set_row){.line = line,
                                       .manifest = (uint32_t)s->n_manifests - 1,
                                       .file = (uint32_t)i};
    return true;
}

void set_clear(struct set *s)
{
    for (size_t i = 0; s->paths != NULL && i < s->n; i++)
        free(s->paths[i]);
    for (size_t i = 0; i < s->n_manifests; i++)
        xd_manifest_unref(s->manifests[i]);
    free(s->manifests);
    free(s->rows);
    free(s->paths);
    free(s->slots);
    *s = (struct set){0};
}

/* ---- downloading a set ---- */

/* Returns whether all files are from one manifest, and have the paths of the
 * manifest. */
static bool is_of_one(const struct set *s)
{
    return s->n_manifests == 1 && s->paths == NULL;
}

static int fetch(size_t n, const struct args *a, FILE *report,
                 struct xd_manifest *m, const size_t *files,
                 struct set_outcome *out)
{
    struct target nowhere = {.fd = -1};
    const struct job job = {.args = a,
                            .manifest = m,
                            .set = files,
                            .n_set = n,
                            .target = &nowhere,
                            .report = report,
                            .n_failed = &out->n_failed,
                            .left = out->left,
                            .left_sizes = out->left_sizes,
                            .n_left = &out->n_left};
    return fetch_file(&job);
}

/* Makes one manifest with the files of several manifests. */
static int gather(struct xd_manifest **out, const struct set *s,
                  const size_t *files, struct xd_error *err)
{
    struct xd_manifest **const manifests = calloc(s->n, sizeof *manifests);
    int rc = XD_E_NOMEM;

    snprintf(err->msg, sizeof err->msg, "out of memory");
    for (size_t i = 0; manifests != NULL && i < s->n; i++)
        manifests[i] = set_get(s, i).manifest;
    if (manifests != NULL)
        rc = xd_manifest_gather(out, manifests, files,
                                (const char *const *)s->paths, s->n, err);
    free(manifests);
    return rc;
}

/* Frees the hash table, which is no longer needed. */
static void forget_slots(struct set *s)
{
    free(s->slots);
    s->slots = NULL;
    s->n_slots = 0;
}

int set_fetch(struct set *s, const struct args *a, FILE *report,
              struct set_outcome *out)
{
    struct xd_manifest *m = NULL;
    size_t *const files = calloc(s->n, sizeof *files);
    struct xd_error err;
    int status;

    *out = (struct set_outcome){.left = calloc(s->n, sizeof *out->left),
                                .left_sizes =
                                    calloc(s->n, sizeof *out->left_sizes)};
    if (out->left == NULL || out->left_sizes == NULL || files == NULL) {
        free(files);
        words_error("out of memory");
        return STATUS_FAILED;
    }
    for (size_t i = 0; i < s->n; i++)
        files[i] = s->rows[i].file;
    const bool is_one = is_of_one(s);
    const int rc = is_one ? 0 : gather(&m, s, files, &err);
    for (size_t i = 0; !is_one && i < s->n; i++)
        files[i] = i;
    forget_slots(s);
    if (rc < 0) {
        words_error("%s", err.msg);
        status = status_of(rc);
    } else {
        status =
            fetch(s->n, a, report, is_one ? s->manifests[0] : m, files, out);
    }
    xd_manifest_unref(m);
    free(files);
    return status;
}

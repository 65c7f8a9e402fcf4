/* SPDX-License-Identifier: MIT */
#include "publish/inventory.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "manifest/edit.h"
#include "manifest/parity.h"
#include "os/file.h"
#include "os/small_file.h"
#include "publish/inventory_journal.h"
#include "publish/inventory_lines.h"
#include "publish/inventory_notes.h"
#include "publish/inventory_paths.h"

/* Longest manifest in bytes, as in xd_manifest_read(). */
#define TEXT_MAX ((size_t)64 << 20)

struct xd_inventory {
    /* Constant after open(). */
    char *path, *private_path, *journal_path;
    const char *format;
    struct xd_manifest *there; /* manifest read at open(), or NULL */
    bool is_private;           /* the private manifest exists */
    bool is_unfinished;

    struct xd_inventory_note note;
    bool is_anew;
    char *name; /* name of the new file, if is_anew */
    uint64_t size;
    const char *sha256;
    const struct xd_model_pieces *pieces;
    const struct xd_model_stripe *stripes;
    size_t n_stripes;
    const bool *dropped;
    const int64_t *expires_at;
    const bool *dropped_parity;
    const int64_t *parity_expires_at;
    const char *const *parity_reads;
    struct xd_inventory_notes notes;
    struct xd_text changes; /* changes since the last texts were made */
    /* hash of the private text that was written last, or "" */
    char written[XD_SHA256_HEX + 1];
    bool has_journal;
};

/* ---- the note ---- */

static int fail_not_understood(const struct xd_inventory *b,
                               struct xd_error *err)
{
    return xd_fail(err, XD_E_MANIFEST,
                   "%s: what it notes of an upload cannot be understood; to "
                   "begin anew, remove it",
                   b->private_path);
}

static int read_note(struct xd_inventory *b, const char *note,
                     struct xd_error *err)
{
    const bool is_understood = xd_inventory_notes_read(&b->notes, note);

    if (is_understood && b->notes.drops)
        return 0;
    if (!is_understood || b->notes.noted.name[0] == '\0' ||
        b->notes.noted.extent_bytes == 0)
        return fail_not_understood(b, err);
    b->is_unfinished = true;
    return 0;
}

/* ---- the manifest ---- */

/* Returns the manifest on which the new one is based, or NULL. */
static struct xd_manifest *base_of(const struct xd_inventory *b)
{
    return b->is_anew ? NULL : b->there;
}

static int make_line(const struct xd_inventory *b, struct xd_upload_line *out,
                     struct xd_error *err)
{
    const struct xd_manifest *m = base_of(b);
    const struct xd_model_rare *rare = m ? m->files[0].rare : NULL;
    const uint64_t size = m ? m->files[0].size : b->size;

    return rare && rare->n_stripes > 0
               ? xd_upload_line_init(out, size, rare->stripes, rare->n_stripes,
                                     err)
               : xd_upload_line_init(out, size, b->stripes, b->n_stripes, err);
}

/* Makes the manifest of the replicas that exist now.  If `note` is NULL, every
 * byte must have a replica. */
static int make_manifest(const struct xd_inventory *b, const char *note,
                         struct xd_manifest **out, struct xd_error *err)
{
    struct xd_made_lists lists = {.replicas = NULL};
    struct xd_upload_line line;
    int rc = make_line(b, &line, err);

    if (rc == 0)
        rc = xd_made_lists_init(&lists, b->notes.made, b->notes.n_made, &line,
                                err);
    if (rc == 0)
        rc = xd_manifest_edit(
            out, base_of(b), 0,
            &(struct xd_edit){.path = b->name,
                              .size = b->size,
                              .sha256 = b->sha256,
                              .pieces = b->pieces,
                              .stripes = b->stripes,
                              .n_stripes = b->n_stripes,
                              .dropped = b->dropped,
                              .expires_at = b->expires_at,
                              .added = lists.replicas,
                              .n_added = lists.n_replicas,
                              .dropped_parity = b->dropped_parity,
                              .parity_expires_at = b->parity_expires_at,
                              .parity_reads = b->parity_reads,
                              .shards = lists.shards,
                              .n_shards = lists.n_shards,
                              .upload = note},
            err);
    xd_made_lists_fini(&lists);
    xd_upload_line_fini(&line);
    return rc;
}

/* ---- reading ---- */

/* Parses a manifest.  *out stays NULL if the text is empty. */
static int parse(struct xd_manifest **out, const struct xd_text *text,
                 const char *path, struct xd_error *err)
{
    return text->len > 0 ? xd_manifest_parse(out, text->s, text->len, path, err)
                         : 0;
}

static int read_public(struct xd_manifest **out, const char *path,
                       struct xd_error *err)
{
    struct xd_text text = {.s = NULL};
    int rc = xd_small_file_read(&text, path, TEXT_MAX, err);

    if (rc == 0)
        rc = parse(out, &text, path, err);
    xd_text_fini(&text);
    return rc;
}

/* Applies the journal: adds its replicas to the manifest. */
static int go_on(struct xd_inventory *b, const char *lines,
                 struct xd_error *err)
{
    const char *note = b->there->files[0].rare->upload;
    struct xd_manifest *m;
    int rc;

    if (!xd_inventory_notes_read(&b->notes, lines))
        return fail_not_understood(b, err);
    rc = make_manifest(b, note, &m, err);
    if (rc < 0)
        return rc;
    xd_manifest_unref(b->there);
    b->there = m;
    return xd_inventory_notes_forget_made(&b->notes) ? 0 : xd_fail_nomem(err);
}

static int read_journal(struct xd_inventory *b, const struct xd_text *text,
                        struct xd_error *err)
{
    struct xd_text lines = {.s = NULL};
    char hex[XD_SHA256_HEX + 1];
    int rc = xd_sha256_hex(xd_span(text->s, text->len), hex);

    rc = rc < 0 ? xd_fail_nomem(err)
                : xd_inventory_journal_read(&lines, b->journal_path, hex, err);
    if (rc == 0 && lines.len > 0)
        rc = go_on(b, lines.s, err);
    xd_text_fini(&lines);
    return rc;
}

static int read_private(struct xd_inventory *b, struct xd_error *err)
{
    struct xd_text text = {.s = NULL};
    int rc = xd_small_file_read_private(&text, b->private_path, TEXT_MAX, err);

    if (rc == 0)
        rc = parse(&b->there, &text, b->private_path, err);
    b->is_private = b->there != NULL;
    if (rc == 0 && b->there && b->there->files[0].rare->upload)
        rc = read_note(b, b->there->files[0].rare->upload, err);
    if (rc == 0 && b->is_unfinished)
        rc = read_journal(b, &text, err);
    xd_text_fini(&text);
    return rc;
}

int xd_inventory_open(struct xd_inventory **out, const char *path,
                      const char *format, struct xd_error *err)
{
    struct xd_inventory *b = xd_alloc(1, sizeof *b);
    int rc = 0;

    *out = NULL;
    if (!b)
        return xd_fail_nomem(err);
    b->format = format;
    b->path = xd_strdup(path);
    b->private_path = xd_inventory_private_path_of(path);
    b->journal_path = xd_inventory_journal_path_of(b->private_path);
    if (!b->path || !b->journal_path)
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = read_private(b, err);
    if (rc == 0 && !b->there)
        rc = read_public(&b->there, b->path, err);
    if (rc < 0) {
        xd_inventory_free(b);
        return rc;
    }
    *out = b;
    return 0;
}

static const char *hash_of(const struct xd_model_file *f, const char *algorithm)
{
    for (size_t i = 0; i < f->n_hashes; i++)
        if (strcmp(f->hashes[i].algorithm, algorithm) == 0)
            return f->hashes[i].hex;
    return NULL;
}

/* Returns false if the hash of a piece differs.  Pieces of different lengths,
 * or hashes of different algorithms, cannot be compared, so it returns true for
 * them. */
static bool pieces_are_alike(const struct xd_model_pieces *a,
                             const struct xd_model_pieces *b)
{
    if (!a || !b || a->piece_bytes != b->piece_bytes ||
        strcmp(a->algorithm, b->algorithm) != 0)
        return true;
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (strcmp(a->hex + i * a->stride, b->hex + i * b->stride) != 0)
            return false;
    return true;
}

/* Returns false if the size or a hash shows that the files differ. */
static bool are_alike(const struct xd_model_file *a,
                      const struct xd_model_file *b)
{
    if (a->size != b->size)
        return false;
    for (size_t i = 0; i < a->n_hashes; i++) {
        const char *hex = hash_of(b, a->hashes[i].algorithm);

        if (hex && strcmp(hex, a->hashes[i].hex) != 0)
            return false;
    }
    return pieces_are_alike(a->rare->pieces, b->rare->pieces);
}

int xd_inventory_check_public(const struct xd_inventory *b,
                              struct xd_error *err)
{
    struct xd_manifest *given = NULL;
    int rc = b->is_private ? read_public(&given, b->path, err) : 0;

    if (rc == 0 && given &&
        (given->n_files != 1 ||
         !are_alike(&given->files[0], &b->there->files[0])))
        rc =
            xd_fail(err, XD_E_STATE,
                    "%s and %s are of different files: bring back the manifest "
                    "that belongs to the private one, or move the private one "
                    "away",
                    b->path, b->private_path);
    xd_manifest_unref(given);
    return rc;
}

const char *xd_inventory_private_path(const struct xd_inventory *b)
{
    return b->private_path;
}

bool xd_inventory_is_private(const struct xd_inventory *b)
{
    return b->is_private;
}

struct xd_manifest *xd_inventory_manifest(const struct xd_inventory *b)
{
    return b->there;
}

bool xd_inventory_is_unfinished(const struct xd_inventory *b,
                                struct xd_inventory_note *out)
{
    *out = b->notes.noted;
    return b->is_unfinished;
}

bool xd_inventory_is_own(const struct xd_inventory *b, const char *manage)
{
    return manage && xd_inventory_notes_is_own(&b->notes, manage);
}

bool xd_inventory_has_named(const struct xd_inventory *b, const char *manage)
{
    return manage && xd_inventory_notes_has_named(&b->notes, manage);
}

int xd_inventory_rename(struct xd_inventory *b, struct xd_error *err)
{
    return xd_inventory_notes_keep(&b->notes, &b->there->files[0])
               ? 0
               : xd_fail_nomem(err);
}

const char *xd_inventory_replaced(const struct xd_inventory *b, size_t i,
                                  struct xd_range *out_range)
{
    if (i >= b->notes.n_replaced)
        return NULL;
    *out_range = b->notes.replaced[i].range;
    return b->notes.replaced[i].manage;
}

void xd_inventory_forget_own(struct xd_inventory *b)
{
    xd_inventory_notes_forget_own(&b->notes);
}

const struct xd_object *xd_inventory_pending(const struct xd_inventory *b,
                                             size_t i, struct xd_range *out)
{
    if (i >= b->notes.n_pending)
        return NULL;
    *out = b->notes.pending[i].range;
    return &b->notes.pending[i].object;
}

bool xd_inventory_has_pending(const struct xd_inventory *b)
{
    for (size_t i = 0; i < b->notes.n_pending; i++)
        if (!b->notes.pending[i].was_left)
            return true;
    return false;
}

/* ---- copying a manifest before it is replaced ---- */

static bool names_objects(const struct xd_manifest *m)
{
    return xd_model_n_replicas(&m->files[0]) > 0 ||
           xd_stripes_n_replicas(&m->files[0]) > 0;
}

/* Returns a path that does not exist yet, or NULL if memory runs out. */
static char *free_path(const struct xd_inventory *b)
{
    static const char ending[] = ".private.xnd";
    const size_t len = strlen(b->private_path) - strlen(ending);
    struct xd_text t = {.s = NULL};

    for (unsigned i = 1; t.len == 0 || xd_path_exists(t.s); i++) {
        xd_text_clear(&t);
        xd_text_addf(&t, "%.*s.replaced-%u%s", (int)len, b->private_path, i,
                     ending);
        if (t.failed) {
            xd_text_fini(&t);
            return NULL;
        }
    }
    return t.s;
}

int xd_inventory_keep_replaced(const struct xd_inventory *b, char **out,
                               struct xd_error *err)
{
    char *text, *path;
    int rc;

    *out = NULL;
    if (!b->is_private || !names_objects(b->there))
        return 0;
    rc = xd_manifest_write(&text, b->there, 0, "private-exnode", NULL, err);
    if (rc < 0)
        return rc;
    path = free_path(b);
    rc = path ? xd_small_file_keep(path, text, strlen(text), err)
              : xd_fail_nomem(err);
    xd_manifest_text_free(text);
    if (rc < 0)
        xd_free(path);
    else
        *out = path;
    return rc;
}

/* ---- changes ---- */

int xd_inventory_begin(struct xd_inventory *b,
                       const struct xd_inventory_note *note, bool anew,
                       const char *name, uint64_t size, struct xd_error *err)
{
    b->note = *note;
    b->is_anew = anew;
    b->size = size;
    b->notes.drops = false;
    if (!anew)
        return 0;
    b->name = xd_strdup(name);
    return b->name ? 0 : xd_fail_nomem(err);
}

void xd_inventory_begin_drop(struct xd_inventory *b)
{
    b->notes.drops = true;
}

void xd_inventory_set_hashes(struct xd_inventory *b, const char *sha256,
                             const struct xd_model_pieces *pieces)
{
    b->sha256 = sha256;
    b->pieces = pieces;
}

void xd_inventory_set_stripes(struct xd_inventory *b,
                              const struct xd_model_stripe *stripes, size_t n)
{
    b->stripes = stripes;
    b->n_stripes = n;
}

void xd_inventory_drop(struct xd_inventory *b, const bool *dropped)
{
    b->dropped = dropped;
}

void xd_inventory_drop_parity(struct xd_inventory *b, const bool *dropped)
{
    b->dropped_parity = dropped;
}

void xd_inventory_renew(struct xd_inventory *b, const int64_t *expires_at)
{
    b->expires_at = expires_at;
}

void xd_inventory_renew_parity(struct xd_inventory *b,
                               const int64_t *expires_at,
                               const char *const *reads)
{
    b->parity_expires_at = expires_at;
    b->parity_reads = reads;
}

int xd_inventory_add(struct xd_inventory *b, struct xd_range range,
                     const struct xd_object *object, const char *sha256,
                     struct xd_error *err)
{
    struct xd_made *m = xd_grow(b->notes.made, b->notes.n_made,
                                &b->notes.made_capacity, sizeof *m);

    if (!m)
        return xd_fail_nomem(err);
    b->notes.made = m;
    m += b->notes.n_made;
    *m = (struct xd_made){.range = range};
    if (sha256)
        snprintf(m->sha256, sizeof m->sha256, "%s", sha256);
    if (xd_object_copy(&m->object, object) < 0)
        return xd_fail_nomem(err);
    b->notes.n_made++;
    if (object->manage)
        xd_inventory_notes_end(&b->notes, xd_span_of(object->manage));
    xd_made_write(&b->changes, m);
    return 0;
}

void xd_inventory_unset_pending(struct xd_inventory *b, const char *manage)
{
    if (xd_inventory_notes_end(&b->notes, xd_span_of(manage)))
        xd_text_addf(&b->changes, "over %s\n", manage);
}

void xd_inventory_leave_pending(struct xd_inventory *b, const char *manage)
{
    const size_t i = xd_inventory_notes_find(&b->notes, xd_span_of(manage));

    if (i < b->notes.n_pending)
        b->notes.pending[i].was_left = true;
}

int xd_inventory_set_pending(struct xd_inventory *b, struct xd_range range,
                             const struct xd_object *object,
                             struct xd_error *err)
{
    struct xd_pending_object *p;

    xd_inventory_notes_end(&b->notes, xd_span_of(object->manage));
    p = xd_inventory_notes_add(&b->notes, range);
    if (!p || xd_object_copy(&p->object, object) < 0) {
        b->notes.n_pending -= p != NULL;
        return xd_fail_nomem(err);
    }
    xd_pending_write(&b->changes, p);
    return 0;
}

/* ---- writing ---- */

static int private_text(const struct xd_inventory *b, bool is_over, char **out,
                        struct xd_error *err)
{
    const struct xd_replaced_rows rows = {.file = b->there ? &b->there->files[0]
                                                           : NULL,
                                          .dropped = b->dropped,
                                          .dropped_parity = b->dropped_parity};
    char *note =
        is_over ? NULL : xd_inventory_notes_write(&b->notes, &b->note, &rows);
    struct xd_manifest *m;
    int rc;

    if (!is_over && !note)
        return xd_fail_nomem(err);
    rc = make_manifest(b, note, &m, err);
    xd_free(note);
    if (rc < 0)
        return rc;
    rc = xd_manifest_write(out, m, 0, "private-exnode", NULL, err);
    xd_manifest_unref(m);
    return rc;
}

/* Makes the text of the public manifest.  *out is NULL if some bytes have no
 * replica yet. */
static int public_text(const struct xd_inventory *b, char **out,
                       struct xd_error *err)
{
    struct xd_manifest *m;
    int rc = make_manifest(b, NULL, &m, err);

    if (rc == XD_E_MANIFEST)
        return 0;
    if (rc < 0)
        return rc;
    rc = xd_manifest_write(out, m, 0, b->format, NULL, err);
    xd_manifest_unref(m);
    return rc;
}

int xd_inventory_texts(struct xd_inventory *b, bool is_over, char **out_private,
                       char **out_public, struct xd_error *err)
{
    int rc;

    *out_private = *out_public = NULL;
    rc = private_text(b, is_over, out_private, err);
    if (rc == 0)
        rc = public_text(b, out_public, err);
    if (rc < 0) {
        xd_manifest_text_free(*out_private);
        xd_manifest_text_free(*out_public);
        *out_private = *out_public = NULL;
        return rc;
    }
    xd_text_fini(&b->changes);
    return 0;
}

int xd_inventory_changes(struct xd_inventory *b, char **out,
                         struct xd_error *err)
{
    *out = NULL;
    if (b->changes.failed)
        return xd_fail_nomem(err);
    *out = b->changes.s;
    b->changes = (struct xd_text){.s = NULL};
    return 0;
}

int xd_inventory_append(struct xd_inventory *b, const char *changes,
                        struct xd_error *err)
{
    const int rc = xd_inventory_journal_append(
        b->journal_path, b->has_journal ? NULL : b->written, changes, err);

    b->has_journal = true;
    return rc;
}

static int write_private(struct xd_inventory *b, const char *text,
                         struct xd_error *err)
{
    int rc = xd_small_file_keep(b->private_path, text, strlen(text), err);

    if (rc == 0 && xd_sha256_hex(xd_span_of(text), b->written) < 0)
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = xd_inventory_journal_remove(b->journal_path, err);
    b->has_journal = false;
    return rc;
}

/* The private manifest is written last, because it says whether a later run has
 * anything to resume. */
int xd_inventory_write(struct xd_inventory *b, const char *private_text,
                       const char *public_text, struct xd_error *err)
{
    struct xd_error *own = err;
    int rc = 0, rc_private = 0;

    if (public_text)
        rc = xd_small_file_publish(b->path, public_text, strlen(public_text),
                                   XD_REPLACE_FILE, err);
    /* write the private manifest even so, because it has the note */
    if (rc < 0)
        own = NULL;
    if (private_text)
        rc_private = write_private(b, private_text, own);
    return rc < 0 ? rc : rc_private;
}

void xd_inventory_free(struct xd_inventory *b)
{
    if (!b)
        return;
    xd_inventory_notes_fini(&b->notes);
    xd_text_fini(&b->changes);
    xd_manifest_unref(b->there);
    xd_free(b->name);
    xd_free(b->journal_path);
    xd_free(b->private_path);
    xd_free(b->path);
    xd_free(b);
}

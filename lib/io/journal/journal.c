/* SPDX-License-Identifier: MIT */
#include "io/journal/journal.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/sinks/sink.h"
#include "os/file.h"
#include "os/thread.h"

#define CHUNK ((size_t)1 << 16)

/* A journal of this size is read within milliseconds. */
#define SMALL ((uint64_t)1 << 20)

/* Compact when the journal has grown by this factor. */
#define GROWTH 8

struct xd_journal {
    /* constant after open() */
    int folder; /* folder of both files; owned by the caller */
    /* new_path: the compacted journal while it is written */
    char *path, *new_path;
    struct xd_mutex lock;

    /* Guarded by lock; only the caller of shrink() changes `fd`. */
    int fd;
    uint64_t end;    /* offset of the next record */
    uint64_t limit;  /* compact beyond this size */
    bool has_failed; /* there may be half a record at `end` */

    /* Owned by the caller of synced() and shrink(). */
    bool is_in_folder; /* the directory entry of the journal was synced */
};

static int fail_foreign(const char *path, struct xd_error *err)
{
    return xd_fail(err, XD_E_IO,
                   "%s: is no journal of a download, and stays as it is", path);
}

/* Reads records up to the first invalid one. */
static int read_contents(struct xd_journal *j,
                         struct xd_journal_contents *contents,
                         struct xd_error *err)
{
    unsigned char *chunk = xd_alloc(CHUNK, 1);
    bool is_bad = false, is_first = true;
    int64_t n = 0, taken = 0;

    if (!chunk)
        return xd_fail_nomem(err);
    while (!is_bad) {
        n = xd_file_read(j->fd, j->path, contents->length, chunk, CHUNK, err);
        if (n <= 0)
            break;
        if (is_first && !xd_journal_is_ours(chunk, (size_t)n)) {
            n = fail_foreign(j->path, err);
            break;
        }
        is_first = false;
        taken = xd_journal_take(contents, chunk, (size_t)n, &is_bad);
        if (taken <= 0)
            break;
    }
    xd_free(chunk);
    if (taken < 0)
        return xd_fail_nomem(err);
    return n < 0 ? (int)n : 0;
}

/* Makes the name of the compacted journal. */
static int name_new(struct xd_text *out, const char *path)
{
    xd_text_addf(out, "%s.new", path);
    return out->failed ? XD_E_NOMEM : 0;
}

static int name_it(struct xd_journal *j, const char *path)
{
    struct xd_text name = {0};
    int rc = name_new(&name, path);

    j->new_path = name.s;
    j->path = xd_strdup(path);
    return j->path ? rc : XD_E_NOMEM;
}

static void release(struct xd_journal *j)
{
    xd_free(j->new_path);
    xd_free(j->path);
    xd_free(j);
}

int xd_journal_open(struct xd_journal **out,
                    struct xd_journal_contents *contents, int folder,
                    const char *path, struct xd_error *err)
{
    struct xd_journal *j = xd_alloc(1, sizeof *j);
    uint64_t size;
    int rc;

    *contents = (struct xd_journal_contents){0};
    if (!j)
        return xd_fail_nomem(err);
    j->limit = SMALL;
    j->folder = folder;
    rc = name_it(j, path);
    if (rc == 0)
        rc = xd_mutex_init(&j->lock);
    if (rc < 0) {
        rc = xd_fail_nomem(err);
        goto free_journal;
    }
    rc = xd_file_own_private(&j->fd, &size, folder, path, err);
    if (rc < 0)
        goto fini_lock;
    rc = read_contents(j, contents, err);
    if (rc < 0)
        goto close_file;
    *out = j;
    return 0;

close_file:
    xd_journal_contents_fini(contents);
    xd_file_close(j->fd);
fini_lock:
    xd_mutex_fini(&j->lock);
free_journal:
    release(j);
    return rc;
}

void xd_journal_free(struct xd_journal *j)
{
    if (!j)
        return;
    xd_file_close(j->fd);
    xd_mutex_fini(&j->lock);
    release(j);
}

static int append(struct xd_journal *j, const struct xd_journal_record *record,
                  struct xd_error *err)
{
    int rc;

    xd_mutex_lock(&j->lock);
    if (j->has_failed) {
        rc = xd_fail(err, XD_E_IO, "%s: could not be written before", j->path);
    } else {
        rc = xd_file_write(j->fd, j->path, j->end, record->bytes, record->len,
                           err);
        j->has_failed = rc < 0;
        if (rc == 0)
            j->end += record->len;
    }
    xd_mutex_unlock(&j->lock);
    return rc;
}

/* Truncates to `length` and syncs that before anything is written after it;
 * otherwise old records could reappear after new ones. */
static int cut(struct xd_journal *j, uint64_t length, struct xd_error *err)
{
    int rc = xd_file_truncate(j->fd, j->path, length, err);

    if (rc == 0)
        rc = xd_file_sync(j->fd, j->path, err);
    j->end = length;
    return rc;
}

static int begin_session(struct xd_journal *j, const char *boot_id,
                         struct xd_error *err)
{
    struct xd_journal_record record;

    xd_journal_put_session(&record, boot_id);
    return append(j, &record, err);
}

int xd_journal_restart(struct xd_journal *j,
                       const struct xd_journal_identity *identity,
                       const char *boot_id, struct xd_error *err)
{
    struct xd_journal_record record;
    int rc = cut(j, 0, err);

    if (rc < 0)
        return rc;
    xd_journal_put_header(&record, identity);
    rc = append(j, &record, err);
    return rc < 0 ? rc : begin_session(j, boot_id, err);
}

int xd_journal_continue(struct xd_journal *j,
                        const struct xd_journal_contents *contents,
                        const char *boot_id, struct xd_error *err)
{
    int rc = cut(j, contents->length, err);

    return rc < 0 ? rc : begin_session(j, boot_id, err);
}

int xd_journal_written(struct xd_journal *j, struct xd_range range,
                       struct xd_error *err)
{
    struct xd_journal_record record;

    xd_journal_put_range(&record, XD_JOURNAL_WRITTEN, range);
    return append(j, &record, err);
}

int xd_journal_dropped(struct xd_journal *j, struct xd_range range,
                       struct xd_error *err)
{
    struct xd_journal_record record;

    xd_journal_put_range(&record, XD_JOURNAL_DROPPED, range);
    return append(j, &record, err);
}

int xd_journal_validator(struct xd_journal *j, const char *url,
                         const char *validator, struct xd_error *err)
{
    struct xd_journal_record record;

    xd_journal_put_validator(&record, url, validator);
    return record.len > 0 ? append(j, &record, err) : 0;
}

uint64_t xd_journal_mark(struct xd_journal *j)
{
    uint64_t mark;

    xd_mutex_lock(&j->lock);
    mark = j->end;
    xd_mutex_unlock(&j->lock);
    return mark;
}

static int sync_name(struct xd_journal *j, struct xd_error *err)
{
    int rc = 0;

    if (!j->is_in_folder)
        rc = xd_folder_sync(j->folder, j->path, err);
    j->is_in_folder = rc == 0;
    return rc;
}

int xd_journal_synced(struct xd_journal *j, uint64_t mark, struct xd_error *err)
{
    struct xd_journal_record record;
    int rc;

    xd_journal_put_synced(&record, mark);
    rc = append(j, &record, err);
    if (rc == 0)
        rc = xd_file_sync(j->fd, j->path, err);
    return rc < 0 ? rc : sync_name(j, err);
}

int xd_journal_failed(struct xd_journal *j, const char *hashes,
                      struct xd_error *err)
{
    struct xd_journal_record record;
    int rc;

    xd_journal_put_failed(&record, hashes);
    rc = append(j, &record, err);
    if (rc == 0)
        rc = xd_file_sync(j->fd, j->path, err);
    return rc < 0 ? rc : sync_name(j, err);
}

/* Starts a session with an unknown boot ID, which invalidates unsynced records
 * of earlier sessions. */
int xd_journal_lost(struct xd_journal *j, struct xd_error *err)
{
    return begin_session(j, "", err);
}

/* Syncs the file, then records that.  The mark is taken first, because bytes
 * written during the sync may not be included.  After a failed sync the kernel
 * may drop the data and still report it as written. */
int xd_journal_sync(struct xd_journal *j, struct xd_sink *of,
                    struct xd_error *err)
{
    uint64_t mark = xd_journal_mark(j);
    int rc = xd_file_sink_sync(of, err);

    if (rc == 0)
        return xd_journal_synced(j, mark, err);
    (void)xd_journal_lost(j, NULL);
    return rc;
}

/* ---- compaction ---- */

/* The compacted journal while it is written. */
struct successor {
    int fd;
    uint64_t length;
};

/* Writes the state up to `*out_read` to a new journal and syncs it. */
static int write_successor(struct xd_journal *j, struct successor *next,
                           uint64_t *out_read, struct xd_error *err)
{
    struct xd_journal_contents contents = {0};
    struct xd_text text = {0};
    int rc = read_contents(j, &contents, err);

    if (rc == 0 && xd_journal_format(&contents, &text) < 0)
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = xd_file_truncate(next->fd, j->new_path, 0, err);
    if (rc == 0)
        rc = xd_file_write(next->fd, j->new_path, 0, text.s, text.len, err);
    if (rc == 0)
        rc = xd_file_sync(next->fd, j->new_path, err);
    *out_read = contents.length;
    next->length = text.len;
    xd_journal_contents_fini(&contents);
    xd_text_fini(&text);
    return rc;
}

/* Appends later records unchanged.  They contain no positions: only synced()
 * writes those, and it is not running. */
static int copy_rest_locked(struct xd_journal *j, struct successor *next,
                            uint64_t from, struct xd_error *err)
{
    unsigned char chunk[4096];
    int rc = 0;

    while (rc == 0 && from < j->end) {
        size_t len = sizeof chunk;
        int64_t n;

        if (len > j->end - from)
            len = (size_t)(j->end - from);
        n = xd_file_read(j->fd, j->path, from, chunk, len, err);
        if (n <= 0)
            return n < 0 ? (int)n
                         : xd_fail(err, XD_E_IO, "%s: it was cut meanwhile",
                                   j->path);
        rc = xd_file_write(next->fd, j->new_path, next->length, chunk,
                           (size_t)n, err);
        from += (uint64_t)n;
        next->length += (uint64_t)n;
    }
    return rc;
}

/* Replaces the journal.  On success `next` has the old descriptor to close. */
static int replace(struct xd_journal *j, struct successor *next,
                   struct xd_error *err)
{
    uint64_t read;
    int rc = write_successor(j, next, &read, err);

    if (rc < 0)
        return rc;
    xd_mutex_lock(&j->lock);
    rc = copy_rest_locked(j, next, read, err);
    if (rc == 0)
        rc = xd_file_rename(j->folder, j->new_path, j->path, true, err);
    if (rc == 0) {
        int old = j->fd;

        j->fd = next->fd;
        j->end = next->length;
        j->limit = GROWTH * j->end > SMALL ? GROWTH * j->end : SMALL;
        next->fd = old;
    }
    xd_mutex_unlock(&j->lock);
    return rc;
}

static bool is_due(struct xd_journal *j)
{
    bool is_long;

    xd_mutex_lock(&j->lock);
    is_long = j->end > j->limit && !j->has_failed;
    if (is_long)
        /* do not try again at once if compaction fails */
        j->limit = 2 * j->end;
    xd_mutex_unlock(&j->lock);
    return is_long;
}

int xd_journal_shrink(struct xd_journal *j, struct xd_error *err)
{
    struct successor next;
    uint64_t size;
    int rc;

    if (!is_due(j))
        return 0;
    rc = xd_file_own_private(&next.fd, &size, j->folder, j->new_path, err);
    if (rc < 0)
        return rc;
    rc = replace(j, &next, err);
    if (rc < 0)
        (void)xd_file_remove(j->folder, j->new_path, NULL);
    xd_file_close(next.fd);
    if (rc < 0)
        return rc;
    j->is_in_folder = false;
    return sync_name(j, err);
}

/* Removes the journal, and the compacted one that a killed run may have
 * left. */
static int remove_both(int folder, const char *path, const char *new_path,
                       struct xd_error *err)
{
    (void)xd_file_remove(folder, new_path, NULL);
    return xd_file_remove(folder, path, err);
}

int xd_journal_remove(struct xd_journal *j, struct xd_error *err)
{
    return remove_both(j->folder, j->path, j->new_path, err);
}

int xd_journal_remove_at(int folder, const char *path, struct xd_error *err)
{
    struct xd_text new_path = {0};
    int rc = name_new(&new_path, path) < 0
                 ? xd_fail_nomem(err)
                 : remove_both(folder, path, new_path.s, err);

    xd_text_fini(&new_path);
    return rc;
}

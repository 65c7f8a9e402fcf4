/* SPDX-License-Identifier: MIT */
#include "engine/resume.h"

#include <string.h>
#include <xdownload/check.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "base/url.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/source.h"
#include "io/journal/journal.h"
#include "transfer/batch.h"

typedef unsigned long long ull;

/* Data is synced after this time or this many bytes, whichever is reached
 * first.  That much may be lost if the machine crashes. */
#define SYNC_AFTER (5 * XD_SECOND)
#define SYNC_BYTES ((uint64_t)256 << 20)

/* The download ends when everything is on the disk.  To make that wait short,
 * data is also synced shortly before the end.  This is done if at least
 * LAST_BYTES are not synced yet, and LAST_PARTS times the missing bytes are no
 * more than these. */
#define LAST_PARTS 8
#define LAST_BYTES ((uint64_t)4 << 20)

void xd_resume_init(struct xd_resume *r)
{
    *r = (struct xd_resume){.sync_at = XD_NEVER};
}

void xd_resume_fini(struct xd_resume *r)
{
    xd_journal_free(r->journal);
    xd_text_fini(&r->depots);
    xd_manifest_unref(r->bound);
    xd_rangeset_fini(&r->dropped);
    xd_resume_init(r);
}

int xd_resume_identify(const struct xd_manifest *m, size_t file,
                       const char *path, struct xd_text *hashes,
                       struct xd_journal_identity *out, struct xd_error *err)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t i = 0; xd_manifest_hash(m, file, i, &hash) == 0; i++) {
        if (xd_hash_strength(hash.algorithm) >= 0 &&
            (hashes->len == 0 || hash.is_given))
            xd_text_addf(hashes, "%s:%s\n", hash.algorithm, hash.hex);
    }
    if (hashes->failed)
        return xd_fail_nomem(err);
    *out = (struct xd_journal_identity){.name = xd_path_name(path),
                                        .hashes = hashes->s ? hashes->s : ""};
    return 0;
}

/* ---- journal during the download ---- */

int xd_resume_written(struct xd_engine *e, struct xd_range range,
                      struct xd_error *err)
{
    if (!e->resume.notes_bytes)
        return 0;
    return xd_journal_written(e->resume.journal, range, err);
}

static bool is_nearly_complete_locked(const struct xd_engine *e)
{
    uint64_t unsynced = e->resume.unsynced;

    return e->wanted.end != XD_SIZE_UNKNOWN && unsynced >= LAST_BYTES &&
           xd_range_length(e->wanted) -
                   xd_ledger_bytes(&e->ledger, XD_BYTES_STORED) <=
               unsynced / LAST_PARTS;
}

void xd_resume_written_locked(struct xd_engine *e, uint64_t bytes)
{
    struct xd_resume *r = &e->resume;
    bool at_once;

    if (!r->notes_bytes)
        return;
    r->unsynced += bytes;
    at_once = r->unsynced >= SYNC_BYTES || is_nearly_complete_locked(e);
    if (r->sync_at != XD_NEVER && !at_once)
        return;
    r->sync_at = xd_now() + (at_once ? 0 : SYNC_AFTER);
    xd_cond_signal(&e->bytes_ready);
}

void xd_resume_dropped_locked(struct xd_engine *e, struct xd_range range)
{
    if (!e->resume.notes_bytes)
        return;
    if (xd_rangeset_add(&e->resume.dropped, range) < 0)
        xd_engine_fail_nomem_locked(e);
    xd_cond_signal(&e->bytes_ready);
}

bool xd_resume_can_work_locked(const struct xd_engine *e)
{
    const struct xd_resume *r = &e->resume;

    return xd_session_is_running(&e->session) &&
           (r->dropped.n > 0 ||
            (r->sync_at != XD_NEVER && xd_now() >= r->sync_at));
}

static int note_dropped(struct xd_engine *e, const struct xd_rangeset *dropped,
                        struct xd_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < dropped->n; i++)
        rc = xd_journal_dropped(e->resume.journal, dropped->ranges[i], err);
    return rc;
}

/* Compacts the journal.  If that fails, the journal is still valid, only
 * long. */
static void shrink(struct xd_engine *e)
{
    struct xd_error error = {0};

    if (xd_journal_shrink(e->resume.journal, &error) < 0)
        xd_log(&e->log, XD_LOG_WARN, "%s", error.msg);
}

void xd_resume_work_locked(struct xd_engine *e)
{
    struct xd_resume *r = &e->resume;
    struct xd_rangeset dropped = r->dropped;
    uint64_t unsynced = r->unsynced;
    bool syncs = dropped.n == 0;
    struct xd_error error = {0};
    int rc;

    xd_rangeset_init(&r->dropped);
    xd_engine_unlock(e);
    rc = syncs ? xd_journal_sync(r->journal, e->dest.sink, &error)
               : note_dropped(e, &dropped, &error);
    if (rc == 0)
        shrink(e);
    xd_rangeset_fini(&dropped);
    xd_engine_lock(e);
    if (rc < 0)
        xd_engine_fail_locked(e, &error);
    if (!syncs)
        return;
    r->unsynced -= unsynced;
    r->sync_at = r->unsynced > 0 ? xd_now() + SYNC_AFTER : XD_NEVER;
}

void xd_resume_save_locked(struct xd_engine *e)
{
    struct xd_resume *r = &e->resume;
    struct xd_rangeset dropped = r->dropped;

    if (!r->notes_bytes || (r->unsynced == 0 && dropped.n == 0))
        return;
    xd_rangeset_init(&r->dropped);
    xd_engine_unlock(e);
    /* The reason for the failure is known, so no further error is reported.
     * Discarded bytes are removed from the journal first, or the next run would
     * use them. */
    if (note_dropped(e, &dropped, NULL) == 0)
        (void)xd_journal_sync(r->journal, e->dest.sink, NULL);
    xd_rangeset_fini(&dropped);
    xd_engine_lock(e);
}

void xd_resume_remove_empty(struct xd_engine *e)
{
    if (e->dest.path && xd_file_sink_remove_empty(e->dest.sink) &&
        e->resume.journal)
        (void)xd_journal_remove(e->resume.journal, NULL);
}

/* Removes the journal of a complete file.  A .part file is useless without its
 * journal, so the rename must be on the disk before the journal is removed.  A
 * file without a journal is small, and to sync it would take relatively
 * long. */
int xd_resume_finish(struct xd_engine *e, struct xd_error *err)
{
    struct xd_error error = {0};
    int rc;

    if (e->resume.journal == NULL)
        return 0;
    rc = xd_file_sink_sync_name(e->dest.sink, err);
    if (rc == 0 && xd_journal_remove(e->resume.journal, &error) < 0)
        xd_log(&e->log, XD_LOG_WARN, "%s", error.msg);
    return rc;
}

/* ---- validators ---- */

const char *xd_resume_find_validator(const char *list, const char *url,
                                     size_t *out_len)
{
    size_t len = strlen(url);
    const char *found = NULL;

    while (list && *list) {
        size_t line = strcspn(list, "\n");

        if (line > len && strncmp(list, url, len) == 0 && list[len] == ' ') {
            found = list + len + 1;
            *out_len = line - len - 1;
        }
        list += line + 1;
    }
    return found;
}

int xd_resume_learned(struct xd_engine *e, const struct xd_lane *lane,
                      const char *validator, struct xd_error *err)
{
    struct xd_depot_source *source = lane->source;
    const char *known;
    bool is_new, is_same;
    size_t len;
    char *url;
    int rc = 0;

    xd_engine_lock(e);
    is_new = e->resume.notes_bytes && validator && !source->is_noted &&
             !lane->is_distrusted;
    source->is_noted |= is_new;
    xd_engine_unlock(e);
    if (!is_new)
        return 0;
    url = xd_url_public(xd_source_url(source));
    if (!url)
        return xd_fail_nomem(err);
    /* constant after the journal was opened, so no lock is needed */
    known = xd_resume_find_validator(e->resume.depots.s, url, &len);
    is_same = known && strlen(validator) == len &&
              strncmp(validator, known, len) == 0;
    if (!is_same)
        rc = xd_journal_validator(e->resume.journal, url, validator, err);
    xd_free(url);
    return rc;
}

/* ---- requests of the keeper ---- */

int xd_resume_open_batch(struct xd_engine *e,
                         const struct xd_batch_config *config, unsigned n_slots,
                         struct xd_error *err)
{
    struct xd_batch *batch;
    int rc = xd_batch_new(&batch, config, n_slots, err);

    if (rc < 0)
        return rc;
    xd_engine_lock(e);
    e->resume.batch = batch;
    if (xd_engine_is_over_locked(e))
        xd_batch_cancel(batch);
    xd_engine_unlock(e);
    return 0;
}

void xd_resume_close_batch(struct xd_engine *e)
{
    struct xd_batch *batch = e->resume.batch;

    xd_engine_lock(e);
    e->resume.batch = NULL;
    xd_engine_unlock(e);
    xd_batch_free(batch);
}

/* SPDX-License-Identifier: MIT */
#include "engine/resume.h"

#include <stdio.h>
#include <string.h>
#include <xdownload/check.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "command/checks.h"
#include "engine/engine.h"
#include "engine/resume_compare.h"
#include "io/journal/journal.h"
#include "io/journal/journal_match.h"
#include "io/part.h"
#include "os/disk.h"
#include "os/file.h"
#include "transfer/batch.h"

typedef unsigned long long ull;

/* State of xd_resume_open_locked(), used without the lock. */
struct opening {
    struct xd_engine *e;
    char *path; /* path of the journal */
    struct xd_journal *journal;
    struct xd_journal_identity identity;
    struct xd_journal_contents contents;
    struct xd_rangeset held;
    struct xd_text hashes;
    char boot_id[XD_BOOT_ID_SIZE];
    bool had_journal;
    bool forgets_failure; /* the journal has a failed hash, but for another
                             version of the file */
    struct xd_error
        other_hash; /* code IO if the earlier run had another hash; one of the
                       two may have been mistyped */
    struct xd_manifest *bound; /* as in struct xd_resume */
    size_t n_compared;         /* number of samples */
    char warning[500];         /* "" if none */
};

static const char *part_of(const struct opening *o)
{
    return xd_file_sink_part(o->e->dest.sink);
}

static int folder_of(const struct opening *o)
{
    return xd_file_sink_folder(o->e->dest.sink);
}

static bool size_is_known(const struct opening *o)
{
    return o->identity.size != XD_SIZE_UNKNOWN;
}

static int check_space(struct opening *o, struct xd_error *err)
{
    uint64_t needed = xd_range_length(o->identity.wanted), space;

    if (!size_is_known(o) ||
        xd_file_sink_space(o->e->dest.sink, &space, NULL) < 0 ||
        needed <= space)
        return 0;
    return xd_fail_disk_full(err, part_of(o), needed, space);
}

static int identify(struct opening *o, struct xd_error *err)
{
    struct xd_engine *e = o->e;
    struct xd_text path = {0};
    int rc;

    xd_boot_id(o->boot_id);
    xd_text_addf(&path, "%s.journal", part_of(o));
    o->path = path.s;
    if (path.failed)
        return xd_fail_nomem(err);
    rc = xd_resume_identify(e->depots.manifest, e->depots.file, e->dest.path,
                            &o->hashes, &o->identity, err);
    o->identity.size = e->depots.size;
    o->identity.wanted = e->wanted;
    return rc;
}

/* Accepts a .part file without a journal if it is so small that it has none, or
 * if it may belong to a set whose download was killed. */
static int begin_without_journal(struct opening *o, struct xd_error *err)
{
    uint64_t found = xd_file_sink_found(o->e->dest.sink);
    uint64_t length = xd_range_length(o->identity.wanted);

    if (found >= XD_JOURNAL_LEAST &&
        (found > length || length > XD_JOURNAL_LEAST_OF_SET) &&
        !o->e->options.no_continue)
        return xd_journal_fail_unknown(part_of(o), found, err);
    return found > 0 ? xd_file_sink_empty(o->e->dest.sink, err) : 0;
}

/* Returns true if a hash of this run will show whether the existing bytes are
 * right. */
static bool is_proved(const struct opening *o)
{
    const struct xd_verify *v = &o->e->verify;

    return v->whole || o->bound ||
           (v->pieces.n > 0 && xd_pieces_cover(&v->pieces, o->e->wanted));
}

/* Returns true if an earlier run has found that the file does not match a hash,
 * and this run has no hash that could overrule it. */
static bool is_bound(const struct opening *o)
{
    const struct xd_verify *v = &o->e->verify;

    return o->contents.failed.len > 0 && !o->identity.hashes[0] &&
           xd_options_want_all(&o->e->options) &&
           !(v->pieces.n > 0 && xd_pieces_cover(&v->pieces, o->e->wanted));
}

/* Sets *out to the first hash that the file did not match. */
static int take_failed_hash(const struct xd_journal_contents *contents,
                            struct xd_text *out, struct xd_error *err)
{
    const char *failed = contents->failed.s;

    xd_text_add(out, failed, strcspn(failed, "\n"));
    return out->failed ? xd_fail_nomem(err) : 0;
}

/* Returns true if the .part file, with `found` bytes, contains everything that
 * the earlier run requested.  If the size is unknown, the length of the .part
 * file counts as the size. */
static bool is_all_there(const struct xd_journal_contents *contents,
                         uint64_t found, const struct xd_rangeset *held)
{
    struct xd_range all = contents->wanted;

    if (contents->size == XD_SIZE_UNKNOWN)
        all.end = found;
    return !xd_range_is_empty(all) && xd_rangeset_contains(held, all);
}

/* Fails, because fetching the same bytes again would fail in the same way. */
static int fail_bound(const struct xd_journal_contents *contents,
                      const char *part, struct xd_error *err)
{
    struct xd_text line = {0};
    int rc = take_failed_hash(contents, &line, err);

    if (rc == 0)
        rc =
            xd_fail(err, XD_E_CORRUPT,
                    "%s: an earlier run has found that it does not match its "
                    "%.150s: give the right --checksum, which fetches nothing, "
                    "or --no-continue to fetch it again",
                    part, line.s);
    xd_text_fini(&line);
    return rc;
}

/* Makes this run require the hash that the earlier run did not match.  Ignores
 * a hash that cannot be computed, for example from a damaged journal. */
static int bind(struct opening *o, struct xd_error *err)
{
    struct xd_checksums *checksums;
    struct xd_text line = {0};
    int rc = take_failed_hash(&o->contents, &line, err);

    if (rc < 0)
        return rc;
    rc = xd_checksums_new(&checksums, err);
    if (rc == 0) {
        rc = xd_checksums_add(checksums, line.s, err);
        if (rc == 0)
            rc = xd_checksums_apply(&o->bound, checksums, o->e->depots.manifest,
                                    o->e->depots.file, err);
        xd_checksums_free(checksums);
    }
    if (rc == 0)
        snprintf(o->warning, sizeof o->warning,
                 "an earlier run has found that it does not match its %.150s, "
                 "which must hold now, too: --checksum with the right value "
                 "overrules that, --no-continue forgets it",
                 line.s);
    xd_text_fini(&line);
    return rc == XD_E_NOMEM ? rc : 0;
}

/* Fails without discarding the existing bytes, which cannot be used now. */
static int fail_check(const struct opening *o, const struct xd_error *why,
                      const char *what, struct xd_error *err)
{
    return xd_fail(err, why->code,
                   "%s: %s%.250s: give the URLs of the earlier run to continue "
                   "it, or --no-continue to start again",
                   part_of(o), what, why->msg);
}

static int fail_other_hash(const struct opening *o, struct xd_error *err)
{
    if (err)
        *err = o->other_hash;
    return XD_E_IO;
}

/* Compares the existing bytes with samples from the depots, because no hash
 * proves them or the earlier run had another hash. */
static int compare(struct opening *o, struct xd_error *err)
{
    struct xd_sample_check check;
    int rc =
        xd_resume_compare(o->e, &o->held, o->contents.depots.s, &check, err);

    if (rc < 0)
        return rc;
    o->n_compared = check.n_compared;
    if (o->other_hash.code < 0 && check.verdict != XD_SAMPLES_AGREE &&
        check.verdict != XD_SAMPLES_SPARED &&
        check.verdict != XD_SAMPLES_CANCELED)
        return fail_other_hash(o, err);
    switch (check.verdict) {
    case XD_SAMPLES_AGREE:
    case XD_SAMPLES_SPARED:
        return 0;
    case XD_SAMPLES_OUTDATED:
        o->forgets_failure = true;
        snprintf(o->warning, sizeof o->warning, "restarting: %.250s",
                 check.error.msg);
        xd_rangeset_fini(&o->held);
        return 0;
    case XD_SAMPLES_DIFFER:
        return fail_check(o, &check.error, "", err);
    case XD_SAMPLES_IMPOSSIBLE:
        return fail_check(
            o, &check.error,
            "cannot be compared with what the depots have: ", err);
    case XD_SAMPLES_CANCELED:
        break;
    }
    return xd_fail(err, XD_E_CANCELED, "the download was canceled");
}

static int believe(struct opening *o, struct xd_error *err)
{
    int rc = 0;

    if (!o->contents.has_header) {
        if (xd_file_sink_found(o->e->dest.sink) > 0)
            snprintf(o->warning, sizeof o->warning, "restarting: %s",
                     o->had_journal ? "its journal is damaged"
                                    : "no journal says what is in it");
        return 0;
    }
    if (o->e->options.no_continue)
        return 0;
    if (xd_journal_match(&o->contents, &o->identity, part_of(o), o->path, err) <
        0)
        return XD_E_IO;
    /* If only the hash differs, samples decide whether it is still the same
     * file. */
    (void)xd_journal_match_hash(&o->contents, &o->identity, part_of(o), o->path,
                                &o->other_hash);
    if (xd_journal_believed(&o->contents, o->boot_id,
                            xd_file_sink_found(o->e->dest.sink), &o->held) < 0)
        return xd_fail_nomem(err);
    if (is_bound(o))
        rc = is_all_there(&o->contents, xd_file_sink_found(o->e->dest.sink),
                          &o->held)
                 ? fail_bound(&o->contents, part_of(o), err)
                 : bind(o, err);
    if (!size_is_known(o))
        xd_rangeset_fini(&o->held);
    if (o->other_hash.code < 0 && o->held.bytes == 0)
        return fail_other_hash(o, err);
    return rc == 0 && o->held.bytes > 0 &&
                   (!is_proved(o) || o->other_hash.code < 0)
               ? compare(o, err)
               : rc;
}

/* Continues the journal.  Also compacts it, because it grows with each run. */
static int continue_journal(struct opening *o, struct xd_error *err)
{
    struct xd_error why = {0};
    int rc = xd_journal_continue(o->journal, &o->contents, o->boot_id, err);

    if (rc == 0 && xd_journal_shrink(o->journal, &why) < 0)
        xd_log(&o->e->log, XD_LOG_WARN, "%s", why.msg);
    return rc;
}

static bool keeps_failure(const struct opening *o)
{
    return o->contents.failed.len > 0 && !o->forgets_failure &&
           !o->e->options.no_continue;
}

static int open_journal(struct opening *o, struct xd_error *err)
{
    int rc =
        xd_journal_open(&o->journal, &o->contents, folder_of(o), o->path, err);

    if (rc == 0)
        rc = believe(o, err);
    if (rc < 0)
        return rc;
    if (o->held.bytes > 0)
        return continue_journal(o, err);
    /* The journal is emptied first.  If the machine crashes, it must not list
     * bytes of an emptied file. */
    rc = xd_journal_restart(o->journal, &o->identity, o->boot_id, err);
    if (rc == 0 && keeps_failure(o))
        rc = xd_journal_failed(o->journal, o->contents.failed.s, err);
    return rc < 0 ? rc : xd_file_sink_empty(o->e->dest.sink, err);
}

static int open_all(struct opening *o, struct xd_error *err)
{
    int rc = identify(o, err);

    if (rc == 0)
        rc = check_space(o, err);
    if (rc < 0)
        return rc;
    o->had_journal = xd_file_exists(folder_of(o), o->path);
    if (!o->had_journal)
        rc = begin_without_journal(o, err);
    if (rc == 0 && (o->had_journal ||
                    xd_range_length(o->identity.wanted) >= XD_JOURNAL_LEAST))
        rc = open_journal(o, err);
    return rc;
}

static void take_over_locked(struct opening *o)
{
    struct xd_engine *e = o->e;
    struct xd_resume *r = &e->resume;
    struct xd_error error = {0};

    r->journal = o->journal;
    r->notes_bytes = o->journal && size_is_known(o);
    r->depots = o->contents.depots;
    r->bound = o->bound;
    o->journal = NULL;
    o->contents.depots = (struct xd_text){0};
    o->bound = NULL;
    if (r->bound && xd_verify_bind_locked(e, r->bound, &error) < 0)
        xd_engine_fail_locked(e, &error);
    if (o->warning[0])
        xd_engine_log_locked(e, XD_LOG_WARN, "%s: %s", part_of(o), o->warning);
    if (o->n_compared > 0 && o->held.bytes > 0)
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%s: continued, %zu samples compared", part_of(o),
                             o->n_compared);
    if (o->held.bytes > 0)
        xd_engine_log_locked(
            e, XD_LOG_INFO, "%s: %llu of %llu bytes are there already",
            part_of(o), (ull)o->held.bytes, (ull)xd_range_length(e->wanted));
    for (size_t i = 0; i < o->held.n; i++)
        xd_verify_held_locked(e, o->held.ranges[i]);
}

static void fini(struct opening *o)
{
    xd_journal_free(o->journal);
    xd_journal_contents_fini(&o->contents);
    xd_rangeset_fini(&o->held);
    xd_text_fini(&o->hashes);
    xd_manifest_unref(o->bound);
    xd_free(o->path);
}

void xd_resume_open_locked(struct xd_engine *e)
{
    struct opening o = {.e = e};
    struct xd_error error = {0};
    int rc;

    xd_engine_unlock(e);
    rc = open_all(&o, &error);
    xd_engine_lock(e);
    if (rc < 0) {
        if (!o.had_journal && o.journal)
            (void)xd_journal_remove(o.journal, NULL);
        xd_engine_fail_locked(e, &error);
    } else {
        take_over_locked(&o);
    }
    xd_engine_step_locked(e,
                          (struct xd_session_event){.kind = XD_SESSION_OPENED});
    fini(&o);
}

void xd_resume_wake_locked(struct xd_engine *e)
{
    if (e->resume.batch && xd_engine_is_over_locked(e))
        xd_batch_cancel(e->resume.batch);
}

/* ---- a hash that the complete file did not match ---- */

/* The names of an unfinished file. */
struct unfinished {
    int folder;
    const char *path, *part, *journal;
};

typedef int judge_fn(const struct unfinished *u,
                     const struct xd_journal_contents *contents, void *user,
                     struct xd_error *err);

/* Calls `judge` if the journal names a hash that the file did not match, and
 * all bytes exist.  Ignores files that it cannot read, because the download
 * will report them. */
static int judge_failed(const struct unfinished *u, judge_fn *judge, void *user,
                        struct xd_error *err)
{
    struct xd_journal_contents contents;
    struct xd_rangeset held = {0};
    struct xd_journal *j;
    char boot_id[XD_BOOT_ID_SIZE];
    uint64_t found;
    int fd, rc = 0;

    if (!xd_file_exists(u->folder, u->journal) ||
        xd_file_own(&fd, &found, u->folder, u->part, NULL) < 0)
        return 0;
    xd_file_close(fd);
    if (xd_journal_open(&j, &contents, u->folder, u->journal, NULL) < 0)
        return 0;
    xd_boot_id(boot_id);
    if (contents.has_header && contents.failed.len > 0) {
        rc = xd_journal_believed(&contents, boot_id, found, &held) < 0
                 ? xd_fail_nomem(err)
                 : 0;
        if (rc == 0 && is_all_there(&contents, found, &held))
            rc = judge(u, &contents, user, err);
    }
    xd_rangeset_fini(&held);
    xd_journal_contents_fini(&contents);
    xd_journal_free(j);
    return rc;
}

static int look_at(const char *path, const struct xd_options *o,
                   judge_fn *judge, void *user, struct xd_error *err)
{
    struct xd_text part = {0}, journal = {0};
    int folder, rc;

    if (o && (o->no_continue || !xd_options_want_all(o)))
        return 0;
    if (xd_folder_open(&folder, path, NULL) < 0)
        return 0;
    if (xd_file_exists(folder, path)) { /* an existing file takes precedence */
        xd_file_close(folder);
        return 0;
    }
    xd_part_path(&part, path, XD_PART);
    xd_part_path(&journal, path, XD_PART_JOURNAL);
    rc = part.failed || journal.failed
             ? xd_fail_nomem(err)
             : judge_failed(
                   &(struct unfinished){folder, path, part.s, journal.s}, judge,
                   user, err);
    xd_file_close(folder);
    xd_text_fini(&part);
    xd_text_fini(&journal);
    return rc;
}

static int refuse(const struct unfinished *u,
                  const struct xd_journal_contents *contents, void *user,
                  struct xd_error *err)
{
    (void)user;
    return fail_bound(contents, u->part, err);
}

int xd_check_unfinished(const char *path, const struct xd_options *o,
                        struct xd_error *err)
{
    return look_at(path, o, refuse, NULL, err);
}

/* An unfinished file that may match the hash of a manifest. */
struct completing {
    struct xd_manifest *manifest;
    size_t file;
    const struct xd_options *options;
    struct xd_checked *out;
    bool is_right;
};

/* Returns true if the file was fetched with this hash before.  Then the hash
 * may be right, and another depot may have the right bytes. */
static bool is_retried(const struct completing *k,
                       const struct xd_journal_contents *contents)
{
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t i = 0; xd_manifest_hash(k->manifest, k->file, i, &hash) == 0;
         i++)
        if (strstr(contents->failed.s, hash.hex))
            return true;
    return false;
}

static int hash_part(const struct unfinished *u,
                     const struct xd_journal_contents *contents, void *user,
                     struct xd_error *err)
{
    struct completing *k = user;
    struct xd_checked checked = {.struct_size = sizeof checked};
    struct xd_check *c;
    int rc;

    if (is_retried(k, contents))
        return 0;
    rc = xd_check_new(&c, k->manifest, k->file, u->part, k->options, err);
    if (rc < 0)
        return rc;
    xd_check_get(c, &checked);
    k->is_right = checked.is_right && checked.algorithm;
    if (checked.actual_hash)
        rc = xd_fail(err, XD_E_CORRUPT,
                     "%.90s: it does not match this %s either, %s: it has %s; "
                     "give the right --checksum, which fetches nothing, or "
                     "--no-continue to fetch it again",
                     u->part, checked.algorithm, checked.expected_hash,
                     checked.actual_hash);
    checked.struct_size = k->out->struct_size;
    checked.is_right = k->is_right;
    checked.expected_hash = checked.actual_hash = NULL;
    xd_copy_out(k->out, &checked, sizeof checked);
    xd_check_free(c);
    return rc;
}

/* Gives the .part file its final name, after a hash has proved it. */
static int rename_part(const char *path, uint64_t size, struct xd_error *err)
{
    struct xd_text journal = {0};
    struct xd_sink *sink;
    int rc = xd_file_sink_new(&sink, path, SIZE_MAX, false, err);

    if (rc < 0)
        return rc;
    xd_part_path(&journal, path, XD_PART_JOURNAL);
    rc = journal.failed ? xd_fail_nomem(err) : xd_sink_finish(sink, size, err);
    if (rc == 0)
        rc = xd_journal_remove_at(xd_file_sink_folder(sink), journal.s, err);
    xd_sink_free(sink);
    xd_text_fini(&journal);
    return rc;
}

int xd_check_complete(struct xd_manifest *m, size_t file, const char *path,
                      const struct xd_options *o, struct xd_checked *out,
                      struct xd_error *err)
{
    struct completing k = {
        .manifest = m, .file = file, .options = o, .out = out};
    int rc;

    out->is_right = false;
    if (o && (o->remote_time || o->keyring || o->public_key))
        return 0;
    rc = look_at(path, o, hash_part, &k, err);
    return rc == 0 && k.is_right ? rename_part(path, out->size, err) : rc;
}

/* Creates the journal of a short file, which gets one only if its hash is
 * wrong. */
static int begin_journal(struct opening *o, struct xd_error *err)
{
    int rc = identify(o, err);

    if (rc == 0)
        rc = xd_journal_open(&o->journal, &o->contents, folder_of(o), o->path,
                             err);
    if (rc == 0)
        rc = xd_journal_restart(o->journal, &o->identity, o->boot_id, err);
    return rc;
}

/* Adds all `bytes` of the complete file to the journal, in case that was not
 * done while they arrived. */
static int note_all(struct xd_engine *e, struct xd_journal *j, uint64_t bytes,
                    struct xd_error *err)
{
    const struct xd_range all = {e->wanted.begin, e->wanted.begin + bytes};
    int rc = xd_journal_written(j, all, err);

    return rc == 0 ? xd_journal_sync(j, e->dest.sink, err) : rc;
}

static int note_failure(struct xd_engine *e, const char *hash, uint64_t bytes,
                        struct xd_error *err)
{
    struct opening o = {.e = e};
    struct xd_journal *j = e->resume.journal;
    int rc = 0;

    if (!j) {
        rc = begin_journal(&o, err);
        j = o.journal;
    }
    if (rc == 0 && !e->resume.notes_bytes && bytes > 0)
        rc = note_all(e, j, bytes, err);
    if (rc == 0)
        rc = xd_journal_failed(j, hash, err);
    fini(&o);
    return rc;
}

/* Returns the number of bytes of the complete file; 0 if some are missing. */
static uint64_t complete_bytes_locked(const struct xd_engine *e)
{
    const uint64_t stored = xd_ledger_bytes(&e->ledger, XD_BYTES_STORED);

    return e->wanted.end == XD_SIZE_UNKNOWN ||
                   stored == xd_range_length(e->wanted)
               ? stored
               : 0;
}

void xd_resume_note_failure_locked(struct xd_engine *e)
{
    const struct xd_verify *v = &e->verify;
    struct xd_error error = {0};
    struct xd_text hash = {0};
    uint64_t bytes;

    if (!e->dest.path || !e->dest.sink || !v->whole_algorithm ||
        e->error.code != XD_E_CORRUPT)
        return;
    xd_text_addf(&hash, "%s:%s\n", v->whole_algorithm, v->whole_hex);
    bytes = complete_bytes_locked(e);
    xd_engine_unlock(e);
    /* The download does not fail if this cannot be recorded: a log line is
     * enough. */
    if (!hash.failed && note_failure(e, hash.s, bytes, &error) < 0)
        xd_log(&e->log, XD_LOG_WARN, "%s", error.msg);
    xd_text_fini(&hash);
    xd_engine_lock(e);
}

/* SPDX-License-Identifier: MIT */
#include "engine/resume.h"

#include <stdio.h>
#include <string.h>
#include <xdownload/checksums.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/resume_compare.h"
#include "io/journal/journal.h"
#include "io/journal/journal_match.h"
#include "os/file.h"
#include "transfer/batch.h"

typedef unsigned long long ull;

/* What open() works with, without the lock. */
struct opening {
    struct xd_engine *e;
    char *path; /* of the journal */
    struct xd_journal *journal;
    struct xd_journal_identity identity;
    struct xd_journal_contents contents;
    struct xd_rangeset held;
    struct xd_text hashes;
    char boot_id[XD_BOOT_ID_SIZE];
    bool had_journal;
    bool forgets_failure;      /* what the journal says of a failed hash is of
                                  another version of the file */
    struct xd_manifest *bound; /* as in struct xd_resume; or NULL */
    size_t n_compared;         /* samples */
    char warning[500];         /* "": none */
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
    return xd_fail(err, XD_E_IO,
                   "%s: %llu bytes are too many for its disk, which has room "
                   "for %llu",
                   part_of(o), (ull)needed, (ull)space);
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

/* A .part without a journal is ours if it is small, or may be that of a set that
 * was killed. */
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

/* Whether a hash of this run tells in the end whether what is there is
 * right. */
static bool is_proved(const struct opening *o)
{
    const struct xd_verify *v = &o->e->verify;

    return v->whole || o->bound ||
           (v->pieces.n > 0 && xd_pieces_cover(&v->pieces, o->e->wanted));
}

/* The hash by which an earlier run failed binds this one if it has none of its
 * own.  One that cannot be computed, as in a damaged journal, does not. */
static int bind(struct opening *o, struct xd_error *err)
{
    const char *failed = o->contents.failed.s;
    struct xd_checksums *checksums;
    struct xd_text line = {0};
    int rc;

    if (o->contents.failed.len == 0 || o->identity.hashes[0] ||
        !xd_options_want_all(&o->e->options))
        return 0;
    xd_text_add(&line, failed, strcspn(failed, "\n"));
    if (line.failed)
        return xd_fail_nomem(err);
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

/* What is there cannot be used, but it is not thrown away either. */
static int fail_check(const struct opening *o, const struct xd_error *why,
                      const char *what, struct xd_error *err)
{
    return xd_fail(err, why->code,
                   "%s: %s%.250s: the URLs of the earlier run go on with it, "
                   "--no-continue starts it from the beginning",
                   part_of(o), what, why->msg);
}

/* No hash proves what is there: the depots have to agree with it. */
static int compare(struct opening *o, struct xd_error *err)
{
    struct xd_sample_check check;
    int rc =
        xd_resume_compare(o->e, &o->held, o->contents.depots.s, &check, err);

    if (rc < 0)
        return rc;
    o->n_compared = check.n_compared;
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
    rc = bind(o, err);
    if (rc < 0 || !size_is_known(o))
        return rc;
    if (xd_journal_believed(&o->contents, o->boot_id,
                            xd_file_sink_found(o->e->dest.sink), &o->held) < 0)
        return xd_fail_nomem(err);
    return o->held.bytes > 0 && !is_proved(o) ? compare(o, err) : 0;
}

/* A file that many runs have worked at has a long journal. */
static int go_on(struct opening *o, struct xd_error *err)
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
        return go_on(o, err);
    /* First the journal: nothing may say of an empty file what is in it. */
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

/* A short file has no journal until there is something to say of it. */
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

static int note_failure(struct xd_engine *e, const char *hash,
                        struct xd_error *err)
{
    struct opening o = {.e = e};
    int rc = 0;

    if (!e->resume.journal)
        rc = begin_journal(&o, err);
    if (rc == 0)
        rc = xd_journal_failed(o.journal ? o.journal : e->resume.journal, hash,
                               err);
    fini(&o);
    return rc;
}

void xd_resume_note_failure_locked(struct xd_engine *e)
{
    const struct xd_verify *v = &e->verify;
    struct xd_error error = {0};
    struct xd_text hash = {0};

    if (!e->dest.path || !e->dest.sink || !v->whole_algorithm ||
        e->error.code != XD_E_CORRUPT)
        return;
    xd_text_addf(&hash, "%s:%s\n", v->whole_algorithm, v->whole_hex);
    xd_engine_unlock(e);
    /* If it cannot be said, the next run has nothing to go on with, either. */
    if (!hash.failed && note_failure(e, hash.s, &error) < 0)
        xd_log(&e->log, XD_LOG_WARN, "%s", error.msg);
    xd_text_fini(&hash);
    xd_engine_lock(e);
}

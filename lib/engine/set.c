/* SPDX-License-Identifier: MIT */
#include "engine/set.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/remote_time.h"
#include "engine/trust/fetched_version.h"
#include "engine/resume.h"
#include "engine/set_space.h"
#include "engine/sched_events.h"
#include "engine/trust/signed.h"
#include "io/journal/journal_match.h"
#include "io/part.h"
#include "io/sinks/set_names.h"
#include "manifest/join.h"
#include "os/clock.h"
#include "os/file.h"

/* Maximum number of files that are renamed at a time.  It limits how long other
 * work and a cancel have to wait. */
#define MOST_TOGETHER 256

/* Number of complete files for which a sync is worthwhile, and the longest time
 * that a complete file waits for others. */
#define ENOUGH_TOGETHER 32
#define LONGEST_WAIT (100 * XD_MS)

/* Returns xd_set_place_path() of file `i`. */
static char *path_of(const struct xd_set *s, size_t i)
{
    return xd_set_place_path(&s->places[i], s->directory);
}

static int place(struct xd_set *s, size_t i, const struct xd_file *file,
                 struct xd_error *err)
{
    struct xd_set_place *p = &s->places[i];
    uint64_t size = file->size;

    if (!file->path)
        return xd_fail(err, XD_E_INVAL,
                       "a file of a set has no name that can be used");
    p->range.begin = i > 0 ? p[-1].range.end : 0;
    if (size == XD_SIZE_UNKNOWN) {
        size = XD_JOINED_PLACE;
        s->files[i].is_unsized = true;
    }
    p->range.end = p->range.begin + size;
    p->path = file->path;
    return 0;
}

/* A long file gets a journal if a hash will prove what an earlier run left. */
static int choose_kept(struct xd_set *s, size_t i, const struct xd_manifest *m,
                       size_t file, struct xd_error *err)
{
    struct xd_set_place *p = &s->places[i];
    struct xd_journal_identity identity;
    struct xd_text hashes = {0};
    int rc;

    if (s->files[i].is_unsized ||
        xd_set_place_size(p) <= XD_JOURNAL_LEAST_OF_SET ||
        !xd_manifest_has_proof(m, file))
        return 0;
    rc = xd_resume_identify(m, file, p->path, &hashes, &identity, err);
    if (rc == 0) {
        p->hashes = xd_strdup(identity.hashes);
        rc = p->hashes ? 0 : xd_fail_nomem(err);
    }
    xd_text_fini(&hashes);
    return rc;
}

int xd_set_place_file(struct xd_set *s, size_t i, const struct xd_manifest *m,
                      size_t file, struct xd_error *err)
{
    struct xd_file info = {.struct_size = sizeof info};
    int rc;

    xd_manifest_file(m, file, &info);
    rc = place(s, i, &info, err);
    return rc == 0 ? choose_kept(s, i, m, file, err) : rc;
}

void xd_set_count_file_locked(struct xd_set *s, size_t i)
{
    s->n++;
    s->n_wanted++;
    s->n_unsized += s->files[i].is_unsized;
    s->n_kept += s->places[i].hashes != NULL;
}

int xd_set_init(struct xd_set *s, const struct xd_manifest *m,
                const size_t *files, size_t n, const char *directory,
                struct xd_error *err)
{
    int rc = 0;

    s->places = xd_alloc(n, sizeof *s->places);
    s->files = xd_alloc(n, sizeof *s->files);
    s->directory = directory ? xd_strdup(directory) : NULL;
    if (!s->places || !s->files || (directory && !s->directory))
        return xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = xd_set_place_file(s, i, m, files[i], err);
        if (rc == 0)
            xd_set_count_file_locked(s, i);
    }
    s->n_first = s->n;
    return rc;
}

void xd_set_fini(struct xd_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        xd_free(s->places[i].hashes);
        if (!s->files[i].leaves)
            xd_kept_error_free(s->files[i].error);
    }
    xd_free(s->places);
    xd_free(s->files);
    xd_free(s->directory);
    for (size_t i = s->n_first; s->origins && i < s->n; i++)
        xd_manifest_unref(s->origins[i - s->n_first].manifest);
    xd_free(s->origins);
    xd_free(s->slots);
    if (s->most > 0)
        xd_mutex_fini(&s->adding);
    xd_rangeset_fini(&s->held);
    xd_rangeset_fini(&s->keep.dropped);
    *s = (struct xd_set){0};
}

unsigned xd_set_most_begun(const struct xd_engine *e)
{
    const uint64_t asked = e->options.max_files;
    const uint64_t most = asked < e->set.most_open ? asked : e->set.most_open;

    if (!e->dest.output->has_many_files)
        return 0;
    return most > 0 ? (unsigned)most : 1;
}

/* Returns the index of the file with the byte. */
static size_t file_at(const struct xd_set *s, uint64_t byte)
{
    return xd_count_up_to(byte, s->places, s->n, sizeof *s->places,
                          offsetof(struct xd_set_place, range.begin)) -
           1;
}

const struct xd_set_place *xd_set_place_of(const struct xd_engine *e,
                                           uint64_t byte)
{
    return &e->set.places[file_at(&e->set, byte)];
}

uint64_t xd_set_begin_of(const struct xd_engine *e, uint64_t byte)
{
    const struct xd_set *s = &e->set;

    return s->n > 0 ? xd_set_place_of(e, byte)->range.begin : 0;
}

bool xd_set_is_unsized_locked(const struct xd_engine *e, uint64_t byte)
{
    const struct xd_set *s = &e->set;

    return s->n > 0 && s->files[file_at(s, byte)].is_unsized;
}

static void size_known_locked(struct xd_set *s, size_t i)
{
    s->n_unsized -= s->files[i].is_unsized;
    s->files[i].is_unsized = false;
}

void xd_set_report_unsized_locked(struct xd_engine *e)
{
    for (size_t i = 0; e->session.sched && i < e->set.n; i++)
        if (e->set.files[i].is_unsized)
            xd_report_unsized_locked(e, e->set.places[i].range);
}

struct xd_range xd_set_sized_locked(struct xd_engine *e, uint64_t byte,
                                    uint64_t end)
{
    struct xd_set *s = &e->set;
    const size_t i = file_at(s, byte);
    const struct xd_range rest = {end, s->places[i].range.end};

    if (!s->files[i].is_unsized)
        return (struct xd_range){end, end};
    size_known_locked(s, i);
    xd_report_sized_locked(e, (struct xd_range){s->places[i].range.begin, end});
    s->places[i].unused = (uint32_t)xd_range_length(rest);
    s->unused += xd_range_length(rest);
    xd_set_verified_locked(e, s->places[i].range);
    return rest;
}

void xd_set_leave_locked(struct xd_engine *e, uint64_t byte, uint64_t size)
{
    const size_t i = file_at(&e->set, byte);
    struct xd_set_file *f = &e->set.files[i];

    if (f->state != XD_SET_WANTED)
        return;
    if (!f->leaves && size > 0) /* the file is at least as long as its place */
        xd_report_sized_locked(e, e->set.places[i].range);
    f->leaves = true;
    f->longer = size;
}

/* Logs that file `i` failed.  Disk errors already contain the path. */
static void log_failed_locked(struct xd_engine *e, size_t i, const char *why)
{
    char *whole = path_of(&e->set, i);
    const char *path = whole ? whole : e->set.places[i].path;
    const bool is_named = strncmp(why, path, strlen(path)) == 0;

    xd_engine_log_locked(e, XD_LOG_ERROR, "%s%s%s", is_named ? "" : path,
                         is_named ? "" : ": ", why);
    xd_free(whole);
}

static void fail_file_locked(struct xd_engine *e, size_t i,
                             const struct xd_error *error)
{
    struct xd_set_file *f = &e->set.files[i];

    if (f->state == XD_SET_FAILED || f->state == XD_SET_NAMED ||
        f->state == XD_SET_LEFT)
        return;
    e->set.n_wanted -= f->state == XD_SET_WANTED;
    if (f->is_unsized)
        e->set.lost += xd_set_place_size(&e->set.places[i]) -
                       xd_ledger_count(&e->ledger, XD_BYTES_STORED,
                                       e->set.places[i].range);
    size_known_locked(&e->set, i);
    f->state = f->leaves ? XD_SET_LEFT : XD_SET_FAILED;
    xd_engine_raise_locked(e, &e->notifier);
    if (f->leaves)
        return;
    xd_kept_error_free(f->error);
    f->error = xd_error_keep(error);
    log_failed_locked(e, i, error->msg);
}

bool xd_set_fail_locked(struct xd_engine *e, struct xd_range range,
                        const struct xd_error *error)
{
    const struct xd_set *s = &e->set;

    if (s->n == 0)
        return false;
    range.begin = xd_set_begin_of(e, range.begin);
    for (size_t i = file_at(s, range.begin);
         i < s->n && s->places[i].range.begin < range.end; i++) {
        fail_file_locked(e, i, error);
        if (range.end < s->places[i].range.end)
            range.end = s->places[i].range.end;
    }
    for (unsigned i = 0; i < e->depots.n; i++)
        xd_report_lost_locked(e, i, range);
    xd_engine_decide_later_locked(e);
    return true;
}

bool xd_set_bears(const struct xd_engine *e, const struct xd_error *why)
{
    static const int of_all[] = {ENOSPC, EDQUOT, EIO,    EROFS,
                                 EMFILE, ENFILE, ENOMEM, EFBIG};

    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        if (why->os_errno == of_all[i])
            return false;
    return e->dest.output->has_many_files && why->code == XD_E_IO;
}

/* Finds out whether file `i` exists.  If its size is unknown, there is no hash
 * either, so the existing file is compared with the bytes of the depots. */
int xd_set_look_at_place(struct xd_set *s, size_t i, struct xd_error *err)
{
    char *path = path_of(s, i);
    const bool is_there = path && xd_path_exists(path);

    s->places[i].is_compared = is_there && s->files[i].is_unsized;
    s->files[i].is_there = is_there && !s->files[i].is_unsized;
    xd_free(path);
    return path ? 0 : xd_fail_nomem(err);
}

static int add_held(struct xd_set *s, size_t i, const struct xd_rangeset *held)
{
    const uint64_t begin = s->places[i].range.begin;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < held->n; k++)
        rc = xd_rangeset_add(&s->held,
                             (struct xd_range){begin + held->ranges[k].begin,
                                               begin + held->ranges[k].end});
    return rc;
}

int xd_set_refuse(struct xd_set *s, size_t i, const struct xd_error *why,
                  struct xd_error *err)
{
    s->files[i].leaves = why->code == XD_E_DIFFERENT;
    if (s->files[i].leaves)
        return 0;
    s->files[i].error = xd_error_keep(why);
    return s->files[i].error ? 0 : xd_fail_nomem(err);
}

/* Finds the data that an earlier run left, and refuses the file if this data
 * belongs to another file. */
static int find_held(struct xd_set *s, size_t i, struct xd_error *err)
{
    struct xd_rangeset held = {0};
    struct xd_error why = {0};
    int rc = xd_set_sink_find(s->sink, i, &held, &why);

    if (rc == XD_E_NOMEM || (rc == 0 && add_held(s, i, &held) < 0))
        rc = xd_fail_nomem(err);
    else if (rc < 0)
        rc = xd_set_refuse(s, i, &why, err);
    xd_rangeset_fini(&held);
    return rc;
}

int xd_set_look_at_part(const struct xd_set *s, size_t i, bool *out_has,
                        struct xd_error *err)
{
    struct xd_text part = {0};
    char *path = path_of(s, i);
    bool failed;

    if (path)
        xd_part_path(&part, path, XD_PART);
    failed = !path || part.failed;
    *out_has = !failed && xd_path_exists(part.s);
    xd_text_fini(&part);
    xd_free(path);
    return failed ? xd_fail_nomem(err) : 0;
}

static int find_all_held(struct xd_set *s, struct xd_error *err)
{
    bool has = false;
    int rc = 0;

    for (size_t i = 0; rc == 0 && s->n_kept > 0 && i < s->n; i++) {
        if (!s->places[i].hashes || s->files[i].is_there)
            continue;
        rc = xd_set_look_at_part(s, i, &has, err);
        if (rc == 0 && has)
            rc = find_held(s, i, err);
    }
    return rc;
}

int xd_set_open(struct xd_engine *e, struct xd_sink **out, struct xd_error *err)
{
    const struct xd_set_sink_options o = {.directory = e->set.directory,
                                          .replaces = e->options.force,
                                          .begins_anew = e->options.no_continue,
                                          .most = e->set.most,
                                          .most_open = e->set.most_open};
    struct xd_set *s = &e->set;
    int rc;

    rc = 0;
    for (size_t i = 0; rc == 0 && !e->options.force && i < s->n; i++)
        rc = xd_set_look_at_place(s, i, err);
    if (rc == 0)
        rc = xd_set_names_check(s->places, s->n, s->directory, err);
    if (rc == 0)
        rc = xd_set_check_space(e, err);
    if (rc < 0)
        return rc;
    rc = xd_set_sink_new(out, &s->sink, s->places, s->n, &o, err);
    if (rc < 0)
        return rc;
    rc = find_all_held(s, err);
    if (rc < 0) {
        xd_sink_free(*out);
        s->sink = NULL;
    }
    return rc;
}

void xd_set_begin_file_locked(struct xd_engine *e, size_t i)
{
    const struct xd_set_file *f = &e->set.files[i];
    struct xd_error error = {0};
    char *path;

    if (!f->is_there && !f->error && !f->leaves)
        return;
    path = path_of(&e->set, i);
    if (f->leaves)
        xd_fail(&error, XD_E_DIFFERENT, "fetched alone");
    else if (f->error)
        error = xd_kept_error_get(f->error);
    else
        xd_fail(&error, XD_E_IO, "%s: already exists",
                path ? path : e->set.places[i].path);
    xd_free(path);
    xd_set_fail_locked(e, e->set.places[i].range, &error);
}

void xd_set_begin_locked(struct xd_engine *e)
{
    for (size_t i = 0; i < e->set.n; i++)
        xd_set_begin_file_locked(e, i);
}

static void queue_complete_locked(struct xd_set *s, size_t i)
{
    if (s->n_complete++ == 0)
        s->first_complete = (uint32_t)i;
    else
        s->files[s->last_complete].next = (uint32_t)i;
    s->last_complete = (uint32_t)i;
}

/* Takes the first complete files and returns their number. */
static size_t take_complete_locked(struct xd_set *s, size_t out[MOST_TOGETHER])
{
    size_t n = 0;

    while (s->n_complete > 0 && n < MOST_TOGETHER) {
        out[n++] = s->first_complete;
        s->first_complete = s->files[s->first_complete].next;
        s->n_complete--;
    }
    return n;
}

void xd_set_verified_locked(struct xd_engine *e, struct xd_range range)
{
    struct xd_set *s = &e->set;

    if (s->n == 0)
        return;
    for (size_t i = file_at(s, range.begin);
         i < s->n && s->places[i].range.begin < range.end; i++) {
        if (s->files[i].state != XD_SET_WANTED || s->files[i].is_unsized ||
            !xd_ledger_has(&e->ledger, XD_BYTES_DONE, s->places[i].range))
            continue;
        s->files[i].state = XD_SET_COMPLETE;
        s->n_wanted--;
        if (s->n_complete == 0) {
            s->name_at = xd_now() + LONGEST_WAIT;
            xd_cond_signal(&e->bytes_ready);
        }
        queue_complete_locked(s, i);
        if (s->n_complete == ENOUGH_TOGETHER || s->n_wanted == 0)
            xd_cond_signal(&e->bytes_ready);
    }
}

bool xd_set_is_over_locked(const struct xd_engine *e)
{
    return e->set.n > 0 && e->set.n_wanted == 0 && !e->set.is_open;
}

bool xd_set_can_work_locked(const struct xd_engine *e)
{
    const size_t n = e->set.n_complete;

    return n >= ENOUGH_TOGETHER ||
           (n > 0 && (e->set.n_wanted == 0 || xd_engine_is_over_locked(e) ||
                      xd_now() >= e->set.name_at));
}

xd_usec xd_set_work_at_locked(const struct xd_engine *e)
{
    return e->set.n_complete > 0 ? e->set.name_at : XD_NEVER;
}

static void ended(void *engine, const size_t *files, size_t n,
                  const struct xd_error *error)
{
    struct xd_engine *e = engine;

    for (size_t i = 0; i < n && !error; i++) {
        xd_remote_time_set(e, files[i]);
        xd_fetched_version_keep(e, files[i]);
    }
    xd_engine_lock(e);
    for (size_t i = 0; i < n; i++)
        if (error)
            fail_file_locked(e, files[i], error);
        else
            e->set.files[files[i]].state = XD_SET_NAMED;
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_unlock(e);
}

/* Finishes complete files.  Those that become complete during a sync are synced
 * together by the next call. */
void xd_set_work_locked(struct xd_engine *e)
{
    struct xd_set *s = &e->set;
    size_t files[MOST_TOGETHER];
    const size_t n = take_complete_locked(s, files);

    xd_engine_unlock(e);
    xd_set_sink_finish_files(s->sink, files, n, ended, e);
    xd_engine_lock(e);
}

/* If a file failed because of the hash of the whole file, adds that hash.  If
 * only a piece was wrong, other pieces may be right. */
static void add_failed_hash(const struct xd_engine *e, size_t i,
                            struct xd_text *out)
{
    const struct xd_set_file *f = &e->set.files[i];
    const struct xd_pieces *pieces = &e->verify.pieces;
    const struct xd_range all = e->set.places[i].range;
    struct xd_range range;
    size_t piece;

    if (f->state != XD_SET_FAILED ||
        xd_kept_error_get(f->error).code != XD_E_CORRUPT)
        return;
    piece = xd_pieces_find(pieces, all.begin);
    if (piece == pieces->n)
        return;
    range = xd_pieces_range(pieces, piece);
    if (range.begin == all.begin && range.end == all.end)
        xd_text_addf(out, "%s:%s\n", xd_pieces_algorithm(pieces, piece),
                     xd_pieces_hex(pieces, piece));
}

static void clean_up_file(struct xd_engine *e, size_t i)
{
    struct xd_set_place *p = &e->set.places[i];
    struct xd_text hash = {0};

    add_failed_hash(e, i, &hash);
    if (hash.len > 0 && !hash.failed && !p->hashes)
        p->hashes = xd_strdup(hash.s); /* a short file gets a journal now */
    if (hash.len > 0 && p->hashes)
        xd_set_sink_leave_failed(e->set.sink, i, hash.s);
    else
        xd_set_sink_leave_file(e->set.sink, i);
    xd_text_fini(&hash);
}

void xd_set_clean_up(struct xd_engine *e)
{
    const struct xd_set *s = &e->set;

    for (size_t i = 0; s->sink && i < s->n; i++)
        if (s->files[i].state != XD_SET_NAMED)
            clean_up_file(e, i);
}

static void log_present_locked(struct xd_engine *e)
{
    size_t n = 0;

    for (size_t i = 0; i < e->set.n; i++)
        n += e->set.places[i].is_compared &&
             e->set.files[i].state == XD_SET_NAMED;
    if (n > 0)
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%zu of %zu files were there already, and are the "
                             "same",
                             n, e->set.n);
}

struct xd_error xd_set_end_locked(struct xd_engine *e)
{
    log_present_locked(e);
    for (size_t i = 0; i < e->set.n; i++)
        if (e->set.files[i].state == XD_SET_FAILED)
            return xd_kept_error_get(e->set.files[i].error);
    return (struct xd_error){.code = XD_OK};
}

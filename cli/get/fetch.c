/* SPDX-License-Identifier: MIT */
#include "get/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "command/downloads.h"
#include "command/settings.h"
#include "common/advice.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/snapshot.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"
#include "report/display.h"
#include "report/records.h"
#include "report/report.h"
#include "report/view.h"
#include "trace/trace.h"

/* milliseconds between updates of the display and checks for signals */
#define TICK_MS 100

/* number of ticks after which the user is told why canceling takes so long */
#define PATIENCE_TICKS 10

/* A running job. */
struct fetch_run {
    const struct job *job;
    struct xd_download *download; /* NULL: it could not be created */
    struct snapshot snapshot;
    struct log log;
    struct trace_run *trace; /* may be NULL */
    struct display display;
    /* last message that tells what the download waits for, or "" */
    char waits[300];
    char files[40]; /* the name of a set, such as "3 files" */
};

static size_t count_files(const struct fetch_run *r, enum xd_file_state state)
{
    struct xd_file_progress p = {.struct_size = sizeof p};
    size_t n = 0;

    for (size_t i = 0; i < r->job->n_set && r->download != NULL &&
                       xd_download_file_progress(r->download, i, &p) == 0;
         i++)
        n += p.state == state;
    return n;
}

/* Returns the number of files that stay in the set.  Other files are downloaded
 * separately and reported there. */
static size_t count_kept(const struct fetch_run *r)
{
    return r->job->n_set - count_files(r, XD_FILE_SEPARATE);
}

static void name_set(struct fetch_run *r)
{
    const size_t n = count_kept(r);

    snprintf(r->files, sizeof r->files, "%zu file%s", n, n == 1 ? "" : "s");
}

/* Prints a line for each second in which no data arrives. */
static void put_wait(FILE *to, struct fetch_run *r)
{
    char line[sizeof r->waits] = "";

    if (snapshot_waits(&r->snapshot, line, sizeof line) &&
        strcmp(line, r->waits) != 0) {
        text_put(to, line);
        putc('\n', to);
    }
    memcpy(r->waits, line, sizeof line);
}

/* Returns lines to print above the display, or NULL if memory runs out.  The
 * caller frees them. */
static char *new_lines(struct fetch_run *r)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return NULL;
    if (r->job->args->verbose) {
        records_put(to, r->download, &r->snapshot, r->trace);
        put_wait(to, r);
    }
    log_take(&r->log, to);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* Returns the word for this result in the display and the report. */
static const char *outcome_of(int rc)
{
    switch (status_of(rc)) {
    case STATUS_COMPLETE:
        return "complete";
    case STATUS_INTERRUPTED:
        return "interrupted";
    default:
        return "failed";
    }
}

#define TO_CONTINUE "run the same command again to continue"

/* Returns true if another run can continue with the bytes that this run has
 * received. */
static bool has_part(const struct target *t)
{
    return t->part != NULL && t->fd < 0 && target_exists(t->part);
}

static void print_interrupted(const struct fetch_run *r)
{
    const struct target *target = r->job->target;
    char *far = NULL;
    size_t len;
    FILE *to = open_memstream(&far, &len);

    if (to == NULL)
        return;
    view_how_far(to, &r->snapshot);
    if (fclose(to) == 0) {
        if (has_part(target))
            words_error("interrupted at %s; %s stays: " TO_CONTINUE, far,
                        target->part);
        else
            words_error("interrupted at %s", far);
    }
    free(far);
}

/* Returns the outcome to display, or NULL if it need not be displayed.  Each
 * failed file has already been reported in a line. */
static const char *outcome_to_show(const struct fetch_run *r, int rc)
{
    const size_t n = count_kept(r);

    if (rc == XD_E_PIPE ||
        (n < r->job->n_set && n == count_files(r, XD_FILE_FAILED)))
        return NULL;
    return outcome_of(rc);
}

/* Cancels the download at the first signal.  `ticks` is the number of ticks
 * since then. */
static void obey_signals(struct fetch_run *r, unsigned *ticks)
{
    if (!signals_came())
        return;
    if (*ticks == 0)
        xd_download_cancel(r->download);
    if (++*ticks == PATIENCE_TICKS && r->job->target->fd < 0) {
        display_clear(&r->display);
        words_error(
            "received bytes are being synced to the disk; a second Ctrl-C does "
            "not wait for that");
    }
}

/* Waits until the download ends.  Returns its result. */
static int follow(struct fetch_run *r, struct xd_error *err)
{
    unsigned canceled_ticks = 0;

    for (;;) {
        const int rc = xd_download_wait(r->download, TICK_MS, err);
        char *above = new_lines(r);
        trace_look(r->trace);
        if (rc != XD_E_AGAIN) {
            snapshot_take(&r->snapshot, r->download);
            name_set(r);
            display_end(&r->display, &r->snapshot, outcome_to_show(r, rc),
                        above != NULL ? above : "");
            free(above);
            return rc;
        }
        snapshot_glance(&r->snapshot, r->download);
        obey_signals(r, &canceled_ticks);
        if (signals_stop_came()) {
            display_clear(&r->display);
            signals_stop();
        }
        display_update(&r->display, &r->snapshot, above != NULL ? above : "");
        free(above);
    }
}

static int new_download(struct xd_download **out, const struct job *job,
                        const struct xd_options *options, struct xd_error *err)
{
    if (job->n_set > 0)
        return xd_download_new_set(out, job->manifest, job->set, job->n_set, 0,
                                   job->args->directory, options, err);
    if (job->target->fd >= 0)
        return xd_download_new_fd(out, job->manifest, job->file,
                                  job->target->fd, options, err);
    if (job->target->inner != NULL)
        return xd_download_new(
            out, job->manifest, job->file,
            job->args->directory != NULL ? job->args->directory : ".",
            job->target->inner, options, err);
    return xd_download_new(out, job->manifest, job->file, NULL,
                           job->target->path, options, err);
}

int fetch_new(struct xd_download **out, const struct job *job,
              struct xd_error *err)
{
    struct xd_options *replacing;

    if (!job->target->replaces)
        return new_download(out, job, job->args->options, err);
    int rc = xd_options_dup(&replacing, job->args->options, err);
    if (rc < 0)
        return rc;
    rc = xd_options_set(replacing, "force", "yes", err);
    if (rc == 0)
        rc = new_download(out, job, replacing, err);
    xd_options_free(replacing);
    return rc;
}

static int run(struct fetch_run *r, struct xd_error *err)
{
    const struct job *job = r->job;
    int rc;

    rc = fetch_new(&r->download, job, err);
    if (rc < 0)
        return rc;
    snapshot_take(&r->snapshot, r->download);
    r->trace = trace_begin(job->args->tracer, job->name, r->download);
    rc = xd_download_start(r->download, err);
    if (rc < 0)
        return rc;
    return follow(r, err);
}

static bool was_given_up(const struct snapshot_depot *depot)
{
    return depot->state == XD_DEPOT_FAILED && depot->error != NULL;
}

/* If there is no summary, prints a line for each failed depot.  With a single
 * depot, the final error message is enough. */
static void print_failures(const struct snapshot *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_depots; i++)
        n += was_given_up(&s->depots[i]);
    for (size_t i = 0; n > 1 && i < s->n_depots; i++)
        if (was_given_up(&s->depots[i]))
            words_error("%s", s->depots[i].error);
}

static const char *file_outcome(const struct xd_file_progress *p, int rc)
{
    switch (p->state) {
    case XD_FILE_DONE:
        return "complete";
    case XD_FILE_FAILED:
        return "failed";
    case XD_FILE_SEPARATE:
    case XD_FILE_WAITING:
    case XD_FILE_COMPLETE:
        break;
    }
    return outcome_of(rc);
}

/* Returns why the file was not downloaded, or NULL if it was.  `all` is the
 * error of the whole set, or NULL. */
static const char *file_error(const struct xd_file_progress *p, const char *all)
{
    if (p->state == XD_FILE_DONE)
        return NULL;
    return p->state == XD_FILE_FAILED ? p->error.msg : all;
}

static void report_set(const struct fetch_run *r, int rc, const char *error)
{
    struct xd_file_progress p = {.struct_size = sizeof p};
    FILE *to = r->job->report;

    for (size_t i = 0; r->download != NULL &&
                       xd_download_file_progress(r->download, i, &p) == 0;
         i++)
        if (p.state != XD_FILE_SEPARATE)
            report_put_file(to, &p, r->job->args->directory,
                            file_outcome(&p, rc), file_error(&p, error));
    report_put_set(to, &r->snapshot, count_kept(r), outcome_of(rc), error);
}

static void report(const struct fetch_run *r, int rc, const char *error)
{
    const struct job *job = r->job;

    if (job->report == NULL)
        return;
    if (job->n_set > 0)
        report_set(r, rc, error);
    else
        report_put(job->report, &r->snapshot, target_path(job->target),
                   outcome_of(rc), error);
}

static void put_left(const struct job *job, size_t i, uint64_t size)
{
    job->left_sizes[*job->n_left] = size;
    job->left[(*job->n_left)++] = i;
}

/* Records the files that must be downloaded separately. */
static void note_left(const struct fetch_run *r)
{
    struct xd_file_progress p = {.struct_size = sizeof p};

    for (size_t i = 0; i < r->job->n_set && r->download != NULL &&
                       xd_download_file_progress(r->download, i, &p) == 0;
         i++)
        if (p.state == XD_FILE_SEPARATE)
            put_left(r->job, i, p.bytes_total);
}

/* Prints how many files failed.  (Each of them has been reported in a line.)
 * Returns false if no individual file failed.  For a list, the caller counts
 * the failed lines instead. */
static bool print_failed_files(const struct fetch_run *r)
{
    const size_t n = count_files(r, XD_FILE_FAILED);

    if (n > 0 && r->job->args->list == NULL)
        words_error("%zu of %zu files failed", n, count_kept(r));
    if (r->job->n_failed != NULL)
        *r->job->n_failed = n;
    return n > 0;
}

int fetch_file(const struct job *job)
{
    struct fetch_run r = {.job = job};
    struct xd_error err = {.code = XD_OK};
    int rc = XD_E_IO;

    snapshot_init(&r.snapshot);
    r.snapshot.files.n = job->n_set;
    log_init(&r.log, job->args->options, job->args->quiet, job->args->verbose);
    log_forward(&r.log, trace_log, job->args->tracer);
    /* Opening a FIFO may block, so it happens while signals still end the
     * process. */
    const int status = job->n_set > 0 ? 0
                                      : target_open(job->target, job->args,
                                                    err.msg, sizeof err.msg);
    name_set(&r);
    display_init(&r.display, job->args, job->n_set > 0 ? r.files : job->name,
                 job->target);
    signals_watch();
    if (status == 0)
        rc = run(&r, &err);
    trace_end(r.trace, rc, &err);
    log_take(&r.log, stderr);
    if (rc < 0 && status_of(rc) == STATUS_FAILED &&
        !display_sums_up(&r.display))
        print_failures(&r.snapshot);
    if (rc == XD_E_CANCELED)
        print_interrupted(&r);
    else if (rc == XD_E_TIMEOUT && has_part(job->target))
        words_error("%s; " TO_CONTINUE, err.msg);
    else if (rc < 0 && rc != XD_E_PIPE && !print_failed_files(&r))
        advice_print(&err, args_has_login(r.job->args));
    const char *error = rc < 0 ? err.msg : NULL;
    display_result(&r.display, &r.snapshot, outcome_of(rc), error);
    report(&r, rc, error);
    note_left(&r);
    /* freeing may block, so signals must end the process again */
    signals_restore();
    xd_download_unref(r.download);
    log_fini(&r.log);
    snapshot_fini(&r.snapshot);
    return status_of(rc);
}

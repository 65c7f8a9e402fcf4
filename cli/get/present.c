#include "get/present.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>

#include <xdownload/check.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"
#include "tell/display.h"
#include "tell/report.h"

/* A line for people, if they want any. */
static void say(const struct args *a, const char *name, const char *word,
                const char *algorithm)
{
    if (a->quiet || a->progress == PROGRESS_JSON ||
        a->progress == PROGRESS_NONE)
        return;
    text_put(stderr, name);
    fprintf(stderr, ": %s, ", word);
    if (algorithm != NULL)
        fprintf(stderr, "verified with %s%s\n", algorithm,
                xd_hash_is_weak(algorithm) ? ", which is weak" : "");
    else
        fputs("not verified\n", stderr);
}

static void say_why(char *why, size_t size, const struct job *job,
                    const struct xd_checked *c)
{
    struct xd_file file = {.struct_size = sizeof file};
    char what[200];

    (void)xd_manifest_file(job->manifest, job->file, &file);
    if (file.size != XD_SIZE_UNKNOWN && file.size != c->size)
        snprintf(what, sizeof what, "has %" PRIu64 " bytes instead of %" PRIu64,
                 c->size, file.size);
    else if (c->algorithm != NULL)
        snprintf(what, sizeof what, "differs: its %s does not match",
                 c->algorithm);
    else
        snprintf(what, sizeof what, "nothing tells whether it is complete");
    snprintf(why, size,
             "%s exists already, and %s: --force replaces it, and 'xdownload "
             "verify --repair' fetches what is wrong of it",
             job->target->path, what);
}

/* The words for programs. */
static void report(const struct job *job, const struct xd_checked *c,
                   const char *error)
{
    const char *outcome = error == NULL ? "complete" : "failed";
    struct display display;
    struct snapshot s;

    snapshot_init(&s);
    s.progress.bytes_total = s.progress.bytes_done = c->size;
    if (error == NULL) {
        s.progress.bytes_resumed = c->size;
        s.progress.verified = c->algorithm;
    }
    display_init(&display, job->args, job->name, job->target);
    display_result(&display, &s, outcome, error);
    if (job->report != NULL)
        report_put(job->report, &s, job->target->path, outcome, error);
    snapshot_fini(&s);
}

/* A part of a file cannot be held against the hash of the whole. */
static bool may_be_complete(const struct job *job)
{
    const char *force = args_value(job->args, "force");
    struct stat st;

    return job->target->path != NULL &&
           args_value(job->args, "range") == NULL &&
           (force == NULL || strcmp(force, "yes") != 0) &&
           stat(job->target->path, &st) == 0 && S_ISREG(st.st_mode);
}

bool present_ends(const struct job *job, int *out_status)
{
    struct xd_checked checked = {.struct_size = sizeof checked};
    struct xd_check *check;
    struct xd_error err;

    if (!may_be_complete(job))
        return false;
    const int rc =
        xd_check_new(&check, job->manifest, job->file, job->target->path, &err);
    *out_status = status_of(rc);
    if (rc < 0) {
        words_error("%s", err.msg);
        report(job, &checked, err.msg);
        return true;
    }
    xd_check_get(check, &checked);
    if (checked.is_right) {
        say(job->args, job->name,
            checked.algorithm != NULL ? "already complete" : "present",
            checked.algorithm);
        report(job, &checked, NULL);
    } else {
        say_why(err.msg, sizeof err.msg, job, &checked);
        words_error("%s", err.msg);
        report(job, &checked, err.msg);
        *out_status = STATUS_LOCAL;
    }
    xd_check_free(check);
    return true;
}

/* "4096-8191", a line for each run. */
static void put_wrong(const struct xd_check *check)
{
    uint64_t begin, end;

    for (size_t i = 0; xd_check_wrong(check, i, &begin, &end) == 0; i++)
        printf("%" PRIu64 "-%" PRIu64 "\n", begin, end - 1);
}

static int repair(const struct job *job, struct xd_check *check)
{
    struct xd_error err;
    const int rc = xd_check_reopen(check, &err);

    if (rc == 0)
        return fetch_file(job);
    words_error("%s", err.msg);
    return status_of(rc);
}

static int verify(const struct job *job)
{
    struct xd_checked checked = {.struct_size = sizeof checked};
    struct xd_check *check;
    struct xd_error err;
    int status = STATUS_COMPLETE;

    const int rc =
        xd_check_new(&check, job->manifest, job->file, job->target->path, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    xd_check_get(check, &checked);
    if (checked.is_right) {
        say(job->args, job->target->path, "complete", checked.algorithm);
    } else if (checked.n_wrong == 0) {
        words_error("%s: the manifest says neither its size nor its hash",
                    job->target->path);
        status = STATUS_FAILED;
    } else if (job->args->repair) {
        status = repair(job, check);
    } else {
        put_wrong(check);
        words_error("%s is wrong in %zu %s: --repair fetches what is wrong",
                    job->target->path, checked.n_wrong,
                    checked.n_wrong == 1 ? "place" : "places");
        status = STATUS_CORRUPT;
    }
    xd_check_free(check);
    return status;
}

static int verify_in(const struct args *a, struct xd_manifest *m)
{
    struct target target;
    size_t file = 0;

    int status = a->file != NULL ? choose_file(&file, a, m, a->inputs[0]) : 0;
    if (status == 0 && a->file == NULL && xd_manifest_n_files(m) > 1)
        status = words_usage("%s describes %zu files: name one with --file",
                             a->inputs[0], xd_manifest_n_files(m));
    if (status == 0)
        status = target_init(&target, a, NULL, a->inputs[0]);
    if (status != 0)
        return status;
    const struct job job = {.args = a,
                            .manifest = m,
                            .file = file,
                            .name = target_name(&target),
                            .target = &target};
    status = verify(&job);
    target_fini(&target);
    return status;
}

int present_verify(const struct args *a)
{
    struct inputs in;
    struct xd_manifest *m;
    struct xd_error err;

    int status = inputs_init(&in, a);
    if (status == 0) {
        const int rc = inputs_manifest(&in, 0, &m, &err);
        if (rc < 0) {
            words_error("%s", err.msg);
            status = status_of(rc);
        } else {
            status = verify_in(a, m);
            xd_manifest_unref(m);
        }
    }
    inputs_fini(&in);
    return status;
}

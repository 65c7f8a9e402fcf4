/* SPDX-License-Identifier: MIT */
#include "get/present.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include <xdownload/check.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"
#include "report/display.h"
#include "report/report.h"

/* A line for people, if they want any.  `n_samples` of the file agree with what
 * the depots have; 0: none was compared. */
static void print_status(const struct args *a, const char *name,
                         const char *word, const char *algorithm,
                         size_t n_samples, bool is_signed)
{
    if (a->quiet || a->progress == PROGRESS_JSON ||
        a->progress == PROGRESS_NONE)
        return;
    text_put(stderr, name);
    fprintf(stderr, ": %s, ", word);
    if (is_signed)
        fputs("its signature verified", stderr);
    else if (algorithm != NULL)
        fprintf(stderr, "verified with %s%s", algorithm,
                xd_hash_is_weak(algorithm) ? ", which is weak" : "");
    else
        fputs("not verified", stderr);
    if (n_samples > 0)
        fprintf(stderr, ", %zu samples compared", n_samples);
    putc('\n', stderr);
}

void present_print(struct present *p, const struct args *a)
{
    char names[40];

    snprintf(names, sizeof names, "%zu files", p->n);
    if (p->n > 0)
        print_status(a, p->n > 1 ? names : p->name, "already complete",
                     p->algorithm, 0, false);
    free(p->name);
    *p = (struct present){0};
}

/* Those that one algorithm has proved are said together. */
static void add_present(struct present *p, const struct job *job,
                        const char *algorithm)
{
    if (p->n > 0 && strcmp(p->algorithm, algorithm) != 0)
        present_print(p, job->args);
    if (p->n == 0)
        p->name = strdup(job->name);
    if (p->name == NULL) {
        print_status(job->args, job->name, "already complete", algorithm, 0,
                     false);
        return;
    }
    snprintf(p->algorithm, sizeof p->algorithm, "%s", algorithm);
    p->n++;
}

static uint64_t expected_size(const struct job *job)
{
    struct xd_file file = {.struct_size = sizeof file};

    (void)xd_manifest_file(job->manifest, job->file, &file);
    return file.size;
}

/* aria2 writes anywhere into NAME until NAME.aria2 is gone. */
static bool is_unfinished_of_aria2(const struct job *job)
{
    char path[PATH_MAX];
    const int len = snprintf(path, sizeof path, "%s.aria2", job->target->path);

    return len > 0 && (size_t)len < sizeof path && access(path, F_OK) == 0;
}

/* The library's sentence begins with the name that ours begins with. */
static const char *without_name(const char *sentence, const char *path)
{
    const size_t len = strlen(path);

    return strncmp(sentence, path, len) == 0 && sentence[len] == ':'
               ? sentence + len + 2
               : sentence;
}

/* What is wrong with the file that is there, and the ways on. */
static void describe_mismatch(struct xd_error *why, const struct job *job,
                              const struct xd_checked *c)
{
    const uint64_t size = expected_size(job);
    const char *const path = job->target->path;
    char what[700];

    if (is_unfinished_of_aria2(job))
        snprintf(what, sizeof what,
                 "%s.aria2 says that aria2 has not finished it", path);
    else if (why->code < 0)
        snprintf(what, sizeof what, "differs: %s",
                 without_name(why->msg, path));
    else if (size != XD_SIZE_UNKNOWN && size != c->size)
        snprintf(what, sizeof what, "has %" PRIu64 " bytes instead of %" PRIu64,
                 c->size, size);
    else if (c->actual_hash != NULL)
        snprintf(what, sizeof what, "differs: expected %s %s, got %s",
                 c->algorithm, c->expected_hash, c->actual_hash);
    else if (c->algorithm != NULL)
        snprintf(what, sizeof what, "differs: its %s does not match",
                 c->algorithm);
    else
        snprintf(what, sizeof what, "nothing tells whether it is complete");
    const bool is_part = size != XD_SIZE_UNKNOWN && c->size < size &&
                         !is_unfinished_of_aria2(job) && !job->args->adopts;
    why->code = XD_E_IO;
    snprintf(why->msg, sizeof why->msg,
             "%.80s exists already, and %.290s: %s--force replaces it, and "
             "'xdownload verify --repair' fetches only what is wrong",
             path, what, is_part ? "-c goes on with it, " : "");
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
           !target_is_behind_link(job->target) &&
           (force == NULL || strcmp(force, "yes") != 0) &&
           stat(job->target->path, &st) == 0 && S_ISREG(st.st_mode);
}

/* No hash tells: samples of the depots do.  0, or a code with its sentence. */
static int compare(const struct job *job, struct xd_check *check, size_t *out_n,
                   struct xd_error *err)
{
    *out_n = 0;
    *err = (struct xd_error){.code = XD_OK};
    if (is_unfinished_of_aria2(job))
        return XD_E_CORRUPT;
    return xd_check_compare(check, job->args->options, out_n, err);
}

/* Go on with what another program has left, if it is a beginning of the file:
 * it becomes NAME.part. */
static int adopt(const struct job *job, struct xd_check *check,
                 struct xd_error *err)
{
    size_t n;
    const int rc = compare(job, check, &n, err);

    return rc == 0 ? xd_check_reopen(check, err) : rc;
}

/* Whether all is well with the file that is there, or an error says what is
 * not.  *out_goes_on: it is to be fetched now. */
static int judge(const struct job *job, struct xd_check *check,
                 struct present *p, struct xd_checked *checked,
                 bool *out_goes_on, struct xd_error *err)
{
    const bool is_signed = args_wants_signed(job->args);
    size_t n = 0;
    int rc = 0;

    *out_goes_on = false;
    xd_check_get(check, checked);
    if (is_signed && checked->n_wrong == 0) {
        rc = xd_check_signature(check, job->args->options, err);
        if (rc < 0)
            return rc;
    } else if (checked->is_right && checked->algorithm == NULL) {
        rc = compare(job, check, &n, err);
    } else if (!checked->is_right && job->args->adopts &&
               checked->size < expected_size(job)) {
        rc = adopt(job, check, err);
        *out_goes_on = rc == 0;
    } else if (!checked->is_right) {
        rc = XD_E_CORRUPT;
        *err = (struct xd_error){.code = XD_OK};
    }
    if (rc == XD_E_CORRUPT)
        describe_mismatch(err, job, checked);
    else if (rc == 0 && !*out_goes_on && !is_signed &&
             checked->algorithm != NULL)
        add_present(p, job, checked->algorithm);
    else if (rc == 0 && !*out_goes_on)
        print_status(job->args, job->name,
                     is_signed ? "already complete" : "present", NULL, n,
                     is_signed);
    return rc == XD_E_CORRUPT ? XD_E_IO : rc;
}

bool present_ends(const struct job *job, struct present *p, int *out_status)
{
    struct xd_checked checked = {.struct_size = sizeof checked};
    struct xd_check *check;
    struct xd_error err = {.code = XD_OK};
    bool goes_on = false;

    if (!may_be_complete(job))
        return false;
    int rc =
        xd_check_new(&check, job->manifest, job->file, job->target->path, &err);
    if (rc == 0) {
        rc = judge(job, check, p, &checked, &goes_on, &err);
        xd_check_free(check);
    }
    if (goes_on)
        return false;
    if (rc < 0)
        words_error("%s", err.msg);
    report(job, &checked, rc < 0 ? err.msg : NULL);
    *out_status = status_of(rc);
    return true;
}

/* "4096-8191", a line for each run. */
static void put_wrong(const struct xd_check *check)
{
    uint64_t begin, end;

    for (size_t i = 0; xd_check_wrong(check, i, &begin, &end) == 0; i++)
        printf("%" PRIu64 "-%" PRIu64 "\n", begin, end - 1);
}

static void print_wrong(const char *path, const struct xd_checked *c)
{
    if (c->actual_hash != NULL)
        words_error("%s mismatch for %s: expected %s, got %s: --repair fetches "
                    "what is wrong",
                    c->algorithm, path, c->expected_hash, c->actual_hash);
    else
        words_error("%s is wrong in %zu %s: --repair fetches what is wrong",
                    path, c->n_wrong, c->n_wrong == 1 ? "place" : "places");
}

static int fail(const struct xd_error *err)
{
    words_error("%s", err->msg);
    return status_of(err->code);
}

/* What counts as wrong. */
static int refetch(const struct job *job, struct xd_check *check)
{
    struct xd_error err;

    return xd_check_reopen(check, &err) < 0 ? fail(&err) : fetch_file(job);
}

static int repair(const struct job *job, struct xd_check *check)
{
    struct xd_error err;
    size_t n;

    /* If nothing agrees, all of it is fetched. */
    const int rc = compare(job, check, &n, &err);
    return rc == 0 || rc == XD_E_CORRUPT ? refetch(job, check) : fail(&err);
}

/* No hash tells: samples of the depots do. */
static int verify_samples(const struct job *job, struct xd_check *check)
{
    struct xd_error err;
    size_t n;
    const int rc = compare(job, check, &n, &err);

    if (rc == XD_E_CORRUPT && job->args->repair)
        return refetch(job, check);
    if (rc == 0) {
        print_status(job->args, job->target->path, "present", NULL, n, false);
        return STATUS_COMPLETE;
    }
    if (rc == XD_E_CORRUPT)
        put_wrong(check);
    if (err.code < 0)
        return fail(&err);
    words_error("%s.aria2 says that aria2 has not finished the file",
                job->target->path);
    return STATUS_CORRUPT;
}

/* What it holds is all that is to be said, where no hash is wrong. */
static int verify_signature(const struct job *job, const struct xd_check *check,
                            const struct xd_checked *checked)
{
    struct xd_error err;
    const int rc = xd_check_signature(check, job->args->options, &err);

    if (rc < 0)
        words_error("%s", err.msg);
    else
        print_status(job->args, job->target->path, "complete",
                     checked->algorithm, 0, true);
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
    if (args_wants_signed(job->args) && checked.n_wrong == 0)
        status = verify_signature(job, check, &checked);
    else if (checked.is_right && checked.algorithm == NULL)
        status = verify_samples(job, check);
    else if (checked.is_right) {
        print_status(job->args, job->target->path, "complete",
                     checked.algorithm, 0, false);
    } else if (checked.n_wrong == 0) {
        words_error("%s: the manifest says neither its size nor its hash",
                    job->target->path);
        status = STATUS_FAILED;
    } else if (job->args->repair) {
        status = repair(job, check);
    } else {
        put_wrong(check);
        print_wrong(job->target->path, &checked);
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

    int status = inputs_init(&in, a, NULL);
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

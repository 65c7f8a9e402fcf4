/* SPDX-License-Identifier: MIT */
#include "get/present.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/stat.h>
#include <unistd.h>

#include <xdownload/check.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "command/checks.h"
#include "command/manifests.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"
#include "report/display.h"
#include "report/report.h"

/* Prints a line unless the user wants none.  `n_samples` is the number of
 * samples that were compared with the depots and agree. */
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

/* Adds a complete file to `p`.  Files verified by the same algorithm are
 * reported in one line. */
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

/* Returns whether aria2 has not finished the file.  aria2 writes to NAME in any
 * order.  It deletes NAME.aria2 when the file is complete. */
static bool is_unfinished_of_aria2(const struct job *job)
{
    char path[PATH_MAX];
    const int len = snprintf(path, sizeof path, "%s.aria2", job->target->path);

    return len > 0 && (size_t)len < sizeof path && access(path, F_OK) == 0;
}

/* Removes the file name from the beginning of a message of the library, because
 * our message has the name already. */
static const char *without_name(const char *sentence, const char *path)
{
    const size_t len = strlen(path);

    return strncmp(sentence, path, len) == 0 && sentence[len] == ':'
               ? sentence + len + 2
               : sentence;
}

/* Explains what is wrong with the existing file and what the user can do. */
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
             "%.62s exists already%s, and %.290s: %s--force replaces it, %s"
             "'xdownload verify --repair' fetches what is wrong",
             path, job->args->timestamping ? ", is not older" : "", what,
             is_part ? "-c continues it, " : "",
             job->args->timestamping ? "" : "-N if it is older, ");
}

/* ---- a newer version ---- */

#define TIME_SIZE 24

static const char *put_time(char out[TIME_SIZE], int64_t seconds)
{
    const time_t t = (time_t)seconds;
    struct tm utc;

    if (gmtime_r(&t, &utc) == NULL ||
        strftime(out, TIME_SIZE, "%Y-%m-%d %H:%M:%S", &utc) == 0)
        snprintf(out, TIME_SIZE, "%" PRId64, seconds);
    return out;
}

static void describe_outdated(struct xd_error *why, const struct job *job,
                              const struct xd_checked *c)
{
    char here[TIME_SIZE], there[TIME_SIZE];

    char reason[2 * TIME_SIZE + 60];

    if (c->has_new_version)
        snprintf(
            reason, sizeof reason,
            "the server has another version by now than it was fetched from");
    else
        snprintf(reason, sizeof reason,
                 "it is of %s, and the server's of %s UTC",
                 put_time(here, c->modified), put_time(there, c->stated));
    why->code = XD_E_IO;
    snprintf(why->msg, sizeof why->msg,
             "%.200s exists already, and is outdated: %s: -N fetches the "
             "newer one, --force replaces the file in any case",
             job->target->path, reason);
}

/* Returns whether the server has a newer version.  If the server's version is
 * newer, equal samples do not prove that the existing file is the same
 * version. */
static bool is_outdated(const struct xd_checked *c)
{
    return c->has_new_version || (c->stated > c->modified && !c->is_compared);
}

/* Decides whether -N downloads the file.  `is_same` is true if the existing
 * file seems to be the server's version.  If no server states a time, the file
 * is downloaded, as with wget and curl.  Returns 0, or an error code if no
 * server can be asked. */
static int ask_newer(const struct job *job, struct xd_check *check,
                     bool is_same, bool *out, struct xd_error *err)
{
    struct xd_checked c = {.struct_size = sizeof c};
    const int rc = xd_check_ask_time(check, job->args->options, err);

    if (rc < 0)
        return rc;
    xd_check_get(check, &c);
    *out = c.has_new_version ||
           (is_same ? !c.is_compared && (c.stated == 0 || is_outdated(&c))
                    : c.stated == 0 || c.stated >= c.modified);
    return 0;
}

/* With -N, decides whether to download a newer version, which then replaces the
 * file.  `rc` is the result of checking the existing file.  Returns `rc`, or
 * another result if the server has a newer version. */
static int heed_time(const struct job *job, struct xd_check *check, int rc,
                     bool *out_goes_on, struct xd_error *err)
{
    struct xd_checked c = {.struct_size = sizeof c};
    struct xd_error why;
    bool is_newer = false;

    if (job->args->timestamping && (rc == 0 || rc == XD_E_CORRUPT)) {
        const int asked = ask_newer(job, check, rc == 0, &is_newer, &why);
        if (asked < 0) {
            *err = why;
            return asked;
        }
        *out_goes_on = job->target->replaces = is_newer;
        return is_newer ? 0 : rc;
    }
    xd_check_get(check, &c);
    if (!c.has_new_version && (rc != 0 || !is_outdated(&c)))
        return rc;
    describe_outdated(err, job, &c);
    return XD_E_IO;
}

/* Writes the outcome for programs: the last line of the display, and the
 * report. */
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

/* Returns whether an existing file may be the complete file.  With --range it
 * is not, because a hash cannot verify a part of a file. */
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

/* Compares samples with the depots.  Used if there is no hash.  Returns 0, or
 * an error code with a message in *err. */
static int compare(const struct job *job, struct xd_check *check, size_t *out_n,
                   struct xd_error *err)
{
    *out_n = 0;
    *err = (struct xd_error){.code = XD_OK};
    if (is_unfinished_of_aria2(job))
        return XD_E_CORRUPT;
    return xd_check_compare(check, job->args->options, out_n, err);
}

/* Continues a file that another program has begun.  If it is the beginning of
 * the wanted file, renames it to NAME.part. */
static int adopt(const struct job *job, struct xd_check *check,
                 struct xd_error *err)
{
    struct xd_checked checked = {.struct_size = sizeof checked};
    size_t n;
    const int rc = compare(job, check, &n, err);

    xd_check_get(check, &checked);
    if (rc == 0 && is_outdated(&checked)) {
        if (job->args->timestamping)
            return XD_E_CORRUPT;
        describe_outdated(err, job, &checked);
        return XD_E_IO;
    }
    return rc == 0 ? xd_check_reopen(check, err) : rc;
}

/* Finds out whether the existing file is the wanted file, by hash, signature or
 * samples.  Returns 0 if it is; CORRUPT, possibly without a message, if it is
 * not; or another code.  If *out_goes_on is true, its missing bytes must be
 * downloaded. */
static int find_out(const struct job *job, struct xd_check *check,
                    const struct xd_checked *checked, size_t *out_n,
                    bool *out_goes_on, struct xd_error *err)
{
    *out_n = 0;
    *err = (struct xd_error){.code = XD_OK};
    if (args_wants_signed(job->args) && checked->n_wrong == 0)
        return xd_check_signature(check, job->args->options, err);
    if (checked->is_right && checked->algorithm != NULL)
        return 0;
    if (checked->is_right)
        return compare(job, check, out_n, err);
    if (!job->args->adopts || checked->size >= expected_size(job))
        return XD_E_CORRUPT;
    const int rc = adopt(job, check, err);
    *out_goes_on = rc == 0;
    return rc;
}

/* Decides what to do with the existing file.  Returns 0, or an error code with
 * a message in *err.  If *out_goes_on is true, the file must be downloaded. */
static int judge(const struct job *job, struct xd_check *check,
                 struct present *p, struct xd_checked *checked,
                 bool *out_goes_on, struct xd_error *err)
{
    const bool is_signed = args_wants_signed(job->args);
    size_t n;

    *out_goes_on = false;
    xd_check_get(check, checked);
    const bool was_signed = is_signed && checked->n_wrong == 0;
    const bool is_proved =
        was_signed || (checked->is_right && checked->algorithm != NULL);
    int rc = find_out(job, check, checked, &n, out_goes_on, err);
    if (!*out_goes_on && !(is_proved && rc == 0))
        rc = heed_time(job, check, rc, out_goes_on, err);
    if (rc == XD_E_CORRUPT && was_signed)
        return rc;
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

/* Removes the journal of a download that was killed after it had renamed the
 * file. */
static void remove_journal(const struct target *t)
{
    char journal[PATH_MAX];
    const int len = snprintf(journal, sizeof journal, "%s.journal", t->part);

    if (!target_exists(t->part) && len > 0 && (size_t)len < sizeof journal)
        (void)unlink(journal);
}

bool present_ends(const struct job *job, struct present *p, int *out_status)
{
    struct xd_checked checked = {.struct_size = sizeof checked};
    struct xd_check *check;
    struct xd_error err = {.code = XD_OK};
    bool goes_on = false;

    if (!may_be_complete(job))
        return false;
    int rc = xd_check_new(&check, job->manifest, job->file, job->target->path,
                          job->args->options, &err);
    if (rc == 0) {
        rc = judge(job, check, p, &checked, &goes_on, &err);
        xd_check_free(check);
    }
    if (goes_on)
        return false;
    if (rc < 0)
        words_error("%s", err.msg);
    else
        remove_journal(job->target);
    report(job, &checked, rc < 0 ? err.msg : NULL);
    *out_status = status_of(rc);
    return true;
}

bool present_completes(const struct job *job, int *out_status)
{
    struct xd_checked checked = {.struct_size = sizeof checked};
    struct xd_error err;

    if (job->target->path == NULL || target_is_behind_link(job->target))
        return false;
    const int rc =
        xd_check_complete(job->manifest, job->file, job->target->path,
                          job->args->options, &checked, &err);
    if (rc == 0 && !checked.is_right)
        return false;
    if (rc < 0)
        words_error("%s", err.msg);
    else
        print_status(job->args, job->name, "complete", checked.algorithm, 0,
                     false);
    report(job, &checked, rc < 0 ? err.msg : NULL);
    *out_status = status_of(rc);
    return true;
}

/* Prints each wrong range, like "4096-8191". */
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

static bool is_link(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Refuses to repair a file that aria2 has not finished and that has no hash,
 * because any of its bytes may be missing. */
static int begin_repair_of_aria2(const struct job *job)
{
    if (args_is_on(job->args, "force"))
        return STATUS_COMPLETE;
    words_error("%s.aria2 says that aria2 has not finished the file: --force "
                "replaces it",
                job->target->path);
    return STATUS_CORRUPT;
}

/* Downloads the wrong parts to a new file, which then replaces the existing
 * file. */
static int repair(const struct job *job, struct xd_check *check)
{
    struct xd_checked checked = {.struct_size = sizeof checked};
    struct xd_error err;
    int status = STATUS_COMPLETE;

    if (is_link(job->target->path)) {
        words_error("%s is a symbolic link: name the file that it leads to",
                    job->target->path);
        return STATUS_LOCAL;
    }
    xd_check_get(check, &checked);
    if (checked.algorithm == NULL && is_unfinished_of_aria2(job))
        status = begin_repair_of_aria2(job);
    else if (xd_check_begin_repair(check, job->args->options, &err) < 0)
        status = fail(&err);
    if (status != STATUS_COMPLETE)
        return status;
    job->target->replaces = true;
    return fetch_file(job);
}

/* Compares samples with the depots.  Used if there is no hash. */
static int verify_samples(const struct job *job, struct xd_check *check)
{
    struct xd_error err;
    size_t n;
    const int rc = compare(job, check, &n, &err);

    if (rc == XD_E_CORRUPT && job->args->repair)
        return repair(job, check);
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

/* Checks the signature.  Called if no hash is wrong. */
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

    const int rc = xd_check_new(&check, job->manifest, job->file,
                                job->target->path, job->args->options, &err);
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

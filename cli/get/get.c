/* SPDX-License-Identifier: MIT */
#include "get/get.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include <xdownload/check.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "command/checks.h"
#include "command/lists.h"
#include "command/manifests.h"
#include "common/output.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "get/fetch.h"
#include "get/plan.h"
#include "get/present.h"
#include "get/set.h"
#include "report/report.h"

/* room for two paths from the library, each at most 1024 bytes */
#define PLACE_SIZE 2100

#define NO_LINE UINT32_MAX

struct get {
    const struct args *args;
    /* current line of --input-file, or NULL; and the checksums that apply to
     * the files of all lines */
    const struct xd_listed *listed;
    const struct xd_checksums *common;
    struct set set; /* files collected so far, to be downloaded together */
    bool is_alone;  /* if true, collect no files */
    struct present present;
    const struct xd_list *list; /* list of --input-file, or NULL */
    /* number of the current line; NO_LINE: the input is not from a list, or its
     * path is already known */
    uint32_t line;
    FILE *report; /* NULL: no report is written */
    /* status of the first failure; an interruption takes precedence */
    int status;
    /* number of failed files, sets, and inputs without a file */
    size_t n_failed;
    size_t n_failed_in_sets;
};

static void note(struct get *g, int status)
{
    if (g->status == STATUS_COMPLETE || status == STATUS_INTERRUPTED)
        g->status = status;
    g->n_failed += status != STATUS_COMPLETE;
}

static void get_set(struct get *g);
static void get_listed(struct get *g, const struct xd_listed *l);
static void get_alone(struct get *g, struct xd_manifest *m, size_t i,
                      const char *path, const char *input);

/* Returns false after a signal.  Call it before each file. */
static bool goes_on(struct get *g)
{
    if (!signals_came())
        return true;
    note(g, STATUS_INTERRUPTED);
    return false;
}

/* Reports an input that has yielded no file.  First downloads the files
 * collected before it. */
static void note_input(struct get *g, int status, const char *error)
{
    struct snapshot nothing;

    get_set(g);
    note(g, status);
    if (g->report == NULL)
        return;
    snapshot_init(&nothing);
    report_put(g->report, &nothing, NULL, "failed", error);
    snapshot_fini(&nothing);
}

/* Returns the path of a file below the output folder.  `path` is its path in
 * the manifest.  `out` has room for two paths. */
static const char *place(const struct get *g, const char *path,
                         char out[PLACE_SIZE])
{
    const struct xd_listed *l = g->listed;

    if (l == NULL || (path == NULL && l->name == NULL))
        return path;
    snprintf(out, PLACE_SIZE, "%s%s%s", l->directory,
             l->directory[0] != '\0' ? "/" : "",
             l->name != NULL ? l->name : path);
    return out;
}

/* Downloads a file that could not be part of a set.  If it is from a line of a
 * list, finds out first whether the line names a manifest. */
static void get_left(struct get *g, const struct set *s, size_t i)
{
    const struct set_file f = set_get(s, i);
    struct xd_listed l = {.struct_size = sizeof l};

    if (g->list == NULL || f.line == NO_LINE)
        get_alone(g, f.manifest, f.file, f.path, "");
    else if (xd_list_file(g->list, f.line, &l) == 0)
        get_listed(g, &l);
}

/* Adds a file to the set `next`, now that its size is known.  The file is from
 * a line with one URL.  Returns false if it cannot be part of a set. */
static bool may_follow(struct get *g, const struct set *s, size_t i,
                       uint64_t size, struct set *next)
{
    const struct set_file f = set_get(s, i);
    struct xd_listed l = {.struct_size = sizeof l};
    struct xd_manifest *m, *placed;
    const size_t first = 0;
    struct xd_error err;

    if (g->list == NULL || f.line == NO_LINE ||
        !set_takes_sized(g->args, size, f.path) ||
        xd_list_file(g->list, f.line, &l) < 0 ||
        xd_manifest_from_urls(&m, l.urls, 1, size, &err) < 0)
        return false;
    const int rc = xd_manifest_gather(&placed, &m, &first, &f.path, 1, &err);
    const bool is_added = rc == 0 && set_add(next, placed, 0, f.path, f.line);
    xd_manifest_unref(placed);
    xd_manifest_unref(m);
    return is_added;
}

static void get_all_left(struct get *g, const struct set *s,
                         const struct set_outcome *out);

/* Downloads the collected files as a set.  A single file is downloaded on its
 * own. */
static void get_set(struct get *g)
{
    struct set set = g->set;
    struct set_outcome out = {0};
    const bool was_alone = g->is_alone;

    present_print(&g->present, g->args);
    g->set = (struct set){0};
    g->is_alone = true;
    if (set.n == 1)
        get_left(g, &set, 0);
    else if (set.n > 1 && goes_on(g))
        note(g, set_fetch(&set, g->args, g->report, &out));
    g->n_failed_in_sets += out.n_failed;
    get_all_left(g, &set, &out);
    g->is_alone = was_alone;
    free(out.left);
    free(out.left_sizes);
    set_clear(&set);
}

/* Downloads the files that could not be part of a set.  Files whose sizes are
 * known now are downloaded together. */
static void get_all_left(struct get *g, const struct set *s,
                         const struct set_outcome *out)
{
    struct set next = {0};
    struct set_outcome after = {0};
    bool *const follow = calloc(out->n_left + 1, sizeof *follow);

    for (size_t i = 0; follow != NULL && i < out->n_left; i++)
        follow[i] = may_follow(g, s, out->left[i], out->left_sizes[i], &next);
    if (next.n > 0 && goes_on(g))
        note(g, set_fetch(&next, g->args, g->report, &after));
    g->n_failed_in_sets += after.n_failed;
    for (size_t i = 0; i < out->n_left && goes_on(g); i++)
        if (follow == NULL || !follow[i])
            get_left(g, s, out->left[i]);
    for (size_t i = 0; i < after.n_left && goes_on(g); i++)
        get_left(g, &next, after.left[i]);
    free(follow);
    free(after.left);
    free(after.left_sizes);
    set_clear(&next);
}

/* Downloads a file, unless it exists already.  If it is already complete, the
 * collected files can wait for more files. */
static void get_job(struct get *g, const struct job *job)
{
    int status;

    if (g->args->dry_run) {
        note(g, plan_print(job));
        return;
    }
    const bool has_ended = present_ends(job, &g->present, &status) ||
                           present_completes(job, &status);
    if (!has_ended || status != STATUS_COMPLETE)
        get_set(g);
    if (has_ended)
        note(g, status);
    else if (goes_on(g))
        note(g, fetch_file(job));
}

/* Downloads a file that is not part of a set.  `path` is its path below the
 * output folder, or NULL if unknown. */
static void get_alone(struct get *g, struct xd_manifest *m, size_t i,
                      const char *path, const char *input)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct target target;

    if (!goes_on(g) || xd_manifest_file(m, i, &file) < 0)
        return;
    const int status = target_init(&target, g->args, path, input);
    if (status != 0) {
        note_input(g, status, "the file has no name");
        return;
    }
    const struct job job = {
        .args = g->args,
        .manifest = m,
        .file = i,
        .name = target.path == NULL && file.name != NULL ? file.name
                                                         : target_name(&target),
        .target = &target,
        .report = g->report,
    };
    get_job(g, &job);
    target_fini(&target);
}

/* Adds the file to the collected files, if it can be part of a set.  Returns
 * whether it was added. */
static bool may_wait(struct get *g, struct xd_manifest *m, size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};
    char placed[PLACE_SIZE];

    if (g->is_alone || xd_manifest_file(m, i, &file) < 0)
        return false;
    const char *path = place(g, file.path, placed);
    if (path != NULL && set_has(&g->set, path))
        get_set(g);
    return set_takes(g->args, m, i, path) &&
           set_add(&g->set, m, i, path, g->line);
}

static void get_by_itself(struct get *g, struct xd_manifest *m, size_t i,
                          const char *input)
{
    struct xd_file file = {.struct_size = sizeof file};
    char placed[PLACE_SIZE];

    if (xd_manifest_file(m, i, &file) == 0)
        get_alone(g, m, i, place(g, file.path, placed), input);
}

static void get_file(struct get *g, struct xd_manifest *m, size_t i,
                     const char *input)
{
    if (!may_wait(g, m, i))
        get_by_itself(g, m, i, input);
}

/* Adds all files that can be part of a set first.  Files that cannot do not
 * interrupt the collecting. */
static void get_all_files(struct get *g, struct xd_manifest *m,
                          const char *input)
{
    const size_t n = xd_manifest_n_files(m);
    bool *const waits = calloc(n + 1, sizeof *waits);

    for (size_t i = 0; waits != NULL && i < n; i++)
        waits[i] = may_wait(g, m, i);
    for (size_t i = 0; i < n && goes_on(g); i++)
        if (waits == NULL || !waits[i])
            get_by_itself(g, m, i, input);
    free(waits);
}

static void get_manifest(struct get *g, struct xd_manifest *m,
                         const char *input)
{
    const size_t n = xd_manifest_n_files(m);

    if (!g->args->quiet)
        words_warnings(m);
    if (g->args->file != NULL) {
        size_t i;
        const int status = choose_file(&i, g->args, m, input);
        if (status == 0)
            get_file(g, m, i, input);
        else
            note_input(g, status, "no file of that name");
        return;
    }
    if (n > 1 && g->args->output != NULL) {
        note_input(g,
                   words_usage("%s describes %zu files, and --output names "
                               "one: use --directory or --file",
                               input, n),
                   "several files, and one --output");
        return;
    }
    if (n > 1 && g->listed != NULL && g->listed->name != NULL) {
        note_input(g,
                   words_usage("%s describes %zu files, and out=%s names one: "
                               "dir= puts them into a folder",
                               input, n, g->listed->name),
                   "several files, and one out=");
        return;
    }
    get_all_files(g, m, input);
    struct xd_manifest_info info = {.struct_size = sizeof info};
    xd_manifest_info(m, &info);
    const size_t n_left_out = info.n_left_out;
    if (n_left_out > 0) {
        words_error("%s: %zu of its %zu files %s left out: no source of %s can "
                    "be used",
                    input, n_left_out, n + n_left_out,
                    n_left_out == 1 ? "is" : "are",
                    n_left_out == 1 ? "it" : "them");
        note_input(g, STATUS_FAILED, "files without a source are left out");
    }
}

static void get_input(struct get *g, const struct inputs *in, size_t i)
{
    struct xd_manifest *m;
    struct xd_error err;

    const int rc = inputs_manifest(in, i, &m, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        note_input(g, status_of(rc), err.msg);
        return;
    }
    get_manifest(g, m, g->args->inputs[i]);
    xd_manifest_unref(m);
}

/* Returns true if the inputs are URLs of one file, its name is from the URLs or
 * from --output, and its checksums are given as values. */
static bool has_plain_name(const struct get *g)
{
    const struct args *a = g->args;

    for (size_t i = 0; i < a->n_checksums; i++)
        if (!xd_checksum_is_value(a->checksums[i]))
            return false;
    return a->urls && !a->are_manifests && !a->dry_run && g->common == NULL &&
           !args_wants_signed(a) && !args_is_on(a, "content-disposition");
}

/* Returns a manifest of the URLs with the checksums, without asking a server.
 * Returns NULL on failure.  The error is reported when the inputs are handled
 * normally. */
static struct xd_manifest *plain_manifest(const struct args *a)
{
    struct xd_checksums *checksums = NULL;
    struct xd_manifest *m, *with = NULL;

    if (xd_manifest_from_urls(&m, a->inputs, a->n_inputs, XD_SIZE_UNKNOWN,
                              NULL) < 0)
        return NULL;
    if (a->n_checksums == 0)
        return m;
    int rc = xd_checksums_new(&checksums, NULL);
    for (size_t i = 0; rc == 0 && i < a->n_checksums; i++)
        rc = xd_checksums_add(checksums, a->checksums[i], NULL);
    if (rc == 0 && xd_checksums_apply(&with, checksums, m, 0, NULL) < 0)
        with = NULL;
    xd_checksums_free(checksums);
    xd_manifest_unref(m);
    return with;
}

/* Returns true if nothing must be downloaded, because an earlier run has all
 * bytes, but they did not match its checksum.  Reports the result then. */
static bool ends_unfinished(struct get *g, const struct job *job)
{
    struct xd_error err;
    int status, rc;

    if (job->args->n_checksums > 0) {
        if (!present_completes(job, &status))
            return false;
        get_set(g);
        note(g, status);
        return true;
    }
    if (job->target->path == NULL)
        return false;
    rc = xd_check_unfinished(job->target->path, job->args->options, &err);
    if (rc == 0)
        return false;
    words_error("%s", err.msg);
    note_input(g, status_of(rc), err.msg);
    return true;
}

/* Like ends_unfinished(), for the inputs.  If it returns true, no server needs
 * to be asked. */
static bool end_unfinished(struct get *g)
{
    struct xd_file file = {.struct_size = sizeof file};
    const struct args *a = g->args;
    struct xd_manifest *const m = has_plain_name(g) ? plain_manifest(a) : NULL;
    struct target target;
    char placed[PLACE_SIZE];
    bool ends = false;

    if (m != NULL && xd_manifest_file(m, 0, &file) == 0 && file.path != NULL &&
        target_init(&target, a, place(g, file.path, placed), a->inputs[0]) ==
            0) {
        const struct job job = {.args = a,
                                .manifest = m,
                                .name = target_name(&target),
                                .target = &target,
                                .report = g->report};
        ends = ends_unfinished(g, &job);
        target_fini(&target);
    }
    xd_manifest_unref(m);
    return ends;
}

static void get_inputs(struct get *g)
{
    struct inputs in;

    if (end_unfinished(g))
        return;
    const int status = inputs_init(&in, g->args, g->common);
    if (status != 0)
        note_input(g, status, in.why);
    else if (g->args->output != NULL && in.n > 1)
        note_input(g,
                   words_usage("--output names one file, but there are %zu "
                               "manifests: use --directory",
                               in.n),
                   "several manifests, and one --output");
    else
        for (size_t i = 0; i < in.n && goes_on(g); i++)
            get_input(g, &in, i);
    inputs_fini(&in);
}

/* Handles a line of the list like a command whose arguments are the line's
 * URLs. */
static void get_listed(struct get *g, const struct xd_listed *l)
{
    const struct args *const all = g->args;
    const struct xd_listed *const before = g->listed;
    struct args one = *all;

    one.inputs = l->urls;
    one.n_inputs = l->n_urls;
    one.urls = true;
    one.n_checksums = 0;
    if (l->checksum != NULL)
        one.checksums[one.n_checksums++] = l->checksum;
    g->args = &one;
    g->listed = l;
    get_inputs(g);
    g->args = all;
    g->listed = before;
}

/* Adds the file of a line to the collected files, without asking its server
 * whether it is a manifest.  A line with a checksum or several URLs cannot be
 * added in this way.  Returns whether the file was added. */
static bool get_at_once(struct get *g, const struct xd_listed *l,
                        struct xd_manifest *all, uint32_t line)
{
    if (all == NULL || l->n_urls != 1 || l->checksum != NULL)
        return false;
    g->line = line;
    const bool is_taken = may_wait(g, all, line);
    g->line = NO_LINE;
    return is_taken;
}

/* Returns one manifest with the files of all lines, or NULL if each line must
 * be examined separately. */
static struct xd_manifest *list_manifest(const struct get *g,
                                         const struct xd_list *list)
{
    struct xd_manifest *m;

    if (g->common != NULL || g->args->are_manifests || g->args->dry_run ||
        args_is_on(g->args, "content-disposition") ||
        xd_list_manifest(&m, list, NULL) < 0)
        return NULL;
    return m;
}

static void get_files(struct get *g, const struct xd_list *list)
{
    const size_t n = xd_list_n_files(list);
    struct xd_manifest *const all = list_manifest(g, list);
    size_t n_failed = 0;

    g->list = list;
    for (size_t i = 0; i < n && goes_on(g); i++) {
        struct xd_listed l = {.struct_size = sizeof l};
        const size_t before = g->n_failed;
        if (xd_list_file(list, i, &l) == 0 &&
            !get_at_once(g, &l, all, (uint32_t)i))
            get_listed(g, &l);
        n_failed += g->n_failed > before;
    }
    get_set(g);
    xd_manifest_unref(all);
    n_failed += g->n_failed_in_sets;
    if (n_failed > 0 && n > 1 && g->status != STATUS_INTERRUPTED)
        words_error("%s: %zu of %zu lines failed",
                    strcmp(g->args->list, "-") == 0 ? "standard input"
                                                    : g->args->list,
                    n_failed, n);
}

static int read_list(struct xd_list **out, const struct args *a)
{
    struct xd_error err;
    const int rc =
        xd_list_read(out, a->list, args_is_on(a, "content-disposition"), &err);

    if (rc < 0)
        words_error("%s", err.msg);
    else if (!a->quiet)
        words_list_warnings(*out);
    return status_of(rc);
}

static int check_common(const struct args *a, const struct xd_checksums *common,
                        const struct xd_list *list)
{
    if (common == NULL || !xd_checksums_are_of_one(common) ||
        xd_list_n_files(list) == 1)
        return 0;
    return words_usage(
        "a --checksum without a name is of one file, and %s lists "
        "%zu: write checksum=TYPE=HEX in an indented line below "
        "a URL",
        a->list, xd_list_n_files(list));
}

static void get_list(struct get *g)
{
    struct xd_checksums *common = NULL;
    struct xd_list *list;
    struct xd_error err;

    int status = read_list(&list, g->args);
    if (status == 0)
        status = inputs_checksums(&common, g->args, &err);
    if (status == 0)
        status = check_common(g->args, common, list);
    g->common = common;
    if (status == 0)
        get_files(g, list);
    else
        note_input(g, status, "the list cannot be used");
    g->common = NULL;
    xd_checksums_free(common);
    xd_list_free(list);
}

static int check_directory(const char *path)
{
    struct stat st;

    if (path == NULL)
        return 0;
    if (stat(path, &st) < 0 && errno == ENOENT)
        words_error("there is no folder %s: make it first", path);
    else if (stat(path, &st) < 0)
        words_error("%s: %s", path, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        words_error("%s is not a folder: --directory takes one, --output a "
                    "file",
                    path);
    else
        return 0;
    return STATUS_LOCAL;
}

int get_all(const struct args *a)
{
    struct get g = {.args = a, .line = NO_LINE};

    g.status = check_directory(a->directory);
    /* a dry run writes no report */
    if (g.status == 0 && !a->dry_run)
        g.status = output_open_report(&g.report, a->report);
    if (g.status != 0)
        return g.status;
    if (a->list != NULL)
        get_list(&g);
    else
        get_inputs(&g);
    get_set(&g);
    const int closed = output_close_report(g.report, a->report);
    if (closed != 0)
        note(&g, closed);
    return g.status;
}

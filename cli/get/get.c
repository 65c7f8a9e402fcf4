#include "get/get.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "get/fetch.h"
#include "get/plan.h"
#include "get/present.h"
#include "tell/report.h"

struct get {
    const struct args *args;
    FILE *report; /* NULL: none is wanted */
    int status;   /* of the first that failed; an interruption outdoes it */
};

static void note(struct get *g, int status)
{
    if (g->status == STATUS_COMPLETE || status == STATUS_INTERRUPTED)
        g->status = status;
}

/* Asked before each file. */
static bool goes_on(struct get *g)
{
    if (!signals_came())
        return true;
    note(g, STATUS_INTERRUPTED);
    return false;
}

/* A manifest that comes to nothing has its line in the report too. */
static void note_input(struct get *g, int status, const char *error)
{
    struct snapshot nothing;

    note(g, status);
    if (g->report == NULL)
        return;
    snapshot_init(&nothing);
    report_put(g->report, &nothing, NULL, "failed", error);
    snapshot_fini(&nothing);
}

static void get_file(struct get *g, struct xd_manifest *m, size_t i,
                     const char *input)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct target target;

    if (xd_manifest_file(m, i, &file) < 0)
        return;
    const int status = target_init(&target, g->args, file.path, input);
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
    int ended;
    if (g->args->dry_run)
        note(g, plan_print(&job));
    else
        note(g, present_ends(&job, &ended) ? ended : fetch_file(&job));
    target_fini(&target);
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
    if (g->args->output != NULL && n > 1) {
        note_input(g,
                   words_usage("%s describes %zu files, and --output names "
                               "one: use --directory or --file",
                               input, n),
                   "several files, and one --output");
        return;
    }
    for (size_t i = 0; i < n && goes_on(g); i++)
        get_file(g, m, i, input);
    const size_t n_left_out = xd_manifest_n_left_out(m);
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

static void get_inputs(struct get *g)
{
    struct inputs in;

    const int status = inputs_init(&in, g->args);
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

static int check_directory(const char *path)
{
    struct stat st;

    if (path == NULL)
        return 0;
    if (stat(path, &st) < 0)
        words_error("%s: %s", path, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        words_error("%s is no folder", path);
    else
        return 0;
    return STATUS_LOCAL;
}

/* "/dev/fd/3", as shells write it: the descriptor, which is not opened anew;
 * or -1. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t len = strlen(folders[i]);
        int fd, end = 0;

        if (strncmp(path, folders[i], len) == 0 &&
            sscanf(path + len, "%9d%n", &fd, &end) == 1 &&
            path[len + (size_t)end] == '\0' && fd >= 0)
            return fd;
    }
    return -1;
}

/* Whoever may write to the folder may put a link there, which could lead to
 * any file of ours: it is not followed. */
static int open_without_links(const char *path)
{
    const int named = named_descriptor(path);

    if (named >= 0)
        return fcntl(named, F_DUPFD_CLOEXEC, 0);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                0666);
}

static int open_report(FILE **out, const char *path)
{
    *out = NULL;
    if (path == NULL)
        return 0;
    if (strcmp(path, "-") == 0) {
        *out = stderr;
        return 0;
    }
    const int fd = open_without_links(path);
    if (fd >= 0)
        *out = fdopen(fd, "w");
    if (*out != NULL)
        return 0;
    words_error("%s: the report cannot be written: %s", path,
                errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    if (fd >= 0)
        close(fd);
    return STATUS_LOCAL;
}

static void close_report(struct get *g)
{
    if (g->report == NULL || g->report == stderr)
        return;
    const int failed = ferror(g->report);
    if (fclose(g->report) == 0 && !failed)
        return;
    words_error("%s: the report could not be written", g->args->report);
    note(g, STATUS_LOCAL);
}

int get_all(const struct args *a)
{
    struct get g = {.args = a};

    g.status = check_directory(a->directory);
    /* A dry run writes nothing at all. */
    if (g.status == 0 && !a->dry_run)
        g.status = open_report(&g.report, a->report);
    if (g.status != 0)
        return g.status;
    get_inputs(&g);
    close_report(&g);
    return g.status;
}

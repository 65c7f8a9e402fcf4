/* SPDX-License-Identifier: MIT */
#include "put/put.h"

#include <stdlib.h>
#include <string.h>

#include <xdpublish/upload.h>

#include "args/target.h"
#include "common/advice.h"
#include "common/log.h"
#include "common/output.h"
#include "common/signals.h"
#include "common/snapshot.h"
#include "common/status.h"
#include "common/words.h"
#include "put/put_report.h"
#include "put/readable.h"
#include "report/display.h"
#include "report/view.h"

/* milliseconds between updates of the display and checks for signals */
#define TICK_MS 100

struct put {
    const struct args *args;
    const char *name; /* name of the file */
    struct target to; /* path of the manifest */
    upload_make *make;
    void *user;
    struct json *json; /* the JSON object that gets the report, or NULL */
    struct xd_upload *upload;
    struct snapshot snapshot;
    struct log log;
    struct display display;
};

/* Returns "FILE.xnd", a path in the current folder. */
static char *default_manifest(const char *name)
{
    const size_t size = strlen(name) + sizeof ".xnd";
    char *path = malloc(size);

    if (path != NULL)
        snprintf(path, size, "%s.xnd", name);
    return path;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int make(struct put *p, struct xd_error *err)
{
    const struct publish_args *a = &p->args->publish;
    const struct xd_upload_wish wish = {.struct_size = sizeof wish,
                                        .stores = a->stores,
                                        .n_stores = a->n_stores,
                                        .manifest = p->to.path,
                                        .format = p->args->format,
                                        .copies = (unsigned)a->copies,
                                        .stripes = a->stripes,
                                        .extent_bytes = a->extent,
                                        .presign_s = (uint64_t)a->presign_s,
                                        .lifetime_s = (uint64_t)a->lifetime_s,
                                        .code = a->code};

    return p->make(&p->upload, p->user, &wish, p->args->options, err);
}

/* Returns lines to print above the display, or NULL if memory runs out.  The
 * caller frees them. */
static char *new_lines(struct put *p)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return NULL;
    if (p->args->verbose)
        put_records(to, p->upload);
    log_take(&p->log, to);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

static const char *outcome_of(int rc)
{
    if (rc == 0)
        return "complete";
    return rc == XD_E_CANCELED ? "interrupted" : "failed";
}

/* Waits until the upload ends.  Returns its result. */
static int follow(struct put *p, struct xd_error *err)
{
    bool was_canceled = false;

    for (;;) {
        const int rc = xd_upload_wait(p->upload, TICK_MS, err);
        char *above = new_lines(p);
        put_snapshot(&p->snapshot, p->upload);
        if (rc != XD_E_AGAIN) {
            snapshot_forget_errors(&p->snapshot); /* these errors were logged */
            display_end(&p->display, &p->snapshot, outcome_of(rc),
                        above != NULL ? above : "");
            free(above);
            return rc;
        }
        if (signals_came() && !was_canceled) {
            was_canceled = true;
            xd_upload_cancel(p->upload);
        }
        if (signals_stop_came()) {
            display_clear(&p->display);
            signals_stop();
        }
        display_update(&p->display, &p->snapshot, above != NULL ? above : "");
        free(above);
    }
}

static void print_interrupted(const struct put *p)
{
    char *far = NULL;
    size_t len;
    FILE *to = open_memstream(&far, &len);

    if (to == NULL)
        return;
    view_how_far(to, &p->snapshot);
    if (fclose(to) == 0)
        words_error("interrupted at %s: the same command goes on from there",
                    far);
    free(far);
}

static bool uses_s3(const struct args *a)
{
    for (size_t i = 0; i < a->publish.n_stores; i++)
        if (strncmp(a->publish.stores[i], "s3:", 3) == 0)
            return true;
    return false;
}

/* Prints the names of both manifests, and who can use the public manifest. */
static void print_manifests(const struct put *p)
{
    const char *path = p->to.path;
    const char *hidden = xd_upload_private_path(p->upload);
    const char *presign = uses_s3(p->args)
                              ? ", or give --presign TIME, which names them by "
                                "URLs that anybody can read"
                              : "";
    struct readable readable;

    readable_find(&readable, path, p->args);
    if (readable.n_closed > 0)
        words_warning(0,
                      "%s: nobody can read the copies on %s without keys or a "
                      "login: let everybody read the objects%s",
                      path, readable.closed, presign);
    fprintf(stderr, "%s: %s; %s manages the copies, and is a secret\n", path,
            readable.n_closed == 0 || readable.n_closed < readable.n_asked
                ? "to hand out"
                : "for those who have the keys",
            hidden);
}

static void write_report(const struct put *p, FILE *report, int rc,
                         const struct xd_error *err)
{
    const char *error = rc < 0 ? err->msg : NULL;
    struct json j;

    if (p->upload == NULL)
        return;
    if (report != NULL) {
        json_begin(&j, report);
        put_report(&j, p->upload, p->to.path, outcome_of(rc), error);
        json_finish(&j);
    }
    if (p->json != NULL)
        put_report(p->json, p->upload, p->to.path, outcome_of(rc), error);
}

static int run(struct put *p, FILE *report)
{
    struct xd_error err = {.code = XD_OK};
    int rc = make(p, &err);

    if (rc == 0) {
        put_snapshot(&p->snapshot, p->upload);
        rc = xd_upload_start(p->upload, &err);
    }
    if (rc == 0)
        rc = follow(p, &err);
    log_take(&p->log, stderr);
    if (rc == XD_E_CANCELED)
        print_interrupted(p);
    else if (rc < 0)
        advice_print(&err, args_has_login(p->args));
    display_result(&p->display, &p->snapshot, outcome_of(rc),
                   rc < 0 ? err.msg : NULL);
    if (rc == 0 && !p->args->quiet)
        print_manifests(p);
    write_report(p, report, rc, &err);
    return status_of(rc);
}

int put_run(const struct args *a, const char *name, const char *manifest,
            upload_make *make_upload, void *user, struct json *json)
{
    struct put p = {.args = a,
                    .json = json,
                    .name = name,
                    .to = {.fd = -1, .path = strdup(manifest)},
                    .make = make_upload,
                    .user = user};
    FILE *report;
    int status = output_open_report(&report, a->report);

    if (status == 0 && p.to.path == NULL) {
        words_error("out of memory");
        status = STATUS_FAILED;
    }
    if (status != 0) {
        free(p.to.path);
        return status;
    }
    snapshot_init(&p.snapshot);
    log_init(&p.log, a->options, a->quiet, a->verbose);
    display_init(&p.display, a, name, &p.to);
    signals_watch();
    status = run(&p, report);
    const int closed = output_close_report(report, a->report);
    signals_restore();
    xd_upload_free(p.upload);
    log_fini(&p.log);
    snapshot_fini(&p.snapshot);
    free(p.to.path);
    return status != 0 ? status : closed;
}

static int make_file(struct xd_upload **out, void *user,
                     const struct xd_upload_wish *wish,
                     const struct xd_options *o, struct xd_error *err)
{
    return xd_upload_new(out, user, wish, o, err);
}

int put_file(const struct args *a)
{
    char *path = strdup(a->inputs[0]);
    const char *name = base_name(a->inputs[0]);
    char *manifest =
        a->output != NULL ? strdup(a->output) : default_manifest(name);
    int status = STATUS_FAILED;

    if (path != NULL && manifest != NULL)
        status = put_run(a, name, manifest, make_file, path, NULL);
    else
        words_error("out of memory");
    free(path);
    free(manifest);
    return status;
}

static int make_copies(struct xd_upload **out, void *user,
                       const struct xd_upload_wish *wish,
                       const struct xd_options *o, struct xd_error *err)
{
    (void)user;
    return xd_upload_new_copies(out, wish, o, err);
}

int put_copies(const struct args *a)
{
    return put_run(a, base_name(a->inputs[0]), a->inputs[0], make_copies, NULL,
                   NULL);
}

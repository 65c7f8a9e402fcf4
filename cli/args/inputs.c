#include "args/inputs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include "args/choose.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"

enum kind {
    MANIFEST, /* also one that was not understood */
    REPLICA,
    UNASKED /* it could not be reached, or was too slow */
};

static enum kind kind_of(const struct xd_inspected *asked)
{
    if (asked->manifest != NULL || asked->error.code == XD_E_MANIFEST)
        return MANIFEST;
    return asked->error.code == XD_OK ? REPLICA : UNASKED;
}

static int fail(struct inputs *in, int status, const char *why)
{
    snprintf(in->why, sizeof in->why, "%s", why);
    return status;
}

/* Ask `n` URLs from the `first` one on. */
static int ask(struct inputs *in, size_t first, size_t n)
{
    const struct args *a = in->args;
    struct xd_inspection *found;
    struct xd_error err;

    const int rc = xd_inspect(&found, a->inputs + first, n, a->are_manifests,
                              a->options, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return fail(in, status_of(rc), err.msg);
    }
    for (size_t i = 0; i < n; i++) {
        struct xd_inspected *asked = &in->asked[first + i];
        asked->struct_size = sizeof *asked;
        if (xd_inspection_get(found, i, asked) == 0 && asked->manifest != NULL)
            xd_manifest_ref(asked->manifest);
    }
    xd_inspection_free(found);
    return 0;
}

/* The first URL of a kind, or n_inputs. */
static size_t first_of(const struct inputs *in, enum kind kind)
{
    size_t i = 0;

    while (i < in->args->n_inputs && kind_of(&in->asked[i]) != kind)
        i++;
    return i;
}

/* A manifest that is only slow is not to be left out as a slow copy is. */
static int ask_the_slow_again(struct inputs *in)
{
    for (size_t i = 0; i < in->args->n_inputs; i++) {
        const int status =
            in->asked[i].error.code == XD_E_AGAIN ? ask(in, i, 1) : 0;
        if (status != 0)
            return status;
    }
    return 0;
}

static int say_none_answered(struct inputs *in)
{
    for (size_t i = 0; i < in->args->n_inputs; i++)
        words_error("%s", in->asked[i].error.msg);
    return fail(in, STATUS_FAILED, in->asked[0].error.msg);
}

/* The size on which all agree that told one: that of no file, if they differ.
 */
static void find_size(struct inputs *in)
{
    bool is_known = false;

    for (size_t i = 0; i < in->args->n_inputs; i++) {
        const struct xd_inspected *asked = &in->asked[i];
        if (kind_of(asked) != REPLICA || asked->size == XD_SIZE_UNKNOWN)
            continue;
        if (is_known && asked->size != in->size) {
            in->size = XD_SIZE_UNKNOWN;
            return;
        }
        in->size = asked->size;
        is_known = true;
    }
}

/* From what the URLs lead to, what they are. */
static int judge(struct inputs *in)
{
    const struct args *a = in->args;
    int status = 0;

    if (!a->are_manifests && first_of(in, MANIFEST) < a->n_inputs)
        status = ask_the_slow_again(in);
    if (status != 0)
        return status;
    const size_t manifest = first_of(in, MANIFEST);
    const size_t replica = first_of(in, REPLICA);
    if (manifest < a->n_inputs && replica < a->n_inputs) {
        words_usage("%s is a manifest, but %s is a copy of a file: give "
                    "either manifests or the URLs of one file",
                    a->inputs[manifest], a->inputs[replica]);
        return fail(in, STATUS_USAGE, "a manifest and a copy of a file");
    }
    if (manifest < a->n_inputs || a->are_manifests)
        return 0;
    if (replica == a->n_inputs)
        return say_none_answered(in);
    in->are_replicas = true;
    find_size(in);
    return 0;
}

static int add_checksum(struct xd_checksums *c, const char *checksum,
                        const struct args *a, struct xd_error *err)
{
    if (args_is_url(checksum))
        return xd_checksums_fetch(c, checksum, a->options, err);
    if (xd_checksum_is_value(checksum))
        return xd_checksums_add(c, checksum, err);
    return xd_checksums_read(c, checksum, err);
}

int inputs_checksums(struct xd_checksums **out, const struct args *a,
                     struct xd_error *err)
{
    int rc = 0;

    *out = NULL;
    if (a->n_checksums > 0)
        rc = xd_checksums_new(out, err);
    for (size_t i = 0; rc == 0 && i < a->n_checksums; i++)
        rc = add_checksum(*out, a->checksums[i], a, err);
    if (rc == 0)
        return 0;
    words_error("%s", err->msg);
    return status_of(rc);
}

static int read_checksums(struct inputs *in)
{
    struct xd_error err;
    const int status = inputs_checksums(&in->checksums, in->args, &err);

    return status == 0 ? 0 : fail(in, status, err.msg);
}

static int find_out(struct inputs *in)
{
    const struct args *a = in->args;
    int status = 0;

    if (!a->urls)
        return 0;
    if (a->dry_run && !a->are_manifests) {
        in->are_replicas = true;
    } else {
        in->asked = calloc(a->n_inputs, sizeof *in->asked);
        if (in->asked == NULL) {
            words_error("out of memory");
            return fail(in, STATUS_FAILED, "out of memory");
        }
        status = ask(in, 0, a->n_inputs);
        if (status == 0)
            status = judge(in);
    }
    if (in->are_replicas)
        in->n = 1;
    return status;
}

/* The same file twice would be wanted, from two manifests. */
static int check_checksums(struct inputs *in)
{
    if (in->n < 2 || in->checksums == NULL ||
        !xd_checksums_are_of_one(in->checksums))
        return 0;
    words_usage("a --checksum without a name is of one file, but there are %zu "
                "manifests",
                in->n);
    return fail(in, STATUS_USAGE, "a checksum of one file, several manifests");
}

int inputs_init(struct inputs *in, const struct args *a)
{
    *in = (struct inputs){.args = a, .n = a->n_inputs, .size = XD_SIZE_UNKNOWN};
    int status = read_checksums(in);
    if (status == 0)
        status = find_out(in);
    return status == 0 ? check_checksums(in) : status;
}

void inputs_fini(struct inputs *in)
{
    for (size_t i = 0; in->asked != NULL && i < in->args->n_inputs; i++)
        xd_manifest_unref(in->asked[i].manifest);
    free(in->asked);
    in->asked = NULL;
    xd_checksums_free(in->checksums);
    in->checksums = NULL;
}

/* A URL without its scheme is taken for a file, which is not there. */
static int read_manifest(struct xd_manifest **out, const char *path,
                         struct xd_error *err)
{
    char shown[TEXT_URL_SIZE];
    struct stat st;
    const int rc = xd_manifest_read(out, path, err);

    if (rc == XD_E_IO && strcmp(path, "-") != 0 && stat(path, &st) < 0 &&
        (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
        snprintf(err->msg, sizeof err->msg,
                 "%.300s: there is no such file; a URL begins with https://, "
                 "http://, ftp:// or ftps://",
                 text_without_password(shown, path));
    return rc;
}

static int plain_manifest(const struct inputs *in, size_t i,
                          struct xd_manifest **out, struct xd_error *err)
{
    const struct args *a = in->args;

    if (!a->urls)
        return read_manifest(out, a->inputs[i], err);
    if (in->are_replicas)
        return xd_manifest_from_urls(out, a->inputs, a->n_inputs, in->size,
                                     err);
    const struct xd_inspected *asked = &in->asked[i];
    if (asked->manifest != NULL) {
        *out = xd_manifest_ref(asked->manifest);
        return 0;
    }
    *out = NULL;
    *err = asked->error;
    return asked->error.code;
}

/* With the checksums, or NULL: *m is another then. */
static int apply(const struct inputs *in, const struct xd_checksums *c,
                 struct xd_manifest **m, struct xd_error *err)
{
    const struct args *a = in->args;
    struct xd_manifest *with;
    size_t file = XD_ALL_FILES;

    /* That there is none of that name is said where it is asked for. */
    if (c == NULL || (a->file != NULL && !choose_find(&file, a, *m)))
        return 0;
    const int rc = xd_checksums_apply(&with, c, *m, file, err);
    xd_manifest_unref(*m);
    *m = with;
    return rc;
}

int inputs_manifest(const struct inputs *in, size_t i, struct xd_manifest **out,
                    struct xd_error *err)
{
    const struct args *a = in->args;
    struct xd_manifest *m;

    int rc = plain_manifest(in, i, &m, err);
    if (rc == 0)
        rc = apply(in, in->checksums, &m, err);
    if (rc == 0)
        rc = apply(in, in->common, &m, err);
    if (rc < 0 || a->command == COMMAND_SHOW || a->dry_run) {
        *out = m;
        return rc;
    }
    rc = xd_copies_check(out, m, a->options, err);
    xd_manifest_unref(m);
    return rc;
}

int inputs_say_manifest(const struct inputs *in, size_t i,
                        struct xd_manifest **out)
{
    struct xd_error err;

    const int rc = inputs_manifest(in, i, out, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    if (!in->args->quiet)
        words_warnings(*out);
    return 0;
}

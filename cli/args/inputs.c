/* SPDX-License-Identifier: MIT */
#include "args/inputs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include <xdownload/check.h>

#include "args/choose.h"
#include "args/waiting.h"
#include "command/checks.h"
#include "command/inspect.h"
#include "command/manifests.h"
#include "common/advice.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"

static int fail(struct inputs *in, int status, const char *why)
{
    snprintf(in->why, sizeof in->why, "%s", why);
    return status;
}

/* Prints why no input can be used.  If there are several copies, each gets a
 * line. */
static int print_failures(struct inputs *in, const struct xd_error *err)
{
    struct xd_inspected asked = {.struct_size = sizeof asked};

    if (err->code == XD_E_INVAL)
        words_usage("%s", err->msg);
    else
        for (size_t i = 0; xd_inspection_get(in->found, i, &asked) == 0; i++)
            if (in->args->n_inputs == 1)
                advice_print(&asked.error, args_has_login(in->args));
            else
                words_error("%s", asked.error.msg);
    return fail(in, err->code == XD_E_INVAL ? STATUS_USAGE : STATUS_FAILED,
                err->msg);
}

/* Asks the servers of the URLs.  With a checksum, web pages are accepted,
 * because the checksum is more reliable than the content type. */
static int inspect(struct inputs *in, struct xd_error *err)
{
    struct waiting waiting;
    const struct args *a = in->args;
    const char *accepts = args_value(a, "accept-html");
    const bool has_checksum = in->checksums != NULL || in->common != NULL;

    int rc = xd_options_set(a->options, "accept-html",
                            has_checksum ? "yes" : accepts, err);
    waiting_begin(&waiting, a);
    if (rc == 0)
        rc = xd_inspect(&in->found, a->inputs, a->n_inputs, a->are_manifests,
                        a->options, err);
    waiting_end(&waiting, a);
    const int back =
        xd_options_set(a->options, "accept-html", accepts, rc < 0 ? NULL : err);
    return rc < 0 ? rc : back;
}

/* Warns about inputs that were skipped although others can be used. */
static void print_skipped_pages(const struct inputs *in)
{
    struct xd_inspected asked = {.struct_size = sizeof asked};

    for (size_t i = 0; xd_inspection_get(in->found, i, &asked) == 0; i++)
        if (asked.error.code == XD_E_DIFFERENT)
            words_error("warning: %s", asked.error.msg);
}

static int ask(struct inputs *in)
{
    struct xd_error err;
    const int rc = inspect(in, &err);

    if (rc < 0) {
        words_error("%s", err.msg);
        return fail(in, status_of(rc), err.msg);
    }
    const int64_t n = xd_inspection_n_manifests(in->found, &err);
    if (n < 0)
        return print_failures(in, &err);
    in->n = (size_t)n;
    if (n < (int64_t)in->args->n_inputs && !in->args->quiet)
        print_skipped_pages(in);
    return 0;
}

/* Returns true if reading `path` failed because there is no such file. */
static bool is_missing(const char *path, int rc)
{
    struct stat st;

    return rc == XD_E_IO && strcmp(path, "-") != 0 && stat(path, &st) < 0 &&
           (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG);
}

static int add_signed(struct xd_checksums *c, const char *list,
                      const struct args *a, struct xd_error *err)
{
    struct waiting waiting;

    waiting_begin(&waiting, a);
    const int rc =
        xd_checksums_read_signed(c, list, a->signature, a->options, err);
    waiting_end(&waiting, a);
    return rc;
}

static int add_checksum(struct xd_checksums *c, const char *checksum,
                        const struct args *a, struct xd_error *err)
{
    struct waiting waiting;

    if (args_wants_signed(a) && !xd_checksum_is_value(checksum))
        return add_signed(c, checksum, a, err);
    if (args_is_url(checksum)) {
        waiting_begin(&waiting, a);
        const int rc = xd_checksums_read(c, checksum, a->options, err);
        waiting_end(&waiting, a);
        return rc;
    }
    if (xd_checksum_is_value(checksum))
        return xd_checksums_add(c, checksum, err);
    const int rc = xd_checksums_read(c, checksum, a->options, err);
    if (is_missing(checksum, rc))
        snprintf(err->msg, sizeof err->msg,
                 "%.300s: this is no checksum (HEX or TYPE=HEX, with TYPE md5, "
                 "sha-1, sha-224, sha-256, sha-384 or sha-512), and there is "
                 "no such file",
                 checksum);
    return rc;
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
    advice_print(err, args_has_login(a));
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

    if (!a->urls)
        return 0;
    if (!a->dry_run || a->are_manifests)
        return ask(in);
    /* until the servers are asked, treat the inputs as copies of one file */
    in->n = 1;
    return 0;
}

/* Refuses a checksum without a file name if there are several manifests. */
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

int inputs_init(struct inputs *in, const struct args *a,
                const struct xd_checksums *common)
{
    *in = (struct inputs){.args = a, .n = a->n_inputs, .common = common};
    int status = read_checksums(in);
    if (status == 0)
        status = find_out(in);
    return status == 0 ? check_checksums(in) : status;
}

void inputs_fini(struct inputs *in)
{
    xd_inspection_free(in->found);
    in->found = NULL;
    xd_checksums_free(in->checksums);
    in->checksums = NULL;
}

/* Returns a hint about what the user may have meant by an input that cannot be
 * read, or NULL. */
static const char *guess(const char *path, int rc)
{
    const char *slash = strchr(path, '/'), *dot = strchr(path, '.');
    const size_t len = strlen(path);
    struct stat st;

    if (rc == 0 || strcmp(path, "-") == 0)
        return NULL;
    if (strncmp(path, "magnet:", 7) == 0 ||
        (len > 8 && strcmp(path + len - 8, ".torrent") == 0))
        return "BitTorrent is not supported: give URLs of the file on HTTP or "
               "FTP servers";
    if (rc == XD_E_IO && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return "this is a folder: give a manifest, or the URL of a file";
    if (!is_missing(path, rc))
        return NULL;
    if (path[0] == '~')
        return "there is no such file: in quotation marks the shell does not "
               "replace ~ by your home folder";
    if (slash != NULL && dot != NULL && dot > path && dot < slash)
        return "there is no such file: if this is a URL, write https:// "
               "before it";
    return "there is no such file; a URL begins with https://, http://, ftp:// "
           "or ftps://";
}

/* Reads a manifest from a file.  Explains mistakes such as a URL without a
 * scheme. */
static int read_manifest(struct xd_manifest **out, const char *path,
                         struct xd_error *err)
{
    char shown[TEXT_URL_SIZE];
    const int rc = xd_manifest_read(out, path, err);
    const char *guessed = guess(path, rc);

    if (guessed != NULL)
        snprintf(err->msg, sizeof err->msg, "%.300s: %s",
                 text_without_password(shown, path), guessed);
    return rc;
}

static int plain_manifest(const struct inputs *in, size_t i,
                          struct xd_manifest **out, struct xd_error *err)
{
    const struct args *a = in->args;

    if (!a->urls)
        return read_manifest(out, a->inputs[i], err);
    if (in->found == NULL)
        return xd_manifest_from_urls(out, a->inputs, a->n_inputs,
                                     XD_SIZE_UNKNOWN, err);
    return xd_inspection_manifest(out, in->found, i, err);
}

/* Replaces *m by a manifest with the checksums `c`.  Does nothing if `c` is
 * NULL. */
static int apply(const struct inputs *in, const struct xd_checksums *c,
                 struct xd_manifest **m, struct xd_error *err)
{
    const struct args *a = in->args;
    struct xd_manifest *with;
    size_t file = XD_ALL_FILES;

    /* choose_file() reports a --file that does not exist. */
    if (c == NULL || (a->file != NULL && !choose_find(&file, a, *m)))
        return 0;
    const int rc = xd_checksums_apply(&with, c, *m, file, err);
    xd_manifest_unref(*m);
    *m = with;
    return rc;
}

/* Replaces *m by a manifest with the signature, if --signature is a file. */
static int sign(const struct inputs *in, struct xd_manifest **m,
                struct xd_error *err)
{
    const struct args *a = in->args;
    struct xd_manifest *with;
    size_t file = 0;

    if (a->signature == NULL || args_n_lists(a) > 0 ||
        (a->file != NULL && !choose_find(&file, a, *m)))
        return 0;
    if (a->file == NULL && (xd_manifest_n_files(*m) > 1 || in->n > 1)) {
        snprintf(err->msg, sizeof err->msg,
                 "--signature is of one file, and there are several: name one "
                 "with --file, or give a signed list with --checksum");
        return err->code = XD_E_INVAL;
    }
    const int rc = xd_manifest_add_signature(&with, *m, file, a->signature,
                                             a->options, err);
    xd_manifest_unref(*m);
    *m = with;
    return rc;
}

int inputs_manifest(const struct inputs *in, size_t i, struct xd_manifest **out,
                    struct xd_error *err)
{
    const struct args *a = in->args;
    struct xd_manifest *m;
    struct waiting waiting;

    int rc = plain_manifest(in, i, &m, err);
    if (rc == 0)
        rc = apply(in, in->checksums, &m, err);
    if (rc == 0)
        rc = apply(in, in->common, &m, err);
    if (rc < 0 || a->command == COMMAND_SHOW || a->dry_run) {
        *out = m;
        return rc;
    }
    waiting_begin(&waiting, a);
    if (a->command == COMMAND_CHECK) /* an audit finds all copies itself */
        rc = xd_manifest_follow(out, m, a->options, err);
    else
        rc = xd_copies_find(out, m, a->options, err);
    xd_manifest_unref(m);
    if (rc == 0)
        rc = sign(in, out, err);
    waiting_end(&waiting, a);
    return rc;
}

int inputs_require_manifest(const struct inputs *in, size_t i,
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

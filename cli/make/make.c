/* SPDX-License-Identifier: MIT */
#include "make/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xdpublish/make.h>

#include "args/interruptible.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"
#include "make/whole_file.h"

struct making {
    const struct args *args;
    struct xd_manifest *manifest;
};

static int make(void *user, struct xd_error *err)
{
    struct making *m = user;
    const struct args *a = m->args;
    const struct xd_make_options what = {.struct_size = sizeof what,
                                         .path = a->original,
                                         .piece_bytes = a->piece_bytes,
                                         .is_offline = a->offline};

    return xd_manifest_make(&m->manifest, a->inputs, a->n_inputs, &what,
                            a->options, err);
}

static int write_manifest(const struct args *a, const struct xd_manifest *m)
{
    struct xd_error err;
    char *text;
    size_t len;
    int status = STATUS_COMPLETE;

    const int rc = xd_manifest_write(&text, m, 0, a->format, &len, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    if (args_to_stdout(a))
        fwrite(text, 1, len, stdout);
    else
        status = whole_file_write(a->output, text, len, args_is_on(a, "force"));
    xd_manifest_text_free(text);
    return status;
}

/* Prints a line like "film.xnd: 3 copies of film.bin, 4194304 bytes". */
static void print_made(const struct args *a, const struct xd_manifest *m)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_extent extent = {.struct_size = sizeof extent};

    if (a->quiet || args_to_stdout(a) || xd_manifest_file(m, 0, &file) < 0)
        return;
    (void)xd_manifest_extent(m, 0, 0, &extent);
    text_put(stderr, a->output);
    fprintf(stderr, ": %zu %s of ", extent.n_replicas,
            extent.n_replicas == 1 ? "copy" : "copies");
    text_put(stderr, file.path != NULL ? file.path : "the file");
    fprintf(stderr, ", %" PRIu64 " bytes%s\n", file.size,
            a->offline ? "; no depot was asked" : "");
}

int make_manifest(const struct args *a)
{
    struct making m = {.args = a};
    struct xd_error err;
    int status = STATUS_COMPLETE;

    if (!args_to_stdout(a))
        status = whole_file_check(a->output, args_is_on(a, "force"));
    if (status != STATUS_COMPLETE)
        return status;
    if (interruptible_run(a, make, &m, &err) < 0)
        return interruptible_fail(a, &err);
    if (!a->quiet)
        words_warnings(m.manifest);
    status = write_manifest(a, m.manifest);
    if (status == STATUS_COMPLETE)
        print_made(a, m.manifest);
    xd_manifest_unref(m.manifest);
    return status;
}

/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <xdownload/manifest.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "args/waiting.h"
#include "command/manifests.h"
#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"
#include "show/convert.h"
#include "show/mappings.h"
#include "show/show_json.h"
#include "show/stripes.h"

#define LABEL "  %-10s "

static void put_line(const char *label, const char *text)
{
    printf(LABEL, label);
    text_put(stdout, text);
    putchar('\n');
}

static void put_limit(const char *before, unsigned n)
{
    if (n > 0)
        printf("%sat most %u %s", before, n,
               n == 1 ? "connection" : "connections");
}

static void put_replica(const struct xd_replica *replica)
{
    char url[TEXT_URL_SIZE];

    fputs("    ", stdout);
    text_put(stdout, text_without_password(url, replica->url));
    if (replica->offset > 0)
        printf("  from byte %" PRIu64, replica->offset);
    if (replica->priority != XD_PRIORITY_NONE)
        printf("  priority %u", replica->priority);
    if (replica->location != NULL) {
        fputs("  in ", stdout);
        text_put(stdout, replica->location);
    }
    put_limit("  ", replica->max_connections);
    putchar('\n');
}

static void put_extent(const struct xd_manifest *m, size_t file, size_t i)
{
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_replica replica = {.struct_size = sizeof replica};

    if (xd_manifest_extent(m, file, i, &extent) < 0)
        return;
    if (extent.length == XD_SIZE_UNKNOWN)
        printf(LABEL "all", "bytes");
    else
        printf(LABEL "%" PRIu64 "-%" PRIu64, "bytes", extent.offset,
               extent.offset + extent.length - (extent.length > 0));
    printf(", %zu %s\n", extent.n_replicas,
           extent.n_replicas == 1 ? "copy" : "copies");
    for (size_t j = 0; j < extent.n_replicas; j++)
        if (xd_manifest_replica(m, file, i, j, &replica) == 0)
            put_replica(&replica);
}

static void put_head(const struct xd_file *file)
{
    char size[UNITS_SIZE];

    text_put(stdout, file->path != NULL ? file->path : "(a file without name)");
    putchar('\n');
    if (file->size == XD_SIZE_UNKNOWN)
        put_line("size", "unknown");
    else
        printf(LABEL "%s (%" PRIu64 " bytes)\n", "size",
               units_size(size, file->size), file->size);
}

static void put_file(const struct xd_manifest *m, size_t i, bool verbose,
                     const struct xd_probe *probe)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_hash hash = {.struct_size = sizeof hash};
    char size[UNITS_SIZE];

    if (xd_manifest_file(m, i, &file) < 0)
        return;
    put_head(&file);
    for (size_t j = 0; xd_manifest_hash(m, i, j, &hash) == 0; j++)
        put_line(hash.algorithm, hash.hex);
    if (file.n_pieces > 0)
        printf(LABEL "%zu of %s, %s\n", "pieces", file.n_pieces,
               units_size(size, file.piece_bytes), file.piece_algorithm);
    if (file.max_connections > 0) {
        printf(LABEL, "limit");
        put_limit("", file.max_connections);
        putchar('\n');
    }
    if (verbose || probe != NULL)
        mappings_put(m, i, probe);
    for (size_t j = 0; j < file.n_extents && !verbose && probe == NULL; j++)
        put_extent(m, i, j);
    if (verbose || probe != NULL)
        stripes_put_shards(m, i, probe);
    stripes_put(m, i);
}

/* Asks the depots about the files [first, end).  Prints what went wrong, and
 * returns a status. */
static int ask_depots(const struct args *a, struct xd_manifest *m, size_t first,
                      size_t end, struct xd_probe **out)
{
    struct waiting waiting;
    struct xd_error err;
    int rc = 0;

    waiting_begin(&waiting, a);
    for (size_t i = first; rc == 0 && i < end; i++)
        rc = xd_probe_new(&out[i - first], m, i, a->options, &err);
    waiting_end(&waiting, a);
    if (rc == 0)
        return STATUS_COMPLETE;
    words_error("%s", err.msg);
    return status_of(rc);
}

/* Prints the files [first, end), with the answers of the depots if they were
 * asked. */
static void put_files(const struct args *a, const struct xd_manifest *m,
                      size_t first, size_t end, struct xd_probe *const *probes)
{
    if (a->json)
        show_json(m, first, end, probes);
    for (size_t i = first; i < end && !a->json; i++)
        put_file(m, i, a->verbose, probes[i - first]);
    for (size_t i = first; i < end && !a->quiet; i++)
        mappings_warn(m, i, probes[i - first]);
}

static int show_files(const struct args *a, struct xd_manifest *m, size_t first,
                      size_t end)
{
    struct xd_probe **probes = calloc(end - first + 1, sizeof *probes);
    int status = STATUS_COMPLETE;

    if (probes == NULL) {
        words_error("out of memory");
        return STATUS_LOCAL;
    }
    if (a->probe)
        status = ask_depots(a, m, first, end, probes);
    if (status == STATUS_COMPLETE)
        put_files(a, m, first, end, probes);
    for (size_t i = first; i < end; i++)
        xd_probe_free(probes[i - first]);
    free(probes);
    return status;
}

static int put(const struct args *a, struct xd_manifest *m)
{
    size_t first = 0, end = xd_manifest_n_files(m);

    if (a->file != NULL) {
        const int status = choose_file(&first, a, m, a->inputs[0]);
        if (status != 0)
            return status;
        end = first + 1;
    }
    if (a->format != NULL)
        return convert(a, m, a->file != NULL ? first : XD_ALL_FILES);
    return show_files(a, m, first, end);
}

static int show(const struct args *a, const struct inputs *in)
{
    struct xd_manifest *m;

    int status = inputs_require_manifest(in, 0, &m);
    if (status != 0)
        return status;
    status = put(a, m);
    xd_manifest_unref(m);
    return status;
}

int show_manifest(const struct args *a)
{
    struct inputs in;

    int status = inputs_init(&in, a, NULL);
    if (status == 0)
        status = show(a, &in);
    inputs_fini(&in);
    return status;
}

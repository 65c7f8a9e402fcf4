#include "show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xdownload/manifest.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"
#include "show/convert.h"
#include "show/show_json.h"

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

/* The host of a URL, with its port, without a login. */
static void put_host(const char *url)
{
    char shown[TEXT_URL_SIZE];
    const char *host = strstr(url, "://");
    size_t login;

    text_login(url, &login);
    host = host == NULL ? url : host + 3;
    host += login > 0 ? login + 1 : 0;
    snprintf(shown, sizeof shown, "%.*s", (int)strcspn(host, "/?#"), host);
    text_put(stdout, shown);
}

/* A line as lors_ls wrote it. */
static void put_mapping(size_t n, const struct xd_extent *extent,
                        const struct xd_replica *replica)
{
    printf("  %4zu %c%c%c %12" PRIu64 " %12" PRIu64 "  ", n,
           replica->rights & XD_MAY_READ ? 'r' : '-',
           replica->rights & XD_MAY_WRITE ? 'w' : '-',
           replica->rights & XD_MAY_MANAGE ? 'm' : '-', extent->offset,
           extent->length);
    put_host(replica->url);
    if (replica->expires != NULL) {
        fputs("  ", stdout);
        text_put(stdout, replica->expires);
    }
    if (replica->functions != NULL) {
        fputs("  ", stdout);
        text_put(stdout, replica->functions);
    }
    putchar('\n');
}

static void put_mappings(const struct xd_manifest *m, size_t file)
{
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_replica replica = {.struct_size = sizeof replica};
    size_t n = 0;

    for (size_t i = 0; xd_manifest_extent(m, file, i, &extent) == 0; i++)
        for (size_t j = 0; extent.length != XD_SIZE_UNKNOWN &&
                           xd_manifest_replica(m, file, i, j, &replica) == 0;
             j++)
            put_mapping(n++, &extent, &replica);
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

static void put_file(const struct xd_manifest *m, size_t i, bool verbose)
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
    if (verbose)
        put_mappings(m, i);
    for (size_t j = 0; j < file.n_extents && !verbose; j++)
        put_extent(m, i, j);
}

static int put(const struct args *a, const struct xd_manifest *m)
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
    if (a->json)
        show_json(m, first, end);
    for (size_t i = first; i < end && !a->json; i++)
        put_file(m, i, a->verbose);
    return STATUS_COMPLETE;
}

static int show(const struct args *a, const struct inputs *in)
{
    struct xd_manifest *m;

    int status = inputs_say_manifest(in, 0, &m);
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

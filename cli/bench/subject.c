/* SPDX-License-Identifier: MIT */
#include "bench/subject.h"

#include <stdlib.h>
#include <string.h>

#include <xdownload/download.h>
#include <xdownload/manifest.h>

#include "args/choose.h"
#include "args/inputs.h"
#include "bench/scenario.h"
#include "command/inspect.h"
#include "command/manifests.h"
#include "common/status.h"
#include "common/text.h"
#include "common/words.h"

static int fail(const struct xd_error *err)
{
    words_error("%s", err->msg);
    return status_of((int)err->code);
}

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

static int digest(struct subject *s, const char *text, size_t len)
{
    struct xd_error err;

    return xd_checksum_compute(s->digest, "sha-256", text, len, &err) < 0
               ? fail(&err)
               : 0;
}

static int check_depots(const struct subject *s)
{
    if (s->depots == NULL)
        return no_memory();
    if (s->n_depots > 0)
        return 0;
    return words_usage("%s has no depot, so there is nothing to compare",
                       s->name);
}

int subject_of_scenario(struct subject *s, const struct args *a,
                        const char *word)
{
    *s = (struct subject){.size = a->bench.size};
    s->name = strdup(word);
    if (s->name == NULL)
        return no_memory();
    const int status = scenario_read(&s->scenario, word);
    if (status != 0)
        return status;
    s->depots = scenario_depots(s->scenario, &s->n_depots);
    const int checked = check_depots(s);
    return checked != 0 ? checked : digest(s, s->scenario, strlen(s->scenario));
}

/* ---- a manifest ---- */

static int digest_manifest(struct subject *s)
{
    struct xd_error err;
    char *text;
    size_t len;

    if (xd_manifest_write(&text, s->manifest, s->file, "metalink", &len, &err) <
            0 &&
        xd_manifest_write(&text, s->manifest, s->file, "exnode", &len, &err) <
            0)
        return fail(&err);
    const int status = digest(s, text, len);
    xd_manifest_text_free(text);
    return status;
}

/* Lists the hosts of the depots in the order in which a download uses them. */
static int list_depots(struct subject *s, const struct args *a)
{
    struct xd_depot_stats stats = {.struct_size = sizeof stats};
    struct xd_download *d;
    struct xd_error err;

    if (xd_download_new(&d, s->manifest, s->file, NULL, "bench", a->options,
                        &err) < 0)
        return fail(&err);
    s->depots = malloc(sizeof *s->depots);
    while (s->depots != NULL &&
           xd_download_depot(d, s->n_depots, &stats) == 0) {
        char **more = realloc(s->depots, (s->n_depots + 1) * sizeof *s->depots);
        if (more == NULL)
            break;
        s->depots = more;
        if ((more[s->n_depots] = strdup(stats.host)) == NULL)
            break;
        s->n_depots++;
    }
    xd_download_unref(d);
    return check_depots(s);
}

/* Returns the size of the file from the first of these URLs whose server
 * answers. */
static uint64_t size_at(const char *const *urls, size_t n,
                        const struct xd_options *o)
{
    struct xd_inspected seen = {.struct_size = sizeof seen};
    uint64_t size = XD_SIZE_UNKNOWN;
    struct xd_inspection *in;

    if (xd_inspect(&in, urls, n, false, o, NULL) < 0)
        return size;
    for (size_t i = 0;
         size == XD_SIZE_UNKNOWN && xd_inspection_get(in, i, &seen) == 0; i++)
        if (seen.error.code == XD_OK)
            size = seen.size;
    xd_inspection_free(in);
    return size;
}

/* Asks the depots for the size of a file whose size is not in the manifest.
 * Such a file has one extent.  A dry run asks no depot. */
static uint64_t ask_size(const struct subject *s, const struct args *a)
{
    struct xd_replica replica = {.struct_size = sizeof replica};
    const char *urls[SUBSET_DEPOTS_MAX];
    size_t n = 0;

    while (!a->dry_run && n < SUBSET_DEPOTS_MAX &&
           xd_manifest_replica(s->manifest, s->file, 0, n, &replica) == 0)
        urls[n++] = replica.url;
    return n > 0 ? size_at(urls, n, a->options) : XD_SIZE_UNKNOWN;
}

static int take_file(struct subject *s, const struct args *a)
{
    struct xd_file file = {.struct_size = sizeof file};

    if (a->file != NULL) {
        const int status = choose_file(&s->file, a, s->manifest, s->name);
        if (status != 0)
            return status;
    } else if (xd_manifest_n_files(s->manifest) > 1) {
        return words_usage("%s describes %zu files: choose one with --file",
                           s->name, xd_manifest_n_files(s->manifest));
    }
    (void)xd_manifest_file(s->manifest, s->file, &file);
    s->size = file.size != XD_SIZE_UNKNOWN ? file.size : ask_size(s, a);
    return 0;
}

static int use_manifest(struct subject *s, const struct args *a)
{
    int status = take_file(s, a);

    if (status == 0)
        status = list_depots(s, a);
    return status == 0 ? digest_manifest(s) : status;
}

int subject_of_manifest(struct subject *s, const struct args *a)
{
    char name[TEXT_URL_SIZE];
    struct inputs in;

    *s = (struct subject){.size = XD_SIZE_UNKNOWN};
    s->name = strdup(text_without_password(name, a->inputs[0]));
    if (s->name == NULL)
        return no_memory();
    int status = inputs_init(&in, a, NULL);
    if (status == 0 && in.n != 1)
        status = words_usage("bench takes one manifest, not %zu", in.n);
    else if (status == 0)
        status = inputs_require_manifest(&in, 0, &s->manifest);
    if (status == 0)
        status = use_manifest(s, a);
    inputs_fini(&in);
    return status;
}

void subject_fini(struct subject *s)
{
    for (size_t i = 0; i < s->n_depots; i++)
        free(s->depots[i]);
    free(s->depots);
    free(s->scenario);
    free(s->name);
    xd_manifest_unref(s->manifest);
}

void subject_describe(const struct subject *s, subset depots, struct row *row)
{
    char name[SUBSET_NAME_SIZE];

    subset_name(name, depots);
    row_set(row, COL_KIND, s->scenario != NULL ? "virtual" : "live");
    row_set(row, COL_INPUT, "%s", s->name);
    row_set(row, COL_DIGEST, "%s", s->digest);
    if (s->size != XD_SIZE_UNKNOWN)
        row_set_count(row, COL_FILE_BYTES, s->size);
    row_set(row, COL_DEPOTS, "%s", name);
    row_set_count(row, COL_N_DEPOTS, subset_count(depots));
}

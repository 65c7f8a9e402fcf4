/* SPDX-License-Identifier: MIT */
#include "get/plan.h"

#include <inttypes.h>
#include <string.h>

#include "common/snapshot.h"
#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"

#define LABEL "  %-18s "

static void put_size(const struct xd_file *file)
{
    char size[UNITS_SIZE];

    if (file->size == XD_SIZE_UNKNOWN)
        printf(LABEL "unknown until a depot says it\n", "size");
    else
        printf(LABEL "%s (%" PRIu64 " bytes)\n", "size",
               units_size(size, file->size), file->size);
}

static void put_target(const struct job *job)
{
    const struct target *t = job->target;
    char why[sizeof((struct xd_error *)NULL)->msg];

    const bool is_ordered = t->path == NULL || target_is_ordered(t);
    printf(LABEL, "to");
    text_put(stdout, t->path != NULL ? t->path : "standard output");
    puts(is_ordered ? ", in order" : "");
    if (is_ordered)
        return;
    if (target_check(t, job->args, why, sizeof why) != 0) {
        printf(LABEL, "but");
        text_put(stdout, why);
        putchar('\n');
    } else if (target_exists(t->path)) {
        printf(LABEL "what is there already\n", "replacing");
    }
    if (target_exists(t->part)) {
        printf(LABEL, "begun");
        text_put(stdout, t->part);
        puts(" exists");
    }
}

/* Prints every option that has a value and that the algorithm uses. */
static void put_options(const struct args *a)
{
    const char *algorithm = args_value(a, "algorithm");
    struct xd_option_info info = {.struct_size = sizeof info};

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++) {
        const char *value = args_value(a, info.name);
        if (info.argument == NULL || value == NULL || info.repeats ||
            info.is_secret)
            continue;
        if (info.used_by != NULL && algorithm != NULL &&
            strstr(info.used_by, algorithm) == NULL)
            continue;
        printf(LABEL "%s\n", info.name, value);
    }
}

static void put_depots(const struct xd_file *file, const struct snapshot *s)
{
    char size[UNITS_SIZE];

    printf(LABEL "%zu, the most wanted first\n", "depots", s->n_depots);
    for (size_t i = 0; i < s->n_depots; i++) {
        const uint64_t held = s->depots[i].bytes_held;
        fputs("    ", stdout);
        text_put_fit(stdout, s->depots[i].host, 40, true);
        if (held == XD_SIZE_UNKNOWN)
            puts("  all of it");
        else
            printf("  %10s  %3u %%\n", units_size(size, held),
                   units_percent(held, file->size));
    }
}

int plan_print(const struct job *job)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_download *d = NULL;
    struct snapshot s;
    struct xd_error err;

    const int rc = fetch_new(&d, job, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        return status_of(rc);
    }
    (void)xd_manifest_file(job->manifest, job->file, &file);
    snapshot_init(&s);
    snapshot_take(&s, d);
    text_put(stdout, job->name);
    putchar('\n');
    put_size(&file);
    put_target(job);
    put_options(job->args);
    put_depots(&file, &s);
    snapshot_fini(&s);
    xd_download_unref(d);
    return STATUS_COMPLETE;
}

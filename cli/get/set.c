#include "get/set.h"

#include <stdlib.h>

#include <xdownload/manifest.h>

#include "args/target.h"
#include "common/status.h"
#include "common/words.h"
#include "get/fetch.h"

/* What is longer is worth to be gone on with after an interruption. */
#define SMALL ((uint64_t)4 << 20)

/* Fewer are watched one after the other. */
#define LEAST 8

/* A trace is of one file, and so are these options. */
static bool may_be_sets(const struct args *a)
{
    static const char *const of_one[] = {"range", "max-time"};

    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
        if (args_value(a, of_one[i]) != NULL)
            return false;
    return a->output == NULL && a->tracer == NULL && !a->dry_run;
}

/* What is there already, or was begun, is looked at by itself. */
static bool is_new(const struct args *a, const char *path)
{
    struct target t;
    bool is_new;

    if (target_init(&t, a, path, "") != 0)
        return false;
    is_new = t.fd < 0 && !target_exists(t.path) && !target_exists(t.part);
    target_fini(&t);
    return is_new;
}

static bool is_small_and_new(const struct args *a, const struct xd_manifest *m,
                             size_t i)
{
    struct xd_file file = {.struct_size = sizeof file};

    return xd_manifest_can_join(m, i) && xd_manifest_file(m, i, &file) == 0 &&
           file.path != NULL && file.size <= SMALL && is_new(a, file.path);
}

size_t set_count(const struct args *a, const struct xd_manifest *m, size_t i)
{
    size_t n = 0;

    if (!may_be_sets(a))
        return 0;
    while (is_small_and_new(a, m, i + n))
        n++;
    return n >= LEAST ? n : 0;
}

int set_fetch(const struct args *a, struct xd_manifest *m, size_t i, size_t n,
              FILE *report)
{
    size_t *files = calloc(n, sizeof *files);
    struct target nowhere = {.fd = -1};
    char name[40];
    int status;

    if (files == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    for (size_t k = 0; k < n; k++)
        files[k] = i + k;
    snprintf(name, sizeof name, "%zu files", n);
    const struct job job = {.args = a,
                            .manifest = m,
                            .set = files,
                            .n_set = n,
                            .name = name,
                            .target = &nowhere,
                            .report = report};
    status = fetch_file(&job);
    free(files);
    return status;
}

/* SPDX-License-Identifier: MIT */
#include "bench/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args/quantity.h"

static int set(struct xd_options *o, const char *name, const char *value,
               struct xd_error *err)
{
    return value != NULL ? xd_options_set(o, name, value, err) : 0;
}

/* Whether a run has this option, which only some algorithms heed. */
static bool is_for(const struct xd_option_info *info, const struct run *r)
{
    return info->used_by != NULL && info->argument == NULL &&
           strstr(info->used_by, r->algorithm) != NULL;
}

/* In the paper a further download of a block fetches all of it. */
static const char *switch_value(const struct args *a, size_t i,
                                const struct xd_option_info *info)
{
    if (a->given[i] != NULL)
        return a->given[i];
    return a->bench.paper && strcmp(info->name, "whole-blocks") == 0 ? "yes"
                                                                     : NULL;
}

static int set_switches(struct xd_options *o, const struct args *a,
                        const struct run *r, struct xd_error *err)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    int rc = 0;

    for (size_t i = 0; rc == 0 && xd_option_info(i, &info) == 0; i++)
        if (is_for(&info, r))
            rc = set(o, info.name, switch_value(a, i, &info), err);
    return rc;
}

int settings_options(struct xd_options **out, const struct args *a,
                     const struct run *r, struct xd_error *err)
{
    int rc = xd_options_dup(out, a->options, err);

    if (rc < 0)
        return rc;
    rc = set(*out, "algorithm", r->algorithm, err);
    if (rc == 0)
        rc = set(*out, "redundancy", r->redundancy, err);
    if (rc == 0)
        rc = set(*out, "progress-number", r->progress_number, err);
    if (rc == 0)
        rc = set(*out, "block-size", r->block_size, err);
    if (rc == 0)
        rc = set(*out, "threads-per-depot", r->threads, err);
    if (rc == 0)
        rc = set_switches(*out, a, r, err);
    if (rc == 0)
        rc = xd_options_check(*out, err);
    if (rc == 0)
        return 0;
    xd_options_free(*out);
    *out = NULL;
    return rc;
}

uint64_t settings_seed(const struct args *a, const struct run *r)
{
    return a->bench.seed + r->repetition - 1;
}

/* ---- the row ---- */

static bool is_axis(const struct args *a, size_t i)
{
    for (size_t axis = 0; axis < AXES; axis++)
        if (a->bench.axes[axis] == a->given[i])
            return true;
    return false;
}

static bool has_whole_blocks(const struct args *a, const struct run *r)
{
    struct xd_option_info info = {.struct_size = sizeof info};

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        if (strcmp(info.name, "whole-blocks") == 0) {
            const char *value = switch_value(a, i, &info);
            return is_for(&info, r) && value != NULL &&
                   strcmp(value, "yes") == 0;
        }
    return false;
}

/* Whether the cell of the other options says it: no secret, and no option that
 * has a column. */
static bool is_given(const struct args *a, size_t i,
                     const struct xd_option_info *info, const struct run *r)
{
    return a->given[i] != NULL && !info->is_secret && !is_axis(a, i) &&
           strcmp(info->name, "whole-blocks") != 0 &&
           (info->used_by == NULL || is_for(info, r));
}

static bool describe_options(const struct args *a, const struct run *r,
                             struct row *row)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return false;
    if (a->bench.n_scenarios > 0)
        fprintf(to, " size=%" PRIu64, a->bench.size);
    if (a->file != NULL)
        fprintf(to, " file=%s", a->file);
    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        if (is_given(a, i, &info, r))
            fprintf(to, " %s=%s", info.name, a->given[i]);
    bool good = fclose(to) == 0;
    if (good && len > 0)
        good = row_set(row, COL_OPTIONS, "%s", text + 1);
    free(text);
    return good;
}

static bool describe_players(const struct args *a, const struct run *r,
                             struct row *row)
{
    static const enum column rates[] = {COL_RATE1, COL_RATE2, COL_RATE3};
    bool good = a->bench.n_rates == 0 ||
                row_set_number(row, COL_PREBUFFER, a->prebuffer);

    for (size_t i = 0; good && i < a->bench.n_rates; i++)
        good = row_set_number(row, rates[i], a->bench.rates[i]);
    return good && (r->reader_rate <= 0 ||
                    row_set_number(row, COL_READER, r->reader_rate));
}

static bool set_text(struct row *row, enum column c, const char *text)
{
    return text == NULL || row_set(row, c, "%s", text);
}

bool settings_describe(const struct args *a, const struct run *r,
                       struct row *row)
{
    uint64_t block;

    return row_set(row, COL_FORMAT, ROW_FORMAT) &&
           row_set(row, COL_ALGORITHM, "%s", r->algorithm) &&
           set_text(row, COL_REDUNDANCY, r->redundancy) &&
           set_text(row, COL_PROGRESS_NUMBER, r->progress_number) &&
           quantity_bytes(&block, r->block_size) &&
           row_set(row, COL_BLOCK_BYTES, "%" PRIu64, block) &&
           row_set(row, COL_THREADS, "%s", r->threads) &&
           row_set(row, COL_WHOLE_BLOCKS, has_whole_blocks(a, r) ? "1" : "0") &&
           row_set(row, COL_REPETITION, "%u", r->repetition) &&
           row_set(row, COL_SEED, "%" PRIu64, settings_seed(a, r)) &&
           describe_options(a, r, row) && describe_players(a, r, row);
}

/* SPDX-License-Identifier: MIT */
#include "bench/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args/quantity.h"
#include "command/settings.h"

/* Returns true if the option is a switch that the run's algorithm uses. */
static bool is_for(const struct xd_option_info *info, const struct run *r)
{
    return info->used_by != NULL && info->argument == NULL &&
           strstr(info->used_by, r->values[AXIS_ALGORITHM]) != NULL;
}

/* Returns the value of a switch for a run.  With --paper, a block that is
 * requested again is requested as a whole. */
static const char *switch_value(const struct args *a, size_t i,
                                const struct xd_option_info *info)
{
    if (a->given[i] != NULL)
        return a->given[i];
    return a->bench.paper && strcmp(info->name, "whole-blocks") == 0 ? "yes"
                                                                     : NULL;
}

static int set_all(struct xd_options *o, const struct args *a,
                   const struct run *r, struct xd_error *err)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    int rc = 0;

    for (size_t axis = 0; rc == 0 && axis < AXES; axis++)
        if (r->values[axis] != NULL)
            rc = xd_options_set(o, axis_option(axis), r->values[axis], err);
    for (size_t i = 0; rc == 0 && xd_option_info(i, &info) == 0; i++) {
        const char *value = switch_value(a, i, &info);
        if (value != NULL && is_for(&info, r))
            rc = xd_options_set(o, info.name, value, err);
    }
    return rc == 0 ? xd_options_check(o, err) : rc;
}

int settings_options(struct xd_options **out, const struct args *a,
                     const struct run *r, struct xd_error *err)
{
    *out = NULL;
    int rc = xd_options_dup(out, a->options, err);

    if (rc == 0)
        rc = set_all(*out, a, r, err);
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

/* ---- cells of the row ---- */

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

/* Returns true if the column "options" lists this option: it was given, is not
 * secret, and has no column of its own. */
static bool is_given(const struct args *a, size_t i,
                     const struct xd_option_info *info, const struct run *r)
{
    return a->given[i] != NULL && !info->is_secret && !is_axis(a, i) &&
           strcmp(info->name, "whole-blocks") != 0 &&
           (info->used_by == NULL || is_for(info, r));
}

static void describe_options(const struct args *a, const struct run *r,
                             struct row *row)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL) {
        row->lacks_memory = true;
        return;
    }
    if (a->bench.n_scenarios > 0)
        fprintf(to, " size=%" PRIu64, a->bench.size);
    if (a->file != NULL)
        fprintf(to, " file=%s", a->file);
    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        if (is_given(a, i, &info, r))
            fprintf(to, " %s=%s", info.name, a->given[i]);
    if (fclose(to) != 0)
        row->lacks_memory = true;
    else if (len > 0)
        row_set(row, COL_OPTIONS, "%s", text + 1);
    free(text);
}

static void describe_players(const struct args *a, const struct run *r,
                             struct row *row)
{
    static const enum column rates[] = {COL_RATE1, COL_RATE2, COL_RATE3};

    if (a->bench.n_rates > 0)
        row_set_number(row, COL_PREBUFFER, a->prebuffer);
    for (size_t i = 0; i < a->bench.n_rates; i++)
        row_set_number(row, rates[i], a->bench.rates[i]);
    if (r->reader_rate > 0)
        row_set_number(row, COL_READER, r->reader_rate);
}

void settings_describe(const struct args *a, const struct run *r,
                       struct row *row)
{
    static const enum column columns[AXES] = {
        [AXIS_ALGORITHM] = COL_ALGORITHM,
        [AXIS_REDUNDANCY] = COL_REDUNDANCY,
        [AXIS_PROGRESS_NUMBER] = COL_PROGRESS_NUMBER,
        [AXIS_BLOCK_SIZE] = COL_BLOCK_BYTES,
        [AXIS_THREADS] = COL_THREADS};
    uint64_t block;

    row_set(row, COL_FORMAT, ROW_FORMAT);
    for (size_t axis = 0; axis < AXES; axis++)
        if (r->values[axis] != NULL)
            row_set(row, columns[axis], "%s", r->values[axis]);
    if (quantity_bytes(&block, r->values[AXIS_BLOCK_SIZE]))
        row_set_count(row, COL_BLOCK_BYTES, block);
    row_set(row, COL_WHOLE_BLOCKS, has_whole_blocks(a, r) ? "1" : "0");
    row_set_count(row, COL_REPETITION, r->repetition);
    row_set_count(row, COL_SEED, settings_seed(a, r));
    describe_options(a, r, row);
    describe_players(a, r, row);
}

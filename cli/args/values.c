/* SPDX-License-Identifier: MIT */
#include "args/values.h"

#include <string.h>

#include "args/foreign.h"
#include "args/help.h"
#include "args/quantity.h"
#include "common/nearest.h"
#include "common/status.h"
#include "common/words.h"

static int refuse(const struct option_row *row, const char *value)
{
    if (row->is_secret)
        return words_usage("--%s takes %s", row->name, row->range);
    if (row->kind == OPTION_SIZE || row->kind == OPTION_TIME ||
        row->kind == OPTION_RATE)
        return words_usage("invalid --%s '%s': use %s", row->name, value,
                           row->range);
    return words_usage("--%s takes %s, not %s", row->name, row->range, value);
}

static bool is_accepted(const struct option_row *row, const char *value)
{
    return row->accepts == NULL || row->accepts(value);
}

static int complain_of_empty(const struct option_row *row)
{
    return words_usage("--%s needs a value, and got an empty one: --%s %s",
                       row->name, row->name, row->argument);
}

static int set_text(const char **field, const struct option_row *row,
                    const char *given, const char *value)
{
    if (given != NULL && row->is_secret)
        return words_usage("--%s is given twice", row->name);
    if (given != NULL)
        return words_usage("--%s is given twice: %s and %s", row->name, given,
                           value);
    if (!is_accepted(row, value))
        return refuse(row, value);
    if (*value == '\0')
        return complain_of_empty(row);
    *field = value;
    return 0;
}

/* Appends to an array of texts.  The field after the array is the number of
 * texts. */
static int add_text(const char **texts, const struct option_row *row,
                    const char *value)
{
    const size_t most = row->size / sizeof *texts;
    size_t *const n = (void *)(texts + most);

    if (!is_accepted(row, value))
        return refuse(row, value);
    if (*value == '\0')
        return complain_of_empty(row);
    if (*n == most)
        return words_usage("--%s is given more than %zu times", row->name,
                           most);
    texts[(*n)++] = value;
    return 0;
}

static int set_word(unsigned *field, const struct option_row *row,
                    const char *value)
{
    const char *word = row->range;
    size_t step = 0;

    for (unsigned i = 0; *word != '\0'; i++, word += step) {
        const size_t len = options_listed(word, &step);
        if (strlen(value) != len || strncmp(word, value, len) != 0)
            continue;
        *field = i;
        return 0;
    }
    return refuse(row, value);
}

static int set_count(void *field, const struct option_row *row,
                     const char *value)
{
    uint64_t n;

    if (!quantity_count(&n, value, (uint64_t)row->least, (uint64_t)row->most))
        return refuse(row, value);
    if (row->size == sizeof n)
        *(uint64_t *)field = n;
    else
        *(unsigned *)field = (unsigned)n;
    return 0;
}

static int set_size(uint64_t *field, const struct option_row *row,
                    const char *value)
{
    uint64_t n;

    if (!quantity_bytes(&n, value) || (double)n < row->least ||
        (double)n > row->most)
        return refuse(row, value);
    *field = n;
    return 0;
}

static int set_time(double *field, const struct option_row *row,
                    const char *value)
{
    double s;

    if (!quantity_seconds(&s, value, row->most) || s < row->least)
        return refuse(row, value);
    *field = s;
    return 0;
}

static int add_rate(struct args *a, const struct option_row *row,
                    const char *value)
{
    struct bench_args *b = &a->bench;

    if (!quantity_rate(&a->rate, value))
        return refuse(row, value);
    if (a->command != COMMAND_BENCH)
        return 0;
    if (b->n_rates == BENCH_RATES_MAX)
        return words_usage("--rate takes at most %d rates", BENCH_RATES_MAX);
    b->rates[b->n_rates++] = a->rate;
    return 0;
}

/* Sets the rate, or for bench a list of rates. */
static int set_rate(struct args *a, const struct option_row *row, char *value)
{
    int status = 0;

    while (status == 0 && value != NULL) {
        char *comma = a->command == COMMAND_BENCH ? strchr(value, ',') : NULL;
        if (comma != NULL)
            *comma++ = '\0';
        status = add_rate(a, row, value);
        value = comma;
    }
    return status;
}

/* Stores the value for later if bench sets the option for each run.  These are
 * options with lists, and switches that only some algorithms use. */
static bool keep_for_runs(struct args *a, const struct option_row *row,
                          const struct xd_option_info *info, const char *value)
{
    if (a->command != COMMAND_BENCH)
        return false;
    if (row->size == 0)
        return info->used_by != NULL && info->argument == NULL;
    *(const char **)(void *)((char *)a + row->at) = value;
    return true;
}

/* Commands that use stores. */
#define HAVE_STORES \
    (COMMAND_PUT | COMMAND_ADD | COMMAND_CHECK | COMMAND_DROP | COMMAND_RENEW)

/* Sets an option of the library.  Refuses a different second value of an option
 * that all stores share.  Otherwise, with `--s3-endpoint A --to s3://one
 * --s3-endpoint B --to s3://two`, both copies and the keys would be sent to
 * B. */
static int set_library(struct args *a, const struct xd_option_info *info,
                       const char *value)
{
    static const struct option_row unlisted = {.kind = OPTION_LIBRARY};
    const struct option_row *row = options_row(info->name);
    const char **given = &a->given[options_index(info->name)];
    struct xd_error err;

    if (row == NULL)
        row = &unlisted;
    if (row->is_shared && *given != NULL && strcmp(*given, value) != 0 &&
        (a->command & HAVE_STORES) != 0)
        return words_usage("--%s is given twice, and all stores of a run share "
                           "it: put the file on one store, and then use "
                           "xdownload add for the other",
                           info->name);
    *given = value;
    if (keep_for_runs(a, row, info, value))
        return 0;
    if (xd_options_set(a->options, info->name, value, &err) < 0)
        return words_usage("%s", err.msg);
    return 0;
}

static int complain_of_setting(const char *name, size_t len)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (size_t i = 0; xd_option_info(i, &info) == 0; i++)
        nearest_consider(&nearest, info.name);
    if (nearest.name != NULL)
        return words_usage("--set: there is no option '%.*s': did you mean "
                           "'%s'?",
                           (int)len, name, nearest.name);
    return words_usage("--set: there is no option '%.*s': see OPTIONS in "
                       "libxdownload(3)",
                       (int)len, name);
}

int values_set(struct args *a, const char *setting)
{
    const size_t len = strcspn(setting, "=");
    struct xd_option_info info;

    if (setting[len] == '\0' || len == 0)
        return words_usage("--set takes NAME=VALUE, not %s", setting);
    if (!options_library(setting, len, &info))
        return complain_of_setting(setting, len);
    return set_library(a, &info, setting + len + 1);
}

static int set_named(struct args *a, const char *name, const char *value)
{
    struct xd_option_info info;

    return options_library(name, strlen(name), &info)
               ? set_library(a, &info, value)
               : 0;
}

static int take(struct args *a, const struct option_row *row, const char *given,
                char *value)
{
    void *const field = (char *)a + row->at;

    switch (row->kind) {
    case OPTION_LIBRARY:
        return set_named(a, row->name, value != NULL ? value : "yes");
    case OPTION_SWITCH:
        *(bool *)field = true;
        return 0;
    case OPTION_TEXT:
        return set_text(field, row, given, value);
    case OPTION_TEXTS:
        return add_text(field, row, value);
    case OPTION_WORD:
        return set_word(field, row, value);
    case OPTION_COUNT:
        return set_count(field, row, value);
    case OPTION_SIZE:
        return set_size(field, row, value);
    case OPTION_TIME:
        return set_time(field, row, value);
    case OPTION_RATE:
        return set_rate(a, row, value);
    case OPTION_SETTING:
        return values_set(a, value);
    case OPTION_VERSION:
        help_version();
        a->done = true;
        return 0;
    case OPTION_HELP:
    case OPTION_NOTHING:
        return 0;
    }
    return 0;
}

int values_take(struct args *a, const struct option_row *row, char *value)
{
    const char *advice =
        value != NULL ? foreign_value_advice(row->name, value) : NULL;

    if (advice != NULL)
        return words_usage("invalid --%s '%s': %s", row->name, value, advice);
    const char **given = &a->given[options_index(row->name)];
    const int status = take(a, row, *given, value);
    if (status != 0 || row->kind == OPTION_LIBRARY)
        return status;
    *given = value != NULL ? value : "yes";
    /* bench sets options for each of its runs */
    return row->sets != NULL && a->command != COMMAND_BENCH
               ? values_set(a, row->sets)
               : 0;
}

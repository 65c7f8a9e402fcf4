/* SPDX-License-Identifier: MIT */
#include "bench/series.h"

#include <stdlib.h>

#include "bench/measures.h"
#include "bench/settings.h"
#include "common/status.h"
#include "common/words.h"

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

void series_describe(const struct series *s, const struct run *r,
                     struct row *row)
{
    *row = (struct row){.lacks_memory = false};
    subject_describe(&s->subjects[r->input], r->depots, row);
    settings_describe(s->args, r, row);
}

/* ---- runs done before ---- */

static int compare(const void *a, const void *b)
{
    return row_compare_keys(a, b);
}

/* Checks that the library accepts the settings.  Otherwise every run would
 * fail. */
static int check_settings(const struct series *s, const struct run *r)
{
    struct xd_options *o;
    struct xd_error err;

    if (settings_options(&o, s->args, r, &err) < 0)
        return words_usage("%s", err.msg);
    xd_options_free(o);
    return 0;
}

/* Adds the run to the series, unless the results have a row for it. */
static int sift(struct series *s, const struct run *r)
{
    const struct results *old = s->results;
    struct row row;

    int status = check_settings(s, r);
    if (status != 0)
        return status;
    series_describe(s, r, &row);
    if (row.lacks_memory)
        status = no_memory();
    else if (old->n > 0 && bsearch(&row, old->rows, old->n, sizeof *old->rows,
                                   compare) != NULL)
        s->n_before++;
    else
        s->runs[s->n++] = *r;
    row_fini(&row);
    return status;
}

int series_init(struct series *s, const struct args *a, struct sweep *sweep,
                const struct subject *subjects, struct results *results)
{
    int status = 0;

    *s = (struct series){.args = a,
                         .subjects = subjects,
                         .results = results,
                         .runs = sweep->runs};
    pthread_mutex_init(&s->lock, NULL);
    if (results->n > 0)
        qsort(results->rows, results->n, sizeof *results->rows, compare);
    for (size_t i = 0; status == 0 && i < sweep->n; i++) {
        const struct run r = sweep->runs[i];
        status = sift(s, &r);
    }
    return status;
}

void series_fini(struct series *s)
{
    pthread_mutex_destroy(&s->lock);
}

/* ---- taking runs and giving back results ---- */

static bool has_ended_locked(const struct series *s)
{
    return s->status != 0 || s->is_stopped || s->next >= s->n;
}

bool series_take(struct series *s, bool likes, const struct run **out,
                 size_t *out_n)
{
    pthread_mutex_lock(&s->lock);
    const bool has_one = !has_ended_locked(s);
    *out = &s->runs[s->next];
    *out_n = has_one;
    while (has_one && likes && s->next + *out_n < s->n &&
           run_ends_like(*out, *out + *out_n))
        ++*out_n;
    s->next += *out_n;
    pthread_mutex_unlock(&s->lock);
    return has_one;
}

/* Adds a row to the results.  Returns 0; after a failure, prints the error and
 * returns the exit status. */
static int add_locked(struct series *s, const struct row *row)
{
    const double bytes = row_number(row, COL_RECEIVED);

    if (row->lacks_memory)
        return no_memory();
    s->n_done++;
    s->n_failed += !row_is_complete(row);
    if (bytes > 0)
        s->bytes += (uint64_t)bytes;
    return results_add(s->results, row);
}

void series_give(struct series *s, struct row *row, int rc,
                 const struct xd_error *err)
{
    int status = 0;

    measures_provenance(row);
    pthread_mutex_lock(&s->lock);
    if (rc == 0) {
        status = add_locked(s, row);
    } else if (rc != XD_E_CANCELED) {
        words_error("%s", err->msg);
        status = status_of(rc);
    }
    if (s->status == 0)
        s->status = status;
    pthread_mutex_unlock(&s->lock);
    row_fini(row);
}

void series_progress(struct series *s, size_t *out_done, size_t *out_failed)
{
    pthread_mutex_lock(&s->lock);
    *out_done = s->n_done;
    *out_failed = s->n_failed;
    pthread_mutex_unlock(&s->lock);
}

void series_stop(struct series *s, int status)
{
    pthread_mutex_lock(&s->lock);
    if (s->status == 0)
        s->status = status;
    s->is_stopped = true;
    pthread_mutex_unlock(&s->lock);
}

bool series_has_ended(struct series *s)
{
    pthread_mutex_lock(&s->lock);
    const bool has_ended = has_ended_locked(s);
    pthread_mutex_unlock(&s->lock);
    return has_ended;
}

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

static bool describe(const struct series *s, const struct run *r,
                     struct row *row)
{
    *row = (struct row){{NULL}};
    return subject_describe(&s->subjects[r->input], r->depots, row) &&
           settings_describe(s->args, r, row);
}

/* ---- what is done already ---- */

static int compare(const void *a, const void *b)
{
    return row_compare_keys(a, b);
}

/* Settings that the library refuses would fail in every run. */
static int check_settings(const struct series *s, const struct run *r)
{
    struct xd_options *o;
    struct xd_error err;

    if (settings_options(&o, s->args, r, &err) < 0)
        return words_usage("%s", err.msg);
    xd_options_free(o);
    return 0;
}

/* Leave the run out if it has a row, or keep it. */
static int sift(struct series *s, const struct run *r)
{
    const struct results *old = s->results;
    struct row row;

    int status = check_settings(s, r);
    if (status != 0)
        return status;
    if (!describe(s, r, &row))
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

/* ---- take and give ---- */

static bool has_ended_locked(const struct series *s)
{
    return s->status != 0 || s->is_stopped || s->next >= s->n;
}

bool series_take(struct series *s, const struct run **out, size_t *out_n)
{
    bool has_one;

    pthread_mutex_lock(&s->lock);
    has_one = !has_ended_locked(s);
    if (has_one) {
        *out = &s->runs[s->next];
        *out_n = 1;
        while (s->next + *out_n < s->n &&
               (*out)[*out_n].outcome == (*out)->outcome)
            ++*out_n;
        s->next += *out_n;
    }
    pthread_mutex_unlock(&s->lock);
    return has_one;
}

bool series_describe(struct series *s, const struct run *r, struct row *out)
{
    if (describe(s, r, out))
        return true;
    row_fini(out);
    series_stop(s, no_memory());
    return false;
}

static void count_locked(struct series *s, const struct row *row)
{
    const double bytes = row_number(row, COL_RECEIVED);

    s->n_done++;
    s->n_failed += !row_is_complete(row);
    if (bytes > 0)
        s->bytes += (uint64_t)bytes;
}

void series_give(struct series *s, struct row *row, int rc,
                 const struct xd_error *err)
{
    int status = 0;

    pthread_mutex_lock(&s->lock);
    if (rc == 0 && !measures_provenance(row))
        rc = XD_E_NOMEM;
    if (rc == XD_E_NOMEM) {
        status = no_memory();
    } else if (rc < 0 && rc != XD_E_CANCELED) {
        words_error("%s", err->msg);
        status = status_of(rc);
    } else if (rc == 0) {
        status = results_add(s->results, row);
        count_locked(s, row);
    }
    if (s->status == 0)
        s->status = status;
    pthread_mutex_unlock(&s->lock);
    row_fini(row);
}

void series_progress(struct series *s, size_t *out_done, size_t *out_failed,
                     uint64_t *out_bytes)
{
    pthread_mutex_lock(&s->lock);
    *out_done = s->n_done;
    *out_failed = s->n_failed;
    *out_bytes = s->bytes;
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

/* SPDX-License-Identifier: MIT */
#include "bench/run_virtual.h"

#include <time.h>

#include <pthread.h>
#include <unistd.h>

#include "bench/meter.h"
#include "bench/virtual.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"

#define THREADS_MAX 64

#define TICK_NS 20000000L /* between two looks at how far it is */

/* The row of a run that could only end as the one of `like` did. */
static void give_alike(struct series *s, const struct run *r,
                       const struct row *like)
{
    struct row row;

    if (series_describe(s, r, &row))
        series_give(s, &row, row_copy_measures(&row, like) ? 0 : XD_E_NOMEM,
                    NULL);
}

static void carry_out(struct series *s, const struct run *runs, size_t n)
{
    struct xd_error err;
    struct row row;

    if (!series_describe(s, runs, &row))
        return;
    const int rc =
        virtual_run(s->args, &s->subjects[runs->input], runs, &row, &err);
    for (size_t i = 1; rc == 0 && i < n; i++)
        give_alike(s, &runs[i], &row);
    series_give(s, &row, rc, &err);
}

static void *work(void *arg)
{
    struct series *s = arg;
    const struct run *runs;
    size_t n;

    while (series_take(s, &runs, &n))
        carry_out(s, runs, n);
    return NULL;
}

/* End the series when no run may begin any more. */
static void heed_budget(struct series *s, struct meter *m)
{
    if (series_has_ended(s) || !meter_is_spent(m, s->args->bench.time_budget_s))
        return;
    series_stop(s, 0);
}

/* While the threads work. */
static void watch(struct series *s, struct meter *m)
{
    const struct timespec tick = {0, TICK_NS};

    while (!series_has_ended(s)) {
        size_t done, failed;
        uint64_t bytes;

        nanosleep(&tick, NULL);
        if (signals_came())
            series_stop(s, STATUS_INTERRUPTED);
        heed_budget(s, m);
        series_progress(s, &done, &failed, &bytes);
        meter_update(m, done, failed, NULL);
    }
    meter_clear(m);
}

void run_virtual(struct series *s)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[THREADS_MAX];
    struct meter meter;
    size_t n = 0;

    meter_init(&meter, s->args->quiet, s->n);
    heed_budget(s, &meter);
    while (n < THREADS_MAX && (long)n < processors &&
           pthread_create(&threads[n], NULL, work, s) == 0)
        n++;
    if (n == 0)
        work(s);
    watch(s, &meter);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

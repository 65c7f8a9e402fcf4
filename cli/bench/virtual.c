/* SPDX-License-Identifier: MIT */
#include "bench/virtual.h"

#include <stdlib.h>
#include <time.h>

#include <pthread.h>
#include <unistd.h>

#include "bench/measures.h"
#include "bench/meter.h"
#include "bench/scenario.h"
#include "bench/settings.h"
#include "command/records.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "lab/simulate.h"
#include "trace/trace.h"

/* The congestion control of simulated depots. */
#define CONGESTION_CONTROL "cubic"

#define THREADS_MAX 64

#define TICK_NS 20000000L /* nanoseconds between updates of the progress */

/* ---- one run ---- */

static void note_whole(struct row *row, const struct subject *s,
                       const struct xd_simulated *all)
{
    row_set_number(row, COL_SECONDS, all->seconds);
    row_set_number(row, COL_LIMIT, all->limit_s);
    if (all->first_byte_s >= 0)
        row_set_number(row, COL_FIRST_BYTE, all->first_byte_s);
    row_set_count(row, COL_RECEIVED, all->bytes_received);
    row_set_count(row, COL_REQUESTS, all->requests);
    row_set(row, COL_CONGESTION, CONGESTION_CONTROL);
    if (all->is_complete)
        row_set_number(row, COL_BYTES_PER_S, (double)s->size / all->seconds);
    else
        row_set(row, COL_ERROR, "the download failed");
    row_set(row, COL_OUTCOME,
            all->is_complete ? OUTCOME_COMPLETE : OUTCOME_FAILED);
}

static void note_depots(struct row *row, const struct xd_simulation *sim)
{
    struct xd_simulated_depot d;
    struct measures m;

    measures_init(&m);
    for (size_t i = 0; xd_simulation_depot(sim, i, &d) == 0; i++)
        measures_depot(&m, d.name, d.bytes, d.bytes_redundant, d.failures);
    measures_end(&m, row);
}

static void note(struct row *row, const struct args *a, const struct subject *s,
                 const struct run *r, const struct xd_simulation *sim)
{
    struct xd_simulated all;
    struct xd_fetch_record record = {.struct_size = sizeof record};
    struct records records = {NULL, 0, false};

    xd_simulation_get(sim, &all);
    for (size_t i = 0;
         a->bench.n_rates > 0 && xd_simulation_record(sim, i, &record) == 0;
         i++)
        if (!records_add(&records, &record))
            row->lacks_memory = true;
    note_whole(row, s, &all);
    note_depots(row, sim);
    if (r->reader_rate > 0) {
        row_set_count(row, COL_STALLS, all.n_stalls);
        row_set_number(row, COL_STALL, all.stall_s);
        row_set_number(row, COL_STALL_LONGEST, all.stall_longest_s);
    }
    measures_delays(row, a, s->size, &records);
    free(records.items);
}

/* Simulates a run and fills in its results.  Returns 0 even if the simulated
 * download failed. */
static int simulate(const struct args *a, const struct subject *s,
                    const struct run *r, struct row *row, struct xd_error *err)
{
    struct xd_simulate_what what = {.size = s->size,
                                    .seed = settings_seed(a, r),
                                    .unchecked = true,
                                    .play_bytes_per_s = r->reader_rate,
                                    .prebuffer_s =
                                        r->reader_rate > 0 ? a->prebuffer : 0};
    struct xd_simulation *sim = NULL;
    struct xd_options *o = NULL;
    char name[RUN_NAME_SIZE];
    char *text = scenario_cut(s->scenario, r->depots);
    int rc = settings_options(&o, a, r, err);

    row->lacks_memory = row->lacks_memory || text == NULL;

    what.scenario = text;
    if (rc == 0 && text != NULL)
        rc = xd_simulate(&sim, &what, o, err);
    if (sim != NULL) {
        note(row, a, s, r, sim);
        trace_simulation(a->tracer, run_name(name, r),
                         r->values[AXIS_ALGORITHM], sim, &what);
    }
    xd_simulation_free(sim);
    xd_options_free(o);
    free(text);
    return rc;
}

/* ---- the series ---- */

/* Simulates the first run and copies its results to the other runs. */
static void carry_out(struct series *s, const struct run *runs, size_t n)
{
    struct xd_error err;
    struct row row, like;

    series_describe(s, runs, &row);
    const int rc =
        simulate(s->args, &s->subjects[runs->input], runs, &row, &err);
    for (size_t i = 1; rc == 0 && i < n; i++) {
        series_describe(s, &runs[i], &like);
        row_copy_measures(&like, &row);
        series_give(s, &like, 0, NULL);
    }
    series_give(s, &row, rc, &err);
}

/* Carries out runs on one thread.  Runs with the same result are simulated only
 * once, unless each run is traced. */
static void *work(void *arg)
{
    struct series *s = arg;
    const struct run *runs;
    size_t n;

    while (series_take(s, s->args->tracer == NULL, &runs, &n))
        carry_out(s, runs, n);
    return NULL;
}

/* Ends the series when the time budget is spent. */
static void heed_budget(struct series *s, struct meter *m)
{
    if (series_has_ended(s) || !meter_is_spent(m, s->args->bench.time_budget_s))
        return;
    series_stop(s, 0);
}

/* Shows the progress while the threads work. */
static void watch(struct series *s, struct meter *m)
{
    const struct timespec tick = {0, TICK_NS};

    while (!series_has_ended(s)) {
        size_t done, failed;

        nanosleep(&tick, NULL);
        if (signals_came())
            series_stop(s, STATUS_INTERRUPTED);
        heed_budget(s, m);
        series_progress(s, &done, &failed);
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

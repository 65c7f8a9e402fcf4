/* SPDX-License-Identifier: MIT */
#include "bench/run_live.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "bench/cost.h"
#include "bench/live.h"
#include "bench/meter.h"
#include "bench/scratch.h"
#include "common/moment.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"

#define LOOK_S 0.1 /* between two looks for a signal */

struct runner {
    struct series *series;
    struct live live;
    struct meter meter;
    char name[RUN_NAME_SIZE]; /* of the run that is carried out */
};

static void draw(void *user)
{
    struct runner *r = user;
    size_t done, failed;
    uint64_t bytes;

    series_progress(r->series, &done, &failed, &bytes);
    meter_update(&r->meter, done, failed, r->name);
    if (signals_stop_came()) {
        meter_clear(&r->meter);
        signals_stop();
    }
}

/* A line for each run, which is what a user waits for. */
static void print_run(struct runner *r, const struct row *row)
{
    const double rate = row_number(row, COL_BYTES_PER_S);
    char seconds[UNITS_SIZE], speed[UNITS_SIZE];

    if (r->series->args->quiet)
        return;
    meter_clear(&r->meter);
    if (row_is_complete(row))
        fprintf(stderr, "%s: %s, %s\n", r->name,
                units_seconds(seconds, row_number(row, COL_SECONDS)),
                units_rate(speed, rate));
    else
        words_error("%s failed: %s", r->name, row_get(row, COL_ERROR));
}

static void carry_out(struct runner *r, const struct run *run, struct row *row)
{
    const struct subject *s = &r->series->subjects[run->input];
    struct xd_error err = {.code = XD_OK};

    run_name(r->name, run);
    const int rc = live_run(&r->live, r->name, s, run, row, &err);
    if (rc == 0)
        print_run(r, row);
    series_give(r->series, row, rc, &err);
}

static double pause_s(const struct runner *r)
{
    const double given = r->series->args->bench.cool_down_s;

    return given >= 0 ? given
                      : fmax(COOL_DOWN_LEAST_S,
                             fmin(r->live.drain_s, COOL_DOWN_MOST_S));
}

static void cool_down(struct runner *r)
{
    const double end_s = moment_s() + pause_s(r);

    while (!signals_came() && moment_s() < end_s) {
        const double left_s = end_s - moment_s();
        const struct timespec nap = {
            0, (long)((left_s < LOOK_S ? left_s : LOOK_S) * 1e9)};
        nanosleep(&nap, NULL);
        draw(r);
    }
}

/* What the next run may fetch; of a file whose size is not known, as much as the
 * runs so far. */
static uint64_t next_cost(const struct series *s)
{
    const struct run *next = &s->runs[s->next];
    const uint64_t cost = cost_of(next, &s->subjects[next->input]);

    return cost == 0 && s->n_done > 0 ? s->bytes / s->n_done : cost;
}

/* Whether a budget ends it before the next run; that is said. */
static bool is_spent(struct runner *r)
{
    const struct series *s = r->series;
    const struct bench_args *b = &s->args->bench;

    if (meter_is_spent(&r->meter, b->time_budget_s))
        return true;
    if (b->byte_budget == 0 || s->bytes + next_cost(s) <= b->byte_budget)
        return false;
    words_error("the next run would exceed the byte budget");
    return true;
}

static void run_all(struct runner *r)
{
    struct series *s = r->series;
    const struct run *run;
    struct row row;
    size_t n; /* 1: each run is carried out */

    while (!series_has_ended(s)) {
        if (signals_came())
            series_stop(s, STATUS_INTERRUPTED);
        else if (is_spent(r))
            series_stop(s, 0);
        if (!series_take(s, &run, &n) || !series_describe(s, run, &row))
            break;
        carry_out(r, run, &row);
        if (!series_has_ended(s))
            cool_down(r);
    }
    meter_clear(&r->meter);
}

void run_live(struct series *s)
{
    char folder[SCRATCH_SIZE];
    struct runner r = {.series = s, .live = {s->args, folder, draw, &r, 0}};

    const int status = scratch_make(folder);
    if (status != 0)
        series_stop(s, status);
    meter_init(&r.meter, s->args->quiet, s->n);
    run_all(&r);
    scratch_remove(folder);
}

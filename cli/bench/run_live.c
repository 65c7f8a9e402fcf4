/* SPDX-License-Identifier: MIT */
#include "bench/live.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <unistd.h>

#include "bench/cost.h"
#include "bench/meter.h"
#include "common/moment.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"

#define LOOK_S 0.1 /* seconds between checks for a signal */

struct runner {
    struct series *series;
    struct live live;
    struct meter meter;
    char name[RUN_NAME_SIZE]; /* name of the current run */
};

static void draw(void *user)
{
    struct runner *r = user;
    size_t done, failed;

    series_progress(r->series, &done, &failed);
    meter_update(&r->meter, done, failed, r->name);
    if (signals_stop_came()) {
        meter_clear(&r->meter);
        signals_stop();
    }
}

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

/* Returns the number of bytes that the next run may download.  If the size of
 * the file is unknown, this is the mean of the runs so far. */
static uint64_t next_cost(const struct series *s)
{
    const struct run *next = &s->runs[s->next];
    const uint64_t cost = cost_of(next, &s->subjects[next->input]);

    return cost == 0 && s->n_done > 0 ? s->bytes / s->n_done : cost;
}

/* Returns true if a budget does not allow the next run.  Prints a message
 * then. */
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
    size_t n;

    while (!series_has_ended(s)) {
        if (signals_came())
            series_stop(s, STATUS_INTERRUPTED);
        else if (is_spent(r))
            series_stop(s, 0);
        if (!series_take(s, false, &run, &n))
            break;
        series_describe(s, run, &row);
        carry_out(r, run, &row);
        if (!series_has_ended(s))
            cool_down(r);
    }
    meter_clear(&r->meter);
}

/* Makes a temporary folder in $TMPDIR or /var/tmp for downloaded files. */
static int make_folder(char out[LIVE_FOLDER_SIZE])
{
    const char *folder = getenv("TMPDIR");

    if (folder == NULL || folder[0] == '\0')
        folder = "/var/tmp";
    const int n =
        snprintf(out, LIVE_FOLDER_SIZE, "%s/xdownload-bench-XXXXXX", folder);
    if (n < 0 || n >= LIVE_FOLDER_SIZE)
        errno = ENAMETOOLONG;
    else if (mkdtemp(out) != NULL)
        return 0;
    words_error("no folder for what is fetched can be made in %s: %s", folder,
                strerror(errno));
    return STATUS_LOCAL;
}

void live_empty(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
}

void run_live(struct series *s)
{
    char folder[LIVE_FOLDER_SIZE];
    struct runner r = {.series = s, .live = {s->args, folder, draw, &r, 0}};

    const int status = make_folder(folder);
    if (status != 0) {
        series_stop(s, status);
        return;
    }
    meter_init(&r.meter, s->args->quiet, s->n);
    run_all(&r);
    live_empty(folder);
    (void)rmdir(folder);
}

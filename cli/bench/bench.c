/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "bench/cost.h"
#include "bench/live.h"
#include "bench/series.h"
#include "bench/summarize.h"
#include "bench/virtual.h"
#include "common/installed.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"

/* A sweep over one or more subjects. */
struct bench {
    const struct args *args;
    struct subject subjects[BENCH_SCENARIOS_MAX];
    size_t n_subjects;
    struct sweep sweep;
    struct results results;
    struct series series;
};

static int add_subject(struct bench *b, const char *scenario)
{
    struct subject *s = &b->subjects[b->n_subjects++];
    struct subsets depots;
    char why[300];

    int status = scenario != NULL ? subject_of_scenario(s, b->args, scenario)
                                  : subject_of_manifest(s, b->args);
    if (status != 0)
        return status;
    const char *which = b->args->bench.depots;
    if (!subsets_parse(&depots, which != NULL ? which : "all", s->n_depots, why,
                       sizeof why))
        return words_usage("--depots: %s", why);
    status = sweep_add(&b->sweep, b->args, b->n_subjects - 1, &depots);
    free(depots.items);
    return status;
}

static int add_subjects(struct bench *b)
{
    const struct bench_args *wanted = &b->args->bench;
    int status = 0;

    if (wanted->n_scenarios == 0)
        return add_subject(b, NULL);
    for (size_t i = 0; status == 0 && i < wanted->n_scenarios; i++)
        status = add_subject(b, wanted->scenarios[i]);
    return status;
}

/* ---- end of a series ---- */

static void print_rest(const struct bench *b)
{
    const struct series *s = &b->series;

    words_error("%s after %zu of %zu %s%s",
                s->status == STATUS_INTERRUPTED ? "interrupted" : "ended",
                s->n_done, s->n, run_word(s->n),
                b->results.path != NULL ? "; the same command does the rest"
                                        : "");
}

static int status_after(const struct bench *b)
{
    const struct series *s = &b->series;

    if (s->n_done < s->n && s->status != STATUS_PIPE)
        print_rest(b);
    if (s->status != 0)
        return s->status;
    if (s->n_failed > 0)
        words_error("%zu of %zu %s failed: the column 'error' says why",
                    s->n_failed, s->n_done, run_word(s->n_done));
    return s->n_done > 0 && s->n_failed == s->n_done ? STATUS_FAILED
                                                     : STATUS_COMPLETE;
}

static int carry_out(struct bench *b)
{
    signals_watch();
    if (b->subjects[0].scenario != NULL)
        run_virtual(&b->series);
    else
        run_live(&b->series);
    if (signals_came())
        series_stop(&b->series, STATUS_INTERRUPTED);
    signals_restore();
    return status_after(b);
}

/* Opens the results file.  A dry run only reads it, if it exists, and writes
 * nothing. */
static int open_results(struct bench *b)
{
    const struct args *a = b->args;
    const bool is_file = a->output != NULL && !args_to_stdout(a);

    if (!a->dry_run)
        return results_open(&b->results, a->output, a->json);
    return is_file && access(a->output, F_OK) == 0
               ? results_read(&b->results, a->output)
               : 0;
}

static int sweep_all(struct bench *b)
{
    int status = sweep_init(&b->sweep, b->args);

    if (status == 0)
        status = add_subjects(b);
    if (status != 0)
        return status;
    if (b->subjects[0].scenario != NULL)
        sweep_sort(&b->sweep);
    else
        sweep_shuffle(&b->sweep, b->args->bench.seed);
    status = open_results(b);
    if (status != 0)
        return status;
    status =
        series_init(&b->series, b->args, &b->sweep, b->subjects, &b->results);
    if (status == 0)
        status = cost_print(&b->series);
    if (status == 0 && !b->args->dry_run)
        status = carry_out(b);
    series_fini(&b->series);
    return status;
}

static int run_sweep(const struct args *a)
{
    struct bench *b = calloc(1, sizeof *b);

    if (b == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    b->args = a;
    b->results.fd = -1;
    const int status = sweep_all(b);
    results_fini(&b->results);
    sweep_fini(&b->sweep);
    for (size_t i = 0; i < b->n_subjects; i++)
        subject_fini(&b->subjects[i]);
    free(b);
    return status;
}

/* Runs the script that plots the results: it groups the rows and calls
 * gnuplot. */
static int plot_results(const struct args *a)
{
    const char **words = calloc(a->n_inputs + 4, sizeof *words);
    size_t n = 0;

    if (words == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    if (a->quiet)
        words[n++] = "-q";
    words[n++] = "--";
    words[n++] = a->bench.plot;
    memcpy(words + n, a->inputs, a->n_inputs * sizeof *words);
    const int status = installed_run("bench-plot.py", words);
    free(words);
    return status;
}

int bench_run(const struct args *a)
{
    if (a->bench.summarize)
        return summarize_results(a);
    if (a->bench.plot != NULL)
        return plot_results(a);
    return run_sweep(a);
}

/* SPDX-License-Identifier: MIT */
#include "bench/virtual.h"

#include <inttypes.h>
#include <stdlib.h>

#include <xdownload/simulate.h>

#include "bench/measures.h"
#include "bench/scenario.h"
#include "bench/settings.h"
#include "trace/trace.h"

/* What the depots sent with, in the simulator. */
#define CONGESTION_CONTROL "cubic"

static bool note_whole(struct row *row, const struct subject *s,
                       const struct xd_simulated *all)
{
    const bool good =
        row_set_number(row, COL_SECONDS, all->seconds) &&
        row_set_number(row, COL_LIMIT, all->limit_s) &&
        (all->first_byte_s < 0 ||
         row_set_number(row, COL_FIRST_BYTE, all->first_byte_s)) &&
        row_set(row, COL_RECEIVED, "%" PRIu64, all->bytes_received) &&
        row_set(row, COL_REQUESTS, "%u", all->requests) &&
        row_set(row, COL_CONGESTION, CONGESTION_CONTROL);

    if (!all->is_complete)
        return good && row_set(row, COL_ERROR, "the download failed") &&
               row_set(row, COL_OUTCOME, OUTCOME_FAILED);
    return good &&
           row_set_number(row, COL_BYTES_PER_S,
                          (double)s->size / all->seconds) &&
           row_set(row, COL_OUTCOME, OUTCOME_COMPLETE);
}

static bool note_stalls(struct row *row, const struct xd_simulated *all)
{
    return row_set(row, COL_STALLS, "%u", all->n_stalls) &&
           row_set_number(row, COL_STALL, all->stall_s) &&
           row_set_number(row, COL_STALL_LONGEST, all->stall_longest_s);
}

static bool note_depots(struct row *row, const struct xd_simulation *sim)
{
    struct xd_simulated_depot d = {.struct_size = sizeof d};
    struct measures m;

    measures_init(&m);
    for (size_t i = 0; xd_simulation_depot(sim, i, &d) == 0; i++)
        measures_depot(&m, d.name, d.bytes, d.bytes_redundant, d.failures);
    return measures_end(&m, row);
}

static int note(struct row *row, const struct args *a, const struct subject *s,
                const struct run *r, const struct xd_simulation *sim)
{
    struct xd_simulated all = {.struct_size = sizeof all};
    struct xd_fetch_record record = {.struct_size = sizeof record};
    struct records records = {NULL, 0, false};
    bool good = true;

    xd_simulation_get(sim, &all);
    for (size_t i = 0; good && a->bench.n_rates > 0 &&
                       xd_simulation_record(sim, i, &record) == 0;
         i++)
        good = records_add(&records, &record);
    good = good && note_whole(row, s, &all) && note_depots(row, sim) &&
           (r->reader_rate <= 0 || note_stalls(row, &all)) &&
           measures_delays(row, a, s->size, &records);
    free(records.items);
    return good ? 0 : XD_E_NOMEM;
}

int virtual_run(const struct args *a, const struct subject *s,
                const struct run *r, struct row *row, struct xd_error *err)
{
    struct xd_simulate_what what = {.struct_size = sizeof what,
                                    .size = s->size,
                                    .seed = settings_seed(a, r),
                                    .unchecked = true,
                                    .play_bytes_per_s = r->reader_rate,
                                    .prebuffer_s =
                                        r->reader_rate > 0 ? a->prebuffer : 0};
    struct xd_simulation *sim = NULL;
    struct xd_options *o = NULL;
    char name[RUN_NAME_SIZE];
    char *text = scenario_cut(s->scenario, r->depots);
    int rc = text != NULL ? settings_options(&o, a, r, err) : XD_E_NOMEM;

    what.scenario = text;
    if (rc == 0)
        rc = xd_simulate(&sim, &what, o, err);
    if (rc == 0)
        rc = note(row, a, s, r, sim);
    if (rc == 0)
        trace_simulation(a->tracer, run_name(name, r), r->algorithm, sim,
                         &what);
    xd_simulation_free(sim);
    xd_options_free(o);
    free(text);
    return rc;
}

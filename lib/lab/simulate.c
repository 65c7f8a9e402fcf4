/* SPDX-License-Identifier: MIT */
#include "lab/simulate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "command/records.h"
#include "command/settings.h"
#include "engine/decide.h"
#include "engine/options.h"
#include "engine/readers/window.h"
#include "sim/run.h"

/* Limit of the simulated bytes.  A simulation handles each packet, so this
 * limits its run time. */
#define MOST_BYTES (UINT64_C(1) << 36)

#define MOST_PLAYED 1e12
#define MOST_PREBUFFER_S 86400.0

struct xd_simulation {
    struct xd_scenario scenario;
    struct xd_sim_result result;
    double limit, least_stall;
    struct xd_fetch_record *records;
    size_t n_records;
    bool failed; /* a record was lost, because memory ran out */
};

/* Converts a time to seconds; returns -1 for XD_NEVER. */
static double moment(xd_usec at)
{
    return at == XD_NEVER ? -1 : xd_seconds(at);
}

static enum xd_code code_of(enum xd_sim_end how)
{
    switch (how) {
    case XD_SIM_DONE:
        return XD_OK;
    case XD_SIM_FAILED:
        return XD_E_NET;
    case XD_SIM_STOPPED:
        return XD_E_CANCELED;
    }
    return XD_E_BUG;
}

static void on_record(void *user, const struct xd_sim_record *r)
{
    struct xd_simulation *s = user;
    struct xd_fetch_record *records =
        xd_realloc(s->records, s->n_records + 1, sizeof *records);

    if (!records) {
        s->failed = true;
        return;
    }
    s->records = records;
    records[s->n_records++] =
        (struct xd_fetch_record){.struct_size = sizeof *records,
                                 .depot = r->depot,
                                 .begin = r->range.begin,
                                 .end = r->range.end,
                                 .received = r->received,
                                 .redundant = r->redundant,
                                 .start_s = xd_seconds(r->began),
                                 .first_byte_s = moment(r->first_byte),
                                 .end_s = xd_seconds(r->ended),
                                 .code = code_of(r->how),
                                 .reason = r->reason,
                                 .lane = r->lane,
                                 .queued_s = xd_seconds(r->began),
                                 .connect_s = xd_seconds(r->connect)};
}

static uint64_t window_of(const struct xd_simulate_what *what,
                          const struct xd_options *o)
{
    if (what->play_bytes_per_s > 0)
        return xd_window_bytes(o, (uint64_t)what->play_bytes_per_s);
    return what->in_order ? o->lookahead : 0;
}

static int run(struct xd_simulation *s, const struct xd_simulate_what *what,
               const struct xd_options *o, struct xd_error *err)
{
    const uint64_t play_rate = (uint64_t)what->play_bytes_per_s;
    struct xd_sim_options options = {
        .sched = xd_decide_options(o, window_of(what, o)),
        .player = {.bytes_per_s = play_rate,
                   .prebuffer = (xd_usec)(what->prebuffer_s * XD_SECOND)},
        .size = what->size,
        .seed = what->seed,
        .piece_bytes = what->piece_bytes,
        .silence = o->silence,
        .is_silence_exact = xd_options_is_set(o, "silence"),
        .has_tls = what->https,
        .has_http2 = what->https,
        .has_bbr = what->bbr,
        .is_unchecked = what->unchecked && play_rate == 0,
        .record = on_record,
        .record_user = s};
    int rc = xd_scenario_parse(&s->scenario, what->scenario, err);

    if (rc < 0)
        return rc;
    options.sched.has_gaps = options.sched.runs_on = play_rate > 0;
    rc = xd_scenario_limit(&s->scenario, options.sched.lanes_per_depot,
                           what->size, &s->limit);
    if (rc == 0 && play_rate > 0)
        rc = xd_scenario_stall(&s->scenario, options.sched.lanes_per_depot,
                               what->size, what->piece_bytes, play_rate,
                               what->prebuffer_s, &s->least_stall);
    if (rc == 0)
        rc = xd_sim_run(&s->scenario, &options, &s->result);
    return rc < 0 || s->failed ? xd_fail_nomem(err) : 0;
}

static int check_player(const struct xd_simulate_what *what,
                        const struct xd_options *o, struct xd_error *err)
{
    double rate = what->play_bytes_per_s, prebuffer = what->prebuffer_s;

    if (rate != 0 && !(rate >= 1 && rate <= MOST_PLAYED))
        return xd_fail(err, XD_E_INVAL,
                       "play_bytes_per_s: %g bytes per second is out of "
                       "range: use 1 to 1e12",
                       rate);
    if (!(prebuffer >= 0 && prebuffer <= MOST_PREBUFFER_S))
        return xd_fail(err, XD_E_INVAL,
                       "prebuffer_s: %g s is not between 0 and a day",
                       prebuffer);
    if (rate == 0 && what->in_order && o->lookahead_time > 0)
        return xd_fail(err, XD_E_INVAL,
                       "lookahead: seconds are for a player; here it must be a "
                       "size");
    return 0;
}

static int check(const struct xd_simulate_what *what,
                 const struct xd_options *o, struct xd_error *err)
{
    uint64_t most = MOST_BYTES;
    int rc;

    if (what->size == 0 || what->size > most)
        return xd_fail(err, XD_E_INVAL,
                       "size: a file of %llu bytes cannot be simulated, only "
                       "1 to %llu",
                       (unsigned long long)what->size,
                       (unsigned long long)most);
    if (what->size / o->block_bytes >= XD_DECIDE_MOST_BLOCKS)
        return xd_fail(err, XD_E_INVAL,
                       "block-size: %llu bytes in blocks of %llu are too many "
                       "blocks",
                       (unsigned long long)what->size,
                       (unsigned long long)o->block_bytes);
    rc = check_player(what, o, err);
    return rc < 0 ? rc : xd_options_check(o, err);
}

int xd_simulate(struct xd_simulation **out, const struct xd_simulate_what *what,
                const struct xd_options *o, struct xd_error *err)
{
    struct xd_options defaults;
    struct xd_simulation *s;
    int rc;

    *out = NULL;
    if (!o) {
        xd_options_init(&defaults);
        o = &defaults;
    }
    rc = check(what, o, err);
    if (rc < 0)
        return rc;
    s = xd_alloc(1, sizeof *s);
    if (!s)
        return xd_fail_nomem(err);
    rc = run(s, what, o, err);
    if (rc < 0) {
        xd_simulation_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void xd_simulation_get(const struct xd_simulation *s, struct xd_simulated *out)
{
    const struct xd_sim_result *r = &s->result;

    *out =
        (struct xd_simulated){.is_complete = r->is_complete,
                              .seconds = xd_seconds(r->took),
                              .limit_s = s->limit,
                              .bytes_received = r->wire,
                              .first_byte_s = moment(r->first_byte),
                              .n_stalls = r->n_stalls,
                              .stall_s = xd_seconds(r->stalled),
                              .stall_longest_s = xd_seconds(r->longest_stall),
                              .stall_least_s = s->least_stall,
                              .n_depots = r->n_depots};

    for (size_t i = 0; i < r->n_depots; i++)
        out->requests += r->depots[i].requests;
    if (r->broken != XD_RULE_NONE)
        out->broken_rule = xd_rule_text(r->broken);
}

int xd_simulation_depot(const struct xd_simulation *s, size_t i,
                        struct xd_simulated_depot *out)
{
    const struct xd_sim_depot *d;

    if (i >= s->result.n_depots)
        return XD_E_INVAL;
    d = &s->result.depots[i];
    *out = (struct xd_simulated_depot){
        .name = xd_scenario_depot(&s->scenario, i)->name,
        .bytes = d->bytes,
        .bytes_redundant = d->redundant,
        .bytes_received = d->wire,
        .requests = d->requests,
        .failures = d->failures,
        .connections = d->connections};
    return 0;
}

int xd_simulation_record(const struct xd_simulation *s, size_t i,
                         struct xd_fetch_record *out)
{
    if (i >= s->n_records)
        return XD_E_INVAL;
    *out = s->records[i];
    return 0;
}

void xd_simulation_free(struct xd_simulation *s)
{
    if (!s)
        return;
    xd_scenario_fini(&s->scenario);
    xd_sim_result_fini(&s->result);
    xd_free(s->records);
    xd_free(s);
}

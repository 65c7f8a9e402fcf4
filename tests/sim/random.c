/* SPDX-License-Identifier: MIT */
#include "random.h"

#include <math.h>

#include "sim/net.h"

#define MOST_DEPOTS 20
#define LEAST_SIZE (256 * 1024.0)
#define MOST_SIZE (24 * 1048576.0)

struct draw {
    struct xd_text *out;
    uint64_t state;
    double least_rtt, most_rtt; /* ms */
    double sum;                 /* of the rates, kbit/s */
    bool has_tiers;
};

static double between(struct draw *d, double least, double most)
{
    return least + xd_sim_uniform(&d->state) * (most - least);
}

/* As likely to be between 1 and 10 as between 10 and 100. */
static double scaled(struct draw *d, double least, double most)
{
    return least * exp2(xd_sim_uniform(&d->state) * log2(most / least));
}

static bool chance(struct draw *d, unsigned percent)
{
    return xd_sim_random(&d->state) % 100 < percent;
}

static double draw_rate(struct draw *d, double base)
{
    double rate = base * scaled(d, 0.03, 30);

    return rate < 200 ? 200 : rate > 200000 ? 200000 : rate;
}

static void add_changes(struct draw *d, unsigned depot, double rate)
{
    double at = 0;

    for (unsigned n = (unsigned)between(d, 1, 5); n > 0; n--) {
        at += between(d, 0.1, 3);
        xd_text_addf(d->out, "at %.2fs d%u rate=%.0fkbit\n", at, depot,
                     fmax(100, rate * scaled(d, 0.03, 3)));
    }
}

/* The first survives, so that there is an end. */
static void add_silence(struct draw *d, unsigned depot)
{
    double at = between(d, 0, 5);

    xd_text_addf(d->out, "at %.2fs d%u down\n", at, depot);
    if (depot == 0 || chance(d, 70))
        xd_text_addf(d->out, "at %.2fs d%u up\n", at + between(d, 0.3, 8),
                     depot);
}

static void add_depot(struct draw *d, unsigned i, double base, bool has_link)
{
    double rate = draw_rate(d, base);

    xd_text_addf(d->out, "depot d%u 198.18.1.%u rate=%.0fkbit rtt=%.1fms", i,
                 i + 1, rate, scaled(d, d->least_rtt, d->most_rtt));
    xd_text_addf(d->out, " queue=%.0fk", scaled(d, 32, 1024));
    if (chance(d, 25))
        xd_text_addf(d->out, " loss=%.3f%%", scaled(d, 0.01, 2));
    if (chance(d, 20))
        xd_text_addf(d->out, " jitter=%.1fms", between(d, 0, 20));
    if (has_link && chance(d, 50))
        xd_text_addf(d->out, " via=l");
    if (d->has_tiers && chance(d, 50))
        xd_text_addf(d->out, " owners=2");
    if (d->has_tiers && chance(d, 50))
        xd_text_addf(d->out, " tier=%u", chance(d, 50) ? 1 : 2);
    xd_text_addf(d->out, i > 0 && chance(d, 5) ? " down\n" : "\n");
    if (chance(d, 30))
        add_changes(d, i, rate);
    if (chance(d, 12))
        add_silence(d, i);
    d->sum += rate;
}

static uint64_t draw_scenario(struct draw d)
{
    struct xd_text *out = d.out;
    double u = xd_sim_uniform(&d.state), base = scaled(&d, 1000, 60000);
    unsigned n = 1 + (unsigned)(u * u * MOST_DEPOTS);
    bool has_link = chance(&d, 20);
    double rate = 1e6, size;

    if (has_link)
        xd_text_addf(out, "link l rate=%.0fkbit queue=256k\n",
                     scaled(&d, base / 4, 4 * base));
    for (unsigned i = 0; i < n; i++)
        add_depot(&d, i, base, has_link);
    if (chance(&d, 50))
        rate = fmin(rate, d.sum * scaled(&d, 0.2, 2));
    xd_text_addf(out, "client rate=%.0fkbit queue=%.0fk\n", rate,
                 scaled(&d, 128, 4096));
    size = fmin(rate, d.sum) * 125 * between(&d, 1, 5);
    return (uint64_t)fmin(fmax(size, LEAST_SIZE), MOST_SIZE);
}

uint64_t xd_random_scenario(struct xd_text *out, uint64_t seed)
{
    return draw_scenario((struct draw){
        .out = out, .state = seed, .least_rtt = 1, .most_rtt = 300});
}

uint64_t xd_random_far_scenario(struct xd_text *out, uint64_t seed)
{
    return draw_scenario((struct draw){
        .out = out, .state = seed, .least_rtt = 300, .most_rtt = 800});
}

uint64_t xd_random_tiered_scenario(struct xd_text *out, uint64_t seed)
{
    return draw_scenario((struct draw){.out = out,
                                       .state = seed,
                                       .least_rtt = 1,
                                       .most_rtt = 300,
                                       .has_tiers = true});
}

const char *xd_bad_kind_name(enum xd_bad_kind kind)
{
    static const char *const names[XD_N_BAD_KINDS] = {
        "slow", "lossy", "dead", "refuses", "silent", "stutters", "lies"};

    return names[kind];
}

static void add_stutters(struct draw *d)
{
    double at = 0;

    for (unsigned i = 0; i < 6; i++) {
        at += between(d, 0.1, 1.5);
        xd_text_addf(d->out, "at %.2fs bad down\n", at);
        at += between(d, 0.2, 3);
        xd_text_addf(d->out, "at %.2fs bad up\n", at);
    }
}

void xd_random_bad_depot(struct xd_text *out, enum xd_bad_kind kind,
                         uint64_t seed)
{
    struct draw d = {.out = out, .state = ~seed};
    double rate =
        kind == XD_BAD_SLOW ? scaled(&d, 20, 300) : scaled(&d, 1000, 50000);

    xd_text_addf(out, "depot bad 198.18.1.99 rate=%.0fkbit rtt=%.1fms", rate,
                 scaled(&d, 1, 300));
    if (kind == XD_BAD_LOSSY)
        xd_text_addf(out, " loss=%.1f%%", between(&d, 3, 30));
    if (kind == XD_BAD_DEAD)
        xd_text_addf(out, " down");
    if (kind == XD_BAD_REFUSES)
        xd_text_addf(out, " refuses");
    if (kind == XD_BAD_LIES)
        xd_text_addf(out, " lies");
    xd_text_addf(out, "\n");
    if (kind == XD_BAD_SILENT)
        xd_text_addf(out, "at %.2fs bad down\n", between(&d, 0.02, 3));
    if (kind == XD_BAD_STUTTERS)
        add_stutters(&d);
}

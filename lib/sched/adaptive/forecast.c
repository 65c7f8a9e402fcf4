/* SPDX-License-Identifier: MIT */
#include "sched/adaptive/forecast.h"

/* Bytes come in gulps; over less than this they tell no rate. */
#define SAMPLE (50 * XD_MS)

/* A rate is forgotten as fast as this, or as so many round trips, in each of
 * which TCP sends a window and waits.  Shorter, and the last gulps decide; longer,
 * and a depot that collapses is believed for too long. */
#define MEMORY (400 * XD_MS)
#define MEMORY_LATENCIES 4

/* While samples are so many times what came before, TCP is finding its speed, and
 * they tell less than a guess.  In so many latencies it comes from its first ten
 * packets to megabytes. */
#define GROWTH 1.5
#define GROWTH_LATENCIES 8

/* A rate is calm once it has stayed within GROWTH for so long, in which TCP has
 * found its speed.  From then on it is remembered for longer than what it is
 * compared with.  Twice as much is more than flows on one line take from each
 * other, and four times as much is more than TCP grows in that time. */
#define CALM (500 * XD_MS)
#define CALM_LATENCIES 8
#define CALM_MEMORY (2 * XD_SECOND)
#define QUICK_MEMORY (200 * XD_MS)
#define QUICK_LATENCIES 2
#define RISE 2
#define JUMP 4

#define LEAST_PATIENCE (400 * XD_MS)
#define PATIENCE_LATENCIES 3

void xd_forecast_guess(struct xd_forecast *f, double rate, xd_usec latency)
{
    *f = (struct xd_forecast){.rate = rate, .guess = rate, .latency = latency};
}

void xd_forecast_answered(struct xd_forecast *f, xd_usec wait, unsigned parts)
{
    /* Only the first is sure to have had to connect. */
    if (f->latency == 0)
        f->latency = wait / parts;
    else
        f->latency = (3 * f->latency + wait) / 4;
    if (f->latency == 0)
        f->latency = 1;
}

/* It says no more than that the depot takes no longer. */
void xd_forecast_queued(struct xd_forecast *f, xd_usec wait)
{
    if (f->latency == 0 || wait < f->latency)
        f->latency = wait > 0 ? wait : 1;
}

static xd_usec memory_of(const struct xd_forecast *f)
{
    xd_usec memory = MEMORY_LATENCIES * f->latency;

    if (memory < MEMORY)
        memory = MEMORY;
    return f->watched < memory ? f->watched : memory;
}

static double rate_after(const struct xd_forecast *f, double sample)
{
    bool is_growing =
        sample > f->seen * GROWTH && f->watched < GROWTH_LATENCIES * f->latency;

    return is_growing && f->seen < f->guess ? f->guess : f->seen;
}

static xd_usec longer(xd_usec a, xd_usec b)
{
    return a > b ? a : b;
}

static void smooth(double *rate, double sample, xd_usec passed, xd_usec memory)
{
    *rate += (sample - *rate) * (double)passed / (double)longer(passed, memory);
}

static bool is_calm(const struct xd_forecast *f)
{
    return f->watched - f->calm_at >= longer(CALM, CALM_LATENCIES * f->latency);
}

static void begin_calm_anew(struct xd_forecast *f)
{
    f->calm = f->seen;
    f->calm_at = f->watched;
}

static void watch_calm(struct xd_forecast *f, double sample, xd_usec passed)
{
    bool was_rising = f->is_rising;

    f->is_rising = false;
    smooth(&f->quick, sample, passed,
           longer(QUICK_MEMORY, QUICK_LATENCIES * f->latency));
    if (!is_calm(f)) {
        if (f->seen > f->calm * GROWTH || f->seen * GROWTH < f->calm)
            begin_calm_anew(f);
    } else if (f->quick <= RISE * f->calm) {
        smooth(&f->calm, f->seen, passed, CALM_MEMORY);
    } else if (!was_rising) {
        f->is_rising = true; /* a gulp, or the next sample says so too */
    } else {
        f->has_risen = f->quick < JUMP * f->calm;
        begin_calm_anew(f);
    }
}

static void take_sample(struct xd_forecast *f, xd_usec now)
{
    xd_usec passed = now - f->since, memory;
    double sample = (double)f->fresh * (double)XD_SECOND / (double)passed;

    f->watched += passed;
    memory = memory_of(f);
    smooth(&f->seen, sample, passed, memory);
    watch_calm(f, sample, passed);
    f->rate = rate_after(f, sample);
    f->since = now;
    f->fresh = 0;
}

void xd_forecast_heard(struct xd_forecast *f, xd_usec now, uint64_t bytes)
{
    f->has_risen = false;
    if (!f->is_flowing) {
        f->is_flowing = true;
        f->since = now - f->carried;
        f->carried = 0;
        if (f->rate > 0)
            return; /* how long these took is not known */
    }
    f->fresh += bytes;
    if (now - f->since >= SAMPLE)
        take_sample(f, now);
}

/* Where all requests are short, several together make a sample. */
void xd_forecast_paused(struct xd_forecast *f, xd_usec heard_at)
{
    if (!f->is_flowing)
        return;
    if (heard_at - f->since >= SAMPLE && f->fresh > 0)
        take_sample(f, heard_at);
    f->carried = heard_at - f->since;
    f->is_flowing = false;
}

/* Where each answer is one gulp no sample is ever taken, and where they are short
 * it takes long; without this such a depot would be asked for one small request
 * at a time for ever. */
void xd_forecast_gulped(struct xd_forecast *f, xd_usec wait, uint64_t bytes)
{
    double least;

    if (wait == 0)
        return;
    least = (double)bytes * (double)XD_SECOND / (double)wait;
    if (f->seen < least)
        f->seen = least;
    if (f->rate < least)
        f->rate = least;
}

void xd_forecast_forget(struct xd_forecast *f)
{
    *f = (struct xd_forecast){.latency = f->latency};
}

xd_usec xd_forecast_patience(const struct xd_forecast *f)
{
    xd_usec patience = PATIENCE_LATENCIES * f->latency;

    return patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE;
}

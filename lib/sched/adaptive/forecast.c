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

static void take_sample(struct xd_forecast *f, xd_usec now)
{
    xd_usec passed = now - f->since, memory;
    double sample = (double)f->fresh * (double)XD_SECOND / (double)passed;

    f->watched += passed;
    memory = memory_of(f);
    f->seen += (sample - f->seen) * (double)passed /
               (double)(passed > memory ? passed : memory);
    f->rate = rate_after(f, sample);
    f->since = now;
    f->fresh = 0;
}

void xd_forecast_heard(struct xd_forecast *f, xd_usec now, uint64_t bytes)
{
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

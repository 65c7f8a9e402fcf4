/* SPDX-License-Identifier: MIT */
#include "play/play_simulated.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "common/moment.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"

/* Media is consumed in portions of this time, each at its very moment. */
#define PORTION_S 0.01

/* How often the picture's place is reported to the library, and a signal is
 * seen. */
#define REPORT_S 0.1
#define LOOK_MS 100

struct viewer {
    struct xd_reader *r;
    struct trace_run *trace;
    double rate;          /* bytes per second */
    double due_s;         /* when the next portion is to be shown */
    double reported_s;    /* of the last report to the library */
    uint64_t shown;       /* bytes */
    unsigned char *bytes; /* one portion */
    size_t room;
};

/* Until the moment, or a signal, which is seen within LOOK_MS. */
static void sleep_until(const struct viewer *p, double at_s)
{
    for (;; trace_look(p->trace)) {
        const double left = at_s - moment_s();
        if (left <= 0 || signals_came())
            return;
        const double s = left < LOOK_MS / 1e3 ? left : LOOK_MS / 1e3;
        const struct timespec t = {0, (long)(s * 1e9)};
        nanosleep(&t, NULL);
    }
}

static void report_state(struct viewer *p, enum xd_play_state state)
{
    xd_reader_playhead(p->r, p->shown, p->rate, state);
    trace_look(p->trace);
    p->reported_s = moment_s();
}

/* Up to `len` bytes, waiting until a signal comes; 0 at the end. */
static int64_t read_patiently(struct viewer *p, unsigned char *to, size_t len)
{
    int64_t n;

    do {
        n = xd_reader_read(p->r, to, len, LOOK_MS);
        trace_look(p->trace);
    } while (n == XD_E_AGAIN && !signals_came());
    return n;
}

/* The next portion, which is due now: if it is not here, the picture stands
 * still until it is.  How many bytes it has, 0 at the end, or a code. */
static int64_t show_portion(struct viewer *p)
{
    const double began_s = moment_s();
    size_t got = 0;
    int64_t n = 1;
    bool waits = false;

    while (got < p->room && n > 0) {
        n = xd_reader_read(p->r, p->bytes + got, p->room - got, 0);
        if (n == XD_E_AGAIN) {
            if (!waits)
                report_state(p, XD_WAITING);
            waits = true;
            n = read_patiently(p, p->bytes + got, p->room - got);
        }
        if (n > 0)
            got += (size_t)n;
    }
    if (waits) {
        report_state(p, XD_PLAYING);
        p->due_s += moment_s() - began_s;
    }
    return got > 0 ? (int64_t)got : n;
}

static int64_t play_on(struct viewer *p)
{
    int64_t n = 1;

    while (n > 0 && !signals_came()) {
        sleep_until(p, p->due_s);
        n = show_portion(p);
        if (n > 0) {
            p->shown += (uint64_t)n;
            p->due_s += (double)n / p->rate;
        }
        if (moment_s() - p->reported_s >= REPORT_S)
            report_state(p, XD_PLAYING);
    }
    return n;
}

/* The first look at the source sets it in motion. */
static int64_t prebuffer(struct viewer *p, double seconds)
{
    const double begins_s = moment_s() + seconds;

    report_state(p, XD_WAITING);
    const int64_t n = xd_reader_read(p->r, p->bytes, 1, 0);
    if (n > 0)
        p->shown = (uint64_t)n;
    sleep_until(p, begins_s);
    p->due_s = begins_s;
    return n == XD_E_AGAIN ? 0 : n;
}

int play_simulated(const struct args *a, struct xd_reader *r,
                   struct trace_run *trace)
{
    struct viewer p = {.r = r, .trace = trace, .rate = a->rate};
    struct xd_error err;

    p.room = (size_t)(p.rate * PORTION_S) + 1;
    p.bytes = malloc(p.room);
    if (p.bytes == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    int64_t n = prebuffer(&p, a->prebuffer);
    if (n >= 0) {
        report_state(&p, XD_PLAYING);
        n = play_on(&p);
    }
    xd_reader_error(r, &err);
    report_state(&p, XD_ENDED);
    free(p.bytes);
    if (signals_came())
        return STATUS_INTERRUPTED;
    if (n < 0)
        words_error("%s", err.msg);
    return status_of((int)n);
}

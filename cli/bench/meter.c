/* SPDX-License-Identifier: MIT */
#include "bench/meter.h"

#include <math.h>
#include <stdio.h>

#include <unistd.h>

#include "bench/sweep.h"
#include "common/moment.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"

/* Seconds between updates of the line on a terminal, and between lines
 * otherwise. */
#define DRAW_S 0.2
#define LINE_S 10.0

void meter_init(struct meter *m, bool quiet, size_t total)
{
    *m = (struct meter){.is_quiet = quiet,
                        .is_terminal = isatty(STDERR_FILENO) == 1,
                        .total = total,
                        .began_s = moment_s(),
                        .put_s = moment_s()};
}

static double seconds(const struct meter *m)
{
    return moment_s() - m->began_s;
}

void meter_clear(struct meter *m)
{
    if (m->is_drawn)
        fputs("\r\033[K", stderr);
    m->is_drawn = false;
}

bool meter_is_spent(struct meter *m, double budget_s)
{
    if (budget_s < 0 || seconds(m) < budget_s)
        return false;
    meter_clear(m);
    words_error("the time budget is spent");
    return true;
}

static void put(const struct meter *m, size_t done, size_t failed,
                const char *now)
{
    const double left_s =
        done > 0 ? seconds(m) / (double)done * (double)(m->total - done)
                 : INFINITY;
    char left[UNITS_SIZE];

    fprintf(stderr, "%zu of %zu %s", done, m->total, run_word(m->total));
    if (failed > 0)
        fprintf(stderr, ", %zu failed", failed);
    fprintf(stderr, ", %s left", units_clock(left, left_s));
    if (now == NULL)
        return;
    fputs(": ", stderr);
    text_put_fit(stderr, now, 40, false);
}

void meter_update(struct meter *m, size_t done, size_t failed, const char *now)
{
    const double now_s = moment_s();

    if (m->is_quiet || now_s - m->put_s < (m->is_terminal ? DRAW_S : LINE_S))
        return;
    m->put_s = now_s;
    meter_clear(m);
    put(m, done, failed, now);
    m->is_drawn = m->is_terminal;
    if (m->is_terminal)
        fflush(stderr);
    else
        putc('\n', stderr);
}

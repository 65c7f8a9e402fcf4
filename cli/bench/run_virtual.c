#include "bench/run_virtual.h"

#include <time.h>

#include <pthread.h>
#include <unistd.h>

#include "bench/meter.h"
#include "bench/virtual.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"

#define THREADS_MAX 64

#define TICK_NS 20000000L /* between two looks at how far it is */

static void *work(void *arg)
{
    struct series *s = arg;
    const struct run *r;
    struct row row;

    while (series_take(s, &r, &row)) {
        struct xd_error err;
        const int rc =
            virtual_run(s->args, &s->subjects[r->input], r, &row, &err);
        series_give(s, &row, rc, &err);
    }
    return NULL;
}

/* While the threads work. */
static void watch(struct series *s)
{
    const struct timespec tick = {0, TICK_NS};
    struct meter meter;

    meter_init(&meter, s->args->quiet, s->n);
    while (!series_has_ended(s)) {
        size_t done, failed;
        uint64_t bytes;

        nanosleep(&tick, NULL);
        if (signals_came())
            series_stop(s, STATUS_INTERRUPTED);
        series_progress(s, &done, &failed, &bytes);
        meter_update(&meter, done, failed, NULL);
    }
    meter_clear(&meter);
}

void run_virtual(struct series *s)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[THREADS_MAX];
    size_t n = 0;

    while (n < THREADS_MAX && (long)n < processors &&
           pthread_create(&threads[n], NULL, work, s) == 0)
        n++;
    if (n == 0)
        work(s);
    watch(s);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

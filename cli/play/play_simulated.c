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
#include "serve/prefetch.h"

/* Media is consumed in portions of this many seconds, each at its due time. */
#define PORTION_S 0.01

/* Interval of position reports to the library in seconds, and of checks for
 * signals in milliseconds. */
#define REPORT_S 0.1
#define LOOK_MS 100

struct viewer {
    /* the catalog, if the next files must be prefetched; or NULL */
    struct catalog *catalog;
    struct prefetch *prefetch;
    struct xd_reader *r;
    struct trace_run *trace;
    double looked_s;      /* moment_s() of the last call of catalog functions */
    double rate;          /* bytes per second */
    double due_s;         /* when the next portion is due */
    double reported_s;    /* time of the last report to the library */
    uint64_t shown;       /* number of bytes shown */
    unsigned char *bytes; /* buffer for a portion */
    size_t room;
};

/* Does the regular work: updates the trace and prefetches the next files. */
static void look(struct viewer *p)
{
    trace_look(p->trace);
    if (p->catalog == NULL || moment_s() - p->looked_s < LOOK_MS / 1e3)
        return;
    if (p->catalog->n > 1)
        catalog_print_failures(p->catalog);
    prefetch_look(p->prefetch);
    p->looked_s = moment_s();
}

/* Sleeps until the given time, or until a signal.  A signal is noticed within
 * LOOK_MS. */
static void sleep_until(struct viewer *p, double at_s)
{
    for (;; look(p)) {
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

/* Reads up to `len` bytes.  Waits for them until a signal arrives.  Returns 0
 * at the end of the file. */
static int64_t read_patiently(struct viewer *p, unsigned char *to, size_t len)
{
    int64_t n;

    do {
        n = xd_reader_read(p->r, to, len, LOOK_MS);
        look(p);
    } while (n == XD_E_AGAIN && !signals_came());
    return n;
}

/* Shows the next portion.  If its bytes are missing, stalls until they arrive.
 * Returns its size, 0 at the end of the file, or an error code. */
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
                report_state(p, XD_PLAY_WAITING);
            waits = true;
            n = read_patiently(p, p->bytes + got, p->room - got);
        }
        if (n > 0)
            got += (size_t)n;
    }
    if (waits) {
        report_state(p, XD_PLAY_RUNNING);
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
            report_state(p, XD_PLAY_RUNNING);
    }
    return n;
}

/* Waits for the prebuffering time.  The first read starts the download. */
static int64_t prebuffer(struct viewer *p, double seconds)
{
    const double begins_s = moment_s() + seconds;

    report_state(p, XD_PLAY_WAITING);
    const int64_t n = xd_reader_read(p->r, p->bytes, 1, 0);
    if (n > 0)
        p->shown = (uint64_t)n;
    sleep_until(p, begins_s);
    p->due_s = begins_s;
    return n == XD_E_AGAIN ? 0 : n;
}

/* Waits only for the first byte.  Used for all files but the first, which need
 * no prebuffering. */
static int64_t begin_at_once(struct viewer *p)
{
    report_state(p, XD_PLAY_WAITING);
    int64_t n = xd_reader_read(p->r, p->bytes, 1, 0);
    if (n == XD_E_AGAIN)
        n = read_patiently(p, p->bytes, 1);
    if (n > 0)
        p->shown = (uint64_t)n;
    p->due_s = moment_s();
    return n;
}

/* Plays a file.  Returns 0, or an error code if it ended early. */
static int play_file(struct viewer *p, const struct args *a, bool is_first,
                     struct xd_error *err)
{
    p->shown = 0;
    int64_t n = is_first ? prebuffer(p, a->prebuffer) : begin_at_once(p);
    if (n >= 0 && !signals_came()) {
        report_state(p, XD_PLAY_RUNNING);
        n = play_on(p);
    }
    xd_reader_error(p->r, err);
    report_state(p, XD_PLAY_ENDED);
    return n < 0 && !signals_came() ? (int)n : 0;
}

static int make_viewer(struct viewer *p, const struct args *a)
{
    *p = (struct viewer){.rate = a->rate};
    p->room = (size_t)(p->rate * PORTION_S) + 1;
    p->bytes = malloc(p->room);
    if (p->bytes == NULL)
        words_error("out of memory");
    return p->bytes != NULL ? 0 : STATUS_FAILED;
}

int play_simulated(const struct args *a, struct xd_reader *r,
                   struct trace_run *trace)
{
    struct viewer p;
    struct xd_error err;
    const int status = make_viewer(&p, a);

    if (status != 0)
        return status;
    p.r = r;
    p.trace = trace;
    const int rc = play_file(&p, a, true, &err);
    free(p.bytes);
    if (signals_came())
        return STATUS_INTERRUPTED;
    if (rc < 0)
        words_error("%s", err.msg);
    return status_of(rc);
}

/* Plays the current file of the list. */
static void play_next(struct viewer *p, struct playlist *list, bool is_first)
{
    struct xd_error err;

    p->r = list->viewer;
    p->trace = list->now->trace;
    const int rc = play_file(p, list->args, is_first, &err);
    if (rc < 0)
        catalog_report_failure(list->catalog, list->now->file, rc, err.msg);
}

static int play_all(struct viewer *p, struct playlist *list)
{
    struct catalog *s = list->catalog;

    for (size_t i = 0; i < s->n && !signals_came(); i++) {
        /* ignore errors: the function has printed them */
        if (i > 0)
            (void)playlist_turn_to(list, &s->files[i]);
        if (list->now != NULL)
            play_next(p, list, i == 0);
    }
    return signals_came() ? STATUS_INTERRUPTED : catalog_status(s);
}

int play_simulated_list(struct playlist *list)
{
    struct prefetch prefetch;
    struct viewer p;
    int status = make_viewer(&p, list->args);

    if (status != 0)
        return status;
    prefetch_init(&prefetch, list->catalog);
    p.catalog = list->catalog;
    p.prefetch = &prefetch;
    status = play_all(&p, list);
    prefetch_fini(&prefetch);
    free(p.bytes);
    return status;
}

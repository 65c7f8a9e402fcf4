/* SPDX-License-Identifier: MIT */
/*
 * Whatever becomes of a request, the engine reports it to its scheduler and
 * orders the next one of its transport as the kept record says.  The network
 * is a script; the clock runs faster than the wall's.
 *
 * XD_KEEP_EVENTS=1 writes the record anew.
 */
#include <xdownload/download.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/thread.h"
#include "sched/size_probe.h"
#include "sched/sched.h"
#include "suite.h"
#include "transfer/hosts.h"
#include "transfer/toy_transport.h"

#define FASTER 20

/* A case is the answers to the first requests; all later ones are answered in
 * full. */
struct fault {
    const char *name;
    struct toy_answer answers[4];
    size_t n;
};

#define FAILS(...)                       \
    {                                    \
        .has_no_head = true, __VA_ARGS__ \
    }
#define ETAG(x) "\"" x "\""

static const struct fault faults[] = {
    {"none", {{0}}, 0},
    {"refuses", {FAILS(.verdict = XD_VERDICT_AGAIN, .is_refusal = true)}, 1},
    {"refuses twice",
     {FAILS(.verdict = XD_VERDICT_AGAIN, .is_refusal = true),
      FAILS(.verdict = XD_VERDICT_AGAIN, .is_refusal = true)},
     2},
    {"is busy",
     {FAILS(.verdict = XD_VERDICT_AGAIN, .retry_after = 3 * XD_SECOND)},
     1},
    {"breaks off", {{.verdict = XD_VERDICT_AGAIN, .bytes = 5000}}, 1},
    {"breaks off later", {{0}, {.verdict = XD_VERDICT_AGAIN, .bytes = 100}}, 2},
    {"does not connect",
     {FAILS(.verdict = XD_VERDICT_AGAIN, .is_unanswered = true)},
     1},
    {"is silent", {FAILS(.is_silent = true, .is_unanswered = true)}, 1},
    {"is silent after some bytes", {{.is_silent = true, .bytes = 7000}}, 1},
    {"is gone", {FAILS(.verdict = XD_VERDICT_GONE)}, 1},
    {"is gone later", {{0}, FAILS(.verdict = XD_VERDICT_GONE)}, 2},
    {"has no ranges", {{0}, FAILS(.verdict = XD_VERDICT_NO_RANGES)}, 2},
    {"has no ranges at once", {FAILS(.verdict = XD_VERDICT_NO_RANGES)}, 1},
    {"refuses a range", {FAILS(.verdict = XD_VERDICT_REFUSED_RANGE)}, 1},
    {"refuses a later range",
     {{0}, FAILS(.verdict = XD_VERDICT_REFUSED_RANGE)},
     2},
    {"refuses a condition",
     {{.validator = ETAG("a")}, FAILS(.verdict = XD_VERDICT_REFUSED_RANGE)},
     2},
    {"has another size",
     {FAILS(.verdict = XD_VERDICT_DIFFERENT, .object_size = 10)},
     1},
    {"is shorter", {{.object_size = 9000}}, 1},
    {"has changed",
     {{.validator = ETAG("a")}, FAILS(.verdict = XD_VERDICT_CHANGED)},
     2},
    {"has another validator",
     {{.validator = ETAG("a")}, {.validator = ETAG("b")}},
     2},
    {"has no descriptors", {FAILS(.verdict = XD_VERDICT_LOCAL)}, 1},
    {"has no memory", {{.cannot_start = true}}, 1},
    {"sends less", {{.is_cut = true, .bytes = 6000}}, 1},
    {"sends less twice",
     {{.is_cut = true, .bytes = 6000}, {.is_cut = true, .bytes = 1000}},
     2},
    {"sends less, then breaks off",
     {{.is_cut = true, .bytes = 6000},
      {.verdict = XD_VERDICT_AGAIN, .bytes = 1000}},
     2},
    {"sends less, and cannot go on",
     {{.is_cut = true, .bytes = 6000}, {.cannot_start = true}},
     2},
    {"sends a page",
     {{.media_type = "text/html", .body = "<!DOCTYPE html><html>"}},
     1},
    {"redirects", {{.final_url = "http://other.example/g"}}, 1},
    {"redirects to what expires",
     {{.final_url = "http://other.example/g"},
      FAILS(.verdict = XD_VERDICT_GONE)},
     2},
    {"redirects to what breaks off",
     {{.final_url = "http://other.example/g"},
      {.verdict = XD_VERDICT_AGAIN, .bytes = 100}},
     2},
    {"shares a connection", {{.shares = true}}, 1},
    {"would be asked for what comes next", {{.next = {32768, 40000}}}, 1},
    {"would be asked for bytes, and for no more",
     {{.next = {40000, 50000}}, {0}},
     2},
    {"would be asked for none of these bytes",
     {{.next = {40000, 50000}}, {.next = {1000000, 1000001}}},
     2},
};

#define N_FAULTS (sizeof faults / sizeof *faults)

/* Who decides, and what is known before. */
static const struct setting {
    const char *name;
    const char *algorithm, *limit;
    bool knows_size;
} settings[] = {{"basic", "basic", NULL, true},
                {"adaptive", "adaptive", NULL, true},
                {"limited", "basic", "30k", true},
                {"of unknown size", "basic", NULL, false}};

#define N_SETTINGS (sizeof settings / sizeof *settings)

static struct xd_text record;
static struct xd_mutex record_lock;

/* How often a request waits for its budget is a matter of moments. */
static void note(const char *line)
{
    if (strcmp(line, "resume") == 0)
        return;
    xd_mutex_lock(&record_lock);
    xd_text_addf(&record, "  %s\n", line);
    xd_mutex_unlock(&record_lock);
}

/* ---- what stands between the engine and what it talks to ---- */

xd_usec __real_xd_now(void);
xd_usec __wrap_xd_now(void);
bool __real_xd_cond_wait_until(struct xd_cond *c, struct xd_mutex *m,
                               xd_usec until);
bool __wrap_xd_cond_wait_until(struct xd_cond *c, struct xd_mutex *m,
                               xd_usec until);
int __real_xd_sched_event(struct xd_sched *s, const struct xd_sched_event *ev);
int __wrap_xd_sched_event(struct xd_sched *s, const struct xd_sched_event *ev);
struct xd_sched_action __real_xd_sched_next(struct xd_sched *s, xd_usec now);
struct xd_sched_action __wrap_xd_sched_next(struct xd_sched *s, xd_usec now);
void __real_xd_size_probe_answered(struct xd_size_probe *c, unsigned depot,
                                   xd_usec now, uint64_t size);
void __wrap_xd_size_probe_answered(struct xd_size_probe *c, unsigned depot,
                                   xd_usec now, uint64_t size);
void __real_xd_size_probe_failed(struct xd_size_probe *c, unsigned depot);
void __wrap_xd_size_probe_failed(struct xd_size_probe *c, unsigned depot);
void __real_xd_size_probe_retry(struct xd_size_probe *c, unsigned depot,
                                xd_usec retry_at);
void __wrap_xd_size_probe_retry(struct xd_size_probe *c, unsigned depot,
                                xd_usec retry_at);
void __real_xd_size_probe_postponed(struct xd_size_probe *c, unsigned depot,
                                    xd_usec retry_at);
void __wrap_xd_size_probe_postponed(struct xd_size_probe *c, unsigned depot,
                                    xd_usec retry_at);
int __wrap_xd_http_new(struct xd_transport **out,
                       const struct xd_transport_config *config,
                       const struct xd_transport_handler *handler,
                       struct xd_error *err);

int __wrap_xd_http_new(struct xd_transport **out,
                       const struct xd_transport_config *config,
                       const struct xd_transport_handler *handler,
                       struct xd_error *err)
{
    return toy_new(out, config, handler, err);
}

xd_usec __wrap_xd_now(void)
{
    return __real_xd_now() * FASTER;
}

bool __wrap_xd_cond_wait_until(struct xd_cond *c, struct xd_mutex *m,
                               xd_usec until)
{
    return __real_xd_cond_wait_until(
        c, m, until == XD_NEVER ? until : until / FASTER + 1);
}

static const char *const event_names[] = {
    [XD_EV_STARTED] = "started",   [XD_EV_BYTES] = "bytes",
    [XD_EV_DONE] = "done",         [XD_EV_FAILED] = "failed",
    [XD_EV_CANCELED] = "canceled", [XD_EV_HELD] = "held",
    [XD_EV_VERIFIED] = "accepted", [XD_EV_REJECTED] = "rejected",
    [XD_EV_LOST] = "lost",         [XD_EV_HOLDS] = "holds",
    [XD_EV_NORANGES] = "noranges", [XD_EV_SHARES] = "shares",
    [XD_EV_BANNED] = "banned",     [XD_EV_DEMAND] = "demand",
    [XD_EV_PINGED] = "pinged",     [XD_EV_CONNECTED] = "connected",
    [XD_EV_UNSIZED] = "unsized",   [XD_EV_SIZED] = "sized",
    [XD_EV_HINT] = "hint",         [XD_EV_GOVERNED] = "governed",
    [XD_EV_TICK] = "tick"};

static const char *text_of(struct xd_range range, char out[60])
{
    if (range.end == UINT64_MAX)
        snprintf(out, 60, "%" PRIu64 "-", range.begin);
    else
        snprintf(out, 60, "%" PRIu64 "-%" PRIu64, range.begin, range.end);
    return out;
}

/* How the bytes of a request are cut into reports is a matter of moments, and so is
 * whether a connection is noticed before its first byte. */
int __wrap_xd_sched_event(struct xd_sched *s, const struct xd_sched_event *ev)
{
    char line[200], range[60];

    if (ev->kind != XD_EV_BYTES && ev->kind != XD_EV_STARTED &&
        ev->kind != XD_EV_CONNECTED && ev->kind != XD_EV_GOVERNED &&
        ev->kind != XD_EV_VERIFIED && ev->kind != XD_EV_TICK) {
        snprintf(line, sizeof line, "event %s %s%s%s", event_names[ev->kind],
                 text_of(ev->range, range), ev->is_refusal ? " refusal" : "",
                 ev->retry_at > 0 ? " later" : "");
        note(line);
    }
    return __real_xd_sched_event(s, ev);
}

struct xd_sched_action __wrap_xd_sched_next(struct xd_sched *s, xd_usec now)
{
    static const char *const names[] = {
        [XD_DO_WAIT] = "wait",     [XD_DO_OPEN] = "open",
        [XD_DO_PARK] = "park",     [XD_DO_FETCH] = "fetch",
        [XD_DO_CANCEL] = "cancel", [XD_DO_SHORTEN] = "shorten",
        [XD_DO_FINISH] = "finish", [XD_DO_FAIL] = "fail"};
    struct xd_sched_action a = __real_xd_sched_next(s, now);
    char line[200], range[60];

    if (a.kind != XD_DO_WAIT) {
        snprintf(line, sizeof line, "action %s %s", names[a.kind],
                 text_of(a.range, range));
        note(line);
    }
    return a;
}

void __wrap_xd_size_probe_answered(struct xd_size_probe *c, unsigned depot,
                                   xd_usec now, uint64_t size)
{
    note(size == TOY_SIZE ? "probe: the size" : "probe: another size");
    __real_xd_size_probe_answered(c, depot, now, size);
}

void __wrap_xd_size_probe_failed(struct xd_size_probe *c, unsigned depot)
{
    note("probe: failed");
    __real_xd_size_probe_failed(c, depot);
}

void __wrap_xd_size_probe_retry(struct xd_size_probe *c, unsigned depot,
                                xd_usec retry_at)
{
    note("probe: later");
    __real_xd_size_probe_retry(c, depot, retry_at);
}

void __wrap_xd_size_probe_postponed(struct xd_size_probe *c, unsigned depot,
                                    xd_usec retry_at)
{
    note("probe: postponed");
    __real_xd_size_probe_postponed(c, depot, retry_at);
}

/* ---- one download ---- */

static char folder[SUITE_FOLDER];
static char path[SUITE_FOLDER + 10];

static void describe(struct xd_manifest **out, bool knows_size)
{
    char text[500], size[60] = "";
    int n;

    if (knows_size)
        snprintf(size, sizeof size, "<size>%" PRIu64 "</size>", TOY_SIZE);
    n = snprintf(
        text, sizeof text,
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\">%s<url>http://depot.example/f.iso</url></file>"
        "</metalink>",
        size);
    ck_assert_int_eq(xd_manifest_parse(out, text, (size_t)n, NULL, NULL), 0);
}

static struct xd_options *options_of(const struct setting *setting)
{
    const char *const given[][2] = {{"algorithm", setting->algorithm},
                                    {"limit-rate", setting->limit},
                                    {"threads-per-depot", "1"},
                                    {"block-size", "32k"},
                                    {"silence", "2s"}};
    struct xd_options *o;

    ck_assert_int_eq(xd_options_new(&o, NULL), 0);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i][1])
            ck_assert_int_eq(xd_options_set(o, given[i][0], given[i][1], NULL),
                             0);
    }
    return o;
}

static void run_case(const struct fault *fault, const struct setting *setting)
{
    struct xd_options *options = options_of(setting);
    struct xd_manifest *manifest;
    struct xd_download *download;
    struct xd_error error = {0};
    int rc;

    xd_text_addf(&record, "%s, %s\n", setting->name, fault->name);
    toy_script(fault->answers, fault->n);
    xd_hosts_forget();
    describe(&manifest, setting->knows_size);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    rc = xd_download_wait(download, -1, &error);
    xd_download_unref(download);
    xd_text_addf(&record, "  end %d %s\n", rc, error.msg);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    unlink(path);
}

static char *read_kept(void)
{
    FILE *f = fopen(XD_EVENTS_KEPT, "r");
    char *text = calloc(1, 1 << 20);

    ck_assert_ptr_nonnull(text);
    if (f) {
        ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, f), (1 << 20) - 1);
        fclose(f);
    }
    return text;
}

static void write_kept(void)
{
    FILE *f = fopen(XD_EVENTS_KEPT, "w");

    ck_assert_ptr_nonnull(f);
    fputs(record.s, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* The first line that differs tells more than the whole. */
static void compare(const char *kept)
{
    const char *is = record.s, *was = kept;
    size_t line = 1;

    while (*is && *is == *was) {
        line += *is == '\n';
        is++;
        was++;
    }
    if (*is == *was)
        return;
    while (is > record.s && is[-1] != '\n') {
        is--;
        was--;
    }
    ck_abort_msg("line %zu is now\n%.200s\nand was\n%.200s", line, is, was);
}

START_TEST(events_and_orders_are_those_of_the_record)
{
    char *kept;

    ck_assert_int_eq(xd_mutex_init(&record_lock), 0);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    toy_listen(note);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        for (size_t j = 0; j < N_FAULTS; j++)
            run_case(&faults[j], &settings[i]);
    }
    rmdir(folder);
    if (getenv("XD_KEEP_EVENTS"))
        write_kept();
    kept = read_kept();
    compare(kept);
    free(kept);
    xd_text_fini(&record);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("events");

    tcase_add_test(tests, events_and_orders_are_those_of_the_record);
    return run_suite("events", tests);
}

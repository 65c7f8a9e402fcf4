/*
 * Run a scenario through the simulator and print what became of it.
 *
 *     simulate [OPTION VALUE]... SCENARIO...
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sched/policy.h"
#include "sim/run.h"

struct arguments {
    struct xd_sim_options o;
    uint64_t seeds;
    bool shows_depots, shows_timeline;
};

static const char usage[] =
    "usage: simulate [OPTION]... SCENARIO...\n"
    "  --algorithm NAME  -R N  -P N  -b SIZE  -t LANES  --max-depots N\n"
    "  --size SIZE  --seed N  --seeds N  --window SIZE  --reader RATE\n"
    "  --piece SIZE  --silence TIME  --http2  --tls  --depots  --timeline\n";

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "simulate: %s%s\n%s", what, which, usage);
    exit(2);
}

static char *read_file(const char *path)
{
    static char text[1 << 20];
    FILE *f = fopen(path, "r");
    size_t n;

    if (!f)
        fail("cannot be read: ", path);
    n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static uint64_t number(const char *value)
{
    uint64_t n = 0;

    if (!xd_parse_size(value, &n))
        fail("not a number: ", value);
    return n;
}

static bool set_switch(struct arguments *a, const char *name)
{
    if (strcmp(name, "--http2") == 0)
        return a->o.has_http2 = true;
    if (strcmp(name, "--tls") == 0)
        return a->o.has_tls = true;
    if (strcmp(name, "--depots") == 0)
        return a->shows_depots = true;
    if (strcmp(name, "--timeline") == 0)
        return a->shows_timeline = true;
    return false;
}

static void set(struct arguments *a, const char *name, const char *value)
{
    struct xd_sched_options *s = &a->o.sched;

    if (strcmp(name, "--algorithm") == 0) {
        s->policy = xd_policy_find(value);
        if (!s->policy)
            fail("no such algorithm: ", value);
    } else if (strcmp(name, "-R") == 0)
        s->redundancy = (unsigned)number(value);
    else if (strcmp(name, "-P") == 0)
        s->progress = number(value);
    else if (strcmp(name, "-b") == 0)
        s->block_bytes = number(value);
    else if (strcmp(name, "-t") == 0)
        s->lanes_per_depot = (unsigned)number(value);
    else if (strcmp(name, "--max-depots") == 0)
        s->max_open = (unsigned)number(value);
    else if (strcmp(name, "--size") == 0)
        a->o.size = number(value);
    else if (strcmp(name, "--seed") == 0)
        a->o.seed = number(value);
    else if (strcmp(name, "--seeds") == 0)
        a->seeds = number(value);
    else if (strcmp(name, "--window") == 0)
        s->window_bytes = number(value);
    else if (strcmp(name, "--reader") == 0)
        a->o.reader_bytes_per_s = number(value);
    else if (strcmp(name, "--piece") == 0)
        a->o.piece_bytes = number(value);
    else if (strcmp(name, "--silence") != 0)
        fail("no such option: ", name);
    else if (!xd_parse_duration(value, &a->o.silence))
        fail("not a time: ", value);
}

static void print_record(void *user, const struct xd_sim_record *r)
{
    static const char *const how[] = {"done", "failed", "stopped"};
    const struct xd_scenario *s = user;

    printf("  %9.3f", (double)r->began / 1e6);
    if (r->heard == XD_NEVER)
        printf("         -");
    else
        printf(" %9.3f", (double)r->heard / 1e6);
    printf(" %9.3f  %-12s lane %u  %11llu..%-11llu %9llu  %s\n",
           (double)r->ended / 1e6, xd_scenario_depot(s, r->depot)->name,
           r->lane, (unsigned long long)r->range.begin,
           (unsigned long long)r->range.end, (unsigned long long)r->received,
           how[r->how]);
}

static void print_depots(const struct xd_scenario *s,
                         const struct xd_sim_result *r)
{
    for (size_t i = 0; i < r->n_depots; i++)
        printf("    %-12s %11llu bytes %10llu redundant %11llu on the wire "
               "%5u requests %3u failures %3u connections\n",
               xd_scenario_depot(s, i)->name,
               (unsigned long long)r->depots[i].bytes,
               (unsigned long long)r->depots[i].redundant,
               (unsigned long long)r->depots[i].wire, r->depots[i].requests,
               r->depots[i].failures, r->depots[i].connections);
}

static void simulate(const struct arguments *a, const char *path)
{
    struct xd_scenario s;
    struct xd_error err = {0};
    struct xd_sim_options o = a->o;
    double limit;

    if (xd_scenario_parse(&s, read_file(path), &err) < 0) {
        fprintf(stderr, "simulate: %s: %s\n", path, err.msg);
        exit(2);
    }
    limit = xd_scenario_limit(&s, o.size);
    if (a->shows_timeline) {
        o.record = print_record;
        o.record_user = &s;
        printf("      began     heard     ended\n");
    }
    for (uint64_t i = 0; i < a->seeds; i++, o.seed++) {
        struct xd_sim_result r;
        unsigned requests = 0;

        if (xd_sim_run(&s, &o, &r) < 0)
            fail("out of memory", "");
        for (size_t j = 0; j < r.n_depots; j++)
            requests += r.depots[j].requests;
        printf("%s seed %llu: %s %.3f s  limit %.3f  x%.3f  redundant %.2f %%"
               "  %u requests\n",
               path, (unsigned long long)o.seed,
               r.is_complete ? "complete" : "FAILED", (double)r.took / 1e6,
               limit, (double)r.took / 1e6 / limit,
               100 * ((double)r.wire / (double)o.size - 1), requests);
        if (r.broken != XD_RULE_NONE)
            printf("  a rule is broken: %s\n", xd_rule_text(r.broken));
        if (a->shows_depots)
            print_depots(&s, &r);
        xd_sim_result_fini(&r);
    }
    xd_scenario_fini(&s);
}

int main(int argc, char **argv)
{
    struct arguments a = {.o = {.sched = {.policy = &xd_policy_progress,
                                          .redundancy = 2,
                                          .progress = XD_AUTO,
                                          .lanes_per_depot = 1,
                                          .max_open = 16,
                                          .block_bytes = 1 << 20,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 50 << 20,
                                .seed = 1,
                                .piece_bytes = 1 << 20,
                                .silence = 5 * XD_SECOND},
                          .seeds = 1};
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        if (set_switch(&a, argv[i]))
            continue;
        if (i + 1 == argc)
            fail("needs a value: ", argv[i]);
        set(&a, argv[i], argv[i + 1]);
        i++;
    }
    if (i == argc)
        fail("a scenario is needed", "");
    for (; i < argc; i++)
        simulate(&a, argv[i]);
    return 0;
}

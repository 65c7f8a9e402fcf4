/* SPDX-License-Identifier: MIT */
/*
 * Run scenarios through the simulator and print what became of them.
 *
 *     simulate [OPTION]... SCENARIO...        those files
 *     simulate --random --seeds 1000          scenarios that seeds make
 *     simulate --far --seeds 1000             likewise, with round trips of 300
 *                                             to 800 ms
 *     simulate --warm ...                     each run twice: the second knows what
 *                                             the first has seen of the depots
 *     simulate --bad all --seeds 1000 --repeats 8       the same, without a bad
 *                                             depot and with it: what does it
 *                                             cost, in the mean of eight runs?
 *
 *     simulate --codes --size 200m --seeds 5    parity against copies, and neither
 *
 *     simulate --random --seed 7 --print --timeline     one of them, closely
 *
 * The limit is the later of what the wires allow and what one TCP to each depot
 * does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codes.h"
#include "harm.h"
#include "plain.h"
#include "random.h"
#include "sched/policy.h"
#include "sim/net.h"
#include "sim/run.h"

/* What fewer bytes tell of a rate, and more time of a latency, is not kept. */
#define LEAST_BYTES (UINT64_C(256) << 10)
#define MOST_LATENCY (300 * XD_MS)

struct arguments {
    struct xd_sim_options o;
    uint64_t seeds, repeats;
    const char *bad;   /* NULL: none is added */
    double play_share; /* of the sustainable rate; 0: as player says */
    bool is_random, is_far, has_tiers, is_warm, shows_depots, shows_timeline,
        shows_text, compares_codes;
};

static const char usage[] =
    "usage: simulate [OPTION]... SCENARIO... | --random | --bad KIND | "
    "--codes\n"
    "  --algorithm NAME  -R N  -P N  -b SIZE  -t LANES  --max-depots N\n"
    "  --size SIZE  --seed N  --seeds N  --repeats N  --window SIZE  --reader "
    "RATE\n"
    "  --play BITS  --play-share PERCENT  --prebuffer TIME\n"
    "  --object SIZE  --piece SIZE  --silence TIME  --http2  --tls  --bbr  "
    "--far  --tiers  --warm  "
    "--depots  "
    "--timeline  --print  --unchecked\n"
    "  --code K+M  --ignore-late  --copies N  of each object\n"
    "  --client  --leave-at BYTE  --go-to BYTE\n";

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "simulate: %s%s\n%s", what, which, usage);
    exit(2);
}

/* A file, or by its name one of the scenarios that are kept here. */
static FILE *open_scenario(const char *word)
{
    static const char *const folders[] = {SOURCE "/tests/wan/scenarios",
                                          SOURCE "/examples/paper/scenarios"};
    char path[4096];
    FILE *f = fopen(word, "r");

    for (size_t i = 0; !f && i < 2 && !strchr(word, '/'); i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i], word);
        f = fopen(path, "r");
    }
    return f;
}

static char *read_file(const char *path)
{
    static char text[1 << 20];
    FILE *f = open_scenario(path);
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
    if (strcmp(name, "--bbr") == 0)
        return a->o.has_bbr = true;
    if (strcmp(name, "--unchecked") == 0)
        return a->o.is_unchecked = true;
    if (strcmp(name, "--ignore-late") == 0)
        return a->o.ignores_late = true;
    if (strcmp(name, "--codes") == 0)
        return a->compares_codes = true;
    if (strcmp(name, "--client") == 0)
        return a->o.client.is_there = true;
    if (strcmp(name, "--depots") == 0)
        return a->shows_depots = true;
    if (strcmp(name, "--random") == 0)
        return a->is_random = true;
    if (strcmp(name, "--far") == 0)
        return a->is_random = a->is_far = true;
    if (strcmp(name, "--tiers") == 0)
        return a->is_random = a->has_tiers = true;
    if (strcmp(name, "--warm") == 0)
        return a->is_warm = true;
    if (strcmp(name, "--print") == 0)
        return a->shows_text = true;
    if (strcmp(name, "--timeline") == 0)
        return a->shows_timeline = true;
    return false;
}

static void set_code(struct xd_sim_code *c, const char *value)
{
    unsigned m = 0;

    if (sscanf(value, "%u+%u", &c->k, &m) != 2 || c->k == 0 || m == 0)
        fail("needs shards of data and of parity, such as 4+2: ", value);
    c->n = c->k + m;
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
    else if (strcmp(name, "--object") == 0)
        a->o.object_bytes = number(value);
    else if (strcmp(name, "--copies") == 0)
        a->o.copies = (unsigned)number(value);
    else if (strcmp(name, "--code") == 0)
        set_code(&a->o.code, value);
    else if (strcmp(name, "--bad") == 0)
        a->bad = value;
    else if (strcmp(name, "--seed") == 0)
        a->o.seed = number(value);
    else if (strcmp(name, "--seeds") == 0)
        a->seeds = number(value);
    else if (strcmp(name, "--repeats") == 0)
        a->repeats = number(value);
    else if (strcmp(name, "--window") == 0)
        s->window_bytes = number(value);
    else if (strcmp(name, "--reader") == 0)
        a->o.reader_bytes_per_s = number(value);
    else if (strcmp(name, "--play") == 0) /* bits per second */
        a->o.player.bytes_per_s = number(value) / 8;
    else if (strcmp(name, "--play-share") == 0) /* percent */
        a->play_share = (double)number(value) / 100;
    else if (strcmp(name, "--prebuffer") == 0) {
        if (!xd_parse_duration(value, &a->o.player.prebuffer))
            fail("not a time: ", value);
    } else if (strcmp(name, "--leave-at") == 0)
        a->o.client.leaves_at = number(value);
    else if (strcmp(name, "--go-to") == 0)
        a->o.client.goes_to = number(value);
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
    if (r->first_byte == XD_NEVER)
        printf("         -");
    else
        printf(" %9.3f", (double)r->first_byte / 1e6);
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
        printf("    %-12s %11llu bytes %10llu parity %10llu redundant %11llu "
               "on the wire %5u requests %3u failures %3u connections\n",
               xd_scenario_depot(s, i)->name,
               (unsigned long long)r->depots[i].bytes,
               (unsigned long long)r->depots[i].parity,
               (unsigned long long)r->depots[i].redundant,
               (unsigned long long)r->depots[i].wire, r->depots[i].requests,
               r->depots[i].failures, r->depots[i].connections);
}

static void parse(struct xd_scenario *s, const char *name, const char *text)
{
    struct xd_error err = {0};

    if (xd_scenario_parse(s, text, &err) == 0)
        return;
    fprintf(stderr, "simulate: %s: %s\n", name, err.msg);
    exit(2);
}

static struct xd_sim_result run(const struct xd_scenario *s,
                                const struct xd_sim_options *o)
{
    struct xd_sim_result r;

    if (xd_sim_run(s, o, &r) < 0)
        fail("out of memory", "");
    return r;
}

static double seconds(xd_usec t)
{
    return t == XD_NEVER ? (double)INFINITY : (double)t / (double)XD_SECOND;
}

/* For how long the player has to stand still, by the wires and by one TCP to
 * each depot. */
static double least_stall(const struct xd_scenario *s,
                          const struct xd_sim_options *o)
{
    double least = 0;
    xd_usec plain = 0, unused;

    if (xd_scenario_stall(s, o->sched.lanes_per_depot, o->size, o->piece_bytes,
                          o->player.bytes_per_s, seconds(o->player.prebuffer),
                          &least) < 0 ||
        xd_sim_plain(s, o, &unused, &plain) < 0)
        fail("out of memory", "");
    return fmax(least, seconds(plain));
}

/* The fastest playback, in bytes per second, that need not stand still, and is
 * not faster than bytes come. */
static double sustainable(const struct xd_scenario *s, struct xd_sim_options o)
{
    double low = 1, high = 0;

    if (xd_scenario_limit(s, o.sched.lanes_per_depot, o.size, &high) < 0)
        fail("out of memory", "");
    high = (double)o.size / high;
    while (high / low > 1.001) {
        double middle = sqrt(low * high);

        o.player.bytes_per_s = (uint64_t)middle;
        if (least_stall(s, &o) > 0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static void print_playback(const struct xd_scenario *s,
                           const struct xd_sim_options *o,
                           const struct xd_sim_result *r)
{
    double least = least_stall(s, o);

    printf("  rate %.2f Mbit/s  first byte %.3f s  first MiB %.3f s  stalled "
           "%.3f s  least %.3f s  over %.3f s\n",
           (double)o->player.bytes_per_s * 8 / 1e6, seconds(r->first_byte),
           seconds(r->first_mib), seconds(r->stalled), least,
           seconds(r->stalled) - least);
}

/* As in engine/depot_cache.c. */
static struct xd_guess guess_of(const struct xd_sim_depot *d)
{
    uint64_t bytes = d->bytes + d->redundant;
    struct xd_guess g = {.learned = d->learned};

    if (d->failures > 0)
        return g;
    if (bytes >= LEAST_BYTES && d->busy > 0)
        g.rate = (double)bytes / seconds(d->busy);
    if (d->first_byte <= MOST_LATENCY)
        g.latency = d->first_byte;
    return g;
}

/* Who promises most comes first. */
static void rank(struct xd_scenario *s, struct xd_guess *guesses)
{
    for (size_t i = 1; i < s->n_depots; i++)
        for (size_t j = i; j > 0 && guesses[j].rate > guesses[j - 1].rate;
             j--) {
            struct xd_guess g = guesses[j];

            guesses[j] = guesses[j - 1];
            guesses[j - 1] = g;
            for (size_t k = 0; k < s->n_lines; k++)
                if (s->lines[k].depot == j || s->lines[k].depot == j - 1)
                    s->lines[k].depot = 2 * j - 1 - s->lines[k].depot;
        }
}

/* The same once more, by one who knows what was seen. */
static void print_warm(const char *text, struct xd_sim_options o,
                       const struct xd_sim_result *cold)
{
    struct xd_guess *guesses = calloc(cold->n_depots, sizeof *guesses);
    struct xd_sim_result r;
    struct xd_scenario s;

    if (!guesses)
        fail("out of memory", "");
    for (size_t i = 0; i < cold->n_depots; i++)
        guesses[i] = guess_of(&cold->depots[i]);
    parse(&s, "warm", text);
    rank(&s, guesses);
    o.guesses = guesses;
    o.record_user = &s;
    r = run(&s, &o);
    printf("  warm: %s %.3f s  x%.3f of cold  redundant %.2f %%\n",
           r.is_complete ? "complete" : "FAILED", seconds(r.took),
           seconds(r.took) / seconds(cold->took),
           100 * ((double)r.wire / (double)o.size - 1));
    xd_sim_result_fini(&r);
    xd_scenario_fini(&s);
    free(guesses);
}

static void print_result(const struct arguments *a, const char *name,
                         const char *text, const struct xd_scenario *s,
                         const struct xd_sim_options *o)
{
    struct xd_sim_result r = run(s, o);
    double took = (double)r.took / 1e6, limit = 0;
    unsigned requests = 0;
    xd_usec plain = 0, unused;

    if (xd_sim_limit(s, o, &limit) < 0 ||
        xd_sim_plain(s, o, &plain, &unused) < 0)
        fail("out of memory", "");
    limit = fmax(limit, (double)plain / 1e6);
    for (size_t i = 0; i < r.n_depots; i++)
        requests += r.depots[i].requests;
    printf("%s seed %llu: %s %.3f s  limit %.3f  x%.3f  redundant %.2f %%  "
           "%u requests\n",
           name, (unsigned long long)o->seed,
           r.is_complete ? "complete" : "FAILED", took, limit, took / limit,
           100 * ((double)r.wire / (double)o->size - 1), requests);
    if (o->player.bytes_per_s > 0)
        print_playback(s, o, &r);
    if (o->client.is_there)
        printf("  first byte %.3f s  first MiB %.3f s  after a jump %.3f s\n",
               seconds(r.first_byte), seconds(r.first_mib), seconds(r.jump));
    if (r.broken != XD_RULE_NONE)
        printf("  a rule is broken: %s\n", xd_rule_text(r.broken));
    if (a->shows_depots)
        print_depots(s, &r);
    if (a->is_warm)
        print_warm(text, *o, &r);
    xd_sim_result_fini(&r);
}

static void simulate(const struct arguments *a, const char *name,
                     const char *text, uint64_t size)
{
    struct xd_sim_options o = a->o;
    struct xd_scenario s;

    parse(&s, name, text);
    o.size = size;
    if (a->play_share > 0)
        o.player.bytes_per_s = (uint64_t)(a->play_share * sustainable(&s, o));
    if (a->shows_timeline) {
        o.record = print_record;
        o.record_user = &s;
        printf("      began     heard     ended\n");
    }
    for (uint64_t i = 0; i < a->seeds; i++, o.seed++)
        print_result(a, name, text, &s, &o);
    xd_scenario_fini(&s);
}

/* --random: seeds make scenarios. */

static void simulate_random(struct arguments a)
{
    uint64_t end = a.o.seed + a.seeds;

    for (a.seeds = 1; a.o.seed < end; a.o.seed++) {
        struct xd_text text = {.s = NULL};
        uint64_t size = a.is_far ? xd_random_far_scenario(&text, a.o.seed)
                        : a.has_tiers
                            ? xd_random_tiered_scenario(&text, a.o.seed)
                            : xd_random_scenario(&text, a.o.seed);

        if (a.shows_text)
            printf("# --size %llu\n%s", (unsigned long long)size, text.s);
        simulate(&a, "random", text.s, size);
        xd_text_fini(&text);
    }
}

/* As the command chooses, where nobody said. */
static void settle(struct xd_sched_options *s)
{
    bool is_adaptive =
        s->policy == &xd_policy_adaptive || s->policy == &xd_policy_adaptive2;

    if (s->lanes_per_depot == 0 && is_adaptive)
        s->first_lanes = 2;
    if (s->lanes_per_depot == 0)
        s->lanes_per_depot = is_adaptive ? 6 : 1;
    s->max_pings = 64;
    if (s->max_open == 0)
        s->max_open = is_adaptive ? 64 : 16;
}

int main(int argc, char **argv)
{
    struct arguments a = {.o = {.sched = {.policy = &xd_policy_adaptive,
                                          .redundancy = 2,
                                          .progress = XD_AUTO,
                                          .block_bytes = 1 << 20,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 50 << 20,
                                .seed = 1,
                                .piece_bytes = 1 << 20,
                                .silence = 5 * XD_SECOND},
                          .seeds = 1,
                          .repeats = 1};
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        if (set_switch(&a, argv[i]))
            continue;
        if (i + 1 == argc)
            fail("needs a value: ", argv[i]);
        set(&a, argv[i], argv[i + 1]);
        i++;
    }
    settle(&a.o.sched);
    if (a.compares_codes && !xd_print_codes(&a.o, (unsigned)a.seeds))
        fail("out of memory", "");
    if (a.compares_codes)
        return 0;
    if (a.bad && !xd_print_costs(&a.o, a.bad, a.seeds, a.repeats))
        fail("out of memory", "");
    if (a.bad)
        return 0;
    if (a.is_random)
        simulate_random(a);
    else if (i == argc)
        fail("a scenario is needed", "");
    if ((a.o.code.k > 0 || a.o.copies > 0) && a.o.object_bytes == 0)
        fail("--code and --copies need an --object", "");
    for (; i < argc; i++)
        simulate(&a, argv[i], read_file(argv[i]), a.o.size);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "bench/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/words.h"

/* More runs than this are a slip of the pen. */
#define RUNS_MAX 1000000

static const struct {
    const char *option; /* of the library */
    const char *usual, *paper;
    const char *algorithms; /* that heed it, or NULL: all */
} kinds[AXES] = {
    [AXIS_ALGORITHM] = {"algorithm", "basic,aggressive,progress,adaptive",
                        "basic,aggressive,progress,adaptive", NULL},
    [AXIS_REDUNDANCY] = {"redundancy", "2", "2,3", "aggressive progress"},
    [AXIS_PROGRESS_NUMBER] = {"progress-number", "auto", "3,6,9", "progress"},
    [AXIS_BLOCK_SIZE] = {"block-size", "512k,2m", "128k,256k,512k,1m,2m", NULL},
    [AXIS_THREADS] = {"threads-per-depot", "1,2", "1,2", NULL},
};

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

/* ---- the axes ---- */

static bool split(struct values *v, const char *list)
{
    size_t n = 1;

    for (const char *p = list; *p != '\0'; p++)
        n += *p == ',';
    v->text = strdup(list);
    v->items = calloc(n, sizeof *v->items);
    if (v->text == NULL || v->items == NULL)
        return false;
    for (char *word = v->text; v->n < n; v->n++) {
        v->items[v->n] = word;
        word += strcspn(word, ",");
        *word++ = '\0';
    }
    return true;
}

/* Each value is one of the library's, and stands there once. */
static int check_values(const struct values *v, const char *option)
{
    struct xd_options *o;
    struct xd_error err;
    int rc = xd_options_new(&o, &err);

    for (size_t i = 0; rc == 0 && i < v->n; i++)
        rc = xd_options_set(o, option, v->items[i], &err);
    xd_options_free(o);
    if (rc == XD_E_NOMEM)
        return no_memory();
    if (rc < 0)
        return words_usage("%s", err.msg);
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(v->items[i], v->items[k]) == 0)
                return words_usage("--%s: %s is given twice", option,
                                   v->items[i]);
    return 0;
}

/* Whether one of the algorithms heeds the option. */
static bool is_used(const char *algorithms, const char *algorithm)
{
    return algorithms == NULL || strstr(algorithms, algorithm) != NULL;
}

static int check_use(const struct sweep *s, size_t axis)
{
    const struct values *algorithms = &s->axes[AXIS_ALGORITHM];

    for (size_t i = 0; i < algorithms->n; i++)
        if (is_used(kinds[axis].algorithms, algorithms->items[i]))
            return 0;
    return words_usage("--%s is used by none of the algorithms of this sweep "
                       "(%s uses it)",
                       kinds[axis].option, kinds[axis].algorithms);
}

int sweep_init(struct sweep *s, const struct args *a)
{
    *s = (struct sweep){.n = 0};
    for (size_t i = 0; i < AXES; i++) {
        const char *given = a->bench.axes[i];
        const char *list = given != NULL    ? given
                           : a->bench.paper ? kinds[i].paper
                                            : kinds[i].usual;
        if (!split(&s->axes[i], list))
            return no_memory();
        int status = check_values(&s->axes[i], kinds[i].option);
        if (status == 0 && given != NULL)
            status = check_use(s, i);
        if (status != 0)
            return status;
    }
    return 0;
}

void sweep_fini(struct sweep *s)
{
    for (size_t i = 0; i < AXES; i++) {
        free(s->axes[i].text);
        free(s->axes[i].items);
    }
    free(s->runs);
    *s = (struct sweep){.n = 0};
}

/* ---- the runs ---- */

/* The number of values on an axis for this algorithm. */
static size_t count(const struct sweep *s, size_t axis, const char *algorithm)
{
    return is_used(kinds[axis].algorithms, algorithm) ? s->axes[axis].n : 1;
}

static const char *value(const struct sweep *s, size_t axis, size_t i,
                         const char *algorithm)
{
    return is_used(kinds[axis].algorithms, algorithm) ? s->axes[axis].items[i]
                                                      : NULL;
}

static bool add_run(struct sweep *s, size_t *room, const struct run *r)
{
    if (s->n == *room) {
        const size_t more = *room > 0 ? 2 * *room : 64;
        struct run *runs = realloc(s->runs, more * sizeof *runs);
        if (runs == NULL)
            return false;
        s->runs = runs;
        *room = more;
    }
    s->runs[s->n++] = *r;
    return true;
}

/* A run as often as it is wanted, and once more for each player. */
static bool add_repetitions(struct sweep *s, const struct args *a, size_t *room,
                            struct run *r)
{
    const size_t players = a->bench.stalls ? a->bench.n_rates : 0;

    for (r->repetition = 1; r->repetition <= a->bench.repeat; r->repetition++)
        for (size_t i = 0; i <= players; i++) {
            r->reader_rate = i > 0 ? a->bench.rates[i - 1] : 0;
            if (s->n >= RUNS_MAX || !add_run(s, room, r))
                return false;
        }
    return true;
}

/* All runs of an algorithm with these depots: `number` counts through the
 * values of the other axes. */
static bool add_algorithm(struct sweep *s, const struct args *a, size_t *room,
                          struct run r)
{
    size_t n[AXES], total = 1;

    for (size_t axis = 1; axis < AXES; axis++)
        total *= n[axis] = count(s, axis, r.algorithm);
    for (size_t number = 0; number < total; number++) {
        const char *chosen[AXES];
        size_t rest = number;
        for (size_t axis = 1; axis < AXES; axis++) {
            chosen[axis] = value(s, axis, rest % n[axis], r.algorithm);
            rest /= n[axis];
        }
        r.redundancy = chosen[AXIS_REDUNDANCY];
        r.progress_number = chosen[AXIS_PROGRESS_NUMBER];
        r.block_size = chosen[AXIS_BLOCK_SIZE];
        r.threads = chosen[AXIS_THREADS];
        if (!add_repetitions(s, a, room, &r))
            return false;
    }
    return true;
}

int sweep_add(struct sweep *s, const struct args *a, size_t input,
              const struct subsets *depots)
{
    const struct values *algorithms = &s->axes[AXIS_ALGORITHM];
    size_t room = s->n; /* what is there is full, or more than that */

    for (size_t i = 0; i < algorithms->n; i++)
        for (size_t k = 0; k < depots->n; k++) {
            const struct run r = {.input = input,
                                  .algorithm = algorithms->items[i],
                                  .depots = depots->items[k]};
            if (add_algorithm(s, a, &room, r))
                continue;
            if (s->n < RUNS_MAX)
                return no_memory();
            return words_usage("the sweep has more than %d runs: give fewer "
                               "values or fewer subsets of the depots",
                               RUNS_MAX);
        }
    return 0;
}

/* splitmix64: the same order for the same seed, everywhere. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void sweep_shuffle(struct sweep *s, uint64_t seed)
{
    for (size_t i = s->n; i > 1; i--) {
        const size_t k = (size_t)(next_random(&seed) % i);
        const struct run r = s->runs[k];
        s->runs[k] = s->runs[i - 1];
        s->runs[i - 1] = r;
    }
    for (size_t i = 0; i < s->n; i++)
        s->runs[i].outcome = i;
}

/* ---- outcomes ---- */

/* How many requests for a block there may be; 0: it has no blocks. */
static size_t most_copies(const struct run *r)
{
    if (strcmp(r->algorithm, "adaptive") == 0)
        return 0;
    if (r->redundancy == NULL)
        return 1;
    const size_t n = subset_count(r->depots);
    const unsigned long copies = strtoul(r->redundancy, NULL, 10);
    return copies < n ? copies : n;
}

static int compare_texts(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int compare_algorithms(const struct run *a, const struct run *b)
{
    const size_t n = most_copies(a), m = most_copies(b);

    if (n != m)
        return n < m ? -1 : 1;
    if (n <= 1)
        return 0;
    const int order = strcmp(a->algorithm, b->algorithm);
    return order != 0 ? order
                      : compare_texts(a->progress_number, b->progress_number);
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* 0: they can only end alike. */
static int compare_outcomes(const struct run *a, const struct run *b)
{
    int order = COMPARE(a->input, b->input);

    if (order == 0)
        order = COMPARE(a->depots, b->depots);
    if (order == 0)
        order = COMPARE(a->repetition, b->repetition);
    if (order == 0)
        order = COMPARE(a->reader_rate, b->reader_rate);
    if (order == 0)
        order = strcmp(a->block_size, b->block_size);
    if (order == 0)
        order = strcmp(a->threads, b->threads);
    return order != 0 ? order : compare_algorithms(a, b);
}

static int by_outcome(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    const int order = compare_outcomes(x, y);

    return order != 0 ? order : COMPARE(x->outcome, y->outcome);
}

static int by_number(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    return COMPARE(x->outcome, y->outcome);
}

void sweep_share_outcomes(struct sweep *s)
{
    if (s->n == 0)
        return;
    qsort(s->runs, s->n, sizeof *s->runs, by_outcome);
    for (size_t i = 1; i < s->n; i++)
        if (compare_outcomes(&s->runs[i - 1], &s->runs[i]) == 0)
            s->runs[i].outcome = s->runs[i - 1].outcome;
    qsort(s->runs, s->n, sizeof *s->runs, by_number);
}

const char *run_name(char out[RUN_NAME_SIZE], const struct run *r)
{
    char depots[SUBSET_NAME_SIZE];
    int len = snprintf(out, RUN_NAME_SIZE, "%s", r->algorithm);

    subset_name(depots, r->depots);
    if (r->redundancy != NULL)
        len += snprintf(out + len, RUN_NAME_SIZE - (size_t)len, " R=%.20s",
                        r->redundancy);
    if (r->progress_number != NULL)
        len += snprintf(out + len, RUN_NAME_SIZE - (size_t)len, " P=%.20s",
                        r->progress_number);
    snprintf(out + len, RUN_NAME_SIZE - (size_t)len, " b=%.20s t=%.20s %s",
             r->block_size, r->threads, depots);
    return out;
}

unsigned run_copies(const struct run *r)
{
    return strcmp(r->algorithm, "aggressive") == 0
               ? (unsigned)strtoul(r->redundancy, NULL, 10)
               : 1;
}

const char *run_word(size_t n)
{
    return n == 1 ? "run" : "runs";
}

/* SPDX-License-Identifier: MIT */
#include "bench/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/words.h"

/* A sweep with more runs than this is refused as a mistake. */
#define RUNS_MAX 1000000

static const struct {
    const char *option; /* library option */
    const char *sign;   /* abbreviation of the option in the name of a run */
    const char *usual, *paper;
    /* names of the algorithms that use the option; NULL: all */
    const char *algorithms;
} kinds[AXES] = {
    [AXIS_ALGORITHM] = {"algorithm", "", "basic,aggressive,progress,adaptive",
                        "basic,aggressive,progress,adaptive", NULL},
    [AXIS_REDUNDANCY] = {"redundancy", " R=", "2", "2,3",
                         "aggressive progress"},
    [AXIS_PROGRESS_NUMBER] = {"progress-number", " P=", "auto", "3,6,9",
                              "progress"},
    [AXIS_BLOCK_SIZE] = {"block-size", " b=", "512k,2m", "128k,256k,512k,1m,2m",
                         NULL},
    [AXIS_THREADS] = {"threads-per-depot", " t=", "1,2", "1,2", NULL},
};

const char *axis_option(size_t axis)
{
    return kinds[axis].option;
}

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

/* ---- the axes ---- */

/* Splits the list.  Each value must be valid, and may occur only once. */
static int split(struct values *v, const char *list, const char *option,
                 struct xd_options *o)
{
    struct xd_error err;

    v->text = strdup(list);
    if (v->text == NULL)
        return no_memory();
    for (char *word = v->text, *end = word; end != NULL; word = end + 1) {
        end = strchr(word, ',');
        if (end != NULL)
            *end = '\0';
        if (v->n == VALUES_MAX)
            return words_usage("--%s takes at most %d values", option,
                               VALUES_MAX);
        if (xd_options_set(o, option, word, &err) < 0)
            return words_usage("%s", err.msg);
        for (size_t i = 0; i < v->n; i++)
            if (strcmp(v->items[i], word) == 0)
                return words_usage("--%s: %s is given twice", option, word);
        v->items[v->n++] = word;
    }
    return 0;
}

static bool is_used(size_t axis, const char *algorithm)
{
    const char *algorithms = kinds[axis].algorithms;

    return algorithms == NULL || strstr(algorithms, algorithm) != NULL;
}

static int check_use(const struct sweep *s, size_t axis)
{
    const struct values *algorithms = &s->axes[AXIS_ALGORITHM];

    for (size_t i = 0; i < algorithms->n; i++)
        if (is_used(axis, algorithms->items[i]))
            return 0;
    return words_usage("--%s is used by none of the algorithms of this sweep "
                       "(%s uses it)",
                       kinds[axis].option, kinds[axis].algorithms);
}

int sweep_init(struct sweep *s, const struct args *a)
{
    struct xd_options *o;
    int status = 0;

    *s = (struct sweep){.n = 0};
    if (xd_options_new(&o, NULL) < 0)
        return no_memory();
    for (size_t i = 0; status == 0 && i < AXES; i++) {
        const char *given = a->bench.axes[i];
        const char *usual = a->bench.paper ? kinds[i].paper : kinds[i].usual;
        status = split(&s->axes[i], given != NULL ? given : usual,
                       kinds[i].option, o);
        if (status == 0 && given != NULL)
            status = check_use(s, i);
    }
    xd_options_free(o);
    return status;
}

void sweep_fini(struct sweep *s)
{
    for (size_t i = 0; i < AXES; i++)
        free(s->axes[i].text);
    free(s->runs);
    *s = (struct sweep){.n = 0};
}

/* ---- runs ---- */

/* Removes the last digit of a number in base `n`, and returns the digit. */
static size_t next_digit(size_t *number, size_t n)
{
    const size_t digit = *number % n;

    *number /= n;
    return digit;
}

/* Sets the values on all axes except the algorithm.  Each combination has a
 * number; its digits select the values.  Returns 0 if `number` is the number of
 * a combination. */
static size_t choose(struct run *r, const struct sweep *s, size_t number)
{
    for (size_t axis = 1; axis < AXES; axis++) {
        const struct values *v = &s->axes[axis];
        r->values[axis] = is_used(axis, r->values[AXIS_ALGORITHM])
                              ? v->items[next_digit(&number, v->n)]
                              : NULL;
    }
    return number;
}

static bool make_room(struct sweep *s)
{
    if ((s->n & (s->n - 1)) != 0)
        return true;
    struct run *runs =
        realloc(s->runs, (s->n > 0 ? 2 * s->n : 1) * sizeof *runs);
    if (runs != NULL)
        s->runs = runs;
    return runs != NULL;
}

/* Adds all runs with the algorithm and the depots of `r`. */
static int add_combinations(struct sweep *s, const struct args *a, struct run r)
{
    const size_t players = a->bench.stalls ? a->bench.n_rates : 0;

    for (size_t number = 0;; number++) {
        size_t rest = number;
        const size_t player = next_digit(&rest, players + 1);
        r.reader_rate = player > 0 ? a->bench.rates[player - 1] : 0;
        r.repetition = 1 + (unsigned)next_digit(&rest, a->bench.repeat);
        if (choose(&r, s, rest) > 0)
            return 0;
        if (s->n == RUNS_MAX)
            return words_usage("the sweep has more than %d runs: give fewer "
                               "values or fewer subsets of the depots",
                               RUNS_MAX);
        if (!make_room(s))
            return no_memory();
        s->runs[s->n++] = r;
    }
}

int sweep_add(struct sweep *s, const struct args *a, size_t input,
              const struct subsets *depots)
{
    const struct values *algorithms = &s->axes[AXIS_ALGORITHM];
    int status = 0;

    for (size_t i = 0; i < algorithms->n; i++)
        for (size_t k = 0; status == 0 && k < depots->n; k++)
            status = add_combinations(
                s, a,
                (struct run){
                    .input = input,
                    .values = {[AXIS_ALGORITHM] = algorithms->items[i]},
                    .depots = depots->items[k]});
    return status;
}

/* The generator splitmix64.  With our own generator, the order of runs is the
 * same on all systems. */
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
}

/* ---- one run ---- */

const char *run_name(char out[RUN_NAME_SIZE], const struct run *r)
{
    char depots[SUBSET_NAME_SIZE];
    size_t len = 0;

    for (size_t axis = 0; axis < AXES; axis++)
        if (r->values[axis] != NULL)
            len += (size_t)snprintf(out + len, RUN_NAME_SIZE - len, "%s%.20s",
                                    kinds[axis].sign, r->values[axis]);
    subset_name(depots, r->depots);
    snprintf(out + len, RUN_NAME_SIZE - len, " %s", depots);
    return out;
}

/* Writes a name that is the same for all runs with the same result in virtual
 * time.  A depot gets only one request for each block, so a redundancy above
 * the number of depots has no effect.  If no block is requested twice, the
 * paper's three algorithms are identical. */
static void name_outcome(char out[RUN_NAME_SIZE + 80], const struct run *r)
{
    const char *given = r->values[AXIS_REDUNDANCY];
    const size_t n = subset_count(r->depots);
    const size_t copies = given != NULL ? strtoul(given, NULL, 10) : 1;
    char name[RUN_NAME_SIZE], most[24];
    struct run like = *r;

    if (strcmp(r->values[AXIS_ALGORITHM], "adaptive") != 0 &&
        (copies == 1 || n == 1)) {
        like.values[AXIS_ALGORITHM] = "basic";
        like.values[AXIS_REDUNDANCY] = like.values[AXIS_PROGRESS_NUMBER] = NULL;
    } else if (copies > n) {
        snprintf(most, sizeof most, "%zu", n);
        like.values[AXIS_REDUNDANCY] = most;
    }
    snprintf(out, RUN_NAME_SIZE + 80, "%zu %u %.17g %s", r->input,
             r->repetition, r->reader_rate, run_name(name, &like));
}

static int compare_outcomes(const void *a, const void *b)
{
    char x[RUN_NAME_SIZE + 80], y[RUN_NAME_SIZE + 80];

    name_outcome(x, a);
    name_outcome(y, b);
    return strcmp(x, y);
}

void sweep_sort(struct sweep *s)
{
    if (s->n > 0)
        qsort(s->runs, s->n, sizeof *s->runs, compare_outcomes);
}

bool run_ends_like(const struct run *a, const struct run *b)
{
    return compare_outcomes(a, b) == 0;
}

unsigned run_copies(const struct run *r)
{
    return strcmp(r->values[AXIS_ALGORITHM], "aggressive") == 0
               ? (unsigned)strtoul(r->values[AXIS_REDUNDANCY], NULL, 10)
               : 1;
}

const char *run_word(size_t n)
{
    return n == 1 ? "run" : "runs";
}

/*
 * The rules of sched.h, and the paper's, checked by counting bytes.
 *
 * The model hears every event and sees every action before it is carried out.
 * It keeps an array with a row per byte and answers each question by looking
 * at all of them, so that it shares neither code nor cleverness with what it
 * checks.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "sched/policy.h"

#define MODEL_BYTES 1024
#define MODEL_DEPOTS 8
#define MODEL_LANES 4
#define MODEL_FETCHES (MODEL_DEPOTS * MODEL_LANES)

/* Each rule, and the sentence that is printed when it is broken. */
#define MODEL_RULES(X)                                                  \
    X(NUMBER, "the number of a fetch is dense and not in use")          \
    X(LANE, "a lane runs one fetch at a time")                          \
    X(LIMIT, "a depot runs no more fetches than it allows")             \
    X(USABLE, "only an open depot that does not rest is asked")         \
    X(WANTED, "a fetch asks for some bytes, all of them wanted")        \
    X(HELD, "a depot is asked for what it holds")                       \
    X(CUT, "no fetch crosses a cut")                                    \
    X(WINDOW, "nothing is fetched too far ahead of the reader")         \
    X(COPIES, "a byte is in flight from at most R depots")              \
    X(TWICE, "a byte is never in flight twice from one depot")          \
    X(NEEDED, "a fetch begins and ends with a byte that is missing")    \
    X(CHOICE, "the paper's rules choose the block")                     \
    X(RANGES, "a depot without ranges brings only what no other could") \
    X(OPEN, "at most max_open depots are open, each once")              \
    X(PARK, "an open depot is parked when nothing runs there")          \
    X(CANCEL, "a fetch is canceled once, when others brought its rest") \
    X(FINISH, "it is over when all that is wanted was accepted")        \
    X(FAIL, "it fails only when a byte has no depot and is not coming") \
    X(IDLE, "it waits only when nothing can be begun")                  \
    X(WAKE, "it wakes when the next rest ends")                         \
    X(ENDS, "a fetch ends once")

enum model_rule {
    RULE_NONE,
#define X(name, text) RULE_##name,
    MODEL_RULES(X)
#undef X
        N_RULES
};

struct model_depot {
    bool holds[MODEL_BYTES];
    unsigned lanes;
    bool is_open, is_dropped, no_ranges;
    xd_usec rest_until;
    unsigned failures;
    uint64_t forgiven_to;
};

struct model_fetch {
    bool is_live, is_canceled;
    unsigned depot, lane;
    uint64_t block; /* or UINT64_MAX */
    uint64_t number;
    struct xd_range range;
    uint64_t got;
};

struct model {
    struct xd_sched_options o; /* in force */
    struct xd_range wanted;
    uint64_t reader;
    unsigned n_depots;
    bool size_is_unknown;
    bool arrived[MODEL_BYTES], accepted[MODEL_BYTES];
    bool is_cut[MODEL_BYTES];
    uint64_t blocks[MODEL_BYTES + 1]; /* where each begins, and the end */
    uint64_t n_blocks;
    bool tried[MODEL_BYTES][MODEL_DEPOTS]; /* blocks that failed there */
    struct model_depot depots[MODEL_DEPOTS];
    struct model_fetch fetches[MODEL_FETCHES];
    uint64_t n_begun;
    xd_usec heard_at; /* when a byte came last, or the first fetch began */
};

void model_init(struct model *m, const struct xd_layout *l,
                const struct xd_sched_options *in_force,
                struct xd_range wanted);

/* The rule that is broken, or RULE_NONE; then the action counts as done. */
enum model_rule model_action(struct model *m, const struct xd_sched_action *a,
                             xd_usec now);
enum model_rule model_event(struct model *m, const struct xd_sched_event *ev);

const char *model_rule_text(enum model_rule rule);

#endif

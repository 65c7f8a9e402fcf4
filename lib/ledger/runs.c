/* SPDX-License-Identifier: MIT */
#include "ledger/runs.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

/* A node of the treap, and a run.  Node 0 stands for the empty tree. */
struct xd_run_node {
    uint64_t begin; /* a run ends where the next one begins */
    uint32_t left, right;
    unsigned depot;
    uint8_t state;
    uint8_t present; /* bit mask of the states in this subtree */
};

/* A cached result: the number of bytes in `states` from `begin` to `end`, or,
 * if `end` is 0, the first such byte. */
struct xd_run_answer {
    uint64_t begin, end;
    uint64_t asked_at; /* value of n_changes when the result was computed */
    unsigned states;
    uint64_t result;
};

#define N_ANSWERS 64 /* a power of two, see answer_to() */
#define ALL_STATES ((1u << XD_N_STATES) - 1)

/* The nodes that stand for the tree of a zeroed struct: a single run. */
static const struct xd_run_node untouched[] = {
    {.present = 0}, {.depot = XD_NO_DEPOT, .present = 1}};

static const struct xd_run_node *nodes_of(const struct xd_runs *m)
{
    return m->nodes ? m->nodes : untouched;
}

static uint32_t root_of(const struct xd_runs *m)
{
    return m->nodes ? m->root : 1;
}

static void count_visits(const struct xd_runs *m, uint64_t n)
{
    if (m->visits)
        *m->visits += n;
}

/* Returns the node whose run contains `byte`. */
static uint32_t find(const struct xd_runs *m, uint64_t byte)
{
    const struct xd_run_node *nodes = nodes_of(m);
    uint32_t t = root_of(m), found = 0;
    uint64_t n = 0;

    for (; t; n++) {
        bool is_after = nodes[t].begin > byte;

        found = is_after ? found : t;
        t = is_after ? nodes[t].left : nodes[t].right;
    }
    count_visits(m, n);
    return found;
}

/* Returns the first node of tree `t` in one of `states`.  There must be one. */
static uint32_t first_in_states(const struct xd_run_node *nodes, uint32_t t,
                                unsigned states)
{
    for (;;) {
        if (nodes[nodes[t].left].present & states)
            t = nodes[t].left;
        else if (states >> nodes[t].state & 1)
            return t;
        else
            t = nodes[t].right;
    }
}

/* Returns where the first run in `states` after `byte` begins; UINT64_MAX if
 * there is none. */
static uint64_t find_after(const struct xd_runs *m, uint64_t byte,
                           unsigned states)
{
    const struct xd_run_node *nodes = nodes_of(m);
    uint32_t t = root_of(m), right = 0, itself = 0;
    uint64_t n = 0;

    /* Find the last node on the path to `byte` that matches or has a match to
     * its right. */
    for (; t && nodes[t].present & states; n++) {
        if (nodes[t].begin <= byte) {
            t = nodes[t].right;
            continue;
        }
        if (states >> nodes[t].state & 1)
            itself = t, right = 0;
        else if (nodes[nodes[t].right].present & states)
            right = nodes[t].right, itself = 0;
        t = nodes[t].left;
    }
    count_visits(m, n);
    if (right)
        itself = first_in_states(nodes, right, states);
    return itself ? nodes[itself].begin : UINT64_MAX;
}

/* Returns the cache entry for this query; NULL if there is only one run.
 * *is_known tells whether it holds the result. */
static struct xd_run_answer *answer_to(const struct xd_runs *m, unsigned states,
                                       uint64_t begin, uint64_t end,
                                       bool *is_known)
{
    uint64_t key = (begin ^ (uint64_t)states << 40) * 0x9e3779b97f4a7c15;
    struct xd_run_answer *a = m->answers ? &m->answers[key >> 58] : NULL;

    *is_known = a && a->begin == begin && a->end == end &&
                a->states == states && a->asked_at == m->n_changes;
    if (a && !*is_known)
        *a = (struct xd_run_answer){begin, end, m->n_changes, states, 0};
    return a;
}

/* Returns the first byte at or after `byte` in one of `states`; UINT64_MAX if
 * there is none. */
static uint64_t find_from(const struct xd_runs *m, uint64_t byte,
                          unsigned states)
{
    bool is_known;
    struct xd_run_answer *a =
        answer_to(m, states & ALL_STATES, byte, 0, &is_known);
    uint64_t found = byte;

    if (is_known)
        return a->result;
    if (!(states >> nodes_of(m)[find(m, byte)].state & 1))
        found = find_after(m, byte, states);
    if (a)
        a->result = found;
    return found;
}

struct xd_run_of_bytes xd_runs_at(const struct xd_runs *m, uint64_t byte)
{
    const struct xd_run_node *n = &nodes_of(m)[find(m, byte)];

    return (struct xd_run_of_bytes){
        {n->begin, find_after(m, byte, ~0u)}, n->state, n->depot};
}

uint64_t xd_runs_first_gap(const struct xd_runs *m, unsigned states,
                           struct xd_range within)
{
    uint64_t gap = within.end;

    if (!xd_range_is_empty(within))
        gap = find_from(m, within.begin, ~states);
    return gap < within.end ? gap : within.end;
}

bool xd_runs_are(const struct xd_runs *m, unsigned states, struct xd_range r)
{
    return xd_range_is_empty(r) || find_from(m, r.begin, ~states) >= r.end;
}

struct xd_range xd_runs_next(const struct xd_runs *m, unsigned states,
                             struct xd_range within)
{
    struct xd_range found = within, none = {within.end, within.end};

    if (xd_range_is_empty(within))
        return none;
    found.begin = find_from(m, within.begin, states);
    if (found.begin >= within.end)
        return none;
    found.end = find_from(m, found.begin, ~states);
    return xd_range_clip(found, within);
}

/* Counts the bytes at or after `from` in `states`.  Goes through tree `t` from
 * right to left.  *to is where the runs to the right of the tree begin. */
static uint64_t count_back(const struct xd_run_node *nodes, uint32_t t,
                           unsigned states, uint64_t from, uint64_t *to)
{
    const struct xd_run_node *n = &nodes[t];
    uint64_t bytes = 0;

    if (!t)
        return 0;
    if (n->begin < *to) {
        bytes = count_back(nodes, n->right, states, from, to);
        if (states >> n->state & 1 && *to > from)
            bytes += *to - (n->begin > from ? n->begin : from);
        *to = n->begin;
    }
    return n->begin > from
               ? bytes + count_back(nodes, n->left, states, from, to)
               : bytes;
}

uint64_t xd_runs_count(const struct xd_runs *m, unsigned states,
                       struct xd_range r)
{
    struct xd_run_answer *a;
    uint64_t bytes;
    bool is_known;

    if (xd_range_is_empty(r))
        return 0;
    a = answer_to(m, states, r.begin, r.end, &is_known);
    if (is_known)
        return a->result;
    bytes = count_back(nodes_of(m), root_of(m), states, r.begin, &r.end);
    if (a)
        a->result = bytes;
    return bytes;
}

struct xd_range xd_runs_next_depot(const struct xd_runs *m,
                                   struct xd_range within, unsigned *depot)
{
    struct xd_range found = {within.end, within.end};
    struct xd_run_of_bytes run;

    for (; !xd_range_is_empty(within); within.begin = run.range.end) {
        run = xd_runs_at(m, within.begin);
        if (!xd_range_is_empty(found) && run.depot != *depot)
            break;
        run.range = xd_range_clip(run.range, within);
        if (run.depot == XD_NO_DEPOT)
            continue;
        if (xd_range_is_empty(found))
            found.begin = run.range.begin;
        found.end = run.range.end;
        *depot = run.depot;
    }
    return found;
}

struct xd_range xd_runs_next_of(const struct xd_runs *m, unsigned depot,
                                struct xd_range within)
{
    struct xd_range run;
    unsigned its = depot;

    while (run = xd_runs_next_depot(m, within, &its), its != depot) {
        within.begin = run.end;
        its = depot;
    }
    return run;
}

/* ---- changes ---- */

/* The heap priority of a treap node: a hash of its index. */
static uint32_t priority(uint32_t t)
{
    t = (t ^ t >> 16) * UINT32_C(0x7feb352d);
    t = (t ^ t >> 15) * UINT32_C(0x846ca68b);
    return t ^ t >> 16;
}

static void update(struct xd_runs *m, uint32_t t)
{
    struct xd_run_node *n = &m->nodes[t];

    n->present = (uint8_t)(1u << n->state | m->nodes[n->left].present |
                           m->nodes[n->right].present);
    count_visits(m, 1);
}

/* Splits a tree into runs that begin before `byte` and the rest. */
static void split(struct xd_runs *m, uint32_t t, uint64_t byte,
                  uint32_t *before, uint32_t *rest)
{
    struct xd_run_node *n = &m->nodes[t];

    *before = *rest = 0;
    if (!t)
        return;
    if (n->begin < byte) {
        split(m, n->right, byte, &n->right, rest);
        *before = t;
    } else {
        split(m, n->left, byte, before, &n->left);
        *rest = t;
    }
    update(m, t);
}

static uint32_t join(struct xd_runs *m, uint32_t before, uint32_t after)
{
    if (!before || !after)
        return before ? before : after;
    if (priority(before) > priority(after)) {
        m->nodes[before].right = join(m, m->nodes[before].right, after);
        update(m, before);
        return before;
    }
    m->nodes[after].left = join(m, before, m->nodes[after].left);
    update(m, after);
    return after;
}

static uint32_t first_of(const struct xd_runs *m, uint32_t t)
{
    while (m->nodes[t].left)
        t = m->nodes[t].left;
    return t;
}

static uint32_t last_of(const struct xd_runs *m, uint32_t t)
{
    while (m->nodes[t].right)
        t = m->nodes[t].right;
    return t;
}

static uint64_t begin_of(const struct xd_runs *m, uint32_t t)
{
    return t ? m->nodes[t].begin : UINT64_MAX;
}

static bool is_same(const struct xd_runs *m, uint32_t a, uint32_t b)
{
    return a && b && m->nodes[a].state == m->nodes[b].state &&
           m->nodes[a].depot == m->nodes[b].depot;
}

/* Each change needs room for two nodes, because it can split a run at each end
 * of its range. */
int xd_runs_reserve(struct xd_runs *m, size_t n)
{
    if (!m->answers) {
        m->answers = xd_alloc(N_ANSWERS, sizeof *m->answers);
        m->n_changes = 1; /* not 0, or the zeroed cache entries would look
                             valid */
    }
    if (!m->answers)
        return XD_E_NOMEM;
    while (m->capacity - m->n + m->n_free < 2 * n || !m->nodes) {
        struct xd_run_node *nodes =
            xd_grow(m->nodes, m->capacity, &m->capacity, sizeof *nodes);

        if (!nodes)
            return XD_E_NOMEM;
        if (!m->nodes) {
            nodes[0] = untouched[0];
            nodes[1] = untouched[1];
            m->n = 2;
            m->root = 1;
        }
        m->nodes = nodes;
    }
    return 0;
}

static void put_back(struct xd_runs *m, uint32_t t)
{
    m->nodes[t].left = m->first_free;
    m->first_free = t;
    m->n_free++;
}

/* Creates a node like `of`, except that its run begins at `begin`.  There must
 * be room for it. */
static uint32_t copy(struct xd_runs *m, uint32_t of, uint64_t begin)
{
    uint32_t t = m->first_free;

    if (t) {
        m->first_free = m->nodes[t].left;
        m->n_free--;
    } else {
        t = (uint32_t)m->n++;
    }
    m->nodes[t] = (struct xd_run_node){.begin = begin,
                                       .depot = m->nodes[of].depot,
                                       .state = m->nodes[of].state};
    update(m, t);
    return t;
}

/* A pass over the changed runs from left to right. */
struct walk {
    struct xd_runs *m;
    const struct xd_run_change *change;
    uint32_t tree; /* the changed runs */
    uint32_t last; /* the last run that was handled, or the run before `tree` */
    uint64_t from; /* end of the bytes that were counted */
    uint8_t before, now;
};

static void count(struct walk *w, uint64_t end)
{
    w->m->bytes[w->before] -= end - w->from;
    w->m->bytes[w->now] += end - w->from;
    w->from = end;
}

static void change_depot(struct xd_run_node *n, const struct xd_run_change *c)
{
    if (c->sets_depot && (n->depot == XD_NO_DEPOT || c->depot == XD_NO_DEPOT))
        n->depot = c->depot;
}

static void change_all(struct walk *w, uint32_t t)
{
    struct xd_run_node *n = &w->m->nodes[t];
    uint32_t after = n->right;

    if (!t)
        return;
    change_all(w, n->left);
    count(w, n->begin);
    w->before = n->state;
    w->now = n->state = w->change->to[n->state];
    change_depot(n, w->change);
    n->left = n->right = 0;
    update(w->m, t);
    if (is_same(w->m, w->last, t)) {
        put_back(w->m, t);
    } else {
        w->tree = join(w->m, w->tree, t);
        w->last = t;
    }
    change_all(w, after);
}

/* Returns whether `r` lies in one run that the change does not modify. */
static bool changes_nothing(const struct xd_runs *m, struct xd_range r,
                            const struct xd_run_change *c)
{
    struct xd_run_of_bytes run = xd_runs_at(m, r.begin);

    return run.range.end >= r.end && c->to[run.state] == run.state &&
           (!c->sets_depot || run.depot == c->depot ||
            (c->depot != XD_NO_DEPOT && run.depot != XD_NO_DEPOT));
}

int xd_runs_change(struct xd_runs *m, struct xd_range r,
                   const struct xd_run_change *c)
{
    struct walk w = {.m = m, .change = c, .from = r.begin};
    uint32_t before, met, after, equal;

    if (xd_range_is_empty(r) || changes_nothing(m, r, c))
        return 0;
    if (xd_runs_reserve(m, 1) < 0)
        return XD_E_NOMEM;
    m->n_changes++;
    split(m, m->root, r.begin, &before, &met);
    split(m, met, r.end, &met, &after);
    w.last = last_of(m, before);
    if (begin_of(m, first_of(m, met)) != r.begin)
        met = join(m, copy(m, w.last, r.begin), met);
    if (begin_of(m, first_of(m, after)) != r.end)
        after = join(m, copy(m, last_of(m, met), r.end), after);
    change_all(&w, met);
    count(&w, r.end);
    if (is_same(m, w.last, first_of(m, after))) {
        split(m, after, begin_of(m, first_of(m, after)) + 1, &equal, &after);
        put_back(m, equal);
    }
    m->root = join(m, join(m, before, w.tree), after);
    return 0;
}

int xd_runs_copy_depots(struct xd_runs *m, const struct xd_runs *from,
                        struct xd_range r)
{
    struct xd_run_change none = {.sets_depot = true, .depot = XD_NO_DEPOT};
    struct xd_run_change some = {.to = {1, 1}, .sets_depot = true};
    int rc = xd_runs_change(m, r, &none);

    while (rc == 0 && !xd_range_is_empty(r)) {
        struct xd_range run = xd_runs_next_depot(from, r, &some.depot);

        rc = xd_runs_change(m, run, &some);
        r.begin = run.end;
    }
    return rc;
}

void xd_runs_fini(struct xd_runs *m)
{
    xd_free(m->nodes);
    xd_free(m->answers);
    *m = (struct xd_runs){.visits = m->visits};
}

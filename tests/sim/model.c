#include "model.h"

#include <string.h>

const char *model_rule_text(enum model_rule rule)
{
    switch (rule) {
    case RULE_NONE:
    case N_RULES:
        break;
#define X(name, text) \
    case RULE_##name: \
        return text;
        MODEL_RULES(X)
#undef X
    }
    return "none";
}

void model_init(struct model *m, const struct xd_layout *l,
                const struct xd_sched_options *in_force, struct xd_range wanted)
{
    memset(m, 0, sizeof *m);
    m->o = *in_force;
    m->wanted = wanted;
    m->reader = wanted.begin;
    m->n_depots = (unsigned)l->n_depots;
    m->size_is_unknown = l->size == UINT64_MAX;
    for (size_t d = 0; d < l->n_depots; d++) {
        unsigned most = l->depots[d].max_lanes;

        m->depots[d].lanes = m->o.lanes_per_depot;
        if (most > 0 && most < m->depots[d].lanes)
            m->depots[d].lanes = most;
        for (size_t i = 0; i < l->depots[d].n_held; i++)
            for (uint64_t at = l->depots[d].held[i].begin;
                 at < l->depots[d].held[i].end && at < MODEL_BYTES; at++)
                m->depots[d].holds[at] = true;
    }
    for (size_t i = 0; i < l->n_cuts; i++)
        m->is_cut[l->cuts[i]] = true;
    if (m->size_is_unknown)
        return;
    for (uint64_t at = wanted.begin; at < wanted.end; at++)
        if (m->is_cut[at] || (at - wanted.begin) % m->o.block_bytes == 0)
            m->blocks[m->n_blocks++] = at;
    m->blocks[m->n_blocks] = wanted.end;
}

static uint64_t limit_of(const struct model *m)
{
    return m->o.window_bytes ? m->reader + m->o.window_bytes : UINT64_MAX;
}

static bool is_awake(const struct model *m, unsigned depot, xd_usec now)
{
    return m->depots[depot].rest_until <= now;
}

static bool is_ready(const struct model *m, unsigned depot, xd_usec now)
{
    const struct model_depot *d = &m->depots[depot];

    return d->is_open && !d->is_dropped && !d->no_ranges &&
           is_awake(m, depot, now);
}

static bool in_flight(const struct model *m, uint64_t byte)
{
    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        if (m->fetches[i].is_live && m->fetches[i].got <= byte &&
            byte < m->fetches[i].range.end)
            return true;
    return false;
}

static unsigned running_at(const struct model *m, unsigned depot)
{
    unsigned n = 0;

    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        n += m->fetches[i].is_live && m->fetches[i].depot == depot;
    return n;
}

/* Whether a depot other than those without ranges holds the byte. */
static bool has_ranged_holder(const struct model *m, uint64_t byte)
{
    for (unsigned i = 0; i < m->n_depots; i++)
        if (m->depots[i].holds[byte] && !m->depots[i].is_dropped &&
            !m->depots[i].no_ranges)
            return true;
    return false;
}

static bool could_bring(const struct model *m, unsigned depot, uint64_t byte)
{
    const struct model_depot *d = &m->depots[depot];

    return d->holds[byte] && !d->is_dropped &&
           (!d->no_ranges || !has_ranged_holder(m, byte));
}

/* The first byte that has not arrived and is not coming. */
static uint64_t head_of(const struct model *m)
{
    uint64_t at = m->wanted.begin;

    while (at < m->wanted.end && at < MODEL_BYTES &&
           (m->arrived[at] || in_flight(m, at)))
        at++;
    return at;
}

/* The paper. */

static uint64_t first_missing(const struct model *m, uint64_t block)
{
    uint64_t at = m->blocks[block];

    while (at < m->blocks[block + 1] && m->arrived[at])
        at++;
    return at;
}

static bool is_complete(const struct model *m, uint64_t block)
{
    return first_missing(m, block) == m->blocks[block + 1];
}

static bool runs_at(const struct model *m, uint64_t block, unsigned depot)
{
    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        if (m->fetches[i].is_live && m->fetches[i].block == block &&
            m->fetches[i].depot == depot)
            return true;
    return false;
}

static unsigned download_number(const struct model *m, uint64_t block)
{
    unsigned n = 0;

    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        n += m->fetches[i].is_live && m->fetches[i].block == block;
    return n;
}

static bool may_take(const struct model *m, uint64_t block, unsigned depot,
                     xd_usec now)
{
    uint64_t at = first_missing(m, block);

    if (is_complete(m, block) || !m->depots[depot].holds[at] ||
        runs_at(m, block, depot))
        return false;
    if (!m->tried[block][depot])
        return true;
    for (unsigned i = 0; i < m->n_depots; i++)
        if (i != depot && is_ready(m, i, now) && m->depots[i].holds[at] &&
            !m->tried[block][i] && !runs_at(m, block, i))
            return false;
    return true;
}

/* The block that a free thread of a ready depot selects; n_blocks if none. */
static uint64_t papers_choice(const struct model *m, unsigned depot,
                              xd_usec now)
{
    uint64_t late = m->n_blocks, fresh = m->n_blocks, thin = m->n_blocks;
    uint64_t later_done = 0, chosen;

    for (uint64_t i = m->n_blocks; i-- > 0;) {
        unsigned number = download_number(m, i);

        if (number < m->o.redundancy && may_take(m, i, depot, now)) {
            thin = i;
            if (number == 0)
                fresh = i;
            if (m->o.progress == 0 || later_done > m->o.progress)
                late = i;
        }
        later_done += is_complete(m, i);
    }
    chosen = late < m->n_blocks ? late : fresh < m->n_blocks ? fresh : thin;
    if (chosen < m->n_blocks && m->blocks[chosen + 1] > limit_of(m))
        return m->n_blocks;
    return chosen;
}

static enum model_rule check_choice(const struct model *m,
                                    const struct xd_sched_action *a,
                                    xd_usec now)
{
    uint64_t block = papers_choice(m, a->depot, now), at;

    if (block == m->n_blocks || a->range.begin < m->blocks[block] ||
        a->range.end > m->blocks[block + 1])
        return RULE_CHOICE;
    at = first_missing(m, block);
    if (a->range.begin > at || a->range.end <= at)
        return RULE_CHOICE;
    return RULE_NONE;
}

static enum model_rule check_needed(const struct model *m,
                                    const struct xd_sched_action *a)
{
    bool is_copy = false;

    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        is_copy |= m->fetches[i].is_live &&
                   m->fetches[i].range.begin < a->range.end &&
                   a->range.begin < m->fetches[i].range.end;
    if (m->accepted[a->range.begin] || m->accepted[a->range.end - 1])
        return RULE_NEEDED;
    if (!is_copy &&
        (m->arrived[a->range.begin] || m->arrived[a->range.end - 1]))
        return RULE_NEEDED;
    return RULE_NONE;
}

static enum model_rule check_copies(const struct model *m,
                                    const struct xd_sched_action *a)
{
    for (uint64_t at = a->range.begin; at < a->range.end; at++) {
        unsigned copies = 1;

        for (unsigned i = 0; i < MODEL_FETCHES; i++) {
            const struct model_fetch *f = &m->fetches[i];

            if (!f->is_live || f->got > at || f->range.end <= at)
                continue;
            if (f->depot == a->depot)
                return RULE_TWICE;
            copies++;
        }
        if (copies > m->o.redundancy)
            return RULE_COPIES;
    }
    return RULE_NONE;
}

static enum model_rule check_place(const struct model *m,
                                   const struct xd_sched_action *a, xd_usec now)
{
    const struct model_depot *d = &m->depots[a->depot];

    if (a->fetch >= MODEL_FETCHES || m->fetches[a->fetch].is_live)
        return RULE_NUMBER;
    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        if (m->fetches[i].is_live && m->fetches[i].depot == a->depot &&
            m->fetches[i].lane == a->lane)
            return RULE_LANE;
    if (a->lane >= m->o.lanes_per_depot)
        return RULE_LANE;
    if (running_at(m, a->depot) >= d->lanes)
        return RULE_LIMIT;
    if (!d->is_open || d->is_dropped || !is_awake(m, a->depot, now))
        return RULE_USABLE;
    return RULE_NONE;
}

static enum model_rule check_range(const struct model *m,
                                   const struct xd_sched_action *a)
{
    const struct model_depot *d = &m->depots[a->depot];

    if (a->range.begin >= a->range.end || a->range.begin < m->wanted.begin ||
        a->range.end > m->wanted.end)
        return RULE_WANTED;
    for (uint64_t at = a->range.begin; at < a->range.end; at++) {
        if (!d->holds[at])
            return RULE_HELD;
        if (at > a->range.begin && m->is_cut[at])
            return RULE_CUT;
        if (d->no_ranges && !m->arrived[at] && !could_bring(m, a->depot, at))
            return RULE_RANGES;
    }
    if (!d->no_ranges && a->range.end > limit_of(m))
        return RULE_WINDOW;
    return RULE_NONE;
}

static enum model_rule check_whole(const struct model *m,
                                   const struct xd_sched_action *a)
{
    for (unsigned i = 0; i < MODEL_FETCHES; i++)
        if (m->fetches[i].is_live)
            return RULE_COPIES;
    return a->range.begin == m->wanted.begin && a->range.end == UINT64_MAX
               ? RULE_NONE
               : RULE_WANTED;
}

static void begin(struct model *m, const struct xd_sched_action *a, xd_usec now)
{
    struct model_fetch *f = &m->fetches[a->fetch];
    uint64_t block = 0;

    if (m->n_begun == 0)
        m->heard_at = now;
    *f = (struct model_fetch){.is_live = true,
                              .depot = a->depot,
                              .lane = a->lane,
                              .block = UINT64_MAX,
                              .number = m->n_begun++,
                              .range = a->range,
                              .got = a->range.begin};
    if (m->size_is_unknown || m->depots[a->depot].no_ranges)
        return;
    while (m->blocks[block + 1] <= a->range.begin)
        block++;
    f->block = block;
    if (m->tried[block][a->depot])
        memset(m->tried[block], 0, sizeof m->tried[block]);
}

static enum model_rule check_fetch(struct model *m,
                                   const struct xd_sched_action *a, xd_usec now)
{
    enum model_rule rule = check_place(m, a, now);

    if (rule == RULE_NONE && m->size_is_unknown)
        rule = check_whole(m, a);
    if (rule == RULE_NONE && !m->size_is_unknown) {
        rule = check_range(m, a);
        if (rule == RULE_NONE)
            rule = check_copies(m, a);
        if (rule == RULE_NONE)
            rule = check_needed(m, a);
        if (rule == RULE_NONE && !m->depots[a->depot].no_ranges)
            rule = check_choice(m, a, now);
    }
    if (rule == RULE_NONE)
        begin(m, a, now);
    return rule;
}

static bool rest_is_here(const struct model *m, const struct model_fetch *f)
{
    for (uint64_t at = f->got; at < f->range.end; at++)
        if (at >= MODEL_BYTES || !m->arrived[at])
            return false;
    return f->got < f->range.end;
}

static enum model_rule check_cancel(struct model *m,
                                    const struct xd_sched_action *a)
{
    struct model_fetch *f = &m->fetches[a->fetch];

    if (a->fetch >= MODEL_FETCHES || !f->is_live || f->is_canceled ||
        m->o.run_losers || !rest_is_here(m, f))
        return RULE_CANCEL;
    f->is_canceled = true;
    return RULE_NONE;
}

static bool has_work(const struct model *m, unsigned depot)
{
    for (uint64_t at = m->wanted.begin; at < m->wanted.end && at < MODEL_BYTES;
         at++)
        if (!m->arrived[at] && could_bring(m, depot, at))
            return true;
    return false;
}

static unsigned n_open(const struct model *m)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->n_depots; i++)
        n += m->depots[i].is_open;
    return n;
}

static enum model_rule check_open(struct model *m,
                                  const struct xd_sched_action *a, xd_usec now)
{
    struct model_depot *d = &m->depots[a->depot];

    if (a->depot >= m->n_depots || d->is_open || d->is_dropped ||
        !is_awake(m, a->depot, now) || !has_work(m, a->depot) ||
        n_open(m) == m->o.max_open)
        return RULE_OPEN;
    d->is_open = true;
    return RULE_NONE;
}

static enum model_rule check_park(struct model *m,
                                  const struct xd_sched_action *a)
{
    struct model_depot *d = &m->depots[a->depot];

    if (a->depot >= m->n_depots || !d->is_open || running_at(m, a->depot) > 0)
        return RULE_PARK;
    d->is_open = false;
    return RULE_NONE;
}

static enum model_rule check_finish(const struct model *m)
{
    if (m->size_is_unknown && m->wanted.end == UINT64_MAX)
        return RULE_FINISH;
    for (uint64_t at = m->wanted.begin; at < m->wanted.end; at++)
        if (!m->accepted[at])
            return RULE_FINISH;
    return RULE_NONE;
}

static enum model_rule check_fail(const struct model *m,
                                  const struct xd_sched_action *a)
{
    uint64_t at = a->range.begin;

    if (at < m->wanted.begin || at >= m->wanted.end || at >= MODEL_BYTES ||
        m->arrived[at] || in_flight(m, at))
        return RULE_FAIL;
    for (unsigned i = 0; i < m->n_depots; i++)
        if (could_bring(m, i, at))
            return RULE_FAIL;
    return RULE_NONE;
}

/* Whether a lane of an open depot should have been given something. */
static bool is_wrongly_idle(const struct model *m, unsigned depot, xd_usec now)
{
    const struct model_depot *d = &m->depots[depot];

    if (!d->is_open || d->is_dropped || !is_awake(m, depot, now) ||
        running_at(m, depot) == d->lanes)
        return false;
    if (m->size_is_unknown)
        return head_of(m) == m->wanted.begin;
    if (!d->no_ranges)
        return papers_choice(m, depot, now) < m->n_blocks;
    for (uint64_t at = m->wanted.begin;
         running_at(m, depot) == 0 && at < m->wanted.end && at < limit_of(m);
         at++)
        if (!m->arrived[at] && !in_flight(m, at) && could_bring(m, depot, at))
            return true;
    return false;
}

/* Whether the next byte waits for a depot that could be opened. */
static bool head_waits_in_vain(const struct model *m, xd_usec now)
{
    uint64_t head = head_of(m);
    bool in_reserve = false, has_room = n_open(m) < m->o.max_open;

    if (head >= m->wanted.end || head >= limit_of(m) || head >= MODEL_BYTES)
        return false;
    for (unsigned i = 0; i < m->n_depots; i++) {
        if (m->depots[i].is_open && running_at(m, i) == 0)
            has_room = true;
        if (!is_awake(m, i, now) || !could_bring(m, i, head))
            continue;
        if (m->depots[i].is_open)
            return false;
        in_reserve = true;
    }
    return in_reserve && has_room;
}

static enum model_rule check_wait(const struct model *m,
                                  const struct xd_sched_action *a, xd_usec now)
{
    if (a->until <= now)
        return RULE_WAKE;
    for (unsigned i = 0; i < m->n_depots; i++) {
        const struct model_depot *d = &m->depots[i];

        if (is_wrongly_idle(m, i, now))
            return RULE_IDLE;
        if (!d->is_open && !d->is_dropped && is_awake(m, i, now) &&
            n_open(m) < m->o.max_open && has_work(m, i))
            return RULE_IDLE;
        if (!d->is_dropped && d->rest_until > now && a->until > d->rest_until)
            return RULE_WAKE;
    }
    for (uint64_t at = m->wanted.begin; at < m->wanted.end && at < MODEL_BYTES;
         at++) {
        struct xd_sched_action fail = {.range = {at, at + 1}};

        if (check_fail(m, &fail) == RULE_NONE)
            return RULE_IDLE;
    }
    return head_waits_in_vain(m, now) ? RULE_IDLE : RULE_NONE;
}

enum model_rule model_action(struct model *m, const struct xd_sched_action *a,
                             xd_usec now)
{
    switch (a->kind) {
    case XD_DO_WAIT:
        return check_wait(m, a, now);
    case XD_DO_OPEN:
        return check_open(m, a, now);
    case XD_DO_PARK:
        return check_park(m, a);
    case XD_DO_FETCH:
        return check_fetch(m, a, now);
    case XD_DO_CANCEL:
        return check_cancel(m, a);
    case XD_DO_FINISH:
        return check_finish(m);
    case XD_DO_FAIL:
        return check_fail(m, a);
    }
    return RULE_NONE;
}

/* Events. */

static void put(bool *bytes, struct xd_range r, bool value)
{
    for (uint64_t at = r.begin; at < r.end && at < MODEL_BYTES; at++)
        bytes[at] = value;
}

static void forget_complete(struct model *m)
{
    for (uint64_t i = 0; i < m->n_blocks; i++)
        if (is_complete(m, i))
            memset(m->tried[i], 0, sizeof m->tried[i]);
}

static bool is_needed(const struct model *m, unsigned depot)
{
    for (uint64_t at = m->wanted.begin; at < m->wanted.end && at < MODEL_BYTES;
         at++) {
        bool is_spared = m->arrived[at] || !m->depots[depot].holds[at];

        for (unsigned i = 0; i < m->n_depots; i++)
            is_spared |= i != depot && !m->depots[i].is_dropped &&
                         m->depots[i].holds[at];
        if (!is_spared)
            return true;
    }
    return false;
}

static void depot_failed(struct model *m, const struct model_fetch *f,
                         const struct xd_sched_event *ev)
{
    struct model_depot *d = &m->depots[f->depot];
    xd_usec until = ev->retry_at, last = XD_NEVER;

    if (d->is_dropped)
        return;
    if (f->number >= d->forgiven_to) {
        unsigned n = d->failures++;
        xd_usec pause = (250 * XD_MS) << (n < 10 ? n : 10);

        d->forgiven_to = m->n_begun;
        if (d->failures >= m->o.max_failures) {
            last = m->size_is_unknown || !is_needed(m, f->depot)
                       ? 0
                       : m->heard_at + m->o.patience;
            d->is_dropped = last <= ev->now;
        }
        if (pause > 30 * XD_SECOND)
            pause = 30 * XD_SECOND;
        if (until < ev->now + pause)
            until = ev->now + pause;
        if (until > last)
            until = last;
    }
    if (until > d->rest_until)
        d->rest_until = until;
}

static void forget_all(struct model *m)
{
    m->wanted.end = UINT64_MAX;
    memset(m->arrived, 0, sizeof m->arrived);
    memset(m->accepted, 0, sizeof m->accepted);
}

static enum model_rule fetch_event(struct model *m,
                                   const struct xd_sched_event *ev)
{
    struct model_fetch *f = &m->fetches[ev->fetch];
    struct xd_range fresh;

    if (ev->fetch >= MODEL_FETCHES || !f->is_live)
        return RULE_ENDS;
    if (ev->kind == XD_EV_STARTED)
        return RULE_NONE;
    if (ev->kind == XD_EV_DONE && m->size_is_unknown)
        m->wanted.end = f->range.end = ev->range.end;
    fresh = (struct xd_range){f->got, ev->kind == XD_EV_DONE ? f->range.end
                                                             : ev->range.end};
    if (fresh.begin < fresh.end) {
        put(m->arrived, fresh, true);
        forget_complete(m);
        if (!m->size_is_unknown)
            m->depots[f->depot].failures = 0;
        f->got = fresh.end;
        m->heard_at = ev->now;
    }
    if (ev->kind == XD_EV_BYTES)
        return RULE_NONE;
    f->is_live = false;
    if (ev->kind == XD_EV_FAILED && f->block != UINT64_MAX &&
        !is_complete(m, f->block))
        m->tried[f->block][f->depot] = true;
    if (m->size_is_unknown &&
        (ev->kind != XD_EV_DONE || head_of(m) < m->wanted.end))
        forget_all(m);
    if (ev->kind == XD_EV_FAILED)
        depot_failed(m, f, ev);
    return RULE_NONE;
}

enum model_rule model_event(struct model *m, const struct xd_sched_event *ev)
{
    switch (ev->kind) {
    case XD_EV_STARTED:
    case XD_EV_BYTES:
    case XD_EV_DONE:
    case XD_EV_FAILED:
    case XD_EV_CANCELED:
        return fetch_event(m, ev);
    case XD_EV_HELD:
        put(m->arrived, ev->range, true);
        forget_complete(m);
        break;
    case XD_EV_ACCEPTED:
        put(m->arrived, ev->range, true);
        put(m->accepted, ev->range, true);
        forget_complete(m);
        break;
    case XD_EV_REJECTED:
        put(m->arrived, ev->range, false);
        put(m->accepted, ev->range, false);
        if (m->size_is_unknown)
            forget_all(m);
        break;
    case XD_EV_LOST:
    case XD_EV_HOLDS:
        put(m->depots[ev->depot].holds,
            m->size_is_unknown ? (struct xd_range){0, UINT64_MAX} : ev->range,
            ev->kind == XD_EV_HOLDS);
        break;
    case XD_EV_NORANGES:
        m->depots[ev->depot].no_ranges = true;
        m->depots[ev->depot].rest_until = 0;
        m->depots[ev->depot].failures = 0;
        m->depots[ev->depot].forgiven_to = m->n_begun;
        break;
    case XD_EV_BANNED:
        m->depots[ev->depot].is_dropped = true;
        break;
    case XD_EV_READER:
        if (ev->range.begin > m->reader)
            m->reader = ev->range.begin;
        break;
    case XD_EV_TICK:
        break;
    }
    return RULE_NONE;
}

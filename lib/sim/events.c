/* SPDX-License-Identifier: MIT */
#include "sim/events.h"

#include "base/alloc.h"
#include "base/array.h"

/* Written without branches, because the processor could not predict them. */
static inline bool is_before(const struct xd_event_key *a,
                             const struct xd_event_key *b)
{
    return (a->at < b->at) | ((a->at == b->at) & (a->order < b->order));
}

/* ---- slots ---- */

static struct xd_event_slot *slot_of(const struct xd_events *e, uint32_t number)
{
    return &e->slots[number - 1];
}

/* Returns the number of a new slot, 0 if out of memory. */
static uint32_t new_slot(struct xd_events *e)
{
    const uint32_t number = e->first_free;
    struct xd_event_slot *slots;

    if (number != 0) {
        e->first_free = slot_of(e, number)->next;
        return number;
    }
    slots = xd_grow(e->slots, e->n_slots, &e->slots_capacity, sizeof *slots);
    if (!slots)
        return 0;
    e->slots = slots;
    return (uint32_t)++e->n_slots;
}

static void free_slot(struct xd_events *e, uint32_t number)
{
    slot_of(e, number)->next = e->first_free;
    e->first_free = number;
}

static struct xd_event_key key_of(const struct xd_events *e, uint32_t number)
{
    const struct xd_sim_event *event = &slot_of(e, number)->event;

    return (struct xd_event_key){event->at, event->order, number};
}

/* ---- lists ---- */

/* Returns the last event of the list for this kind; NULL for timers. */
static uint32_t *last_of(struct xd_events *e, enum xd_sim_kind kind,
                         unsigned number)
{
    switch (kind) {
    case XD_SIM_AT_CLIENT: /* all packets come from the client's line */
        return &e->last[(unsigned)kind * XD_EVENT_DEPOTS];
    case XD_SIM_AT_SHARED:
    case XD_SIM_AT_ACCESS:
    case XD_SIM_AT_DEPOT:
        return &e->last[(unsigned)kind * XD_EVENT_DEPOTS +
                        number % XD_EVENT_DEPOTS];
    case XD_SIM_DEPOT_TIMER:
    case XD_SIM_PACE_TIMER:
    case XD_SIM_CAP_TIMER:
    case XD_SIM_CLIENT_TIMER:
    case XD_SIM_FLUSH_TIMER:
    case XD_SIM_REPORT_TIMER:
    case XD_SIM_SILENCE_TIMER:
    case XD_SIM_CANCEL_TIMER:
    case XD_SIM_ASK_TIMER:
    case XD_SIM_PING_TIMER:
        break;
    }
    return NULL;
}

/* Appends to a list.  Returns false if the event must go to the heap. */
static bool append(struct xd_events *e, uint32_t *last,
                   const struct xd_event_key *key)
{
    const uint32_t before = last ? *last : 0;

    if (before != 0 && slot_of(e, before)->event.at > key->at)
        return false;
    if (last)
        *last = key->slot;
    if (before != 0)
        slot_of(e, before)->next = key->slot;
    return before != 0;
}

/* ---- the heap ---- */

static void push(struct xd_events *e, struct xd_event_key key)
{
    size_t i = e->n++;

    for (; i > 0 && is_before(&key, &e->heap[(i - 1) / 2]); i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = key;
}

/* Replaces the first key. */
static void replace_first(struct xd_events *e, struct xd_event_key key)
{
    size_t i = 0, child;

    while (child = 2 * i + 1, child < e->n) {
        child +=
            child + 1 < e->n && is_before(&e->heap[child + 1], &e->heap[child]);
        if (!is_before(&e->heap[child], &key))
            break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    e->heap[i] = key;
}

struct xd_sim_event *xd_events_put(struct xd_events *e, enum xd_sim_kind kind,
                                   unsigned number, xd_nsec at)
{
    struct xd_event_key *heap =
        e->n < e->capacity ? e->heap
                           : xd_grow(e->heap, e->n, &e->capacity, sizeof *heap);
    const uint32_t slot = heap ? new_slot(e) : 0;

    if (heap)
        e->heap = heap;
    if (slot == 0) {
        e->failed = true;
        return NULL;
    }
    const struct xd_event_key key = {at, e->n_ever++, slot};
    struct xd_event_slot *s = slot_of(e, slot);
    s->next = 0;
    s->event.at = at;
    s->event.order = key.order;
    s->event.kind = kind;
    s->event.number = number;
    if (append(e, last_of(e, kind, number), &key))
        return &s->event;
    if (kind == XD_SIM_AT_CLIENT && e->client.slot == 0)
        e->client = key;
    else
        push(e, key);
    return &s->event;
}

/* Puts the next event of the list in the place of the one that was removed. */
static void move_up(struct xd_events *e, bool is_clients, uint32_t next)
{
    const struct xd_event_key none = {.slot = 0};

    if (is_clients)
        e->client = next != 0 ? key_of(e, next) : none;
    else if (next != 0)
        replace_first(e, key_of(e, next));
    else if (--e->n > 0)
        replace_first(e, e->heap[e->n]);
}

bool xd_events_take(struct xd_events *e, xd_nsec until,
                    struct xd_sim_event *out)
{
    const bool is_clients = e->client.slot != 0 &&
                            (e->n == 0 || is_before(&e->client, &e->heap[0]));

    if (!is_clients && e->n == 0)
        return false;
    const struct xd_event_key *first = is_clients ? &e->client : &e->heap[0];
    if (first->at > until)
        return false;
    const uint32_t number = first->slot, next = slot_of(e, number)->next;
    *out = slot_of(e, number)->event;
    uint32_t *last = last_of(e, out->kind, out->number);
    if (last && *last == number)
        *last = 0;
    free_slot(e, number);
    move_up(e, is_clients, next);
    return true;
}

void xd_events_fini(struct xd_events *e)
{
    xd_free(e->heap);
    xd_free(e->slots);
    *e = (struct xd_events){.n = 0};
}

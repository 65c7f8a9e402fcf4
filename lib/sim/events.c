#include "sim/events.h"

#include "base/alloc.h"
#include "base/array.h"

static bool before(const struct xd_sim_event *a, const struct xd_sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static bool grow(struct xd_events *e)
{
    struct xd_sim_event *heap =
        xd_grow(e->heap, e->n, &e->capacity, sizeof *heap);

    if (!heap) {
        e->failed = true;
        return false;
    }
    e->heap = heap;
    return true;
}

void xd_events_put(struct xd_events *e, struct xd_sim_event event)
{
    size_t i = e->n;

    if (!grow(e))
        return;
    event.order = e->n_ever++;
    for (e->n++; i > 0 && before(&event, &e->heap[(i - 1) / 2]);
         i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = event;
}

bool xd_events_take(struct xd_events *e, struct xd_sim_event *out)
{
    struct xd_sim_event last;
    size_t i = 0, child;

    if (e->n == 0)
        return false;
    *out = e->heap[0];
    last = e->heap[--e->n];
    while (child = 2 * i + 1, child < e->n) {
        if (child + 1 < e->n && before(&e->heap[child + 1], &e->heap[child]))
            child++;
        if (!before(&e->heap[child], &last))
            break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    e->heap[i] = last;
    return true;
}

void xd_events_fini(struct xd_events *e)
{
    xd_free(e->heap);
    *e = (struct xd_events){.n = 0};
}

#include "engine/records.h"

#include "base/alloc.h"

#define CAPACITY 4096

int xd_records_init(struct xd_records *r, bool wanted)
{
    *r = (struct xd_records){0};
    if (!wanted)
        return 0;
    r->ring = xd_alloc(CAPACITY, sizeof *r->ring);
    return r->ring ? 0 : XD_E_NOMEM;
}

void xd_records_fini(struct xd_records *r)
{
    xd_free(r->ring);
    *r = (struct xd_records){0};
}

void xd_records_put(struct xd_records *r, const struct xd_fetch_record *record)
{
    if (!r->ring)
        return;
    if (r->n == CAPACITY) {
        r->first = (r->first + 1) % CAPACITY;
        r->n--;
        r->lost++;
    }
    r->ring[(r->first + r->n++) % CAPACITY] = *record;
}

bool xd_records_take(struct xd_records *r, struct xd_fetch_record *out)
{
    if (r->n == 0)
        return false;
    *out = r->ring[r->first];
    r->first = (r->first + 1) % CAPACITY;
    r->n--;
    return true;
}

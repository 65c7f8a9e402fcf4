#include "tell/records.h"

#include <ctype.h>
#include <inttypes.h>

#include "common/text.h"

#define HOST_COLUMNS 28 /* longer names push the rest of the line */

static void put_outcome(FILE *to, const struct xd_fetch_record *r)
{
    if (r->code == XD_OK) {
        const bool was_in_vain = r->received > 0 && r->redundant == r->received;
        fputs(was_in_vain ? "redundant" : "ok", to);
        return;
    }
    for (const char *p = xd_code_name(r->code); *p != '\0'; p++)
        putc(tolower((unsigned char)*p), to);
}

static void put_record(FILE *to, const struct xd_fetch_record *r,
                       const char *host)
{
    const bool is_open = r->end == XD_SIZE_UNKNOWN; /* "to the end" was asked */

    text_put(to, host);
    fprintf(to, "%*s %14" PRIu64 " %11" PRIu64 " %8.3f  ",
            (int)HOST_COLUMNS - (int)text_columns(host) > 0
                ? (int)HOST_COLUMNS - (int)text_columns(host)
                : 0,
            "", r->begin, is_open ? r->received : r->end - r->begin,
            r->end_s - r->start_s);
    put_outcome(to, r);
    putc('\n', to);
}

void records_put(FILE *to, struct xd_download *d, const struct snapshot *s)
{
    struct xd_fetch_record record = {.struct_size = sizeof record};

    while (xd_download_next_record(d, &record, NULL))
        put_record(to, &record,
                   record.depot < s->n_depots ? s->depots[record.depot].host
                                              : "?");
}

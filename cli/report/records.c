/* SPDX-License-Identifier: MIT */
#include "report/records.h"

#include <inttypes.h>

#include "command/records.h"
#include "common/outcome.h"
#include "common/text.h"

#define HOST_COLUMNS 28 /* longer host names shift the rest of the line */

static void put_record(FILE *to, const struct xd_fetch_record *r,
                       const char *host)
{
    /* the request has no end ("bytes=N-") */
    const bool is_open = r->end == XD_SIZE_UNKNOWN;
    char outcome[OUTCOME_SIZE];

    text_put(to, host);
    fprintf(to, "%*s %14" PRIu64 " %11" PRIu64 " %8.3f  ",
            (int)HOST_COLUMNS - (int)text_columns(host) > 0
                ? (int)HOST_COLUMNS - (int)text_columns(host)
                : 0,
            "", r->begin, is_open ? r->received : r->end - r->begin,
            r->end_s - r->start_s);
    fprintf(to, "%s\n", outcome_name(outcome, r));
}

/* Returns the host of a depot.  The depot may have been added after the
 * snapshot. */
static const char *host_of(struct xd_download *d, const struct snapshot *s,
                           unsigned depot)
{
    struct xd_depot_stats stats = {.struct_size = sizeof stats};

    if (depot < s->n_depots)
        return s->depots[depot].host;
    return xd_download_depot(d, depot, &stats) == 0 ? stats.host : "?";
}

void records_put(FILE *to, struct xd_download *d, const struct snapshot *s,
                 struct trace_run *run)
{
    struct xd_fetch_record record = {.struct_size = sizeof record};

    while (xd_download_next_record(d, &record, NULL)) {
        trace_record(run, &record);
        put_record(to, &record, host_of(d, s, record.depot));
    }
}

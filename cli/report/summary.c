/* SPDX-License-Identifier: MIT */
#include "report/summary.h"

#include <string.h>

#include "command/manifests.h"
#include "common/table.h"
#include "common/text.h"
#include "common/units.h"
#include "report/cast.h"
#include "report/view.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void put_whole(FILE *to, const struct snapshot *s, const char *name,
                      const char *outcome)
{
    const struct xd_progress *p = &s->progress;
    char size[UNITS_SIZE], seconds[UNITS_SIZE], rate[UNITS_SIZE];

    text_put(to, name);
    fprintf(to, ": %s, ", outcome);
    if (strcmp(outcome, "complete") != 0) {
        view_how_far(to, s);
        fprintf(to, ", in %s\n", units_seconds(seconds, p->seconds));
        return;
    }
    fputs(units_size(size, p->bytes_done), to);
    if (p->bytes_resumed > 0)
        fprintf(to, ", %s of it there already,",
                units_size(size, p->bytes_resumed));
    fprintf(to, " in %s", units_seconds(seconds, p->seconds));
    if (p->seconds > 0)
        fprintf(to, ", %s",
                units_rate(rate, (double)(p->bytes_done - p->bytes_resumed) /
                                     p->seconds));
    fprintf(to, ", %.1f %% redundant, ",
            percent(p->bytes_redundant, p->bytes_received));
    if (p->signed_by != NULL)
        fprintf(to, "signed by %s\n", p->signed_by);
    else if (p->verified != NULL && p->is_servers_digest)
        fprintf(to, "matches the server's digest, %s\n", p->verified);
    else if (p->verified != NULL)
        fprintf(to, "verified with %s%s\n", p->verified,
                xd_hash_is_weak(p->verified) ? ", which is weak" : "");
    else if (p->bytes_compared > 0)
        fprintf(to, "not verified, %s compared\n",
                units_size(size, p->bytes_compared));
    else
        fputs("not verified\n", to);
}

/* Prints why bytes had to be downloaded again. */
static void put_discarded(FILE *to, const struct xd_progress *p)
{
    const struct {
        uint64_t bytes;
        const char *why;
    } all[] = {
        {p->discarded_bad_pieces, "their piece did not match its hash"},
        {p->discarded_bad_file, "the file did not match its hash"},
        {p->discarded_banned, "their depot was banned"},
        {p->discarded_changed, "another program had changed them"},
        {p->discarded_restarted, "the file was fetched from its beginning"},
    };
    char size[UNITS_SIZE];

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].bytes > 0)
            fprintf(to, "discarded: %s, since %s\n",
                    units_size(size, all[i].bytes), all[i].why);
}

/* Prints how many bytes the mesh saved other servers, or why it was not
 * used. */
static void put_via(FILE *to, const struct snapshot *s)
{
    char via[UNITS_SIZE], direct[UNITS_SIZE];
    uint64_t sums[2] = {0, 0};

    for (size_t i = 0; i < s->n_depots; i++)
        sums[s->depots[i].is_node] +=
            s->depots[i].bytes + s->depots[i].bytes_redundant;
    if (s->progress.not_via != NULL)
        fprintf(to, "not through the mesh: %s\n", s->progress.not_via);
    else if (sums[true] > 0)
        fprintf(to, "%s through the mesh, %s from servers themselves\n",
                units_size(via, sums[true]), units_size(direct, sums[false]));
}

static bool was_asked(const struct snapshot_depot *depot)
{
    return depot->requests > 0 || depot->state == XD_DEPOT_FAILED;
}

#define MOST_IDLE 5 /* most lines for depots that delivered nothing */
#define MOST_DEAD 5 /* most lines for failed depots */

enum { BYTES, SHARE, MEAN_RATE, REQUESTS, FAILURES, N_COLUMNS };

static const struct table_column wide_columns[] = {
    [BYTES] = {"bytes", 10, 0, false},
    [SHARE] = {"share", 7, 2, false},
    [MEAN_RATE] = {"mean rate", 12, 1, false},
    [REQUESTS] = {"requests", 8, 3, false},
    [FAILURES] = {"failures", 8, 4, false},
};

static const struct table_column narrow_columns[] = {
    [BYTES] = {"bytes", 5, 0, false},    [SHARE] = {"share", 7, 2, false},
    [MEAN_RATE] = {"rate", 7, 1, false}, [REQUESTS] = {"asked", 5, 3, false},
    [FAILURES] = {"fails", 5, 4, false},
};

/* Returns true if nothing is known about the depot, because it has not
 * answered.  In a short run, other depots may deliver everything before a slow
 * depot answers. */
static bool has_not_answered(const struct snapshot_depot *depot)
{
    return depot->error == NULL && depot->first_byte_s < 0 &&
           depot->bytes + depot->bytes_redundant == 0;
}

static void put_depot(FILE *to, const struct table *t,
                      const struct snapshot_depot *depot, uint64_t whole)
{
    const bool narrow = t->columns == narrow_columns;
    char cells[TABLE_COLUMNS][TABLE_CELL];

    (narrow ? units_size_short : units_size)(cells[BYTES], depot->bytes);
    snprintf(cells[SHARE], TABLE_CELL, "%.1f %%", percent(depot->bytes, whole));
    (narrow ? units_rate_short : units_rate)(cells[MEAN_RATE],
                                             depot->mean_bytes_per_s);
    snprintf(cells[REQUESTS], TABLE_CELL, "%u", depot->requests);
    snprintf(cells[FAILURES], TABLE_CELL, "%u", depot->failures);
    table_put_row(t, to, depot->host, cells);
    if (has_not_answered(depot))
        fputs("  had not answered\n", to);
    if (depot->error == NULL)
        return;
    fputs(depot->state == XD_DEPOT_FAILED ? "  failed: " : "  trouble: ", to);
    text_put(to, depot->error);
    putc('\n', to);
}

/* Returns true if the depot failed without delivering any bytes.  For such
 * depots, only the reason is shown. */
static bool is_dead(const struct snapshot_depot *depot)
{
    return depot->bytes == 0 && depot->error != NULL;
}

/* Prints the lines of the depots.  If many depots delivered nothing, shows only
 * the first few, unless the run failed. */
static void put_depots(FILE *to, const struct table *t, const struct cast *cast,
                       bool all)
{
    uint64_t whole = 0;
    size_t n_idle = 0;

    for (size_t i = 0; i < cast->n; i++)
        whole += cast->depots[i]->bytes;
    for (size_t i = 0; i < cast->n; i++) {
        if (is_dead(cast->depots[i]))
            continue;
        n_idle += cast->depots[i]->bytes == 0;
        if (all || cast->depots[i]->bytes > 0 || n_idle <= MOST_IDLE)
            put_depot(to, t, cast->depots[i], whole);
    }
    if (!all && n_idle > MOST_IDLE)
        fprintf(to, "+%zu that delivered nothing (-v has them)\n",
                n_idle - MOST_IDLE);
}

/* Prints a line for each failed depot, up to a limit, and how many more there
 * are. */
static void put_dead(FILE *to, const struct cast *cast, bool all)
{
    size_t n = 0;

    for (size_t i = 0; i < cast->n; i++) {
        if (!is_dead(cast->depots[i]) || (++n > MOST_DEAD && !all))
            continue;
        fputs("failed: ", to);
        text_put(to, cast->depots[i]->error);
        putc('\n', to);
    }
    if (!all && n > MOST_DEAD)
        fprintf(to, "+%zu that failed (-v has them)\n", n - MOST_DEAD);
}

static size_t count_dead(const struct cast *cast)
{
    size_t n = 0;

    for (size_t i = 0; i < cast->n; i++)
        n += is_dead(cast->depots[i]);
    return n;
}

void summary_put(FILE *to, const struct snapshot *s, const char *name,
                 const char *outcome, bool all, unsigned columns)
{
    struct cast cast;
    struct table table;

    /* an interruption is printed at the very end */
    if (strcmp(outcome, "interrupted") != 0)
        put_whole(to, s, name, outcome);
    put_discarded(to, &s->progress);
    put_via(to, s);
    cast_init(&cast, s, was_asked);
    table_init(&table, columns < 50 ? narrow_columns : wide_columns, N_COLUMNS,
               columns, cast.longest);
    if (cast.n > count_dead(&cast))
        table_put_titles(&table, to, "depot");
    put_depots(to, &table, &cast, all || strcmp(outcome, "failed") == 0);
    put_dead(to, &cast, all);
    if (cast.n > 0 && s->n_depots > cast.n)
        fprintf(to, "+%zu in reserve\n", s->n_depots - cast.n);
    cast_fini(&cast);
}

/* SPDX-License-Identifier: MIT */
#include "report/view.h"

#include <string.h>

#include "common/table.h"
#include "common/text.h"
#include "common/units.h"
#include "report/cast.h"

#define TROUBLE_SECONDS 2

#define NARROW 50 /* below this width in columns, short forms are used */

static bool is_open(const struct snapshot_depot *depot)
{
    return depot->state != XD_DEPOT_RESERVE;
}

static double seconds_left(const struct xd_progress *p)
{
    if (p->bytes_total == XD_SIZE_UNKNOWN || !(p->bytes_per_s > 0))
        return -1;
    return (double)(p->bytes_total - p->bytes_done) / p->bytes_per_s;
}

/* Writes a text like "12.3 MiB of 33.0 MiB". */
static void put_amount(char *out, size_t size, const struct xd_progress *p)
{
    char done[UNITS_SIZE], total[UNITS_SIZE];

    if (p->bytes_total == XD_SIZE_UNKNOWN)
        snprintf(out, size, "%s", units_size(done, p->bytes_done));
    else
        snprintf(out, size, "%s of %s", units_size(done, p->bytes_done),
                 units_size(total, p->bytes_total));
}

static void put_percent(char *out, size_t size, const struct xd_progress *p,
                        const char *unit)
{
    if (p->bytes_total == XD_SIZE_UNKNOWN)
        snprintf(out, size, "  ?%s", unit);
    else
        snprintf(out, size, "%3u%s",
                 units_percent(p->bytes_done, p->bytes_total), unit);
}

static void put_bar(FILE *to, const struct xd_progress *p, unsigned width)
{
    const unsigned inner = width - 2;
    const unsigned full =
        p->bytes_total == XD_SIZE_UNKNOWN
            ? 0
            : inner * units_percent(p->bytes_done, p->bytes_total) / 100;

    putc('[', to);
    for (unsigned i = 0; i < inner; i++)
        putc(i < full ? '#' : '-', to);
    putc(']', to);
}

/* Prints the line of the total.  Percentage, rate and remaining time are always
 * shown.  Bytes, name and bar are shown if there is room. */
static void put_whole(FILE *to, const struct snapshot *s, const char *name,
                      unsigned columns)
{
    const struct xd_progress *p = &s->progress;
    char percent[8], amount[2 * UNITS_SIZE + 8], line[4 * UNITS_SIZE];
    char rate[UNITS_SIZE], left[UNITS_SIZE];

    if (columns < NARROW) {
        put_percent(percent, sizeof percent, p, "%");
        snprintf(line, sizeof line, "%s %s %s", percent,
                 units_rate_short(rate, p->bytes_per_s),
                 units_clock_short(left, seconds_left(p)));
        text_put_fit(to, line, columns, false);
        putc('\n', to);
        return;
    }
    put_percent(percent, sizeof percent, p, " %");
    put_amount(amount, sizeof amount, p);
    snprintf(line, sizeof line, "%s  %s left", units_rate(rate, p->bytes_per_s),
             units_clock(left, seconds_left(p)));
    const unsigned fixed =
        (unsigned)(strlen(percent) + 2 + strlen(amount) + 2 + strlen(line));
    unsigned room = columns > fixed ? columns - fixed : 0;
    unsigned name_width = text_columns(name);
    if (name_width > 40)
        name_width = 40;
    if (name_width + 2 > room)
        name_width = room > 2 ? room - 2 : 0;
    if (name_width >= 4) {
        text_put_fit(to, name, name_width, true);
        fputs("  ", to);
        room -= name_width + 2;
    }
    fprintf(to, "%s  ", percent);
    if (room >= 14) {
        put_bar(to, p, room - 2 < 42 ? room - 2 : 42);
        fputs("  ", to);
    }
    if (fixed <= columns)
        fprintf(to, "%s  ", amount);
    fprintf(to, "%s\n", line);
}

/* The columns of a depot's line. */
enum running_column { STATE, CONNECTIONS, RATE, BYTES, REDUNDANT };

static const struct table_column running_columns[] = {
    [STATE] = {"state", 6, 1, true},
    [CONNECTIONS] = {"conns", 5, 3, false},
    [RATE] = {"rate", 12, 0, false},
    [BYTES] = {"bytes", 10, 2, false},
    [REDUNDANT] = {"redundant", 10, 4, false},
};

static const struct table_column narrow_columns[] = {
    [STATE] = {"state", 6, 2, true},
    [CONNECTIONS] = {"conns", 5, 3, false},
    [RATE] = {"rate", 7, 0, false},
    [BYTES] = {"bytes", 5, 1, false},
    [REDUNDANT] = {"twice", 5, 4, false},
};

static void put_depot(FILE *to, const struct table *t,
                      const struct snapshot_depot *depot)
{
    const bool narrow = t->columns == narrow_columns;
    char cells[TABLE_COLUMNS][TABLE_CELL];
    char *(*size)(char *, uint64_t) = narrow ? units_size_short : units_size;
    char *(*rate)(char *, double) = narrow ? units_rate_short : units_rate;

    snprintf(cells[STATE], TABLE_CELL, "%s", snapshot_state(depot->state));
    snprintf(cells[CONNECTIONS], TABLE_CELL, "%u", depot->connections);
    /* If there is no room for both columns, an idle depot shows its state in
     * place of "0 B/s". */
    if (t->shown[STATE] || depot->state == XD_DEPOT_BUSY)
        rate(cells[RATE], depot->bytes_per_s);
    else
        memcpy(cells[RATE], cells[STATE], TABLE_CELL);
    size(cells[BYTES], depot->bytes);
    size(cells[REDUNDANT], depot->bytes_redundant);
    table_put_row(t, to, depot->host, cells);
}

/* Prints "+3 more, +209 in reserve", or "+3, +209 reserve" if the display is
 * narrow.  Prints nothing if both numbers are 0. */
static void put_rest(FILE *to, size_t more, size_t reserve, unsigned columns)
{
    const bool is_narrow = columns < NARROW;
    char line[80] = "";

    if (more > 0 && reserve > 0)
        snprintf(line, sizeof line,
                 is_narrow ? "+%zu, +%zu reserve"
                           : "+%zu more, +%zu in reserve",
                 more, reserve);
    else if (more > 0)
        snprintf(line, sizeof line, "+%zu more", more);
    else if (reserve > 0)
        snprintf(line, sizeof line, "+%zu in reserve", reserve);
    else
        return;
    text_put_fit(to, line, columns, false);
    putc('\n', to);
}

#define WAITS_SIZE 300

/* Returns why no bytes arrive: what the download is waiting for, or the error
 * of the first depot.  Returns NULL if it is not in trouble. */
static const char *trouble(const struct snapshot *s, char *waits, size_t size)
{
    if (snapshot_waits(s, waits, size))
        return waits;
    /* A short pause is normal, especially at the start. */
    if (s->progress.bytes_per_s > 0 || s->progress.seconds < TROUBLE_SECONDS)
        return NULL;
    for (size_t i = 0; i < s->n_depots; i++) {
        const struct snapshot_depot *depot = &s->depots[i];

        if (depot->state != XD_DEPOT_BUSY && depot->error != NULL)
            return depot->error;
    }
    return NULL;
}

/* Removes names from the end of the line until it fits. */
static void leave_out_last(char *line, unsigned columns)
{
    char *last;

    while (text_columns(line) > columns && (last = strrchr(line, ',')) != NULL)
        strcpy(last, " ...");
}

/* Prints a line like "1860 of 3000 files ended, 2 failed; in flight: a/f1861,
 * a/f1862 ...". */
static void put_files(FILE *to, const struct snapshot_files *f,
                      unsigned columns)
{
    char failed[40] = "", line[sizeof f->in_flight + 120];

    if (f->failed > 0)
        snprintf(failed, sizeof failed, ", %zu failed", f->failed);
    if (columns < NARROW)
        snprintf(line, sizeof line, "%zu/%zu%s", f->ended, f->n, failed);
    else
        snprintf(line, sizeof line, "%zu of %zu files ended%s%s%s", f->ended,
                 f->n, failed, f->in_flight[0] != '\0' ? "; in flight: " : "",
                 f->in_flight);
    leave_out_last(line, columns);
    text_put_fit(to, line, columns, false);
    putc('\n', to);
}

void view_running(FILE *to, const struct snapshot *s, const char *name,
                  unsigned columns, unsigned rows)
{
    struct cast cast;
    struct table table;
    size_t room = rows > 1 ? rows - 1 : 0;
    char waits[WAITS_SIZE];
    const char *why = trouble(s, waits, sizeof waits);

    put_whole(to, s, name, columns);
    cast_init(&cast, s, is_open);
    const size_t reserve = s->n_depots - cast.n;
    if (s->files.n > 0 && room > cast.n + (reserve > 0)) {
        put_files(to, &s->files, columns);
        room--;
    }
    table_init(&table, columns < NARROW ? narrow_columns : running_columns, 5,
               columns, cast.longest);
    if (columns >= NARROW && cast.n > 0 && room > cast.n + 1) {
        table_put_titles(&table, to, "depot");
        room--;
    }
    const bool all_fit = cast.n + (reserve > 0) <= room;
    const size_t n = all_fit ? cast.n : room > 1 ? room - 1 : 0;
    for (size_t i = 0; i < n; i++)
        put_depot(to, &table, cast.depots[i]);
    if (room > 0)
        put_rest(to, cast.n - n, reserve, columns);
    if (why != NULL && room > cast.n + (reserve > 0)) {
        text_put_fit(to, why, columns, false);
        putc('\n', to);
    }
    cast_fini(&cast);
}

void view_how_far(FILE *to, const struct snapshot *s)
{
    char amount[2 * UNITS_SIZE + 8];

    put_amount(amount, sizeof amount, &s->progress);
    /* An empty file has no percentage. */
    if (s->progress.bytes_total != XD_SIZE_UNKNOWN &&
        s->progress.bytes_total > 0)
        fprintf(to, "%u %%, ",
                units_percent(s->progress.bytes_done, s->progress.bytes_total));
    fputs(amount, to);
}

void view_plain(FILE *to, const struct snapshot *s, const char *name)
{
    char rate[UNITS_SIZE], left[UNITS_SIZE];
    char waits[WAITS_SIZE];
    const char *why = trouble(s, waits, sizeof waits);

    text_put(to, name);
    fputs(": ", to);
    view_how_far(to, s);
    fprintf(to, ", %s, %s left, %u of %zu depots in use",
            units_rate(rate, s->progress.bytes_per_s),
            units_clock(left, seconds_left(&s->progress)),
            s->progress.depots_open, s->n_depots);
    if (why != NULL) {
        fputs("; ", to);
        text_put(to, why);
    }
    putc('\n', to);
}

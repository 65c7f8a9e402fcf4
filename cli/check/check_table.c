/* SPDX-License-Identifier: MIT */
#include "check/check_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sys/ioctl.h>
#include <unistd.h>
#include <xdpublish/parity.h>

#include "command/manifests.h"
#include "common/table.h"
#include "common/text.h"
#include "common/units.h"

/* Width of the terminal in columns if it is unknown. */
#define WIDTH 100

/* Number of ranges that are listed without --verbose. */
#define FEW 4

enum check_column {
    VERDICT,
    REPLICAS,
    ANSWER,
    RATE,
    WRONG,
    EXPIRES,
    N_COLUMNS
};

static const struct table_column columns[] = {
    [VERDICT] = {"verdict", 8, 0, true},
    [REPLICAS] = {"usable", 7, 1, false},
    [ANSWER] = {"answer", 7, 4, false},
    [RATE] = {"rate", 12, 3, false},
    [WRONG] = {"wrong", 10, 2, false},
    [EXPIRES] = {"expires in", 11, 5, false},
};

static unsigned width(void)
{
    struct winsize size;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 1)
        return size.ws_col - 1u;
    return WIDTH;
}

static void put_answer(char cell[TABLE_CELL], uint64_t usec)
{
    if (usec == XD_SIZE_UNKNOWN)
        snprintf(cell, TABLE_CELL, "-");
    else if (usec < 1000000)
        snprintf(cell, TABLE_CELL, "%" PRIu64 " ms", usec / 1000);
    else
        snprintf(cell, TABLE_CELL, "%.1f s", (double)usec / 1e6);
}

static void put_expiry(char cell[TABLE_CELL], uint64_t at)
{
    const time_t now = time(NULL);
    char left[UNITS_SIZE];

    if (at == 0)
        snprintf(cell, TABLE_CELL, "-");
    else if (at <= (uint64_t)now)
        snprintf(cell, TABLE_CELL, "over");
    else
        snprintf(cell, TABLE_CELL, "%s",
                 units_lifetime(left, at - (uint64_t)now));
}

static void put_depot(const struct table *t, const struct xd_audited_depot *d)
{
    char cells[TABLE_COLUMNS][TABLE_CELL], number[UNITS_SIZE];

    snprintf(cells[VERDICT], TABLE_CELL, "%s",
             xd_audit_verdict_name(d->verdict));
    snprintf(cells[REPLICAS], TABLE_CELL, "%zu/%zu", d->n_usable,
             d->n_replicas);
    put_answer(cells[ANSWER], d->answer_usec);
    snprintf(cells[RATE], TABLE_CELL, "%s",
             d->bytes_per_s > 0 ? units_rate(number, d->bytes_per_s) : "-");
    snprintf(cells[WRONG], TABLE_CELL, "%s",
             d->bytes_read > 0 ? units_size(number, d->bytes_wrong) : "-");
    put_expiry(cells[EXPIRES], d->expires_at);
    table_put_row(t, stdout, d->name, cells);
}

static void put_depots(const struct xd_audit *audit)
{
    struct xd_audited_depot d = {.struct_size = sizeof d};
    struct table table;
    unsigned longest = 0;

    for (size_t i = 0; xd_audit_depot(audit, i, &d) == 0; i++)
        if (text_columns(d.name) > longest)
            longest = text_columns(d.name);
    table_init(&table, columns, N_COLUMNS, width(), longest);
    table_put_titles(&table, stdout, "depot");
    for (size_t i = 0; xd_audit_depot(audit, i, &d) == 0; i++)
        put_depot(&table, &d);
}

static void put_reason(const char *name, const char *verdict,
                       const char *reason)
{
    text_put(stdout, name);
    printf(": %s: ", verdict);
    text_put(stdout, reason);
    putchar('\n');
}

/* Prints a line for each depot with a problem. */
static void put_reasons(const struct xd_audit *audit)
{
    struct xd_audited_depot d = {.struct_size = sizeof d};

    for (size_t i = 0; xd_audit_depot(audit, i, &d) == 0; i++)
        if (d.reason != NULL)
            put_reason(d.name, xd_audit_verdict_name(d.verdict), d.reason);
}

/* Prints a line like "  bytes 0-4095 a.example: lying: ..." for each
 * replica. */
static void put_replicas(const struct xd_manifest *m, size_t file,
                         const struct xd_audit *audit)
{
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_audited r = {.struct_size = sizeof r};

    for (size_t i = 0; xd_manifest_extent(m, file, i, &e) == 0; i++)
        for (size_t k = 0; xd_audit_replica(audit, i, k, &r) == 0; k++) {
            if (e.length == XD_SIZE_UNKNOWN || e.length == 0)
                fputs("  all bytes, ", stdout);
            else
                printf("  bytes %" PRIu64 "-%" PRIu64 ", ", e.offset,
                       e.offset + e.length - 1);
            put_reason(r.depot_name, xd_audit_verdict_name(r.verdict),
                       r.reason != NULL ? r.reason : "nothing is wrong");
        }
}

/* Prints a line like "  shard 4 of stripe 0, b.example: dead: ..." for each
 * parity replica. */
static void put_parity(const struct xd_manifest *m, size_t file,
                       const struct xd_audit *audit)
{
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_audited r = {.struct_size = sizeof r};

    for (size_t i = 0; xd_manifest_stripe(m, file, i, &s) == 0; i++)
        for (size_t k = s.k; k < s.n; k++)
            for (size_t n = 0; xd_audit_shard_replica(audit, i, k, n, &r) == 0;
                 n++) {
                printf("  shard %zu of stripe %" PRIu64 ", ", k, s.number);
                put_reason(r.depot_name, xd_audit_verdict_name(r.verdict),
                           r.reason != NULL ? r.reason : "nothing is wrong");
            }
}

/* Kinds of ranges: lost, lost if one more depot is lost, or restorable only by
 * parity. */
enum bytes { LOST, ONE_MORE, RESTORABLE };

static bool get_run(const struct xd_audit *audit, enum bytes which, size_t i,
                    uint64_t *begin, uint64_t *end)
{
    if (which == RESTORABLE)
        return xd_audit_restorable(audit, i, begin, end) == 0;
    return xd_audit_at_risk(audit, which == LOST ? 0 : 1, i, begin, end) == 0;
}

static void put_runs(const struct args *a, const struct xd_audit *audit,
                     enum bytes which, size_t n_runs)
{
    uint64_t begin, end;
    size_t i = 0;

    for (; (a->verbose || i < FEW) && get_run(audit, which, i, &begin, &end);
         i++)
        printf("%s%" PRIu64 "-%" PRIu64, i > 0 ? ", " : "", begin, end - 1);
    if (i < n_runs)
        printf(" and %zu more runs", n_runs - i);
    putchar('\n');
}

static void put_bytes(const struct args *a, const struct xd_audit *audit,
                      enum bytes which, uint64_t bytes, size_t n_runs,
                      const char *before, const char *behind)
{
    char size[UNITS_SIZE];

    if (bytes == 0)
        return;
    printf("%s %s (%" PRIu64 " bytes)%s: ", before, units_size(size, bytes),
           bytes, behind);
    put_runs(a, audit, which, n_runs);
}

/* Prints how many losses the weakest stripe can survive, and which stripes lack
 * shards. */
static void put_losses(const struct args *a, const struct xd_manifest *m,
                       size_t file, const struct xd_audit *audit,
                       const struct xd_audit_sum *sum)
{
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_audited_stripe found = {.struct_size = sizeof found};
    size_t n = 0;

    if (sum->n_stripes > 0 && sum->n_losses >= 0)
        printf("%s the loss of %d more %s\n",
               sum->n_stripes == 1 ? "its stripe bears" : "each stripe bears",
               sum->n_losses, sum->n_losses == 1 ? "shard" : "shards");
    for (size_t i = 0;
         sum->n_losses < 0 && xd_audit_stripe(audit, i, &found) == 0; i++) {
        if (found.n_losses >= 0 || xd_manifest_stripe(m, file, i, &s) < 0)
            continue;
        if (a->verbose || n < FEW)
            printf("stripe %" PRIu64 " has only %u good %s: it takes %u to "
                   "restore the others\n",
                   s.number, found.n_good,
                   found.n_good == 1 ? "shard" : "shards", s.k);
        n++;
    }
    if (!a->verbose && n > FEW)
        printf("and so have %zu more stripes\n", n - FEW);
}

static void put_risk(const struct args *a, const struct xd_manifest *m,
                     size_t file, const struct xd_audit *audit,
                     const struct xd_audit_sum *sum)
{
    if (sum->size == XD_SIZE_UNKNOWN) {
        puts("no depot says how long the file is");
        return;
    }
    put_bytes(a, audit, LOST, sum->bytes_with_none, sum->n_with_none,
              "no depot has a good copy of",
              sum->n_stripes > 0 ? ", nor can parity restore them" : "");
    put_bytes(a, audit, RESTORABLE, sum->bytes_restorable, sum->n_restorable,
              "no depot has a good copy of", ", which parity restores");
    put_bytes(a, audit, ONE_MORE, sum->bytes_with_one, sum->n_with_one,
              sum->n_stripes > 0 ? "lost with one depot more:"
                                 : "one depot alone has a good copy of",
              "");
    put_losses(a, m, file, audit, sum);
    if (sum->bytes_with_none == 0 && sum->bytes_with_one == 0 && sum->size > 0)
        puts(sum->n_stripes > 0
                 ? "no byte is lost with any one depot"
                 : "two depots or more have a good copy of each byte");
}

static void put_sum(const struct xd_audit_sum *sum)
{
    printf("%zu of %zu %s on %zu %s usable; %s compared with %s\n",
           sum->n_usable, sum->n_replicas,
           sum->n_replicas == 1 ? "replica" : "replicas", sum->n_depots,
           sum->n_depots == 1 ? "depot" : "depots",
           sum->is_full ? "all bytes" : "samples",
           sum->algorithm != NULL ? sum->algorithm : "each other");
}

void check_table(const struct args *a, const struct xd_manifest *m, size_t file,
                 const struct xd_audit *audit)
{
    struct xd_audit_sum sum = {.struct_size = sizeof sum};
    struct xd_file f = {.struct_size = sizeof f};

    xd_audit_get(audit, &sum);
    if (xd_manifest_file(m, file, &f) == 0 && xd_manifest_n_files(m) > 1) {
        text_put(stdout, f.path != NULL ? f.path : "(a file without name)");
        putchar('\n');
    }
    put_depots(audit);
    if (a->verbose) {
        put_replicas(m, file, audit);
        put_parity(m, file, audit);
    } else {
        put_reasons(audit);
    }
    put_sum(&sum);
    put_risk(a, m, file, audit, &sum);
}

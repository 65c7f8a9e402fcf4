/* SPDX-License-Identifier: MIT */
#include "circus_figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- tables ---- */

/* The names of columns, until NULL. */
static void head(const struct circus_figures *f, const char *title, ...)
{
    unsigned n = 0;
    va_list ap;

    printf(f->is_data ? "\n\n# %s\n#" : "\n%s\n\n", title);
    va_start(ap, title);
    for (const char *s; (s = va_arg(ap, const char *)) != NULL; n++)
        printf(f->is_data ? " \"%s\"" : "| %s ", s);
    va_end(ap);
    printf(f->is_data ? "\n" : "|\n");
    for (; !f->is_data && n > 0; n--)
        printf(n == 1 ? "| --- |\n" : "| --- ");
}

static void cell(const struct circus_figures *f, int decimals, double x)
{
    if (!f->is_data)
        printf("| ");
    if (isnan(x))
        printf(f->is_data ? "NaN" : "-");
    else
        printf("%.*f", decimals, x);
    printf(" ");
}

static void end_row(const struct circus_figures *f)
{
    printf(f->is_data ? "\n" : "|\n");
    fflush(stdout);
}

/* ---- runs ---- */

enum link { T1, TEN_T, T3 };

static const double link_rates[] = {1.544e6 / 8, 10e6 / 8, 44.736e6 / 8};

static double ideal_s(const struct one_depot *o, double rate)
{
    return (double)o->file_bytes / rate;
}

/* Shares of clients; what happens before the slowest of those that came first
 * could have its file is not measured. */
static struct one_depot with_links(const struct circus_figures *f, double t1,
                                   double ten_t, double t3)
{
    const double shares[] = {t1, ten_t, t3};
    struct one_depot o = f->o;

    o.from_s = 0;
    for (unsigned i = 0; i < COUNT(shares); i++) {
        if (shares[i] <= 0)
            continue;
        o.links[o.n_links++] =
            (struct one_depot_link){link_rates[i], shares[i]};
        o.from_s = fmax(o.from_s, ideal_s(&o, link_rates[i]));
    }
    return o;
}

/* The mean of all runs; of downloads, that of all of them. */
static struct one_depot_result mean(const struct circus_figures *f,
                                    struct one_depot o)
{
    struct one_depot_result m = {.sent = 0};
    const double n = f->n_runs;

    for (unsigned run = 0; run < f->n_runs; run++) {
        const struct one_depot_result r = one_depot_run(&o);

        m.offered += r.offered / n;
        m.sent += r.sent / n;
        m.read += r.read / n;
        m.busy += r.busy / n;
        m.clients += r.clients / n;
        for (unsigned i = 0; i < o.n_links; i++) {
            m.links[i].n += r.links[i].n;
            if (r.links[i].n > 0)
                m.links[i].mean_s += r.links[i].mean_s * r.links[i].n;
        }
        o.seed++;
    }
    for (unsigned i = 0; i < o.n_links; i++)
        m.links[i].mean_s /= m.links[i].n;
    return m;
}

static struct one_depot_result by_circus(const struct circus_figures *f,
                                         struct one_depot o, double load)
{
    o.load = load;
    return mean(f, o);
}

static struct one_depot_result in_order(const struct circus_figures *f,
                                        struct one_depot o, double load)
{
    o.is_in_order = true;
    return by_circus(f, o, load);
}

static double mb(double bytes)
{
    return bytes / (double)MIB;
}

/* As the paper has it: what the disk reads, of what is sent. */
static double misses(const struct one_depot_result *r)
{
    return r->read / r->sent;
}

/* ---- Figures 8, 9 and 10 ---- */

static void loads_of(const struct circus_figures *f, const char *name,
                     const struct one_depot *o)
{
    static const double loads[] = {0.1, 0.2, 0.3, 0.4, 0.5};
    char title[128];

    snprintf(title, sizeof title,
             "%s: in order, and by Circus (Figures 8, 9, 10)", name);
    if (o->n_links == 1)
        head(f, title, "load", "offered MB/s", "network: in order", "Circus",
             "disk: in order", "Circus", "time s: alone", "in order", "Circus",
             NULL);
    else
        head(f, title, "load", "offered MB/s", "network: in order", "Circus",
             "disk: in order", "Circus", "T1 s: alone", "in order", "Circus",
             "10T s: alone", "in order", "Circus", "T3 s: alone", "in order",
             "Circus", NULL);
    for (unsigned i = 0; i < COUNT(loads); i++) {
        const struct one_depot_result s = in_order(f, *o, loads[i]),
                                      c = by_circus(f, *o, loads[i]);

        cell(f, 1, loads[i]);
        cell(f, 1, mb(c.offered));
        cell(f, 1, mb(s.sent));
        cell(f, 1, mb(c.sent));
        cell(f, 2, mb(s.read));
        cell(f, 2, mb(c.read));
        for (unsigned k = 0; k < o->n_links; k++) {
            cell(f, 0, ideal_s(o, o->links[k].rate));
            cell(f, 0, s.links[k].mean_s);
            cell(f, 0, c.links[k].mean_s);
        }
        end_row(f);
    }
}

void circus_loads(const struct circus_figures *f)
{
    const struct one_depot t1 = with_links(f, 1, 0, 0),
                           ten_t = with_links(f, 0, 1, 0),
                           t3 = with_links(f, 0, 0, 1),
                           mix = with_links(f, 0.2, 0.6, 0.2);

    loads_of(f, "T1 (1.5 Mbit/s)", &t1);
    loads_of(f, "10T (10 Mbit/s)", &ten_t);
    loads_of(f, "T3 (44.7 Mbit/s)", &t3);
    loads_of(f, "Mx (20 % T1, 60 % 10T, 20 % T3)", &mix);
}

/* ---- Figures 11 and 12 ---- */

static void compare_row(const struct circus_figures *f, double x,
                        const struct one_depot *o)
{
    const struct one_depot_result s = in_order(f, *o, 0.4),
                                  c = by_circus(f, *o, 0.4);

    cell(f, 0, x);
    cell(f, 1, mb(c.offered));
    cell(f, 1, mb(s.sent));
    cell(f, 1, mb(c.sent));
    cell(f, 2, mb(s.read));
    cell(f, 2, mb(c.read));
    cell(f, 0, ideal_s(o, o->links[0].rate));
    cell(f, 0, s.links[0].mean_s);
    cell(f, 0, c.links[0].mean_s);
    end_row(f);
}

void circus_sizes(const struct circus_figures *f)
{
    struct one_depot o = with_links(f, 0, 0, 1);

    head(f, "T3, load 0.4, by the size of the file (Figure 11)", "MB",
         "offered MB/s", "network: in order", "Circus", "disk: in order",
         "Circus", "time s: alone", "in order", "Circus", NULL);
    for (uint64_t size = 256; size <= 1024; size *= 2) {
        o.file_bytes = size * MIB;
        o.from_s = ideal_s(&o, o.links[0].rate);
        compare_row(f, (double)size, &o);
    }
}

void circus_files(const struct circus_figures *f)
{
    struct one_depot o = with_links(f, 0, 1, 0);

    head(f, "10T, load 0.4, by the number of files (Figure 12)", "files",
         "offered MB/s", "network: in order", "Circus", "disk: in order",
         "Circus", "time s: alone", "in order", "Circus", NULL);
    for (o.n_files = 1; o.n_files <= 16; o.n_files *= 2)
        compare_row(f, o.n_files, &o);
}

/* ---- Figures 14 to 17: two loads, by one parameter ---- */

static const double two_loads[] = {0.2, 0.4};

static void head_of_two(const struct circus_figures *f, const char *title,
                        const char *parameter)
{
    head(f, title, parameter, "load 0.2: network MB/s", "disk MB/s",
         "miss ratio", "time of fast clients / alone", "load 0.4: network MB/s",
         "disk MB/s", "miss ratio", "time of fast clients / alone", NULL);
}

static void row_of_two(const struct circus_figures *f, int decimals, double x,
                       const struct one_depot *o)
{
    const unsigned fast = o->n_links - 1;

    cell(f, decimals, x);
    for (unsigned i = 0; i < COUNT(two_loads); i++) {
        const struct one_depot_result r = by_circus(f, *o, two_loads[i]);

        cell(f, 1, mb(r.sent));
        cell(f, 2, mb(r.read));
        cell(f, 3, misses(&r));
        cell(f, 2, r.links[fast].mean_s / ideal_s(o, o->links[fast].rate));
    }
    end_row(f);
}

void circus_blocks(const struct circus_figures *f)
{
    struct one_depot o = with_links(f, 0, 0.5, 0.5);

    head_of_two(f, "10T and T3, by the block size (Figure 14)", "KB");
    for (unsigned kb = 4; kb <= 1024; kb *= 2) {
        o.block_bytes = kb * 1024;
        row_of_two(f, 0, kb, &o);
    }
}

void circus_queues(const struct circus_figures *f)
{
    static const unsigned queues[] = {1, 2, 5, 10, 20, 50, 100, 200, 400};
    struct one_depot o = with_links(f, 0, 0.5, 0.5);

    head_of_two(f, "10T and T3, by the bound of the queue (Figure 15)",
                "blocks");
    for (unsigned i = 0; i < COUNT(queues); i++) {
        o.queue = queues[i];
        row_of_two(f, 0, queues[i], &o);
    }
}

/* The library takes 0 for its default. */
void circus_thresholds(const struct circus_figures *f)
{
    static const double thresholds[] = {1e-9, 0.25, 0.5,  0.65,
                                        0.75, 0.85, 0.95, 1};
    struct one_depot o = with_links(f, 0.5, 0, 0.5);

    head_of_two(f, "T1 and T3, by the client threshold (Figure 16)",
                "threshold");
    for (unsigned i = 0; i < COUNT(thresholds); i++) {
        o.threshold = thresholds[i];
        row_of_two(f, 2, thresholds[i], &o);
    }
}

void circus_leapfront(const struct circus_figures *f)
{
    static const double factors[] = {0.25, 0.5, 1, 2, 4, 8, 16, 30};
    struct one_depot o = with_links(f, 0, 0.5, 0.5);

    head_of_two(f, "10T and T3, by the leapfront factor (Figure 17)", "factor");
    for (unsigned i = 0; i < COUNT(factors); i++) {
        o.leapfront_bytes = (uint64_t)(factors[i] * (double)o.active_bytes);
        row_of_two(f, 2, factors[i], &o);
    }
}

/* ---- what the paper does not have ---- */

void circus_memory(const struct circus_figures *f)
{
    struct one_depot ten_t = with_links(f, 0, 1, 0),
                     t3 = with_links(f, 0, 0, 1),
                     mix = with_links(f, 0.2, 0.6, 0.2);

    ten_t.client_bytes = t3.client_bytes = mix.client_bytes = 0;
    head(f, "Network MB/s at load 0.4, by the memory for blocks", "MB",
         "10T: in order", "Circus", "T3: in order", "Circus", "Mx: in order",
         "Circus", "Mx disk: Circus", NULL);
    for (uint64_t memory = 32; memory <= 512; memory *= 2) {
        ten_t.memory_bytes = t3.memory_bytes = mix.memory_bytes = memory * MIB;
        cell(f, 0, (double)memory);
        cell(f, 1, mb(in_order(f, ten_t, 0.4).sent));
        cell(f, 1, mb(by_circus(f, ten_t, 0.4).sent));
        cell(f, 1, mb(in_order(f, t3, 0.4).sent));
        cell(f, 1, mb(by_circus(f, t3, 0.4).sent));
        cell(f, 1, mb(in_order(f, mix, 0.4).sent));

        const struct one_depot_result r = by_circus(f, mix, 0.4);

        cell(f, 1, mb(r.sent));
        cell(f, 2, mb(r.read));
        end_row(f);
    }
}

static void hints_row(const struct circus_figures *f, const char *name,
                      const struct one_depot *o)
{
    const struct one_depot_result a = by_circus(f, *o, 0.2),
                                  b = by_circus(f, *o, 0.4);

    if (f->is_data)
        printf("\"%s\" ", name);
    else
        printf("| %s ", name);
    cell(f, 1, mb(a.sent));
    cell(f, 2, mb(a.read));
    cell(f, 0, a.links[2].mean_s);
    cell(f, 1, mb(b.sent));
    cell(f, 2, mb(b.read));
    cell(f, 0, b.links[2].mean_s);
    end_row(f);
}

/* What the library's depot does in place of Figure 5. */
void circus_hints(const struct circus_figures *f)
{
    struct one_depot o = with_links(f, 0.2, 0.6, 0.2);

    o.client_bytes = 0;
    head(f, "Mx, no processes, as the library's depot does", "hints",
         "load 0.2: network MB/s", "disk MB/s", "T3 s",
         "load 0.4: network MB/s", "disk MB/s", "T3 s", NULL);
    hints_row(f, "block by block, Figure 5", &o);
    o.leaps_bounded = true;
    hints_row(f, "with bounded leaps", &o);
    o.takes_ranges = true;
    hints_row(f, "and whole hints", &o);
}

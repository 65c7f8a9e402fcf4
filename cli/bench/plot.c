/* SPDX-License-Identifier: MIT */
#include "bench/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "bench/figure.h"
#include "bench/gnuplot.h"
#include "bench/groups.h"
#include "common/status.h"
#include "common/words.h"

#define MBIT 1048576.0 /* the paper's */

/* The results of one subject. */
struct subject_plot {
    const struct row *const *rows; /* in which no player read */
    size_t n;
    char name[FIGURE_TEXT_SIZE]; /* its figures' names begin so */
    FILE *script;
    size_t *n_figures;
};

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

/* ---- panels ---- */

/* How many of the rows agree with the first in algorithm, R, P and whole
 * blocks. */
#define PANEL_COLUMNS (GROUPS_SUBJECT + 4)

static bool is(const struct row *row, enum column c, const char *value)
{
    return strcmp(row_get(row, c), value) == 0;
}

/* "progress, R = 2, P = 3" */
static void name_panel(char out[FIGURE_TEXT_SIZE], const struct row *row)
{
    const char *r = row_get(row, COL_REDUNDANCY);
    const char *p = row_get(row, COL_PROGRESS_NUMBER);
    char text[200];

    snprintf(text, sizeof text, "%.20s%s%.20s%s%.20s",
             row_get(row, COL_ALGORITHM), r[0] != '\0' ? "  R = " : "", r,
             p[0] != '\0' ? "  P = " : "", p);
    figure_text(out, text);
}

static void add_panel(struct figure *f, const struct row *const *rows, size_t n)
{
    if (f->n_panels == FIGURE_PANELS_MAX)
        return;
    struct panel *p = &f->panels[f->n_panels++];
    name_panel(p->title, rows[0]);
    p->rows = rows;
    p->n = n;
}

/* A panel for the algorithm, with its least R and P. */
static void add_algorithm(struct figure *f, const struct subject_plot *s,
                          const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (is(s->rows[i], COL_ALGORITHM, name)) {
            add_panel(f, s->rows + i,
                      groups_length(s->rows + i, s->n - i, PANEL_COLUMNS));
            return;
        }
}

/* The paper's, in its order, and ours. */
static void add_algorithms(struct figure *f, const struct subject_plot *s)
{
    add_algorithm(f, s, "basic");
    add_algorithm(f, s, "aggressive");
    add_algorithm(f, s, "progress");
    add_algorithm(f, s, "adaptive");
}

/* A panel for each value of one column, of an algorithm with its least other
 * values. */
static void add_values(struct figure *f, const struct subject_plot *s,
                       const char *algorithm, enum column varied)
{
    const enum column other =
        varied == COL_REDUNDANCY ? COL_PROGRESS_NUMBER : COL_REDUNDANCY;
    const struct row *first = NULL;

    for (size_t i = 0, n; i < s->n; i += n) {
        n = groups_length(s->rows + i, s->n - i, PANEL_COLUMNS);
        if (!is(s->rows[i], COL_ALGORITHM, algorithm))
            continue;
        if (first == NULL)
            first = s->rows[i];
        if (is(s->rows[i], other, row_get(first, other)))
            add_panel(f, s->rows + i, n);
    }
}

/* ---- figures ---- */

static bool has_values(const struct figure *f)
{
    for (size_t i = 0; i < f->n_panels; i++)
        for (size_t k = 0; k < f->panels[i].n; k++)
            if (isfinite(row_number(f->panels[i].rows[k], f->y)))
                return true;
    return false;
}

static void name_figure(struct figure *f, const struct subject_plot *s,
                        const char *what, const char *title)
{
    snprintf(f->name, sizeof f->name, "%.38s-%.39s", s->name, what);
    snprintf(f->title, sizeof f->title, "%.40s: %.79s", s->name, title);
}

static bool put_figure(const struct subject_plot *s, const struct figure *f)
{
    if (f->n_panels == 0 || !has_values(f))
        return true;
    ++*s->n_figures;
    return figure_put(s->script, f);
}

static struct figure bandwidth(void)
{
    return (struct figure){.y = COL_BYTES_PER_S,
                           .y_title = "bandwidth in Mbit/s"};
}

static bool put_bandwidths(const struct subject_plot *s)
{
    struct figure all = bandwidth(), r = bandwidth(), p = bandwidth();

    add_algorithms(&all, s);
    name_figure(&all, s, "bandwidth", "download bandwidth");
    add_values(&r, s, "aggressive", COL_REDUNDANCY);
    name_figure(&r, s, "redundancy", "the effect of R");
    add_values(&p, s, "progress", COL_PROGRESS_NUMBER);
    name_figure(&p, s, "progress-number", "the effect of P");
    return put_figure(s, &all) && (r.n_panels < 2 || put_figure(s, &r)) &&
           (p.n_panels < 2 || put_figure(s, &p));
}

/* The delay at one rate; rows have the same rates, or it is left out. */
static bool put_delay(const struct subject_plot *s, enum column rate,
                      enum column delay)
{
    struct figure f = {
        .y = delay, .is_delay = true, .y_title = "delay + 0.1 s, in seconds"};
    const double bytes_per_s = row_number(s->rows[0], rate);
    char what[40], title[80];

    for (size_t i = 0; i < s->n; i++)
        if (!(row_number(s->rows[i], rate) == bytes_per_s))
            return true;
    snprintf(what, sizeof what, "delay-%.4gmbit", bytes_per_s * 8 / MBIT);
    snprintf(title, sizeof title,
             "delay of a player at %.4g Mbit/s, which begins after %.4g s",
             bytes_per_s * 8 / MBIT, row_number(s->rows[0], COL_PREBUFFER));
    add_algorithms(&f, s);
    name_figure(&f, s, what, title);
    return put_figure(s, &f);
}

static bool put_figures(const struct subject_plot *s)
{
    return put_bandwidths(s) && put_delay(s, COL_RATE1, COL_DELAY1) &&
           put_delay(s, COL_RATE2, COL_DELAY2) &&
           put_delay(s, COL_RATE3, COL_DELAY3);
}

/* ---- subjects ---- */

/* The last part of its name, and a number if it is not the first. */
static void name_subject(struct subject_plot *s, const struct row *row,
                         size_t number)
{
    const char *input = row_get(row, COL_INPUT), *slash = strrchr(input, '/');
    char name[FIGURE_TEXT_SIZE];

    figure_text(name, slash != NULL ? slash + 1 : input);
    if (name[0] == '.' || name[0] == '-' || name[0] == '\0')
        name[0] = '_';
    name[40] = '\0';
    if (number == 0)
        snprintf(s->name, sizeof s->name, "%s", name);
    else
        snprintf(s->name, sizeof s->name, "%zu-%.40s", number + 1, name);
}

static bool put_subject(struct subject_plot *s, const struct row **rows,
                        size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (is(rows[i], COL_READER, ""))
            rows[kept++] = rows[i];
    s->rows = (const struct row *const *)rows;
    s->n = kept;
    return kept == 0 || put_figures(s);
}

static bool put_all(FILE *script, struct merged *m, size_t *n_figures)
{
    size_t number = 0;

    for (size_t i = 0, n; i < m->n; i += n) {
        struct subject_plot s = {.script = script, .n_figures = n_figures};
        n = groups_length(m->rows + i, m->n - i, GROUPS_SUBJECT);
        name_subject(&s, m->rows[i], m->n == n ? 0 : number++);
        if (!put_subject(&s, m->rows + i, n))
            return false;
    }
    return true;
}

static int make_folder(const char *path)
{
    if ((mkdir(path, 0777) == 0 || errno == EEXIST) &&
        access(path, W_OK | X_OK) == 0)
        return 0;
    words_error("no figure can be written to %s: %s", path, strerror(errno));
    return STATUS_LOCAL;
}

static int draw(const struct args *a, struct merged *m)
{
    char *text = NULL;
    size_t len, n_figures = 0;
    FILE *script = open_memstream(&text, &len);

    if (script == NULL)
        return no_memory();
    const bool is_put = put_all(script, m, &n_figures);
    int status = fclose(script) == 0 && is_put ? 0 : no_memory();
    if (status == 0)
        status = make_folder(a->bench.plot);
    if (status == 0)
        status = gnuplot_run(a->bench.plot, text, len);
    free(text);
    if (status == 0 && !a->quiet)
        words_error("%zu %s in %s, each as SVG and PNG", n_figures,
                    n_figures == 1 ? "figure" : "figures", a->bench.plot);
    return status;
}

int plot_results(const struct args *a)
{
    struct merged m;
    int status = merged_init(&m, a);

    if (status == 0)
        status = draw(a, &m);
    merged_fini(&m);
    return status;
}

/* SPDX-License-Identifier: MIT */
#include "bench/figure.h"

#include <stdlib.h>
#include <string.h>

#include "bench/groups.h"

/* The paper's. */
#define MBIT 1048576.0
#define MIB 1048576.0
#define DELAY_SHIFT_S 0.1

#define LINES_MAX 24

/* Pixels: what fits a README. */
#define WIDTH 900
#define TITLE_HEIGHT 40.0
#define PANEL_HEIGHT 320.0
#define PANEL_TITLE 40.0  /* above the axes */
#define PANEL_LABELS 60.0 /* below them */
#define LEGEND_HEIGHT 110.0
#define LEGEND_ROWS 6

/* One line: what tells it from others of its panel. */
struct line {
    double block, threads;
};

struct lines {
    struct line items[LINES_MAX];
    size_t n;
    double top; /* of all points: panels have the same scale */
};

void figure_text(char out[FIGURE_TEXT_SIZE], const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789 .=+-";
    size_t n = 0;

    for (; text[n] != '\0' && n < FIGURE_TEXT_SIZE - 1; n++)
        out[n] = strchr(plain, text[n]) != NULL ? text[n] : '_';
    out[n] = '\0';
}

/* ---- which lines there are ---- */

static struct line line_of(const struct row *row)
{
    return (struct line){row_number(row, COL_BLOCK_BYTES),
                         row_number(row, COL_THREADS)};
}

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const int order = (x->threads > y->threads) - (x->threads < y->threads);

    return order != 0 ? order : (x->block > y->block) - (x->block < y->block);
}

static void find_lines(struct lines *l, const struct figure *f)
{
    *l = (struct lines){.n = 0};
    for (size_t i = 0; i < f->n_panels; i++)
        for (size_t k = 0; k < f->panels[i].n; k++) {
            const struct line line = line_of(f->panels[i].rows[k]);
            size_t at = 0;
            while (at < l->n && compare(&l->items[at], &line) != 0)
                at++;
            if (at == l->n && l->n < LINES_MAX)
                l->items[l->n++] = line;
        }
    qsort(l->items, l->n, sizeof *l->items, compare);
}

/* ---- the points ---- */

/* The mean and its spread for one number of depots. */
/* Returns its top. */
static double put_point(FILE *to, const struct figure *f, double x,
                        const struct spread *s)
{
    const double scale = f->is_delay ? 1 : 8 / MBIT;
    const double shift = f->is_delay ? DELAY_SHIFT_S : 0;
    const double y = s->mean * scale + shift;
    const double spread = s->deviation * scale;
    const double low = y - spread > shift ? y - spread : shift;

    fprintf(to, "%.6g %.6g %.6g %.6g\n", x, y, low, y + spread);
    return y + spread;
}

/* Rows of the panel that belong to the line and have so many depots. */
static size_t pick(const struct row **out, const struct panel *p,
                   const struct line *line, double n_depots)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct line own = line_of(p->rows[i]);
        if (compare(&own, line) == 0 &&
            row_number(p->rows[i], COL_N_DEPOTS) == n_depots)
            out[n++] = p->rows[i];
    }
    return n;
}

static bool put_points(FILE *to, const struct figure *f, const struct panel *p,
                       const struct line *line, double *top)
{
    const struct row **rows = malloc((p->n + 1) * sizeof *rows);
    bool good = rows != NULL;

    for (double x = 1; good && x <= 64; x++) {
        struct spread s;
        good = spread_of(&s, rows, pick(rows, p, line, x), f->y);
        const double y = good && s.n > 0 ? put_point(to, f, x, &s) : 0;
        *top = y > *top ? y : *top;
    }
    free(rows);
    return good;
}

static bool put_data(FILE *to, const struct figure *f, struct lines *l)
{
    for (size_t i = 0; i < f->n_panels; i++)
        for (size_t k = 0; k < l->n; k++) {
            fprintf(to, "$data%zu_%zu << END\n", i, k);
            if (!put_points(to, f, &f->panels[i], &l->items[k], &l->top))
                return false;
            /* A line without points is none, but a block must not be empty. */
            fputs("NaN NaN NaN NaN\nEND\n", to);
        }
    return true;
}

/* ---- how they look ---- */

/* Block sizes differ in their marks and shades; threads in their dashes. */
static void put_styles(FILE *to, const struct lines *l)
{
    static const char *const shades[] = {"#c04000", "#0060a0", "#007a5a",
                                         "#a03c78", "#000000", "#b07800"};
    static const unsigned marks[] = {1, 2, 4, 8, 6, 12}; /* + x open shapes */
    double threads = -1;
    unsigned dash = 0, block = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].threads != threads) {
            dash++;
            block = 0;
        }
        threads = l->items[i].threads;
        /* The first number of threads has dotted lines and open shapes, the
         * second whole lines and filled ones, which follow the open ones. */
        fprintf(
            to, "set style line %zu lc rgb '%s' lw 1.6 dt %u pt %u ps 1.1\n",
            i + 1, shades[block % 6],
            dash == 1   ? 3
            : dash == 2 ? 1
                        : dash,
            dash == 2 && block >= 2 ? marks[block % 6] + 1 : marks[block % 6]);
        block++;
    }
}

static void put_name(FILE *to, const struct line *line)
{
    if (line->threads > 0)
        fprintf(to, "'%g thread%s, ", line->threads,
                line->threads == 1 ? "" : "s");
    else
        fputs("'auto, ", to);
    if (line->block < MIB)
        fprintf(to, "%.4g KiB'", line->block / 1024);
    else
        fprintf(to, "%.4g MiB'", line->block / MIB);
}

/* Where panel i of n stands: two side by side, below the title. */
static void put_place(FILE *to, size_t i, size_t n, double height)
{
    const size_t columns = n > 1 ? 2 : 1;
    const double width = 1.0 / (double)columns;
    const double left = (double)(i % columns) * width;
    const double top =
        1 - (TITLE_HEIGHT + (double)(i / columns) * PANEL_HEIGHT) / height;

    fprintf(to,
            "set lmargin at screen %.4f; set rmargin at screen %.4f\n"
            "set tmargin at screen %.4f; set bmargin at screen %.4f\n",
            left + 0.085, left + width - 0.02, top - PANEL_TITLE / height,
            top - (PANEL_HEIGHT - PANEL_LABELS) / height);
}

static void put_panel(FILE *to, const struct figure *f, const struct lines *l,
                      size_t i, double height)
{
    put_place(to, i, f->n_panels, height);
    fprintf(to, "set title '%s'\nplot ", f->panels[i].title);
    for (size_t k = 0; k < l->n; k++)
        fprintf(to,
                "%s$data%zu_%zu using 1:2:3:4 with yerrorlines ls %zu notitle",
                k > 0 ? ", " : "", i, k, k + 1);
    putc('\n', to);
}

/* A column for each number of threads, if there is room. */
static size_t legend_rows(const struct lines *l)
{
    size_t n = 0;

    while (n < l->n && l->items[n].threads == l->items[0].threads)
        n++;
    return n <= LEGEND_ROWS ? n : LEGEND_ROWS;
}

static void put_legend(FILE *to, const struct lines *l, double height)
{
    fprintf(to,
            "unset border; unset tics; unset grid; unset title; unset xlabel; "
            "unset ylabel; unset logscale\n"
            "set lmargin at screen 0.02; set rmargin at screen 0.98\n"
            "set bmargin at screen 0.01; set tmargin at screen %.4f\n"
            "set key center center maxrows %zu samplen 3 width 1\n"
            "plot [0:1] [0:1] ",
            LEGEND_HEIGHT / height, legend_rows(l));
    for (size_t k = 0; k < l->n; k++) {
        fprintf(to, "%sNaN with linespoints ls %zu title ", k > 0 ? ", " : "",
                k + 1);
        put_name(to, &l->items[k]);
    }
    putc('\n', to);
}

static double most_depots(const struct figure *f)
{
    double most = 1;

    for (size_t i = 0; i < f->n_panels; i++)
        for (size_t k = 0; k < f->panels[i].n; k++) {
            const double n = row_number(f->panels[i].rows[k], COL_N_DEPOTS);
            most = n > most && n <= 64 ? n : most;
        }
    return most;
}

static void put_axes(FILE *to, const struct figure *f, double top)
{
    fprintf(to,
            "set xrange [0.7:%g]; set xtics %d\n"
            "set xlabel 'depots that hold the file' offset 0,0.4\n"
            "set ylabel '%s' offset 0.5,0\n"
            "set grid ytics lc rgb '#cccccc' lt 1 lw 0.5\n"
            "set border 3; set tics nomirror; set bars 0.6\n",
            most_depots(f) + 0.3, most_depots(f) > 12 ? 4 : 1, f->y_title);
    if (f->is_delay)
        fprintf(to, "set logscale y; set yrange [0.08:%.6g]\n",
                top > 1 ? top * 1.3 : 1);
    else
        fprintf(to, "set yrange [0:%.6g]\n", top * 1.05);
}

static void put_drawing(FILE *to, const struct figure *f, const struct lines *l,
                        double height)
{
    fprintf(to,
            "set multiplot\n"
            "set label 100 '%s' at screen 0.5, screen %.4f center\n",
            f->title, 1 - TITLE_HEIGHT / 2 / height);
    put_axes(to, f, l->top);
    for (size_t i = 0; i < f->n_panels; i++) {
        put_panel(to, f, l, i, height);
        fputs("unset label 100\n", to);
    }
    put_legend(to, l, height);
    fputs("unset multiplot\nset output\n", to);
}

bool figure_put(FILE *to, const struct figure *f)
{
    const size_t rows = f->n_panels > 1 ? (f->n_panels + 1) / 2 : 1;
    const int height =
        (int)(TITLE_HEIGHT + (double)rows * PANEL_HEIGHT + LEGEND_HEIGHT);
    struct lines l;

    find_lines(&l, f);
    fputs("reset session\nset encoding utf8\n", to);
    if (!put_data(to, f, &l))
        return false;
    put_styles(to, &l);
    fprintf(to,
            "set terminal svg size %d,%d font 'Helvetica,14' noenhanced "
            "background 'white'\n"
            "set output '%s.svg'\n",
            WIDTH, height, f->name);
    put_drawing(to, f, &l, height);
    fprintf(to,
            "reset\n"
            "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) { set terminal "
            "pngcairo size %d,%d font 'Helvetica,11' noenhanced } else { set "
            "terminal png size %d,%d noenhanced }\n",
            WIDTH, height, WIDTH, height);
    put_styles(to, &l);
    fprintf(to, "set output '%s.png'\n", f->name);
    put_drawing(to, f, &l, height);
    return true;
}

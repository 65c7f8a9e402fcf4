/* SPDX-License-Identifier: MIT */
/*
 * One figure, as a script for gnuplot: panels side by side, lines of means with
 * their standard deviations, and one legend.  Pure.
 *
 * Of the results' text only what figure_text() has passed reaches the script.
 */
#ifndef CLI_FIGURE_H
#define CLI_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/row.h"

#define FIGURE_TEXT_SIZE 80
#define FIGURE_PANELS_MAX 8

/* Rows of which a panel is made; in the order of groups_columns. */
struct panel {
    char title[FIGURE_TEXT_SIZE];
    const struct row *const *rows;
    size_t n;
};

struct figure {
    char name[FIGURE_TEXT_SIZE]; /* of its files, without the ending */
    char title[2 * FIGURE_TEXT_SIZE];
    const char *y_title;
    enum column y; /* bytes per second, drawn as Mbit/s; or seconds */
    bool is_delay; /* of the latter: 0.1 s more, on a logarithmic scale */
    struct panel panels[FIGURE_PANELS_MAX];
    size_t n_panels;
};

/* Letters, digits, blanks and a few signs that mean nothing to gnuplot or a file
 * system, at most FIGURE_TEXT_SIZE - 1 of them; others become '_'. */
void figure_text(char out[FIGURE_TEXT_SIZE], const char *text);

/* Write the script that draws it as SVG and as PNG.  False: no memory. */
bool figure_put(FILE *to, const struct figure *f);

#endif

/* SPDX-License-Identifier: MIT */
#include "trace/draw.h"

#include <math.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"

/* Pixels. */
#define WIDTH 830.0
#define LEFT 150.0 /* where lanes begin; depots are named before that */
#define RIGHT 12.0
#define TOP 34.0
#define FRONTIER 110.0
#define GAP 22.0 /* between the frontier and the lanes */
#define AXIS 30.0
#define LEGEND 44.0
#define NAME_COLUMNS 22 /* of a depot, in 11 pixels */

#define SLOT ((WIDTH - LEFT - RIGHT) / PROFILE_SLOTS)

/* Each state has a colour, and a pattern that differs from the others without
 * it; waiting is a thin line. */
static const struct look {
    const char *class, *label;
} looks[PROFILE_STATES] = {
    [PROFILE_WAITING] = {"w", "waits for the first byte"},
    [PROFILE_RECEIVING] = {"r", "receives"},
    [PROFILE_CANCELED] = {"c", "receives, then is stopped"},
    [PROFILE_DUPLICATE] = {"d", "duplicate bytes"},
    [PROFILE_FAILED] = {"f", "fails"},
};

static const char head[] =
    "<style>text{font:11px sans-serif;fill:#1a1a1a}"
    ".t{font-size:13px;font-weight:bold}.e{text-anchor:end}"
    ".m{text-anchor:middle}.n{fill:#555}"
    ".g{stroke:#ddd;fill:none}.a{stroke:#888;fill:none}"
    ".w{fill:#777}.r{fill:#3b78b5}.c{fill:url(#c)}.d{fill:url(#d)}"
    ".f{fill:url(#f)}.b{stroke:#fff;stroke-width:.8;fill:none}"
    ".o{stroke:#1a1a1a;stroke-width:1.6;fill:none}"
    ".s{stroke:#3b78b5;stroke-width:1.2;stroke-dasharray:5 3;fill:none}"
    ".p{stroke:#b5443b;stroke-width:1.6;stroke-dasharray:1.5 2.5;fill:none}"
    "</style>\n<defs>\n"
    "<pattern id=\"c\" width=\"4\" height=\"4\" "
    "patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"4\" height=\"4\" fill=\"#cfe0f0\"/>"
    "<path d=\"M2 0V4\" stroke=\"#3b78b5\"/></pattern>\n"
    "<pattern id=\"d\" width=\"5\" height=\"5\" "
    "patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"5\" height=\"5\" fill=\"#f6c667\"/>"
    "<path d=\"M-1 1L1 -1M0 5L5 0M4 6L6 4\" stroke=\"#5a3c00\"/></pattern>\n"
    "<pattern id=\"f\" width=\"5\" height=\"5\" "
    "patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"5\" height=\"5\" fill=\"#1a1a1a\"/>"
    "<path d=\"M0 0L5 5M5 0L0 5\" stroke=\"#ff8a80\" "
    "stroke-width=\".9\"/></pattern>\n"
    "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

/* Text from a trace, which may be hostile. */
static void put_text(FILE *to, const char *s, unsigned most)
{
    uint32_t rune;
    unsigned columns = 0;

    for (size_t n; (n = text_rune(s, &rune)) > 0; s += n) {
        if (columns++ == most) {
            fputs("\xe2\x80\xa6", to);
            return;
        }
        if (rune == '<' || rune == '>' || rune == '&' || rune == '"')
            fprintf(to, "&#%u;", (unsigned)rune);
        else if (rune == 0xfffd || text_is_deceptive(rune) || rune >= 0xfffe)
            putc('?', to);
        else
            fwrite(s, 1, n, to);
    }
}

static double x_of(size_t slot)
{
    return LEFT + (double)slot * SLOT;
}

/* ---- the frontier ---- */

/* One counter: slots without a value keep the last one. */
static void put_line(FILE *to, const char *class, const double *values,
                     double top, double scale)
{
    bool has_begun = false;

    fprintf(to, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < PROFILE_SLOTS; i++) {
        if (values[i] < 0)
            continue;
        const double y = top + FRONTIER - values[i] * scale;
        fprintf(to, "%c%.1f %.1f", has_begun ? 'L' : 'M', x_of(i),
                y > top ? y : top);
        has_begun = true;
    }
    fputs("\"/>\n", to);
}

static bool is_known(const double *values)
{
    for (size_t i = 0; i < PROFILE_SLOTS; i++)
        if (values[i] >= 0)
            return true;
    return false;
}

static void put_frontier(FILE *to, const struct profile *p)
{
    const double scale = p->size > 0 ? FRONTIER / (double)p->size : 0;
    char size[UNITS_SIZE];

    fprintf(to,
            "<path class=\"a\" d=\"M%.0f %.0fV%.0fH%.0f\"/>\n"
            "<path class=\"g\" d=\"M%.0f %.0fH%.0f\"/>\n"
            "<text class=\"e n\" x=\"%.0f\" y=\"%.0f\">%s</text>\n"
            "<text class=\"e n\" x=\"%.0f\" y=\"%.0f\">0</text>\n",
            LEFT, TOP, TOP + FRONTIER, WIDTH - RIGHT, LEFT, TOP, WIDTH - RIGHT,
            LEFT - 6, TOP + 8, units_size(size, p->size), LEFT - 6,
            TOP + FRONTIER);
    put_line(to, "s", p->stored, TOP, scale);
    put_line(to, "o", p->frontier, TOP, scale);
    if (is_known(p->player))
        put_line(to, "p", p->player, TOP, scale);
}

/* ---- lanes ---- */

/* Few lanes are high, many are thin. */
static double lane_height(size_t n)
{
    if (n <= 12)
        return 14;
    return n <= 48 ? 10 : n <= 100 ? 6 : 4;
}

static void put_state(FILE *to, const struct profile_lane *lane,
                      enum profile_state state, double y, double height)
{
    const bool is_thin = state == PROFILE_WAITING;
    const double h = is_thin ? height / 5 : height;
    bool has_begun = false;
    size_t end;

    for (size_t i = 0; i < PROFILE_SLOTS; i = end) {
        for (end = i + 1;
             end < PROFILE_SLOTS && lane->states[end] == lane->states[i];)
            end++;
        if (lane->states[i] != (unsigned char)state)
            continue;
        if (!has_begun)
            fprintf(to, "<path class=\"%s\" d=\"", looks[state].class);
        has_begun = true;
        fprintf(to, "M%.1f %.1fh%.1fv%.1fh-%.1fz", x_of(i),
                y + (height - h) / 2, (double)(end - i) * SLOT, h,
                (double)(end - i) * SLOT);
    }
    if (has_begun)
        fputs("\"/>\n", to);
}

/* Where requests begin, unless they are so many that all would be white. */
static void put_begins(FILE *to, const struct profile_lane *lane, double y,
                       double height)
{
    size_t n = 0;

    for (size_t i = 0; i < PROFILE_SLOTS; i++)
        n += lane->begins[i];
    if (n > PROFILE_SLOTS / 6)
        return;
    fputs("<path class=\"b\" d=\"", to);
    for (size_t i = 1; i < PROFILE_SLOTS; i++)
        if (lane->begins[i])
            fprintf(to, "M%.1f %.1fv%.1f", x_of(i), y, height);
    fputs("\"/>\n", to);
}

static void put_depot(FILE *to, const struct profile *p, unsigned depot,
                      double y)
{
    fprintf(to, "<text class=\"e\" x=\"%.0f\" y=\"%.1f\"><title>", LEFT - 6,
            y + 9);
    put_text(to, p->depots[depot]->host, TRACE_TEXT);
    fputs("</title>", to);
    put_text(to, p->depots[depot]->host, NAME_COLUMNS);
    fputs("</text>\n", to);
}

static void put_lane(FILE *to, const struct profile_lane *lane, double y,
                     double height)
{
    fprintf(to, "<path class=\"g\" d=\"M%.0f %.1fH%.0f\"/>\n", LEFT,
            y + height + 1, WIDTH - RIGHT);
    for (int s = PROFILE_WAITING; s < PROFILE_STATES; s++)
        put_state(to, lane, (enum profile_state)s, y, height);
    put_begins(to, lane, y, height);
}

/* Returns where they end; `to` NULL: they are only measured. */
static double put_lanes(FILE *to, const struct profile *p, double y)
{
    const double height = lane_height(p->n_lanes);
    double next = y; /* where the next depot may be named */

    for (size_t i = 0; i < p->n_lanes; i++) {
        const struct profile_lane *lane = p->lanes[i];
        const bool is_first = i == 0 || lane->depot != p->lanes[i - 1]->depot;
        if (is_first)
            y = y > next ? y : next;
        if (is_first)
            next = y + 13;
        if (is_first && to != NULL)
            put_depot(to, p, lane->depot, y);
        if (to != NULL)
            put_lane(to, lane, y, height);
        y += height + 2;
    }
    y = y > next ? y : next;
    if (p->n_lanes_more == 0 && p->n_depots_more == 0)
        return y;
    if (to != NULL)
        fprintf(to,
                "<text class=\"n\" x=\"%.0f\" y=\"%.1f\">and more, for which "
                "there is no room</text>\n",
                LEFT, y + 10);
    return y + 14;
}

/* ---- the rest ---- */

/* 1, 2 or 5 times a power of ten: at most eight of them. */
static double step_of(double seconds)
{
    double step = pow(10, floor(log10(seconds / 8)));

    while (seconds / step > 8)
        step *= seconds / step > 20 ? 5 : seconds / step > 16 ? 2.5 : 2;
    return step;
}

static void put_axis(FILE *to, const struct profile *p, double y)
{
    const double lasts = p->end - p->begin, step = step_of(lasts);
    const double width = WIDTH - LEFT - RIGHT;

    fprintf(to, "<path class=\"a\" d=\"M%.0f %.1fH%.0f\"/>\n", LEFT, y,
            WIDTH - RIGHT);
    for (unsigned i = 0; i <= 20 && (double)i * step <= lasts; i++) {
        const double x = LEFT + (double)i * step / lasts * width;
        fprintf(to,
                "<path class=\"a\" d=\"M%.1f %.1fv4\"/>"
                "<text class=\"m n\" x=\"%.1f\" y=\"%.1f\">%.4g s</text>\n",
                x, y, x < WIDTH - 24 ? x : WIDTH - 24, y + 16, i * step);
    }
}

static void put_legend(FILE *to, const struct profile *p, double y)
{
    static const struct {
        const char *class, *label;
    } lines[] = {{"o", "before the first gap"},
                 {"s", "stored in all"},
                 {"p", "the player"}};
    double x = LEFT;

    for (int s = PROFILE_WAITING; s < PROFILE_STATES; s++) {
        const bool is_thin = s == PROFILE_WAITING;
        fprintf(to,
                "<rect class=\"%s\" x=\"%.0f\" y=\"%.1f\" width=\"20\" "
                "height=\"%d\"/><text x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                looks[s].class, x, y + (is_thin ? 4 : 0), is_thin ? 2 : 10,
                x + 25, y + 9, looks[s].label);
        x += 40 + 5.8 * (double)strlen(looks[s].label);
    }
    x = LEFT;
    y += 18;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (i == 2 && !is_known(p->player))
            break;
        fprintf(to,
                "<path class=\"%s\" d=\"M%.0f %.1fh20\"/>"
                "<text x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                lines[i].class, x, y + 5, x + 25, y + 9, lines[i].label);
        x += 40 + 5.8 * (double)strlen(lines[i].label);
    }
}

static void put_title(FILE *to, const struct profile *p)
{
    const double lasts = p->end - p->begin;
    char seconds[UNITS_SIZE], rate[UNITS_SIZE], size[UNITS_SIZE];

    fprintf(to, "<text class=\"t\" x=\"12\" y=\"20\">");
    put_text(to, p->name, 50);
    fprintf(to, "</text>\n<text class=\"e\" x=\"%.0f\" y=\"20\">",
            WIDTH - RIGHT);
    if (strncmp(p->name, p->algorithm, strlen(p->algorithm)) != 0) {
        put_text(to, p->algorithm, 20);
        fputs(", ", to);
    }
    fprintf(to, "%s in %s, %s", units_size(size, p->size),
            units_seconds(seconds, lasts),
            units_rate(rate, (double)p->size / lasts));
    if (strcmp(p->outcome, "complete") != 0) {
        fputs(", ", to);
        put_text(to, p->outcome[0] != '\0' ? p->outcome : "without an end", 20);
    }
    fputs("</text>\n", to);
}

void draw_profile(FILE *to, const struct profile *p)
{
    const double top = TOP + FRONTIER + GAP;
    const double axis = put_lanes(NULL, p, top) + 4;
    const double height = axis + AXIS + LEGEND;

    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
            "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
            WIDTH, height, WIDTH, height);
    put_text(to, p->name, TRACE_TEXT);
    fprintf(to, "</title>\n%s", head);
    put_title(to, p);
    put_frontier(to, p);
    put_lanes(to, p, top);
    put_axis(to, p, axis);
    put_legend(to, p, axis + AXIS);
    fputs("</svg>\n", to);
}

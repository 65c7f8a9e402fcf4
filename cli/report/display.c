/* SPDX-License-Identifier: MIT */
#include "report/display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include "common/signals.h"
#include "report/report.h"
#include "report/summary.h"
#include "report/view.h"

/* Clears everything from the start of the picture.  If clearing starts in the
 * first column of the first line, tmux saves the cleared text to its
 * scrollback.  So clear from the second column first, and then the line. */
#define CLEAR "\r \033[J\r\033[K"

/* Seconds between two lines. */
#define PLAIN_SECONDS 5
#define JSON_SECONDS 1

static bool is_dumb(void)
{
    const char *term = getenv("TERM");

    return term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
}

static enum progress_mode choose(const struct args *a, const struct target *t)
{
    if (a->quiet && a->progress != PROGRESS_JSON)
        return PROGRESS_NONE;
    switch (a->progress) {
    case PROGRESS_AUTO:
        /* The picture would be mixed with the downloaded data on the same
         * terminal. */
        if (t->fd >= 0 && isatty(t->fd))
            return PROGRESS_NONE;
        return isatty(STDERR_FILENO) && !is_dumb() ? PROGRESS_BAR
                                                   : PROGRESS_PLAIN;
    case PROGRESS_BAR:
        return is_dumb() ? PROGRESS_PLAIN : PROGRESS_BAR;
    case PROGRESS_PLAIN:
    case PROGRESS_NONE:
    case PROGRESS_JSON:
        return a->progress;
    }
    return PROGRESS_NONE;
}

static double seconds_between_lines(const struct display *d)
{
    return d->mode == PROGRESS_JSON ? JSON_SECONDS : PLAIN_SECONDS;
}

void display_init(struct display *d, const struct args *a, const char *name,
                  const struct target *t)
{
    *d = (struct display){.mode = choose(a, t),
                          .is_verbose = a->verbose,
                          .name = name,
                          .path = target_path(t)};
    d->next_line = seconds_between_lines(d);
}

/* Returns the size of the terminal, or 80 by 24 if unknown.  The last column is
 * not used, because terminals differ in how they wrap there. */
static void measure(unsigned *columns, unsigned *rows)
{
    struct winsize size;

    *columns = 79;
    *rows = 24;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0)
        return;
    if (size.ws_col > 1)
        *columns = size.ws_col - 1u;
    if (size.ws_row > 0)
        *rows = size.ws_row;
}

/* Returns true in a background job, which must not write to the terminal. */
static bool is_in_background(void)
{
    const pid_t group = tcgetpgrp(STDERR_FILENO);

    return group > 0 && group != getpgrp();
}

static bool owns_screen(const struct display *d)
{
    return d->mode == PROGRESS_BAR && !is_in_background();
}

/* Draws `picture` over the old picture.  Then moves the cursor to the start of
 * the picture. */
static void put_in_place(FILE *to, const char *picture)
{
    unsigned lines = 0;

    for (const char *line = picture; *line != '\0'; lines++) {
        const size_t len = strcspn(line, "\n");
        fprintf(to, "%s%.*s\033[K", lines > 0 ? "\n" : "\r", (int)len, line);
        line += len + (line[len] == '\n');
    }
    fputs("\033[J\r", to);
    if (lines > 1)
        fprintf(to, "\033[%uA", lines - 1);
}

static void draw_picture(FILE *to, const struct display *d,
                         const struct snapshot *s, const char *above)
{
    char *picture = NULL;
    size_t len;
    unsigned columns, rows;
    FILE *view = open_memstream(&picture, &len);

    if (view == NULL)
        return;
    measure(&columns, &rows);
    view_running(view, s, d->name, columns, rows);
    if (fclose(view) == 0) {
        if (*above != '\0')
            fprintf(to, CLEAR "%s", above);
        put_in_place(to, picture);
    }
    free(picture);
}

/* Writes the whole text at once, so that nothing flickers and no other output
 * is mixed in. */
static void put_at_once(const char *text, size_t len)
{
    fflush(stderr);
    for (size_t at = 0; at < len;) {
        const ssize_t put = write(STDERR_FILENO, text + at, len - at);
        if (put <= 0)
            return; /* the output cannot be written any more */
        at += (size_t)put;
    }
}

void display_clear(const struct display *d)
{
    if (owns_screen(d))
        put_at_once(CLEAR, strlen(CLEAR));
    signals_last_words(NULL);
}

static void put_line(FILE *to, struct display *d, const struct snapshot *s)
{
    const double every = seconds_between_lines(d);

    if (s->progress.seconds < d->next_line)
        return;
    d->next_line += every;
    /* skip the lines of the time in which the process was stopped */
    if (d->next_line <= s->progress.seconds)
        d->next_line = s->progress.seconds + every;
    if (d->mode == PROGRESS_JSON)
        report_put_progress(to, s, d->path, NULL, NULL);
    else if (d->mode == PROGRESS_PLAIN)
        view_plain(to, s, d->name);
}

void display_update(struct display *d, const struct snapshot *s,
                    const char *above)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return;
    if (owns_screen(d)) {
        draw_picture(to, d, s, above);
        signals_last_words(CLEAR);
    } else {
        fputs(above, to);
        put_line(to, d, s);
    }
    if (fclose(to) == 0)
        put_at_once(text, len);
    free(text);
}

bool display_sums_up(const struct display *d)
{
    return d->mode == PROGRESS_BAR || d->mode == PROGRESS_PLAIN;
}

void display_end(struct display *d, const struct snapshot *s,
                 const char *outcome, const char *above)
{
    char *text = NULL;
    size_t len;
    unsigned columns, rows;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return;
    if (owns_screen(d))
        fputs(CLEAR, to);
    signals_last_words(NULL);
    fputs(above, to);
    measure(&columns, &rows);
    if (outcome != NULL && display_sums_up(d))
        summary_put(to, s, d->name, outcome, d->is_verbose, columns);
    if (fclose(to) == 0)
        put_at_once(text, len);
    free(text);
}

void display_result(const struct display *d, const struct snapshot *s,
                    const char *outcome, const char *error)
{
    char *text = NULL;
    size_t len;
    FILE *to = d->mode == PROGRESS_JSON ? open_memstream(&text, &len) : NULL;

    if (to == NULL)
        return;
    report_put_progress(to, s, d->path, outcome, error);
    if (fclose(to) == 0)
        put_at_once(text, len);
    free(text);
}

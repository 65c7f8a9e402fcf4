/* SPDX-License-Identifier: MIT */
/*
 * The display on standard error during a download: a picture that is redrawn in
 * place, lines for people or programs, or nothing.
 *
 * Between updates the cursor is at the start of the picture.  So it does not
 * matter how the terminal moves lines when its size changes: the picture is
 * drawn again from the cursor, and the rest is cleared.
 */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include "args/args.h"
#include "args/target.h"
#include "common/snapshot.h"

struct display {
    enum progress_mode mode; /* PROGRESS_AUTO has been resolved */
    bool is_verbose;
    const char *name, *path;
    /* time at which to print the next line, in seconds of the download */
    double next_line;
};

/* Prepares the display.  `name` is the displayed name of the file that is
 * written to `t`.  Both must outlive the display. */
void display_init(struct display *d, const struct args *a, const char *name,
                  const struct target *t);

/* Draws `s`.  May be called as often as needed.  `above` contains lines to keep
 * above the picture, or is "". */
void display_update(struct display *d, const struct snapshot *s,
                    const char *above);

/* Removes the picture until the next update. */
void display_clear(const struct display *d);

/* Returns whether the display ends with a summary, which shows the problems of
 * each depot. */
bool display_sums_up(const struct display *d);

/* Ends the display with a summary of `s`.  If `outcome` is NULL, there is no
 * summary. */
void display_end(struct display *d, const struct snapshot *s,
                 const char *outcome, const char *above);

/* Prints the last line for programs.  Also used for a download that never
 * started. */
void display_result(const struct display *d, const struct snapshot *s,
                    const char *outcome, const char *error);

#endif

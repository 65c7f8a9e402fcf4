/* SPDX-License-Identifier: MIT */
/*
 * The display on standard error while a download runs: a picture that is
 * redrawn in place, lines for people or for programs, or nothing.
 *
 * Between two drawings the cursor stands at the start of the picture.  So
 * nothing has to be known of how the terminal moved the lines about when its
 * size changed: the picture is drawn anew from there, and what is left below
 * is cleared.
 */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include "args/args.h"
#include "args/target.h"
#include "common/snapshot.h"

struct display {
    enum progress_mode mode; /* never PROGRESS_AUTO */
    bool is_verbose;
    const char *name, *path;
    double next_line; /* seconds of the download */
};

/* `name` is what people call the file that goes to `t`; both must outlive the
 * display. */
void display_init(struct display *d, const struct args *a, const char *name,
                  const struct target *t);

/* Draw `s`, as often as the caller likes.  `above` are lines to stay, above
 * the picture; "" if there are none. */
void display_update(struct display *d, const struct snapshot *s,
                    const char *above);

/* Take the picture away, until the next one. */
void display_clear(const struct display *d);

/* Whether it ends with a summary, which tells what was wrong with each depot. */
bool display_sums_up(const struct display *d);

/* At the end: `s` as a summary, to stay; none if `outcome` is NULL. */
void display_end(struct display *d, const struct snapshot *s,
                 const char *outcome, const char *above);

/* The last line for programs, also of a download that never began. */
void display_result(const struct display *d, const struct snapshot *s,
                    const char *outcome, const char *error);

#endif

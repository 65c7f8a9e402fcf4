/* SPDX-License-Identifier: MIT */
/*
 * A run of a trace as a picture.
 *
 *     name, time, rate
 *     +------------------+
 *     |     frontier     |   bytes up to the first gap, in all, and the player
 *     +------------------+
 *     depot a  ===  ==        a lane for each connection, time to the right;
 *     depot b  = =====        outcomes differ in shape and pattern, not only in
 *     ...                     colour
 *     what each pattern means
 */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include <stdio.h>

#include "trace/profile.h"

/* As SVG, 830 pixels wide: what fits a README. */
void draw_profile(FILE *to, const struct profile *p);

#endif

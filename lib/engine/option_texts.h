/* SPDX-License-Identifier: MIT */
/* Storage of options whose values are strings. */
#ifndef XD_ENGINE_OPTION_TEXTS_H
#define XD_ENGINE_OPTION_TEXTS_H

/* set() replaces *field with a copy of `value`.  add_line() appends `value` and
 * a line feed.  Errors: NOMEM; then *field is unchanged. */
int xd_text_option_set(char **field, const char *value);
int xd_text_option_add_line(char **field, const char *value);

#endif

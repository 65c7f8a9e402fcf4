/* SPDX-License-Identifier: MIT */
/* How options whose values are texts are kept. */
#ifndef XD_ENGINE_OPTION_TEXTS_H
#define XD_ENGINE_OPTION_TEXTS_H

/* Replace *field, or add a line to it, which ends in a line feed.
 * Errors: NOMEM; then it is as before. */
int xd_text_option_set(char **field, const char *value);
int xd_text_option_add_line(char **field, const char *value);

#endif

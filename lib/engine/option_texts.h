/* Options whose values are texts: which texts will do, and how they are kept.
 */
#ifndef XD_ENGINE_OPTION_TEXTS_H
#define XD_ENGINE_OPTION_TEXTS_H

#include <stdbool.h>

/* No control character, so that it may stand in a line of a protocol. */
bool xd_is_plain_text(const char *s);

/* "Name: value", or "Name;" for one without a value, or "Name:" to leave out
 * what would be said; of a name that does not decide which bytes come. */
bool xd_is_header(const char *s);

/* "NAME:PASSWORD" */
bool xd_is_login(const char *s);

/* "[SCHEME://][NAME:PASSWORD@]HOST[:PORT]", or nothing. */
bool xd_is_proxy(const char *s);

/* Replace *field, or add a line to it, which ends in a line feed.
 * Errors: NOMEM; then it is as before. */
int xd_text_option_set(char **field, const char *value);
int xd_text_option_add_line(char **field, const char *value);

#endif

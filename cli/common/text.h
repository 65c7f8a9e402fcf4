/* SPDX-License-Identifier: MIT */
/*
 * Makes untrusted text safe to display.  Manifests, responses of depots and
 * file names may contain control sequences.  Pure.
 */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Decodes the first character of `s` to *out_rune, which is U+FFFD if it is not
 * valid UTF-8.  Returns the length of the character in bytes; 0 at the end of
 * the string. */
size_t text_rune(const char *s, uint32_t *out_rune);

/* Returns whether a character is invisible or controls the terminal.  These are
 * control characters, changes of direction, and characters without a glyph. */
bool text_is_deceptive(uint32_t rune);

/* Prints `s` with '?' in place of deceptive characters. */
void text_put(FILE *to, const char *s);

/* Returns the position of the login ("name:password") in a URL.  *out_len is
 * its length, or 0 if there is no login.  In a word without a scheme, a login
 * counts only if it has a password. */
size_t text_login(const char *url, size_t *out_len);

#define TEXT_URL_SIZE 8200 /* room for the longest URL from the library */

/* Writes the URL without its password to `out`, and returns `out`. */
const char *text_without_password(char out[TEXT_URL_SIZE], const char *url);

/* Writes the host and port, without a login, to `out`, and returns `out`. */
const char *text_host(char out[TEXT_URL_SIZE], const char *url);

/* Returns the largest number of terminal columns that the text may take. */
unsigned text_columns(const char *s);

/* Prints the text in at most `columns` columns.  If it is too long, "~"
 * replaces its middle.  If `pad` is true, a short text is filled up with
 * spaces. */
void text_put_fit(FILE *to, const char *s, unsigned columns, bool pad);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Text from outside, made fit to be shown: manifests, depots and file names
 * are hostile, and a terminal obeys what it is sent.  Pure.
 */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The character that `s` begins with, into *out_rune: U+FFFD where it is not
 * UTF-8.  Returns the bytes it takes, 0 at the end of the string. */
size_t text_rune(const char *s, uint32_t *out_rune);

/* Whether people do not see it, or a terminal obeys it: controls, changes of
 * direction, characters without a shape. */
bool text_is_deceptive(uint32_t rune);

/* `s` with every such character as '?'. */
void text_put(FILE *to, const char *s);

/* The login in a URL, "name:password", which begins at the place returned;
 * *out_len is 0 if it has none.  In a word without a scheme, as of a URL whose
 * scheme was forgotten, only what has a password is a login. */
size_t text_login(const char *url, size_t *out_len);

#define TEXT_URL_SIZE 8200 /* the longest URL that the library hands out */

/* The URL without the password, for people; in `out`, which is returned. */
const char *text_without_password(char out[TEXT_URL_SIZE], const char *url);

/* Its host and port, without a login; in `out`, which is returned. */
const char *text_host(char out[TEXT_URL_SIZE], const char *url);

/* How many columns that takes on a terminal, at most. */
unsigned text_columns(const char *s);

/* The same in at most `columns`: what is too long has a ~ for its middle, what
 * is too short is filled up with spaces if `pad`. */
void text_put_fit(FILE *to, const char *s, unsigned columns, bool pad);

#endif

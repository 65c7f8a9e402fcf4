/* SPDX-License-Identifier: MIT */
/*
 * Shell completion: prints candidates for the word being typed.  The scripts
 * for bash, zsh and fish in this folder call this function, so they contain no
 * lists of options.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

/* first argument of the call that the scripts make */
#define COMPLETE_WORD "__complete"

/*
 * Prints candidates for the last of `words`, the words after "xdownload": one
 * per line, optionally with a tab and a description; "/" if file names fit too.
 * Returns a status.
 */
int complete_print(int n, char **words);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a shell may put in the place of the word that is being typed.  The files
 * beside this one ask for it, for bash, zsh and fish; they have no list of
 * options of their own.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#define COMPLETE_WORD "__complete" /* the first word of such a question */

/*
 * Print what may stand in the place of the last of `words`, which are those of a
 * command line behind "xdownload": a line for each candidate, with a tab and a
 * sentence behind it where there is one, and "/" if names of files may stand
 * there too.  Returns a status.
 */
int complete_print(int n, char **words);

#endif

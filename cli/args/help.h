/*
 * What --help and --version print, on standard output.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

void help_print(void);
void help_version(void);

#endif

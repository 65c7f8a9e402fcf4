/*
 * Ctrl-C and its like, noticed while a download runs.
 *
 * Between signals_watch() and signals_restore() the first SIGINT, SIGTERM or
 * SIGHUP is only noted; a second one has its usual effect, for the impatient.
 * A signal that was ignored stays so (nohup, jobs in the background).
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

void signals_watch(void);
void signals_restore(void);

/* Whether one has come, ever. */
bool signals_came(void);

#endif

#include "signals.h"

#include <signal.h>
#include <stddef.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};

#define N_WATCHED (sizeof watched / sizeof *watched)

static volatile sig_atomic_t came;
static struct sigaction before[N_WATCHED];

static void note(int sig)
{
    (void)sig;
    came = 1;
}

void signals_watch(void)
{
    /* Calls go on, for it is a flag that is looked at ten times a second. */
    struct sigaction act = {.sa_handler = note,
                            .sa_flags = SA_RESTART | (int)SA_RESETHAND};

    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < N_WATCHED; i++) {
        sigaction(watched[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(watched[i], &act, NULL);
    }
}

void signals_restore(void)
{
    for (size_t i = 0; i < N_WATCHED; i++)
        sigaction(watched[i], &before[i], NULL);
}

bool signals_came(void)
{
    return came != 0;
}

#include "signals.h"

#include <signal.h>
#include <stddef.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};

#define N_WATCHED (sizeof watched / sizeof *watched)

static volatile sig_atomic_t came, stop_came;
static struct sigaction before[N_WATCHED];

static void note(int sig)
{
    if (sig == SIGTSTP)
        stop_came = 1;
    else
        came = 1;
}

static void watch(int sig)
{
    /* Once: a second one has its usual effect.  Calls go on, for it is a flag
     * that is looked at ten times a second. */
    struct sigaction act = {.sa_handler = note,
                            .sa_flags = SA_RESTART | (int)SA_RESETHAND};

    sigemptyset(&act.sa_mask);
    sigaction(sig, &act, NULL);
}

void signals_watch(void)
{
    for (size_t i = 0; i < N_WATCHED; i++) {
        sigaction(watched[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            watch(watched[i]);
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

bool signals_stop_came(void)
{
    return stop_came != 0;
}

void signals_stop(void)
{
    stop_came = 0;
    raise(SIGTSTP); /* its handler went with the first */
    watch(SIGTSTP);
}

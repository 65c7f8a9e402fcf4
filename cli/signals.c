#include "signals.h"

#include <signal.h>
#include <stddef.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};

#define N_WATCHED (sizeof watched / sizeof *watched)

static volatile sig_atomic_t count, sent, stop_came;
static struct sigaction before[N_WATCHED];
static int once; /* SA_RESETHAND, or 0 */

static void note(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (sig == SIGTSTP) {
        stop_came = 1;
        return;
    }
    if (count < SIGNALS_MANY)
        count = count + 1;
    if (info->si_code == SI_USER || info->si_code == SI_QUEUE)
        sent = sig;
}

static void watch(int sig)
{
    /* Calls go on, for it is a flag that is looked at ten times a second. */
    struct sigaction act = {.sa_sigaction = note,
                            .sa_flags = SA_RESTART | SA_SIGINFO | once};

    sigemptyset(&act.sa_mask);
    sigaction(sig, &act, NULL);
}

static void watch_all(int flag)
{
    once = flag;
    for (size_t i = 0; i < N_WATCHED; i++) {
        sigaction(watched[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            watch(watched[i]);
    }
}

void signals_watch(void)
{
    watch_all((int)SA_RESETHAND);
}

void signals_watch_each(void)
{
    watch_all(0);
}

void signals_restore(void)
{
    for (size_t i = 0; i < N_WATCHED; i++)
        sigaction(watched[i], &before[i], NULL);
}

bool signals_came(void)
{
    return count != 0;
}

int signals_count(void)
{
    return count;
}

int signals_take_sent(void)
{
    const int sig = sent;

    if (sig != 0)
        sent = 0;
    return sig;
}

bool signals_stop_came(void)
{
    return stop_came != 0;
}

void signals_stop(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    stop_came = 0;
    sigemptyset(&usual.sa_mask);
    sigaction(SIGTSTP, &usual, NULL);
    raise(SIGTSTP);
    watch(SIGTSTP);
}

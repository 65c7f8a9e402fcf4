/* SPDX-License-Identifier: MIT */
#include "common/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include <unistd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};

#define N_WATCHED (sizeof watched / sizeof *watched)

static volatile sig_atomic_t count, sent, stop_came;
static struct sigaction before[N_WATCHED];
/* whether the second signal ends the process */
static volatile sig_atomic_t once;
static const char *volatile last_words;

static void set_usual(int sig)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    sigemptyset(&usual.sa_mask);
    sigaction(sig, &usual, NULL);
}

/* Handles the second signal.  The signal's default action follows when this
 * function returns. */
static void end_at_once(int sig)
{
    const char *words = last_words;

    if (words != NULL)
        (void)!write(STDERR_FILENO, words, strlen(words));
    set_usual(sig);
    raise(sig);
}

static void note(int sig, siginfo_t *info, void *context)
{
    struct sigaction second = {.sa_handler = end_at_once};
    const int before_errno = errno;

    (void)context;
    if (sig == SIGTSTP) {
        stop_came = 1;
        return;
    }
    if (count < SIGNALS_MANY)
        count = count + 1;
    if (info->si_code == SI_USER || info->si_code == SI_QUEUE)
        sent = sig;
    if (once) {
        sigemptyset(&second.sa_mask);
        sigaction(sig, &second, NULL);
    }
    errno = before_errno;
}

static void watch(int sig)
{
    /* SA_RESTART: interrupted calls continue; the flag is checked ten times a
     * second. */
    struct sigaction act = {.sa_sigaction = note,
                            .sa_flags = SA_RESTART | SA_SIGINFO};

    sigemptyset(&act.sa_mask);
    sigaction(sig, &act, NULL);
}

static void watch_all(bool is_once)
{
    once = is_once;
    for (size_t i = 0; i < N_WATCHED; i++) {
        sigaction(watched[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            watch(watched[i]);
    }
}

void signals_watch(void)
{
    watch_all(true);
}

void signals_watch_each(void)
{
    watch_all(false);
}

void signals_restore(void)
{
    for (size_t i = 0; i < N_WATCHED; i++)
        sigaction(watched[i], &before[i], NULL);
}

void signals_last_words(const char *words)
{
    last_words = words;
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
    stop_came = 0;
    set_usual(SIGTSTP);
    raise(SIGTSTP);
    watch(SIGTSTP);
}

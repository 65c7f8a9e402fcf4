/* SPDX-License-Identifier: MIT */
#include "play/player.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"

/* Time that a player may take to end after a signal, in ticks. */
#define PATIENCE_TICKS (2000 / PLAYER_TICK_MS)

extern char **environ;

/* Resets SIGPIPE in the player, because this process ignores it. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t usual;

    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    const int rc = posix_spawnattr_setsigdefault(attributes, &usual);
    return rc != 0
               ? rc
               : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

/* The cast is safe: exec() does not write to the words, although its prototype
 * lacks the const. */
int player_spawn(struct player *p, const char *const *words)
{
    *p = (struct player){.program = words[0]};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc != 0)
        goto destroy_actions;
    rc = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO,
                                          STDOUT_FILENO);
    if (rc == 0)
        rc = set_attributes(&attributes);
    if (rc == 0)
        rc = posix_spawnp(&p->pid, words[0], &actions, &attributes,
                          (char *const *)(uintptr_t)words, environ);
    posix_spawnattr_destroy(&attributes);
destroy_actions:
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

int player_start(struct player *p, const char *const *words)
{
    const int rc = player_spawn(p, words);

    if (rc == 0)
        return 0;
    if (rc == ENOENT)
        words_error("there is no player %s: install it, or name another one "
                    "with --player",
                    words[0]);
    else
        words_error("the player %s cannot be started: %s", words[0],
                    strerror(rc));
    return STATUS_LOCAL;
}

/* Passes signals on to the player.  A signal from the terminal has reached the
 * player already.  A signal that was sent to this process is passed on.  If the
 * player does not end in time, or after a second signal, it is killed. */
static void obey_signals(struct player *p)
{
    const int sent = signals_take_sent();

    if (signals_count() == 0)
        return;
    if (sent != 0)
        kill(p->pid, sent);
    if (++p->ticks_since_signal > PATIENCE_TICKS || signals_count() > 1)
        kill(p->pid, SIGKILL);
}

void player_look(struct player *p)
{
    int status;

    const pid_t pid = waitpid(p->pid, &status, WNOHANG);
    if (pid == 0) {
        obey_signals(p);
        return;
    }
    if (pid < 0 && errno == EINTR)
        return;
    p->has_ended = true;
    if (pid < 0)
        /* other code has already waited for the process */
        p->status = STATUS_FAILED;
    else
        p->status =
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

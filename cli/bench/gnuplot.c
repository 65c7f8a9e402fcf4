/* SPDX-License-Identifier: MIT */
#include "bench/gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/status.h"
#include "common/words.h"

#define PROGRAM "gnuplot"

/* The child's end, when it could not begin. */
#define NO_FOLDER 126
#define NO_PROGRAM 127

static int fail(const char *what, const char *name)
{
    words_error("%s%s: %s", what, name, strerror(errno));
    return STATUS_LOCAL;
}

/* In the child: only what a signal handler may call. */
static _Noreturn void begin(const char *folder, int input)
{
    signal(SIGPIPE, SIG_DFL);
    if (chdir(folder) < 0)
        _exit(NO_FOLDER);
    if (dup2(input, STDIN_FILENO) >= 0)
        execlp(PROGRAM, PROGRAM, "-d", "-", (char *)NULL); /* -d: without the
                                                    user's own settings */
    _exit(NO_PROGRAM);
}

/* If gnuplot ends before it has read all, its status says so. */
static void feed(int fd, const char *script, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, script, len);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            script += n;
            len -= (size_t)n;
        }
    }
}

static int wait_for(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int judge(int status, const char *folder)
{
    if (status == 0)
        return 0;
    if (status == NO_PROGRAM)
        words_error("gnuplot is needed to draw figures, and is not installed");
    else if (status == NO_FOLDER)
        words_error("the folder %s cannot be entered", folder);
    else
        words_error("gnuplot ended with status %d", status);
    return STATUS_LOCAL;
}

int gnuplot_run(const char *folder, const char *script, size_t len)
{
    int ends[2];

    if (pipe(ends) < 0)
        return fail("no pipe to gnuplot", "");
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const pid_t child = fork();
    if (child == 0)
        begin(folder, ends[0]);
    close(ends[0]);
    if (child > 0)
        feed(ends[1], script, len);
    close(ends[1]);
    if (child < 0)
        return fail("no process for gnuplot", "");
    return judge(wait_for(child), folder);
}

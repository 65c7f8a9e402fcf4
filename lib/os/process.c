/* SPDX-License-Identifier: MIT */
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

/* A child without any progress for this time is assumed to hang. */
#define PATIENCE_MS 60000

/* Our descriptors are moved above those that posix_spawn() assigns in the
 * child. */
#define LEAST_DESCRIPTOR 10

#define CHILDS_FD3 3

/* Exit status of a child if exec failed after posix_spawn() had returned
 * (POSIX).  Most systems report that failure from posix_spawn() itself; qemu's
 * user emulation does not. */
#define NOT_RUN 127

int xd_process_init(struct xd_process *p)
{
    *p = (struct xd_process){.input = -1, .outputs = {-1, -1}};
    return xd_mutex_init(&p->lock);
}

static void close_at(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Waits for the child and returns its wait status.  It holds the lock, because
 * the process ID may be reused once the child was waited for. */
static int reap(struct xd_process *p)
{
    int status = 0;

    xd_mutex_lock(&p->lock);
    if (p->pid > 0) {
        (void)kill(p->pid, SIGKILL);
        while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    p->pid = 0;
    xd_mutex_unlock(&p->lock);
    return status;
}

/* Closes all descriptors.  The collected output stays. */
static void close_all(struct xd_process *p)
{
    close_at(&p->input);
    for (int i = 0; i < XD_PROCESS_OUTPUTS; i++)
        close_at(&p->outputs[i]);
    p->name = NULL;
}

void xd_process_abandon(struct xd_process *p)
{
    (void)reap(p);
    close_all(p);
    for (int i = 0; i < XD_PROCESS_OUTPUTS; i++)
        xd_text_fini(&p->said[i]);
}

void xd_process_fini(struct xd_process *p)
{
    xd_process_abandon(p);
    xd_mutex_fini(&p->lock);
}

void xd_process_stop(struct xd_process *p)
{
    xd_mutex_lock(&p->lock);
    p->is_stopped = true;
    if (p->pid > 0)
        (void)kill(p->pid, SIGKILL);
    xd_mutex_unlock(&p->lock);
}

static bool is_stopped(struct xd_process *p)
{
    bool is;

    xd_mutex_lock(&p->lock);
    is = p->is_stopped;
    xd_mutex_unlock(&p->lock);
    return is;
}

/* Moves the descriptor above those that are assigned in the child, and makes it
 * close-on-exec for other children. */
static int move_up(int *fd)
{
    int above = fcntl(*fd, F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);

    close_at(fd);
    *fd = above;
    return above < 0 ? XD_E_IO : 0;
}

/* Makes a pair of sockets rather than a pipe, because MSG_NOSIGNAL prevents
 * SIGPIPE. */
static int make_pair(int *ours, int *childs)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return XD_E_IO;
    *ours = pair[0];
    *childs = pair[1];
    return move_up(ours) < 0 || move_up(childs) < 0 ? XD_E_IO : 0;
}

/* Lists the child's descriptors for posix_spawn().  Returns 0 or an errno. */
static int add_actions(posix_spawn_file_actions_t *a, const int childs[3])
{
    int rc = posix_spawn_file_actions_adddup2(a, childs[0], STDIN_FILENO);

    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(a, childs[1], STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(a, STDERR_FILENO, "/dev/null",
                                              O_WRONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(a, childs[2], CHILDS_FD3);
    return rc;
}

/* Sets default signal handling for the child, and its own process group, so
 * that Ctrl-C in a terminal reaches only us. */
static int set_signals(posix_spawnattr_t *a)
{
    sigset_t none, all;
    int rc;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGKILL);
    (void)sigdelset(&all, SIGSTOP);
    rc = posix_spawnattr_setsigmask(a, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(a, &all);
    if (rc == 0)
        rc = posix_spawnattr_setpgroup(a, 0);
    return rc ? rc
              : posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETPGROUP);
}

static int spawn(pid_t *out, const char *const argv[], const int childs[3])
{
    char locale[] = "LC_ALL=C";
    char *environment[] = {locale, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc != 0)
        goto destroy_actions;
    rc = add_actions(&actions, childs);
    if (rc == 0)
        rc = set_signals(&attributes);
    /* posix_spawnp() does not change argv; POSIX omits the const */
    if (rc == 0)
        rc = posix_spawnp(out, argv[0], &actions, &attributes,
                          (char *const *)(const void *)argv, environment);
    (void)posix_spawnattr_destroy(&attributes);
destroy_actions:
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int start_locked(struct xd_process *p, const char *const argv[],
                        const int childs[3], struct xd_error *err)
{
    int failure;

    if (p->is_stopped)
        return xd_fail(err, XD_E_CANCELED, "canceled");
    failure = spawn(&p->pid, argv, childs);
    if (failure == 0)
        return 0;
    p->pid = 0;
    return xd_fail_errno(err, XD_E_IO, failure,
                         "%s cannot be run: is it installed?", argv[0]);
}

int xd_process_start(struct xd_process *p, const char *const argv[],
                     size_t most, struct xd_error *err)
{
    int childs[3] = {-1, -1, -1};
    int rc = 0;

    xd_process_abandon(p);
    p->most = most;
    if (make_pair(&p->input, &childs[0]) < 0 ||
        make_pair(&p->outputs[0], &childs[1]) < 0 ||
        make_pair(&p->outputs[1], &childs[2]) < 0)
        rc = xd_fail_errno(err, XD_E_IO, errno, "%s cannot be run", argv[0]);
    if (rc == 0) {
        xd_mutex_lock(&p->lock);
        rc = start_locked(p, argv, childs, err);
        xd_mutex_unlock(&p->lock);
    }
    for (int i = 0; i < 3; i++)
        close_at(&childs[i]);
    if (rc < 0)
        xd_process_abandon(p);
    else
        p->name = argv[0];
    return rc;
}

/* Reads available output. */
static int take(struct xd_process *p, int i, struct xd_error *err)
{
    char part[4096];
    ssize_t n = recv(p->outputs[i], part, sizeof part, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        close_at(&p->outputs[i]);
        return 0;
    }
    if (p->said[i].len + (size_t)n > p->most)
        return xd_fail(err, XD_E_IO, "%s says more than %zu bytes", p->name,
                       p->most);
    xd_text_add(&p->said[i], part, (size_t)n);
    return p->said[i].failed ? xd_fail_nomem(err) : 0;
}

/* Sends data to the child.  A child that closed its input has probably failed;
 * its output says why. */
static void give(struct xd_process *p, const char **data, size_t *len)
{
    ssize_t n = send(p->input, *data, *len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n >= 0) {
        *data += n;
        *len -= (size_t)n;
    } else if (errno != EAGAIN && errno != EINTR) {
        close_at(&p->input);
        *len = 0;
    }
}

/* Waits until something can be read or written, or the child was stopped. */
static int wait_for(struct xd_process *p, struct pollfd fds[3], bool gives,
                    struct xd_error *err)
{
    int n;

    fds[0] = (struct pollfd){.fd = gives ? p->input : -1, .events = POLLOUT};
    for (int i = 0; i < XD_PROCESS_OUTPUTS; i++)
        fds[1 + i] = (struct pollfd){.fd = p->outputs[i], .events = POLLIN};
    n = poll(fds, 3, PATIENCE_MS);
    if (n == 0)
        return xd_fail(err, XD_E_IO, "%s has not answered for %d s", p->name,
                       PATIENCE_MS / 1000);
    if (n < 0 && errno != EINTR)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", p->name);
    for (int i = 0; n < 0 && i < 3; i++)
        fds[i].revents = 0;
    return is_stopped(p) ? xd_fail(err, XD_E_CANCELED, "canceled") : 0;
}

static bool says_more(const struct xd_process *p)
{
    return p->outputs[0] >= 0 || p->outputs[1] >= 0;
}

/* Reads and writes at the same time, so that neither process waits for the
 * other. */
static int serve(struct xd_process *p, const char *data, size_t len,
                 bool is_end, struct xd_error *err)
{
    struct pollfd fds[3];
    int rc = is_stopped(p) ? xd_fail(err, XD_E_CANCELED, "canceled") : 0;

    while (rc == 0 && (len > 0 || (is_end && says_more(p)))) {
        if (len > 0 && p->input < 0)
            break;
        rc = wait_for(p, fds, len > 0, err);
        if (rc == 0 && fds[0].revents != 0)
            give(p, &data, &len);
        for (int i = 0; rc == 0 && i < XD_PROCESS_OUTPUTS; i++) {
            if (fds[1 + i].revents != 0)
                rc = take(p, i, err);
        }
    }
    if (rc < 0)
        xd_process_abandon(p);
    return rc;
}

int xd_process_feed(struct xd_process *p, const void *data, size_t len,
                    struct xd_error *err)
{
    return serve(p, data, len, false, err);
}

int xd_process_end(struct xd_process *p, struct xd_error *err)
{
    const char *name = p->name;
    int rc, status;

    close_at(&p->input);
    rc = serve(p, NULL, 0, true, err);
    if (rc < 0)
        return rc;
    /* The child has closed both outputs, so only its exit status is left to
     * read. */
    status = reap(p);
    close_all(p);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_RUN)
        return xd_fail(err, XD_E_IO, "%s cannot be run: is it installed?",
                       name);
    return is_stopped(p) ? xd_fail(err, XD_E_CANCELED, "canceled") : 0;
}

/* SPDX-License-Identifier: MIT */
#include "os/notifier.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/eventfd.h>
#endif

#include <xdownload/error.h>

#include "base/error.h"
#include "os/exit.h"

int xd_notifiers_init(struct xd_notifiers *all)
{
    all->first = NULL;
    all->is_calling = false;
    if (xd_mutex_init(&all->lock) < 0)
        return XD_E_NOMEM;
    if (xd_mutex_init(&all->caller_lock) < 0) {
        xd_mutex_fini(&all->lock);
        return XD_E_NOMEM;
    }
    return 0;
}

void xd_notifiers_fini(struct xd_notifiers *all)
{
    xd_mutex_fini(&all->caller_lock);
    xd_mutex_fini(&all->lock);
}

void xd_notifier_init(struct xd_notifier *n)
{
    *n = (struct xd_notifier){.is_raised = true, .fd = -1, .writing_fd = -1};
    atomic_init(&n->is_due, false);
}

static void unlink_locked(struct xd_notifiers *all, struct xd_notifier *n)
{
    struct xd_notifier **at = &all->first;

    while (*at && *at != n)
        at = &(*at)->next;
    if (*at)
        *at = n->next;
}

void xd_notifier_fini(struct xd_notifiers *all, struct xd_notifier *n)
{
    xd_notifier_set_function(all, n, NULL, NULL);
    if (n->fd >= 0)
        close(n->fd);
    if (n->writing_fd >= 0 && n->writing_fd != n->fd)
        close(n->writing_fd);
}

void xd_notifier_set_function(struct xd_notifiers *all, struct xd_notifier *n,
                              xd_wakeup_fn *function, void *user)
{
    xd_mutex_lock(&all->lock);
    unlink_locked(all, n);
    n->function = function;
    n->user = user;
    if (function) {
        n->next = all->first;
        all->first = n;
    }
    xd_mutex_unlock(&all->lock);
}

/* Makes the descriptor readable.  An eventfd accepts only writes of eight
 * bytes. */
static void write_token(const struct xd_notifier *n)
{
    const uint64_t one = 1;

    while (write(n->writing_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

bool xd_notifier_raise(struct xd_notifier *n)
{
    if (n->is_raised)
        return false;
    n->is_raised = true;
    if (n->fd >= 0)
        write_token(n);
    if (n->has_function)
        atomic_store(&n->is_due, true);
    return n->has_function;
}

void xd_notifier_clear(struct xd_notifier *n)
{
    uint64_t token;

    if (n->is_raised && n->fd >= 0) {
        while (read(n->fd, &token, sizeof token) < 0 && errno == EINTR)
            ;
    }
    n->is_raised = false;
}

/* Opens the descriptors.  They are close-on-exec, because child processes of
 * the program must not inherit them. */
static int open_pair(int fds[2])
{
#ifdef __linux__
    fds[0] = fds[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fds[0] < 0 ? -1 : 0;
#else
    if (pipe(fds) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
#endif
}

int xd_notifier_descriptor(struct xd_notifier *n, struct xd_error *err)
{
    int fds[2];

    if (n->fd >= 0)
        return n->fd;
    if (open_pair(fds) < 0)
        return xd_fail_errno(err, XD_E_NOMEM, errno,
                             "no descriptor to poll can be opened");
    n->fd = fds[0];
    n->writing_fd = fds[1];
    if (n->is_raised)
        write_token(n);
    return n->fd;
}

bool xd_notifiers_are_calling(struct xd_notifiers *all)
{
    bool is_caller;

    xd_mutex_lock(&all->caller_lock);
    is_caller = all->is_calling && pthread_equal(all->caller, pthread_self());
    xd_mutex_unlock(&all->caller_lock);
    return is_caller;
}

static void set_calling(struct xd_notifiers *all, bool is_calling)
{
    xd_mutex_lock(&all->caller_lock);
    all->is_calling = is_calling;
    all->caller = pthread_self();
    xd_mutex_unlock(&all->caller_lock);
}

static bool call_some_locked(struct xd_notifiers *all)
{
    bool has_called = false;

    for (struct xd_notifier *n = all->first; n; n = n->next) {
        if (!atomic_exchange(&n->is_due, false))
            continue;
        n->function(n->user);
        has_called = true;
    }
    return has_called;
}

void xd_notifiers_call(struct xd_notifiers *all)
{
    if (xd_exit_has_begun() || xd_notifiers_are_calling(all))
        return;
    xd_mutex_lock(&all->lock);
    set_calling(all, true);
    while (call_some_locked(all))
        ;
    set_calling(all, false);
    xd_mutex_unlock(&all->lock);
}

/* SPDX-License-Identifier: MIT */
/*
 * The world as the command of the tests sees it.
 *
 * A server out in the world: 203.0.113.0/24 (TEST-NET-3) is this machine by
 * another name, so that what is public can be had on loopback.
 *
 * A clock that jumps: with XD_CLOCK_STEP=realtime:SECONDS or monotonic:SECONDS
 * that clock goes on elsewhere from the moment that the file XD_CLOCK_WHEN is
 * there.
 */
#define _DEFAULT_SOURCE /* syscall() */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define PUBLIC 0xcb007100u
#define NETWORK 0xffffff00u
#define MAX_FD 1024

/* ---- addresses ---- */

static atomic_uint public_peers[MAX_FD]; /* by descriptor; 0: none */

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
    struct sockaddr_in in = {.sin_family = AF_UNSPEC};
    unsigned host = 0;

    if (address->sa_family == AF_INET && fd < MAX_FD) {
        memcpy(&in, address, sizeof in);
        host = ntohl(in.sin_addr.s_addr);
        host = (host & NETWORK) == PUBLIC ? host : 0;
        atomic_store(&public_peers[fd], host);
    }
    if (host == 0)
        return (int)syscall(SYS_connect, fd, address, len);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return (int)syscall(SYS_connect, fd, &in, sizeof in);
}

int getpeername(int fd, struct sockaddr *address, socklen_t *len)
{
    int rc = (int)syscall(SYS_getpeername, fd, address, len);
    unsigned host = fd < MAX_FD ? atomic_load(&public_peers[fd]) : 0;
    struct sockaddr_in in;

    if (rc != 0 || host == 0 || *len < sizeof in)
        return rc;
    memcpy(&in, address, sizeof in);
    in.sin_addr.s_addr = htonl(host);
    memcpy(address, &in, sizeof in);
    return rc;
}

/* ---- clocks ---- */

static atomic_bool has_stepped;

/* Seconds by which the clock of that name has jumped. */
static long step_of(const char *name)
{
    const char *step = getenv("XD_CLOCK_STEP"), *when = getenv("XD_CLOCK_WHEN");
    size_t len = strlen(name);

    if (step == NULL || when == NULL || strncmp(step, name, len) != 0)
        return 0;
    if (!atomic_load(&has_stepped) && unlink(when) == 0)
        atomic_store(&has_stepped, true);
    return atomic_load(&has_stepped) ? strtol(step + len, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, out);
    bool is_wall = clock == CLOCK_REALTIME;

    if (rc == 0)
        out->tv_sec += step_of(is_wall ? "realtime:" : "monotonic:");
    return rc;
}

time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* Of a POSIX that is newer than ours. */
int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
                           clockid_t clock, const struct timespec *until);

/* The kernel knows nothing of our steps. */
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                           const struct timespec *until)
{
    struct timespec real = *until;

    real.tv_sec -= step_of("monotonic:");
    return pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &real);
}

/* SPDX-License-Identifier: MIT */
/*
 * wire - a wide area between two network namespaces of its own.
 *
 *     wire SCENARIO REPORT [SEED]
 *
 * It makes the namespaces, a TUN device wan0 in each, and carries the packets
 * between them as SCENARIO says.  When all is there it prints "ready CLIENT
 * DEPOTS", the numbers of its descriptors of the namespaces: /proc/PID/fd/N is
 * a name for them as long as it runs, and with its last process a namespace
 * is gone; nothing is left to clean up.  The clock of the scenario starts with
 * the first packet of the client.
 *
 * Life: ends on SIGTERM, SIGINT and when its standard input ends, and writes
 * to REPORT, in JSON, what it carried and how late it was.
 *
 * Linux only, and root only.
 */
#define _GNU_SOURCE
#include "network.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    IN_A_ROW = 64, /* packets of one device before the others' turn */
    BUCKETS = 24   /* of lateness: 1, 2, 4 ... microseconds */
};

struct wire {
    int client, depots; /* the TUN devices */
    uint64_t late[BUCKETS];
    uint64_t refused; /* packets that a device did not take */
};

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
    (void)sig;
    stopped = 1;
}

static int64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec;
}

/* ---- devices ---- */

/* Moves this process into a new namespace and makes wan0 there. */
static int open_tun(int *out_namespace)
{
    struct ifreq request = {.ifr_name = "wan0"};

    if (unshare(CLONE_NEWNET) < 0)
        die("cannot make a network namespace: %s", strerror(errno));
    *out_namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (*out_namespace < 0 || fd < 0)
        die("cannot open /dev/net/tun: %s", strerror(errno));
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(fd, TUNSETIFF, &request) < 0)
        die("cannot make a TUN device: %s", strerror(errno));
    return fd;
}

static void note_lateness(struct wire *w, int64_t ns)
{
    unsigned bucket = 0;

    for (int64_t us = ns / 1000; us > 1 && bucket < BUCKETS - 1; us /= 2)
        bucket++;
    w->late[bucket]++;
}

static void deliver(void *user, bool to_client, const unsigned char *data,
                    size_t len, int64_t when)
{
    struct wire *w = user;

    note_lateness(w, now_ns() - when);
    if (write(to_client ? w->client : w->depots, data, len) < 0)
        w->refused++;
}

static void take(struct network *n, int fd, bool is_client)
{
    unsigned char data[MTU + 1];

    for (int i = 0; i < IN_A_ROW; i++) {
        ssize_t len = read(fd, data, sizeof data);
        if (len <= 0)
            return;
        if (is_client)
            network_from_client(n, data, (size_t)len, now_ns());
        else
            network_from_depot(n, data, (size_t)len, now_ns());
    }
}

static void carry(struct wire *w, struct network *n)
{
    struct pollfd fds[] = {{.fd = w->client, .events = POLLIN},
                           {.fd = w->depots, .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};

    while (!stopped) {
        int64_t next = network_run(n, now_ns());
        int64_t wait = next - now_ns();
        struct timespec ts = {0, 0};
        if (wait > 0) {
            wait = wait < SECOND ? wait : SECOND;
            ts.tv_sec = (time_t)(wait / SECOND);
            ts.tv_nsec = (long)(wait % SECOND);
        }
        if (ppoll(fds, 3, &ts, NULL) <= 0)
            continue;
        if (fds[0].revents)
            take(n, w->client, true);
        if (fds[1].revents)
            take(n, w->depots, false);
        char c;
        if (fds[2].revents && read(STDIN_FILENO, &c, 1) <= 0)
            return;
    }
}

/* ---- the report ---- */

/* So many of ten thousand deliveries were later than what is returned, in
 * microseconds, or half of that. */
static uint64_t late_us(const struct wire *w, uint64_t of_10000)
{
    uint64_t all = 0, seen = 0;

    for (unsigned i = 0; i < BUCKETS; i++)
        all += w->late[i];
    for (unsigned i = BUCKETS; i-- > 0;) {
        seen += w->late[i];
        if (seen > 0 && seen * 10000 >= all * of_10000)
            return UINT64_C(2) << i;
    }
    return 0;
}

static void report_depot(FILE *f, const struct line *line,
                         const struct counts *c)
{
    fprintf(f, "\n  {\"name\": \"%s\", \"payload_bytes\": %" PRIu64, line->name,
            c->payload_bytes);
    fprintf(f,
            ", \"delivered_bytes\": %" PRIu64
            ", \"delivered_packets\": %" PRIu64 ", \"sent_bytes\": %" PRIu64
            ", \"sent_packets\": %" PRIu64,
            c->delivered_bytes, c->delivered_packets, c->sent_bytes,
            c->sent_packets);
    fprintf(f,
            ", \"lost_packets\": %" PRIu64 ", \"queue_drops\": %" PRIu64
            ", \"client_drops\": %" PRIu64 ", \"connections\": %" PRIu64 "}",
            c->lost_packets, c->queue_drops, c->client_drops, c->connections);
}

static void report(const struct wire *w, const struct network *n,
                   const struct scenario *s, const char *path)
{
    FILE *f = fopen(path, "w");
    uint64_t payload = 0, delivered = 0;
    const char *comma = "";

    if (!f)
        die("%s: %s", path, strerror(errno));
    fprintf(f, "{\"depots\": [");
    for (unsigned i = 0; i < s->n_lines; i++) {
        const struct counts *c = network_counts(n, i);
        if (s->lines[i].kind != LINE_DEPOT)
            continue;
        fputs(comma, f);
        report_depot(f, &s->lines[i], c);
        comma = ",";
        payload += c->payload_bytes;
        delivered += c->delivered_bytes;
    }
    fprintf(f,
            "],\n \"payload_bytes\": %" PRIu64 ", \"delivered_bytes\": %" PRIu64
            ", \"refused_packets\": %" PRIu64 ", \"began_s\": %.6f",
            payload, delivered, w->refused, (double)network_began(n) / 1e9);
    fprintf(f,
            ",\n \"late_us\": {\"median\": %" PRIu64 ", \"p99\": %" PRIu64
            ", \"p99.99\": %" PRIu64 "}}\n",
            late_us(w, 5000), late_us(w, 100), late_us(w, 1));
    if (fclose(f) != 0)
        die("%s: %s", path, strerror(errno));
}

/* The programs that it carries packets for must not hold it up. */
static void hurry(void)
{
    struct sched_param param = {.sched_priority = 1};

    sched_setscheduler(0, SCHED_RR, &param);
    prctl(PR_SET_TIMERSLACK, 1UL);
}

int main(int argc, char **argv)
{
    static struct scenario scenario;
    struct sigaction action = {.sa_handler = on_signal};
    struct wire wire = {.refused = 0};
    int client, depots;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: wire SCENARIO REPORT [SEED]\n");
        return 2;
    }
    scenario_read(&scenario, argv[1]);
    wire.client = open_tun(&client);
    wire.depots = open_tun(&depots);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    hurry();
    struct network *network = network_new(
        &scenario, argc > 3 ? strtoull(argv[3], NULL, 10) : 1, deliver, &wire);
    printf("ready %d %d\n", client, depots);
    fflush(stdout);
    carry(&wire, network);
    report(&wire, network, &scenario, argv[2]);
    network_free(network);
    return 0;
}

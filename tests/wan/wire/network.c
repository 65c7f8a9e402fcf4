/* SPDX-License-Identifier: MIT */
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TO_DEPOT, TO_CLIENT, ENTERS, LEAVES };

struct packet {
    struct packet *next; /* behind it in a queue, or of the free ones */
    int64_t when;
    uint64_t number; /* of two that are due at once the earlier goes first */
    int what;        /* happens then */
    unsigned depot;
    unsigned line; /* that it enters or leaves */
    size_t len;
    unsigned char data[MTU];
};

/* A line and the packets in its queue, of which the first is leaving. */
struct state {
    struct quality quality;
    struct packet *first, **last;
    double queued;
    unsigned window_scale;     /* in the client's latest SYN to the depot */
    int64_t last_out, last_in; /* no packet overtakes another of its depot */
    uint64_t loss_random, jitter_random; /* of each the n-th is the n-th
                                            packet's, whenever it comes */
    struct counts counts;
};

struct network {
    struct scenario scenario;
    struct state lines[MAX_LINES];
    network_deliver_fn *deliver;
    void *user;

    bool has_begun; /* the client has sent a packet */
    int64_t began;
    unsigned next_change;

    struct packet **heap; /* by time */
    size_t n_heap, room;
    uint64_t numbers;
    struct packet *spare;
};

/* ---- random numbers (splitmix64) ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In [0, 1). */
static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) / 9007199254740992.0;
}

/* ---- packets ---- */

static struct packet *new_packet(struct network *n, unsigned depot,
                                 const unsigned char *data, size_t len)
{
    struct packet *p = n->spare;

    if (p)
        n->spare = p->next;
    else if (!(p = malloc(sizeof *p)))
        die("out of memory");
    p->next = NULL;
    p->depot = depot;
    p->len = len;
    memcpy(p->data, data, len);
    return p;
}

static void drop(struct network *n, struct packet *p)
{
    p->next = n->spare;
    n->spare = p;
}

/* ---- the heap ---- */

static bool is_before(const struct packet *a, const struct packet *b)
{
    return a->when != b->when ? a->when < b->when : a->number < b->number;
}

static void schedule(struct network *n, struct packet *p, int what,
                     int64_t when)
{
    if (n->n_heap == n->room) {
        n->room = n->room ? 2 * n->room : 1024;
        n->heap = realloc(n->heap, n->room * sizeof(struct packet *));
        if (!n->heap)
            die("out of memory");
    }
    p->what = what;
    p->when = when;
    p->number = n->numbers++;
    size_t i = n->n_heap++;
    for (; i > 0 && is_before(p, n->heap[(i - 1) / 2]); i = (i - 1) / 2)
        n->heap[i] = n->heap[(i - 1) / 2];
    n->heap[i] = p;
}

static struct packet *take_first(struct network *n)
{
    struct packet *first = n->heap[0], *moved = n->heap[--n->n_heap];
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < n->n_heap; i = child) {
        if (child + 1 < n->n_heap &&
            is_before(n->heap[child + 1], n->heap[child]))
            child++;
        if (!is_before(n->heap[child], moved))
            break;
        n->heap[i] = n->heap[child];
    }
    n->heap[i] = moved;
    return first;
}

/* ---- lines ---- */

static void begin_to_leave(struct network *n, struct state *l, int64_t now)
{
    struct packet *p = l->first;
    double rate = l->quality.bytes_per_s;
    double seconds = rate > 0 ? (double)p->len / rate : 0;

    schedule(n, p, LEAVES, now + (int64_t)(seconds * (double)SECOND));
}

static void enter(struct network *n, struct packet *p, unsigned line,
                  int64_t now)
{
    struct state *l = &n->lines[line];
    struct counts *c = &n->lines[p->depot].counts;

    if (l->quality.bytes_per_s > 0 &&
        l->queued + (double)p->len > l->quality.queue_bytes) {
        ++*(line == 0 ? &c->client_drops : &c->queue_drops);
        drop(n, p);
        return;
    }
    p->line = line;
    p->next = NULL;
    *l->last = p;
    l->last = &p->next;
    l->queued += (double)p->len;
    if (l->first == p)
        begin_to_leave(n, l, now);
}

/* The delay between the depot's side and the client's line. */
static void travel(struct network *n, struct packet *p, int64_t now)
{
    struct state *l = &n->lines[p->depot];
    const struct quality *q = &l->quality;
    int64_t when = now + q->delay +
                   (int64_t)(uniform(&l->jitter_random) * (double)q->jitter);

    if (when < l->last_out)
        when = l->last_out;
    l->last_out = when;
    schedule(n, p, ENTERS, when);
}

static void leave(struct network *n, struct packet *p, int64_t now)
{
    struct state *l = &n->lines[p->line];
    int via = n->scenario.lines[p->depot].via;

    l->first = p->next;
    if (!l->first)
        l->last = &l->first;
    l->queued -= (double)p->len;
    if (l->first)
        begin_to_leave(n, l, now);
    if (p->line == 0)
        schedule(n, p, TO_CLIENT, now);
    else if (p->line == p->depot && via > 0)
        enter(n, p, (unsigned)via, now);
    else
        travel(n, p, now);
}

/* ---- both ends ---- */

/* Bytes behind the headers of a TCP packet; 0 of anything else. */
static size_t payload_of(const unsigned char *ip, size_t len)
{
    size_t head = (size_t)(ip[0] & 15) * 4;

    if (ip[9] != 6 || len < head + 20)
        return 0;
    head += (size_t)(ip[head + 12] >> 4) * 4;
    return len > head ? len - head : 0;
}

static bool is_first_of_connection(const unsigned char *ip, size_t len)
{
    size_t head = (size_t)(ip[0] & 15) * 4;

    return ip[9] == 6 && len >= head + 20 && (ip[head + 13] & 0x12) == 2;
}

/* ---- windows ---- */

enum { OPTION_END, OPTION_PADDING, OPTION_WINDOW_SCALE = 3 };

/* By how many bits the window fields of the connection that begins so are
 * shifted. */
static unsigned scale_of(const unsigned char *tcp, size_t len)
{
    const size_t head = (size_t)(tcp[12] >> 4) * 4;

    for (size_t i = 20; i + 2 < head && head <= len;) {
        if (tcp[i] == OPTION_WINDOW_SCALE)
            return tcp[i + 2] & 15;
        if (tcp[i] == OPTION_END || (tcp[i] != OPTION_PADDING && !tcp[i + 1]))
            return 0;
        i += tcp[i] == OPTION_PADDING ? 1 : tcp[i + 1];
    }
    return 0;
}

/* Changes a field of 16 bits, and the checksum accordingly (RFC 1624). */
static void put_window(unsigned char *tcp, unsigned value)
{
    const unsigned old = (unsigned)tcp[14] << 8 | tcp[15];
    unsigned sum = (unsigned)tcp[16] << 8 | tcp[17];

    sum = (~sum & 0xffff) + (~old & 0xffff) + value;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~(sum + (sum >> 16)) & 0xffff;
    tcp[14] = (unsigned char)(value >> 8);
    tcp[15] = (unsigned char)value;
    tcp[16] = (unsigned char)(sum >> 8);
    tcp[17] = (unsigned char)sum;
}

/* Have the client advertise no more than the depot's window, which bounds what
 * the depot has in flight.  All of the client's connections to it have the same
 * scale, since they have the same kernel. */
static void bound_window(struct state *l, unsigned char *ip, size_t len)
{
    const size_t head = (size_t)(ip[0] & 15) * 4;
    unsigned char *tcp = ip + head;
    double most = l->quality.window;

    if (most <= 0 || ip[9] != 6 || len < head + 20)
        return;
    if (is_first_of_connection(ip, len))
        l->window_scale = scale_of(tcp, len - head);
    else
        most = ceil(most / (1U << l->window_scale));
    if (((unsigned)tcp[14] << 8 | tcp[15]) > most)
        put_window(tcp, (unsigned)most);
}

/* ---- packets that enter ---- */

/* The line of the depot whose address stands at `at`; 0 if there is none. */
static unsigned find_depot(const struct network *n, const unsigned char *data,
                           size_t len, size_t at)
{
    if (len < 20 || len > MTU || data[0] >> 4 != 4)
        return 0;
    for (unsigned i = 1; i < n->scenario.n_lines; i++) {
        const struct line *line = &n->scenario.lines[i];
        if (line->kind == LINE_DEPOT &&
            memcmp(&line->address, data + at, sizeof line->address) == 0)
            return i;
    }
    return 0;
}

void network_from_depot(struct network *n, const unsigned char *data,
                        size_t len, int64_t now)
{
    unsigned depot = find_depot(n, data, len, 12);
    struct state *l = &n->lines[depot];

    if (depot == 0)
        return;
    l->counts.sent_packets++;
    l->counts.sent_bytes += len;
    if (l->quality.is_down)
        return;
    if (l->quality.loss > 0 && uniform(&l->loss_random) < l->quality.loss) {
        l->counts.lost_packets++;
        return;
    }
    enter(n, new_packet(n, depot, data, len), depot, now);
}

void network_from_client(struct network *n, const unsigned char *data,
                         size_t len, int64_t now)
{
    unsigned depot = find_depot(n, data, len, 16);
    struct state *l = &n->lines[depot];

    if (depot == 0)
        return;
    if (!n->has_begun) {
        n->has_begun = true;
        n->began = now;
    }
    l->counts.connections += is_first_of_connection(data, len);
    if (l->quality.is_down)
        return;
    if (l->last_in < now + l->quality.delay)
        l->last_in = now + l->quality.delay;
    struct packet *p = new_packet(n, depot, data, len);
    bound_window(l, p->data, len);
    schedule(n, p, TO_DEPOT, l->last_in);
}

static void deliver(struct network *n, struct packet *p)
{
    struct counts *c = &n->lines[p->depot].counts;

    if (p->what == TO_CLIENT) {
        c->delivered_packets++;
        c->delivered_bytes += p->len;
        c->payload_bytes += payload_of(p->data, p->len);
    }
    n->deliver(n->user, p->what == TO_CLIENT, p->data, p->len, p->when);
    drop(n, p);
}

/* ---- time ---- */

static int64_t next_change_at(const struct network *n)
{
    if (!n->has_begun || n->next_change == n->scenario.n_changes)
        return INT64_MAX;
    return n->began + n->scenario.changes[n->next_change].at;
}

static void step(struct network *n)
{
    struct packet *p = take_first(n);

    if (p->what == ENTERS)
        enter(n, p, 0, p->when);
    else if (p->what == LEAVES)
        leave(n, p, p->when);
    else
        deliver(n, p);
}

int64_t network_run(struct network *n, int64_t now)
{
    for (;;) {
        int64_t packet = n->n_heap ? n->heap[0]->when : INT64_MAX;
        int64_t change = next_change_at(n);
        int64_t next = packet < change ? packet : change;

        if (next > now)
            return next;
        if (change <= packet) {
            struct change *c = &n->scenario.changes[n->next_change++];
            quality_change(&n->lines[c->line].quality, c);
        } else {
            step(n);
        }
    }
}

struct network *network_new(const struct scenario *s, uint64_t seed,
                            network_deliver_fn *deliver_fn, void *user)
{
    struct network *n = calloc(1, sizeof *n);

    if (!n)
        die("out of memory");
    n->scenario = *s;
    n->deliver = deliver_fn;
    n->user = user;
    for (unsigned i = 0; i < s->n_lines; i++) {
        n->lines[i].quality = s->lines[i].quality;
        n->lines[i].last = &n->lines[i].first;
        n->lines[i].loss_random = next_random(&seed);
        n->lines[i].jitter_random = next_random(&seed);
    }
    return n;
}

void network_free(struct network *n)
{
    if (!n)
        return;
    /* What waits in a queue behind its first is in no heap. */
    for (unsigned i = 0; i < n->scenario.n_lines; i++)
        while (n->lines[i].first && n->lines[i].first->next) {
            struct packet *p = n->lines[i].first->next;
            n->lines[i].first->next = p->next;
            free(p);
        }
    while (n->n_heap > 0)
        free(n->heap[--n->n_heap]);
    while (n->spare) {
        struct packet *p = n->spare;
        n->spare = p->next;
        free(p);
    }
    free(n->heap);
    free(n);
}

int64_t network_began(const struct network *n)
{
    return n->began;
}

const struct counts *network_counts(const struct network *n, unsigned line)
{
    return &n->lines[line].counts;
}

/*
 * What the engine does between the scheduler and the depots, in virtual time:
 * lanes, buffers, silence, pieces, the reader.
 */
#include "sim/run.h"

#include <string.h>

#include "base/alloc.h"
#include "sim/driver.h"
#include "sim/tcp.h"

/* As in engine/lane.c and engine/worker.c: a buffer is flushed when it is full
 * or half a second old. */
#define BUFFER_BYTES ((uint64_t)256 * 1024)
#define FLUSH_AFTER (XD_NSEC_SECOND / 2)

#define READER_STEP (20 * XD_NSEC_MS)
#define MOST_TIME (3600 * XD_NSEC_SECOND)

/* What was on its way when it was over still crosses the wire. */
#define AFTERMATH (XD_NSEC_SECOND / 10)

struct flight {
    bool is_live;
    uint64_t life; /* tells its timers from those of fetches before it */
    unsigned depot, lane;
    struct xd_range range;
    uint64_t got, flushed, redundant;
    struct xd_connection *connection;
    unsigned stream;
    xd_nsec began, first_byte, heard, buffered_since;
};

struct run {
    const struct xd_sim_options *o;
    struct xd_sim_result *out;
    struct xd_driver driver;
    struct xd_net net;
    struct xd_tcp tcp;
    struct flight *flights;
    unsigned n_flights;
    uint64_t n_begun;
    struct xd_rangeset here, lies; /* bytes that arrived; those of a liar */
    struct xd_rangeset accepted;
    bool is_news; /* the scheduler has something to think about */
    uint64_t reader;
    xd_nsec reader_at;
};

static xd_usec usec(xd_nsec t)
{
    return (xd_usec)(t / 1000);
}

static void tell(struct run *r, struct xd_sched_event ev)
{
    r->driver.now = usec(r->net.now);
    xd_driver_tell(&r->driver, ev);
    r->is_news = true;
}

static void run_out(struct run *r)
{
    r->driver.failed = r->driver.is_over = true;
}

static unsigned number_of(const struct run *r, const struct flight *f)
{
    return (unsigned)(f - r->flights);
}

static void set_timer(struct run *r, const struct flight *f,
                      enum xd_sim_kind kind, xd_nsec at)
{
    xd_net_timer(&r->net, kind, at, number_of(r, f), f->life);
}

static xd_nsec silent_at(const struct run *r, const struct flight *f)
{
    return f->heard + (xd_nsec)r->o->silence * 1000;
}

/* Bytes that count. */

static struct xd_range piece_at(const struct run *r, uint64_t byte)
{
    uint64_t begin = byte - byte % r->o->piece_bytes;
    uint64_t end = begin + r->o->piece_bytes;

    return (struct xd_range){begin, end < r->o->size ? end : r->o->size};
}

static void accept(struct run *r, struct xd_range range)
{
    if (xd_rangeset_add(&r->accepted, range) < 0)
        run_out(r);
    tell(r, (struct xd_sched_event){.kind = XD_EV_ACCEPTED, .range = range});
}

static void end_flight(struct run *r, struct flight *f,
                       enum xd_sched_event_kind kind);

/* Whoever lied is not believed again. */
static void ban_liars(struct run *r)
{
    for (unsigned i = 0; i < r->out->n_depots; i++) {
        if (!xd_net_wire(&r->net, i)->path.lies)
            continue;
        for (unsigned j = 0; j < r->n_flights; j++)
            if (r->flights[j].is_live && r->flights[j].depot == i)
                end_flight(r, &r->flights[j], XD_EV_CANCELED);
        tell(r, (struct xd_sched_event){.kind = XD_EV_BANNED, .depot = i});
    }
}

static void reject(struct run *r, struct xd_range piece)
{
    if (xd_rangeset_remove(&r->here, piece) < 0 ||
        xd_rangeset_remove(&r->lies, piece) < 0)
        run_out(r);
    tell(r, (struct xd_sched_event){.kind = XD_EV_REJECTED, .range = piece});
    ban_liars(r);
}

/* Pieces that `fresh` completed. */
static void judge(struct run *r, struct xd_range fresh)
{
    if (r->o->piece_bytes == 0) {
        accept(r, fresh);
        return;
    }
    while (fresh.begin < fresh.end) {
        struct xd_range piece = piece_at(r, fresh.begin);

        fresh.begin = piece.end;
        if (!xd_rangeset_contains(&r->here, piece))
            continue;
        if (xd_rangeset_overlap(&r->lies, piece) > 0)
            reject(r, piece);
        else
            accept(r, piece);
    }
}

static void keep(struct run *r, struct flight *f, struct xd_range all)
{
    struct xd_sim_depot *d = &r->out->depots[f->depot];
    bool lies = xd_net_wire(&r->net, f->depot)->path.lies;
    uint64_t kept = 0, length = xd_range_length(all);

    while (!xd_range_is_empty(all)) {
        struct xd_range gap = xd_rangeset_next_gap(&r->here, all);

        all.begin = gap.end;
        if (xd_range_is_empty(gap))
            break;
        if (xd_rangeset_add(&r->here, gap) < 0 ||
            (lies && xd_rangeset_add(&r->lies, gap) < 0))
            run_out(r);
        kept += xd_range_length(gap);
        judge(r, gap);
    }
    d->bytes += kept;
    d->redundant += length - kept;
    f->redundant += length - kept;
}

/* Flights. */

static void flush(struct run *r, struct flight *f)
{
    struct xd_range fresh = {f->flushed, f->got};

    if (xd_range_is_empty(fresh))
        return;
    f->flushed = f->got;
    tell(r, (struct xd_sched_event){.kind = XD_EV_BYTES,
                                    .fetch = number_of(r, f),
                                    .range = {f->range.begin, f->got}});
    keep(r, f, fresh);
}

static void record(struct run *r, const struct flight *f,
                   enum xd_sched_event_kind kind)
{
    struct xd_sim_record record = {
        .depot = f->depot,
        .lane = f->lane,
        .range = f->range,
        .received = f->got - f->range.begin,
        .redundant = f->redundant,
        .began = usec(f->began),
        .heard = f->first_byte < 0 ? XD_NEVER : usec(f->first_byte),
        .ended = usec(r->net.now),
        .how = kind == XD_EV_DONE     ? XD_SIM_DONE
               : kind == XD_EV_FAILED ? XD_SIM_FAILED
                                      : XD_SIM_STOPPED};

    if (r->o->record)
        r->o->record(r->o->record_user, &record);
}

/* The rest of an answer is dropped with its connection, unless that is good for
 * others. */
static void hang_up(struct run *r, const struct flight *f, bool has_failed)
{
    struct xd_connection *c = f->connection;

    if (r->o->has_http2 &&
        (xd_tcp_load(c) > 1 || (!has_failed && c->state == XD_CONN_READY)))
        xd_tcp_stop(&r->tcp, c, f->stream);
    else
        xd_tcp_close(&r->tcp, c);
}

static void end_flight(struct run *r, struct flight *f,
                       enum xd_sched_event_kind kind)
{
    if (!f->is_live)
        return;
    if (kind != XD_EV_DONE)
        hang_up(r, f, kind == XD_EV_FAILED);
    flush(r, f);
    if (!f->is_live) /* a liar that was found out by its last bytes */
        return;
    f->is_live = false;
    r->out->depots[f->depot].failures += kind == XD_EV_FAILED;
    record(r, f, kind);
    tell(r, (struct xd_sched_event){.kind = kind,
                                    .fetch = number_of(r, f),
                                    .range = {f->range.begin, f->flushed}});
}

static void on_bytes(void *user, unsigned tag, uint64_t n)
{
    struct run *r = user;
    struct flight *f = &r->flights[tag];

    f->heard = r->net.now;
    if (f->first_byte < 0) {
        f->first_byte = r->net.now;
        tell(r, (struct xd_sched_event){.kind = XD_EV_STARTED,
                                        .fetch = tag,
                                        .range = {f->range.begin, f->got}});
    }
    if (f->got == f->flushed && n > 0) {
        f->buffered_since = r->net.now;
        set_timer(r, f, XD_SIM_FLUSH_TIMER, r->net.now + FLUSH_AFTER);
    }
    f->got += n;
    if (f->got == f->range.end)
        end_flight(r, f, XD_EV_DONE);
    else if (f->got - f->flushed >= BUFFER_BYTES ||
             (r->o->sched.window_bytes > 0 && n > 0))
        flush(r, f);
}

static void on_broken(void *user, unsigned tag)
{
    struct run *r = user;

    end_flight(r, &r->flights[tag], XD_EV_FAILED);
}

static void flight_timer(struct run *r, struct flight *f, enum xd_sim_kind kind)
{
    if (kind == XD_SIM_FLUSH_TIMER) {
        if (r->net.now >= f->buffered_since + FLUSH_AFTER)
            flush(r, f);
    } else if (r->net.now >= silent_at(r, f)) {
        end_flight(r, f, XD_EV_FAILED);
    } else {
        set_timer(r, f, kind, silent_at(r, f));
    }
}

/* With HTTP/2 the first, else one that is idle. */
static struct xd_connection *find_connection(struct run *r, unsigned depot)
{
    for (unsigned i = 0; i < r->tcp.n_connections; i++) {
        struct xd_connection *c = r->tcp.connections[i];

        if (c->depot == depot && c->state != XD_CONN_CLOSED &&
            (r->o->has_http2 || xd_tcp_load(c) == 0))
            return c;
    }
    r->out->depots[depot].connections++;
    return xd_tcp_connect(&r->tcp, depot);
}

static struct flight *flight_of(struct run *r, unsigned fetch)
{
    unsigned n = fetch + 16;
    struct flight *grown;

    if (fetch < r->n_flights)
        return &r->flights[fetch];
    grown = xd_realloc(r->flights, n, sizeof *grown);
    if (!grown)
        return NULL;
    memset(grown + r->n_flights, 0, (n - r->n_flights) * sizeof *grown);
    r->flights = grown;
    r->n_flights = n;
    return &grown[fetch];
}

static void take_off(struct run *r, const struct xd_sched_action *a)
{
    struct flight *f = flight_of(r, a->fetch);
    struct xd_connection *c = f ? find_connection(r, a->depot) : NULL;

    if (!c) {
        run_out(r);
        return;
    }
    *f = (struct flight){.is_live = true,
                         .life = ++r->n_begun,
                         .depot = a->depot,
                         .lane = a->lane,
                         .range = a->range,
                         .got = a->range.begin,
                         .flushed = a->range.begin,
                         .connection = c,
                         .began = r->net.now,
                         .first_byte = -1,
                         .heard = r->net.now};
    f->stream = xd_tcp_request(&r->tcp, c, a->fetch, xd_range_length(a->range));
    if (r->tcp.failed)
        run_out(r);
    r->out->depots[a->depot].requests++;
    set_timer(r, f, XD_SIM_SILENCE_TIMER, silent_at(r, f));
}

static void carry_out(void *world, const struct xd_sched_action *a)
{
    struct run *r = world;

    if (a->kind == XD_DO_FETCH)
        take_off(r, a);
    else if (a->kind == XD_DO_CANCEL)
        end_flight(r, &r->flights[a->fetch], XD_EV_CANCELED);
}

/* The reader. */

static void read_on(struct run *r)
{
    uint64_t rate = r->o->reader_bytes_per_s, most = UINT64_MAX;
    struct xd_range rest = {r->reader, r->o->size};
    uint64_t to = xd_rangeset_next_gap(&r->accepted, rest).begin;

    if (rate > 0) {
        most = rate * (uint64_t)READER_STEP / (uint64_t)XD_NSEC_SECOND + 1;
        r->reader_at = r->net.now + READER_STEP;
    }
    if (to - r->reader > most)
        to = r->reader + most;
    if (to == r->reader)
        return;
    r->reader = to;
    tell(r,
         (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                 .range = {to, to + r->o->sched.window_bytes}});
}

/* Time goes on. */

static bool is_flights(const struct xd_sim_event *e)
{
    return e->kind == XD_SIM_FLUSH_TIMER || e->kind == XD_SIM_SILENCE_TIMER;
}

static void happen(struct run *r, const struct xd_sim_event *e)
{
    if (!is_flights(e))
        xd_tcp_event(&r->tcp, e);
    else if (r->flights[e->number].is_live &&
             r->flights[e->number].life == e->life)
        flight_timer(r, &r->flights[e->number], e->kind);
    if (r->tcp.failed || r->net.events.failed)
        run_out(r);
}

/* Decide; returns until when nothing but an event changes anything. */
static xd_nsec decide(struct run *r)
{
    xd_nsec until = MOST_TIME;
    xd_usec wait = XD_NEVER;

    r->driver.now = usec(r->net.now);
    do {
        r->is_news = false;
        if (r->o->sched.window_bytes > 0 && r->net.now >= r->reader_at)
            read_on(r);
        wait = xd_driver_act(&r->driver);
    } while (r->is_news && !r->driver.is_over);
    if (wait < (xd_usec)(until / 1000))
        until = (xd_nsec)wait * 1000;
    if (r->reader_at > r->net.now && r->reader_at < until)
        until = r->reader_at;
    return until;
}

static void fly(struct run *r)
{
    struct xd_sim_event e;

    while (!r->driver.is_over) {
        xd_nsec until = decide(r);

        while (!r->is_news && !r->driver.is_over) {
            if (xd_net_next(&r->net, until, &e)) {
                happen(r, &e);
            } else {
                r->net.now = until;
                r->is_news = true;
            }
        }
        if (r->net.now >= MOST_TIME)
            r->driver.is_over = r->driver.is_endless = true;
    }
}

static void settle(struct run *r)
{
    xd_nsec until = r->net.now + AFTERMATH;
    struct xd_sim_event e;

    r->out->took = usec(r->net.now);
    for (unsigned i = 0; i < r->n_flights; i++)
        if (r->flights[i].is_live)
            record(r, &r->flights[i], XD_EV_CANCELED);
    for (unsigned i = 0; i < r->tcp.n_connections; i++)
        xd_tcp_close(&r->tcp, r->tcp.connections[i]);
    while (xd_net_next(&r->net, until, &e))
        if (!is_flights(&e))
            xd_tcp_event(&r->tcp, &e);
    for (size_t i = 0; i < r->out->n_depots; i++) {
        r->out->depots[i].wire = xd_net_wire(&r->net, i)->delivered;
        r->out->wire += xd_net_wire(&r->net, i)->delivered;
    }
    r->out->is_complete = r->driver.is_complete;
    r->out->is_endless = r->driver.is_endless;
    r->out->broken = r->driver.broken;
}

static int start(struct run *r, const struct xd_scenario *s)
{
    struct xd_range whole = {0, r->o->size};
    struct xd_tcp_user user = {r, on_bytes, on_broken};
    struct xd_layout layout = {.size = r->o->size, .n_depots = s->n_depots};
    int rc;

    r->out->depots = xd_alloc(s->n_depots, sizeof *r->out->depots);
    layout.depots = xd_alloc(s->n_depots, sizeof *layout.depots);
    if (!r->out->depots || !layout.depots) {
        xd_free(layout.depots);
        return XD_E_NOMEM;
    }
    r->out->n_depots = s->n_depots;
    for (size_t i = 0; i < s->n_depots; i++)
        layout.depots[i] = (struct xd_holding){&whole, 1, 0};
    r->driver.world = r;
    r->driver.carry_out = carry_out;
    rc = xd_net_init(&r->net, s, r->o->seed);
    if (rc == 0)
        rc = xd_driver_start(&r->driver, &layout, &r->o->sched, whole);
    xd_tcp_init(&r->tcp, &r->net, &user);
    r->tcp.has_tls = r->o->has_tls;
    r->tcp.has_bbr = r->o->has_bbr;
    xd_free(layout.depots);
    return rc;
}

int xd_sim_run(const struct xd_scenario *s, const struct xd_sim_options *o,
               struct xd_sim_result *out)
{
    struct run r = {.o = o, .out = out};
    int rc;

    *out = (struct xd_sim_result){.n_depots = 0};
    rc = start(&r, s);
    if (rc == 0)
        fly(&r);
    if (rc == 0 && !r.driver.failed)
        settle(&r);
    if (r.driver.failed)
        rc = XD_E_NOMEM;
    xd_driver_fini(&r.driver);
    xd_tcp_fini(&r.tcp);
    xd_net_fini(&r.net);
    xd_rangeset_fini(&r.here);
    xd_rangeset_fini(&r.lies);
    xd_rangeset_fini(&r.accepted);
    xd_free(r.flights);
    return rc;
}

void xd_sim_result_fini(struct xd_sim_result *r)
{
    xd_free(r->depots);
    *r = (struct xd_sim_result){.n_depots = 0};
}

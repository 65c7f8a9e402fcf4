/* SPDX-License-Identifier: MIT */
/* The table is a mutable global, because a host does not care which download
 * of the process sends a request.  Its size is fixed, so there is nothing to
 * free. */
#include "transfer/hosts.h"

#include <string.h>

#include "base/string_hash.h"
#include "os/clock.h"
#include "os/thread.h"

/* Limit on the hosts that are in use or have refused requests. */
#define MOST_HOSTS 2048u
#define PROBES 64u /* entries of the hash table to look at for one host */

/* Failed requests that are remembered; new ones replace old ones. */
#define MOST_FAILURES 16384u

struct xd_host {
    uint64_t key; /* 0: unused */
    unsigned n_references;
    struct xd_governor governor;
};

static struct xd_mutex lock = {PTHREAD_MUTEX_INITIALIZER}; /* a leaf lock */
/* guarded by lock */
static struct xd_host hosts[MOST_HOSTS];
/* guarded by lock */
static uint64_t failures[MOST_FAILURES];

static bool is_free_locked(struct xd_host *h, xd_usec now)
{
    return h->key == 0 ||
           (h->n_references == 0 && xd_governor_is_idle(&h->governor, now));
}

struct xd_host *xd_host_take(const struct xd_url *url)
{
    struct xd_host *found = NULL, *place = NULL;
    const xd_usec now = xd_now();
    uint64_t key;

    if (!url->is_valid || url->scheme == XD_SCHEME_FILE)
        return NULL;
    key = xd_url_hash_depot(url);
    key += key == 0;
    xd_mutex_lock(&lock);
    for (unsigned i = 0; i < PROBES && !found; i++) {
        struct xd_host *h = &hosts[(key + i) % MOST_HOSTS];

        if (h->key == key)
            found = h;
        else if (!place && is_free_locked(h, now))
            place = h;
    }
    if (!found && place) {
        found = place;
        *found = (struct xd_host){.key = key, .governor.seed = key ^ now};
    }
    if (found)
        found->n_references++;
    xd_mutex_unlock(&lock);
    return found;
}

void xd_host_release(struct xd_host *h)
{
    if (!h)
        return;
    xd_mutex_lock(&lock);
    h->n_references--;
    xd_mutex_unlock(&lock);
}

xd_usec xd_host_begin(struct xd_host *h, struct xd_governed *r, bool is_repeat,
                      xd_usec now)
{
    xd_usec at;

    *r = (struct xd_governed){.is_open = false};
    if (!h)
        return 0;
    xd_mutex_lock(&lock);
    at = xd_governor_ask(&h->governor, is_repeat, now);
    if (at <= now) {
        at = 0;
        xd_governor_begin(&h->governor, r, now);
    }
    xd_mutex_unlock(&lock);
    return at;
}

xd_usec xd_host_asked_until(struct xd_host *h)
{
    xd_usec until;

    if (!h)
        return 0;
    xd_mutex_lock(&lock);
    until = h->governor.asked_until;
    xd_mutex_unlock(&lock);
    return until;
}

struct xd_governor_terms xd_host_terms(struct xd_host *h, xd_usec now)
{
    struct xd_governor_terms terms = {.most_open = 0};

    if (!h)
        return terms;
    xd_mutex_lock(&lock);
    terms = xd_governor_terms(&h->governor, now);
    xd_mutex_unlock(&lock);
    return terms;
}

void xd_host_accepted(struct xd_host *h, struct xd_governed *r)
{
    if (!r->is_open || r->is_accepted)
        return;
    xd_mutex_lock(&lock);
    xd_governor_accepted(&h->governor, r);
    xd_mutex_unlock(&lock);
}

void xd_host_progress(struct xd_host *h, struct xd_governed *r)
{
    if (!r->is_open || r->has_progress)
        return;
    xd_mutex_lock(&lock);
    xd_governor_progress(&h->governor, r);
    xd_mutex_unlock(&lock);
}

xd_usec xd_host_end(struct xd_host *h, struct xd_governed *r,
                    enum xd_governed_end end, uint64_t bytes,
                    xd_usec retry_after, xd_usec now)
{
    xd_usec wait;

    if (!r->is_open)
        return 0;
    xd_mutex_lock(&lock);
    wait = xd_governor_end(&h->governor, r, end, bytes, retry_after, now);
    xd_mutex_unlock(&lock);
    return wait;
}

xd_usec xd_host_unreached(const struct xd_url *url)
{
    struct xd_host *h = xd_host_take(url);
    struct xd_governed r;
    const xd_usec now = xd_now();
    xd_usec wait;

    if (!h)
        return 0;
    xd_mutex_lock(&lock);
    xd_governor_begin(&h->governor, &r, now);
    wait = xd_governor_end(&h->governor, &r, XD_GOVERNED_UNREACHED, 0, 0, now);
    xd_mutex_unlock(&lock);
    xd_host_release(h);
    return wait;
}

static uint64_t failure_of(const struct xd_request *request)
{
    const char *fields = request->fields ? request->fields : "";

    return xd_string_hash_more(xd_url_hash(request->url) + 2 * request->offset +
                                   request->whole,
                               fields, strlen(fields));
}

bool xd_host_has_failed(const struct xd_request *request)
{
    const uint64_t failure = failure_of(request);
    bool has_failed;

    xd_mutex_lock(&lock);
    has_failed = failures[failure % MOST_FAILURES] == failure;
    xd_mutex_unlock(&lock);
    return has_failed;
}

void xd_host_note_failure(const struct xd_request *request)
{
    const uint64_t failure = failure_of(request);

    xd_mutex_lock(&lock);
    failures[failure % MOST_FAILURES] = failure;
    xd_mutex_unlock(&lock);
}

void xd_hosts_forget(void)
{
    xd_mutex_lock(&lock);
    memset(hosts, 0, sizeof hosts);
    memset(failures, 0, sizeof failures);
    xd_mutex_unlock(&lock);
}

#include <xdownload/checksums.h>
#include <xdownload/inspect.h>

#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/hosts.h"
#include "base/text.h"
#include "base/url.h"
#include "engine/options.h"
#include "io/transport.h"
#include "manifest/parse.h"
#include "os/thread.h"

/* So much decides what it is. */
#define DECIDES ((size_t)64 << 10)

/* So many are asked at a time. */
#define MAX_SLOTS 16u

/* Between two attempts: doubled by each of the first failures. */
#define FIRST_PAUSE (XD_SECOND / 4)
#define LONGEST_PAUSE (30 * XD_SECOND)

/* Who has not answered so long after the first is left. */
#define LEAST_GRACE (XD_SECOND / 2)

struct item {
    const char *url;
    char *name;          /* the URL, for sentences */
    char *final_url;     /* after redirects: what it says is relative to this */
    struct xd_text text; /* what came, while it may be a manifest */
    enum { ITEM_WAITS, ITEM_IS_ASKED, ITEM_IS_DONE } state;
    xd_usec not_before; /* while it waits */
    unsigned failures;
    bool has_answered, is_manifest;
    uint64_t size;
    struct xd_manifest *manifest;
    struct xd_error error;
};

struct xd_inspection {
    /* Constant while the thread runs. */
    struct item *items;
    size_t n;
    enum { FIND_OUT, ARE_MANIFESTS, ARE_TEXTS } what;
    xd_usec silence, max_time;
    const char *exclude; /* hosts, or NULL */
    unsigned max_failures;
    const struct xd_net_options *net; /* the caller's, or NULL */

    /* The thread's own. */
    struct xd_transport *transport;
    size_t slots[MAX_SLOTS]; /* the item in each, or n */
    unsigned n_slots;
    size_t n_done;
    bool has_run_out;          /* of the time allowed */
    xd_usec started, deadline; /* XD_NEVER: nobody has answered yet */
    struct xd_error error;
};

static struct item *item_of(struct xd_inspection *in, unsigned slot)
{
    return &in->items[in->slots[slot]];
}

static void set_deadline(struct xd_inspection *in)
{
    xd_usec now = xd_now(), grace = 2 * (now - in->started);

    if (in->deadline == XD_NEVER && in->what == FIND_OUT)
        in->deadline = now + (grace > LEAST_GRACE ? grace : LEAST_GRACE);
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct xd_inspection *in = user;
    struct item *item = item_of(in, slot);

    item->has_answered = true;
    item->size = head->object_size;
    xd_free(item->final_url);
    item->final_url = xd_strdup(head->final_url ? head->final_url : item->url);
    set_deadline(in);
    return item->final_url ? 0 : xd_fail_nomem(&item->error);
}

/* XD_E_CANCELED ends the request: it is known to be no manifest. */
static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct xd_inspection *in = user;
    struct item *item = item_of(in, slot);
    int is_manifest;

    xd_text_add(&item->text, data, len);
    if (item->text.failed)
        return xd_fail_nomem(&item->error);
    if (item->text.len > XD_MANIFEST_MAX)
        return xd_fail(&item->error, XD_E_MANIFEST,
                       "%s: longer than 64 MiB: no manifest is, and no file of "
                       "checksums",
                       item->name);
    if (in->what != FIND_OUT || item->is_manifest)
        return 0;
    is_manifest = xd_manifest_recognise(item->text.s, item->text.len);
    if (is_manifest < 0)
        return xd_fail_nomem(&item->error);
    item->is_manifest = is_manifest;
    if (item->is_manifest)
        return 0;
    return item->text.len >= DECIDES ||
                   !xd_manifest_may_begin(item->text.s, item->text.len)
               ? XD_E_CANCELED
               : 0;
}

static void understand(struct xd_inspection *in, struct item *item)
{
    if (in->what == ARE_TEXTS || (in->what == FIND_OUT && !item->is_manifest))
        return;
    if (xd_manifest_parse(&item->manifest, item->text.s, item->text.len,
                          item->final_url, &item->error) < 0)
        item->manifest = NULL;
}

/* It may answer later, after a pause that doubles, unless another has told
 * enough meanwhile. */
static bool asks_again(struct xd_inspection *in, struct item *item,
                       const struct xd_outcome *outcome)
{
    xd_usec pause =
        item->failures < 7 ? FIRST_PAUSE << item->failures : LONGEST_PAUSE;

    if (++item->failures >= in->max_failures || in->deadline != XD_NEVER ||
        in->has_run_out)
        return false;
    if (pause < outcome->retry_after)
        pause = outcome->retry_after;
    item->not_before = xd_now() + pause;
    item->state = ITEM_WAITS;
    return true;
}

static void finish(struct xd_inspection *in, struct item *item)
{
    item->state = ITEM_IS_DONE;
    in->n_done++;
}

static void fail_late(struct item *item)
{
    xd_fail(&item->error, XD_E_TIMEOUT,
            "%s: has not answered in the time allowed (max-time)", item->name);
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_inspection *in = user;
    struct item *item = item_of(in, slot);
    bool is_done = true;

    in->slots[slot] = in->n;
    switch (outcome->verdict) {
    case XD_VERDICT_OK:
        understand(in, item);
        break;
    case XD_VERDICT_STOPPED: /* no manifest, too long, no memory, or left */
        if (in->has_run_out)
            fail_late(item);
        else if (!item->has_answered)
            xd_fail(&item->error, XD_E_AGAIN, "%s: has not answered yet",
                    item->name);
        break;
    case XD_VERDICT_AGAIN:
        item->error = outcome->error;
        is_done = !asks_again(in, item, outcome);
        break;
    case XD_VERDICT_GONE:
    case XD_VERDICT_NO_RANGES:
    case XD_VERDICT_DIFFERENT:
    case XD_VERDICT_CHANGED:
        item->error = outcome->error;
        break;
    }
    if (in->what != ARE_TEXTS || item->error.code < 0)
        xd_text_fini(&item->text);
    if (is_done)
        finish(in, item);
}

/* 0, or why the URL must not be asked. */
static int check_host(const struct xd_inspection *in, struct item *item)
{
    struct xd_url url;
    int is_excluded =
        xd_url_split(item->url, &url) ? xd_hosts_have(in->exclude, &url) : 0;

    if (is_excluded < 0)
        return xd_fail_nomem(&item->error);
    return is_excluded ? xd_fail(&item->error, XD_E_NOREPLICA,
                                 "%s: its host is excluded", item->name)
                       : 0;
}

static void ask(struct xd_inspection *in, struct item *item, unsigned slot)
{
    struct xd_request request = {
        .url = item->url, .length = XD_TO_END, .object_size = XD_SIZE_UNKNOWN};

    item->error = (struct xd_error){0};
    item->has_answered = item->is_manifest = false;
    if (check_host(in, item) < 0 ||
        xd_transport_start(in->transport, slot, &request, &item->error) < 0) {
        finish(in, item);
        return;
    }
    item->state = ITEM_IS_ASKED;
    in->slots[slot] = (size_t)(item - in->items);
}

static unsigned free_slot(const struct xd_inspection *in)
{
    unsigned slot = 0;

    while (slot < in->n_slots && in->slots[slot] < in->n)
        slot++;
    return slot;
}

/* Ask those whose turn it is.  Returns when the next one's will be. */
static xd_usec ask_waiting(struct xd_inspection *in, xd_usec now)
{
    xd_usec next = XD_NEVER;

    for (size_t i = 0; i < in->n; i++) {
        struct item *item = &in->items[i];
        unsigned slot = free_slot(in);

        if (item->state != ITEM_WAITS || slot == in->n_slots)
            continue;
        if (item->not_before <= now)
            ask(in, item, slot);
        else if (item->not_before < next)
            next = item->not_before;
    }
    return next;
}

/* Others have told enough: who is late is left. */
static void leave_late(struct xd_inspection *in)
{
    for (size_t i = 0; i < in->n; i++) {
        if (in->items[i].state == ITEM_WAITS && in->items[i].failures > 0)
            finish(in, &in->items[i]);
    }
    for (unsigned slot = 0; slot < in->n_slots; slot++) {
        if (in->slots[slot] < in->n && !item_of(in, slot)->has_answered)
            xd_transport_stop(in->transport, slot);
    }
}

/* The time allowed is over. */
static void run_out(struct xd_inspection *in)
{
    in->has_run_out = true;
    for (size_t i = 0; i < in->n; i++) {
        if (in->items[i].state != ITEM_WAITS)
            continue;
        fail_late(&in->items[i]);
        finish(in, &in->items[i]);
    }
    for (unsigned slot = 0; slot < in->n_slots; slot++) {
        if (in->slots[slot] < in->n)
            xd_transport_stop(in->transport, slot);
    }
}

static xd_usec earlier(xd_usec a, xd_usec b)
{
    return a < b ? a : b;
}

static void *inspect_main(void *arg)
{
    struct xd_inspection *in = arg;
    struct xd_transport_handler handler = {
        .user = in, .head = on_head, .bytes = on_bytes, .end = on_end};
    struct xd_transport_config config = {
        .n_slots = in->n_slots, .silence = in->silence, .net = in->net};
    xd_usec end;

    if (xd_http_new(&in->transport, &config, &handler, &in->error) < 0)
        return NULL;
    in->started = xd_now();
    in->deadline = XD_NEVER;
    end = in->max_time > 0 ? in->started + in->max_time : XD_NEVER;
    while (in->n_done < in->n) {
        xd_usec now = xd_now(), until;

        if (now >= end)
            run_out(in);
        if (now >= in->deadline)
            leave_late(in);
        until = ask_waiting(in, now);
        if (now < in->deadline)
            until = earlier(until, in->deadline);
        if (now < end)
            until = earlier(until, end);
        if (in->n_done < in->n)
            xd_transport_poll(in->transport, until == XD_NEVER || until < now
                                                 ? XD_SECOND
                                                 : until - now);
    }
    xd_transport_free(in->transport);
    return NULL;
}

static int make(struct xd_inspection **out, const char *const *urls, size_t n)
{
    struct xd_inspection *in = xd_alloc(1, sizeof *in);

    if (!in)
        return XD_E_NOMEM;
    in->items = xd_alloc(n, sizeof *in->items);
    if (!in->items)
        goto fail;
    in->n = n;
    in->n_slots = n < MAX_SLOTS ? (unsigned)n : MAX_SLOTS;
    for (unsigned slot = 0; slot < in->n_slots; slot++)
        in->slots[slot] = n;
    for (size_t i = 0; i < n; i++) {
        in->items[i].url = urls[i];
        in->items[i].size = XD_SIZE_UNKNOWN;
        in->items[i].name = xd_url_public(urls[i]);
        if (!in->items[i].name)
            goto fail;
    }
    *out = in;
    return 0;

fail:
    xd_inspection_free(in);
    return XD_E_NOMEM;
}

/* `o` is not NULL.  On a thread of its own, for a TLS write may raise
 * SIGPIPE. */
static int inspect(struct xd_inspection *in, const struct xd_options *o,
                   struct xd_error *err)
{
    struct xd_thread thread;

    in->silence = o->silence;
    in->max_time = o->max_time;
    in->exclude = o->exclude;
    in->max_failures = (unsigned)o->retry;
    in->net = &o->net;
    if (xd_thread_start(&thread, inspect_main, in) < 0)
        return xd_fail_nomem(err);
    xd_thread_join(&thread);
    if (in->error.code < 0 && err)
        *err = in->error;
    return in->error.code;
}

int xd_inspect(struct xd_inspection **out, const char *const *urls, size_t n,
               int are_manifests, const struct xd_options *o,
               struct xd_error *err)
{
    struct xd_options defaults;
    struct xd_inspection *in;
    int rc;

    *out = NULL;
    if (n == 0)
        return xd_fail(err, XD_E_INVAL, "no URL was given");
    xd_options_init(&defaults);
    if (make(&in, urls, n) < 0)
        return xd_fail_nomem(err);
    in->what = are_manifests ? ARE_MANIFESTS : FIND_OUT;
    rc = inspect(in, o ? o : &defaults, err);
    if (rc < 0)
        xd_inspection_free(in);
    else
        *out = in;
    return rc;
}

int xd_checksums_fetch(struct xd_checksums *c, const char *url,
                       const struct xd_options *o, struct xd_error *err)
{
    struct xd_options defaults;
    struct xd_inspection *in;
    int rc;

    xd_options_init(&defaults);
    if (make(&in, &url, 1) < 0)
        return xd_fail_nomem(err);
    in->what = ARE_TEXTS;
    rc = inspect(in, o ? o : &defaults, err);
    if (rc == 0 && in->items[0].error.code < 0) {
        rc = in->items[0].error.code;
        if (err)
            *err = in->items[0].error;
    }
    if (rc == 0)
        rc = xd_checksums_parse(c, in->items[0].text.s, in->items[0].text.len,
                                url, err);
    xd_inspection_free(in);
    return rc;
}

int xd_inspection_get(const struct xd_inspection *in, size_t i,
                      struct xd_inspected *out)
{
    struct xd_inspected inspected = {0};

    if (i >= in->n)
        return XD_E_INVAL;
    inspected.code = in->items[i].error.code;
    inspected.manifest = in->items[i].manifest;
    inspected.size = in->items[i].size;
    memcpy(inspected.message, in->items[i].error.msg, sizeof inspected.message);
    xd_copy_out(out, &inspected, sizeof inspected);
    return 0;
}

void xd_inspection_free(struct xd_inspection *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < in->n; i++) {
        xd_free(in->items[i].name);
        xd_free(in->items[i].final_url);
        xd_text_fini(&in->items[i].text);
        xd_manifest_unref(in->items[i].manifest);
    }
    xd_free(in->items);
    xd_free(in);
}

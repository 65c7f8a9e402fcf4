/* SPDX-License-Identifier: MIT */
#include "engine/api/cancelable_batch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "os/clock.h"

/* Maximum number of simultaneous requests.  More are not needed: few
 * connections go to one host, and depots that have answered make room for
 * others. */
#define MAX_SLOTS 16u

void xd_cancelable_batch_free(void *user)
{
    struct xd_cancelable_batch *a = user;

    xd_batch_free(a->batch);
    xd_options_fini(&a->options);
    xd_free(a);
}

static void cancel_batch(void *user)
{
    xd_batch_cancel(user);
}

/* Logs "connecting to d3..." or "waiting for d3, 5 s". */
static void report_wait(void *user, const struct xd_url *url, bool is_connected,
                        xd_usec waited)
{
    const struct xd_options *o = user;
    struct xd_text line = {0};
    char *host = url->is_valid ? xd_url_depot(url) : NULL;

    if (host && is_connected)
        xd_text_addf(&line, "waiting for %s, %llu s", host,
                     (unsigned long long)(waited / XD_SECOND));
    else if (host)
        xd_text_addf(&line, "connecting to %s...", host);
    if (host && !line.failed)
        o->log(o->log_user, XD_LOG_STATUS, line.s);
    xd_text_fini(&line);
    xd_free(host);
}

int xd_cancelable_batch_new(struct xd_cancelable_batch **out,
                            const struct xd_options *o, size_t n_requests,
                            struct xd_error *err)
{
    struct xd_cancelable_batch *a = xd_alloc(1, sizeof *a);
    struct xd_batch_config config;
    int rc;

    if (!a || xd_options_copy(&a->options, o) < 0) {
        xd_free(a);
        return xd_fail_nomem(err);
    }
    /* The request that inspection started may hold a reference to this
     * batch. */
    xd_begun_place_unref(a->options.begun);
    a->options.begun = NULL;
    o = &a->options;
    a->until = o->max_time > 0 ? xd_now() + o->max_time : XD_NEVER;
    config = xd_options_batch(o);
    if (o->log)
        config.waits = report_wait;
    config.user = &a->options;
    a->n_slots = n_requests < MAX_SLOTS ? (unsigned)n_requests : MAX_SLOTS;
    rc = xd_batch_new(&a->batch, &config, a->n_slots, err);
    if (rc < 0) {
        xd_cancelable_batch_free(a);
        return rc;
    }
    xd_cancel_attach(o->cancel, &a->hook, cancel_batch, a->batch);
    *out = a;
    return 0;
}

void xd_cancelable_batch_keep(struct xd_cancelable_batch *a,
                              const struct xd_options *o)
{
    xd_cancel_detach(o ? o->cancel : NULL, &a->hook);
}

int xd_cancelable_batch_end(struct xd_cancelable_batch *a,
                            const struct xd_options *o, int rc,
                            struct xd_error *err)
{
    struct xd_cancel *cancel = o ? o->cancel : NULL;

    xd_cancel_detach(cancel, &a->hook);
    xd_cancel_dispose(cancel, &a->cleanup, xd_cancelable_batch_free, a);
    if (cancel && xd_cancel_is_triggered(cancel))
        rc = xd_fail(err, XD_E_CANCELED, "the caller has canceled it");
    return rc;
}

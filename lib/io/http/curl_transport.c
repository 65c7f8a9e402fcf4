/* SPDX-License-Identifier: MIT */
#include "io/http/curl_transport.h"

#include <errno.h>

#include "base/defence.h"
#include "base/error.h"
#include "io/http/curl_global.h"

/* Fails if the handle cannot be woken, because libcurl had no free descriptors
 * when it made the handle. */
static int check_wakeup(CURLM *multi, struct xd_error *err)
{
    if (curl_multi_wakeup(multi) == CURLM_OK)
        return 0;
    return xd_fail_errno(err, XD_E_IO, EMFILE,
                         "no descriptors are left for another depot");
}

int xd_curl_transport_init(struct xd_curl_transport *t,
                           const struct xd_transport_ops *ops,
                           const struct xd_transport_config *config,
                           const struct xd_transport_handler *handler,
                           unsigned n_idle, struct xd_error *err)
{
    int rc = xd_curl_global_init(err);

    if (rc < 0)
        return rc;
    t->base.ops = ops;
    t->handler = handler;
    t->silence = XD_DEFENDS("silence") ? config->silence : XD_NEVER;
    t->first_byte = config->first_byte;
    xd_silence_clock_init(&t->clock);
    t->multi = curl_multi_init();
    if (t->multi == NULL || curl_multi_setopt(t->multi, CURLMOPT_MAXCONNECTS,
                                              (long)n_idle) != CURLM_OK)
        return xd_fail_nomem(err);
    rc = check_wakeup(t->multi, err);
    return rc < 0 ? rc
                  : xd_http_options_init(&t->options, config->net,
                                         config->context, err);
}

void xd_curl_transport_fini(struct xd_curl_transport *t)
{
    curl_multi_cleanup(t->multi);
    xd_http_options_fini(&t->options);
}

CURLMcode xd_curl_transport_wait(struct xd_curl_transport *t,
                                 struct curl_waitfd *others, unsigned n,
                                 xd_usec timeout, xd_usec silence_left)
{
    xd_usec most = xd_earlier(timeout, silence_left);
    xd_usec ms = most / XD_MS + (most % XD_MS != 0);
    CURLMcode rc = curl_multi_poll(t->multi, others, n, (int)ms, NULL);

    xd_silence_clock_look(&t->clock, ms * XD_MS);
    return rc;
}

void xd_curl_transport_wakeup(struct xd_transport *t)
{
    curl_multi_wakeup(((struct xd_curl_transport *)t)->multi);
}

void xd_curl_transport_set_silence(struct xd_transport *base, xd_usec silence,
                                   xd_usec first_byte)
{
    struct xd_curl_transport *t = (struct xd_curl_transport *)base;

    if (XD_DEFENDS("silence"))
        t->silence = silence;
    t->first_byte = first_byte;
}

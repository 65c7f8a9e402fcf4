/* SPDX-License-Identifier: MIT */
/*
 * Asks the depots of a file for the state of its replicas, by a batch of
 * requests without bodies.
 */
#include <xdpublish/probe.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "engine/api/cancelable_batch.h"
#include "manifest/parity.h"
#include "transfer/registry.h"

struct xd_probe {
    struct xd_manifest *manifest;
    size_t file;
    struct xd_probed *rows; /* one for each replica of the file, then one for
                               each replica of parity */
    char **errors;          /* error messages or NULL; the rows point to them */
    size_t n, n_of_file;
    struct xd_request *requests; /* used while they run */
    struct xd_url *urls;         /* URL of each request; the strings belong to
                                    the manifest */
    size_t *asked;               /* index of the row of each request */
    size_t n_asked;
};

static int on_head(void *user, size_t i, const struct xd_head *head)
{
    struct xd_probe *p = user;
    struct xd_probed *row = &p->rows[p->asked[i]];

    row->state = XD_PROBE_ANSWERED;
    row->written = head->state->written;
    row->allocated = head->state->allocated;
    row->lifetime_s = head->state->lifetime_s;
    return 0;
}

static int on_bytes(void *user, size_t i, const void *data, size_t len)
{
    (void)user, (void)i, (void)data, (void)len;
    return XD_E_CANCELED; /* no bytes were requested */
}

static void on_end(void *user, size_t i, const struct xd_outcome *outcome)
{
    struct xd_probe *p = user;
    struct xd_probed *row = &p->rows[p->asked[i]];

    if (row->state == XD_PROBE_ANSWERED)
        return;
    row->state = XD_PROBE_FAILED;
    row->error = p->errors[p->asked[i]] = xd_strdup(outcome->error.msg);
}

static int run(struct xd_probe *p, const struct xd_options *o,
               struct xd_error *err)
{
    const struct xd_batch_handler handler = {
        .user = p, .head = on_head, .bytes = on_bytes, .end = on_end};
    struct xd_batch_times times = {
        .first = XD_NEVER, .grace = XD_NEVER, .turn = XD_NEVER};
    struct xd_options once;
    struct xd_cancelable_batch *requests;
    int rc;

    if (xd_options_copy(&once, o) < 0)
        return xd_fail_nomem(err);
    once.retry = 1;
    rc = xd_cancelable_batch_new(&requests, &once, p->n_asked, err);
    if (rc == 0) {
        times.until = requests->until;
        rc = xd_batch_run(requests->batch, p->requests, p->n_asked, &times,
                          &handler, err);
        rc = xd_cancelable_batch_end(requests, &once, rc, err);
    }
    xd_options_fini(&once);
    return rc;
}

/* Marks the row as failed if the options exclude its host, which must not see
 * the manage capability.  Errors: NOMEM. */
static int refuse(struct xd_probe *p, const struct xd_choice *choice,
                  const struct xd_url *url, size_t i)
{
    const char *why;
    struct xd_error error;
    int is_refused = xd_choice_refuses(choice, url, &why);

    if (is_refused <= 0)
        return is_refused;
    xd_fail(&error, XD_E_NOREPLICA, "%s: %s", xd_url_name(url).s, why);
    p->rows[i].state = XD_PROBE_FAILED;
    p->rows[i].error = p->errors[i] = xd_strdup(error.msg);
    return p->errors[i] ? 1 : XD_E_NOMEM;
}

/* Adds a request for row `i`, if its depot supports probes and may be asked.
 * Errors: NOMEM. */
static int add_request(struct xd_probe *p, const struct xd_choice *choice,
                       const struct xd_url *read, const char *manage, size_t i)
{
    struct xd_url *url = &p->urls[p->n_asked];
    const struct xd_transport_kind *kind;
    int is_refused;

    p->rows[i].struct_size = sizeof p->rows[i];
    *url = *read;
    kind = xd_transport_kind_of(url);
    if (!kind || !kind->can_probe)
        return 0;
    if (manage)
        xd_url_parse(url, manage);
    is_refused = refuse(p, choice, url, i);
    if (is_refused != 0)
        return is_refused < 0 ? is_refused : 0;
    p->rows[i].right = manage ? XD_MAY_MANAGE : XD_MAY_READ;
    p->asked[p->n_asked] = i;
    p->requests[p->n_asked++] =
        (struct xd_request){.url = url,
                            .length = 1,
                            .object_size = XD_SIZE_UNKNOWN,
                            .asks_state = true};
    return 0;
}

static int add_requests(struct xd_probe *p, const struct xd_model_file *f,
                        const struct xd_options *o)
{
    const struct xd_choice choice =
        o ? xd_options_choice(o) : (struct xd_choice){0};
    size_t at = p->n_of_file;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < p->n_of_file; i++)
        rc = add_request(p, &choice, &f->urls[i], xd_model_manage(f, i), i);
    for (size_t i = 0; i < f->rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &f->rare->stripes[i];

        for (size_t k = 0; rc == 0 && k < s->n_replicas; k++)
            rc = add_request(p, &choice, &s->replicas[k].url,
                             s->replicas[k].manage, at++);
    }
    return rc;
}

static int make_requests(struct xd_probe *p, const struct xd_options *o,
                         struct xd_error *err)
{
    const struct xd_model_file *f = &p->manifest->files[p->file];

    p->n_of_file = xd_model_n_replicas(f);
    p->n = p->n_of_file + xd_stripes_n_replicas(f);
    if (p->n == 0)
        return 0;
    p->rows = xd_alloc(p->n, sizeof *p->rows);
    p->errors = xd_alloc(p->n, sizeof *p->errors);
    p->requests = xd_alloc(p->n, sizeof *p->requests);
    p->asked = xd_alloc(p->n, sizeof *p->asked);
    p->urls = xd_alloc(p->n, sizeof *p->urls);
    if (!p->urls || !p->rows || !p->errors || !p->requests || !p->asked)
        return xd_fail_nomem(err);
    return add_requests(p, f, o) < 0 ? xd_fail_nomem(err) : 0;
}

/* Fails if there was no memory to store an error message. */
static int check_errors(const struct xd_probe *p, struct xd_error *err)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->rows[i].state == XD_PROBE_FAILED && !p->rows[i].error)
            return xd_fail_nomem(err);
    }
    return 0;
}

int xd_probe_new(struct xd_probe **out, struct xd_manifest *m, size_t file,
                 const struct xd_options *o, struct xd_error *err)
{
    struct xd_probe *p;
    int rc;

    *out = NULL;
    if (file >= m->n_files)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    p = xd_alloc(1, sizeof *p);
    if (!p)
        return xd_fail_nomem(err);
    p->manifest = xd_manifest_ref(m);
    p->file = file;
    rc = make_requests(p, o, err);
    if (rc == 0 && p->n_asked > 0)
        rc = run(p, o, err);
    if (rc == 0)
        rc = check_errors(p, err);
    if (rc < 0) {
        xd_probe_free(p);
        return rc;
    }
    *out = p;
    return 0;
}

int xd_probe_get(const struct xd_probe *p, size_t extent, size_t replica,
                 struct xd_probed *out)
{
    const struct xd_model_file *f = &p->manifest->files[p->file];
    const struct xd_model_extent *e;

    if (extent >= f->n_extents)
        return XD_E_INVAL;
    e = &f->extents[extent];
    if (replica >= e->n_replicas)
        return XD_E_INVAL;
    xd_copy_out(out, &p->rows[e->first_replica + replica], sizeof *out);
    return 0;
}

int xd_probe_get_shard(const struct xd_probe *p, size_t stripe, size_t shard,
                       size_t replica, struct xd_probed *out)
{
    const struct xd_model_rare *rare = p->manifest->files[p->file].rare;
    const struct xd_model_shard *named;

    if (stripe >= rare->n_stripes || shard >= rare->stripes[stripe].n)
        return XD_E_INVAL;
    named = xd_stripe_shard(&rare->stripes[stripe], (unsigned)shard);
    if (!named || replica >= named->n_replicas)
        return XD_E_INVAL;
    xd_copy_out(out,
                &p->rows[p->n_of_file + rare->stripes[stripe].first_place +
                         named->first_replica + replica],
                sizeof *out);
    return 0;
}

void xd_probe_free(struct xd_probe *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->errors && i < p->n; i++)
        xd_free(p->errors[i]);
    xd_free(p->errors);
    xd_free(p->rows);
    xd_free(p->requests);
    xd_free(p->urls);
    xd_free(p->asked);
    xd_manifest_unref(p->manifest);
    xd_free(p);
}

/* SPDX-License-Identifier: MIT */
#include "engine/via_ask.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/begun.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/resume.h"
#include "engine/source.h"
#include "engine/trust/validators.h"
#include "engine/via.h"
#include "manifest/hashes.h"
#include "manifest/join.h"
#include "manifest/model.h"
#include "os/clock.h"
#include "transfer/batch.h"

/* Maximum wait for an origin whose answer is not essential, because hashes
 * prove all of the file. */
#define GRACE (2 * XD_SECOND)

/* Maximum number of attempts, in case the connection breaks. */
#define ATTEMPTS 2

/* What the origin's response says about the file. */
struct asked {
    const struct xd_url *url;
    char validator[XD_VIA_FIELDS]; /* or "" */
    uint64_t size;
    bool redirects;
    struct xd_error error; /* code XD_OK: the origin has answered */
};

static const struct xd_url *url_of(const struct xd_via_origin *o)
{
    return &o->in->urls[o->place];
}

static bool is_strong(const char *validator)
{
    return validator[0] == '"';
}

/* ---- hashes that prove a file ---- */

/* Returns true if hashes prove all bytes before they are used, and do not come
 * from the server of the file itself. */
static bool has_hash_from_elsewhere(const struct xd_model_file *f)
{
    for (size_t i = 0; i < f->n_hashes; i++)
        if (!f->hashes[i].is_offered &&
            xd_algorithm_is_strong(f->hashes[i].algorithm))
            return true;
    return f->rare->pieces &&
           xd_algorithm_is_strong(f->rare->pieces->algorithm);
}

static bool have_pieces_locked(const struct xd_engine *e)
{
    const struct xd_pieces *p = &e->verify.pieces;

    return p->n > 0 && xd_pieces_cover(p, e->wanted);
}

static const char *refuse_exposed(const struct xd_via *v,
                                  const struct xd_url *url, bool is_proved)
{
    return !is_proved && xd_via_exposes(v, url)
               ? "its origin is asked by https, the nodes are not, and no hash "
                 "from elsewhere proves the file"
               : NULL;
}

/* ---- many files ---- */

/* Adds one file of a set.  Returns 1 if it does not use the mesh.  Errors:
 * NOMEM. */
static int add_one(struct xd_engine *e, struct xd_range range,
                   const struct xd_model_file *f,
                   const struct xd_model_extent *extent, bool has_proof)
{
    struct xd_via_origin origin;
    const struct xd_via *v = e->depots.via;
    bool is_proved;

    if (!has_proof || !xd_via_find(v, f, extent, &origin) ||
        xd_via_refuses(&e->options, url_of(&origin)))
        return 1;
    is_proved = has_hash_from_elsewhere(origin.in);
    if (refuse_exposed(v, url_of(&origin), is_proved))
        return 1;
    return xd_via_add(&e->depots, range, &origin, NULL, is_proved);
}

int xd_via_add_set_locked(struct xd_engine *e)
{
    struct xd_depots *d = &e->depots;
    const struct xd_model_file *f = &d->manifest->files[d->file];

    for (size_t i = 0; d->via && i < f->n_extents; i++) {
        const struct xd_model_extent *x = &f->extents[i];
        struct xd_joined_proof proof = {.n = 0};
        const bool has_proof =
            xd_manifest_joined_proof(d->manifest, i, &proof) && proof.n > 0;

        if (add_one(e, (struct xd_range){x->offset, x->offset + x->length}, f,
                    x, has_proof) < 0)
            return XD_E_NOMEM;
    }
    if (d->via && d->via->n_files == 0)
        xd_via_refuse(d->via, "none of the files is at an origin of the mesh "
                              "and has a hash");
    return 0;
}

bool xd_via_add_file_locked(struct xd_engine *e, struct xd_range range,
                            const struct xd_model_file *f)
{
    const struct xd_pieces *p = &e->verify.pieces;
    const int rc = e->depots.via
                       ? add_one(e, range, f, &f->extents[0],
                                 xd_pieces_cover(p, range) && p->n > 0)
                       : 1;

    if (rc < 0)
        xd_engine_fail_nomem_locked(e);
    return rc == 0;
}

/* ---- request to the origin ---- */

static int on_head(void *user, size_t i, const struct xd_head *head)
{
    struct asked *a = user;

    (void)i;
    a->validator[0] = '\0';
    if (head->validator && strlen(head->validator) < sizeof a->validator)
        memcpy(a->validator, head->validator, strlen(head->validator) + 1);
    a->size = head->is_encoded ? XD_SIZE_UNKNOWN : head->object_size;
    a->redirects =
        head->final_url && xd_url_compare(head->final_url, a->url) != 0;
    return 0;
}

static int on_bytes(void *user, size_t i, const void *data, size_t len)
{
    (void)user, (void)i, (void)data, (void)len;
    return 0;
}

static void on_end(void *user, size_t i, const struct xd_outcome *outcome)
{
    struct asked *a = user;

    (void)i;
    a->error = outcome->error;
    if (outcome->verdict != XD_VERDICT_OK && a->error.code == XD_OK)
        xd_fail(&a->error, XD_E_CANCELED, "it was canceled");
}

/* Uses a batch that is cancelled when the download ends.  Called without the
 * lock. */
static int ask(struct xd_engine *e, const struct xd_request *request,
               xd_usec until, struct asked *out, struct xd_error *err)
{
    const struct xd_batch_handler handler = {
        .user = out, .head = on_head, .bytes = on_bytes, .end = on_end};
    const struct xd_batch_times times = {
        .until = until, .first = XD_NEVER, .grace = XD_NEVER, .turn = XD_NEVER};
    struct xd_batch_config config = xd_options_batch(&e->options);
    int rc;

    config.max_failures = ATTEMPTS;
    rc = xd_resume_open_batch(e, &config, 1, err);
    if (rc < 0)
        return rc;
    rc = xd_batch_run(e->resume.batch, request, 1, &times, &handler, err);
    xd_resume_close_batch(e);
    return rc;
}

static void take_stated(struct xd_begun_stated *s, struct asked *out)
{
    if (s->validator && strlen(s->validator) < sizeof out->validator)
        memcpy(out->validator, s->validator, strlen(s->validator) + 1);
    out->size = s->size;
    out->redirects = s->is_redirected;
}

static int ask_origin_locked(struct xd_engine *e, const struct xd_url *url,
                             xd_usec patience, struct asked *out,
                             struct xd_error *err)
{
    struct xd_begun_stated *s = xd_begun_take_stated(e->options.begun, url);
    const struct xd_request request = {.url = url,
                                       .length = 1,
                                       .object_size = XD_SIZE_UNKNOWN,
                                       .wants_size = true,
                                       .takes_encoded = true};
    const xd_usec until = xd_earlier(e->times.deadline, xd_now() + patience);
    int rc = 0;

    *out = (struct asked){.url = url, .size = XD_SIZE_UNKNOWN};
    if (s) {
        take_stated(s, out);
        xd_begun_stated_free(s);
        return 0;
    }
    xd_engine_unlock(e);
    rc = ask(e, &request, until, out, err);
    xd_engine_lock(e);
    return rc;
}

/* ---- one file ---- */

/* Returns why the file does not use the mesh, or NULL. */
static const char *refuse_locked(const struct xd_engine *e,
                                 struct xd_via_origin *out)
{
    const struct xd_depots *d = &e->depots;
    const struct xd_model_file *f = &d->manifest->files[d->file];
    const char *why;

    if (d->size == XD_SIZE_UNKNOWN)
        return "no server says how long it is";
    if (f->n_extents != 1 || !xd_via_find(d->via, f, &f->extents[0], out))
        return "the mesh does not serve any of its URLs";
    why = xd_via_refuses(&e->options, url_of(out));
    return why ? why
               : refuse_exposed(d->via, url_of(out),
                                has_hash_from_elsewhere(f));
}

/* Returns true if the response of the origin rules out the mesh, and writes the
 * reason to `why`. */
static bool refuse_answer_locked(const struct xd_engine *e,
                                 const struct asked *a, char *why, size_t size)
{
    const bool has_pieces = have_pieces_locked(e);

    if (a->error.code < 0 && has_pieces)
        return false;
    if (a->error.code < 0)
        snprintf(why, size,
                 "its origin could not be asked for its validator: %.200s",
                 a->error.msg);
    else if (a->redirects)
        snprintf(why, size, "its origin redirects to another URL");
    else if (a->size != XD_SIZE_UNKNOWN && a->size != e->depots.size)
        snprintf(why, size, "its origin has %llu bytes of it, and not %llu",
                 (unsigned long long)a->size,
                 (unsigned long long)e->depots.size);
    else if (!is_strong(a->validator) && !has_pieces)
        snprintf(
            why, size,
            "its origin gives it no strong validator, and no hashes of its "
            "pieces are known");
    else
        return false;
    return true;
}

/* Makes requests to the origin itself require this version, too. */
static void state_version_locked(struct xd_engine *e, const struct xd_url *url,
                                 const char *validator)
{
    struct xd_depot *depot = xd_depots_find(&e->depots, url);
    struct xd_depot_source *s = NULL;

    while (depot && (s = xd_depot_next_source(depot, s)))
        if (xd_url_compare(xd_source_url(s), url) == 0)
            xd_validators_stated_locked(s, validator);
}

static void use_mesh_locked(struct xd_engine *e,
                            const struct xd_via_origin *origin,
                            const struct asked *a)
{
    const struct xd_depots *d = &e->depots;
    const bool is_proved =
        has_hash_from_elsewhere(&d->manifest->files[d->file]) &&
        xd_verify_decides(e, e->wanted);

    if (a->validator[0] != '\0')
        state_version_locked(e, url_of(origin), a->validator);
    if (xd_via_add(&e->depots, (struct xd_range){0, d->size}, origin,
                   have_pieces_locked(e) ? NULL : a->validator, is_proved) < 0)
        xd_engine_fail_nomem_locked(e);
    else
        e->hooks->renew_locked(e);
}

static void refuse_mesh_locked(struct xd_engine *e, const char *why)
{
    xd_via_refuse(e->depots.via, why);
    xd_engine_log_locked(e, XD_LOG_INFO,
                         "the file does not go through the mesh: %s", why);
}

void xd_via_open_locked(struct xd_engine *e)
{
    const struct xd_via *v = e->depots.via;
    struct xd_via_origin origin;
    struct xd_error error = {0};
    const char *why;
    char said[400];
    struct asked a;
    int rc;

    if (!v || v->n_files > 0 || v->refusal || !e->session.sched)
        return;
    why = refuse_locked(e, &origin);
    if (why) {
        refuse_mesh_locked(e, why);
        return;
    }
    rc = ask_origin_locked(e, url_of(&origin),
                           have_pieces_locked(e) ? GRACE : e->options.silence,
                           &a, &error);
    if (xd_engine_is_over_locked(e))
        return;
    if (rc < 0)
        xd_engine_fail_locked(e, &error);
    else if (refuse_answer_locked(e, &a, said, sizeof said))
        refuse_mesh_locked(e, said);
    else
        use_mesh_locked(e, &origin, &a);
}

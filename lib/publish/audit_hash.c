/* SPDX-License-Identifier: MIT */
/* Hashes the bytes read from each replica, cell by cell and as a whole. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "command/manifests.h"
#include "os/routes.h"
#include "publish/audit_run.h"

static const struct xd_audit_extent *extent_of(const struct xd_audit *a,
                                               const struct xd_audit_replica *r)
{
    return &a->extents[r->extent];
}

/* Returns the algorithm for a hash of the whole replica, or NULL if only its
 * cells are hashed.  *out_hex is the expected hash, or NULL. */
static const char *whole_of(const struct xd_audit *a,
                            const struct xd_audit_replica *r,
                            const char **out_hex)
{
    const struct xd_audit_extent *e = extent_of(a, r);
    const char *sha256 = xd_audit_sha256(a, r);
    bool is_file = e->at.begin == 0 && e->at.end == a->size;

    *out_hex = NULL;
    if (!a->is_full)
        return NULL;
    if (sha256) {
        *out_hex = sha256;
        return "sha-256";
    }
    if (is_file)
        *out_hex = a->whole_hex;
    return is_file ? a->whole_with : NULL;
}

/* Allocates memory only for replicas that are read, because a manifest may name
 * any number of them.  Digests are only stored for cells without a hash. */
static int make_room(const struct xd_audit *a, struct xd_audit_shown *s)
{
    const struct xd_audit_extent *e = s->extent;
    bool compares = false;

    if (s->states)
        return 0;
    for (size_t k = 0; k < e->n && !compares; k++)
        compares =
            xd_audit_cell_of(&a->cells, e, k)->piece == XD_AUDIT_NO_PIECE;
    if (compares) {
        s->digests = xd_alloc(e->n, sizeof *s->digests);
        if (!s->digests)
            return XD_E_NOMEM;
    }
    s->states = xd_alloc(e->n, 1);
    return s->states ? 0 : XD_E_NOMEM;
}

/* Prepares the hashers of a replica for this read.  Errors: NOMEM. */
static int begin_read(struct xd_audit *a, struct xd_audit_replica *r,
                      const struct xd_audit_read *q)
{
    const struct xd_audit_cell *cell;
    const char *hex, *algorithm = whole_of(a, r, &hex);

    if (r->reading == q)
        return 0;
    r->reading = q;
    if (q->n_cells == 0)
        return 0;
    if (make_room(a, &r->shown) < 0)
        return XD_E_NOMEM;
    r->cell = q->first_cell;
    cell = xd_audit_cell_of(&a->cells, extent_of(a, r), r->cell);
    r->pos = cell->at.begin;
    if (algorithm && q->n_cells == extent_of(a, r)->n)
        return xd_hasher_become(&r->whole, algorithm, NULL);
    return 0;
}

#define FTP_NOT_LOGGED_IN 530

/* Returns whether the response means "forbidden".  Such a response does not
 * show whether the content is good.  S3 answers 400 for an expired session and
 * for a wrong region. */
static bool denies(const struct xd_url *url, const struct xd_outcome *outcome)
{
    const int status = outcome->error.http_status;

    if (url->scheme == XD_SCHEME_FTP || url->scheme == XD_SCHEME_FTPS)
        return status == FTP_NOT_LOGGED_IN;
    return status == 401 || status == 403 || status == 407 ||
           (status == 400 && xd_url_is_presigned(url));
}

/* Records the failure, unless the replica has failed before. */
static void note_failure(struct xd_audit *a, struct xd_audit_replica *r,
                         const struct xd_outcome *outcome)
{
    const char *why = outcome->error.msg;

    r->facts.is_denied =
        denies(r->url, outcome) && (r->facts.is_denied || !r->facts.has_failed);
    r->facts.has_failed = true;
    r->facts.is_unanswered = outcome->is_unanswered &&
                             !(outcome->lacks_address && xd_routes_lead_out());
    if (r->error || why[0] == '\0')
        return;
    r->error = xd_strdup(why);
    a->has_no_memory |= !r->error;
}

static int on_head(void *user, const struct xd_audit_read *q,
                   const struct xd_head *head)
{
    struct xd_audit *a = user;
    struct xd_audit_replica *r = &a->replicas[q->replica];

    r->facts.has_answered = true;
    if (head->object_size != XD_SIZE_UNKNOWN)
        r->stated_size = head->object_size;
    if (head->modified != 0)
        r->modified = head->modified;
    if (!r->validator && head->validator) {
        r->validator = xd_strdup(head->validator);
        a->has_no_memory |= !r->validator;
    }
    a->has_no_memory |= begin_read(a, r, q) < 0;
    return a->has_no_memory ? XD_E_NOMEM : 0;
}

/* ---- cells ---- */

static const char *algorithm_of(const struct xd_audit *a,
                                const struct xd_audit_cell *cell)
{
    return cell->piece == XD_AUDIT_NO_PIECE ? "sha-256" : a->piece_algorithm;
}

static void end_cell(const struct xd_audit *a, struct xd_audit_replica *r,
                     const struct xd_audit_cell *cell)
{
    char hex[XD_HASH_HEX_MAX + 1];
    const char *expected;

    xd_hasher_end(r->hasher, hex);
    if (cell->piece == XD_AUDIT_NO_PIECE) {
        memcpy(r->shown.digests[r->cell], hex, XD_AUDIT_HEX + 1);
        r->shown.states[r->cell] = XD_CELL_READ;
        return;
    }
    expected = xd_manifest_piece(a->manifest, a->file, (size_t)cell->piece);
    r->shown.states[r->cell] =
        expected && strcmp(expected, hex) == 0 ? XD_CELL_RIGHT : XD_CELL_WRONG;
}

/* Hashes the first received bytes that belong to the cell.  Returns their
 * number. */
static size_t add_to_cell(struct xd_audit *a, struct xd_audit_replica *r,
                          const unsigned char *data, size_t len)
{
    const struct xd_audit_cell *cell =
        xd_audit_cell_of(&a->cells, extent_of(a, r), r->cell);
    uint64_t left = cell->at.end - r->pos;

    if (r->pos == cell->at.begin &&
        xd_hasher_become(&r->hasher, algorithm_of(a, cell), NULL) < 0) {
        a->has_no_memory = true;
        return 0;
    }
    if (len > left)
        len = (size_t)left;
    xd_hasher_add(r->hasher, data, len);
    r->pos += len;
    if (r->pos == cell->at.end) {
        end_cell(a, r, cell);
        r->cell++;
    }
    return len;
}

static int on_bytes(void *user, const struct xd_audit_read *q, const void *data,
                    size_t len)
{
    struct xd_audit *a = user;
    struct xd_audit_replica *r = &a->replicas[q->replica];
    const unsigned char *at = data;

    if (q->n_cells == 0) /* only the header was requested */
        return 0;
    r->bytes_read += len;
    if (r->whole)
        xd_hasher_add(r->whole, data, len);
    while (len > 0 && r->cell < q->first_cell + q->n_cells) {
        size_t n = add_to_cell(a, r, at, len);

        if (n == 0)
            return XD_E_NOMEM;
        at += n;
        len -= n;
    }
    return 0;
}

/* ---- end of a read ---- */

static void end_whole(const struct xd_audit *a, struct xd_audit_replica *r)
{
    const char *expected;

    (void)whole_of(a, r, &expected);
    xd_hasher_end(r->whole, r->whole_hex);
    r->is_whole_read = true;
    if (!expected)
        return;
    r->shown.is_proved = strcmp(r->whole_hex, expected) == 0;
    r->shown.is_refuted = !r->shown.is_proved;
}

static void end_right(const struct xd_audit *a, struct xd_audit_replica *r,
                      const struct xd_audit_read *q)
{
    bool has_all = r->cell == q->first_cell + q->n_cells;

    if (q->n_cells > 0 && !has_all)
        r->facts.differs_in_size = true; /* the object ended too early */
    else if (q->n_cells > 0 && r->whole)
        end_whole(a, r);
}

static void end_wrong(struct xd_audit *a, struct xd_audit_replica *r,
                      const struct xd_outcome *outcome)
{
    switch (outcome->verdict) {
    case XD_VERDICT_NO_RANGES:
        if (outcome->is_wrong_range)
            break;
        r->facts.has_answered = true;
        return;
    case XD_VERDICT_DIFFERENT:
        r->facts.differs_in_size = true;
        r->facts.has_answered = true;
        break;
    case XD_VERDICT_CHANGED:
        r->facts.has_changed = true;
        break;
    case XD_VERDICT_OK:
    case XD_VERDICT_AGAIN:
    case XD_VERDICT_GONE:
    case XD_VERDICT_REFUSED_RANGE:
    case XD_VERDICT_LOCAL:
    case XD_VERDICT_STOPPED:
        break;
    }
    note_failure(a, r, outcome);
    if (outcome->verdict == XD_VERDICT_GONE && !outcome->is_unanswered)
        r->facts.is_refused = true;
}

static void on_end(void *user, const struct xd_audit_read *q,
                   const struct xd_outcome *outcome)
{
    struct xd_audit *a = user;
    struct xd_audit_replica *r = &a->replicas[q->replica];

    if ((outcome->verdict == XD_VERDICT_NO_RANGES &&
         !outcome->is_wrong_range) ||
        (q->request.whole && outcome->verdict == XD_VERDICT_OK))
        r->facts.has_no_ranges = true;
    if ((outcome->verdict == XD_VERDICT_NO_RANGES ||
         outcome->verdict == XD_VERDICT_DIFFERENT) &&
        outcome->object_size != XD_SIZE_UNKNOWN)
        r->stated_size = outcome->object_size;
    if (outcome->error.code == XD_E_NOMEM)
        a->has_no_memory = true;
    if (outcome->verdict == XD_VERDICT_OK)
        end_right(a, r, q);
    else
        end_wrong(a, r, outcome);
    xd_hasher_free(r->hasher);
    xd_hasher_free(r->whole);
    r->hasher = r->whole = NULL;
    r->reading = NULL;
}

const struct xd_audit_handler xd_audit_hashing = {
    .head = on_head, .bytes = on_bytes, .end = on_end};

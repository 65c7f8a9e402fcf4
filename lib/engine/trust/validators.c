#include "engine/trust/validators.h"

#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/engine.h"
#include "io/http/http_redirect.h"

static bool are_needed_locked(const struct xd_engine *e)
{
    const struct xd_pieces *pieces = &e->verify.pieces;

    if (!XD_DEFENDS("validators"))
        return false;
    return pieces->n == 0 || !xd_pieces_cover(pieces, e->wanted);
}

void xd_validators_ask_locked(struct xd_engine *e, struct xd_lane *lane)
{
    const struct xd_depot_source *s = lane->source;

    lane->if_range = NULL;
    if (s && s->validator && are_needed_locked(e) &&
        xd_http_same_origin(s->told_by, lane->url))
        lane->if_range = s->validator;
}

/* Both are set once, so that lanes may point to them.  What finds no memory is
 * learned from the next answer. */
static void learn_locked(struct xd_depot_source *s, const struct xd_head *head)
{
    char *validator = xd_strdup(head->validator);
    char *told_by = xd_strdup(head->final_url);

    if (validator && told_by) {
        s->validator = validator;
        s->told_by = told_by;
        return;
    }
    xd_free(validator);
    xd_free(told_by);
}

static bool differs_locked(const struct xd_engine *e,
                           const struct xd_depot_source *s,
                           const struct xd_head *head)
{
    /* A tag and a date say nothing of each other. */
    return are_needed_locked(e) &&
           (s->validator[0] == '"') == (head->validator[0] == '"') &&
           strcmp(s->validator, head->validator) != 0 &&
           xd_http_same_origin(s->told_by, head->final_url);
}

int xd_validators_learned(struct xd_engine *e, struct xd_lane *lane,
                          const struct xd_head *head)
{
    struct xd_depot_source *s = lane->source;
    struct xd_error error = {0};
    int rc = 0;

    xd_engine_lock(e);
    s->has_answered = true;
    if (head->validator && !s->validator) {
        learn_locked(s, head);
    } else if (head->validator && differs_locked(e, s, head)) {
        char *url = xd_url_public(s->url);

        rc = xd_fail(&error, XD_E_DIFFERENT,
                     "%s: its file has changed during the download",
                     url ? url : "a depot");
        xd_free(url);
        lane->is_refused = true;
        lane->outcome = (struct xd_outcome){.verdict = XD_VERDICT_CHANGED,
                                            .error = error,
                                            .object_size = XD_SIZE_UNKNOWN};
    }
    xd_engine_unlock(e);
    return rc;
}

/* Whether one whose size is wrong now was right before. */
static bool had_right_size(const struct xd_lane *lane)
{
    const struct xd_depot_source *s = lane->source;

    return lane->outcome.verdict == XD_VERDICT_DIFFERENT &&
           lane->first_byte == XD_NEVER && s && s->has_answered &&
           s->object_size != XD_SIZE_UNKNOWN;
}

bool xd_validators_have_changed_locked(const struct xd_lane *lane)
{
    return lane->outcome.verdict == XD_VERDICT_CHANGED || had_right_size(lane);
}

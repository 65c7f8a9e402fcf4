/* SPDX-License-Identifier: MIT */
#include "engine/head.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/remote_time.h"
#include "engine/sched_events.h"
#include "engine/source.h"
#include "engine/trust/pages.h"
#include "engine/trust/validators.h"

/* Stores the target of a redirect.  If memory runs out, the next request is
 * redirected again. */
static void note_redirect(struct xd_lane *lane, const struct xd_head *head)
{
    if (!head->final_url || lane->final_url ||
        lane->url != xd_source_url(lane->source) ||
        xd_url_compare(head->final_url, lane->url) == 0)
        return;
    lane->final_url = xd_url_copy(head->final_url);
    lane->reach = head->reach;
}

/* Processes the size that a response states for a file of a set. */
static int learn_size(struct xd_engine *e, struct xd_lane *lane, uint64_t size)
{
    const struct xd_range place = lane->source->range;
    struct xd_range rest;

    if (!lane->is_unsized || size == XD_SIZE_UNKNOWN)
        return 0;
    lane->longer = size > xd_range_length(place) ? size : 0;
    if (lane->longer > 0) /* the first bytes show whether it is a web page */
        return 0;
    xd_engine_lock(e);
    rest = xd_set_sized_locked(e, place.begin, place.begin + size);
    if (!xd_range_is_empty(rest))
        xd_verify_held_locked(e, rest);
    xd_engine_unlock(e);
    return 0;
}

/* Refuses a response of a mesh node that has another version of the file. */
static int check_version(const struct xd_depot *depot, struct xd_lane *lane,
                         const struct xd_head *head)
{
    const char *wanted = xd_source_via(lane->source)->validator;

    if (!wanted || (head->validator && strcmp(head->validator, wanted) == 0))
        return 0;
    lane->is_refused = true;
    lane->outcome = (struct xd_outcome){.verdict = XD_VERDICT_GONE,
                                        .object_size = XD_SIZE_UNKNOWN};
    return xd_fail(&lane->outcome.error, XD_E_DIFFERENT,
                   "%s: has another version of the file: its validator is "
                   "%.60s, and that of the origin %.60s",
                   depot->host, head->validator ? head->validator : "none",
                   wanted);
}

static int learn_validator(struct xd_worker *w, struct xd_lane *lane,
                           const struct xd_head *head)
{
    return lane->source->is_of_node
               ? check_version(w->served, lane, head)
               : xd_validators_learned(w->engine, lane, head);
}

/* Reports which bytes of the file the depot suggests to request next.  A
 * response without a suggestion cancels the earlier one. */
static void learn_next(struct xd_worker *w, const struct xd_lane *lane,
                       const struct xd_head *head)
{
    const struct xd_range next = xd_source_part(lane->source, head->next);

    if (lane->source->is_of_node)
        return;
    xd_engine_lock(w->engine);
    xd_report_hint_locked(w->engine, w->served, next);
    xd_engine_unlock(w->engine);
}

/* Returns true if one request fetches the whole file.  Then no later request
 * needs the media type, and it is not stored: for 100,000 short files, that
 * would take 5 MB. */
static bool has_all(const struct xd_lane *lane)
{
    return lane->range.begin <= lane->source->range.begin &&
           lane->range.end >= lane->source->range.end;
}

void xd_head_type_learned(struct xd_engine *e, struct xd_lane *lane,
                          const char *media_type)
{
    struct xd_source_facts *facts;

    if (lane->source->is_of_node || lane->may_be_page ||
        (e->dest.output->has_many_files && has_all(lane)))
        return;
    xd_engine_lock(e);
    facts = xd_source_facts(lane->source);
    if (facts && !facts->media_type)
        facts->media_type = xd_strdup(media_type ? media_type : "");
    xd_engine_unlock(e);
}

int xd_head_learned(struct xd_worker *w, struct xd_lane *lane,
                    const struct xd_head *head)
{
    struct xd_error error = {0};
    int rc = learn_validator(w, lane, head);

    if (rc < 0)
        return rc;
    xd_pages_learned(w->engine, lane, head->media_type);
    xd_head_type_learned(w->engine, lane, head->media_type);
    xd_remote_time_learned(w->engine, lane, head);
    if (lane->first_byte == XD_NEVER)
        lane->first_byte = xd_now();
    note_redirect(lane, head);
    lane->object_size = head->object_size;
    rc = learn_size(w->engine, lane,
                    head->is_encoded ? XD_SIZE_UNKNOWN : head->object_size);
    if (rc < 0)
        return rc;
    learn_next(w, lane, head);
    if (head->shares) {
        xd_engine_lock(w->engine);
        xd_report_shares_locked(w->engine, w->served);
        xd_engine_unlock(w->engine);
    }
    if (!lane->source->is_of_node && !lane->is_coded &&
        xd_resume_learned(w->engine, lane, head->validator, &error) < 0) {
        xd_engine_lock(w->engine);
        xd_engine_fail_locked(w->engine, &error);
        xd_engine_unlock(w->engine);
    }
    return 0;
}

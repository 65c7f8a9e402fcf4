/* SPDX-License-Identifier: MIT */
#include "engine/trust/validators.h"

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/source.h"
#include "engine/trust/growing.h"
#include "engine/trust/validator_check.h"
#include "transfer/registry.h"

static bool are_needed_locked(const struct xd_engine *e,
                              const struct xd_depot_source *s)
{
    return !xd_verify_decides(e, s->range) && XD_DEFENDS("validators");
}

const char *xd_validators_if_range_locked(const struct xd_engine *e,
                                          const struct xd_depot_source *s,
                                          const struct xd_url *url)
{
    const struct xd_source_facts *facts;

    if (!s || s->is_of_node || s->knows_no_conditions ||
        s->growth == XD_GROWTH_SAME || s->validators == XD_VALIDATORS_VARY)
        return NULL;
    facts = xd_source_known(s);
    return facts->validator && are_needed_locked(e, s) &&
                   xd_url_same_origin(facts->stated_by, url)
               ? facts->validator
               : NULL;
}

/* Stores the validator and the URL that stated it.  They are set only once,
 * because lanes point to them.  If memory runs out, the next response sets
 * them. */
static void learn_locked(struct xd_depot_source *s, const struct xd_head *head)
{
    char *validator = xd_strdup(head->validator);
    struct xd_url *stated_by = xd_url_copy(head->final_url);
    struct xd_source_facts *facts = xd_source_facts(s);

    if (facts && validator && stated_by) {
        facts->validator = validator;
        facts->stated_by = stated_by;
        return;
    }
    xd_free(validator);
    xd_free(stated_by);
}

void xd_validators_stated_locked(struct xd_depot_source *s,
                                 const char *validator)
{
    const struct xd_head head = {.validator = validator,
                                 .final_url = xd_source_url(s)};

    s->has_answered = true;
    if (!xd_source_known(s)->validator)
        learn_locked(s, &head);
}

static bool differs_locked(const struct xd_depot_source *s,
                           const struct xd_head *head)
{
    const struct xd_source_facts *facts = xd_source_known(s);

    return s->growth != XD_GROWTH_SAME &&
           (s->validators != XD_VALIDATORS_VARY ||
            xd_validator_is_new(s, xd_validator_hash(head->validator))) &&
           xd_validators_differ(facts->validator, head->validator) &&
           xd_url_same_origin(facts->stated_by, head->final_url);
}

static void ignore_locked(struct xd_engine *e, struct xd_depot_source *s)
{
    s->validators = XD_VALIDATORS_VARY;
    if (XD_DEFENDS("validators"))
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%s: its validators differ between answers; they "
                             "are ignored, since hashes prove the bytes",
                             xd_url_name(xd_source_url(s)).s);
}

/* Returns true for a file of a set.  Validators of such files are not kept,
 * because no journal stores them and a hash proves the bytes.  For 100,000
 * files they would take 10 MB. */
static bool is_one_of_many_locked(const struct xd_engine *e)
{
    return e->dest.output->has_many_files;
}

int xd_validators_learned(struct xd_engine *e, struct xd_lane *lane,
                          const struct xd_head *head)
{
    struct xd_depot_source *s = lane->source;
    struct xd_error error = {0};
    int rc = 0;

    xd_engine_lock(e);
    s->has_answered = true;
    if (head->validator && !xd_source_known(s)->validator) {
        if (!is_one_of_many_locked(e) || are_needed_locked(e, s))
            learn_locked(s, head);
    } else if (head->validator && differs_locked(s, head) &&
               !are_needed_locked(e, s)) {
        ignore_locked(e, s);
    } else if (head->validator && differs_locked(s, head)) {
        rc = xd_fail(&error, XD_E_DIFFERENT,
                     "%s: its file has changed during the download: its "
                     "validator was %.60s, and is %.60s now",
                     xd_url_name(xd_source_url(s)).s,
                     xd_source_known(s)->validator, head->validator);
        lane->odd_validator = xd_validator_hash(head->validator);
        lane->is_refused = true;
        lane->outcome = (struct xd_outcome){.verdict = XD_VERDICT_CHANGED,
                                            .error = error,
                                            .object_size = head->object_size};
    }
    xd_engine_unlock(e);
    return rc;
}

bool xd_validators_sampled_locked(struct xd_engine *e, struct xd_depot *depot,
                                  struct xd_depot_source *s,
                                  const char *validator,
                                  const struct xd_url *final_url)
{
    const struct xd_head head = {.validator = validator,
                                 .final_url = final_url};

    if (*validator == '\0' || !final_url || !are_needed_locked(e, s))
        return true;
    if (!xd_source_known(s)->validator)
        learn_locked(s, &head);
    if (!xd_source_known(s)->validator || !differs_locked(s, &head))
        return true;
    s->was_sampled = true;
    if (s->validators != XD_VALIDATORS_UNCHECKED)
        xd_validator_check_begin_locked(e, depot, s,
                                        xd_validator_hash(validator));
    return false;
}

static bool is_new(const struct xd_lane *lane)
{
    const struct xd_depot_source *s = lane->source;

    return s->validators == XD_VALIDATORS_VARY && lane->odd_validator != 0 &&
           xd_validator_is_new(s, lane->odd_validator);
}

/* Returns true if responses of the depot are being compared, so that the
 * outcome is not known yet. */
static bool is_unchecked_locked(struct xd_engine *e, struct xd_depot *depot,
                                const struct xd_lane *lane)
{
    struct xd_depot_source *s = lane->source;

    if ((s->validators == XD_VALIDATORS_HOLD ||
         s->validators == XD_VALIDATORS_OPEN || is_new(lane)) &&
        !e->session.size_probe && e->wanted.end != XD_SIZE_UNKNOWN &&
        depot->kind->can_sample)
        xd_validator_check_begin_locked(e, depot, s, lane->odd_validator);
    return s->validators == XD_VALIDATORS_UNCHECKED;
}

/* Makes the scheduler ask the depot again after a pause. */
static void postpone_locked(struct xd_lane *lane)
{
    lane->outcome.verdict = XD_VERDICT_AGAIN;
    xd_fail(&lane->outcome.error, XD_E_NET,
            "%s: answered with another validator, and then not at all to the "
            "request for a sample",
            xd_url_name(xd_source_url(lane->source)).s);
}

/* Returns true if the response was refused too early: the first response of its
 * source, with which it should have been compared, had not arrived yet.  The
 * request is then repeated. */
static bool was_judged_early_locked(const struct xd_lane *lane)
{
    switch (lane->outcome.verdict) {
    case XD_VERDICT_GONE:
    case XD_VERDICT_DIFFERENT:
    case XD_VERDICT_CHANGED:
        return !lane->media_type && xd_source_known(lane->source)->media_type &&
               lane->first_byte == XD_NEVER;
    case XD_VERDICT_OK:
    case XD_VERDICT_AGAIN:
    case XD_VERDICT_NO_RANGES:
    case XD_VERDICT_REFUSED_RANGE:
    case XD_VERDICT_LOCAL:
    case XD_VERDICT_STOPPED:
        break;
    }
    return false;
}

bool xd_validators_wait_locked(struct xd_engine *e, struct xd_depot *depot,
                               struct xd_lane *lane)
{
    const struct xd_depot_source *s = lane->source;
    enum xd_verdict *verdict = &lane->outcome.verdict;

    if (!s || xd_engine_is_over_locked(e))
        return false;
    if (xd_growing_waits_locked(e, depot, lane))
        return true;
    if (was_judged_early_locked(lane))
        *verdict = XD_VERDICT_STOPPED;
    if (*verdict == XD_VERDICT_REFUSED_RANGE && lane->if_range) {
        lane->source->knows_no_conditions = true;
        *verdict = XD_VERDICT_STOPPED;
    }
    if (*verdict != XD_VERDICT_CHANGED || lane->is_distrusted ||
        lane->outcome.is_overlong)
        return false;
    if ((lane->if_range && s->knows_no_conditions) ||
        (s->validators == XD_VALIDATORS_VARY && !is_new(lane)))
        *verdict = XD_VERDICT_STOPPED;
    else if (s->validators == XD_VALIDATORS_OPEN &&
             lane->started < s->facts->check->open_since)
        postpone_locked(lane);
    else if (is_unchecked_locked(e, depot, lane) && !lane->stop)
        return true;
    else if (s->validators == XD_VALIDATORS_UNCHECKED)
        *verdict = XD_VERDICT_STOPPED;
    return false;
}

/* Returns true if the size is wrong now but was right before. */
static bool had_right_size(const struct xd_lane *lane)
{
    const struct xd_depot_source *s = lane->source;

    return lane->outcome.verdict == XD_VERDICT_DIFFERENT &&
           lane->first_byte == XD_NEVER && s && s->has_answered &&
           xd_source_object_size(s) != XD_SIZE_UNKNOWN;
}

bool xd_validators_have_changed_locked(const struct xd_lane *lane)
{
    return lane->outcome.verdict == XD_VERDICT_CHANGED || had_right_size(lane);
}

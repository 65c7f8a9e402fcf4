/* SPDX-License-Identifier: MIT */
#include "engine/outputs.h"

#include <string.h>

#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "transfer/registry.h"

/* Larger than memory, which /tmp often is not. */
#define SPOOL "/var/tmp"

/* ---- one file ---- */

/* A copy of a file of this machine is never more readable than that was. */
static bool copies_files(const struct xd_engine *e)
{
    for (size_t i = 0; i < e->depots.n; i++) {
        if (e->depots.list[i]->kind->reads_machine)
            return true;
    }
    return false;
}

static int open_file(struct xd_engine *e, struct xd_sink **out,
                     struct xd_error *err)
{
    int rc = xd_file_sink_new(out, e->dest.path, e->dest.path_given,
                              e->options.force, err);

    if (rc == 0 && copies_files(e))
        xd_file_sink_keep_private(*out);
    return rc;
}

static int check_unread(const struct xd_options *o, struct xd_error *err)
{
    if (o->keep)
        return xd_fail(err, XD_E_INVAL,
                       "keep: is for a source that is read while it arrives");
    if (o->lookahead_time > 0)
        return xd_fail(err, XD_E_INVAL,
                       "lookahead: seconds are for a source, whose player "
                       "reports its rate; here it must be a size");
    return 0;
}

const struct xd_output_traits xd_output_file = {
    .is_seen_at_end = true, .check = check_unread, .open = open_file};

/* ---- many files ---- */

static unsigned descriptors_of_files(unsigned for_depots)
{
    (void)for_depots;
    return XD_SET_MOST_OPEN * XD_SET_FILE_DESCRIPTORS;
}

static int begin_set_locked(struct xd_engine *e, struct xd_error *err)
{
    const struct xd_rangeset *held = &e->set.held;

    (void)err;
    xd_set_begin_locked(e);
    if (held->bytes > 0)
        xd_engine_log_locked(e, XD_LOG_INFO,
                             "%llu of %llu bytes are there already",
                             (unsigned long long)held->bytes,
                             (unsigned long long)xd_range_length(e->wanted));
    for (size_t i = 0; i < held->n; i++)
        xd_verify_held_locked(e, held->ranges[i]);
    return 0;
}

const struct xd_output_traits xd_output_set = {
    .has_many_files = true,
    .check = check_unread,
    .descriptors = descriptors_of_files,
    .open = xd_set_open,
    .begin_locked = begin_set_locked};

/* ---- readers ---- */

/* What no reader wants any more is dropped. */
static int open_windows(struct xd_engine *e, struct xd_sink **out,
                        struct xd_error *err)
{
    const char *spool = e->options.spool;

    if (spool && strcmp(spool, "none") == 0)
        spool = NULL;
    return xd_bounded_sink_new(out, &e->readers.store, spool, err);
}

static bool is_bounded(const struct xd_options *o, const char *path)
{
    (void)o, (void)path;
    return true;
}

const struct xd_output_traits xd_output_pipe = {
    .has_readers = true,
    .is_read_once = true,
    .reader_rate = XD_LOOKAHEAD_PIPE_RATE,
    .check = check_unread,
    .is_bounded = is_bounded,
    .open = open_windows,
    .begin_locked = xd_pipe_start_locked};

static bool is_in_memory(const struct xd_options *o, const char *path)
{
    return !path && o->spool && strcmp(o->spool, "none") == 0;
}

static int open_source(struct xd_engine *e, struct xd_sink **out,
                       struct xd_error *err)
{
    const char *spool = e->options.spool;

    if (e->dest.path)
        return open_file(e, out, err);
    if (xd_engine_is_bounded(e))
        return open_windows(e, out, err);
    return xd_spool_sink_new(out, spool ? spool : SPOOL, err);
}

/* Each reader may have a socket. */
static unsigned descriptors_of_readers(unsigned for_depots)
{
    return for_depots;
}

static int check_read(const struct xd_options *o, struct xd_error *err)
{
    const struct xd_signature_keys keys = xd_signed_keys(o);

    return xd_signature_is_asked(&keys)
               ? xd_fail(err, XD_E_INVAL,
                         "keyring and public-key: a signature is of the whole "
                         "file, and readers have its bytes before")
               : 0;
}

const struct xd_output_traits xd_output_source = {
    .check = check_read,
    .has_readers = true,
    .reader_rate = XD_LOOKAHEAD_ASSUMED_RATE,
    .is_bounded = is_in_memory,
    .descriptors = descriptors_of_readers,
    .open = open_source};

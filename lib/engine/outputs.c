/* SPDX-License-Identifier: MIT */
#include "engine/outputs.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "os/disk.h"
#include "transfer/registry.h"

/* /tmp is often in memory */
#define SPOOL "/var/tmp"

const char *xd_output_spool(const struct xd_options *o)
{
    return o->spool ? o->spool : SPOOL;
}

/* ---- one file ---- */

/* Returns true if the download copies local files.  The output is then made
 * private, because no more users may read it than the original. */
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

    if (rc < 0)
        return rc;
    if (copies_files(e))
        xd_file_sink_keep_private(*out);
    if (!e->options.no_final_check)
        xd_file_sink_watch(*out);
    return 0;
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

/* Opens a sink that drops bytes when no reader wants them any more. */
static int open_windows(struct xd_engine *e, struct xd_sink **out,
                        struct xd_error *err)
{
    const char *spool = e->options.spool;

    if (spool && strcmp(spool, "none") == 0)
        spool = NULL;
    return xd_bounded_sink_new(out, &e->readers.store, spool, err);
}

static void bound_pipe(struct xd_engine *e)
{
    e->dest.is_bounded = true;
}

const struct xd_output_traits xd_output_pipe = {
    .has_readers = true,
    .is_read_once = true,
    .reader_rate = XD_LOOKAHEAD_PIPE_RATE,
    .check = check_unread,
    .bound = bound_pipe,
    .open = open_windows,
    .begin_locked = xd_pipe_start_locked};

/* A file of unknown size is not expected to fit if less than this is free. */
#define ROOM_FOR_UNKNOWN ((uint64_t)256 << 20)

/* If the spool is small, windows take at most 1 / WINDOWS_PART of it.  The rest
 * is for the bytes that readers keep at their position before a seek, and for
 * requests that write a little ahead. */
#define WINDOWS_PART 4

/* Returns the number of free bytes in the spool; UINT64_MAX if it is
 * unknown. */
static uint64_t room_in_spool(const struct xd_options *o)
{
    struct xd_text inside = {.s = NULL};
    uint64_t disk, room = UINT64_MAX;

    xd_text_addf(&inside, "%s/x", xd_output_spool(o));
    if (inside.failed || !xd_disk_room(inside.s, &disk, &room))
        room = UINT64_MAX;
    xd_text_fini(&inside);
    return room;
}

/* Decides how much of the file is kept.  If it does not fit into the spool,
 * only the windows of readers are kept there, as in memory. */
static void bound_source(struct xd_engine *e)
{
    struct xd_options *o = &e->options;
    const uint64_t size = e->depots.size;
    uint64_t room;

    if (o->keep)
        return;
    if (o->spool && strcmp(o->spool, "none") == 0) {
        e->dest.is_bounded = true;
        return;
    }
    room = room_in_spool(o);
    if (room >= (size == XD_SIZE_UNKNOWN ? ROOM_FOR_UNKNOWN : size))
        return;
    e->dest.is_bounded = true;
    if (o->lookahead > room / WINDOWS_PART || o->lookahead_time > 0) {
        o->lookahead = room / WINDOWS_PART;
        o->lookahead_time = 0;
    }
    xd_engine_log_locked(e, XD_LOG_INFO,
                         "%s has only %llu MiB free: what readers have left "
                         "behind is discarded, and fetched again after a seek",
                         xd_output_spool(o), (unsigned long long)(room >> 20));
}

static int open_source(struct xd_engine *e, struct xd_sink **out,
                       struct xd_error *err)
{
    if (e->dest.path)
        return open_file(e, out, err);
    if (!xd_engine_is_bounded(e))
        return xd_spool_sink_new(out, xd_output_spool(&e->options), err);
    if (!e->options.spool)
        return xd_bounded_sink_new(out, &e->readers.store, SPOOL, err);
    return open_windows(e, out, err);
}

/* Reserves as many descriptors for readers as for depots, because each reader
 * may have a socket. */
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
    .bound = bound_source,
    .descriptors = descriptors_of_readers,
    .open = open_source};

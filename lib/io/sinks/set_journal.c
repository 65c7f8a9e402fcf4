/* SPDX-License-Identifier: MIT */
#include "io/sinks/set_journal.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "io/journal/journal.h"
#include "io/journal/journal_match.h"
#include "io/sinks/set_sink.h"
#include "os/file.h"

struct opening {
    const struct xd_set_place *place;
    struct xd_sink *sink;
    enum xd_set_opening how;
    struct xd_text path;
    char boot_id[XD_BOOT_ID_SIZE];
    struct xd_journal_identity identity;
    struct xd_journal *journal;
    struct xd_journal_contents contents;
    struct xd_rangeset held;
};

static int name_it(struct xd_text *out, const struct xd_sink *sink)
{
    xd_text_addf(out, "%s.journal", xd_file_sink_part(sink));
    return out->failed ? XD_E_NOMEM : 0;
}

static int identify(struct opening *o, struct xd_error *err)
{
    const struct xd_set_place *p = o->place;
    const uint64_t size = xd_set_place_size(p);

    xd_boot_id(o->boot_id);
    o->identity = (struct xd_journal_identity){.name = xd_path_name(p->path),
                                               .hashes = p->hashes,
                                               .size = size,
                                               .wanted = {0, size}};
    return name_it(&o->path, o->sink) < 0 ? xd_fail_nomem(err) : 0;
}

static int check_part(const struct opening *o, struct xd_error *err)
{
    const uint64_t found = xd_file_sink_found(o->sink);

    if (o->how != XD_SET_FIRST || found < XD_JOURNAL_LEAST ||
        xd_file_exists(xd_file_sink_folder(o->sink), o->path.s))
        return 0;
    return xd_journal_fail_unknown(xd_file_sink_part(o->sink), found, err);
}

static int believe(struct opening *o, struct xd_error *err)
{
    int rc;

    if (o->how != XD_SET_FIRST || !o->contents.has_header)
        return 0;
    rc = xd_journal_match(&o->contents, &o->identity,
                          xd_file_sink_part(o->sink), o->path.s, err);
    if (rc == 0 &&
        xd_journal_match_hash(&o->contents, &o->identity,
                              xd_file_sink_part(o->sink), o->path.s, err) < 0)
        return err->code = XD_E_DIFFERENT;
    if (rc == 0 &&
        xd_journal_believed(&o->contents, o->boot_id,
                            xd_file_sink_found(o->sink), &o->held) < 0)
        rc = xd_fail_nomem(err);
    return rc;
}

/* Restarts the journal before the file is emptied.  Otherwise an old journal
 * could describe bytes of an empty file. */
static int begin(struct opening *o, struct xd_error *err)
{
    int rc = xd_journal_restart(o->journal, &o->identity, o->boot_id, err);

    if (rc == 0 && o->how == XD_SET_FIRST && o->contents.failed.len > 0)
        rc = xd_journal_failed(o->journal, o->contents.failed.s, err);
    if (rc == 0 && o->how != XD_SET_AGAIN)
        rc = xd_file_sink_empty(o->sink, err);
    return rc;
}

static int begin_or_go_on(struct opening *o, struct xd_error *err)
{
    const bool goes_on =
        o->how == XD_SET_AGAIN ? o->contents.has_header : o->held.bytes > 0;

    return goes_on
               ? xd_journal_continue(o->journal, &o->contents, o->boot_id, err)
               : begin(o, err);
}

static int open_it(struct opening *o, struct xd_error *err)
{
    int rc = identify(o, err);

    if (rc == 0)
        rc = check_part(o, err);
    if (rc == 0)
        rc = xd_journal_open(&o->journal, &o->contents,
                             xd_file_sink_folder(o->sink), o->path.s, err);
    if (rc == 0)
        rc = believe(o, err);
    return rc == 0 ? begin_or_go_on(o, err) : rc;
}

int xd_set_journal_open(struct xd_journal **out, struct xd_rangeset *out_held,
                        const struct xd_set_place *p, struct xd_sink *sink,
                        enum xd_set_opening how, struct xd_error *err)
{
    struct opening o = {.place = p, .sink = sink, .how = how};
    int rc = open_it(&o, err);

    if (rc == 0) {
        *out = o.journal;
        *out_held = o.held;
    } else {
        xd_journal_free(o.journal);
        xd_rangeset_fini(&o.held);
    }
    xd_journal_contents_fini(&o.contents);
    xd_text_fini(&o.path);
    return rc;
}

int xd_set_journal_note_failure(const struct xd_set_place *p,
                                struct xd_sink *sink, const char *hash,
                                struct xd_error *err)
{
    struct opening o = {.place = p, .sink = sink, .how = XD_SET_AGAIN};
    int rc = identify(&o, err);

    if (rc == 0)
        rc = xd_journal_open(&o.journal, &o.contents, xd_file_sink_folder(sink),
                             o.path.s, err);
    if (rc == 0)
        rc = begin_or_go_on(&o, err);
    if (rc == 0)
        rc = xd_journal_written(o.journal, o.identity.wanted, err);
    /* Short files are not synced, because there may be many and each sync takes
     * long.  After a reboot they are fetched again. */
    if (rc == 0 && xd_set_place_size(p) > XD_JOURNAL_LEAST_OF_SET)
        rc = xd_journal_sync(o.journal, sink, err);
    if (rc == 0)
        rc = xd_journal_failed(o.journal, hash, err);
    xd_journal_free(o.journal);
    xd_journal_contents_fini(&o.contents);
    xd_text_fini(&o.path);
    return rc;
}

/* Syncs the file and its journal, and compacts the journal.  If compaction
 * fails, the journal only stays longer. */
int xd_set_journal_sync(struct xd_journal *j, struct xd_sink *sink,
                        struct xd_error *err)
{
    int rc = xd_journal_sync(j, sink, err);

    if (rc == 0)
        (void)xd_journal_shrink(j, NULL);
    return rc;
}

void xd_set_journal_remove(const struct xd_sink *sink)
{
    struct xd_text path = {0};

    if (name_it(&path, sink) == 0)
        (void)xd_journal_remove_at(xd_file_sink_folder(sink), path.s, NULL);
    xd_text_fini(&path);
}

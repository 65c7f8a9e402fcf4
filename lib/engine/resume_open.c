#include "engine/resume.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/decide.h"
#include "engine/engine.h"
#include "io/journal/journal.h"
#include "os/file.h"

typedef unsigned long long ull;

/* What is fetched again as fast as a journal is read. */
#define SMALL ((uint64_t)1 << 20)

/* What open() works with, without the lock. */
struct opening {
    struct xd_engine *e;
    char *path; /* of the journal */
    struct xd_journal *journal;
    struct xd_journal_identity identity;
    struct xd_journal_story story;
    struct xd_rangeset held;
    struct xd_text hashes;
    char boot_id[XD_BOOT_ID_SIZE];
    bool had_journal;
    bool is_on_trust;
    const char *warning; /* or NULL */
};

static const char *part_of(const struct opening *o)
{
    return xd_file_sink_part(o->e->sink);
}

static int folder_of(const struct opening *o)
{
    return xd_file_sink_folder(o->e->sink);
}

static bool size_is_known(const struct opening *o)
{
    return o->identity.size != XD_SIZE_UNKNOWN;
}

static int check_space(struct opening *o, struct xd_error *err)
{
    uint64_t needed = xd_range_length(o->identity.wanted), space;

    if (!size_is_known(o) || xd_file_sink_space(o->e->sink, &space, NULL) < 0 ||
        needed <= space)
        return 0;
    return xd_fail(err, XD_E_IO,
                   "%s: %llu bytes are too many for its disk, which has room "
                   "for %llu",
                   part_of(o), (ull)needed, (ull)space);
}

int xd_resume_identify(const struct xd_manifest *m, size_t file,
                       const char *path, struct xd_text *hashes,
                       struct xd_journal_identity *out, struct xd_error *err)
{
    const char *slash = strrchr(path, '/');
    struct xd_hash hash = {.struct_size = sizeof hash};

    for (size_t i = 0; xd_manifest_hash(m, file, i, &hash) == 0; i++) {
        if (xd_hash_strength(hash.algorithm) >= 0 &&
            (hashes->len == 0 || hash.is_given))
            xd_text_addf(hashes, "%s:%s\n", hash.algorithm, hash.hex);
    }
    if (hashes->failed)
        return xd_fail_nomem(err);
    *out = (struct xd_journal_identity){.name = slash ? slash + 1 : path,
                                        .hashes = hashes->s ? hashes->s : ""};
    return 0;
}

static int identify(struct opening *o, struct xd_error *err)
{
    struct xd_engine *e = o->e;
    struct xd_text path = {0};
    int rc;

    xd_boot_id(o->boot_id);
    xd_text_addf(&path, "%s.journal", part_of(o));
    o->path = path.s;
    if (path.failed)
        return xd_fail_nomem(err);
    rc = xd_resume_identify(e->depots.manifest, e->depots.file, e->path,
                            &o->hashes, &o->identity, err);
    o->identity.size = e->depots.size;
    o->identity.wanted = e->wanted;
    return rc;
}

/* A .part without a journal is ours if it is small; else it may be anybody's:
 * browsers call unfinished files so too. */
static int begin_without_journal(struct opening *o, struct xd_error *err)
{
    uint64_t found = xd_file_sink_found(o->e->sink);

    if (found >= SMALL && !o->e->options.no_continue)
        return xd_fail(err, XD_E_IO,
                       "%s: has %llu bytes, and no journal says of what: "
                       "--no-continue begins it anew",
                       part_of(o), (ull)found);
    return found > 0 ? xd_file_sink_empty(o->e->sink, err) : 0;
}

static int fail_other(const struct opening *o, const char *what,
                      struct xd_error *err)
{
    return xd_fail(err, XD_E_IO,
                   "%s: is of another file than the one to be fetched, as %s "
                   "says: its %s differs; --no-continue begins it anew",
                   part_of(o), o->path, what);
}

static int check_identity(const struct opening *o, struct xd_error *err)
{
    const struct xd_journal_story *story = &o->story;
    const struct xd_journal_identity *identity = &o->identity;
    const char *hashes = story->hashes.s ? story->hashes.s : "";

    if (strcmp(story->name, identity->name) != 0)
        return fail_other(o, "name", err);
    if (story->size != identity->size)
        return fail_other(o, "size", err);
    if (story->wanted.begin != identity->wanted.begin ||
        story->wanted.end != identity->wanted.end)
        return fail_other(o, "range", err);
    if (xd_journal_compare_hashes(hashes, identity->hashes) < 0)
        return fail_other(o, "hash", err);
    return 0;
}

/* Whether a depot that told a validator before is among those of this run. */
static bool shares_depot(const struct opening *o)
{
    const struct xd_depots *d = &o->e->depots;

    if (o->story.depots.len == 0)
        return false;
    for (size_t i = 0; i < d->n; i++) {
        for (size_t j = 0; j < d->list[i].n_sources; j++) {
            char *url = xd_url_public(d->list[i].sources[j].url);
            size_t len;
            bool is_known = url && xd_resume_find_validator(o->story.depots.s,
                                                            url, &len) != NULL;

            xd_free(url);
            if (is_known)
                return true;
        }
    }
    return false;
}

/* Whether what is there may be taken for bytes of this file. */
static bool is_credible(struct opening *o)
{
    const struct xd_verify *v = &o->e->verify;
    const char *hashes = o->story.hashes.s ? o->story.hashes.s : "";

    if (!size_is_known(o))
        return false;
    if (xd_journal_compare_hashes(hashes, o->identity.hashes) > 0 || v->whole ||
        (v->pieces.n > 0 && xd_pieces_cover(&v->pieces, o->e->wanted)))
        return true;
    o->is_on_trust = shares_depot(o);
    return o->is_on_trust;
}

static int believe(struct opening *o, struct xd_error *err)
{
    if (!o->story.has_header) {
        if (xd_file_sink_found(o->e->sink) > 0)
            o->warning = o->had_journal ? "its journal is damaged"
                                        : "no journal says what is in it";
        return 0;
    }
    if (o->e->options.no_continue)
        return 0;
    if (check_identity(o, err) < 0)
        return XD_E_IO;
    if (!is_credible(o)) {
        if (xd_file_sink_found(o->e->sink) > 0)
            o->warning = "nothing tells that the depots hold the same file";
        return 0;
    }
    if (xd_journal_believed(&o->story, o->boot_id,
                            xd_file_sink_found(o->e->sink), &o->held) < 0)
        return xd_fail_nomem(err);
    return 0;
}

/* A file that many runs have worked at has a long journal. */
static int go_on(struct opening *o, struct xd_error *err)
{
    struct xd_error why = {0};
    int rc = xd_journal_continue(o->journal, &o->story, o->boot_id, err);

    if (rc == 0 && xd_journal_shrink(o->journal, &why) < 0)
        xd_log(&o->e->log, XD_LOG_WARN, "%s", why.msg);
    return rc;
}

static int open_journal(struct opening *o, struct xd_error *err)
{
    int rc =
        xd_journal_open(&o->journal, &o->story, folder_of(o), o->path, err);

    if (rc == 0)
        rc = believe(o, err);
    if (rc < 0)
        return rc;
    if (o->held.bytes > 0)
        return go_on(o, err);
    /* First the journal: nothing may say of an empty file what is in it. */
    rc = xd_journal_restart(o->journal, &o->identity, o->boot_id, err);
    return rc < 0 ? rc : xd_file_sink_empty(o->e->sink, err);
}

static int open_all(struct opening *o, struct xd_error *err)
{
    int rc = identify(o, err);

    if (rc == 0)
        rc = check_space(o, err);
    if (rc < 0)
        return rc;
    o->had_journal = xd_file_exists(folder_of(o), o->path);
    if (!o->had_journal)
        rc = begin_without_journal(o, err);
    if (rc == 0 &&
        (o->had_journal || xd_range_length(o->identity.wanted) >= SMALL))
        rc = open_journal(o, err);
    return rc;
}

static void take_over_locked(struct opening *o)
{
    struct xd_engine *e = o->e;
    struct xd_resume *r = &e->resume;

    r->journal = o->journal;
    r->notes_bytes = o->journal && size_is_known(o);
    r->is_on_trust = o->is_on_trust && o->held.bytes > 0;
    r->depots = o->story.depots;
    o->journal = NULL;
    o->story.depots = (struct xd_text){0};
    if (o->warning)
        xd_engine_say_locked(e, XD_LOG_WARN, "%s: begun anew: %s", part_of(o),
                             o->warning);
    if (o->held.bytes > 0)
        xd_engine_say_locked(
            e, XD_LOG_INFO, "%s: %llu of %llu bytes are there already",
            part_of(o), (ull)o->held.bytes, (ull)xd_range_length(e->wanted));
    for (size_t i = 0; i < o->held.n; i++)
        xd_verify_held_locked(e, o->held.ranges[i]);
}

bool xd_resume_must_open_locked(const struct xd_engine *e)
{
    return e->path && !e->resume.is_open && !e->census &&
           e->state == ENGINE_RUNNING;
}

void xd_resume_open_locked(struct xd_engine *e)
{
    struct opening o = {.e = e};
    struct xd_error error = {0};
    int rc;

    xd_engine_unlock(e);
    rc = open_all(&o, &error);
    xd_engine_lock(e);
    e->resume.is_open = true;
    if (rc < 0) {
        if (!o.had_journal && o.journal)
            (void)xd_journal_remove(o.journal, NULL);
        xd_engine_fail_locked(e, &error);
    } else {
        take_over_locked(&o);
    }
    xd_decide_locked(e);
    xd_journal_free(o.journal);
    xd_journal_story_fini(&o.story);
    xd_rangeset_fini(&o.held);
    xd_text_fini(&o.hashes);
    xd_free(o.path);
}

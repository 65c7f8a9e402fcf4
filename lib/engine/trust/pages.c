/* SPDX-License-Identifier: MIT */
#include "engine/trust/pages.h"

#include "base/page.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/source.h"
#include "io/hash.h"
#include "manifest/model.h"

static bool has_hash(const struct xd_engine *e, struct xd_range range)
{
    const struct xd_manifest *m = e->depots.manifest;
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_hash hash = {.struct_size = sizeof hash};
    struct xd_extent extent = {.struct_size = sizeof extent};

    if (e->dest.output->has_many_files)
        return xd_pieces_cover(&e->verify.pieces, range);
    if (xd_manifest_file(m, e->depots.file, &file) == 0 && file.n_pieces > 0)
        return true;
    for (size_t i = 0; i < file.n_hashes; i++) {
        if (xd_manifest_hash(m, e->depots.file, i, &hash) == 0 &&
            xd_hash_strength(hash.algorithm) >= 0)
            return true;
    }
    for (size_t i = 0; i < file.n_extents; i++) {
        if (xd_manifest_extent(m, e->depots.file, i, &extent) == 0 &&
            extent.sha256)
            return true;
    }
    return false;
}

/* Returns the name that the file of a source will have, or NULL. */
static const char *file_name(const struct xd_engine *e,
                             const struct xd_depot_source *s)
{
    return e->dest.path && !e->dest.output->has_many_files ? e->dest.path
                                                           : s->in->path;
}

/* Only the beginning of an object can show that it is a web page. */
void xd_pages_learned(const struct xd_engine *e, struct xd_lane *lane,
                      const char *media_type)
{
    const struct xd_depot_source *s = lane->source;
    uint64_t at = xd_source_offset(s) + (xd_lane_end(lane) - s->range.begin);

    lane->may_be_page =
        at == 0 && !e->options.accept_html &&
        xd_page_is_likely(xd_source_url(s), file_name(e, s), media_type) &&
        !has_hash(e, s->range);
}

int xd_pages_look(struct xd_lane *lane, const void *data, size_t len)
{
    struct xd_error error = {0};

    if (!lane->may_be_page)
        return 0;
    lane->may_be_page = false;
    if (!xd_may_be_html(data, len))
        return 0;
    lane->is_refused = true;
    xd_page_fail(&error, xd_source_url(lane->source));
    lane->outcome = (struct xd_outcome){.verdict = XD_VERDICT_GONE,
                                        .error = error,
                                        .object_size = XD_SIZE_UNKNOWN};
    return error.code;
}

/* SPDX-License-Identifier: MIT */
#include "engine/resume_compare.h"

#include "base/choice.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "transfer/batch.h"

static int read_part(void *user, uint64_t offset, void *data, size_t len,
                     struct xd_error *err)
{
    const struct xd_engine *e = user;

    return xd_sink_read(e->dest.sink, offset - e->wanted.begin, data, len, err);
}

int xd_resume_compare(struct xd_engine *e, const struct xd_rangeset *held,
                      const char *known, struct xd_sample_check *out,
                      struct xd_error *err)
{
    const struct xd_batch_config config = xd_options_batch(&e->options);
    struct xd_depots depots;
    struct xd_choice choice = xd_options_choice(&e->options);
    int rc = xd_depots_init(&depots, e->depots.manifest, e->depots.file,
                            &choice, err);

    if (rc < 0)
        return rc;
    if (depots.size == XD_SIZE_UNKNOWN)
        xd_depots_set_size(&depots, e->depots.size);
    rc = xd_resume_open_batch(e, &config, xd_sample_check_slots(&depots), err);
    if (rc == 0) {
        *out = (struct xd_sample_check){.batch = e->resume.batch,
                                        .depots = &depots,
                                        .held = held,
                                        .read = read_part,
                                        .user = e,
                                        .known = known,
                                        .until = e->times.deadline};
        rc = xd_sample_check_run(out, err);
        xd_resume_close_batch(e);
    }
    xd_depots_fini(&depots);
    return rc;
}

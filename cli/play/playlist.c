/* SPDX-License-Identifier: MIT */
#include "play/playlist.h"

#include <stdio.h>

#include "common/status.h"
#include "common/words.h"

void playlist_init(struct playlist *p, struct catalog *s)
{
    *p = (struct playlist){.args = s->args, .catalog = s};
    playback_begin(&p->statistics, stdout, s->args, s->n > 1);
}

void playlist_fini(struct playlist *p)
{
    playlist_leave(p);
    playback_end(&p->statistics);
}

static void put(struct playlist *p, const struct catalog_source *of,
                struct xd_reader *viewer, double blocked_s)
{
    const char *name = of->file->name;

    playback_put(&p->statistics, &(struct playback){.name = *name ? name : NULL,
                                                    .source = of->source,
                                                    .viewer = viewer,
                                                    .blocked_s = blocked_s});
}

/* Returns the time in seconds for which the player waited for data.  A
 * simulated player has its own reader. */
static double blocked_s(const struct playlist *p)
{
    struct xd_playback b = {.struct_size = sizeof b};

    if (!p->args->simulate)
        return (double)p->now->file->blocked_ms / 1e3;
    xd_reader_playback(p->viewer, &b);
    return b.blocked_s;
}

/* Reports to the library that playback has ended at the last position. */
static void end_view(struct xd_reader *viewer)
{
    struct xd_playback b = {.struct_size = sizeof b};

    xd_reader_playback(viewer, &b);
    xd_reader_playhead(viewer, b.byte, 0, XD_PLAY_ENDED);
}

void playlist_leave(struct playlist *p)
{
    if (p->now == NULL)
        return;
    end_view(p->viewer);
    put(p, p->now, p->viewer, blocked_s(p));
    trace_viewer(p->now->trace, NULL);
    xd_reader_free(p->viewer);
    catalog_leave(p->catalog, p->now, CATALOG_CLIENT);
    p->now = NULL;
    p->viewer = NULL;
}

int playlist_turn_to(struct playlist *p, struct catalog_file *f)
{
    struct catalog_source *of;
    struct xd_error err;

    playlist_leave(p);
    int rc = catalog_enter(p->catalog, f, CATALOG_CLIENT, &of, &err);
    if (rc < 0)
        return status_of(rc);
    rc = xd_reader_new(&p->viewer, of->source, &err);
    if (rc < 0) {
        words_error("%s", err.msg);
        catalog_leave(p->catalog, of, CATALOG_CLIENT);
        return status_of(rc);
    }
    p->now = of;
    trace_viewer(of->trace, p->viewer);
    return 0;
}

void playlist_put_read(struct playlist *p)
{
    struct catalog *s = p->catalog;

    for (size_t i = 0; i < s->n; i++) {
        struct catalog_source *of = catalog_look_at(s, &s->files[i]);
        struct xd_error err;
        if (of == NULL)
            continue;
        if (s->n == 1 || xd_download_wait(xd_source_download(of->source), 0,
                                          &err) != XD_E_STATE)
            put(p, of, of->viewer.reader, (double)s->files[i].blocked_ms / 1e3);
        catalog_leave(s, of, CATALOG_OTHER);
    }
}

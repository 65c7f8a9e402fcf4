/* SPDX-License-Identifier: MIT */
#include "engine/set_space.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"
#include "io/part.h"
#include "os/disk.h"
#include "os/file.h"

/* Number of disks that are checked. */
#define MOST_DISKS 8

struct disk {
    uint64_t number, room, needed;
    size_t n; /* number of files */
};

struct disks {
    struct disk list[MOST_DISKS];
    size_t n;
};

/* Returns NULL if the disk is unknown. */
static struct disk *disk_of(struct disks *d, const struct xd_set *s,
                            size_t file)
{
    char *path = xd_set_place_path(&s->places[file], s->directory);
    uint64_t number, room;
    const bool is_known = path && xd_disk_room(path, &number, &room);

    xd_free(path);
    if (!is_known)
        return NULL;
    for (size_t k = 0; k < d->n; k++)
        if (d->list[k].number == number)
            return &d->list[k];
    if (d->n == MOST_DISKS)
        return NULL;
    d->list[d->n] = (struct disk){.number = number, .room = room};
    return &d->list[d->n++];
}

static bool is_wanted(const struct xd_set *s, size_t i)
{
    return !s->files[i].is_there && !s->files[i].is_unsized;
}

/* Adds the sizes of all files to the needs of their disks.  The sum cannot
 * overflow, because it is the size of the download. */
static void add_needs(struct disks *d, const struct xd_set *s)
{
    const char *last = NULL;
    struct disk *disk = NULL;

    for (size_t i = 0; i < s->n; i++) {
        const struct xd_set_place *p = &s->places[i];

        if (!is_wanted(s, i))
            continue;
        if (!last || !xd_path_is_beside(p->path, last))
            disk = disk_of(d, s, i);
        last = p->path;
        if (!disk)
            continue;
        disk->needed += xd_set_place_size(p);
        disk->n++;
    }
}

/* Returns the number of bytes in .part files of earlier runs, whose space is
 * reused.  Called only if it matters, because it examines each file. */
static uint64_t taken_by_parts(const struct xd_set *s)
{
    struct xd_text part = {0};
    uint64_t taken = 0;

    for (size_t i = 0; i < s->n; i++) {
        char *path = xd_set_place_path(&s->places[i], s->directory);

        xd_text_clear(&part);
        if (path)
            xd_part_path(&part, path, XD_PART);
        if (path && is_wanted(s, i) && !part.failed)
            taken += xd_disk_taken(part.s);
        xd_free(path);
    }
    xd_text_fini(&part);
    return taken;
}

static int fail_full(const struct disk *d, struct xd_error *err)
{
    char what[40];

    snprintf(what, sizeof what, "a download of %zu files", d->n);
    return xd_fail_disk_full(err, what, d->needed, d->room);
}

int xd_set_check_space(const struct xd_engine *e, struct xd_error *err)
{
    struct disks disks = {.n = 0};

    add_needs(&disks, &e->set);
    for (size_t i = 0; i < disks.n; i++) {
        const struct disk *d = &disks.list[i];

        if (d->needed > d->room &&
            d->needed - d->room > taken_by_parts(&e->set))
            return fail_full(d, err);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "engine/trust/fetched_version.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/string_hash.h"
#include "base/text.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/request_end.h"
#include "engine/resume.h"
#include "engine/source.h"
#include "os/file.h"
#include "os/file_note.h"

#define KEY_SIZE 17

static void make_key(const char *shown_url, size_t len, char out[KEY_SIZE])
{
    snprintf(out, KEY_SIZE, "%016" PRIx64, xd_string_hash(shown_url, len));
}

/* Adds a line to the note.  If it does not fit, it is omitted, and fewer
 * validators can be compared later. */
static void add_line(struct xd_text *note, const char *shown_url,
                     size_t url_len, const char *validator, size_t len)
{
    char key[KEY_SIZE];

    make_key(shown_url, url_len, key);
    if (note->len + KEY_SIZE + len < XD_FILE_NOTE_MAX)
        xd_text_addf(note, "%s %.*s\n", key, (int)len, validator);
}

/* Adds the lines of the form "URL validator" from earlier runs. */
static void add_earlier(struct xd_text *note, const char *list)
{
    while (list != NULL && *list != '\0') {
        const size_t line = strcspn(list, "\n"), url = strcspn(list, " \n");

        if (url < line)
            add_line(note, list, url, list + url + 1, line - url - 1);
        list += line + (list[line] == '\n');
    }
}

static void add_source(struct xd_text *note, const struct xd_depot_source *s)
{
    const char *const validator = xd_source_known(s)->validator;
    char *const url = xd_url_public(xd_source_url(s));

    if (url != NULL)
        add_line(note, url, strlen(url), validator, strlen(validator));
    xd_free(url);
}

/* Returns the depot's source of `range` if it has stated a validator and
 * still has the file, otherwise NULL.  The depot need not have delivered any
 * bytes. */
static const struct xd_depot_source *version_of_locked(struct xd_depot *depot,
                                                       struct xd_range range)
{
    const struct xd_depot_source *const s = xd_depot_any_source(depot, range);

    return s != NULL && xd_source_known(s)->validator != NULL &&
                   s->validators == XD_VALIDATORS_HOLD && !s->is_gone &&
                   !depot->is_banned && depot->state != XD_DEPOT_FAILED
               ? s
               : NULL;
}

bool xd_fetched_version_needs(const struct xd_engine *e,
                              const struct xd_depot_source *s)
{
    const size_t i =
        (size_t)(xd_set_place_of(e, s->range.begin) - e->set.places);

    return xd_source_known(s)->validator &&
           e->set.files[i].state <= XD_SET_COMPLETE;
}

char *xd_fetched_version_locked(const struct xd_engine *e,
                                struct xd_range range)
{
    struct xd_text note = {.s = NULL};

    add_earlier(&note, e->resume.depots.s);
    for (size_t i = 0; i < e->depots.n; i++) {
        const struct xd_depot_source *const s =
            version_of_locked(e->depots.list[i], range);

        if (s != NULL)
            add_source(&note, s);
    }
    if (!note.failed)
        return note.s;
    xd_text_fini(&note);
    return NULL;
}

/* Releases the facts that were written to the note.  For 100,000 files they
 * would take too much memory. */
static void forget_locked(struct xd_engine *e, struct xd_range range)
{
    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *const depot = e->depots.list[i];
        struct xd_depot_source *const s = xd_depot_source(depot, range);

        if (s != NULL && s->facts != NULL)
            xd_request_forget_answers_locked(depot, s);
    }
}

void xd_fetched_version_keep(struct xd_engine *e, size_t i)
{
    const struct xd_set_place *const place = &e->set.places[i];
    struct xd_range range = place->range;
    char *path, *note;
    uint64_t size;
    int fd;

    xd_engine_lock(e);
    range.end = range.begin + xd_set_place_size(place);
    note = xd_fetched_version_locked(e, range);
    forget_locked(e, range);
    xd_engine_unlock(e);
    path = note != NULL ? xd_set_place_path(place, e->set.directory) : NULL;
    if (path != NULL && xd_file_open(&fd, &size, path, NULL) == 0) {
        xd_file_set_note(fd, note);
        xd_file_close(fd);
    }
    xd_free(path);
    xd_free(note);
}

char *xd_fetched_version_known(int fd, const struct xd_depots *d)
{
    struct xd_text known = {.s = NULL};
    char *const note = xd_file_note(fd);

    for (size_t i = 0; note != NULL && i < d->n; i++) {
        const struct xd_depot_source *s = NULL;

        while ((s = xd_depot_next_source(d->list[i], s)) != NULL) {
            char *const url = xd_url_public(xd_source_url(s));
            const char *validator = NULL;
            char key[KEY_SIZE];
            size_t len;

            if (url != NULL) {
                make_key(url, strlen(url), key);
                validator = xd_resume_find_validator(note, key, &len);
            }
            if (validator != NULL)
                xd_text_addf(&known, "%s %.*s\n", url, (int)len, validator);
            xd_free(url);
        }
    }
    xd_free(note);
    if (!known.failed)
        return known.s;
    xd_text_fini(&known);
    return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "publish/inventory_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/number.h"

#define FORM "1"

/* ---- objects that were made ---- */

/* Returns whether the object name contains the name prefix of an upload.  False
 * for IBP, where the depot chooses the names. */
static bool has_name(const char *manage, const char *name)
{
    return name[0] != '\0' && strstr(manage, name) != NULL;
}

/* Adds a name to the list of our objects.  Returns false if memory runs out. */
static bool add_own(struct xd_inventory_notes *notes, struct xd_span manage)
{
    char **more =
        xd_grow(notes->own, notes->n_own, &notes->own_capacity, sizeof *more);

    if (!more)
        return false;
    notes->own = more;
    more += notes->n_own;
    *more = xd_strndup(manage.s, manage.len);
    notes->n_own += *more != NULL;
    return *more != NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_own(struct xd_inventory_notes *notes)
{
    if (notes->n_own > 0)
        qsort(notes->own, notes->n_own, sizeof *notes->own, by_text);
}

/* ---- objects that are pending ---- */

static void copy_span(char *to, size_t size, struct xd_span s)
{
    snprintf(to, size, "%.*s", (int)s.len, s.s);
}

struct xd_pending_object *xd_inventory_notes_add(
    struct xd_inventory_notes *notes, struct xd_range range)
{
    struct xd_pending_object *more =
        xd_grow(notes->pending, notes->n_pending, &notes->pending_capacity,
                sizeof *more);

    if (!more)
        return NULL;
    notes->pending = more;
    more += notes->n_pending++;
    *more = (struct xd_pending_object){.range = range};
    return more;
}

size_t xd_inventory_notes_find(const struct xd_inventory_notes *notes,
                               struct xd_span manage)
{
    size_t i = 0;

    while (i < notes->n_pending &&
           !xd_span_is(manage, notes->pending[i].object.manage))
        i++;
    return i;
}

bool xd_inventory_notes_end(struct xd_inventory_notes *notes,
                            struct xd_span manage)
{
    const size_t i = xd_inventory_notes_find(notes, manage);

    if (i == notes->n_pending)
        return false;
    xd_object_fini(&notes->pending[i].object);
    notes->pending[i] = notes->pending[--notes->n_pending];
    return true;
}

/* Reads a pending object.  Returns false if the value is malformed or memory
 * runs out. */
static bool read_pending(struct xd_inventory_notes *notes, struct xd_span value)
{
    struct xd_pending_object read, *p = NULL;

    if (xd_pending_read(&read, value)) {
        xd_inventory_notes_end(notes, xd_span_of(read.object.manage));
        p = xd_inventory_notes_add(notes, read.range);
    }
    if (p)
        p->object = read.object;
    else
        xd_object_fini(&read.object);
    return p != NULL;
}

/* Reads a replica from the journal.  Returns false if the value is malformed or
 * memory runs out. */
static bool read_there(struct xd_inventory_notes *notes, struct xd_span value)
{
    struct xd_made *m =
        xd_grow(notes->made, notes->n_made, &notes->made_capacity, sizeof *m);

    if (!m)
        return false;
    notes->made = m;
    m += notes->n_made++;
    if (!xd_made_read(m, value))
        return false;
    if (m->object.manage)
        xd_inventory_notes_end(notes, xd_span_of(m->object.manage));
    return true;
}

/* Reads a replaced replica.  Returns false if the value is malformed or memory
 * runs out. */
static bool read_replaced(struct xd_inventory_notes *notes,
                          struct xd_span value)
{
    struct xd_replaced_object *more =
        xd_grow(notes->replaced, notes->n_replaced, &notes->replaced_capacity,
                sizeof *more);

    if (!more)
        return false;
    notes->replaced = more;
    return xd_replaced_read(&more[notes->n_replaced++], value);
}

/* ---- lines ---- */

static const char *const commands[] = {[XD_COMMAND_ADD] = "add",
                                       [XD_COMMAND_PARITY] = "parity",
                                       [XD_COMMAND_HEAL] = "heal"};

/* Reads the name of a command.  Returns false if there is no such command. */
static bool read_command(struct xd_inventory_note *noted, struct xd_span value)
{
    for (int i = XD_COMMAND_ADD; i <= XD_COMMAND_HEAL; i++) {
        if (xd_span_is(value, commands[i])) {
            noted->command = (enum xd_inventory_command)i;
            return true;
        }
    }
    return false;
}

/* Reads a line.  Sets *is_bad if the line is malformed or memory runs out. */
static void read_line(struct xd_inventory_notes *notes, struct xd_span line,
                      bool *is_bad)
{
    struct xd_span value;

    if (xd_inventory_value(line, "upload", &value)) {
        *is_bad |= !xd_span_is(value, FORM);
    } else if (xd_inventory_value(line, "drop", &value)) {
        *is_bad |= !xd_span_is(value, FORM);
        notes->drops = true;
    } else if (xd_inventory_value(line, "name", &value)) {
        *is_bad |= value.len != XD_INVENTORY_NAME_SIZE - 1;
        copy_span(notes->noted.name, sizeof notes->noted.name, value);
    } else if (xd_inventory_value(line, "extent", &value)) {
        *is_bad |=
            !xd_parse_u64(value.s, value.len, &notes->noted.extent_bytes) ||
            notes->noted.extent_bytes == 0;
    } else if (xd_inventory_value(line, "stamp", &value)) {
        copy_span(notes->noted.stamp, sizeof notes->noted.stamp, value);
    } else if (xd_inventory_value(line, "command", &value)) {
        *is_bad |= !read_command(&notes->noted, value);
    } else if (xd_inventory_value(line, "pending", &value)) {
        *is_bad |= !read_pending(notes, value);
    } else if (xd_inventory_value(line, "replaced", &value)) {
        *is_bad |= !read_replaced(notes, value);
    } else if (xd_inventory_value(line, "made", &value)) {
        *is_bad |= !add_own(notes, value);
    } else if (xd_inventory_value(line, "over", &value)) {
        xd_inventory_notes_end(notes, value);
    } else if (xd_inventory_value(line, "there", &value)) {
        *is_bad |= !read_there(notes, value);
    }
}

bool xd_inventory_notes_read(struct xd_inventory_notes *notes, const char *s)
{
    bool is_bad = false;

    while (*s != '\0' && !is_bad) {
        const size_t n = strcspn(s, "\n");

        read_line(notes, xd_span_trim(xd_span(s, n)), &is_bad);
        s += n + (s[n] == '\n');
    }
    sort_own(notes);
    return !is_bad;
}

/* Remembers the names of objects that do not contain the name prefix of the
 * upload.  Without this list, these objects could not be recognised as our own
 * later. */
bool xd_inventory_notes_forget_made(struct xd_inventory_notes *notes)
{
    bool is_done = true;

    for (size_t i = 0; i < notes->n_made; i++) {
        struct xd_object *o = &notes->made[i].object;

        if (o->manage && !has_name(o->manage, notes->noted.name))
            is_done &= add_own(notes, xd_span_of(o->manage));
        xd_object_fini(o);
    }
    notes->n_made = 0;
    sort_own(notes);
    return is_done;
}

bool xd_inventory_notes_has_named(const struct xd_inventory_notes *notes,
                                  const char *manage)
{
    return has_name(manage, notes->noted.name);
}

bool xd_inventory_notes_is_own(const struct xd_inventory_notes *notes,
                               const char *manage)
{
    return has_name(manage, notes->noted.name) ||
           (notes->n_own > 0 && bsearch(&manage, notes->own, notes->n_own,
                                        sizeof *notes->own, by_text) != NULL);
}

static bool keep(struct xd_inventory_notes *notes, const char *manage)
{
    return !manage || !has_name(manage, notes->noted.name) ||
           add_own(notes, xd_span_of(manage));
}

bool xd_inventory_notes_keep(struct xd_inventory_notes *notes,
                             const struct xd_model_file *f)
{
    bool is_done = true;

    for (size_t i = 0; i < xd_model_n_replicas(f); i++)
        is_done &= keep(notes, xd_model_manage(f, i));
    for (size_t i = 0; i < f->rare->n_stripes; i++)
        for (size_t k = 0; k < f->rare->stripes[i].n_replicas; k++)
            is_done &= keep(notes, f->rare->stripes[i].replicas[k].manage);
    sort_own(notes);
    return is_done;
}

static void free_own(struct xd_inventory_notes *notes)
{
    for (size_t i = 0; i < notes->n_own; i++)
        xd_free(notes->own[i]);
    notes->n_own = 0;
}

void xd_inventory_notes_forget_own(struct xd_inventory_notes *notes)
{
    free_own(notes);
    notes->noted.name[0] = '\0';
}

static void write_own(struct xd_text *t, const struct xd_inventory_notes *notes,
                      const char *name)
{
    for (size_t i = 0; i < notes->n_own; i++)
        xd_text_addf(t, "made %s\n", notes->own[i]);
    for (size_t i = 0; i < notes->n_made; i++) {
        const char *manage = notes->made[i].object.manage;

        if (manage && !has_name(manage, name))
            xd_text_addf(t, "made %s\n", manage);
    }
}

/* Writes a replaced replica.  If this upload made the replica, it writes an
 * empty range, because the bad replica that it had replaced may still exist. */
static void write_row(struct xd_text *t, const struct xd_inventory_notes *notes,
                      const struct xd_model_file *f, size_t i, size_t place)
{
    const struct xd_model_extent *e = &f->extents[i];
    const char *manage = xd_model_manage(f, place);
    const bool is_own = manage && xd_inventory_notes_is_own(notes, manage);

    xd_replaced_write(
        t, (struct xd_range){e->offset, e->offset + (is_own ? 0 : e->length)},
        manage);
}

static void write_rows(struct xd_text *t,
                       const struct xd_inventory_notes *notes,
                       const struct xd_replaced_rows *rows)
{
    const struct xd_model_file *f = rows->file;

    for (size_t i = 0; rows->dropped && i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = e->first_replica; k < e->first_replica + e->n_replicas;
             k++)
            if (rows->dropped[k])
                write_row(t, notes, f, i, k);
    }
    for (size_t i = 0; rows->dropped_parity && i < f->rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &f->rare->stripes[i];

        for (size_t k = 0; k < s->n_replicas; k++)
            if (rows->dropped_parity[s->first_place + k])
                xd_replaced_write(t, (struct xd_range){f->size, f->size},
                                  s->replicas[k].manage);
    }
}

static void write_replaced(struct xd_text *t,
                           const struct xd_inventory_notes *notes,
                           const struct xd_replaced_rows *rows)
{
    for (size_t i = 0; i < notes->n_replaced; i++) {
        const struct xd_replaced_object *r = &notes->replaced[i];

        xd_replaced_write(t, r->range, r->manage[0] != '\0' ? r->manage : NULL);
    }
    if (rows)
        write_rows(t, notes, rows);
}

static void write_upload(struct xd_text *t,
                         const struct xd_inventory_notes *notes,
                         const struct xd_inventory_note *note,
                         const struct xd_replaced_rows *rows)
{
    xd_text_addf(t, "upload " FORM "\nname %s\nextent %llu\n", note->name,
                 (unsigned long long)note->extent_bytes);
    if (note->command != XD_COMMAND_UNKNOWN)
        xd_text_addf(t, "command %s\n", commands[note->command]);
    if (note->stamp[0] != '\0') {
        xd_text_addf(t, "stamp %s\n", note->stamp);
        return;
    }
    write_own(t, notes, note->name);
    write_replaced(t, notes, rows);
}

char *xd_inventory_notes_write(const struct xd_inventory_notes *notes,
                               const struct xd_inventory_note *note,
                               const struct xd_replaced_rows *rows)
{
    struct xd_text t = {.s = NULL};

    if (notes->drops)
        xd_text_addf(&t, "drop " FORM "\n");
    else
        write_upload(&t, notes, note, rows);
    for (size_t i = 0; i < notes->n_pending; i++)
        xd_pending_write(&t, &notes->pending[i]);
    if (t.failed)
        xd_text_fini(&t);
    return t.s;
}

void xd_inventory_notes_fini(struct xd_inventory_notes *notes)
{
    for (size_t i = 0; i < notes->n_made; i++)
        xd_object_fini(&notes->made[i].object);
    for (size_t i = 0; i < notes->n_pending; i++)
        xd_object_fini(&notes->pending[i].object);
    for (size_t i = 0; i < notes->n_replaced; i++)
        xd_free(notes->replaced[i].manage);
    free_own(notes);
    xd_free(notes->replaced);
    xd_free(notes->made);
    xd_free(notes->pending);
    xd_free(notes->own);
}

/* SPDX-License-Identifier: MIT */
#include "io/journal/journal_text.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/number.h"
#include "io/journal/journal_record.h"

/* A journal with larger values is treated as damaged.  The limits bound the
 * time for reading, which grows with the products of these numbers.  Real
 * downloads stay far below. */
#define MAX_RANGES ((size_t)1 << 16)
/* largest number of records between two syncs */
#define MAX_WRITTEN ((size_t)1 << 18)
#define MAX_DROPPED ((size_t)1 << 14)

void xd_journal_contents_fini(struct xd_journal_contents *s)
{
    xd_text_fini(&s->hashes);
    xd_text_fini(&s->depots);
    xd_text_fini(&s->failed);
    xd_rangeset_fini(&s->synced);
    xd_free(s->written);
    *s = (struct xd_journal_contents){0};
}

/* The take_ functions return 1 for a valid record, 0 for an invalid one, or
 * NOMEM. */
static int take_header(struct xd_journal_contents *s, const unsigned char *body,
                       size_t len)
{
    const size_t magic = strlen(XD_JOURNAL_MAGIC);
    const unsigned char *name = body + magic + 24, *newline;
    size_t rest;

    if (s->has_header || len < magic + 24 ||
        memcmp(body, XD_JOURNAL_MAGIC, magic) != 0)
        return 0;
    rest = len - magic - 24;
    newline = memchr(name, '\n', rest);
    if (!newline || (size_t)(newline - name) >= sizeof s->name ||
        memchr(name, '\0', rest))
        return 0;
    s->size = xd_journal_number(body + magic, 8);
    s->wanted.begin = xd_journal_number(body + magic + 8, 8);
    s->wanted.end = xd_journal_number(body + magic + 16, 8);
    if (s->wanted.begin > s->wanted.end || s->wanted.end > s->size)
        return 0;
    memcpy(s->name, name, (size_t)(newline - name));
    s->name[newline - name] = '\0';
    xd_text_add(&s->hashes, (const char *)newline + 1,
                rest - (size_t)(newline - name) - 1);
    s->has_header = true;
    return s->hashes.failed ? XD_E_NOMEM : 1;
}

/* Parses the record that starts a run.  After a reboot, bytes that were not
 * synced may be lost. */
static int take_session(struct xd_journal_contents *s,
                        const unsigned char *body, size_t len)
{
    char boot_id[sizeof s->boot_id];

    if (len >= sizeof boot_id || memchr(body, '\0', len))
        return 0;
    memcpy(boot_id, body, len);
    boot_id[len] = '\0';
    if (len == 0 || strcmp(boot_id, s->boot_id) != 0)
        s->n_written = 0;
    memcpy(s->boot_id, boot_id, sizeof boot_id);
    return 1;
}

static int get_range(const struct xd_journal_contents *s,
                     const unsigned char *body, size_t len,
                     struct xd_range *out)
{
    if (len != 16)
        return 0;
    *out = (struct xd_range){xd_journal_number(body, 8),
                             xd_journal_number(body + 8, 8)};
    return out->begin < out->end && out->begin >= s->wanted.begin &&
           out->end <= s->wanted.end;
}

static int add_written(struct xd_journal_contents *s, struct xd_written w)
{
    struct xd_written *list =
        xd_grow(s->written, s->n_written, &s->capacity, sizeof *list);

    if (!list)
        return XD_E_NOMEM;
    s->written = list;
    s->written[s->n_written++] = w;
    return 0;
}

static int take_written(struct xd_journal_contents *s,
                        const unsigned char *body, size_t len)
{
    struct xd_range range;

    if (!get_range(s, body, len, &range) || s->n_written == MAX_WRITTEN)
        return 0;
    return add_written(s, (struct xd_written){range, s->length}) < 0
               ? XD_E_NOMEM
               : 1;
}

/* Removes `gone` from the unsynced records.  A record can be split in two, so
 * their number may grow. */
static int cut_written(struct xd_journal_contents *s, struct xd_range gone)
{
    size_t n = s->n_written;

    for (size_t i = 0; i < n; i++) {
        struct xd_range *r = &s->written[i].range;
        struct xd_range after = {gone.end, r->end};

        if (r->end <= gone.begin || r->begin >= gone.end)
            continue;
        r->end = gone.begin > r->begin ? gone.begin : r->begin;
        if (after.begin >= after.end)
            continue;
        if (xd_range_is_empty(*r)) {
            *r = after;
            continue;
        }
        if (s->n_written == MAX_WRITTEN)
            return 0;
        if (add_written(s, (struct xd_written){after, s->written[i].at}) < 0)
            return XD_E_NOMEM;
    }
    return 1;
}

static int take_dropped(struct xd_journal_contents *s,
                        const unsigned char *body, size_t len)
{
    struct xd_range range;

    if (!get_range(s, body, len, &range) || s->n_dropped++ == MAX_DROPPED)
        return 0;
    if (xd_rangeset_remove(&s->synced, range) < 0)
        return XD_E_NOMEM;
    return cut_written(s, range);
}

static int take_synced(struct xd_journal_contents *s, const unsigned char *body,
                       size_t len)
{
    size_t n = 0;
    uint64_t mark;

    if (len != 8 || (mark = xd_journal_number(body, 8)) > s->length)
        return 0;
    for (size_t i = 0; i < s->n_written; i++) {
        struct xd_written w = s->written[i];

        if (w.at >= mark) {
            s->written[n++] = w;
            continue;
        }
        if (!xd_range_is_empty(w.range) &&
            xd_rangeset_add(&s->synced, w.range) < 0)
            return XD_E_NOMEM;
        if (s->synced.n > MAX_RANGES)
            return 0;
    }
    s->n_written = n;
    return 1;
}

static int take_validator(struct xd_journal_contents *s,
                          const unsigned char *body, size_t len)
{
    if (len < 3 || body[len - 1] != '\n' || memchr(body, '\n', len - 1) ||
        !memchr(body, ' ', len) || memchr(body, '\0', len))
        return 0;
    xd_text_add(&s->depots, (const char *)body, len);
    return s->depots.failed ? XD_E_NOMEM : 1;
}

/* Parses the record of a failed file.  The last failure applies to all earlier
 * data. */
static int take_failed(struct xd_journal_contents *s, const unsigned char *body,
                       size_t len)
{
    if (len < 3 || body[len - 1] != '\n' || memchr(body, '\0', len))
        return 0;
    xd_text_clear(&s->failed);
    xd_text_add(&s->failed, (const char *)body, len);
    return s->failed.failed ? XD_E_NOMEM : 1;
}

static int take_record(struct xd_journal_contents *s, unsigned kind,
                       const unsigned char *body, size_t len)
{
    if ((kind == XD_JOURNAL_HEADER) == s->has_header)
        return 0;
    switch ((enum xd_journal_kind)kind) {
    case XD_JOURNAL_HEADER:
        return take_header(s, body, len);
    case XD_JOURNAL_SESSION:
        return take_session(s, body, len);
    case XD_JOURNAL_WRITTEN:
        return take_written(s, body, len);
    case XD_JOURNAL_DROPPED:
        return take_dropped(s, body, len);
    case XD_JOURNAL_SYNCED:
        return take_synced(s, body, len);
    case XD_JOURNAL_VALIDATOR:
        return take_validator(s, body, len);
    case XD_JOURNAL_FAILED:
        return take_failed(s, body, len);
    }
    return 0;
}

int64_t xd_journal_take(struct xd_journal_contents *s,
                        const unsigned char *data, size_t len, bool *out_is_bad)
{
    size_t done = 0;

    for (;;) {
        unsigned kind = 0;
        int64_t n =
            xd_journal_get_record(data + done, len - done, &kind, out_is_bad);
        int rc;

        if (n == 0)
            break;
        rc = take_record(s, kind, data + done + 4, (size_t)n - 8);
        if (rc < 0)
            return rc;
        *out_is_bad = rc == 0;
        if (*out_is_bad)
            break;
        done += (size_t)n;
        s->length += (uint64_t)n;
    }
    return (int64_t)done;
}

int xd_journal_believed(const struct xd_journal_contents *s,
                        const char *boot_id, uint64_t limit,
                        struct xd_rangeset *out)
{
    bool same_boot = *boot_id && strcmp(boot_id, s->boot_id) == 0;
    struct xd_range beyond = {0, UINT64_MAX};
    int rc = 0;

    xd_rangeset_init(out);
    if (!xd_add_u64(s->wanted.begin, limit, &beyond.begin))
        beyond.begin = UINT64_MAX;
    for (size_t i = 0; rc == 0 && i < s->synced.n; i++)
        rc = xd_rangeset_add(out, s->synced.ranges[i]);
    for (size_t i = 0; rc == 0 && same_boot && i < s->n_written; i++) {
        if (!xd_range_is_empty(s->written[i].range) && out->n <= MAX_RANGES)
            rc = xd_rangeset_add(out, s->written[i].range);
    }
    if (rc == 0 && !xd_range_is_empty(beyond))
        rc = xd_rangeset_remove(out, beyond);
    if (rc < 0)
        xd_rangeset_fini(out);
    return rc;
}

static void append_record(struct xd_text *out,
                          const struct xd_journal_record *r)
{
    xd_text_add(out, (const char *)r->bytes, r->len);
}

static void append_written(struct xd_text *out, const struct xd_rangeset *set)
{
    struct xd_journal_record r;

    for (size_t i = 0; i < set->n; i++) {
        xd_journal_put_range(&r, XD_JOURNAL_WRITTEN, set->ranges[i]);
        append_record(out, &r);
    }
}

/* Writes unsynced ranges merged and in order. */
static int append_unsynced(struct xd_text *out,
                           const struct xd_journal_contents *s)
{
    struct xd_rangeset set;
    int rc = 0;

    xd_rangeset_init(&set);
    for (size_t i = 0; rc == 0 && i < s->n_written; i++) {
        if (!xd_range_is_empty(s->written[i].range))
            rc = xd_rangeset_add(&set, s->written[i].range);
    }
    if (rc == 0)
        append_written(out, &set);
    xd_rangeset_fini(&set);
    return rc;
}

/* Returns whether a later line has the same URL. */
static bool is_outdated(const char *line)
{
    size_t url = strcspn(line, " ") + 1;
    const char *later = line;

    while (*(later += strcspn(later, "\n") + 1)) {
        if (strncmp(later, line, url) == 0)
            return true;
    }
    return false;
}

static void append_validators(struct xd_text *out, const char *list)
{
    struct xd_journal_record r;

    while (list && *list) {
        size_t len = strcspn(list, "\n") + 1;

        if (!is_outdated(list)) {
            xd_journal_put_line(&r, list, len);
            append_record(out, &r);
        }
        list += len;
    }
}

int xd_journal_format(const struct xd_journal_contents *s, struct xd_text *out)
{
    struct xd_journal_identity identity = {.name = s->name,
                                           .size = s->size,
                                           .wanted = s->wanted,
                                           .hashes =
                                               s->hashes.s ? s->hashes.s : ""};
    struct xd_journal_record r;

    xd_journal_put_header(&r, &identity);
    append_record(out, &r);
    append_written(out, &s->synced);
    xd_journal_put_synced(&r, out->len);
    append_record(out, &r);
    xd_journal_put_session(&r, s->boot_id);
    append_record(out, &r);
    if (append_unsynced(out, s) < 0)
        return XD_E_NOMEM;
    append_validators(out, s->depots.s);
    if (s->failed.len > 0) {
        xd_journal_put_failed(&r, s->failed.s);
        append_record(out, &r);
    }
    return out->failed ? XD_E_NOMEM : 0;
}

/* Recognizes a file with the start of a header, and then zeros where data did
 * not reach the disk before a power failure. */
bool xd_journal_is_ours(const unsigned char *data, size_t len)
{
    unsigned char first[4 + sizeof XD_JOURNAL_MAGIC - 1] = {XD_JOURNAL_HEADER};
    size_t i = 0;

    memcpy(first + 4, XD_JOURNAL_MAGIC, sizeof first - 4);
    if (len > sizeof first)
        len = sizeof first;
    /* Bytes 2 and 3 are the length of the record. */
    while (i < len && (data[i] == first[i] || i == 2 || i == 3))
        i++;
    while (i < len && data[i] == 0)
        i++;
    return i == len;
}

/* Returns the line in `list` with the algorithm of `line`; or NULL. */
static const char *find_algorithm(const char *list, const char *line)
{
    size_t len = strcspn(line, ":\n") + 1;

    while (*list) {
        if (strncmp(list, line, len) == 0)
            return list;
        list += strcspn(list, "\n");
        list += *list == '\n';
    }
    return NULL;
}

int xd_journal_compare_hashes(const char *a, const char *b)
{
    int result = 0;

    while (a && *a) {
        size_t len = strcspn(a, "\n");
        const char *other = find_algorithm(b, a);

        if (other &&
            (strcspn(other, "\n") != len || strncmp(a, other, len) != 0))
            return -1;
        if (other)
            result = 1;
        a += len;
        a += *a == '\n';
    }
    return result;
}

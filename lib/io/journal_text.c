#include "io/journal_text.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/number.h"

/* What goes beyond these is taken for damage: the time that reading takes grows
 * with their products, and no download comes near. */
#define MAX_RANGES ((size_t)1 << 16)
#define MAX_WRITTEN ((size_t)1 << 18) /* records between two syncs */
#define MAX_DROPPED ((size_t)1 << 14)

/* CRC-32 as in zlib, bit by bit: a record is a few bytes. */
static uint32_t crc32_of(const unsigned char *p, size_t len)
{
    uint32_t crc = 0xffffffffu;

    while (len-- > 0) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return crc ^ 0xffffffffu;
}

static void put_number(unsigned char *p, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        p[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get_number(const unsigned char *p, size_t len)
{
    uint64_t value = 0;

    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

static void begin(struct xd_journal_record *r, enum xd_journal_kind kind)
{
    put_number(r->bytes, (uint64_t)kind, 2);
    r->len = 4;
}

/* len 0: the record is too long, which end() leaves so. */
static void add_bytes(struct xd_journal_record *r, const void *data, size_t len)
{
    if (r->len == 0 || len > XD_JOURNAL_BODY_MAX + 4 - r->len) {
        r->len = 0;
        return;
    }
    memcpy(r->bytes + r->len, data, len);
    r->len += len;
}

static void add_number(struct xd_journal_record *r, uint64_t value)
{
    unsigned char bytes[8];

    put_number(bytes, value, sizeof bytes);
    add_bytes(r, bytes, sizeof bytes);
}

static void end(struct xd_journal_record *r)
{
    if (r->len == 0)
        return;
    put_number(r->bytes + 2, r->len - 4, 2);
    put_number(r->bytes + r->len, crc32_of(r->bytes, r->len), 4);
    r->len += 4;
}

void xd_journal_put_header(struct xd_journal_record *r,
                           const struct xd_journal_identity *identity)
{
    begin(r, XD_JOURNAL_HEADER);
    add_bytes(r, XD_JOURNAL_MAGIC, strlen(XD_JOURNAL_MAGIC));
    add_number(r, identity->size);
    add_number(r, identity->wanted.begin);
    add_number(r, identity->wanted.end);
    add_bytes(r, identity->name, strlen(identity->name));
    add_bytes(r, "\n", 1);
    add_bytes(r, identity->hashes, strlen(identity->hashes));
    end(r);
}

void xd_journal_put_session(struct xd_journal_record *r, const char *boot_id)
{
    begin(r, XD_JOURNAL_SESSION);
    add_bytes(r, boot_id, strlen(boot_id));
    end(r);
}

void xd_journal_put_range(struct xd_journal_record *r,
                          enum xd_journal_kind kind, struct xd_range range)
{
    begin(r, kind);
    add_number(r, range.begin);
    add_number(r, range.end);
    end(r);
}

void xd_journal_put_synced(struct xd_journal_record *r, uint64_t mark)
{
    begin(r, XD_JOURNAL_SYNCED);
    add_number(r, mark);
    end(r);
}

void xd_journal_put_validator(struct xd_journal_record *r, const char *url,
                              const char *validator)
{
    begin(r, XD_JOURNAL_VALIDATOR);
    add_bytes(r, url, strlen(url));
    add_bytes(r, " ", 1);
    add_bytes(r, validator, strlen(validator));
    add_bytes(r, "\n", 1);
    end(r);
}

void xd_journal_story_fini(struct xd_journal_story *s)
{
    xd_text_fini(&s->hashes);
    xd_text_fini(&s->depots);
    xd_rangeset_fini(&s->synced);
    xd_free(s->written);
    *s = (struct xd_journal_story){0};
}

/* Each take_ returns 1 for a record that makes sense, 0 for one that does not,
 * or NOMEM. */
static int take_header(struct xd_journal_story *s, const unsigned char *body,
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
    s->size = get_number(body + magic, 8);
    s->wanted.begin = get_number(body + magic + 8, 8);
    s->wanted.end = get_number(body + magic + 16, 8);
    if (s->wanted.begin > s->wanted.end || s->wanted.end > s->size)
        return 0;
    memcpy(s->name, name, (size_t)(newline - name));
    s->name[newline - name] = '\0';
    xd_text_add(&s->hashes, (const char *)newline + 1,
                rest - (size_t)(newline - name) - 1);
    s->has_header = true;
    return s->hashes.failed ? XD_E_NOMEM : 1;
}

/* What another start of the machine had not brought to the disk may be lost. */
static int take_session(struct xd_journal_story *s, const unsigned char *body,
                        size_t len)
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

static int get_range(const struct xd_journal_story *s,
                     const unsigned char *body, size_t len,
                     struct xd_range *out)
{
    if (len != 16)
        return 0;
    *out = (struct xd_range){get_number(body, 8), get_number(body + 8, 8)};
    return out->begin < out->end && out->begin >= s->wanted.begin &&
           out->end <= s->wanted.end;
}

static int take_written(struct xd_journal_story *s, const unsigned char *body,
                        size_t len)
{
    struct xd_range range;

    if (!get_range(s, body, len, &range) || s->n_written == MAX_WRITTEN)
        return 0;
    if (s->n_written == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        struct xd_written *written =
            xd_realloc(s->written, capacity, sizeof *written);

        if (!written)
            return XD_E_NOMEM;
        s->written = written;
        s->capacity = capacity;
    }
    s->written[s->n_written++] = (struct xd_written){range, s->length};
    return 1;
}

/* Of a record that was written, what is left on either side of `gone`.  Copies
 * of one range are cut one by one, so that there may be more each time. */
static int cut_written(struct xd_journal_story *s, struct xd_range gone)
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
        if (s->n_written == s->capacity) {
            struct xd_written *written =
                xd_realloc(s->written, 2 * s->capacity, sizeof *written);

            if (!written)
                return XD_E_NOMEM;
            s->written = written;
            s->capacity *= 2;
        }
        s->written[s->n_written++] =
            (struct xd_written){after, s->written[i].at};
    }
    return 1;
}

static int take_dropped(struct xd_journal_story *s, const unsigned char *body,
                        size_t len)
{
    struct xd_range range;

    if (!get_range(s, body, len, &range) || s->n_dropped++ == MAX_DROPPED)
        return 0;
    if (xd_rangeset_remove(&s->synced, range) < 0)
        return XD_E_NOMEM;
    return cut_written(s, range);
}

static int take_synced(struct xd_journal_story *s, const unsigned char *body,
                       size_t len)
{
    size_t n = 0;
    uint64_t mark;

    if (len != 8 || (mark = get_number(body, 8)) > s->length)
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

static int take_validator(struct xd_journal_story *s, const unsigned char *body,
                          size_t len)
{
    if (len < 3 || body[len - 1] != '\n' || memchr(body, '\n', len - 1) ||
        !memchr(body, ' ', len) || memchr(body, '\0', len))
        return 0;
    xd_text_add(&s->depots, (const char *)body, len);
    return s->depots.failed ? XD_E_NOMEM : 1;
}

static int take_record(struct xd_journal_story *s, unsigned kind,
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
    }
    return 0;
}

int64_t xd_journal_take(struct xd_journal_story *s, const unsigned char *data,
                        size_t len, bool *out_is_bad)
{
    size_t done = 0;

    *out_is_bad = false;
    while (len - done >= 8) {
        const unsigned char *p = data + done;
        size_t body = (size_t)get_number(p + 2, 2);
        int rc;

        *out_is_bad = body > XD_JOURNAL_BODY_MAX;
        if (*out_is_bad || len - done < body + 8)
            break;
        *out_is_bad = get_number(p + 4 + body, 4) != crc32_of(p, 4 + body);
        if (*out_is_bad)
            break;
        rc = take_record(s, (unsigned)get_number(p, 2), p + 4, body);
        if (rc < 0)
            return rc;
        *out_is_bad = rc == 0;
        if (*out_is_bad)
            break;
        done += body + 8;
        s->length += body + 8;
    }
    return (int64_t)done;
}

int xd_journal_believed(const struct xd_journal_story *s, const char *boot_id,
                        uint64_t limit, struct xd_rangeset *out)
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

bool xd_journal_is_ours(const unsigned char *data, size_t len)
{
    const size_t magic = strlen(XD_JOURNAL_MAGIC);
    size_t zeros = 0;

    while (zeros < len && data[zeros] == 0)
        zeros++;
    if (zeros == len)
        return true;
    if (len > 4 + magic)
        len = 4 + magic;
    return len <= 4 || memcmp(data + 4, XD_JOURNAL_MAGIC, len - 4) == 0;
}

/* The line of `list` that begins as `line` does up to its colon; or NULL. */
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

/* SPDX-License-Identifier: MIT */
#include "io/journal/journal_record.h"

#include <string.h>

/* bytes of the header and the checksum around a body */
#define FRAME_BYTES ((size_t)8)

/* Computes the CRC-32 of zlib, bit by bit, because records are short. */
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

uint64_t xd_journal_number(const unsigned char *p, size_t len)
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

/* Appends bytes to the record.  If it becomes too long, its length is set to
 * 0. */
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

void xd_journal_put_failed(struct xd_journal_record *r, const char *hashes)
{
    begin(r, XD_JOURNAL_FAILED);
    add_bytes(r, hashes, strlen(hashes));
    end(r);
}

void xd_journal_put_line(struct xd_journal_record *r, const char *line,
                         size_t len)
{
    begin(r, XD_JOURNAL_VALIDATOR);
    add_bytes(r, line, len);
    end(r);
}

int64_t xd_journal_get_record(const unsigned char *data, size_t len,
                              unsigned *out_kind, bool *out_is_bad)
{
    size_t body;

    *out_is_bad = false;
    if (len < FRAME_BYTES)
        return 0;
    body = (size_t)xd_journal_number(data + 2, 2);
    *out_is_bad = body > XD_JOURNAL_BODY_MAX;
    if (*out_is_bad || len < body + FRAME_BYTES)
        return 0;
    *out_is_bad =
        xd_journal_number(data + 4 + body, 4) != crc32_of(data, 4 + body);
    if (*out_is_bad)
        return 0;
    *out_kind = (unsigned)xd_journal_number(data, 2);
    return (int64_t)(body + FRAME_BYTES);
}

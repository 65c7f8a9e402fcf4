/* SPDX-License-Identifier: MIT */
/*
 * Encodes and decodes one journal record.  Pure.
 */
#ifndef XD_IO_JOURNAL_RECORD_H
#define XD_IO_JOURNAL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

#define XD_JOURNAL_BODY_MAX ((size_t)4096)
#define XD_JOURNAL_RECORD_MAX (XD_JOURNAL_BODY_MAX + 8)
#define XD_JOURNAL_MAGIC "xdownload journal 1\n"

enum xd_journal_kind {
    XD_JOURNAL_HEADER = 1, /* identity of the file */
    XD_JOURNAL_SESSION,    /* start of a run, with the machine's boot ID */
    XD_JOURNAL_WRITTEN,    /* bytes are in the file */
    XD_JOURNAL_DROPPED,    /* bytes were wrong */
    XD_JOURNAL_SYNCED,     /* bytes are on the disk */
    XD_JOURNAL_VALIDATOR,  /* validator of a depot's copy */
    XD_JOURNAL_FAILED      /* the file did not match these hashes */
};

/* The file that a journal belongs to. */
struct xd_journal_identity {
    const char *name;
    uint64_t size; /* size of the file, or XD_SIZE_UNKNOWN */
    /* byte wanted.begin is the first byte of the .part */
    struct xd_range wanted;
    /* hashes of the whole file: lines "sha-256:HEX\n", or "" */
    const char *hashes;
};

/* A record as stored in the file. */
struct xd_journal_record {
    unsigned char bytes[XD_JOURNAL_RECORD_MAX];
    size_t len; /* length in bytes; 0: the record is too long */
};

void xd_journal_put_header(struct xd_journal_record *r,
                           const struct xd_journal_identity *identity);
void xd_journal_put_session(struct xd_journal_record *r, const char *boot_id);
void xd_journal_put_range(struct xd_journal_record *r,
                          enum xd_journal_kind kind, struct xd_range range);
void xd_journal_put_synced(struct xd_journal_record *r, uint64_t mark);
void xd_journal_put_validator(struct xd_journal_record *r, const char *url,
                              const char *validator);
/* Encodes that the file did not match these hashes: lines "sha-256:HEX\n", at
 * least one. */
void xd_journal_put_failed(struct xd_journal_record *r, const char *hashes);
/* Encodes a validator from its line "URL validator\n". */
void xd_journal_put_line(struct xd_journal_record *r, const char *line,
                         size_t len);

/*
 * Returns the length of the record at the start of `data`, and its kind.  Its
 * body starts after 4 bytes and ends 4 before the end.  Returns 0 if the record
 * is incomplete or invalid; *out_is_bad is true if it is invalid.
 */
int64_t xd_journal_get_record(const unsigned char *data, size_t len,
                              unsigned *out_kind, bool *out_is_bad);

/* Decodes a number of `len` bytes. */
uint64_t xd_journal_number(const unsigned char *p, size_t len);

#endif

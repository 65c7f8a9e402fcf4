/* SPDX-License-Identifier: MIT */
/*
 * One record of a journal, byte by byte.  Pure.
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
    XD_JOURNAL_HEADER = 1, /* which file it is about */
    XD_JOURNAL_SESSION,    /* a run begins, on a machine that runs since... */
    XD_JOURNAL_WRITTEN,    /* bytes are in the file */
    XD_JOURNAL_DROPPED,    /* they were wrong */
    XD_JOURNAL_SYNCED,     /* they are on the disk */
    XD_JOURNAL_VALIDATOR,  /* what a depot said of its copy */
    XD_JOURNAL_FAILED      /* the file did not match these hashes */
};

/* Which file. */
struct xd_journal_identity {
    const char *name;
    uint64_t size;          /* or XD_SIZE_UNKNOWN */
    struct xd_range wanted; /* byte wanted.begin is the first of the .part */
    const char *hashes;     /* of the whole file: "sha-256:HEX\n" each, or "" */
};

/* One record as it stands in the file. */
struct xd_journal_record {
    unsigned char bytes[XD_JOURNAL_RECORD_MAX];
    size_t len; /* 0: it would be too long */
};

void xd_journal_put_header(struct xd_journal_record *r,
                           const struct xd_journal_identity *identity);
void xd_journal_put_session(struct xd_journal_record *r, const char *boot_id);
void xd_journal_put_range(struct xd_journal_record *r,
                          enum xd_journal_kind kind, struct xd_range range);
void xd_journal_put_synced(struct xd_journal_record *r, uint64_t mark);
void xd_journal_put_validator(struct xd_journal_record *r, const char *url,
                              const char *validator);
/* "sha-256:HEX\n" each, at least one. */
void xd_journal_put_failed(struct xd_journal_record *r, const char *hashes);
/* A validator, as the line "URL validator\n" that was read. */
void xd_journal_put_line(struct xd_journal_record *r, const char *line,
                         size_t len);

/*
 * How long the record is that `data` begins with, and of which kind; its body
 * begins 4 bytes in and ends 4 before its end.  0: it is only the beginning of
 * one, or none, and then `*out_is_bad`.
 */
int64_t xd_journal_get_record(const unsigned char *data, size_t len,
                              unsigned *out_kind, bool *out_is_bad);

/* The number that `len` bytes at `p` are. */
uint64_t xd_journal_number(const unsigned char *p, size_t len);

#endif

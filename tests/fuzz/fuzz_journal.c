/* SPDX-License-Identifier: MIT */
/*
 * Bytes become a journal, as they are or as records whose checksums hold; what
 * may be believed of it, and of the same told anew, is held against an array
 * with a row for each byte.
 */
#include <xdownload/manifest.h>

#include "base/text.h"
#include "fuzz.h"
#include "io/journal/journal_text.h"

#define SIZE 200
#define FIRST 10 /* what is wanted: bytes FIRST to LAST */
#define LAST 190
#define MOST_RECORDS 64

struct model {
    struct xd_text text;
    uint64_t ends[MOST_RECORDS]; /* of the records in it */
    unsigned n_records;
    bool is_bad; /* the last record makes no sense */
    unsigned boot;
    bool is_synced[SIZE];
    struct {
        uint64_t at;
        bool bytes[SIZE];
    } written[MOST_RECORDS];
    unsigned n_written;
};

static void put(struct model *m, const struct xd_journal_record *r)
{
    xd_text_add(&m->text, (const char *)r->bytes, r->len);
    FUZZ_CHECK(!m->text.failed);
    m->ends[m->n_records++] = m->text.len;
}

static void put_header(struct model *m)
{
    struct xd_journal_identity identity = {.name = "name",
                                           .size = SIZE,
                                           .wanted = {FIRST, LAST},
                                           .hashes = "sha-256:00\n"};
    struct xd_journal_record r;

    xd_journal_put_header(&r, &identity);
    put(m, &r);
}

static void put_session(struct model *m, unsigned boot)
{
    struct xd_journal_record r;
    char id[] = {(char)('a' + boot), '\0'};

    xd_journal_put_session(&r, id);
    put(m, &r);
    if (boot != m->boot)
        m->n_written = 0;
    m->boot = boot;
}

static void note_written(struct model *m, struct xd_range r, uint64_t at)
{
    bool *bytes = m->written[m->n_written].bytes;

    m->written[m->n_written++].at = at;
    memset(bytes, false, SIZE);
    memset(bytes + r.begin, true, (size_t)(r.end - r.begin));
}

static void put_range(struct model *m, enum xd_journal_kind kind,
                      struct xd_range r)
{
    struct xd_journal_record record;
    uint64_t at = m->text.len;

    xd_journal_put_range(&record, kind, r);
    put(m, &record);
    m->is_bad = r.begin >= r.end || r.begin < FIRST || r.end > LAST;
    if (m->is_bad)
        return;
    if (kind == XD_JOURNAL_WRITTEN) {
        note_written(m, r, at);
        return;
    }
    memset(m->is_synced + r.begin, false, (size_t)(r.end - r.begin));
    for (unsigned i = 0; i < m->n_written; i++)
        memset(m->written[i].bytes + r.begin, false, (size_t)(r.end - r.begin));
}

static void put_synced(struct model *m, uint64_t mark)
{
    struct xd_journal_record record;
    unsigned n = 0;

    m->is_bad = mark > m->text.len;
    xd_journal_put_synced(&record, mark);
    put(m, &record);
    for (unsigned i = 0; !m->is_bad && i < m->n_written; i++) {
        if (m->written[i].at >= mark) {
            m->written[n++] = m->written[i];
            continue;
        }
        for (unsigned at = 0; at < SIZE; at++)
            m->is_synced[at] |= m->written[i].bytes[at];
    }
    if (!m->is_bad)
        m->n_written = n;
}

static void put_record(struct model *m, struct fuzz_input *in)
{
    struct xd_journal_record r;
    struct xd_range range;
    unsigned kind = fuzz_below(in, 8);

    range.begin = fuzz_byte(in);
    range.end = range.begin + fuzz_byte(in) % 64;
    if (kind == 0) {
        put_session(m, (unsigned)range.begin % 3);
    } else if (kind == 1) {
        xd_journal_put_validator(&r, "http://d/x", "\"tag\"");
        put(m, &r);
    } else if (kind == 2) {
        put_synced(m, m->ends[range.begin % m->n_records] + range.end / 300);
    } else {
        put_range(m, kind < 6 ? XD_JOURNAL_WRITTEN : XD_JOURNAL_DROPPED, range);
    }
}

/* The bytes that are believed are those of the model. */
static void check_believed(const struct model *m,
                           const struct xd_journal_contents *s, unsigned boot,
                           unsigned limit)
{
    char id[] = {(char)('a' + boot), '\0'};
    struct xd_rangeset believed;

    FUZZ_CHECK(xd_journal_believed(s, id, limit, &believed) == 0);
    for (unsigned at = 0; at < SIZE; at++) {
        struct xd_range byte = {at, at + 1};
        bool is_good = m->is_synced[at];

        for (unsigned i = 0; boot == m->boot && i < m->n_written; i++)
            is_good |= m->written[i].bytes[at];
        is_good &= at < FIRST + limit;
        FUZZ_CHECK(xd_rangeset_contains(&believed, byte) == is_good);
    }
    xd_rangeset_fini(&believed);
}

/* Taken in two parts, cut anywhere, it tells the same. */
static void take(struct xd_journal_contents *s, const uint8_t *data, size_t len,
                 size_t cut, bool *out_is_bad)
{
    int64_t n = xd_journal_take(s, data, cut, out_is_bad);

    FUZZ_CHECK(n >= 0 && (size_t)n <= cut && s->length == (uint64_t)n);
    if (!*out_is_bad) {
        int64_t more =
            xd_journal_take(s, data + n, len - (size_t)n, out_is_bad);

        FUZZ_CHECK(more >= 0 && s->length == (uint64_t)(n + more));
    }
    FUZZ_CHECK(s->length <= len);
    if (s->length > 0)
        FUZZ_CHECK(s->has_header && xd_journal_is_ours(data, len));
    if (s->has_header)
        FUZZ_CHECK(s->wanted.begin <= s->wanted.end &&
                   s->wanted.end <= s->size);
}

/* Told anew in as few records as it takes, it says the same. */
static void check_retold(const struct model *m,
                         const struct xd_journal_contents *s, unsigned limit)
{
    struct xd_journal_contents again = {.has_header = false};
    struct xd_text text = {0};
    bool is_bad;

    FUZZ_CHECK(xd_journal_format(s, &text) == 0);
    take(&again, (const uint8_t *)text.s, text.len, text.len, &is_bad);
    FUZZ_CHECK(!is_bad && again.length == text.len);
    FUZZ_CHECK(again.size == s->size && strcmp(again.name, s->name) == 0);
    FUZZ_CHECK(xd_journal_compare_hashes(again.hashes.s, s->hashes.s) == 1);
    FUZZ_CHECK((again.depots.len > 0) == (s->depots.len > 0));
    for (unsigned boot = 0; boot < 3; boot++)
        check_believed(m, &again, boot, limit);
    xd_journal_contents_fini(&again);
    xd_text_fini(&text);
}

static void try_records(struct fuzz_input *in)
{
    static struct model m;
    struct xd_journal_contents s = {.has_header = false};
    unsigned limit = fuzz_below(in, SIZE), cut = fuzz_below(in, 4096);
    bool is_bad;

    memset(&m, 0, sizeof m);
    put_header(&m);
    put_session(&m, 1);
    while (!fuzz_is_over(in) && !m.is_bad && m.n_records < MOST_RECORDS)
        put_record(&m, in);
    take(&s, (const uint8_t *)m.text.s, m.text.len, cut % (m.text.len + 1),
         &is_bad);
    FUZZ_CHECK(is_bad == m.is_bad);
    FUZZ_CHECK(s.length == m.ends[m.n_records - 1 - m.is_bad]);
    FUZZ_CHECK(s.size == SIZE && strcmp(s.name, "name") == 0);
    FUZZ_CHECK(xd_journal_compare_hashes(s.hashes.s, "sha-256:00\n") == 1);
    for (unsigned boot = 0; boot < 3; boot++)
        check_believed(&m, &s, boot, limit);
    check_retold(&m, &s, limit);
    xd_journal_contents_fini(&s);
    xd_text_fini(&m.text);
}

/* Anything may lie there; at most what a checksum vouches for is taken. */
static void try_bytes(const struct fuzz_input *in)
{
    struct xd_journal_contents s = {.has_header = false};
    struct xd_rangeset believed;
    size_t len = (size_t)(in->end - in->at);
    bool is_bad;

    take(&s, in->at, len, len / 2, &is_bad);
    FUZZ_CHECK(xd_journal_believed(&s, "a", SIZE, &believed) == 0);
    FUZZ_CHECK(xd_rangeset_contains(&s.synced, s.wanted) ||
               s.synced.bytes < s.wanted.end - s.wanted.begin);
    xd_rangeset_fini(&believed);
    xd_journal_contents_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);

    if (fuzz_below(&in, 4) == 0)
        try_bytes(&in);
    else
        try_records(&in);
    return 0;
}

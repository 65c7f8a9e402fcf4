/* SPDX-License-Identifier: MIT */
#include "manifest/exnode_parity.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/date.h"
#include "base/number.h"
#include "base/text.h"
#include "manifest/exnode.h"
#include "manifest/exnode_common.h"
#include "manifest/names.h"

typedef unsigned long long ull;

/* Text that is only written back is stored in blocks of this many bytes. */
#define REST_MAX ((size_t)4 << 10)

/* Required values, in the order in which missing ones are reported. */
enum value { CODE, POLYNOMIAL, MATRIX, K, N, SHARD_LENGTH, OFFSET, LENGTH };

static const struct {
    /* the only supported value; NULL: the value is a number */
    const char *name, *word;
} values[] = {
    [CODE] = {XD_EXNODE_CODE, XD_EXNODE_REED_SOLOMON},
    [POLYNOMIAL] = {XD_EXNODE_POLYNOMIAL, XD_EXNODE_0X11D},
    [MATRIX] = {XD_EXNODE_MATRIX, XD_EXNODE_CAUCHY},
    [K] = {XD_EXNODE_K, NULL},
    [N] = {XD_EXNODE_N, NULL},
    [SHARD_LENGTH] = {XD_EXNODE_SHARD_LENGTH, NULL},
    [OFFSET] = {XD_EXNODE_OFFSET, NULL},
    [LENGTH] = {XD_EXNODE_LENGTH, NULL},
};

#define N_VALUES (sizeof values / sizeof *values)

void xd_parity_reader_init(struct xd_parity_reader *p, struct xd_builder *b,
                           struct xd_xml_copy *copy)
{
    p->b = b;
    p->copy = copy;
}

void xd_parity_reader_fini(struct xd_parity_reader *p)
{
    xd_free(p->stripe.replicas);
    p->stripe.replicas = NULL;
}

static void set_flaw(struct xd_stripe_draft *s, const char *format, ...)
    XD_PRINTF(2, 3);

/* Sets the reason not to use the stripe, unless there is one already. */
static void set_flaw(struct xd_stripe_draft *s, const char *format, ...)
{
    va_list args;

    if (s->flaw[0])
        return;
    va_start(args, format);
    xd_format_line(s->flaw, sizeof s->flaw, format, args);
    va_end(args);
}

/* ---- metadata names ---- */

/* Parses the number after `head` in the key.  Returns false if the key does not
 * start with `head` or the number is not below `end`. */
static bool read_key_number(const char *key, const char *head, uint64_t end,
                            uint64_t *out)
{
    const size_t len = strlen(head);

    return strncmp(key, head, len) == 0 &&
           xd_parse_u64(key + len, strlen(key + len), out) && *out < end;
}

static bool key_begins_with(const struct xd_parity_reader *p, const char *head)
{
    return strncmp(p->key, head, strlen(head)) == 0;
}

/* Starts to read a text.  Unlike elsewhere, a text that is too long only causes
 * a warning. */
static void begin_text(struct xd_parity_reader *p, struct xd_xml *x)
{
    xd_xml_attribute_text(x, "name", p->key, sizeof p->key);
    xd_xml_bound_text(x, XD_XML_TEXT_MAX);
    p->text_begin = p->copy->text.len;
}

/* ---- parity ---- */

void xd_parity_begin(struct xd_parity_reader *p, struct xd_xml *x,
                     const char *key)
{
    char type[sizeof "meta"];

    xd_xml_attribute_text(x, "type", type, sizeof type);
    p->is_open =
        strcmp(key, XD_EXNODE_PARITY) == 0 && strcmp(type, "meta") == 0;
    p->has_children = false;
    p->head = p->kept = p->copy->text.len;
    if (p->is_open)
        xd_xml_ignore_text(x); /* ignores white space between the stripes */
}

static void warn_of_rest(struct xd_parity_reader *p)
{
    xd_builder_warn(p->b, "what is not used of parity is too long to be kept: "
                          "some of it will not be written again");
}

/* Keeps the text between stripes, except white space.  The copy ends with
 * `tail` bytes that are not part of this text. */
static void keep_rest(struct xd_parity_reader *p, size_t tail)
{
    struct xd_xml_copy *c = p->copy;
    struct xd_model_stripe row = {.is_used = false};
    struct xd_span rest;
    size_t begin;

    if (c->is_too_long)
        warn_of_rest(p);
    if (c->is_too_long || c->text.len <= p->head + tail)
        return;
    rest = xd_span_trim(
        xd_span(c->text.s + p->head, c->text.len - tail - p->head));
    if (rest.len == 0)
        return;
    begin = (size_t)(rest.s - c->text.s);
    row.part = xd_exnode_make_part(p->b, c, begin, begin + rest.len, 0);
    if (row.part)
        xd_builder_stripe(p->b, &row);
    c->text.len = p->kept = p->head;
    c->n_secrets = 0;
}

bool xd_parity_end(struct xd_parity_reader *p)
{
    const bool was_open = p->is_open;

    p->is_open = false;
    if (was_open && p->has_children)
        keep_rest(p, strlen("</exnode:metadata>"));
    return was_open && p->has_children;
}

/* ---- a stripe ---- */

/* Marks the text before a child for keeping, unless it is white space. */
static void note_rest(struct xd_parity_reader *p)
{
    const struct xd_xml_copy *c = p->copy;
    const size_t end = c->element_begin;

    if (c->is_too_long) {
        warn_of_rest(p);
        p->kept = p->head;
    } else if (end > p->kept &&
               xd_span_trim(xd_span(c->text.s + p->kept, end - p->kept)).len >
                   0) {
        p->kept = end;
    }
}

int xd_parity_begin_stripe(struct xd_xml *x, void *user)
{
    struct xd_parity_reader *p = user;
    struct xd_stripe_draft *s = &p->stripe;

    if (!p->is_open) {
        xd_xml_skip(x);
        return 0;
    }
    xd_xml_attribute_text(x, "name", p->key, sizeof p->key);
    p->has_children = true;
    note_rest(p);
    s->row = (struct xd_model_stripe){.is_used = true};
    s->is_stripe =
        read_key_number(p->key, XD_EXNODE_STRIPE, UINT32_MAX, &s->row.number);
    s->given = 0;
    s->k = s->n = 0;
    s->flaw[0] = '\0';
    memset(s->is_listed, 0, sizeof s->is_listed);
    memset(s->names_replica, 0, sizeof s->names_replica);
    s->greatest_offset = 0;
    s->n_held = 1;
    s->copy_begin = p->copy->element_begin;
    s->first_secret = p->copy->n_secrets;
    s->first_element = p->copy->n_elements - 1;
    return 0;
}

static bool has_all_values(struct xd_stripe_draft *s)
{
    for (size_t i = 0; i < N_VALUES; i++) {
        if (!(s->given & 1u << i))
            set_flaw(s, "it has no %s", values[i].name);
    }
    return s->flaw[0] == '\0';
}

/* Checks the sizes in an order that avoids overflow.  The result does not
 * depend on which replicas are used. */
static void check_sizes(struct xd_stripe_draft *s)
{
    const struct xd_model_stripe *r = &s->row;

    if (s->k < 1)
        set_flaw(s, "its k is 0, but there is a shard of data at least");
    else if (s->n > XD_SHARDS_MAX)
        set_flaw(s, "its n is %llu, but there are at most %d shards", (ull)s->n,
                 XD_SHARDS_MAX);
    else if (s->n <= s->k)
        set_flaw(s,
                 "its n is %llu and its k %llu, which leaves no shard of "
                 "parity",
                 (ull)s->n, (ull)s->k);
    else if (r->shard_bytes == 0 || r->length == 0)
        set_flaw(s, "it has no bytes");
    else if (r->length > XD_FILE_MAX - r->offset)
        set_flaw(s, "it ends beyond any file");
    else if ((r->length - 1) / r->shard_bytes >= s->k)
        set_flaw(s, "its %llu bytes are more than %llu shards of %llu hold",
                 (ull)r->length, (ull)s->k, (ull)r->shard_bytes);
    else if (s->greatest_offset > XD_FILE_MAX - r->shard_bytes)
        set_flaw(s, "a replica of it ends beyond any object");
}

static void check_shard(struct xd_stripe_draft *s,
                        const struct xd_model_shard *shard)
{
    if (shard->number >= s->n)
        set_flaw(s, "it has a shard %u, but its n is %llu", shard->number,
                 (ull)s->n);
    else if (shard->number < s->k && s->names_replica[shard->number])
        set_flaw(s,
                 "its shard %u is one of data, but has replicas that are no "
                 "mappings",
                 shard->number);
    else if (shard->number >= s->k && !shard->sha256)
        set_flaw(s, "its shard %u is one of parity, but has no %s",
                 shard->number, XD_EXNODE_SHA256);
}

static void check_stripe(struct xd_stripe_draft *s)
{
    if (s->flaw[0] || !has_all_values(s))
        return;
    check_sizes(s);
    for (size_t i = 0; i < s->row.n_shards && !s->flaw[0]; i++)
        check_shard(s, &s->shards[i]);
}

static int by_number(const void *left, const void *right)
{
    const struct xd_model_shard *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

static void *copy_array(struct xd_builder *b, const void *from, size_t n,
                        size_t size)
{
    void *to = n > 0 && !b->out_of_memory
                   ? xd_pool_array(&b->manifest->pool, n, size)
                   : NULL;

    b->out_of_memory |= n > 0 && !to;
    if (to)
        memcpy(to, from, n * size);
    return to;
}

static void hold_shards(struct xd_parity_reader *p)
{
    struct xd_stripe_draft *s = &p->stripe;

    s->row.k = (unsigned)s->k;
    s->row.n = (unsigned)s->n;
    qsort(s->shards, s->row.n_shards, sizeof *s->shards, by_number);
    s->row.shards =
        copy_array(p->b, s->shards, s->row.n_shards, sizeof *s->shards);
}

/* Keeps the replicas even of an unused stripe, because the stripe names stored
 * objects. */
static void hold_replicas(struct xd_parity_reader *p)
{
    struct xd_stripe_draft *s = &p->stripe;

    s->row.replicas =
        copy_array(p->b, s->replicas, s->row.n_replicas, sizeof *s->replicas);
}

static void forget_copy(struct xd_parity_reader *p)
{
    p->copy->is_too_long = false;
    p->copy->text.len = p->head = p->kept = 0;
    p->copy->n_secrets = 0;
}

/* Removes the stripe from the copy of "parity", so that the copy stays short,
 * however many stripes there are. */
static void cut_copy(struct xd_parity_reader *p)
{
    if (p->copy->is_too_long) {
        if (p->kept > p->head)
            warn_of_rest(p);
        forget_copy(p);
        return;
    }
    p->copy->n_secrets = p->stripe.first_secret;
    p->copy->text.len = p->kept;
}

/* Leaves other metadata in the copy until there is enough to store it as a
 * block.  There may be millions of tiny items. */
static void end_other(struct xd_parity_reader *p)
{
    const struct xd_xml_copy *c = p->copy;

    p->kept = c->text.len;
    if (c->is_too_long || c->text.len >= p->head + REST_MAX)
        keep_rest(p, 0);
    if (c->is_too_long)
        forget_copy(p);
}

/* Stores the stripe as text. */
static void keep_stripe(struct xd_parity_reader *p)
{
    struct xd_stripe_draft *s = &p->stripe;
    const struct xd_xml_copy *c = p->copy;

    s->row.part = xd_exnode_make_part(p->b, c, s->copy_begin, c->text.len,
                                      s->first_secret);
    if (c->is_too_long)
        xd_builder_warn(p->b,
                        "stripe %llu: it is too long to be kept: what is not "
                        "used of it will not be written again",
                        (ull)s->row.number);
}

static void end_stripe(struct xd_parity_reader *p)
{
    struct xd_stripe_draft *s = &p->stripe;

    check_stripe(s);
    if (s->flaw[0])
        xd_builder_warn(p->b, "stripe %llu: %s; it is not used",
                        (ull)s->row.number, s->flaw);
    s->row.is_used = !s->flaw[0];
    if (!s->row.is_used && s->row.n_replicas == 0) {
        end_other(p);
        return;
    }
    if (!s->row.is_used || s->n_held != p->copy->n_elements - s->first_element)
        keep_stripe(p);
    if (s->row.is_used)
        hold_shards(p);
    else
        s->row.n_shards = 0;
    hold_replicas(p);
    if (s->row.is_used || s->row.part)
        xd_builder_stripe(p->b, &s->row);
    cut_copy(p);
}

int xd_parity_end_stripe(void *user)
{
    struct xd_parity_reader *p = user;

    if (p->stripe.is_stripe)
        end_stripe(p);
    else
        end_other(p);
    return 0;
}

/* ---- values of a stripe ---- */

static void set_number(struct xd_stripe_draft *s, enum value which,
                       uint64_t number)
{
    switch (which) {
    case K:
        s->k = number;
        break;
    case N:
        s->n = number;
        break;
    case SHARD_LENGTH:
        s->row.shard_bytes = number;
        break;
    case OFFSET:
        s->row.offset = number;
        break;
    case LENGTH:
        s->row.length = number;
        break;
    case CODE:
    case POLYNOMIAL:
    case MATRIX:
        break;
    }
}

static void take_value(struct xd_stripe_draft *s, enum value which,
                       struct xd_span text)
{
    const char *name = values[which].name, *word = values[which].word;
    struct xd_quoted q;
    uint64_t number = 0;

    if (text.len == 0)
        return;
    if (s->given & 1u << which) {
        set_flaw(s, "it has two values of %s", name);
    } else if (word && !xd_span_is(text, word)) {
        set_flaw(s, "its %s is %s, which is not known", name,
                 xd_quote(&q, text));
    } else if (!word && (!xd_parse_u64(text.s, text.len, &number) ||
                         number > XD_FILE_MAX)) {
        set_flaw(s, "its %s is %s, which is no number", name,
                 xd_quote(&q, text));
    } else {
        set_number(s, which, number);
        s->given |= 1u << which;
        s->n_held++;
    }
}

static void begin_shard(struct xd_parity_reader *p)
{
    struct xd_stripe_draft *s = &p->stripe;
    struct xd_quoted q;
    uint64_t number = 0;

    p->shard = NULL;
    if (!read_key_number(p->key, XD_EXNODE_SHARD, XD_SHARDS_MAX, &number)) {
        set_flaw(s, "%s is no number of a shard",
                 xd_quote(&q, xd_span_of(p->key)));
    } else if (s->is_listed[number]) {
        set_flaw(s, "it has two shards %llu", (ull)number);
    } else {
        s->is_listed[number] = true;
        p->shard = &s->shards[s->row.n_shards++];
        *p->shard = (struct xd_model_shard){.number = (uint32_t)number,
                                            .first_replica = s->row.n_replicas};
        s->n_held++;
    }
}

int xd_parity_begin_metadata(struct xd_xml *x, void *user)
{
    struct xd_parity_reader *p = user;

    if (!p->stripe.is_stripe) {
        xd_xml_skip(x);
        return 0;
    }
    begin_text(p, x);
    p->in_shard = key_begins_with(p, XD_EXNODE_SHARD);
    if (p->in_shard) {
        xd_xml_ignore_text(x);
        begin_shard(p);
    }
    return 0;
}

int xd_parity_take_metadata(void *user, struct xd_span text)
{
    struct xd_parity_reader *p = user;

    for (size_t i = 0; i < N_VALUES && !p->in_shard; i++) {
        if (strcmp(p->key, values[i].name) == 0)
            take_value(&p->stripe, (enum value)i, text);
    }
    p->in_shard = false;
    return 0;
}

/* ---- a shard ---- */

int xd_parity_begin_of_shard(struct xd_xml *x, void *user)
{
    struct xd_parity_reader *p = user;

    if (!p->in_shard || !p->shard) {
        xd_xml_skip(x);
        return 0;
    }
    begin_text(p, x);
    p->in_replica = key_begins_with(p, XD_EXNODE_REPLICA);
    if (p->in_replica) {
        xd_xml_ignore_text(x);
        p->stripe.names_replica[p->shard->number] = true;
        p->replica = (struct xd_model_shard_replica){.offset = 0};
        p->has_read = p->has_offset = false;
        p->replica_flaw = NULL;
        p->replica_held = 1;
    }
    return 0;
}

/* Stores the replica that was read.  Without a read capability it cannot be
 * used. */
static void end_replica(struct xd_parity_reader *p)
{
    struct xd_stripe_draft *s = &p->stripe;
    struct xd_model_shard_replica *more;

    if (!p->replica_flaw && !p->has_read)
        p->replica_flaw = "it has no read capability";
    if (p->replica_flaw) {
        xd_builder_warn(p->b,
                        "stripe %llu: a replica of its shard %u is not used: "
                        "%s",
                        (ull)s->row.number, p->shard->number, p->replica_flaw);
        return;
    }
    more = xd_grow(s->replicas, s->row.n_replicas, &s->replicas_capacity,
                   sizeof *more);
    if (!more) {
        p->b->out_of_memory = true;
        return;
    }
    s->replicas = more;
    more[s->row.n_replicas++] = p->replica;
    p->shard->n_replicas++;
    s->n_held += p->replica_held;
}

static void take_sha256(struct xd_parity_reader *p, struct xd_span text)
{
    if (p->shard->sha256) {
        set_flaw(&p->stripe, "its shard %u has two values of %s",
                 p->shard->number, XD_EXNODE_SHA256);
        return;
    }
    p->shard->sha256 = xd_builder_sha256(p->b, text);
    p->stripe.n_held += p->shard->sha256 != NULL;
}

int xd_parity_take_of_shard(void *user, struct xd_span text)
{
    struct xd_parity_reader *p = user;

    if (p->in_replica)
        end_replica(p);
    else if (strcmp(p->key, XD_EXNODE_SHA256) == 0 && text.len > 0)
        take_sha256(p, text);
    p->in_replica = false;
    return 0;
}

/* ---- a replica of a shard ---- */

int xd_parity_begin_of_replica(struct xd_xml *x, void *user)
{
    struct xd_parity_reader *p = user;

    if (p->in_replica)
        begin_text(p, x);
    else
        xd_xml_skip(x);
    return 0;
}

static void take_read(struct xd_parity_reader *p, struct xd_span text)
{
    struct xd_url *url = &p->replica.url;
    const char *why;

    p->has_read = true;
    if (!memchr(text.s, ':', text.len))
        xd_exnode_resolve_in_copy(p->b, p->copy, p->text_begin, "metadata",
                                  text);
    why = xd_builder_url(p->b, text, url);
    if (!why && xd_exnode_is_broken_capability(url))
        why = "its read capability is broken";
    if (why)
        p->replica_flaw = why;
}

static void take_offset(struct xd_parity_reader *p, struct xd_span text)
{
    p->has_offset = true;
    if (!xd_parse_u64(text.s, text.len, &p->replica.offset) ||
        p->replica.offset > XD_FILE_MAX)
        p->replica_flaw = "its " XD_EXNODE_ALLOC_OFFSET " is no number";
    else if (p->replica.offset > p->stripe.greatest_offset)
        p->stripe.greatest_offset = p->replica.offset;
}

/* Stores a value.  If a name occurs twice, the first value counts. */
int xd_parity_take_of_replica(void *user, struct xd_span text)
{
    struct xd_parity_reader *p = user;
    struct xd_model_shard_replica *r = &p->replica;
    bool is_held = true;

    if (text.len == 0) {
        is_held = strcmp(p->key, XD_EXNODE_WRITE) == 0 ||
                  strcmp(p->key, XD_EXNODE_MANAGE) == 0;
    } else if (strcmp(p->key, XD_EXNODE_READ) == 0 && !p->has_read) {
        take_read(p, text);
    } else if (strcmp(p->key, XD_EXNODE_ALLOC_OFFSET) == 0 && !p->has_offset) {
        take_offset(p, text);
    } else if (strcmp(p->key, XD_EXNODE_WRITE) == 0 && !r->write) {
        r->write = xd_builder_copy(p->b, text);
    } else if (strcmp(p->key, XD_EXNODE_MANAGE) == 0 && !r->manage) {
        r->manage = xd_builder_copy(p->b, text);
    } else if (strcmp(p->key, XD_EXNODE_END) == 0 && !r->expires) {
        r->expires = xd_builder_copy(p->b, text);
        /* expires_at stays 0 if the text is not a date */
        xd_date_parse(text.s, text.len, &r->expires_at);
    } else {
        is_held = false;
    }
    p->replica_held += is_held;
    return 0;
}

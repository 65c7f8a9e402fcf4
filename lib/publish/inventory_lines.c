/* SPDX-License-Identifier: MIT */
#include "publish/inventory_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/number.h"

bool xd_inventory_value(struct xd_span line, const char *word,
                        struct xd_span *out)
{
    const size_t n = strlen(word);

    if (line.len <= n || memcmp(line.s, word, n) != 0 || line.s[n] != ' ')
        return false;
    *out = xd_span(line.s + n + 1, line.len - n - 1);
    return true;
}

/* Returns the next word and moves *rest past it. */
static struct xd_span next_word(struct xd_span *rest)
{
    const char *blank = memchr(rest->s, ' ', rest->len);
    const size_t n = blank ? (size_t)(blank - rest->s) : rest->len;
    const struct xd_span word = xd_span(rest->s, n);

    *rest =
        xd_span(rest->s + n + (blank != NULL), rest->len - n - (blank != NULL));
    return word;
}

/* Reads an object name.  Returns false if memory runs out. */
static bool read_name(char **out, struct xd_span *rest)
{
    const struct xd_span word = next_word(rest);

    *out = NULL;
    if (word.len == 0 || xd_span_is(word, "-"))
        return true;
    *out = xd_strndup(word.s, word.len);
    return *out != NULL;
}

static const char *or_none(const char *name)
{
    return name ? name : "-";
}

bool xd_pending_read(struct xd_pending_object *out, struct xd_span value)
{
    const struct xd_span begin = next_word(&value);
    struct xd_span behind = value;
    const struct xd_span end = next_word(&behind);

    *out = (struct xd_pending_object){.range = {0, 0}};
    if (!xd_parse_u64(begin.s, begin.len, &out->range.begin))
        return false;
    if (xd_parse_u64(end.s, end.len, &out->range.end))
        value = behind;
    else
        out->range.end = out->range.begin;
    return read_name(&out->object.manage, &value) &&
           read_name(&out->object.read, &value) &&
           read_name(&out->object.write, &value) &&
           read_name(&out->object.upload, &value) && out->object.manage;
}

void xd_pending_write(struct xd_text *to, const struct xd_pending_object *p)
{
    const struct xd_object *o = &p->object;

    xd_text_addf(to, "pending %llu %llu %s %s %s %s\n",
                 (unsigned long long)p->range.begin,
                 (unsigned long long)p->range.end, o->manage, or_none(o->read),
                 or_none(o->write), or_none(o->upload));
}

bool xd_replaced_read(struct xd_replaced_object *out, struct xd_span value)
{
    const struct xd_span begin = next_word(&value), end = next_word(&value);
    const bool is_named = !xd_span_is(value, or_none(NULL));

    *out = (struct xd_replaced_object){
        .manage = xd_strndup(value.s, is_named ? value.len : 0)};
    return xd_parse_u64(begin.s, begin.len, &out->range.begin) &&
           xd_parse_u64(end.s, end.len, &out->range.end) && value.len > 0 &&
           out->manage;
}

void xd_replaced_write(struct xd_text *to, struct xd_range range,
                       const char *manage)
{
    xd_text_addf(to, "replaced %llu %llu %s\n", (unsigned long long)range.begin,
                 (unsigned long long)range.end, or_none(manage));
}

bool xd_made_read(struct xd_made *out, struct xd_span value)
{
    uint64_t number[3];
    struct xd_span sha256;

    *out = (struct xd_made){.range = {0, 0}};
    for (size_t i = 0; i < 3; i++) {
        const struct xd_span word = next_word(&value);

        if (!xd_parse_u64(word.s, word.len, &number[i]))
            return false;
    }
    out->range = (struct xd_range){number[0], number[1]};
    out->object.expires_at = (int64_t)number[2];
    sha256 = next_word(&value);
    if (!xd_span_is(sha256, "-"))
        snprintf(out->sha256, sizeof out->sha256, "%.*s", (int)sha256.len,
                 sha256.s);
    return read_name(&out->object.manage, &value) &&
           read_name(&out->object.read, &value) &&
           read_name(&out->object.write, &value) && out->object.read;
}

void xd_made_write(struct xd_text *to, const struct xd_made *m)
{
    const struct xd_object *o = &m->object;

    xd_text_addf(to, "there %llu %llu %lld %s %s %s %s\n",
                 (unsigned long long)m->range.begin,
                 (unsigned long long)m->range.end, (long long)o->expires_at,
                 m->sha256[0] != '\0' ? m->sha256 : "-", or_none(o->manage),
                 or_none(o->read), or_none(o->write));
}

/* ---- in a manifest ---- */

static const char *sha256_of(const struct xd_made *m)
{
    return m->sha256[0] != '\0' ? m->sha256 : NULL;
}

static void add_replica(struct xd_made_lists *l, const struct xd_made *m)
{
    l->replicas[l->n_replicas++] =
        (struct xd_edit_replica){.range = m->range,
                                 .read = m->object.read,
                                 .write = m->object.write,
                                 .manage = m->object.manage,
                                 .sha256 = sha256_of(m),
                                 .expires_at = m->object.expires_at};
}

static void add_shard(struct xd_made_lists *l, const struct xd_made *m,
                      const struct xd_upload_place *place)
{
    l->shards[l->n_shards++] =
        (struct xd_edit_shard){.stripe = place->stripe,
                               .number = place->number,
                               .read = m->object.read,
                               .write = m->object.write,
                               .manage = m->object.manage,
                               .sha256 = sha256_of(m),
                               .expires_at = m->object.expires_at};
}

static int by_stripe(const void *left, const void *right)
{
    const struct xd_edit_shard *a = left, *b = right;

    if (a->stripe != b->stripe)
        return a->stripe < b->stripe ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

int xd_made_lists_init(struct xd_made_lists *out, const struct xd_made *made,
                       size_t n, const struct xd_upload_line *line,
                       struct xd_error *err)
{
    struct xd_upload_place place;

    *out = (struct xd_made_lists){
        .replicas = xd_alloc(n + 1, sizeof *out->replicas),
        .shards = xd_alloc(n + 1, sizeof *out->shards)};
    if (!out->replicas || !out->shards)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        if (xd_upload_line_find(line, made[i].range.begin, &place))
            add_shard(out, &made[i], &place);
        else
            add_replica(out, &made[i]);
    }
    qsort(out->shards, out->n_shards, sizeof *out->shards, by_stripe);
    return 0;
}

void xd_made_lists_fini(struct xd_made_lists *l)
{
    xd_free(l->replicas);
    xd_free(l->shards);
}

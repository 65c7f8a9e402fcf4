/* SPDX-License-Identifier: MIT */
#include "play/playback.h"

#include "command/readers.h"
#include "common/text.h"
#include "common/units.h"

typedef int (*list_fn)(struct xd_reader *r, size_t i, struct xd_stall *out);

static void put_pair(struct json *j, double first, double second)
{
    json_open_array(j, NULL);
    json_number(j, NULL, first);
    json_number(j, NULL, second);
    json_close_array(j);
}

/* Writes [[media time, duration], ...], which is the form of the input I.23 of
 * ITU-T P.1203. */
static void put_list(struct json *j, const char *name, struct xd_reader *r,
                     list_fn get)
{
    struct xd_stall s = {.struct_size = sizeof s};

    json_open_array(j, name);
    for (size_t i = 0; get(r, i, &s) == 0; i++)
        put_pair(j, s.media_s, s.seconds);
    json_close_array(j);
}

static void put_levels(struct json *j, struct xd_reader *r)
{
    struct xd_level l = {.struct_size = sizeof l};

    json_open_array(j, "buffer_level");
    for (size_t i = 0; xd_reader_get_level(r, i, &l) == 0; i++)
        put_pair(j, l.at_s, l.level_s);
    json_close_array(j);
}

static void put_members(struct json *j, struct xd_reader *r,
                        const struct xd_playback *p)
{
    json_time(j, "startup_time_s", p->startup_s);
    json_time(j, "startup_min_s", p->startup_least_s);
    json_count(j, "stall_count", p->n_stalls);
    json_number(j, "stall_time_s", p->stall_s);
    json_number(j, "stall_max_s", p->stall_longest_s);
    json_number(j, "stall_min_s", p->stall_least_s);
    json_number(j, "stall_blocks_s", p->stall_blocks_s);
    put_list(j, "stall_list", r, xd_reader_get_stall);
    json_number(j, "rebuffer_ratio", p->rebuffer_ratio);
    json_number(j, "rebuffer_ratio_min", p->rebuffer_least);
    json_count(j, "seek_count", p->n_seeks);
    json_number(j, "restart_time_s", p->restart_s);
    json_number(j, "restart_max_s", p->restart_longest_s);
    json_number(j, "restart_min_s", p->restart_least_s);
    put_list(j, "restart_list", r, xd_reader_get_seek_wait);
    json_number(j, "played_s", p->played_s);
    json_number(j, "watched_time_s", p->watched_s);
    json_number(j, "p1203_o23", p->quality);
    put_levels(j, r);
}

static void put_json(struct json *j, const struct playback *b,
                     const struct xd_playback *p)
{
    struct xd_progress g = {.struct_size = sizeof g};

    xd_download_progress(xd_source_download(b->source), &g);
    json_open_object(j, NULL);
    json_string(j, "file", b->name);
    if (b->viewer != NULL)
        put_members(j, b->viewer, p);
    json_number(j, "blocked_s", b->blocked_s);
    json_string(j, "algorithm", g.algorithm);
    json_count(j, "block_size", g.block_bytes);
    json_count(j, "bytes_received", g.bytes_received);
    json_count(j, "bytes_redundant", g.bytes_redundant);
    json_close_object(j);
}

static void put_text(FILE *to, const struct playback *b,
                     const struct xd_playback *p)
{
    char played[UNITS_SIZE];

    text_put(to, b->name != NULL ? b->name : "the file");
    if (b->viewer == NULL) {
        fprintf(to,
                ": stalls are not known, since only mpv reports them\n"
                "the player waited for bytes for %.2f s, also while it read "
                "ahead\n",
                b->blocked_s);
        return;
    }
    if (p->startup_s < 0) {
        fprintf(to, ": never started\n");
        return;
    }
    fprintf(to,
            ": played %s, started after %.2f s (its first byte came after "
            "%.2f s)\n",
            units_seconds(played, p->played_s), p->startup_s,
            p->startup_least_s);
    fprintf(to, "stalls: %u, %.2f s together, the longest %.2f s\n",
            p->n_stalls, p->stall_s, p->stall_longest_s);
    fprintf(to,
            "least possible with the bytes as they came: %.2f s; by whole "
            "blocks: %.2f s\n",
            p->stall_least_s, p->stall_blocks_s);
    if (p->n_seeks > 0)
        fprintf(
            to,
            "seeks: %u, waits of %.2f s together, the longest %.2f s (their "
            "first bytes came after %.2f s together)\n",
            p->n_seeks, p->restart_s, p->restart_longest_s, p->restart_least_s);
    fprintf(to, "rebuffering %.2f %%, stalling quality %.2f (P.1203, 1 to 5)\n",
            p->rebuffer_ratio * 100, p->quality);
}

/* Adds the wait before a file.  If the file showed no picture, it has failed,
 * and the wait does not count. */
static void count_gap(struct playback_list *l, const struct xd_playback *p)
{
    if (l->n == 0 || p->startup_s < 0)
        return;
    l->gaps_s += p->startup_s;
    if (p->startup_s > l->longest_s)
        l->longest_s = p->startup_s;
}

void playback_begin(struct playback_list *l, FILE *to, const struct args *a,
                    bool is_list)
{
    *l = (struct playback_list){.args = a, .to = to, .is_list = is_list};
    json_init(&l->json, to);
    if (a->json && is_list)
        json_open_array(&l->json, NULL);
}

void playback_put(struct playback_list *l, const struct playback *b)
{
    struct xd_playback p = {.struct_size = sizeof p, .startup_s = -1};

    if (b->viewer != NULL)
        xd_reader_playback(b->viewer, &p);
    /* The position of mpv's picture is estimated.  So the computed shortest
     * wait may exceed the real wait; limit it. */
    if (p.stall_least_s > p.stall_s)
        p.stall_least_s = p.stall_s;
    if (p.rebuffer_least > p.rebuffer_ratio)
        p.rebuffer_least = p.rebuffer_ratio;
    count_gap(l, &p);
    l->n++;
    if (l->args->json)
        put_json(&l->json, b, &p);
    else if (!l->args->quiet)
        put_text(l->to, b, &p);
    fflush(l->to);
}

void playback_end(struct playback_list *l)
{
    if (l->args->json && l->is_list)
        json_close_array(&l->json);
    if (l->args->json)
        json_end(&l->json);
    else if (!l->args->quiet && l->gaps_s > 0)
        fprintf(l->to,
                "between the files: %.2f s together, the longest %.2f s\n",
                l->gaps_s, l->longest_s);
}

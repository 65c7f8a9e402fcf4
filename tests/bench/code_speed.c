/* SPDX-License-Identifier: MIT */
/*
 * How many bytes of a file lib/code encodes and decodes in a second of the
 * processor, in one thread, from memory to memory:
 *
 *     code_speed K N SHARD-BYTES SECONDS
 *
 * prints "encode BYTES-PER-SECOND", and "decode BYTES-PER-SECOND" with as many
 * data shards lost as there are parity shards, each measured for so long at least;
 * and "isa-l VERSION".
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <isa-l.h>

#include "code/reed_solomon.h"

struct stripe {
    unsigned k, n;
    size_t len;
    struct xd_coder *coder;
    struct xd_decoder *decoder;
    uint8_t *shards[XD_SHARDS_MAX], *made[XD_SHARDS_MAX];
};

/* Other work of the machine is not counted. */
static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(bool is_good, const char *what)
{
    if (is_good)
        return;
    fprintf(stderr, "code_speed: %s\n", what);
    exit(EXIT_FAILURE);
}

/* Touched, so that no page comes while time is taken. */
static uint8_t *new_shard(size_t len, unsigned seed)
{
    uint8_t *shard = malloc(len);
    uint32_t x = seed + 1;

    check(shard != NULL, "out of memory");
    for (size_t b = 0; b < len; b++) {
        x = x * 1664525 + 1013904223;
        shard[b] = (uint8_t)(x >> 24);
    }
    return shard;
}

static void encode(struct stripe *s)
{
    const uint8_t *data[XD_SHARDS_MAX];

    for (unsigned j = 0; j < s->k; j++)
        data[j] = s->shards[j];
    xd_coder_encode(s->coder, s->len, data, s->shards + s->k);
}

/* Of the last k shards, the first ones. */
static void decode(struct stripe *s)
{
    const uint8_t *from[XD_SHARDS_MAX];

    for (unsigned i = 0; i < s->k; i++)
        from[i] = s->shards[s->n - s->k + i];
    xd_decoder_run(s->decoder, s->len, from, s->made);
}

static void measure(const char *name, void (*run)(struct stripe *),
                    struct stripe *s, double seconds)
{
    double begin, taken;
    unsigned times = 0;

    run(s); /* once, to have everything in its place */
    begin = now_s();
    do {
        run(s);
        times++;
        taken = now_s() - begin;
    } while (taken < seconds);
    printf("%s %.0f\n", name, (double)s->k * (double)s->len * times / taken);
}

static void make_stripe(struct stripe *s)
{
    unsigned present[XD_SHARDS_MAX], wanted[XD_SHARDS_MAX];
    unsigned lost = s->n - s->k;

    for (unsigned i = 0; i < s->k; i++)
        present[i] = lost + i;
    for (unsigned i = 0; i < lost; i++)
        wanted[i] = i;
    check(xd_coder_new(&s->coder, s->k, s->n, NULL) == 0 &&
              xd_decoder_new(&s->decoder, s->coder, present, wanted, lost,
                             NULL) == 0,
          "there is no such code");
    for (unsigned i = 0; i < s->n; i++)
        s->shards[i] = new_shard(s->len, i);
    for (unsigned i = 0; i < lost; i++)
        s->made[i] = new_shard(s->len, s->n + i);
}

int main(int argc, char **argv)
{
    struct stripe s;

    check(argc == 5, "usage: code_speed K N SHARD-BYTES SECONDS");
    s.k = (unsigned)strtoul(argv[1], NULL, 10);
    s.n = (unsigned)strtoul(argv[2], NULL, 10);
    s.len = strtoul(argv[3], NULL, 10);
    check(s.k <= s.n && s.n <= 2 * s.k && s.n <= XD_SHARDS_MAX,
          "n is between k and 2 k");
    make_stripe(&s);
    measure("encode", encode, &s, strtod(argv[4], NULL));
    measure("decode", decode, &s, strtod(argv[4], NULL));
    for (unsigned i = 0; i < s.n - s.k; i++)
        check(memcmp(s.made[i], s.shards[i], s.len) == 0, "wrong bytes");
    printf("isa-l %d.%d.%d\n", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION,
           ISAL_PATCH_VERSION);
    for (unsigned i = 0; i < s.n; i++)
        free(s.shards[i]);
    for (unsigned i = 0; i < s.n - s.k; i++)
        free(s.made[i]);
    xd_decoder_free(s.decoder);
    xd_coder_free(s.coder);
    return EXIT_SUCCESS;
}

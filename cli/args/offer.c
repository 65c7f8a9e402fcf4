/* SPDX-License-Identifier: MIT */
#include "args/offer.h"

#include <stdlib.h>
#include <string.h>

#include "args/address.h"
#include "args/quantity.h"
#include "common/http_words.h"
#include "common/status.h"
#include "common/words.h"

/* One that is not guessed, and that stands in a path. */
#define TOKEN_MIN 8
#define TOKEN_MAX 64

/* Of a depot: the paper's, and what makes sense for a few blocks, and in memory. */
#define ACTIVE_BYTES (UINT64_C(16) << 20)
#define ACTIVE_LEAST (UINT64_C(1) << 20)
#define ACTIVE_MOST (UINT64_C(1) << 30)

static int set_token(struct args *a, char *value)
{
    const size_t len = strlen(value);

    if (a->token != NULL)
        return words_usage("--token is given twice");
    if (len < TOKEN_MIN || len > TOKEN_MAX || !http_is_plain(value))
        return words_usage("--token takes %d to %d letters, digits and -._~",
                           TOKEN_MIN, TOKEN_MAX);
    a->token = strdup(value);
    memset(value, '*', len);
    if (a->token != NULL)
        return 0;
    words_error("out of memory");
    return STATUS_FAILED;
}

static int set_active_length(struct args *a, const char *value)
{
    if (!quantity_bytes(&a->active_bytes, value))
        return words_usage("invalid active-length '%s': use a number and a "
                           "unit, such as 16m",
                           value);
    if (a->active_bytes < ACTIVE_LEAST || a->active_bytes > ACTIVE_MOST)
        return words_usage("--active-length is from 1m to 1g, not %s", value);
    return 0;
}

int offer_take(struct args *a, const struct option_row *row, char *value)
{
    return row->id == OPTION_TOKEN ? set_token(a, value)
                                   : set_active_length(a, value);
}

int offer_check(struct args *a)
{
    if (a->listen == NULL)
        a->listen = OFFER_LISTEN;
    const int is_loopback = address_is_loopback(a->listen);
    if (is_loopback < 0)
        return words_usage("--listen takes ADDRESS, or ADDRESS:PORT, in "
                           "numbers, not %s",
                           a->listen);
    if (!is_loopback && a->token == NULL)
        return words_usage("other machines can reach %s: give --token WORD, "
                           "a secret that all URLs then begin with",
                           a->listen);
    return 0;
}

int offer_check_depot(struct args *a)
{
    if (a->n_inputs != 1)
        return words_usage("depot serves one folder: %zu are given",
                           a->n_inputs);
    if (a->active_bytes == 0)
        a->active_bytes = ACTIVE_BYTES;
    return offer_check(a);
}

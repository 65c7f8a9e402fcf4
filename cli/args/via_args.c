/* SPDX-License-Identifier: MIT */
#include "args/via_args.h"

#include "args/quantity.h"
#include "common/status.h"
#include "common/words.h"

static int set_size(uint64_t *out, const char *name, const char *value)
{
    if (quantity_bytes(out, value) && *out > 0)
        return 0;
    return words_usage("invalid %s '%s': use a number and a unit, such as 4m",
                       name, value);
}

static int add_origin(struct via_args *v, const char *value)
{
    if (!args_is_url(value))
        return words_usage("--origin takes a URL such as "
                           "https://releases.example.com/, not %s",
                           value);
    if (v->n_origins == VIA_ORIGINS_MAX)
        return words_usage("--origin is given more than %d times",
                           VIA_ORIGINS_MAX);
    v->origins[v->n_origins++] = value;
    return 0;
}

static int set_hops(struct via_args *v, const char *value)
{
    if (quantity_count(&v->hops, value, 1, 2))
        return 0;
    return words_usage("--hops takes 1 or 2, not %s", value);
}

static int set_fill_time(struct via_args *v, const char *value)
{
    if (quantity_seconds(&v->fill_s, value) && v->fill_s >= 1)
        return 0;
    return words_usage("invalid fill-time '%s': use a number and a unit of at "
                       "least a second, such as 90s",
                       value);
}

int via_take(struct via_args *v, const struct option_row *row,
             const char *value)
{
    if (row->id == OPTION_ORIGIN)
        return add_origin(v, value);
    if (row->id == OPTION_CHUNK)
        return set_size(&v->chunk, row->name, value);
    if (row->id == OPTION_CACHE_SIZE)
        return set_size(&v->cache, row->name, value);
    if (row->id == OPTION_HOPS)
        return set_hops(v, value);
    if (row->id == OPTION_FILL_TIME)
        return set_fill_time(v, value);
    if (row->id == OPTION_NGINX)
        v->writes = true;
    else
        v->checks = true;
    return 0;
}

static int check_nginx(const struct args *a)
{
    const struct via_args *v = &a->via;

    if (v->n_origins == 0)
        return words_usage("via --nginx needs --origin: the server that the "
                           "nodes fetch from, and no other");
    if (a->output == NULL || args_to_stdout(a))
        return words_usage("via --nginx needs --output DIR: the folder for the "
                           "list of nodes and their configurations");
    if (a->json)
        return words_usage("--json is for via --check");
    return 0;
}

static int check_check(const struct args *a)
{
    const struct via_args *v = &a->via;

    if (a->n_inputs != 2 || args_is_url(a->inputs[0]) ||
        !args_is_url(a->inputs[1]))
        return words_usage("via --check needs a list of nodes and the URL of a "
                           "file at its origin: xdownload via --check NODES "
                           "URL");
    if (v->n_origins > 0 || v->chunk > 0 || v->cache > 0 || v->hops > 0 ||
        v->fill_s > 0 || a->output != NULL)
        return words_usage("via --check writes nothing: --origin, --chunk, "
                           "--hops, --cache-size, --fill-time and --output are "
                           "for via --nginx");
    return 0;
}

int via_check(const struct args *a)
{
    if (a->via.writes == a->via.checks)
        return words_usage("via needs --nginx or --check, %s",
                           a->via.writes ? "not both" : "and neither is given");
    return a->via.writes ? check_nginx(a) : check_check(a);
}

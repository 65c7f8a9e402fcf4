/* SPDX-License-Identifier: MIT */
#include "args/publish.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "args/quantity.h"
#include "common/status.h"
#include "common/words.h"

#define LEAST_EXTENT 4096u
#define MOST_COPIES STORES_MAX

static int add_store(struct publish_args *p, char *value)
{
    if (strstr(value, "://") == NULL)
        return words_usage("--to takes the URL of a store, such as "
                           "https://HOST/FOLDER/, s3://BUCKET/KEY or "
                           "ibp://HOST:PORT, not %s",
                           value);
    if (p->n_stores == STORES_MAX)
        return words_usage("--to is given more than %d times", STORES_MAX);
    p->stores[p->n_stores] = args_copy_and_hide(value);
    if (p->stores[p->n_stores] == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    p->n_stores++;
    return 0;
}

static int set_copies(struct publish_args *p, const char *value)
{
    if (quantity_count(&p->copies, value, 1, MOST_COPIES))
        return 0;
    return words_usage("--copies takes a number from 1 to %d, not %s",
                       MOST_COPIES, value);
}

static int set_extent(struct publish_args *p, const char *value)
{
    if (quantity_bytes(&p->extent, value) && p->extent >= LEAST_EXTENT)
        return 0;
    return words_usage(
        "invalid extent '%s': use a number of at least %u bytes, "
        "such as 64m",
        value, LEAST_EXTENT);
}

static int set_lifetime(double *out, const char *name, const char *value)
{
    if (quantity_lifetime(out, value) && *out >= 1)
        return 0;
    return words_usage("invalid %s '%s': use a number and a unit of at least a "
                       "second, such as 12h or 30d",
                       name, value);
}

static int set_from(struct publish_args *p, char *value)
{
    if (p->from != NULL)
        return words_usage("--from is given twice: drop the copies of one "
                           "host or store at a time");
    if (*value == '\0')
        return words_usage("--from takes HOST, HOST:PORT or the URL of a "
                           "store, and got an empty word");
    p->from = args_copy_and_hide(value);
    if (p->from != NULL)
        return 0;
    words_error("out of memory");
    return STATUS_FAILED;
}

int publish_take(struct publish_args *p, const struct option_row *row,
                 char *value)
{
    if (row->id == OPTION_TO)
        return add_store(p, value);
    if (row->id == OPTION_COPIES)
        return set_copies(p, value);
    if (row->id == OPTION_CODE || row->id == OPTION_PARITY) {
        p->code = value;
        return 0;
    }
    if (row->id == OPTION_EXTENT)
        return set_extent(p, value);
    if (row->id == OPTION_FOR)
        return set_lifetime(&p->lifetime_s, row->name, value);
    if (row->id == OPTION_PRESIGN)
        return set_lifetime(&p->presign_s, row->name, value);
    if (row->id == OPTION_FROM)
        return set_from(p, value);
    if (row->id == OPTION_HEAL)
        p->heals = true;
    else if (row->id == OPTION_KEEP_OBJECTS)
        p->keeps_objects = true;
    else
        p->stripes = true;
    return 0;
}

static int check_copies(const struct publish_args *p)
{
    if (p->copies <= p->n_stores)
        return 0;
    return words_usage("--copies %" PRIu64 " needs as many stores, for none "
                       "gets two copies, and %zu %s given",
                       p->copies, p->n_stores, p->n_stores == 1 ? "is" : "are");
}

int publish_check(struct args *a)
{
    const struct publish_args *p = &a->publish;

    if (a->n_inputs > 1)
        return words_usage(
            "put takes one file, not %zu: each has a manifest of "
            "its own",
            a->n_inputs);
    if (args_is_url(a->inputs[0]))
        return words_usage("put takes a file of this machine: to make a "
                           "manifest of URLs, use xdownload make");
    if (p->n_stores == 0)
        return words_usage(
            "put needs a store to put the file on: give --to URL "
            "for each");
    if (args_to_stdout(a))
        return words_usage("put writes its manifest while it runs: --output "
                           "needs the name of a file");
    return check_copies(p);
}

/* One manifest of this machine. */
static int check_manifest(const struct args *a, const char *command)
{
    if (a->n_inputs > 1)
        return words_usage("%s takes one manifest, not %zu", command,
                           a->n_inputs);
    if (args_is_url(a->inputs[0]) || strcmp(a->inputs[0], "-") == 0)
        return words_usage("%s takes a manifest of this machine, which it "
                           "writes again",
                           command);
    return 0;
}

int publish_check_add(struct args *a)
{
    const int status = check_manifest(a, "add");

    if (status == 0 && a->publish.n_stores == 0)
        return words_usage("add needs a store to put the copies on: give --to "
                           "URL for each");
    return status == 0 ? check_copies(&a->publish) : status;
}

int publish_check_heal(struct args *a)
{
    const struct publish_args *p = &a->publish;

    if (!p->heals && p->n_stores > 0)
        return words_usage("--to is for check --heal: a check writes nothing");
    if (!p->heals)
        return 0;
    if (p->n_stores == 0)
        return words_usage(
            "--heal needs a store to put the new copies on: give "
            "--to URL for each");
    if (a->file != NULL)
        return words_usage("--heal is for manifests of one file, and --file "
                           "chooses one of several");
    return check_manifest(a, "check --heal");
}

int publish_check_drop(struct args *a)
{
    const int status = check_manifest(a, "drop");

    if (status == 0 && a->publish.from == NULL)
        return words_usage("drop needs --from: the host or the store whose "
                           "copies are to go");
    return status;
}

int publish_check_renew(struct args *a)
{
    const int status = check_manifest(a, "renew");

    if (status == 0 && a->publish.lifetime_s <= 0)
        return words_usage("renew needs --for: how long the copies are to "
                           "live from now on, such as 30d");
    return status;
}

void publish_fini(struct publish_args *p)
{
    for (size_t i = 0; i < p->n_stores; i++)
        free(p->stores[i]);
    p->n_stores = 0;
    free(p->from);
    p->from = NULL;
}

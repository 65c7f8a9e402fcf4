/* SPDX-License-Identifier: MIT */
#include "io/journal/journal_match.h"

#include <string.h>

#include "base/error.h"

static int fail_other(const char *part, const char *path, const char *what,
                      struct xd_error *err)
{
    return xd_fail(
        err, XD_E_IO,
        "%s: is of another file than the one to be fetched, as %s "
        "says: its %s differs; --no-continue starts it from the beginning",
        part, path, what);
}

int xd_journal_match(const struct xd_journal_contents *contents,
                     const struct xd_journal_identity *identity,
                     const char *part, const char *path, struct xd_error *err)
{
    if (strcmp(contents->name, identity->name) != 0)
        return fail_other(part, path, "name", err);
    if (contents->size != identity->size)
        return fail_other(part, path, "size", err);
    if (contents->wanted.begin != identity->wanted.begin ||
        contents->wanted.end != identity->wanted.end)
        return fail_other(part, path, "range", err);
    return 0;
}

/* Compares the hashes.  If an earlier run failed with its hash, that hash may
 * have been wrong, so another hash is accepted. */
int xd_journal_match_hash(const struct xd_journal_contents *contents,
                          const struct xd_journal_identity *identity,
                          const char *part, const char *path,
                          struct xd_error *err)
{
    const char *hashes = contents->hashes.s ? contents->hashes.s : "";

    if (contents->failed.len == 0 &&
        xd_journal_compare_hashes(hashes, identity->hashes) < 0)
        return fail_other(part, path, "hash", err);
    return 0;
}

int xd_journal_fail_unknown(const char *part, uint64_t found,
                            struct xd_error *err)
{
    return xd_fail(err, XD_E_IO,
                   "%s: has %llu bytes, and no journal says of what: "
                   "--no-continue starts it from the beginning",
                   part, (unsigned long long)found);
}

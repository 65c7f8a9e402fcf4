/* SPDX-License-Identifier: MIT */
#include "publish/inventory_journal.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "os/file.h"
#include "os/small_file.h"

/* Largest length of a journal, in bytes.  A journal never gets this long before
 * the manifest is written again. */
#define JOURNAL_MAX ((size_t)64 << 20)

#define FIRST "of "
#define FIRST_BYTES (sizeof FIRST - 1 + XD_SHA256_HEX + 1)

static bool is_of(const struct xd_text *journal, const char *of)
{
    return journal->len >= FIRST_BYTES &&
           memcmp(journal->s, FIRST, sizeof FIRST - 1) == 0 &&
           memcmp(journal->s + sizeof FIRST - 1, of, XD_SHA256_HEX) == 0 &&
           journal->s[FIRST_BYTES - 1] == '\n';
}

int xd_inventory_journal_read(struct xd_text *out, const char *path,
                              const char of[XD_SHA256_HEX + 1],
                              struct xd_error *err)
{
    struct xd_text journal = {.s = NULL};
    int rc = xd_small_file_read_private(&journal, path, JOURNAL_MAX, err);

    if (rc == 0 && is_of(&journal, of)) {
        size_t end = journal.len;

        while (journal.s[end - 1] != '\n')
            end--;
        xd_text_add(out, journal.s + FIRST_BYTES, end - FIRST_BYTES);
        if (out->failed)
            rc = xd_fail_nomem(err);
    }
    xd_text_fini(&journal);
    return rc;
}

int xd_inventory_journal_append(const char *path, const char *of,
                                const char *lines, struct xd_error *err)
{
    struct xd_text t = {.s = NULL};
    int rc;

    if (!of)
        return xd_small_file_append(path, lines, strlen(lines), err);
    xd_text_addf(&t, FIRST "%s\n%s", of, lines);
    rc = t.failed ? xd_fail_nomem(err)
                  : xd_small_file_keep(path, t.s, t.len, err);
    xd_text_fini(&t);
    return rc;
}

int xd_inventory_journal_remove(const char *path, struct xd_error *err)
{
    int folder, rc = xd_folder_open(&folder, path, err);

    if (rc < 0)
        return rc;
    rc = xd_file_remove(folder, path, err);
    xd_file_close(folder);
    return rc;
}

/* SPDX-License-Identifier: MIT */
#include "publish/inventory_paths.h"

#include <string.h>

#include "base/text.h"

char *xd_inventory_private_path_of(const char *path)
{
    static const char *const endings[] = {".xnd", ".meta4", ".metalink",
                                          ".exnode"};
    size_t len = strlen(path);
    struct xd_text t = {.s = NULL};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);

        if (len > n && strcmp(path + len - n, endings[i]) == 0) {
            len -= n;
            break;
        }
    }
    xd_text_addf(&t, "%.*s.private.xnd", (int)len, path);
    if (t.failed)
        xd_text_fini(&t);
    return t.s;
}

char *xd_inventory_journal_path_of(const char *private_path)
{
    struct xd_text t = {.s = NULL};

    if (private_path)
        xd_text_addf(&t, "%s.journal", private_path);
    if (t.failed)
        xd_text_fini(&t);
    return t.s;
}

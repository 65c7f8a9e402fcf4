/* SPDX-License-Identifier: MIT */
#include "args/cache.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/status.h"
#include "common/words.h"

/* As the XDG Base Directory Specification has it: a relative name is none.
 * For the caller to free; NULL: nowhere, or no memory. */
static char *new_path(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool is_named = cache != NULL && cache[0] == '/';
    char *path = NULL;
    size_t len;

    if (!is_named && (home == NULL || home[0] != '/'))
        return NULL;
    FILE *to = open_memstream(&path, &len);
    if (to == NULL)
        return NULL;
    if (is_named)
        fprintf(to, "%s/xdownload/depots", cache);
    else
        fprintf(to, "%s/.cache/xdownload/depots", home);
    if (fclose(to) == 0)
        return path;
    free(path);
    return NULL;
}

int cache_set_default(struct xd_options *o)
{
    struct xd_error err;
    char *path = new_path();
    int rc = 0;

    /* A folder with a name that no option may have is none. */
    if (path != NULL)
        rc = xd_options_set(o, "depot-cache", path, &err);
    free(path);
    if (rc != XD_E_NOMEM)
        return 0;
    words_error("%s", err.msg);
    return STATUS_FAILED;
}

/* SPDX-License-Identifier: MIT */
#include "engine/option_texts.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/text.h"

int xd_text_option_set(char **field, const char *value)
{
    char *copy = xd_strdup(value);

    if (copy == NULL)
        return XD_E_NOMEM;
    xd_free(*field);
    *field = copy;
    return 0;
}

int xd_text_option_add_line(char **field, const char *value)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(&t, "%s%s\n", *field != NULL ? *field : "", value);
    if (t.failed) {
        xd_text_fini(&t);
        return XD_E_NOMEM;
    }
    xd_free(*field);
    *field = t.s;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Writes a manifest to a file. */
#include <xdpublish/make.h>

#include "os/small_file.h"

int xd_manifest_save(const char *path, const char *text, size_t len,
                     bool replaces, struct xd_error *err)
{
    return xd_small_file_publish(
        path, text, len,
        replaces ? XD_REPLACE_FILE_OR_LINK : XD_REPLACE_NOTHING, err);
}

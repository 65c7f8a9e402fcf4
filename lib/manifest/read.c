/* SPDX-License-Identifier: MIT */
/* Reads manifests and checksums from files. */
#include <xdownload/check.h>
#include <xdownload/manifest.h>

#include "command/lists.h"
#include "command/manifests.h"
#include "manifest/input.h"
#include "manifest/parse.h"
#include "manifest/signed_texts.h"
#include "base/error.h"

int xd_manifest_read(struct xd_manifest **out, const char *path,
                     struct xd_error *err)
{
    struct xd_input in;
    *out = NULL;
    int rc = xd_input_open(&in, path, err);
    if (rc < 0)
        return rc;
    rc = xd_manifest_parse_input(out, &in, path, err);
    xd_input_fini(&in);
    return rc;
}

/* Reads the whole file.  The caller releases *out, except after a failure. */
static int read_all(struct xd_input *out, const char *path,
                    struct xd_error *err)
{
    int rc = xd_input_open(out, path, err);
    if (rc < 0)
        return rc;
    rc = xd_input_fill_all(out, err);
    if (rc < 0)
        xd_input_fini(out);
    return rc;
}

int xd_list_read(struct xd_list **out, const char *path, bool servers_name,
                 struct xd_error *err)
{
    struct xd_input in;
    *out = NULL;
    int rc = read_all(&in, path, err);
    if (rc < 0)
        return rc;
    rc = xd_list_parse(out, in.front.s, in.front.len, path, servers_name, err);
    xd_input_fini(&in);
    return rc;
}

int xd_checksums_read_file(struct xd_checksums *c, const char *path,
                           struct xd_error *err)
{
    struct xd_input in;
    int rc = read_all(&in, path, err);
    if (rc < 0)
        return rc;
    rc = xd_checksums_parse(c, in.front.s, in.front.len, path, err);
    xd_input_fini(&in);
    return rc;
}

int xd_text_read(struct xd_text *out, const char *path, struct xd_error *err)
{
    struct xd_input in;
    *out = (struct xd_text){0};
    int rc = read_all(&in, path, err);
    if (rc < 0)
        return rc;
    if (in.front.len > 0)
        xd_text_add(out, in.front.s, in.front.len);
    xd_input_fini(&in);
    return out->failed ? xd_fail_nomem(err) : 0;
}

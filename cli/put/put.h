/* SPDX-License-Identifier: MIT */
/* xdownload put and add: uploads copies of a file to stores, and writes the
 * manifest. */
#ifndef CLI_PUT_H
#define CLI_PUT_H

#include <xdpublish/upload.h>

#include "args/args.h"

struct json;

/* Run the commands.  Print what went wrong, and return a status. */
int put_file(const struct args *a);
int put_copies(const struct args *a);

/* Creates the upload that put_run() runs. */
typedef int upload_make(struct xd_upload **out, void *user,
                        const struct xd_upload_wish *wish,
                        const struct xd_options *o, struct xd_error *err);

/* Runs an upload.  `name` is the name of the file for messages, and `manifest`
 * is the path of the manifest to write.  If `json` is not NULL, it is a JSON
 * object to which the members of the report are added. */
int put_run(const struct args *a, const char *name, const char *manifest,
            upload_make *make, void *user, struct json *json);

#endif

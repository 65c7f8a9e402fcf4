/* SPDX-License-Identifier: MIT */
/* xdownload put and add: copies of a file on stores, and the manifest that names
 * them. */
#ifndef CLI_PUT_H
#define CLI_PUT_H

#include <xdownload/upload.h>

#include "args/args.h"

/* Both return a status; what went wrong was said. */
int put_file(const struct args *a);
int put_copies(const struct args *a);

/* Makes the upload that is run. */
typedef int upload_make(struct xd_upload **out, void *user,
                        const struct xd_upload_wish *wish,
                        const struct xd_options *o, struct xd_error *err);

/* The same for any upload: `name` is what people call the file, `manifest` the path
 * of the one that is written. */
int put_run(const struct args *a, const char *name, const char *manifest,
            upload_make *make, void *user);

#endif

/* SPDX-License-Identifier: MIT */
/* A format that can be written.  Each is implemented in one file. */
#ifndef XD_MANIFEST_WRITE_H
#define XD_MANIFEST_WRITE_H

#include "base/text.h"
#include "manifest/model.h"

struct xd_writer {
    const char *name; /* format name, as in xd_manifest_write() */
    /* Appends `n` files to `to`.  Errors: INVAL if the format cannot express
     * them.  Sets to->failed if out of memory. */
    int (*write)(struct xd_text *to, const struct xd_model_file *files,
                 size_t n, bool with_secrets, struct xd_error *err);
};

extern const struct xd_writer xd_writer_exnode;
extern const struct xd_writer xd_writer_metalink4;

#define XD_XML_DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

/* Appends `s` escaped for an element or for a quoted attribute. */
void xd_write_escaped(struct xd_text *to, const char *s);

/* Returns a file's name for messages. */
const char *xd_write_name(const struct xd_model_file *f);

#endif

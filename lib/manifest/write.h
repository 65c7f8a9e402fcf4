/* SPDX-License-Identifier: MIT */
/* A format that can be written is one file that offers one of these. */
#ifndef XD_MANIFEST_WRITE_H
#define XD_MANIFEST_WRITE_H

#include "base/text.h"
#include "manifest/model.h"

struct xd_writer {
    const char *name; /* as xd_manifest_write() wants it */
    /* `n` files to the end of `to`.  Errors: INVAL, what the format cannot
     * say.  Memory that runs out is left in to->failed. */
    int (*write)(struct xd_text *to, const struct xd_model_file *files,
                 size_t n, bool with_secrets, struct xd_error *err);
};

extern const struct xd_writer xd_writer_exnode;
extern const struct xd_writer xd_writer_metalink4;

#define XD_XML_DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

/* As the text of an element, or of an attribute within "". */
void xd_write_escaped(struct xd_text *to, const char *s);

/* Of a file, for sentences. */
const char *xd_write_name(const struct xd_model_file *f);

#endif

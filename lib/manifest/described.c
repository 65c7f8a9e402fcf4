/* SPDX-License-Identifier: MIT */
#include "manifest/described.h"

#include <string.h>

const struct xd_model_file *xd_described_file(const struct xd_manifest *m,
                                              const char *name)
{
    for (size_t i = 0; name && i < m->n_files; i++) {
        const char *own = xd_model_name(&m->files[i]);

        if (own && strcmp(own, name) == 0)
            return &m->files[i];
    }
    return m->n_files == 1 ? &m->files[0] : NULL;
}

static bool is_whole(const struct xd_model_file *f)
{
    return f->n_extents == 1 && f->extents[0].offset == 0;
}

const char *xd_described_refuse(const struct xd_model_file *f, uint64_t size)
{
    if (!f || !is_whole(f))
        return "it does not describe this file";
    if (size != XD_SIZE_UNKNOWN && f->size != XD_SIZE_UNKNOWN &&
        size != f->size)
        return "it is of a file of another size";
    return NULL;
}

bool xd_described_contradicts(const struct xd_model_file *f,
                              const char *algorithm, const char *hex)
{
    for (size_t i = 0; i < f->n_hashes; i++) {
        if (strcmp(f->hashes[i].algorithm, algorithm) == 0 &&
            strcmp(f->hashes[i].hex, hex) != 0)
            return true;
    }
    return false;
}

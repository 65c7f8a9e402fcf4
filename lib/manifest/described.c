/* SPDX-License-Identifier: MIT */
#include "manifest/described.h"

#include <string.h>

const struct xd_model_file *xd_described_file(const struct xd_manifest *m,
                                              const char *name)
{
    for (size_t i = 0; name && i < m->n_files; i++) {
        if (m->files[i].row.name && strcmp(m->files[i].row.name, name) == 0)
            return &m->files[i];
    }
    return m->n_files == 1 ? &m->files[0] : NULL;
}

static bool is_whole(const struct xd_model_file *f)
{
    return f->row.n_extents == 1 && f->extents[0].row.offset == 0;
}

const char *xd_described_refuse(const struct xd_model_file *f, uint64_t size)
{
    if (!f || !is_whole(f))
        return "it does not describe this file";
    if (size != XD_SIZE_UNKNOWN && f->row.size != XD_SIZE_UNKNOWN &&
        size != f->row.size)
        return "it is of a file of another size";
    return NULL;
}

bool xd_described_contradicts(const struct xd_model_file *f,
                              const char *algorithm, const char *hex)
{
    for (size_t i = 0; i < f->row.n_hashes; i++) {
        if (strcmp(f->hashes[i].algorithm, algorithm) == 0 &&
            strcmp(f->hashes[i].hex, hex) != 0)
            return true;
    }
    return false;
}

#ifndef XD_MANIFEST_PARSE_H
#define XD_MANIFEST_PARSE_H

#include <stddef.h>

/* Bytes of text; real manifests have a few thousand. */
#define XD_MANIFEST_MAX ((size_t)64 << 20)

#endif

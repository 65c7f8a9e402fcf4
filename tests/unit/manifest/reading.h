/* SPDX-License-Identifier: MIT */
/* Manifests for tests: from a text or from tests/data/manifest, with getters
 * that cannot fail quietly. */
#ifndef XD_TESTS_READING_H
#define XD_TESTS_READING_H

#include <stdio.h>
#include <string.h>
#include <xdownload/manifest.h>

#include "command/manifests.h"
#include "suite.h"

#define METALINK "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
#define EXNODE "<exnode xmlns:e=\"http://loci.cs.utk.edu/exnode\">"

static struct xd_manifest *manifest;
static struct xd_error error;

static inline void forget_manifest(void)
{
    xd_manifest_unref(manifest);
    manifest = NULL;
}

static inline int parse_from(const char *text, const char *origin)
{
    forget_manifest();
    error = (struct xd_error){.code = XD_OK};
    return xd_manifest_parse(&manifest, text, strlen(text), origin, &error);
}

static inline void parse(const char *text)
{
    int rc = parse_from(text, NULL);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

static inline void read_data(const char *name)
{
    char path[500];
    snprintf(path, sizeof path, XD_TEST_DATA "/%s", name);
    forget_manifest();
    int rc = xd_manifest_read(&manifest, path, &error);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

/* The text is refused, with these words. */
static inline void expect_refused(const char *text, const char *words)
{
    int rc = parse_from(text, NULL);
    ck_assert_msg(rc == XD_E_MANIFEST, "%d for %.200s", rc, text);
    ck_assert_ptr_null(manifest);
    ck_assert_int_eq(error.code, XD_E_MANIFEST);
    ck_assert_msg(strstr(error.msg, words) != NULL, "\"%s\" lacks \"%s\"",
                  error.msg, words);
}

static inline struct xd_file file_at(size_t i)
{
    struct xd_file f = {.struct_size = sizeof f};
    ck_assert_int_eq(xd_manifest_file(manifest, i, &f), 0);
    return f;
}

static inline struct xd_hash hash_at(size_t file, size_t i)
{
    struct xd_hash h = {.struct_size = sizeof h};
    ck_assert_int_eq(xd_manifest_hash(manifest, file, i, &h), 0);
    return h;
}

static inline struct xd_extent extent_at(size_t file, size_t i)
{
    struct xd_extent e = {.struct_size = sizeof e};
    ck_assert_int_eq(xd_manifest_extent(manifest, file, i, &e), 0);
    return e;
}

static inline struct xd_replica replica_at(size_t file, size_t extent, size_t i)
{
    struct xd_replica r = {.struct_size = sizeof r};
    ck_assert_int_eq(xd_manifest_replica(manifest, file, extent, i, &r), 0);
    return r;
}

static inline void expect_url(size_t file, size_t extent, size_t i,
                              const char *url)
{
    ck_assert_str_eq(replica_at(file, extent, i).url, url);
}

static inline void expect_bytes(size_t extent, uint64_t offset, uint64_t length,
                                size_t n_replicas)
{
    struct xd_extent e = extent_at(0, extent);
    ck_assert_uint_eq(e.offset, offset);
    ck_assert_uint_eq(e.length, length);
    ck_assert_uint_eq(e.n_replicas, n_replicas);
}

static inline size_t n_warnings(void)
{
    size_t n = 0;
    while (xd_manifest_warning(manifest, n))
        n++;
    return n;
}

/* Some warning has these words. */
static inline void expect_warning(const char *words)
{
    const char *w;
    for (size_t i = 0; (w = xd_manifest_warning(manifest, i)); i++) {
        if (strstr(w, words))
            return;
    }
    ck_abort_msg("no warning says \"%s\"; the first is \"%s\"", words,
                 n_warnings() ? xd_manifest_warning(manifest, 0) : "none");
}

#endif

/* SPDX-License-Identifier: MIT */
/* The depots of a manifest, for tests. */
#ifndef DEPOTS_OF_H
#define DEPOTS_OF_H

#include <string.h>
#include <xdownload/manifest.h>

#include "base/choice.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "manifest/model.h"
#include "suite.h"

static struct xd_manifest *manifest;
static struct xd_depots depots;
static struct xd_error error;

static inline void read_without(const char *exclude, const char *text)
{
    int rc = xd_manifest_parse(&manifest, text, strlen(text), NULL, &error);

    ck_assert_msg(rc == 0, "%s", error.msg);
    rc = xd_depots_init(&depots, manifest, 0,
                        &(struct xd_choice){.exclude = exclude}, &error);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

static inline void read_text(const char *text)
{
    read_without(NULL, text);
}

static inline void teardown(void)
{
    xd_depots_fini(&depots);
    xd_manifest_unref(manifest);
    manifest = NULL;
}

/* What is remembered of the depot of that name, before they are ranked. */
static inline void known(const char *host, double promise)
{
    for (size_t i = 0; i < depots.n; i++) {
        if (strcmp(depots.list[i]->host, host) != 0)
            continue;
        depots.list[i]->is_known = true;
        depots.list[i]->promise = depots.list[i]->guess.rate = promise;
        return;
    }
    ck_abort_msg("there is no %s", host);
}

#define METALINK(files)         \
    "<?xml version=\"1.0\"?>\n" \
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">" files "</metalink>"

#define MAPPING(offset, length, url) MAPPING_AT(offset, length, "7", url)

#define MAPPING_AT(offset, length, there, url)                          \
    "<exnode:mapping>"                                                  \
    "<exnode:metadata name=\"exnode_offset\" type=\"integer\">" offset  \
    "</exnode:metadata>"                                                \
    "<exnode:metadata name=\"logical_length\" type=\"integer\">" length \
    "</exnode:metadata>"                                                \
    "<exnode:metadata name=\"alloc_offset\" type=\"integer\">" there    \
    "</exnode:metadata>"                                                \
    "<exnode:read>" url "</exnode:read></exnode:mapping>"

#define EXNODE(mappings)                                      \
    "<?xml version=\"1.0\"?>\n"                               \
    "<exnode xmlns:exnode=\"http://loci.cs.utk.edu/exnode\">" \
    "<exnode:metadata name=\"filename\" "                     \
    "type=\"string\">f</exnode:metadata>" mappings "</exnode>"

#define FOUR                                                       \
    METALINK("<file name=\"f\"><size>10</size>"                    \
             "<url priority=\"1\">http://a.example/f</url>"        \
             "<url priority=\"2\">https://a.example./f</url>"      \
             "<url priority=\"3\">http://b.example:8080/f</url>"   \
             "<url priority=\"4\">http://[2001:db8::1]:81/f</url>" \
             "</file>")

#endif

/* SPDX-License-Identifier: MIT */
/* Which objects a manifest still names, so that none of them is removed. */
#include "publish/object_names.h"

#include <string.h>
#include <xdownload/manifest.h>

#include "suite.h"

#define HEX                            \
    "0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef"
#define VALUE(name, value) "<e:metadata name='" name "'>" value "</e:metadata>"
#define META(name, content) \
    "<e:metadata name='" name "' type='meta'>" content "</e:metadata>"
#define MAPPING(object)                                                    \
    "<e:mapping>" VALUE("exnode_offset", "0")                              \
        VALUE("logical_length", "4") "<e:read>http://a/" object            \
                                     "</e:read><e:manage>http://a/" object \
                                     "?manage</e:manage></e:mapping>"
#define STRIPE(number, k, offset, object)                                     \
    META("stripe." number,                                                    \
         VALUE("code", "reed-solomon") VALUE("polynomial", "0x11d")           \
             VALUE("matrix", "cauchy") VALUE("k", k) VALUE("n", "2")          \
                 VALUE("shard_length", "4") VALUE("exnode_offset", offset)    \
                     VALUE("logical_length", "4")                             \
                         META("shard.1",                                      \
                              VALUE("sha256", HEX)                            \
                                  META("replica.0",                           \
                                       VALUE("read", "http://a/" object)      \
                                           VALUE("manage", "http://a/" object \
                                                           "?manage"))))

/* A stripe that is used, one with a flaw, and one that lies behind the file. */
static const char source[] =
    "<exnode xmlns:e='http://loci.cs.utk.edu/exnode'>" META(
        "parity", STRIPE("0", "1", "0", "used") STRIPE("1", "9", "0", "flawed")
                      STRIPE("2", "1", "4", "beyond")) MAPPING("dropped")
        MAPPING("kept") "</exnode>";

START_TEST(what_is_dropped_is_no_longer_named_but_by_a_stripe)
{
    static const struct {
        const char *name;
        bool is_named;
    } names[] = {
        {"http://a/dropped", false}, {"http://a/dropped?manage", false},
        {"http://a/kept", true},     {"http://a/kept?manage", true},
        {"http://a/used", true},     {"http://a/used?manage", true},
        {"http://a/flawed", true},   {"http://a/flawed?manage", true},
        {"http://a/beyond", true},   {"http://a/beyond?manage", true},
    };
    const bool dropped[] = {true, false};
    struct xd_object_names kept;
    struct xd_manifest *m;
    struct xd_error err;

    ck_assert_int_eq(xd_manifest_parse(&m, source, strlen(source), NULL, &err),
                     0);
    ck_assert_uint_eq(m->files[0].rare->n_stripes, 1);
    ck_assert_uint_eq(m->files[0].rare->n_unused_stripes, 2);
    ck_assert_int_eq(
        xd_object_names_of(&kept, &m->files[0], dropped, NULL, &err), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(xd_object_names_have(&kept, names[i].name) ==
                          names[i].is_named,
                      "%s", names[i].name);
    xd_object_names_fini(&kept);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(a_shard_that_is_dropped_is_no_longer_named)
{
    const bool dropped[] = {false, false},
               dropped_parity[] = {true, true, true};
    struct xd_object_names kept;
    struct xd_manifest *m;
    struct xd_error err;

    ck_assert_int_eq(xd_manifest_parse(&m, source, strlen(source), NULL, &err),
                     0);
    ck_assert_int_eq(
        xd_object_names_of(&kept, &m->files[0], dropped, dropped_parity, &err),
        0);
    ck_assert(!xd_object_names_have(&kept, "http://a/used"));
    ck_assert(!xd_object_names_have(&kept, "http://a/used?manage"));
    ck_assert(xd_object_names_have(&kept, "http://a/dropped?manage"));
    ck_assert(xd_object_names_have(&kept, "http://a/flawed?manage"));
    ck_assert(xd_object_names_have(&kept, "http://a/beyond"));
    xd_object_names_fini(&kept);
    xd_manifest_unref(m);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("object_names");

    tcase_add_test(t, what_is_dropped_is_no_longer_named_but_by_a_stripe);
    tcase_add_test(t, a_shard_that_is_dropped_is_no_longer_named);
    return run_suite("object_names", t);
}

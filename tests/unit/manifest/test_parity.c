/* SPDX-License-Identifier: MIT */
/* Stripes of an exNode: what is understood of them, what is refused, and what is
 * written again. */
#include "base/text.h"

#include <xdpublish/parity.h>
#include "command/manifests.h"
#include "manifest/edit.h"
#include "manifest/parity.h"
#include "reading.h"
#include "same.h"

#define HEX                            \
    "0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef"
#define HEX2                           \
    "fedcba9876543210fedcba9876543210" \
    "fedcba9876543210fedcba9876543210"

#define VALUE(name, value) \
    "<e:metadata name='" name "' type='string'>" value "</e:metadata>"
#define META(name, content) \
    "<e:metadata name='" name "' type='meta'>" content "</e:metadata>"
#define CODE                      \
    VALUE("code", "reed-solomon") \
    VALUE("polynomial", "0x11d") VALUE("matrix", "cauchy")
/* 4 bytes of 10, in shards of 3, of which the second has 1 byte. */
#define SIZES                  \
    VALUE("k", "2")            \
    VALUE("n", "4")            \
    VALUE("shard_length", "3") \
    VALUE("exnode_offset", "0") VALUE("logical_length", "4")
#define READ(url) VALUE("read", url)
#define SHARD2      \
    META("shard.2", \
         VALUE("sha256", HEX) META("replica.0", READ("http://c.example/p")))
#define STRIPE META("stripe.0", CODE SIZES SHARD2)
#define MAPPING(offset, length)                                               \
    "<e:mapping>" VALUE("exnode_offset", offset)                              \
        VALUE("logical_length", length) "<e:read>http://a.example/x</e:read>" \
                                        "</e:mapping>"
#define FILE_WITH(metadata) \
    EXNODE VALUE("filename", "f") metadata MAPPING("0", "10") "</exnode>"
#define FILE_OF(stripes) FILE_WITH(META("parity", stripes))

static char *text;

static void forget_all(void)
{
    forget_manifest();
    xd_manifest_text_free(text);
    text = NULL;
}

static struct xd_stripe stripe_at(size_t i)
{
    struct xd_stripe s = {.struct_size = sizeof s};

    ck_assert_int_eq(xd_manifest_stripe(manifest, 0, i, &s), 0);
    return s;
}

static struct xd_shard shard_at(size_t stripe, size_t i)
{
    struct xd_shard s = {.struct_size = sizeof s};

    ck_assert_int_eq(xd_manifest_shard(manifest, 0, stripe, i, &s), 0);
    return s;
}

static struct xd_replica parity_at(size_t stripe, size_t shard, size_t i)
{
    struct xd_replica r = {.struct_size = sizeof r};

    ck_assert_int_eq(
        xd_manifest_shard_replica(manifest, 0, stripe, shard, i, &r), 0);
    return r;
}

static void write_exnode(bool with_secrets)
{
    int rc;

    xd_manifest_text_free(text);
    rc = with_secrets
             ? xd_manifest_write(&text, manifest, 0, "private-exnode", NULL,
                                 &error)
             : xd_manifest_write(&text, manifest, 0, "exnode", NULL, &error);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

static size_t count(const char *in, const char *word)
{
    size_t n = 0;

    for (; (in = strstr(in, word)); in += strlen(word))
        n++;
    return n;
}

/* The manifest is the same without, and what it says of the stripe is as it was
 * when it is written. */
static void expect_unused(const char *sentence)
{
    expect_warning(sentence);
    ck_assert_uint_eq(file_at(0).n_stripes, 0);
    ck_assert_uint_eq(file_at(0).size, 10);
    expect_bytes(0, 0, 10, 1);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "name=\"parity\""), 1);
    ck_assert_uint_eq(count(text, "name=\"stripe."), 1);
    ck_assert_int_eq(parse_from(text, NULL), 0);
    expect_warning(sentence);
}

/* ---- what is understood ---- */

START_TEST(a_stripe_is_read_with_its_shards)
{
    read_data("parity.xnd");
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    ck_assert_uint_eq(file_at(0).n_extents, 2);
    const struct xd_stripe s = stripe_at(0);
    ck_assert_uint_eq(s.number, 0);
    ck_assert_uint_eq(s.offset, 0);
    ck_assert_uint_eq(s.length, 3);
    ck_assert_uint_eq(s.shard_bytes, 2);
    ck_assert_uint_eq(s.k, 2);
    ck_assert_uint_eq(s.n, 3);
    ck_assert_uint_eq(s.n_losses, 1);
    ck_assert_uint_eq(shard_at(0, 0).offset, 0);
    ck_assert_uint_eq(shard_at(0, 0).length, 2);
    ck_assert_uint_eq(shard_at(0, 1).offset, 2);
    ck_assert_uint_eq(shard_at(0, 1).length, 1);
    ck_assert_uint_eq(shard_at(0, 1).n_replicas, 0);
    ck_assert_uint_eq(shard_at(0, 2).length, 2);
    ck_assert_uint_eq(shard_at(0, 2).n_replicas, 1);
    const struct xd_replica r = parity_at(0, 2, 0);
    ck_assert_str_eq(r.url, "http://c.example/abc-2");
    ck_assert_uint_eq(r.offset, 0);
    ck_assert_uint_eq(r.object_size, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(r.priority, XD_PRIORITY_NONE);
    ck_assert_uint_eq(r.rights, XD_MAY_READ);
    ck_assert_str_eq(r.expires, "2031-03-02 10:00:00");
    ck_assert_uint_eq(r.expires_at, 1930212000);
}
END_TEST

START_TEST(what_is_not_there_cannot_be_got)
{
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_shard shard = {.struct_size = sizeof shard};
    struct xd_replica r = {.struct_size = sizeof r};

    read_data("parity.xnd");
    ck_assert_int_eq(xd_manifest_stripe(manifest, 1, 0, &s), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_stripe(manifest, 0, 1, &s), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_shard(manifest, 0, 0, 3, &shard), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_shard(manifest, 0, 1, 0, &shard), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_shard_replica(manifest, 0, 0, 0, 0, &r),
                     XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_shard_replica(manifest, 0, 0, 2, 1, &r),
                     XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_shard_replica(manifest, 0, 0, 3, 0, &r),
                     XD_E_INVAL);
    ck_assert_int_eq(
        xd_manifest_shard_replica(manifest, 0, 0, ((size_t)1 << 32) + 2, 0, &r),
        XD_E_INVAL);
    s.struct_size = 0;
    ck_assert_int_eq(xd_manifest_stripe(manifest, 0, 0, &s), XD_E_INVAL);
}
END_TEST

START_TEST(the_hash_of_data_is_that_of_a_mapping_of_just_these_bytes)
{
    read_data("parity.xnd");
    ck_assert_str_eq(shard_at(0, 0).sha256, extent_at(0, 0).sha256);
    ck_assert_str_eq(shard_at(0, 1).sha256, extent_at(0, 1).sha256);
    parse(FILE_OF(STRIPE)); /* one mapping of all */
    ck_assert_ptr_null(shard_at(0, 0).sha256);
}
END_TEST

#define HASHED(offset, length, hex)                                      \
    "<e:mapping>" VALUE("exnode_offset", offset) VALUE("logical_length", \
                                                       length)           \
        VALUE("sha256", hex) "<e:read>http://a.example/x</e:read></e:mapping>"

START_TEST(a_mapping_that_begins_with_a_shard_is_another_if_it_is_longer)
{
    parse(EXNODE VALUE("filename", "f") META(
        "parity",
        META("stripe.0",
             CODE VALUE("k", "2") VALUE("n", "3") VALUE("shard_length", "5")
                 VALUE("exnode_offset", "0") VALUE("logical_length", "10")))
              HASHED("0", "5", HEX) HASHED("0", "6", HEX2)
                  HASHED("0", "10", HEX2) "</exnode>");
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_str_eq(shard_at(0, 0).sha256, HEX);
    ck_assert_ptr_null(shard_at(0, 1).sha256);
}
END_TEST

START_TEST(the_hash_of_data_may_stand_in_the_stripe)
{
    parse(FILE_OF(META(
        "stripe.0", CODE SIZES SHARD2 META("shard.1", VALUE("sha256", HEX2)))));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_ptr_null(shard_at(0, 0).sha256);
    ck_assert_str_eq(shard_at(0, 1).sha256, HEX2);
    ck_assert_str_eq(shard_at(0, 2).sha256, HEX);
    ck_assert_uint_eq(shard_at(0, 2).n_replicas, 1);
    write_exnode(false);
    ck_assert_ptr_nonnull(strstr(text, HEX2));
}
END_TEST

START_TEST(a_parity_shard_without_a_replica_bears_no_loss)
{
    parse(FILE_OF(
        META("stripe.0", CODE SIZES META("shard.2", VALUE("sha256", HEX)))));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(stripe_at(0).n_losses, 0);
    ck_assert_str_eq(shard_at(0, 2).sha256, HEX);
    ck_assert_uint_eq(shard_at(0, 2).n_replicas, 0);
    ck_assert_ptr_null(shard_at(0, 3).sha256); /* nothing is said of it */
    parse(FILE_OF(STRIPE));
    ck_assert_uint_eq(stripe_at(0).n_losses, 1);
}
END_TEST

#define EMPTY_SHARDS           \
    VALUE("k", "4")            \
    VALUE("n", "255")          \
    VALUE("shard_length", "3") \
    VALUE("exnode_offset", "6") VALUE("logical_length", "4")

START_TEST(the_last_shards_of_data_may_be_empty)
{
    parse(FILE_OF(META("stripe.0", CODE EMPTY_SHARDS)));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(shard_at(0, 0).offset, 6);
    ck_assert_uint_eq(shard_at(0, 0).length, 3);
    ck_assert_uint_eq(shard_at(0, 1).offset, 9);
    ck_assert_uint_eq(shard_at(0, 1).length, 1);
    ck_assert_uint_eq(shard_at(0, 3).offset, 10);
    ck_assert_uint_eq(shard_at(0, 3).length, 0);
    ck_assert_uint_eq(shard_at(0, 254).length, 3);
}
END_TEST

#define AT(number, offset, length)                                          \
    META("stripe." number,                                                  \
         CODE VALUE("k", "1") VALUE("n", "2") VALUE("shard_length", length) \
             VALUE("exnode_offset", offset) VALUE("logical_length", length))

START_TEST(stripes_come_in_the_order_of_the_file)
{
    parse(FILE_OF(AT("10", "6", "4") AT("2", "0", "3") AT("3", "3", "3")));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(file_at(0).n_stripes, 3);
    ck_assert_uint_eq(stripe_at(0).number, 2);
    ck_assert_uint_eq(stripe_at(1).number, 3);
    ck_assert_uint_eq(stripe_at(2).number, 10);
    ck_assert_uint_eq(stripe_at(2).offset, 6);
}
END_TEST

START_TEST(a_stripe_that_overlaps_one_before_it_is_not_used)
{
    parse(FILE_OF(AT("0", "0", "4") AT("1", "3", "2") AT("2", "4", "3")));
    expect_warning("stripe 1: it overlaps stripe 0; it is not used");
    ck_assert_uint_eq(file_at(0).n_stripes, 2);
    ck_assert_uint_eq(stripe_at(1).number, 2);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "name=\"stripe."), 3);
}
END_TEST

START_TEST(a_stripe_ends_within_the_file)
{
    parse(FILE_OF(AT("0", "7", "3")));
    ck_assert_uint_eq(n_warnings(), 0);
    parse(FILE_OF(AT("5", "7", "4")));
    expect_unused("stripe 5: it ends at byte 11, but the file has 10; it is "
                  "not used");
}
END_TEST

/* ---- what is wrong with a stripe ---- */

#define WITH(values) FILE_OF(META("stripe.3", values))
#define NUMBERS(k, n, shard, offset, length)                           \
    WITH(CODE VALUE("k", k) VALUE("n", n) VALUE("shard_length", shard) \
             VALUE("exnode_offset", offset) VALUE("logical_length", length))

static const struct {
    const char *text, *sentence;
} wrong[] = {
    {WITH(SIZES), "it has no code"},
    {WITH(VALUE("code", "lrc") SIZES),
     "its code is \"lrc\", which is not known"},
    {WITH(VALUE("code", "reed-solomon") SIZES), "it has no polynomial"},
    {WITH(VALUE("code", "reed-solomon") VALUE("polynomial", "0x187") SIZES),
     "its polynomial is \"0x187\", which is not known"},
    {WITH(VALUE("code", "reed-solomon") VALUE("polynomial", "0x11d") SIZES),
     "it has no matrix"},
    {WITH(VALUE("code", "reed-solomon") VALUE("polynomial", "0x11d")
              VALUE("matrix", "vandermonde") SIZES),
     "its matrix is \"vandermonde\", which is not known"},
    {WITH(CODE), "it has no k"},
    {WITH(CODE VALUE("k", "2")), "it has no n"},
    {WITH(CODE VALUE("k", "2") VALUE("n", "4")), "it has no shard_length"},
    {WITH(CODE VALUE("k", "2") VALUE("n", "4") VALUE("shard_length", "3")),
     "it has no exnode_offset"},
    {WITH(CODE VALUE("k", "2") VALUE("n", "4") VALUE("shard_length", "3")
              VALUE("exnode_offset", "0")),
     "it has no logical_length"},
    {WITH(CODE SIZES VALUE("k", "2")), "it has two values of k"},
    {WITH(CODE SIZES VALUE("code", "reed-solomon")),
     "it has two values of code"},
    {NUMBERS("-1", "4", "3", "0", "4"), "its k is \"-1\", which is no number"},
    {NUMBERS("2", "4", "3", "9223372036854775808", "4"),
     "its exnode_offset is \"9223372036854775808\", which is no number"},
    {NUMBERS("0", "4", "3", "0", "4"),
     "its k is 0, but there is a shard of data at least"},
    {NUMBERS("2", "256", "3", "0", "4"),
     "its n is 256, but there are at most 255 shards"},
    {NUMBERS("4294967298", "4294967300", "3", "0", "4"),
     "its n is 4294967300, but there are at most 255 shards"},
    {NUMBERS("4", "4", "3", "0", "4"),
     "its n is 4 and its k 4, which leaves no shard of parity"},
    {NUMBERS("5", "4", "3", "0", "4"), "its n is 4 and its k 5"},
    {NUMBERS("2", "4", "0", "0", "4"), "it has no bytes"},
    {NUMBERS("2", "4", "3", "0", "0"), "it has no bytes"},
    {NUMBERS("2", "4", "3", "0", "7"),
     "its 7 bytes are more than 2 shards of 3 hold"},
    {NUMBERS("2", "4", "1", "9223372036854775807", "1"),
     "it ends beyond any file"},
    {NUMBERS("2", "4", "9223372036854775807", "9223372036854775806", "2"),
     "it ends beyond any file"},
    {WITH(CODE SIZES META("shard.4", VALUE("sha256", HEX))),
     "it has a shard 4, but its n is 4"},
    {WITH(CODE SIZES META("shard.255", VALUE("sha256", HEX))),
     "\"shard.255\" is no number of a shard"},
    {WITH(CODE SIZES META("shard.two", "")),
     "\"shard.two\" is no number of a shard"},
    {WITH(CODE SIZES SHARD2 SHARD2), "it has two shards 2"},
    {WITH(CODE SIZES META("shard.2", META("replica.0", READ("http://c/p")))),
     "its shard 2 is one of parity, but has no sha256"},
    {WITH(CODE SIZES META("shard.3", VALUE("sha256", "12"))),
     "its shard 3 is one of parity, but has no sha256"},
    {WITH(CODE SIZES META("shard.1", META("replica.0", READ("http://c/p")))),
     "its shard 1 is one of data, but has replicas that are no mappings"},
    {WITH(CODE SIZES META(
         "shard.2",
         VALUE("sha256", HEX)
             META("replica.0", READ("http://c/p") VALUE(
                                   "alloc_offset", "9223372036854775805")))),
     "a replica of it ends beyond any object"},
    {WITH(CODE SIZES META("shard.2", META("replica.0", READ("http://c/p")))
              META("other", VALUE("sha256", HEX))),
     "its shard 2 is one of parity, but has no sha256"},
    {WITH(CODE SIZES META("shard.0",
                          VALUE("sha256", HEX) VALUE("sha256", HEX2))),
     "its shard 0 has two values of sha256"},
    {NUMBERS("2", "4", "1", "9223372036854775806", "1"),
     "it ends at byte 9223372036854775807, but the file has 10"},
    /* Nor does it help that the replica is of no use. */
    {WITH(CODE SIZES META("shard.1", META("replica.0", READ("file:///p")))),
     "its shard 1 is one of data, but has replicas that are no mappings"},
    {WITH(CODE SIZES META(
         "shard.2",
         VALUE("sha256", HEX)
             META("replica.0", READ("file:///p") VALUE(
                                   "alloc_offset", "9223372036854775805")))),
     "a replica of it ends beyond any object"},
};

START_TEST(a_stripe_that_cannot_be_used_is_named_and_the_file_is_whole)
{
    char sentence[200];

    snprintf(sentence, sizeof sentence, "stripe 3: %s", wrong[_i].sentence);
    parse(wrong[_i].text);
    ck_assert_msg(strstr(xd_manifest_warning(manifest, n_warnings() - 1),
                         "; it is not used") != NULL,
                  "%s", sentence);
    expect_unused(sentence);
}
END_TEST

/* What is just right beside what is wrong. */
START_TEST(the_greatest_numbers_are_used)
{
    parse(NUMBERS("254", "255", "9223372036854775807", "9", "1"));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(stripe_at(0).k, 254);
    ck_assert_uint_eq(shard_at(0, 253).length, 0);
    parse(NUMBERS("2", "4", "3", "4", "6"));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(shard_at(0, 1).length, 3);
}
END_TEST

/* Others are. */
START_TEST(a_stripe_beside_one_that_cannot_be_used_is_used)
{
    parse(FILE_OF(META("stripe.7", CODE VALUE("k", "0"))
                      STRIPE META("stripe.8", CODE)));
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    ck_assert_uint_eq(stripe_at(0).number, 0);
    ck_assert_uint_eq(shard_at(0, 2).n_replicas, 1);
    ck_assert_uint_eq(n_warnings(), 2);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "name=\"stripe."), 3);
    ck_assert_uint_eq(count(text, "name=\"stripe.0\""), 1);
}
END_TEST

/* The first replica of the first one would be its only flaw, and is of a number that
 * in the second one is of data. */
START_TEST(a_flaw_of_one_stripe_is_none_of_the_next)
{
    parse(FILE_OF(META(
        "stripe.1",
        CODE VALUE("k", "1") VALUE("n", "2") VALUE("shard_length", "2")
            VALUE("exnode_offset", "0") VALUE("logical_length", "2")
                META("shard.1",
                     VALUE("sha256", HEX)
                         META("replica.0",
                              READ("http://c/p")
                                  VALUE("alloc_offset", "9223372036854775806"))
                             META("replica.1", READ("http://d/p")
                                                   VALUE("alloc_offset", "1"))))
                      META("stripe.2",
                           CODE VALUE("k", "2") VALUE("n", "3") VALUE(
                               "shard_length", "2") VALUE("exnode_offset", "2")
                               VALUE("logical_length", "4")
                                   META("shard.1", VALUE("sha256", HEX)))));
    expect_warning("stripe 1: a replica of it ends beyond any object");
    ck_assert_uint_eq(n_warnings(), 1);
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    ck_assert_uint_eq(stripe_at(0).number, 2);
}
END_TEST

#define REPLICA_OF(content)                                             \
    FILE_OF(META(                                                       \
        "stripe.6",                                                     \
        CODE SIZES META("shard.3",                                      \
                        VALUE("sha256", HEX) META("replica.0", content) \
                            META("replica.1", READ("http://d.example/p")))))

static const struct {
    const char *text, *why;
} bad_replicas[] = {
    {REPLICA_OF(""), "it has no read capability"},
    {REPLICA_OF(READ("gopher://c/p")),
     "its URL has a scheme other than http, https, ftp and ibp"},
    {REPLICA_OF(READ("file:///etc/passwd")), "it is a file: URL"},
    {REPLICA_OF(READ("http://")), "it has no URL that could be used"},
    {REPLICA_OF(READ("ibp://d:6714/k/1/WRITE")),
     "its read capability is broken"},
    {REPLICA_OF(READ("http://c/p") VALUE("alloc_offset", "1k")),
     "its alloc_offset is no number"},
    {REPLICA_OF(VALUE("alloc_offset", "1k") READ("http://c/p")),
     "its alloc_offset is no number"},
    {REPLICA_OF(READ("http://c/p")
                    VALUE("alloc_offset", "9223372036854775808")),
     "its alloc_offset is no number"},
};

START_TEST(a_replica_that_cannot_be_asked_is_left_out)
{
    char sentence[200];

    snprintf(sentence, sizeof sentence,
             "stripe 6: a replica of its shard 3 is not used: %s",
             bad_replicas[_i].why);
    parse(bad_replicas[_i].text);
    expect_warning(sentence);
    ck_assert_uint_eq(n_warnings(), 1);
    ck_assert_uint_eq(shard_at(0, 3).n_replicas, 1);
    ck_assert_str_eq(parity_at(0, 3, 0).url, "http://d.example/p");
    write_exnode(true); /* it is not forgotten */
    ck_assert_uint_eq(count(text, "name=\"replica."), 2);
}
END_TEST

START_TEST(a_replica_may_lie_within_an_object)
{
    parse(
        REPLICA_OF(READ("ibp://d:6714/k/1/READ") VALUE("alloc_offset", "70")));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(parity_at(0, 3, 0).offset, 70);
    ck_assert_uint_eq(parity_at(0, 3, 1).offset, 0);
    write_exnode(false);
    ck_assert_ptr_nonnull(strstr(text, ">70</exnode:metadata>"));
}
END_TEST

START_TEST(a_replica_may_lie_at_the_end_of_the_greatest_object)
{
    parse(REPLICA_OF(READ("http://c/p")
                         VALUE("alloc_offset", "9223372036854775804")));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(parity_at(0, 3, 0).offset, INT64_MAX - 3);
}
END_TEST

START_TEST(a_relative_url_is_written_as_an_absolute_one)
{
    ck_assert_int_eq(parse_from(REPLICA_OF(READ("p/q") VALUE("mine", "1")),
                                "http://m.example/dir/f.xnd"),
                     0);
    ck_assert_str_eq(parity_at(0, 3, 0).url, "http://m.example/dir/p/q");
    write_exnode(false);
    ck_assert_ptr_nonnull(strstr(text, ">http://m.example/dir/p/q<"));
    ck_assert_ptr_nonnull(strstr(text, "name=\"mine\""));
    ck_assert_int_eq(parse_from(text, NULL), 0);
    ck_assert_str_eq(parity_at(0, 3, 0).url, "http://m.example/dir/p/q");
}
END_TEST

#define LONG_SECRET                                                  \
    "SECRET-0123456789-0123456789-0123456789-0123456789-0123456789-" \
    "0123456789-0123456789-0123456789-0123456789-0123456789-SECRET"

/* It lies behind the end of what the URL becomes. */
START_TEST(a_secret_within_a_relative_url_is_not_written)
{
    ck_assert_int_eq(
        parse_from(REPLICA_OF(READ("p<e:write>" LONG_SECRET "</e:write>")
                                  VALUE("manage", "SECRET")),
                   "http://m.example/f.xnd"),
        0);
    ck_assert_str_eq(parity_at(0, 3, 0).url, "http://m.example/p");
    write_exnode(false);
    ck_assert_ptr_null(strstr(text, "SECRET"));
    ck_assert_int_eq(parse_from(text, NULL), 0);
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_str_eq(parity_at(0, 3, 0).url, "http://m.example/p");
    ck_assert_str_eq(parity_at(0, 3, 1).url, "http://d.example/p");
}
END_TEST

/* ---- what is written ---- */

#define SECRETS                                \
    READ("ibp://d:6714/k/1/READ")              \
    VALUE("write", "ibp://d:6714/k/2/WRITE")   \
    VALUE("manage", "ibp://d:6714/k/3/MANAGE") \
    VALUE("end", "2026-11-24 18:00:00")

static void expect_no_secret(const char *in)
{
    ck_assert_ptr_null(strstr(in, "/WRITE"));
    ck_assert_ptr_null(strstr(in, "/MANAGE"));
    ck_assert_ptr_null(strstr(in, "name=\"write\""));
    ck_assert_ptr_null(strstr(in, "name=\"manage\""));
}

static const char *const secret[] = {
    REPLICA_OF(SECRETS),                    /* used */
    REPLICA_OF(SECRETS VALUE("mine", "1")), /* used, and kept as it was */
    FILE_OF(META("stripe.6", META("shard.3", META("replica.0", SECRETS)))),
    FILE_OF(META("not-a-stripe", SECRETS) STRIPE),
    FILE_OF(STRIPE SECRETS STRIPE),
    FILE_WITH(META("Tool", SECRETS)),
};

START_TEST(secrets_are_written_only_where_they_are_wanted)
{
    parse(secret[_i]);
    ck_assert(xd_manifest_has_secrets(manifest, 0));
    write_exnode(true);
    ck_assert_uint_eq(count(text, ">ibp://d:6714/k/2/WRITE</exnode:metadata>"),
                      1);
    ck_assert_uint_eq(count(text, "/MANAGE</exnode:metadata>"), 1);
    struct xd_manifest *all = xd_manifest_ref(manifest);
    ck_assert_int_eq(parse_from(text, NULL), 0);
    expect_same(all, manifest);
    xd_manifest_unref(all);
    write_exnode(false);
    expect_no_secret(text);
    ck_assert_uint_eq(count(text, "/READ</exnode:metadata>"), 1);
    ck_assert_int_eq(parse_from(text, NULL), 0);
    ck_assert(!xd_manifest_has_secrets(manifest, 0));
    for (size_t i = 0; i < n_warnings(); i++)
        expect_no_secret(xd_manifest_warning(manifest, i));
}
END_TEST

START_TEST(one_capability_is_a_secret_too)
{
    parse(REPLICA_OF(READ("http://c/p") VALUE("manage", "http://c/p?key")));
    ck_assert(xd_manifest_has_secrets(manifest, 0));
    ck_assert_uint_eq(parity_at(0, 3, 0).rights, XD_MAY_READ | XD_MAY_MANAGE);
    parse(REPLICA_OF(READ("http://c/p") VALUE("write", "http://c/p?key")));
    ck_assert(xd_manifest_has_secrets(manifest, 0));
    ck_assert_uint_eq(parity_at(0, 3, 0).rights, XD_MAY_READ | XD_MAY_WRITE);
    parse(REPLICA_OF(READ("http://c/p") VALUE("write", "")));
    ck_assert(!xd_manifest_has_secrets(manifest, 0));
    ck_assert_ptr_null(manifest->files[0].rare->stripes[0].part);
    parse(FILE_WITH(META("Tool", VALUE("write", " "))));
    ck_assert(!xd_manifest_has_secrets(manifest, 0));
    write_exnode(false);
    ck_assert_uint_eq(count(text, "name=\"write\""), 1);
}
END_TEST

#define TWICE_NAMED(name, other, content)                                 \
    "<e:metadata name='" name "' e:name='" other "' type='meta'>" content \
    "</e:metadata>"

/* It is read as what `name` says, and so are the secrets in it. */
START_TEST(a_name_in_a_namespace_is_not_the_name)
{
    parse(FILE_WITH(TWICE_NAMED(
        "parity", "write",
        "<e:note>y</e:note>" STRIPE META(
            "stripe.6", META("shard.3", META("replica.0", SECRETS))))));
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    write_exnode(true);
    ck_assert_uint_eq(count(text, "/WRITE"), 1);
    write_exnode(false);
    expect_no_secret(text);
    ck_assert_uint_eq(count(text, "/READ"), 1);
    ck_assert_uint_eq(count(text, ">y<"), 1);
    ck_assert_uint_eq(count(text, "name=\"stripe."), 2);
    ck_assert_int_eq(parse_from(REPLICA_OF(TWICE_NAMED("read", "write", "p")),
                                "http://m.example/f.xnd"),
                     0);
    write_exnode(false);
    ck_assert_uint_eq(count(text, ">http://m.example/p<"), 1);
    ck_assert_int_eq(parse_from(text, NULL), 0);
    ck_assert_uint_eq(shard_at(0, 3).n_replicas, 2);
}
END_TEST

/* The second one, of which nobody knows the namespace, is read as if it had none. */
static const char *const prefixed[] = {
    FILE_WITH("<e:metadata e:name='manage'>SECRET</e:metadata>"),
    FILE_WITH("<e:metadata x:name='manage'>SECRET</e:metadata>"),
    FILE_WITH("<e:metadata e:name='x' name='manage'>SECRET</e:metadata>"),
    FILE_OF("<e:metadata e:name='manage'>SECRET</e:metadata>" STRIPE)};

START_TEST(where_there_is_no_name_one_in_a_namespace_tells_a_secret)
{
    parse(prefixed[_i]);
    ck_assert(xd_manifest_has_secrets(manifest, 0));
    write_exnode(true);
    ck_assert_uint_eq(count(text, "SECRET"), 1);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "SECRET"), 0);
    ck_assert_uint_eq(count(text, "manage\""), 0);
}
END_TEST

static const char *const in_attributes[] = {
    FILE_WITH("<e:metadata name='manage' value='SECRET'/>"),
    FILE_WITH("<e:metadata name='manage' e:name='SECRET' type='x'> "
              "</e:metadata>"),
    FILE_OF("<e:metadata type='x' name='write' value='SECRET'/>" STRIPE),
    FILE_OF("<e:write value='SECRET'/>" STRIPE)};

START_TEST(a_secret_may_stand_in_an_attribute)
{
    parse(in_attributes[_i]);
    ck_assert(xd_manifest_has_secrets(manifest, 0));
    write_exnode(true);
    ck_assert_uint_eq(count(text, "SECRET"), 1);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "SECRET"), 0);
}
END_TEST

/* Before and behind one that is read. */
START_TEST(secrets_between_stripes_are_secrets)
{
    parse(FILE_OF("<e:write>SECRET1</e:write>" STRIPE
                  "<e:manage>SECRET2</e:manage>"));
    write_exnode(true);
    ck_assert_uint_eq(count(text, "SECRET"), 2);
    write_exnode(false);
    ck_assert_ptr_null(strstr(text, "SECRET"));
    ck_assert_uint_eq(count(text, "</exnode:write>"), 2); /* the mapping's */
    ck_assert_uint_eq(count(text, "name=\"stripe.0\""), 1);
}
END_TEST

static const char *const all_held[] = {
    FILE_OF(STRIPE), REPLICA_OF(SECRETS),
    REPLICA_OF(READ("http://c/p") VALUE("alloc_offset", "9")),
    FILE_OF(AT("1", "0", "10"))};

/* As it would be in a manifest of thousands, which need not be held twice. */
START_TEST(a_stripe_that_is_held_is_not_kept_as_it_was)
{
    const struct xd_model_stripe *s;

    parse(all_held[_i]);
    s = manifest->files[0].rare->stripes;
    ck_assert_ptr_null(s->part);
    ck_assert_uint_eq(manifest->files[0].rare->n_unused_stripes, 0);
}
END_TEST

START_TEST(a_broken_hash_of_data_costs_a_check_and_is_kept)
{
    parse(FILE_OF(META(
        "stripe.0", CODE SIZES SHARD2 META("shard.1", VALUE("sha256", "12")))));
    expect_warning("\"12\" is no value of the hash sha-256");
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    ck_assert_ptr_null(shard_at(0, 1).sha256);
    write_exnode(false);
    ck_assert_uint_eq(count(text, ">12<"), 1);
}
END_TEST

START_TEST(metadata_within_a_value_is_passed_over)
{
    parse(FILE_OF(
        META("stripe.0",
             CODE SIZES META(
                 "shard.2",
                 "<e:metadata name='sha256'>" HEX
                 "<e:metadata name='x'>1</e:metadata></e:metadata>" META(
                     "replica.0",
                     "<e:metadata name='read'>http://c/p"
                     "<e:metadata name='x'>2</e:metadata></e:metadata>")))));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_str_eq(shard_at(0, 2).sha256, HEX);
    ck_assert_str_eq(parity_at(0, 2, 0).url, "http://c/p");
}
END_TEST

START_TEST(what_is_no_stripe_has_no_flaws)
{
    parse(
        FILE_OF(META("other", META("shard.2", META("replica.0", ""))) STRIPE));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
}
END_TEST

START_TEST(each_shard_has_its_replicas)
{
    parse(FILE_OF(META(
        "stripe.0",
        CODE SIZES META(
            "shard.3",
            VALUE("sha256", HEX)
                META("replica.0", READ("http://d/1") VALUE("alloc_offset", "5"))
                    META("replica.1", READ("http://e/2") VALUE("alloc_offset",
                                                               "6"))) SHARD2)));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(stripe_at(0).n_losses, 2);
    ck_assert_str_eq(parity_at(0, 2, 0).url, "http://c.example/p");
    ck_assert_str_eq(parity_at(0, 3, 0).url, "http://d/1");
    ck_assert_str_eq(parity_at(0, 3, 1).url, "http://e/2");
    ck_assert_uint_eq(parity_at(0, 3, 0).offset, 5);
    ck_assert_uint_eq(parity_at(0, 3, 1).offset, 6);
}
END_TEST

START_TEST(rights_say_which_capabilities_there_are)
{
    parse(REPLICA_OF(SECRETS));
    ck_assert_uint_eq(parity_at(0, 3, 0).rights,
                      XD_MAY_READ | XD_MAY_WRITE | XD_MAY_MANAGE);
    ck_assert_uint_eq(parity_at(0, 3, 1).rights, XD_MAY_READ);
    ck_assert_str_eq(parity_at(0, 3, 0).expires, "2026-11-24 18:00:00");
    ck_assert_str_eq(parity_at(0, 3, 0).url, "ibp://d:6714/k/1/READ");
}
END_TEST

/* And in no place twice. */
START_TEST(what_is_not_known_of_a_stripe_is_written_again)
{
    parse(FILE_OF(
        META("stripe.0",
             CODE SIZES VALUE("colour", "blue")
                 SHARD2) "<other xmlns='urn:x'>y</other>" VALUE("note", "z")));
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    for (int i = 0; i < 2; i++) {
        write_exnode(true);
        ck_assert_uint_eq(count(text, ">blue<"), 1);
        ck_assert_uint_eq(count(text, ">y<"), 1);
        ck_assert_uint_eq(count(text, ">z<"), 1);
        ck_assert_uint_eq(count(text, "name=\"stripe.0\""), 1);
        ck_assert_uint_eq(count(text, "name=\"parity\""), 1);
        ck_assert_int_eq(parse_from(text, NULL), 0);
        ck_assert_uint_eq(file_at(0).n_stripes, 1);
    }
}
END_TEST

static const char *const not_parity[] = {
    FILE_WITH("<e:metadata name='parity' type='string'>" STRIPE
              "</e:metadata>"),
    FILE_WITH(VALUE("parity", "even")), FILE_WITH(META("parity", "")),
    FILE_WITH(META("Parity", STRIPE)),
    FILE_WITH(META("Tool", META("parity", STRIPE)))};

START_TEST(other_metadata_is_no_parity_and_is_written_as_it_was)
{
    parse(not_parity[_i]);
    ck_assert_uint_eq(file_at(0).n_stripes, 0);
    ck_assert_uint_eq(n_warnings(), 0);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "arity\""), 1);
    /* A mapping is read with two of these and written with four. */
    ck_assert_uint_eq(count(text, "</exnode:metadata>"),
                      count(not_parity[_i], "</e:metadata>") + 2);
}
END_TEST

/* It is given back. */
static void parse_text(struct xd_text *t)
{
    ck_assert(!t->failed);
    parse(t->s);
    xd_text_fini(t);
}

static void fill(struct xd_text *t, size_t n, char with)
{
    for (size_t i = 0; i < n; i++)
        xd_text_addf(t, "%c", with);
}

START_TEST(a_text_that_is_too_long_costs_a_stripe_and_no_more)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE("filename",
                     "f") "<e:metadata name='parity' type='meta'>"
                          "<e:metadata name='stripe.0' type='meta'>" CODE
                          "<e:metadata name='k'>");
    fill(&t, 65 << 10, '7');
    xd_text_addf(
        &t, "%s",
        "</e:metadata></e:metadata>" AT("1", "4", "6") "</e:metadata>" MAPPING(
            "0", "10") "</exnode>");
    parse_text(&t);
    expect_warning("stripe 0: it has no k; it is not used");
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
}
END_TEST

START_TEST(blanks_within_a_stripe_are_no_text)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE("filename",
                     "f") "<e:metadata name='parity' type='meta'>"
                          "<e:metadata name='stripe.0' type='meta'>" CODE SIZES
                          "<e:metadata name='shard.3' type='meta'>" VALUE(
                              "sha256", HEX));
    for (int i = 0; i < 20; i++)
        xd_text_addf(&t,
                     "<e:metadata name='replica.%d'>%17000s%s</e:metadata>"
                     "%1000s",
                     i, "", READ("http://c/p"), "");
    xd_text_addf(&t, "%s",
                 "</e:metadata></e:metadata></e:metadata>" MAPPING(
                     "0", "10") "</exnode>");
    parse_text(&t);
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(shard_at(0, 3).n_replicas, 20);
    ck_assert_str_eq(parity_at(0, 3, 19).url, "http://c/p");
}
END_TEST

/* As before there was parity. */
START_TEST(a_long_text_in_metadata_of_another_kind_is_passed_over)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE("filename", "f") "<e:metadata name='Tool' type='meta'>"
                                      "<e:metadata name='Note'>");
    fill(&t, 17 << 10, '7');
    xd_text_addf(&t, "%s",
                 "</e:metadata></e:metadata>" MAPPING("0", "10") "</exnode>");
    parse_text(&t);
    ck_assert_uint_eq(n_warnings(), 0);
    write_exnode(false);
    ck_assert_ptr_nonnull(strstr(text, "77777777</exnode:metadata>"));
}
END_TEST

/* Too long for a copy, in which its first secret was found: that of the next one is
 * found too. */
START_TEST(behind_a_stripe_that_is_too_long_secrets_are_found)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE("filename",
                     "f") "<e:metadata name='parity' type='meta'>"
                          "<e:metadata name='stripe.0' type='meta'>"
                          "<e:metadata name='write'><e:metadata name='x'>");
    for (int i = 0; i < 40; i++) {
        xd_text_addf(&t, "<e:metadata name='x'>");
        fill(&t, 10 << 10, '7');
        xd_text_addf(&t, "</e:metadata>");
    }
    xd_text_addf(&t, "%s",
                 "</e:metadata></e:metadata></e:metadata>"
                 "<e:metadata name='stripe.1' type='meta'>" CODE
                 "<e:metadata name='shard.3' type='meta'>");
    xd_text_addf(&t, "%s",
                 META("replica.0",
                      SECRETS) "</e:metadata></e:metadata></"
                               "e:metadata>" MAPPING("0", "10") "</exnode>");
    parse_text(&t);
    expect_warning("what is not used of parity is too long to be kept");
    write_exnode(false);
    expect_no_secret(text);
    ck_assert_uint_eq(count(text, ">reed-solomon</exnode:metadata>"), 1);
    ck_assert_ptr_null(strstr(text, "777"));
    ck_assert_ptr_nonnull(strstr(text, "/READ"));
    write_exnode(true);
    ck_assert_uint_eq(count(text, "/MANAGE"), 1);
}
END_TEST

/* A stripe with a shard of parity that has hundreds of replicas, behind what is no
 * stripe. */
static void parse_long_stripe(const char *before, const char *content)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s%s%s%s",
        EXNODE VALUE("filename", "f") "<e:metadata name='parity' type='meta'>",
        before, "<e:metadata name='stripe.4' type='meta'>" CODE SIZES, content);
    xd_text_addf(&t, "<e:metadata name='shard.3' type='meta'>%s",
                 VALUE("sha256", HEX));
    for (int i = 0; i < 700; i++)
        xd_text_addf(&t, "%s", META("replica.0", SECRETS));
    xd_text_addf(&t, "</e:metadata></e:metadata></e:metadata>%s",
                 MAPPING("0", "10") "</exnode>");
    parse_text(&t);
    ck_assert_uint_eq(shard_at(0, 3).n_replicas, 700);
    write_exnode(true);
    ck_assert_uint_eq(count(text, "/MANAGE"), 700);
}

START_TEST(what_is_too_long_to_be_written_again_is_a_warning)
{
    static const char of_stripe[] = "stripe 4: it is too long to be kept",
                      of_rest[] = "what is not used of parity is too long";

    parse_long_stripe("", ""); /* all of it is used */
    ck_assert_uint_eq(n_warnings(), 0);
    parse_long_stripe("", VALUE("other", "1"));
    expect_warning(of_stripe);
    ck_assert_uint_eq(n_warnings(), 1);
    ck_assert_uint_eq(count(text, "name=\"other\""), 0);
    parse_long_stripe("<other xmlns='urn:x'/>", "");
    expect_warning(of_rest);
    ck_assert_uint_eq(n_warnings(), 1);
    parse_long_stripe(VALUE("other", "1"), "");
    expect_warning(of_rest);
    ck_assert_uint_eq(n_warnings(), 1);
}
END_TEST

/* Together they, and the blanks between them, are longer than what may be kept of
 * one. */
START_TEST(thousands_of_stripes_are_read_and_written)
{
    enum { N = 6000 };
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE("filename", "f") "<e:metadata name='parity' type='meta'>");
    for (int i = 0; i < N; i++)
        xd_text_addf(
            &t,
            "\n%400s<e:metadata name='stripe.%d' type='meta'>" CODE VALUE(
                "k", "2") VALUE("n", "3") VALUE("shard_length", "5")
                VALUE("logical_length",
                      "10") "<e:metadata name='exnode_offset'>%d</e:metadata>"
                            "%s</e:metadata>",
            "", i, i * 10,
            i % 3 == 1   ? VALUE("other", "1")
            : i % 3 == 2 ? VALUE("k", "1")
                         : SHARD2);
    xd_text_addf(&t, "\n</e:metadata>%s", MAPPING("0", "60000") "</exnode>");
    parse_text(&t);
    ck_assert_uint_eq(file_at(0).n_stripes, N / 3 * 2);
    ck_assert_uint_eq(stripe_at(1).number, 1);
    ck_assert_uint_eq(stripe_at(2).number, 3);
    write_exnode(true);
    ck_assert_uint_eq(count(text, "name=\"stripe."), N);
    ck_assert_uint_eq(count(text, "name=\"other\""), N / 3);
    struct xd_manifest *before = xd_manifest_ref(manifest);
    ck_assert_int_eq(parse_from(text, NULL), 0);
    ck_assert_uint_eq(file_at(0).n_stripes, N / 3 * 2);
    expect_same(before, manifest);
    xd_manifest_unref(before);
}
END_TEST

/* Nor are stripes that have a flaw.  Together they are longer than what may be kept of
 * one, and there are few rows. */
START_TEST(thousands_of_what_is_of_no_use_are_written_again)
{
    enum { N = 20000 };
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE("filename", "f") "<e:metadata name='parity' type='meta'>");
    for (int i = 0; i < N; i++)
        xd_text_addf(&t, "%s%s", i == N / 2 ? STRIPE : "",
                     i % 1000 == 0 ? "<e:metadata name='write'>SECRET"
                                     "</e:metadata>"
                     : i % 2 == 0  ? "<e:metadata name='x'/>"
                                   : "<e:metadata name='stripe.7'/>");
    xd_text_addf(&t, "</e:metadata>%s", MAPPING("0", "10") "</exnode>");
    parse_text(&t);
    expect_warning("stripe 7: it has no code; it is not used");
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    ck_assert_uint_lt(manifest->files[0].rare->n_unused_stripes, N / 50);
    write_exnode(true);
    ck_assert_uint_eq(count(text, "name=\"x\""), N / 2 - N / 1000);
    ck_assert_uint_eq(count(text, "name=\"stripe.7\""), N / 2);
    ck_assert_uint_eq(count(text, "SECRET"), N / 1000);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "name=\"x\""), N / 2 - N / 1000);
    ck_assert_uint_eq(count(text, "SECRET"), 0);
}
END_TEST

/* Though these are longer than what may be kept of one.  Were they kept, each stripe
 * would have them looked through again. */
START_TEST(blanks_between_stripes_are_dropped_behind_what_is_kept_too)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE("filename",
                     "f") "<e:metadata name='parity' type='meta'>"
                          "<other xmlns='urn:x'>y</other><e:write>SECRET"
                          "</e:write>");
    for (int i = 0; i < 1000; i++)
        xd_text_addf(&t, "\n%400s%s%s", "", STRIPE,
                     i == 500 ? "<other xmlns='urn:x'>z</other>" : "");
    xd_text_addf(&t, "\n</e:metadata>%s", MAPPING("0", "10") "</exnode>");
    parse_text(&t);
    ck_assert_uint_eq(file_at(0).n_stripes, 1); /* the others overlap it */
    write_exnode(true);
    ck_assert_uint_eq(count(text, ">y</other>"), 1);
    ck_assert_uint_eq(count(text, ">z</other>"), 1);
    ck_assert_uint_eq(count(text, "SECRET"), 1);
    write_exnode(false);
    ck_assert_uint_eq(count(text, "SECRET"), 0);
}
END_TEST

/* A stripe of the greatest size has secrets of each replica. */
START_TEST(all_secrets_of_a_great_stripe_are_kept)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(
        &t, "%s",
        EXNODE VALUE(
            "filename",
            "f") "<e:metadata name='parity' type='meta'>"
                 "<e:metadata name='stripe.0' type='meta'>" CODE VALUE("k", "1")
                     VALUE("n", "255") VALUE("shard_length", "10")
                         VALUE("exnode_offset", "0")
                             VALUE("logical_length", "10") VALUE("other", "1"));
    for (int i = 1; i < 255; i++)
        xd_text_addf(&t,
                     "<e:metadata name='shard.%d' type='meta'>%s</e:metadata>",
                     i, VALUE("sha256", HEX) META("replica.0", SECRETS));
    xd_text_addf(&t, "%s",
                 "</e:metadata></e:metadata>" MAPPING("0", "10") "</exnode>");
    parse_text(&t);
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_uint_eq(stripe_at(0).n_losses, 254);
    write_exnode(true);
    ck_assert_uint_eq(count(text, "/MANAGE"), 254);
    write_exnode(false);
    expect_no_secret(text);
    ck_assert_uint_eq(count(text, "/READ"), 254);
}
END_TEST

START_TEST(a_metalink_is_complete_without_parity)
{
    parse(FILE_OF(STRIPE));
    ck_assert_int_eq(
        xd_manifest_write(&text, manifest, 0, "metalink", NULL, &error), 0);
    ck_assert_ptr_null(strstr(text, "c.example"));
    ck_assert_int_eq(parse_from(text, NULL), 0);
    ck_assert_uint_eq(file_at(0).n_stripes, 0);
    expect_bytes(0, 0, 10, 1);
}
END_TEST

START_TEST(a_manifest_that_is_edited_keeps_its_stripes)
{
    const struct xd_edit_replica added = {.range = {0, 10},
                                          .read = "http://b.example/y"};
    const bool dropped[] = {true};
    const struct xd_edit edit = {
        .dropped = dropped, .added = &added, .n_added = 1};
    struct xd_manifest *edited;

    parse(FILE_OF(META("stripe.7", CODE VALUE("k", "0")) META(
        "stripe.9", CODE SIZES META("shard.3", VALUE("sha256", HEX) META(
                                                   "replica.0", SECRETS)))));
    ck_assert_int_eq(xd_manifest_edit(&edited, manifest, 0, &edit, &error), 0);
    forget_manifest();
    manifest = edited;
    expect_url(0, 0, 0, "http://b.example/y");
    ck_assert_uint_eq(file_at(0).n_stripes, 1);
    ck_assert_uint_eq(stripe_at(0).number, 9);
    ck_assert_str_eq(parity_at(0, 3, 0).url, "ibp://d:6714/k/1/READ");
    write_exnode(true);
    ck_assert_uint_eq(count(text, "/MANAGE"), 1);
    ck_assert_uint_eq(count(text, "name=\"stripe.7\""), 1);
    ck_assert_uint_eq(count(text, "name=\"stripe.9\""), 1);
}
END_TEST

/* Each of the shards that a stripe names, and none beside them. */
START_TEST(shards_are_found_by_their_number)
{
    parse(FILE_OF(META("stripe.0",
                       CODE EMPTY_SHARDS META("shard.254", VALUE("sha256", HEX))
                           META("shard.4", VALUE("sha256", HEX2))
                               META("shard.9", VALUE("sha256", HEX)))));
    const struct xd_model_stripe *s = manifest->files[0].rare->stripes;
    size_t n = 0;

    for (unsigned i = 0; i < 256; i++) {
        const struct xd_model_shard *shard = xd_stripe_shard(s, i);

        ck_assert(!shard || shard->number == i);
        n += shard != NULL;
    }
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(xd_stripe_shard(s, 4)->sha256, HEX2);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("parity");

    tcase_add_checked_fixture(t, NULL, forget_all);
    tcase_add_test(t, a_stripe_is_read_with_its_shards);
    tcase_add_test(t, what_is_not_there_cannot_be_got);
    tcase_add_test(t,
                   the_hash_of_data_is_that_of_a_mapping_of_just_these_bytes);
    tcase_add_test(
        t, a_mapping_that_begins_with_a_shard_is_another_if_it_is_longer);
    tcase_add_test(t, the_hash_of_data_may_stand_in_the_stripe);
    tcase_add_test(t, a_parity_shard_without_a_replica_bears_no_loss);
    tcase_add_test(t, the_last_shards_of_data_may_be_empty);
    tcase_add_test(t, stripes_come_in_the_order_of_the_file);
    tcase_add_test(t, a_stripe_that_overlaps_one_before_it_is_not_used);
    tcase_add_test(t, a_stripe_ends_within_the_file);
    tcase_add_loop_test(
        t, a_stripe_that_cannot_be_used_is_named_and_the_file_is_whole, 0,
        sizeof wrong / sizeof *wrong);
    tcase_add_test(t, the_greatest_numbers_are_used);
    tcase_add_test(t, a_stripe_beside_one_that_cannot_be_used_is_used);
    tcase_add_test(t, a_flaw_of_one_stripe_is_none_of_the_next);
    tcase_add_loop_test(t, a_replica_that_cannot_be_asked_is_left_out, 0,
                        sizeof bad_replicas / sizeof *bad_replicas);
    tcase_add_test(t, a_replica_may_lie_within_an_object);
    tcase_add_test(t, a_replica_may_lie_at_the_end_of_the_greatest_object);
    tcase_add_test(t, a_relative_url_is_written_as_an_absolute_one);
    tcase_add_test(t, a_secret_within_a_relative_url_is_not_written);
    tcase_add_loop_test(t, secrets_are_written_only_where_they_are_wanted, 0,
                        sizeof secret / sizeof *secret);
    tcase_add_test(t, one_capability_is_a_secret_too);
    tcase_add_test(t, a_name_in_a_namespace_is_not_the_name);
    tcase_add_loop_test(
        t, where_there_is_no_name_one_in_a_namespace_tells_a_secret, 0,
        sizeof prefixed / sizeof *prefixed);
    tcase_add_loop_test(t, a_secret_may_stand_in_an_attribute, 0,
                        sizeof in_attributes / sizeof *in_attributes);
    tcase_add_test(t, secrets_between_stripes_are_secrets);
    tcase_add_loop_test(t, a_stripe_that_is_held_is_not_kept_as_it_was, 0,
                        sizeof all_held / sizeof *all_held);
    tcase_add_test(t, a_broken_hash_of_data_costs_a_check_and_is_kept);
    tcase_add_test(t, metadata_within_a_value_is_passed_over);
    tcase_add_test(t, what_is_no_stripe_has_no_flaws);
    tcase_add_test(t, each_shard_has_its_replicas);
    tcase_add_test(t, rights_say_which_capabilities_there_are);
    tcase_add_test(t, what_is_not_known_of_a_stripe_is_written_again);
    tcase_add_loop_test(t, other_metadata_is_no_parity_and_is_written_as_it_was,
                        0, sizeof not_parity / sizeof *not_parity);
    tcase_add_test(t, a_text_that_is_too_long_costs_a_stripe_and_no_more);
    tcase_add_test(t, blanks_within_a_stripe_are_no_text);
    tcase_add_test(t, a_long_text_in_metadata_of_another_kind_is_passed_over);
    tcase_add_test(t, behind_a_stripe_that_is_too_long_secrets_are_found);
    tcase_add_test(t, what_is_too_long_to_be_written_again_is_a_warning);
    tcase_add_test(t, thousands_of_stripes_are_read_and_written);
    tcase_add_test(t, thousands_of_what_is_of_no_use_are_written_again);
    tcase_add_test(t,
                   blanks_between_stripes_are_dropped_behind_what_is_kept_too);
    tcase_add_test(t, all_secrets_of_a_great_stripe_are_kept);
    tcase_add_test(t, a_metalink_is_complete_without_parity);
    tcase_add_test(t, a_manifest_that_is_edited_keeps_its_stripes);
    tcase_add_test(t, shards_are_found_by_their_number);
    return run_suite("parity", t);
}

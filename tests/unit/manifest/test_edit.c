/* SPDX-License-Identifier: MIT */
/* A manifest with other replicas: what is added, what is dropped, and what of it
 * is a secret. */
#include "manifest/edit.h"

#include <stdio.h>
#include <string.h>
#include <xdpublish/parity.h>

#include "command/manifests.h"
#include "manifest/parity.h"

#include "suite.h"

#define HEX                            \
    "0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef"

static const struct xd_edit_replica first = {
    .range = {0, 100},
    .read = "https://a.example/o-0",
    .manage = "https://a.example/o-0?x=SECRET",
    .sha256 = HEX};
static const struct xd_edit_replica second = {
    .range = {100, 150},
    .read = "ibp://b.example:6714/k/1/READ",
    .write = "ibp://b.example:6714/k/2/WRITE",
    .manage = "ibp://b.example:6714/k/3/MANAGE",
    .expires_at = 1000000000};

static struct xd_error err;

/* A new file of 150 bytes. */
static struct xd_manifest *make(const struct xd_edit_replica *added, size_t n,
                                const char *upload)
{
    struct xd_manifest *m;

    ck_assert_msg(xd_manifest_edit(&m, NULL, 0,
                                   &(struct xd_edit){.path = "film.bin",
                                                     .size = 150,
                                                     .sha256 = HEX,
                                                     .added = added,
                                                     .n_added = n,
                                                     .upload = upload},
                                   &err) == 0,
                  "%s", err.msg);
    return m;
}

/* As it is written, with its secrets or without, and read again. */
static struct xd_manifest *reread(struct xd_manifest *m, bool with_secrets,
                                  char **out_text)
{
    struct xd_manifest *again;
    char *text;
    size_t len;
    int rc = with_secrets
                 ? xd_manifest_write(&text, m, 0, "private-exnode", &len, &err)
                 : xd_manifest_write(&text, m, 0, "exnode", &len, &err);

    ck_assert_msg(rc == 0, "%s", err.msg);
    rc = xd_manifest_parse(&again, text, len, NULL, &err);
    ck_assert_msg(rc == 0, "%s", err.msg);
    *out_text = text;
    xd_manifest_unref(m);
    return again;
}

static const char *manage_of(const struct xd_manifest *m, size_t place)
{
    const struct xd_model_file *f = &m->files[0];

    return f->rare->mappings && f->rare->mappings[place]
               ? f->rare->mappings[place]->manage
               : NULL;
}

START_TEST(what_is_added_is_read_again_with_its_secrets)
{
    const struct xd_edit_replica both[] = {first, second};
    struct xd_manifest *m = make(both, 2, "note");
    char *text;

    ck_assert(xd_manifest_has_secrets(m, 0));
    m = reread(m, true, &text);
    const struct xd_model_file *f = &m->files[0];
    ck_assert_uint_eq(f->n_extents, 2);
    ck_assert_uint_eq(f->size, 150);
    ck_assert_str_eq(f->path, "film.bin");
    ck_assert_str_eq(f->hashes[0].hex, HEX);
    ck_assert_str_eq(xd_model_sha256(f, 0), HEX);
    ck_assert_str_eq(manage_of(m, 0), first.manage);
    ck_assert_str_eq(manage_of(m, 1), second.manage);
    ck_assert_ptr_nonnull(strstr(text, second.write));
    ck_assert_uint_eq(xd_model_replica_row(f, 1).expires_at, 1000000000);
    ck_assert_uint_eq(xd_model_replica_row(f, 1).rights,
                      XD_MAY_READ | XD_MAY_WRITE | XD_MAY_MANAGE);
    ck_assert_uint_eq(xd_model_replica_row(f, 0).object_size, 100);
    ck_assert_str_eq(f->rare->upload, "note");
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(what_is_handed_out_has_no_secrets)
{
    const struct xd_edit_replica both[] = {first, second};
    char *text;
    struct xd_manifest *m = reread(make(both, 2, "SECRET"), false, &text);

    ck_assert_ptr_null(strstr(text, "SECRET"));
    ck_assert_ptr_null(strstr(text, "/WRITE"));
    ck_assert_ptr_null(strstr(text, "/MANAGE"));
    ck_assert_ptr_nonnull(strstr(text, second.read));
    ck_assert_ptr_null(m->files[0].rare->upload);
    ck_assert(!xd_manifest_has_secrets(m, 0));
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

/* Also when it was read from what has them. */
START_TEST(what_was_read_is_handed_out_without_its_secrets)
{
    const struct xd_edit_replica both[] = {first, second};
    char *text, *public_text;
    struct xd_manifest *m = reread(make(both, 2, "SECRET"), true, &text);

    m = reread(m, false, &public_text);
    ck_assert_ptr_null(strstr(public_text, "SECRET"));
    ck_assert_ptr_null(strstr(public_text, "/MANAGE"));
    xd_manifest_text_free(text);
    xd_manifest_text_free(public_text);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(an_upload_that_is_under_way_may_lack_bytes)
{
    char *text;
    struct xd_manifest *m = reread(make(&second, 1, "note"), true, &text);

    ck_assert_uint_eq(m->files[0].size, 150);
    ck_assert_uint_eq(m->files[0].n_extents, 1);
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(it_may_lack_all_of_them)
{
    char *text;
    struct xd_manifest *m = reread(make(NULL, 0, "note"), true, &text);

    ck_assert_uint_eq(m->files[0].size, 150);
    ck_assert_uint_eq(m->files[0].n_extents, 0);
    ck_assert_str_eq(m->files[0].rare->upload, "note");
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(nothing_else_may_lack_bytes)
{
    struct xd_manifest *m;

    ck_assert_int_eq(xd_manifest_edit(&m, NULL, 0,
                                      &(struct xd_edit){.path = "film.bin",
                                                        .size = 150,
                                                        .added = &second,
                                                        .n_added = 1},
                                      &err),
                     XD_E_MANIFEST);
    ck_assert_ptr_null(m);
    ck_assert_ptr_nonnull(strstr(err.msg, "0-99"));
}
END_TEST

START_TEST(replicas_are_dropped_and_added_to_what_there_is)
{
    const struct xd_edit_replica both[] = {first, second};
    const struct xd_edit_replica third = {.range = {0, 100},
                                          .read = "https://c.example/o-0"};
    const bool dropped[] = {true, false};
    char *text;
    struct xd_manifest *m = reread(make(both, 2, NULL), true, &text), *edited;

    ck_assert_msg(xd_manifest_edit(&edited, m, 0,
                                   &(struct xd_edit){.dropped = dropped,
                                                     .added = &third,
                                                     .n_added = 1},
                                   &err) == 0,
                  "%s", err.msg);
    xd_manifest_unref(m);
    xd_manifest_text_free(text);
    m = reread(edited, true, &text);
    const struct xd_model_file *f = &m->files[0];
    ck_assert_uint_eq(f->n_extents, 2);
    ck_assert_uint_eq(f->extents[0].n_replicas, 1);
    ck_assert_str_eq(xd_model_replica_row(f, 0).url, third.read);
    ck_assert_str_eq(manage_of(m, 1), second.manage);
    ck_assert_str_eq(f->hashes[0].hex, HEX);
    ck_assert_uint_eq(xd_model_replica_row(f, 1).expires_at, 1000000000);
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(the_last_replica_of_bytes_stays)
{
    const struct xd_edit_replica both[] = {first, second};
    const bool dropped[] = {true, false};
    char *text;
    struct xd_manifest *m = reread(make(both, 2, NULL), true, &text), *edited;

    ck_assert_int_eq(xd_manifest_edit(&edited, m, 0,
                                      &(struct xd_edit){.dropped = dropped},
                                      &err),
                     XD_E_MANIFEST);
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

/* Of a replica that is written as it was read, with what no row holds. */
static struct xd_manifest *renewed(struct xd_manifest *m, int64_t at,
                                   bool with_secrets, char **text)
{
    const int64_t ends[] = {0, at};
    struct xd_manifest *edited;

    ck_assert_msg(xd_manifest_edit(&edited, m, 0,
                                   &(struct xd_edit){.expires_at = ends},
                                   &err) == 0,
                  "%s", err.msg);
    xd_manifest_unref(m);
    return reread(edited, with_secrets, text);
}

START_TEST(a_replica_lives_until_another_time)
{
    const struct xd_edit_replica both[] = {first, second};
    struct xd_manifest *m = make(both, 2, NULL);
    char *text;

    for (int64_t at = 1100000000; at < 1100000003; at++) {
        m = renewed(m, at, true, &text);
        ck_assert_uint_eq(xd_model_replica_row(&m->files[0], 1).expires_at,
                          (uint64_t)at);
        ck_assert_uint_eq(xd_model_replica_row(&m->files[0], 0).expires_at, 0);
        ck_assert_str_eq(manage_of(m, 1), second.manage);
        ck_assert_ptr_nonnull(strstr(text, second.write));
        ck_assert_ptr_null(strstr(text, "2001-09-09")); /* as it was */
        xd_manifest_text_free(text);
    }
    m = renewed(m, 1200000000, false, &text);
    ck_assert_ptr_null(strstr(text, "/MANAGE"));
    ck_assert_ptr_null(strstr(text, "/WRITE"));
    ck_assert_ptr_nonnull(strstr(text, "2008-01-10 21:20:00"));
    ck_assert_ptr_nonnull(strstr(text, "<exnode:manage></exnode:manage>"));
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

/* Of LoRS, without an end, and with elements that are not ours: its secrets stay
 * where they are, before and behind what is added. */
START_TEST(an_end_is_added_to_a_mapping_that_has_none)
{
    static const char source[] =
        "<exnode xmlns:e='http://loci.cs.utk.edu/exnode'>"
        "<e:mapping><e:manage>ibp://h:6714/k/3/MANAGE</e:manage>"
        "<e:metadata name='exnode_offset' type='integer'>0</e:metadata>"
        "<e:metadata name='logical_length' type='integer'>9</e:metadata>"
        "<e:metadata name='note' type='string'>kept &lt;so></e:metadata>"
        "<e:read>ibp://h:6714/k/1/READ</e:read>"
        "<e:write>ibp://h:6714/k/2/WRITE</e:write></e:mapping></exnode>";
    const int64_t ends[] = {1200000000};
    struct xd_manifest *m, *edited;
    char *text, *public_text;

    ck_assert_int_eq(xd_manifest_parse(&m, source, strlen(source), NULL, &err),
                     0);
    ck_assert_int_eq(xd_manifest_edit(&edited, m, 0,
                                      &(struct xd_edit){.expires_at = ends},
                                      &err),
                     0);
    xd_manifest_unref(m);
    m = reread(edited, true, &text);
    ck_assert_uint_eq(xd_model_replica_row(&m->files[0], 0).expires_at,
                      1200000000);
    ck_assert_str_eq(manage_of(m, 0), "ibp://h:6714/k/3/MANAGE");
    ck_assert_ptr_nonnull(strstr(text, "/2/WRITE"));
    ck_assert_ptr_nonnull(strstr(text, ">kept &#60;so&#62;<"));
    m = reread(m, false, &public_text);
    ck_assert_ptr_null(strstr(public_text, "/MANAGE"));
    ck_assert_ptr_null(strstr(public_text, "/WRITE"));
    ck_assert_ptr_nonnull(strstr(public_text, "/1/READ"));
    ck_assert_ptr_nonnull(strstr(public_text, "2008-01-10"));
    xd_manifest_text_free(text);
    xd_manifest_text_free(public_text);
    xd_manifest_unref(m);
}
END_TEST

/* What is hostile: a secret within what is replaced, or a name that is none, which
 * would make one of it. */
static const char *const hostile_ends[] = {
    "<e:metadata name='end'>2001<e:write>SECRET-1</e:write></e:metadata>",
    "<e:metadata name='end' e:name='write'>2001</e:metadata>"};

START_TEST(a_secret_in_an_end_goes_with_it)
{
    const int64_t ends[] = {1200000000};
    struct xd_manifest *m, *edited;
    char *text, source[800];

    snprintf(source, sizeof source,
             "<exnode xmlns:e='http://loci.cs.utk.edu/exnode'>"
             "<e:mapping>"
             "<e:metadata name='exnode_offset' type='integer'>0</e:metadata>"
             "<e:metadata name='logical_length' type='integer'>9</e:metadata>"
             "%s<e:read>https://h/o</e:read>"
             "<e:write>SECRET-2</e:write></e:mapping></exnode>",
             hostile_ends[_i]);
    ck_assert_int_eq(xd_manifest_parse(&m, source, strlen(source), NULL, &err),
                     0);
    ck_assert_int_eq(xd_manifest_edit(&edited, m, 0,
                                      &(struct xd_edit){.expires_at = ends},
                                      &err),
                     0);
    xd_manifest_unref(m);
    m = reread(edited, false, &text);
    ck_assert_ptr_null(strstr(text, "SECRET"));
    ck_assert_ptr_nonnull(strstr(text, "2008-01-10"));
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

#define VALUE(name, value) "<e:metadata name='" name "'>" value "</e:metadata>"
#define META(name, content) \
    "<e:metadata name='" name "' type='meta'>" content "</e:metadata>"
#define REPLICA(number, name)                        \
    META("replica." number,                          \
         VALUE("read", "ibp://d:6714/" name "/READ") \
             VALUE("end", "2031-03-02 10:00:00")     \
                 VALUE("manage", "ibp://d:6714/" name "/MANAGE"))
#define STRIPE(number, offset, content)                                    \
    META("stripe." number,                                                 \
         VALUE("code", "reed-solomon") VALUE("polynomial", "0x11d")        \
             VALUE("matrix", "cauchy") VALUE("k", "1") VALUE("n", "3")     \
                 VALUE("shard_length", "4") VALUE("exnode_offset", offset) \
                     VALUE("logical_length", "4") content)
#define SHARD(number, replicas) \
    META("shard." number, VALUE("sha256", HEX) replicas)

/* Places 0 to 2, 3 and 4; and a stripe between them that is not used. */
static const char with_parity[] =
    "<exnode xmlns:e='http://loci.cs.utk.edu/exnode'>" META(
        "parity",
        STRIPE("0", "0",
               SHARD("1", REPLICA("0", "a/0") REPLICA("1", "b/1"))
                   SHARD("2", REPLICA("0", "c/2")) VALUE("odd", "it"))
            STRIPE("1", "4",
                   SHARD("1", REPLICA("0", "d/3"))
                       SHARD("2", REPLICA("0", "e/4")) VALUE("odd", "it"))
                STRIPE(
                    "2", "2",
                    SHARD("1",
                          REPLICA("0",
                                  "f/5")))) "<e:mapping>" VALUE("exnode_offset",
                                                                "0")
        VALUE("logical_length",
              "8") "<e:read>http://a/x</e:read></e:mapping></exnode>";

/* As it is edited, written and read again; *out_text is the caller's. */
static struct xd_manifest *edit_parity(const struct xd_edit *edit,
                                       char **out_text)
{
    struct xd_manifest *m, *edited;

    ck_assert_int_eq(
        xd_manifest_parse(&m, with_parity, strlen(with_parity), NULL, &err), 0);
    ck_assert_uint_eq(xd_stripes_n_replicas(&m->files[0]), 5);
    ck_assert_int_eq(xd_manifest_edit(&edited, m, 0, edit, &err), 0);
    xd_manifest_unref(m);
    return reread(edited, true, out_text);
}

static struct xd_replica parity_at(const struct xd_manifest *m, size_t stripe,
                                   size_t shard, size_t i)
{
    struct xd_replica row = {.struct_size = sizeof row};

    ck_assert_int_eq(xd_manifest_shard_replica(m, 0, stripe, shard, i, &row),
                     0);
    return row;
}

static size_t n_of_shard(const struct xd_manifest *m, size_t stripe,
                         size_t number)
{
    struct xd_shard shard = {.struct_size = sizeof shard};

    ck_assert_int_eq(xd_manifest_shard(m, 0, stripe, number, &shard), 0);
    ck_assert_str_eq(shard.sha256, HEX);
    return shard.n_replicas;
}

START_TEST(replicas_of_parity_are_dropped)
{
    const bool dropped[] = {true, false, true, false, false};
    char *text;
    struct xd_manifest *m =
        edit_parity(&(struct xd_edit){.dropped_parity = dropped}, &text);

    ck_assert_uint_eq(n_of_shard(m, 0, 1), 1);
    ck_assert_str_eq(parity_at(m, 0, 1, 0).url, "ibp://d:6714/b/1/READ");
    ck_assert_uint_eq(parity_at(m, 0, 1, 0).rights,
                      XD_MAY_READ | XD_MAY_MANAGE);
    ck_assert_uint_eq(n_of_shard(m, 0, 2), 0);
    ck_assert_uint_eq(n_of_shard(m, 1, 1), 1);
    ck_assert_uint_eq(n_of_shard(m, 1, 2), 1);
    ck_assert_ptr_null(strstr(text, "a/0"));
    ck_assert_ptr_null(strstr(text, "c/2"));
    ck_assert_ptr_nonnull(strstr(text, "f/5")); /* of one that is not used */
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

/* Only stripes that change lose what is not known of them. */
START_TEST(a_stripe_that_does_not_change_is_kept_as_it_was)
{
    const bool dropped[] = {false, false, false, false, true};
    char *text;
    struct xd_manifest *m =
        edit_parity(&(struct xd_edit){.dropped_parity = dropped}, &text);
    const char *odd = strstr(text, "odd");

    ck_assert_ptr_nonnull(odd);
    ck_assert_ptr_null(strstr(odd + 1, "odd"));
    ck_assert_uint_eq(n_of_shard(m, 0, 1), 2);
    ck_assert_uint_eq(n_of_shard(m, 0, 2), 1);
    ck_assert_uint_eq(n_of_shard(m, 1, 2), 0);
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(a_replica_of_parity_is_read_by_another_url_until_another_time)
{
    const char *const reads[] = {NULL, "http://n/new", NULL, NULL, NULL};
    const int64_t ends[] = {0, 0, 0, 0, 1000000000};
    char *text;
    struct xd_manifest *m = edit_parity(
        &(struct xd_edit){.parity_reads = reads, .parity_expires_at = ends},
        &text);

    ck_assert_str_eq(parity_at(m, 0, 1, 0).url, "ibp://d:6714/a/0/READ");
    ck_assert_str_eq(parity_at(m, 0, 1, 1).url, "http://n/new");
    ck_assert_str_eq(parity_at(m, 0, 1, 1).expires, "2031-03-02 10:00:00");
    ck_assert_str_eq(parity_at(m, 0, 2, 0).url, "ibp://d:6714/c/2/READ");
    ck_assert_str_eq(parity_at(m, 1, 1, 0).expires, "2031-03-02 10:00:00");
    ck_assert_str_eq(parity_at(m, 1, 2, 0).expires, "2001-09-09 01:46:40");
    ck_assert_uint_eq(parity_at(m, 1, 2, 0).expires_at, 1000000000);
    ck_assert_str_eq(parity_at(m, 1, 2, 0).url, "ibp://d:6714/e/4/READ");
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

/* ---- shards that are added ---- */

/* Two stripes of two shards of 40 bytes with two of parity; the last has 70. */
static const struct xd_model_stripe two_stripes[] = {{.offset = 0,
                                                      .length = 80,
                                                      .shard_bytes = 40,
                                                      .k = 2,
                                                      .n = 4,
                                                      .is_used = true},
                                                     {.number = 1,
                                                      .offset = 80,
                                                      .length = 70,
                                                      .shard_bytes = 35,
                                                      .k = 2,
                                                      .n = 4,
                                                      .is_used = true}};

static const struct xd_edit_shard shards[] = {
    {.stripe = 0,
     .number = 3,
     .read = "https://c.example/p-3",
     .manage = "https://c.example/p-3?x=SECRET",
     .sha256 = HEX},
    {.stripe = 1,
     .number = 2,
     .read = "https://c.example/p-2",
     .sha256 = HEX,
     .expires_at = 1000000000},
    {.stripe = 1, .number = 3, .read = "https://d.example/p-3", .sha256 = HEX}};

static struct xd_manifest *make_coded(size_t n_shards, const char *upload)
{
    const struct xd_edit_replica both[] = {first, second};
    struct xd_manifest *m;

    ck_assert_msg(xd_manifest_edit(&m, NULL, 0,
                                   &(struct xd_edit){.path = "film.bin",
                                                     .size = 150,
                                                     .added = both,
                                                     .n_added = 2,
                                                     .stripes = two_stripes,
                                                     .n_stripes = 2,
                                                     .shards = shards,
                                                     .n_shards = n_shards,
                                                     .upload = upload},
                                   &err) == 0,
                  "%s", err.msg);
    return m;
}

static const char *shard_url(const struct xd_manifest *m, size_t stripe,
                             size_t shard, size_t replica)
{
    struct xd_replica row = {.struct_size = sizeof row};

    return xd_manifest_shard_replica(m, 0, stripe, shard, replica, &row) == 0
               ? row.url
               : "";
}

START_TEST(shards_of_parity_are_added_to_their_stripes)
{
    struct xd_manifest *m = make_coded(3, NULL);
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_replica row = {.struct_size = sizeof row};
    char *text;

    m = reread(m, true, &text);
    ck_assert_ptr_nonnull(strstr(text, "SECRET"));
    xd_manifest_text_free(text);
    ck_assert_int_eq(xd_manifest_stripe(m, 0, 0, &s), 0);
    ck_assert_uint_eq(s.n_losses, 1);
    ck_assert_int_eq(xd_manifest_stripe(m, 0, 1, &s), 0);
    ck_assert_uint_eq(s.n_losses, 2);
    ck_assert_uint_eq(s.shard_bytes, 35);
    ck_assert_str_eq(shard_url(m, 0, 3, 0), "https://c.example/p-3");
    ck_assert_str_eq(shard_url(m, 0, 2, 0), "");
    ck_assert_str_eq(shard_url(m, 1, 3, 0), "https://d.example/p-3");
    ck_assert_int_eq(xd_manifest_shard_replica(m, 0, 1, 2, 0, &row), 0);
    ck_assert_uint_eq(row.expires_at, 1000000000);
    m = reread(m, false, &text);
    ck_assert_ptr_null(strstr(text, "SECRET"));
    xd_manifest_text_free(text);
    xd_manifest_unref(m);
}
END_TEST

START_TEST(a_stripe_without_shards_is_known_only_to_an_upload)
{
    struct xd_manifest *m = make_coded(1, "note"), *over;
    struct xd_file f = {.struct_size = sizeof f};

    ck_assert_int_eq(xd_manifest_file(m, 0, &f), 0);
    ck_assert_uint_eq(f.n_stripes, 2);
    ck_assert_int_eq(xd_manifest_edit(&over, m, 0, &(struct xd_edit){0}, &err),
                     0);
    xd_manifest_unref(m);
    ck_assert_int_eq(xd_manifest_file(over, 0, &f), 0);
    ck_assert_uint_eq(f.n_stripes, 1);
    ck_assert_str_eq(shard_url(over, 0, 3, 0), "https://c.example/p-3");
    xd_manifest_unref(over);
}
END_TEST

START_TEST(a_shard_that_is_lost_is_replaced)
{
    static const struct xd_edit_shard added = {.stripe = 1,
                                               .number = 2,
                                               .read = "https://e.example/new",
                                               .sha256 = HEX};
    static const bool dropped[] = {false, true, false};
    struct xd_manifest *m = make_coded(3, NULL), *edited;

    ck_assert_int_eq(
        xd_manifest_edit(&edited, m, 0,
                         &(struct xd_edit){.dropped_parity = dropped,
                                           .shards = &added,
                                           .n_shards = 1},
                         &err),
        0);
    xd_manifest_unref(m);
    ck_assert_str_eq(shard_url(edited, 0, 3, 0), "https://c.example/p-3");
    ck_assert_str_eq(shard_url(edited, 1, 2, 0), "https://e.example/new");
    ck_assert_str_eq(shard_url(edited, 1, 2, 1), "");
    ck_assert_str_eq(shard_url(edited, 1, 3, 0), "https://d.example/p-3");
    xd_manifest_unref(edited);
}
END_TEST

START_TEST(the_hash_of_a_shard_that_is_dropped_stays_known)
{
    static const bool dropped[] = {false, true, false};
    struct xd_manifest *m = make_coded(3, NULL), *edited;
    struct xd_shard s = {.struct_size = sizeof s};

    ck_assert_int_eq(
        xd_manifest_edit(&edited, m, 0,
                         &(struct xd_edit){.dropped_parity = dropped}, &err),
        0);
    xd_manifest_unref(m);
    ck_assert_int_eq(xd_manifest_shard(edited, 0, 1, 2, &s), 0);
    ck_assert_uint_eq(s.n_replicas, 0);
    ck_assert_str_eq(s.sha256, HEX);
    xd_manifest_unref(edited);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("edit");

    tcase_add_test(tcase, what_is_added_is_read_again_with_its_secrets);
    tcase_add_test(tcase, what_is_handed_out_has_no_secrets);
    tcase_add_test(tcase, what_was_read_is_handed_out_without_its_secrets);
    tcase_add_test(tcase, an_upload_that_is_under_way_may_lack_bytes);
    tcase_add_test(tcase, it_may_lack_all_of_them);
    tcase_add_test(tcase, nothing_else_may_lack_bytes);
    tcase_add_test(tcase, replicas_are_dropped_and_added_to_what_there_is);
    tcase_add_test(tcase, the_last_replica_of_bytes_stays);
    tcase_add_test(tcase, a_replica_lives_until_another_time);
    tcase_add_test(tcase, an_end_is_added_to_a_mapping_that_has_none);
    tcase_add_test(tcase, shards_of_parity_are_added_to_their_stripes);
    tcase_add_test(tcase, a_stripe_without_shards_is_known_only_to_an_upload);
    tcase_add_test(tcase, a_shard_that_is_lost_is_replaced);
    tcase_add_test(tcase, the_hash_of_a_shard_that_is_dropped_stays_known);
    tcase_add_loop_test(tcase, a_secret_in_an_end_goes_with_it, 0,
                        sizeof hostile_ends / sizeof *hostile_ends);
    tcase_add_test(tcase, replicas_of_parity_are_dropped);
    tcase_add_test(tcase, a_stripe_that_does_not_change_is_kept_as_it_was);
    tcase_add_test(
        tcase, a_replica_of_parity_is_read_by_another_url_until_another_time);
    return run_suite("edit", tcase);
}

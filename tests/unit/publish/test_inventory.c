/* SPDX-License-Identifier: MIT */
/* Two manifests on the disk, and what the private one notes. */
#include "publish/inventory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xdpublish/parity.h>

#include "base/alloc.h"
#include "suite.h"

static char dir[SUITE_FOLDER], path[64], private_path[64], journal_path[64];
static struct xd_error err;
static struct xd_inventory *inventory;

static const struct xd_object objects[] = {
    {.read = (char[]){"https://a.example/d/o-0"},
     .manage = (char[]){"https://a.example/d/o-0"},
     .size = 9},
    {.read = (char[]){"https://b.example/d/o-0"},
     .manage = (char[]){"https://b.example/d/o-0"},
     .size = 9}};

static const struct xd_range first = {0, 9}, second = {9, 18};

static void setup(void)
{
    suite_folder(dir);
    snprintf(path, sizeof path, "%s/f.xnd", dir);
    snprintf(private_path, sizeof private_path, "%s/f.private.xnd", dir);
    snprintf(journal_path, sizeof journal_path, "%s/f.private.xnd.journal",
             dir);
    inventory = NULL;
}

static void teardown(void)
{
    xd_inventory_free(inventory);
    unlink(path);
    unlink(private_path);
    unlink(journal_path);
    ck_assert_int_eq(rmdir(dir), 0);
}

static void reopen(void)
{
    xd_inventory_free(inventory);
    ck_assert_msg(xd_inventory_open(&inventory, path, "exnode", &err) == 0,
                  "%s", err.msg);
}

static void write_both(bool is_over)
{
    char *private_text, *public_text;

    ck_assert_msg(xd_inventory_texts(inventory, is_over, &private_text,
                                     &public_text, &err) == 0,
                  "%s", err.msg);
    ck_assert_msg(
        xd_inventory_write(inventory, private_text, public_text, &err) == 0,
        "%s", err.msg);
    xd_manifest_text_free(private_text);
    xd_manifest_text_free(public_text);
}

/* A file with a copy on each of two stores. */
static void upload(bool is_over)
{
    const struct xd_inventory_note note = {
        .name = "0123456789abcdef0123456789abcdef", .extent_bytes = 9};

    reopen();
    ck_assert_int_eq(
        xd_inventory_begin(inventory, &note, true, "f.bin", 9, &err), 0);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(xd_inventory_add(inventory, (struct xd_range){0, 9},
                                          &objects[i], NULL, &err),
                         0);
    write_both(is_over);
    reopen();
}

START_TEST(what_is_to_be_removed_is_noted)
{
    const bool dropped[] = {true, false};
    struct xd_inventory_note note;
    struct xd_range range;

    upload(true);
    ck_assert(xd_inventory_is_private(inventory));
    xd_inventory_begin_drop(inventory);
    xd_inventory_drop(inventory, dropped);
    ck_assert_int_eq(
        xd_inventory_set_pending(inventory, first, &objects[0], &err), 0);
    write_both(false);
    reopen();
    ck_assert(!xd_inventory_is_unfinished(inventory, &note));
    ck_assert_uint_eq(
        xd_inventory_manifest(inventory)->files[0].extents[0].n_replicas, 1);
    ck_assert_str_eq(xd_inventory_pending(inventory, 0, &range)->manage,
                     objects[0].manage);
    ck_assert_ptr_null(xd_inventory_pending(inventory, 1, &range));
    /* Until it is done. */
    xd_inventory_begin_drop(inventory);
    xd_inventory_unset_pending(inventory, objects[0].manage);
    write_both(true);
    reopen();
    ck_assert_ptr_null(xd_inventory_pending(inventory, 0, &range));
}
END_TEST

/* By its name, or, of IBP, since it was noted: in the manifest, and in the journal. */
START_TEST(what_an_upload_has_made_is_its_own)
{
    static const char own[] = "https://c.example/"
                              "0123456789abcdef0123456789abcdef-0";
    struct xd_object ibp[] = {
        {.read = (char[]){"ibp://d.example:6714/1/2/READ"},
         .manage = (char[]){"ibp://d.example:6714/9/2/MANAGE"},
         .size = 9},
        {.read = (char[]){"ibp://d.example:6714/1/4/READ"},
         .manage = (char[]){"ibp://d.example:6714/1/4/MANAGE"},
         .size = 9}};
    struct xd_inventory_note note;
    char *changes;

    upload(false);
    ck_assert(xd_inventory_is_unfinished(inventory, &note));
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(
            xd_inventory_begin(inventory, &note, false, "", 9, &err), 0);
        write_both(false);
        ck_assert_int_eq(xd_inventory_add(inventory, (struct xd_range){0, 9},
                                          &ibp[i], NULL, &err),
                         0);
        ck_assert_int_eq(xd_inventory_changes(inventory, &changes, &err), 0);
        ck_assert_int_eq(xd_inventory_append(inventory, changes, &err), 0);
        xd_free(changes);
        reopen();
        ck_assert(xd_inventory_is_own(inventory, ibp[0].manage));
        ck_assert_int_eq(xd_inventory_is_own(inventory, ibp[1].manage), i == 1);
    }
    ck_assert(xd_inventory_is_own(inventory, own));
    ck_assert(xd_inventory_is_own(inventory, objects[0].manage));
    ck_assert(!xd_inventory_is_own(inventory, "https://a.example/d/o-1"));
    ck_assert(
        !xd_inventory_is_own(inventory, "ibp://d.example:6714/1/3/MANAGE"));
    ck_assert(!xd_inventory_is_own(inventory, NULL));
    /* And once that is written again. */
    ck_assert_int_eq(xd_inventory_begin(inventory, &note, false, "", 9, &err),
                     0);
    write_both(false);
    reopen();
    ck_assert(xd_inventory_is_own(inventory, ibp[0].manage));
    ck_assert(xd_inventory_is_own(inventory, ibp[1].manage));
    write_both(true);
    reopen();
    ck_assert(!xd_inventory_is_own(inventory, ibp[0].manage));
    ck_assert(!xd_inventory_is_own(inventory, own));
}
END_TEST

START_TEST(an_upload_that_is_not_complete_is_known)
{
    struct xd_inventory_note note;

    upload(false);
    ck_assert(xd_inventory_is_unfinished(inventory, &note));
    ck_assert_uint_eq(note.extent_bytes, 9);
}
END_TEST

START_TEST(what_may_come_to_be_there_is_noted_for_a_run_that_goes_on)
{
    struct xd_inventory_note note;
    struct xd_range range;

    upload(false);
    ck_assert(xd_inventory_is_unfinished(inventory, &note));
    ck_assert_int_eq(
        xd_inventory_begin(inventory, &note, false, "f.bin", 9, &err), 0);
    ck_assert_int_eq(
        xd_inventory_set_pending(inventory, second, &objects[0], &err), 0);
    ck_assert(xd_inventory_has_pending(inventory));
    xd_inventory_leave_pending(inventory, objects[1].manage);
    ck_assert(xd_inventory_has_pending(inventory));
    xd_inventory_leave_pending(inventory, objects[0].manage);
    ck_assert(!xd_inventory_has_pending(inventory));
    write_both(false);
    reopen();
    ck_assert_str_eq(xd_inventory_pending(inventory, 0, &range)->manage,
                     objects[0].manage);
    ck_assert_uint_eq(range.begin, second.begin);
    ck_assert_uint_eq(range.end, second.end);
    ck_assert(xd_inventory_has_pending(inventory));
    /* It is sent again. */
    xd_inventory_leave_pending(inventory, objects[0].manage);
    ck_assert_int_eq(
        xd_inventory_set_pending(inventory, second, &objects[0], &err), 0);
    ck_assert(xd_inventory_has_pending(inventory));
    ck_assert_ptr_null(xd_inventory_pending(inventory, 1, &range));
}
END_TEST

static void append(void)
{
    char *changes;

    ck_assert_int_eq(xd_inventory_changes(inventory, &changes, &err), 0);
    ck_assert_msg(xd_inventory_append(inventory, changes, &err) == 0, "%s",
                  err.msg);
    xd_free(changes);
}

static size_t n_replicas(void)
{
    return xd_model_n_replicas(&xd_inventory_manifest(inventory)->files[0]);
}

/* An upload of 18 bytes, of which the journal says what has come. */
static void begin_with_journal(void)
{
    const struct xd_inventory_note note = {
        .name = "0123456789abcdef0123456789abcdef", .extent_bytes = 9};

    reopen();
    ck_assert_int_eq(
        xd_inventory_begin(inventory, &note, true, "f.bin", 18, &err), 0);
    write_both(false);
    ck_assert_int_eq(
        xd_inventory_set_pending(inventory, first, &objects[0], &err), 0);
    append();
    ck_assert_int_eq(
        xd_inventory_set_pending(inventory, second, &objects[1], &err), 0);
    ck_assert_int_eq(
        xd_inventory_add(inventory, (struct xd_range){0, 9}, &objects[0],
                         "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286"
                         "a2e846f6be03",
                         &err),
        0);
    append();
}

static void assert_is_as_noted(void)
{
    const struct xd_model_file *f = &xd_inventory_manifest(inventory)->files[0];
    struct xd_inventory_note note;
    struct xd_range range;

    ck_assert(xd_inventory_is_unfinished(inventory, &note));
    ck_assert_uint_eq(n_replicas(), 1);
    ck_assert_uint_eq(f->extents[0].offset, 0);
    ck_assert_uint_eq(f->extents[0].length, 9);
    ck_assert_str_eq(xd_model_replica_row(f, 0).url, objects[0].read);
    ck_assert_str_eq(xd_model_manage(f, 0), objects[0].manage);
    ck_assert_ptr_nonnull(xd_model_sha256(f, 0));
    ck_assert_str_eq(xd_inventory_pending(inventory, 0, &range)->manage,
                     objects[1].manage);
    ck_assert_uint_eq(range.begin, second.begin);
    ck_assert_uint_eq(range.end, second.end);
    ck_assert_ptr_null(xd_inventory_pending(inventory, 1, &range));
}

START_TEST(log_says_what_has_changed_since_the_manifest_was_written)
{
    struct stat st;

    begin_with_journal();
    ck_assert_int_eq(stat(journal_path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    reopen();
    assert_is_as_noted();
    /* With the next manifest it is gone. */
    ck_assert_int_eq(xd_inventory_begin(inventory,
                                        &(struct xd_inventory_note){
                                            .name = "0123456789abcdef0123456789"
                                                    "abcdef",
                                            .extent_bytes = 9},
                                        false, "f.bin", 18, &err),
                     0);
    write_both(false);
    ck_assert_int_ne(access(journal_path, F_OK), 0);
    reopen();
    assert_is_as_noted();
}
END_TEST

static void write_journal(const char *mode, const char *text)
{
    FILE *f = fopen(journal_path, mode);

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(end_of_a_journal_may_be_cut_off)
{
    begin_with_journal();
    write_journal("a", "over https://b.example/d/o-0");
    reopen();
    assert_is_as_noted();
    write_journal("a", "\n");
    reopen();
    ck_assert_ptr_null(
        xd_inventory_pending(inventory, 0, &(struct xd_range){0, 0}));
}
END_TEST

START_TEST(object_is_pending_or_there_wherever_the_journal_ends)
{
    struct stat st;

    begin_with_journal();
    ck_assert_ptr_null(
        xd_inventory_pending(inventory, 1, &(struct xd_range){0, 0}));
    ck_assert_int_eq(stat(journal_path, &st), 0);
    ck_assert_int_eq(truncate(journal_path, st.st_size - 1), 0);
    reopen();
    ck_assert_uint_eq(n_replicas(), 0);
    ck_assert_str_eq(
        xd_inventory_pending(inventory, 0, &(struct xd_range){0, 0})->manage,
        objects[0].manage);
    ck_assert_str_eq(
        xd_inventory_pending(inventory, 1, &(struct xd_range){0, 0})->manage,
        objects[1].manage);
}
END_TEST

START_TEST(journal_of_another_manifest_is_none)
{
    static const char *const others[] = {
        "", "o", "of 0123", "there 0 9 0 - https://a.example/x\n",
        ("of 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
         "pending 0 9 https://a.example/x - - -\n")};

    begin_with_journal();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_journal("w", others[i]);
        reopen();
        ck_assert_uint_eq(n_replicas(), 0);
        ck_assert_ptr_null(
            xd_inventory_pending(inventory, 0, &(struct xd_range){0, 0}));
    }
}
END_TEST

START_TEST(journal_that_cannot_be_understood_is_said)
{
    static const char *const lines[] = {
        "pending 0 9 - - - -\npending 0 9 a - - -\n",
        "there 0 9\n",
        "there 0 x 0 - a b c\n",
        "there 0 9 0 - https://a.example/x\n",
        "pending x 9 y\n",
        "pending 0 9 -\n"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct xd_inventory *other;

        unlink(path);
        unlink(private_path);
        unlink(journal_path);
        begin_with_journal();
        write_journal("a", lines[i]);
        ck_assert_int_eq(xd_inventory_open(&other, path, "exnode", &err),
                         XD_E_MANIFEST);
        ck_assert_ptr_nonnull(strstr(err.msg, "cannot be understood"));
    }
}
END_TEST

START_TEST(what_others_may_read_is_not_opened)
{
    struct xd_inventory *other;

    upload(true);
    ck_assert_int_eq(chmod(private_path, 0644), 0);
    ck_assert_int_eq(xd_inventory_open(&other, path, "exnode", &err), XD_E_IO);
    ck_assert_ptr_null(other);
    ck_assert_ptr_nonnull(strstr(err.msg, "f.private.xnd"));
}
END_TEST

START_TEST(without_a_private_one_the_other_is_read)
{
    upload(true);
    ck_assert_int_eq(unlink(private_path), 0);
    reopen();
    ck_assert(!xd_inventory_is_private(inventory));
    ck_assert_ptr_nonnull(xd_inventory_manifest(inventory));
}
END_TEST

#define HEX_A "aa000000000000000000000000000000000000000000000000000000000000aa"
#define HEX_B "bb000000000000000000000000000000000000000000000000000000000000bb"

static void put_text(const char *at, const char *size, const char *hashes)
{
    FILE *f = fopen(at, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
            "<file name=\"f.bin\"><size>%s</size>%s"
            "<url>http://a.example/f</url></file></metalink>",
            size, hashes);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(chmod(at, 0600), 0);
}

static const struct comparison {
    const char *sizes[2], *hashes[2];
    int rc;
} comparisons[] = {
    {{"9", "9"}, {"", ""}, 0},
    {{"9", "8"}, {"", ""}, XD_E_STATE},
#define WHOLE(hex) "<hash type=\"sha-256\">" hex "</hash>"
    {{"9", "9"}, {WHOLE(HEX_A), WHOLE(HEX_A)}, 0},
    {{"9", "9"}, {WHOLE(HEX_A), WHOLE(HEX_B)}, XD_E_STATE},
#define PIECES(length, hex)                                       \
    "<pieces type=\"sha-256\" length=\"" length "\"><hash>" HEX_A \
    "</hash><hash>" hex "</hash></pieces>"
    {{"9", "9"}, {PIECES("5", HEX_A), PIECES("5", HEX_A)}, 0},
    {{"9", "9"}, {PIECES("5", HEX_A), PIECES("6", HEX_B)}, 0},
    {{"9", "9"}, {PIECES("5", HEX_A), PIECES("5", HEX_B)}, XD_E_STATE},
};

START_TEST(private_manifest_of_another_file_is_refused)
{
    const struct comparison *c = &comparisons[_i];

    put_text(path, c->sizes[0], c->hashes[0]);
    put_text(private_path, c->sizes[1], c->hashes[1]);
    reopen();
    ck_assert(xd_inventory_is_private(inventory));
    ck_assert_int_eq(xd_inventory_check_public(inventory, &err), c->rc);
}
END_TEST

/* What is handed out notes nothing. */
START_TEST(a_note_in_the_other_one_is_none)
{
    struct xd_inventory_note note;
    struct xd_range range;

    upload(false);
    ck_assert_int_eq(rename(private_path, path), 0);
    reopen();
    ck_assert(!xd_inventory_is_unfinished(inventory, &note));
    ck_assert_ptr_null(xd_inventory_pending(inventory, 0, &range));
}
END_TEST

/* What is in the place of `there` cannot be replaced; `other` is written. */
static void assert_other_is_written(const char *there, const char *other)
{
    char *private_text, *public_text;
    struct stat st;

    upload(false);
    ck_assert_int_eq(
        xd_inventory_texts(inventory, true, &private_text, &public_text, &err),
        0);
    unlink(path);
    unlink(private_path);
    ck_assert_int_eq(mkdir(there, 0700), 0);
    ck_assert_int_eq(
        xd_inventory_write(inventory, private_text, public_text, &err),
        XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, there));
    ck_assert_int_eq(stat(other, &st), 0);
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_int_eq(rmdir(there), 0);
    xd_manifest_text_free(private_text);
    xd_manifest_text_free(public_text);
}

START_TEST(what_is_handed_out_is_there_before_the_private_one_is_over)
{
    assert_other_is_written(private_path, path);
}
END_TEST

START_TEST(the_private_one_is_written_though_the_other_cannot_be)
{
    assert_other_is_written(path, private_path);
}
END_TEST

/* ---- parity ---- */

/* Of a file of 9 bytes. */
static const struct xd_model_stripe stripes[] = {
    {.length = 4, .shard_bytes = 2, .k = 2, .n = 4, .is_used = true},
    {.number = 1,
     .offset = 4,
     .length = 5,
     .shard_bytes = 3,
     .k = 2,
     .n = 4,
     .is_used = true}};

#define HEX                            \
    "0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef"

/* All of the file, and shard 3 of stripe 1. */
static void begin_coded(void)
{
    const struct xd_inventory_note note = {
        .name = "0123456789abcdef0123456789abcdef", .extent_bytes = 2};

    reopen();
    ck_assert_int_eq(
        xd_inventory_begin(inventory, &note, true, "f.bin", 9, &err), 0);
    xd_inventory_set_stripes(inventory, stripes, 2);
    write_both(false);
    ck_assert_int_eq(xd_inventory_add(inventory, (struct xd_range){16, 19},
                                      &objects[0], HEX, &err),
                     0);
    ck_assert_int_eq(xd_inventory_add(inventory, (struct xd_range){0, 9},
                                      &objects[1], HEX, &err),
                     0);
}

static unsigned losses(size_t stripe)
{
    struct xd_stripe s = {.struct_size = sizeof s};

    ck_assert_int_eq(
        xd_manifest_stripe(xd_inventory_manifest(inventory), 0, stripe, &s), 0);
    return s.n_losses;
}

static void assert_shard(size_t stripe, size_t shard, const char *url)
{
    struct xd_replica row = {.struct_size = sizeof row};

    ck_assert_int_eq(xd_manifest_shard_replica(xd_inventory_manifest(inventory),
                                               0, stripe, shard, 0, &row),
                     0);
    ck_assert_str_eq(row.url, url);
}

static size_t n_stripes(void)
{
    struct xd_file f = {.struct_size = sizeof f};

    ck_assert_int_eq(xd_manifest_file(xd_inventory_manifest(inventory), 0, &f),
                     0);
    return f.n_stripes;
}

START_TEST(what_lies_behind_the_file_is_a_shard_of_its_stripe)
{
    struct xd_inventory_note note;

    begin_coded();
    write_both(false);
    reopen();
    ck_assert(xd_inventory_is_unfinished(inventory, &note));
    ck_assert_uint_eq(n_stripes(), 2);
    ck_assert_uint_eq(losses(0), 0);
    ck_assert_uint_eq(losses(1), 1);
    assert_shard(1, 3, objects[0].read);
}
END_TEST

START_TEST(the_journal_goes_on_with_shards)
{
    char *changes;

    begin_coded();
    ck_assert_int_eq(xd_inventory_changes(inventory, &changes, &err), 0);
    ck_assert_int_eq(xd_inventory_append(inventory, changes, &err), 0);
    xd_free(changes);
    reopen();
    ck_assert_uint_eq(n_stripes(), 2);
    assert_shard(1, 3, objects[0].read);
    ck_assert_uint_eq(xd_inventory_manifest(inventory)->files[0].n_extents, 1);
}
END_TEST

START_TEST(a_stripe_of_which_nothing_is_there_is_not_handed_out)
{
    begin_coded();
    write_both(true);
    reopen();
    ck_assert_uint_eq(n_stripes(), 1);
    assert_shard(0, 3, objects[0].read);
}
END_TEST

START_TEST(a_lost_shard_leaves_for_another)
{
    static const bool dropped[] = {true};
    const struct xd_inventory_note note = {
        .name = "0123456789abcdef0123456789abcdef", .extent_bytes = 2};

    begin_coded();
    write_both(true);
    reopen();
    ck_assert_int_eq(xd_inventory_begin(inventory, &note, false, NULL, 9, &err),
                     0);
    xd_inventory_drop_parity(inventory, dropped);
    /* The only stripe that there is now. */
    ck_assert_int_eq(xd_inventory_add(inventory, (struct xd_range){12, 15},
                                      &objects[1], HEX, &err),
                     0);
    write_both(true);
    reopen();
    ck_assert_uint_eq(losses(0), 1);
    assert_shard(0, 3, objects[1].read);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("inventory");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_is_to_be_removed_is_noted);
    tcase_add_test(tcase, what_an_upload_has_made_is_its_own);
    tcase_add_test(tcase, an_upload_that_is_not_complete_is_known);
    tcase_add_test(tcase,
                   what_may_come_to_be_there_is_noted_for_a_run_that_goes_on);
    tcase_add_test(tcase,
                   log_says_what_has_changed_since_the_manifest_was_written);
    tcase_add_test(tcase, end_of_a_journal_may_be_cut_off);
    tcase_add_test(tcase, object_is_pending_or_there_wherever_the_journal_ends);
    tcase_add_test(tcase, journal_of_another_manifest_is_none);
    tcase_add_test(tcase, journal_that_cannot_be_understood_is_said);
    tcase_add_test(tcase, what_others_may_read_is_not_opened);
    tcase_add_test(tcase, without_a_private_one_the_other_is_read);
    tcase_add_loop_test(tcase, private_manifest_of_another_file_is_refused, 0,
                        (int)(sizeof comparisons / sizeof *comparisons));
    tcase_add_test(tcase, a_note_in_the_other_one_is_none);
    tcase_add_test(tcase,
                   what_is_handed_out_is_there_before_the_private_one_is_over);
    tcase_add_test(tcase,
                   the_private_one_is_written_though_the_other_cannot_be);
    tcase_add_test(tcase, what_lies_behind_the_file_is_a_shard_of_its_stripe);
    tcase_add_test(tcase, the_journal_goes_on_with_shards);
    tcase_add_test(tcase, a_stripe_of_which_nothing_is_there_is_not_handed_out);
    tcase_add_test(tcase, a_lost_shard_leaves_for_another);
    return run_suite("inventory", tcase);
}

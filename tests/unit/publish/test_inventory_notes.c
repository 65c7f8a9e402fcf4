/* SPDX-License-Identifier: MIT */
/* What an inventory notes of objects, in lines. */
#include "publish/inventory_notes.h"

#include <string.h>

#include "base/alloc.h"
#include "manifest/model.h"
#include "suite.h"

#define FIRST "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
#define OF_FIRST "https://a.example/" FIRST "-0"
#define OF_OTHER "https://b.example/" OTHER "-0"
#define SHARD "https://c.example/" FIRST "-9"
#define STRANGE "https://d.example/film.bin"

static struct xd_inventory_notes notes;

static void setup(void)
{
    notes = (struct xd_inventory_notes){.drops = false};
}

static void teardown(void)
{
    xd_inventory_notes_fini(&notes);
}

static void read_all(const char *lines)
{
    xd_inventory_notes_fini(&notes);
    notes = (struct xd_inventory_notes){.drops = false};
    ck_assert(xd_inventory_notes_read(&notes, lines));
}

/* What is written is read again. */
static void write_rows_and_read(const struct xd_inventory_note *note,
                                const struct xd_replaced_rows *rows)
{
    char *lines = xd_inventory_notes_write(&notes, note, rows);

    ck_assert_ptr_nonnull(lines);
    read_all(lines);
    xd_free(lines);
}

static void write_and_read(const struct xd_inventory_note *note)
{
    write_rows_and_read(note, NULL);
}

/* A replica by each name, one that no upload has named, and one without anything that
 * manages it; and a shard of parity. */
static struct xd_exnode_part parts[] = {
    {.manage = OF_FIRST}, {.manage = OF_OTHER}, {.manage = STRANGE}};
static const struct xd_exnode_part *mappings[] = {&parts[0], &parts[1],
                                                  &parts[2], NULL};
static const struct xd_model_shard_replica parity[] = {{.manage = SHARD},
                                                       {.manage = NULL}};
static const struct xd_model_stripe stripe = {
    .k = 2, .n = 4, .n_replicas = 2, .replicas = parity};

static struct xd_model_rare rare = {
    .mappings = mappings, .stripes = &stripe, .n_stripes = 1};
static struct xd_model_extent e = {.length = 9, .n_replicas = 4};
static const struct xd_model_file file = {
    .size = 9, .n_extents = 1, .extents = &e, .rare = &rare};

START_TEST(an_upload_by_another_name_has_what_it_had)
{
    struct xd_inventory_note note = {.name = FIRST, .extent_bytes = 9};

    write_and_read(&note);
    ck_assert(xd_inventory_notes_has_named(&notes, OF_FIRST));
    ck_assert(!xd_inventory_notes_has_named(&notes, OF_OTHER));
    ck_assert(xd_inventory_notes_keep(&notes, &file));
    memcpy(note.name, OTHER, sizeof note.name);
    write_and_read(&note);
    ck_assert(!xd_inventory_notes_has_named(&notes, OF_FIRST));
    ck_assert(xd_inventory_notes_has_named(&notes, OF_OTHER));
    ck_assert(xd_inventory_notes_is_own(&notes, OF_FIRST));
    ck_assert(xd_inventory_notes_is_own(&notes, OF_OTHER));
    ck_assert(xd_inventory_notes_is_own(&notes, SHARD));
    ck_assert(!xd_inventory_notes_is_own(&notes, STRANGE));
}
END_TEST

START_TEST(an_upload_that_has_no_name_owns_nothing)
{
    read_all("drop 1\n");
    ck_assert(!xd_inventory_notes_has_named(&notes, OF_FIRST));
    ck_assert(!xd_inventory_notes_is_own(&notes, OF_FIRST));
}
END_TEST

START_TEST(the_command_is_noted)
{
    struct xd_inventory_note note = {.name = FIRST, .extent_bytes = 9};

    for (int i = XD_COMMAND_UNKNOWN; i <= XD_COMMAND_HEAL; i++) {
        note.command = (enum xd_inventory_command)i;
        write_and_read(&note);
        ck_assert_int_eq((int)notes.noted.command, i);
    }
    ck_assert(!xd_inventory_notes_read(&notes, "command other\n"));
}
END_TEST

START_TEST(what_goes_on_from_none_owns_nothing)
{
    const struct xd_inventory_note note = {.name = OTHER, .extent_bytes = 9};

    read_all("upload 1\nname " FIRST "\nextent 9\nmade " STRANGE "\n");
    ck_assert(xd_inventory_notes_is_own(&notes, STRANGE));
    ck_assert(xd_inventory_notes_is_own(&notes, OF_FIRST));
    xd_inventory_notes_forget_own(&notes);
    ck_assert(!xd_inventory_notes_is_own(&notes, STRANGE));
    ck_assert(!xd_inventory_notes_is_own(&notes, OF_FIRST));
    write_and_read(&note);
    ck_assert(!xd_inventory_notes_is_own(&notes, STRANGE));
    ck_assert(xd_inventory_notes_is_own(&notes, OF_OTHER));
}
END_TEST

static void assert_replaced(size_t i, uint64_t begin, uint64_t end,
                            const char *manage)
{
    ck_assert_uint_lt(i, notes.n_replaced);
    ck_assert_uint_eq(notes.replaced[i].range.begin, begin);
    ck_assert_uint_eq(notes.replaced[i].range.end, end);
    ck_assert_str_eq(notes.replaced[i].manage, manage);
}

/* Of one that this upload has made others stand for the same bytes yet. */
START_TEST(what_has_left_is_noted_until_the_end)
{
    const struct xd_inventory_note note = {.name = FIRST, .extent_bytes = 9};
    const bool dropped[] = {true, true, false, true};
    const bool dropped_parity[] = {true, false};
    const struct xd_replaced_rows rows = {
        .file = &file, .dropped = dropped, .dropped_parity = dropped_parity};

    write_and_read(&note);
    write_rows_and_read(&note, &rows);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(notes.n_replaced, 4);
        assert_replaced(0, 0, 0, OF_FIRST);
        assert_replaced(1, 0, 9, OF_OTHER);
        assert_replaced(2, 0, 9, "");
        assert_replaced(3, 9, 9, SHARD);
        write_and_read(&note);
    }
    ck_assert(!xd_inventory_notes_read(&notes, "replaced 0 9 \n"));
    ck_assert(!xd_inventory_notes_read(&notes, "replaced 0 x -\n"));
}
END_TEST

START_TEST(a_note_of_what_is_removed_has_nothing_that_was_replaced)
{
    const struct xd_inventory_note note = {.name = FIRST, .extent_bytes = 9};

    read_all("upload 1\nname " FIRST "\nextent 9\nreplaced 0 9 " STRANGE "\n");
    ck_assert_uint_eq(notes.n_replaced, 1);
    notes.drops = true;
    write_and_read(&note);
    ck_assert_uint_eq(notes.n_replaced, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("inventory_notes");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, an_upload_by_another_name_has_what_it_had);
    tcase_add_test(tcase, an_upload_that_has_no_name_owns_nothing);
    tcase_add_test(tcase, the_command_is_noted);
    tcase_add_test(tcase, what_goes_on_from_none_owns_nothing);
    tcase_add_test(tcase, what_has_left_is_noted_until_the_end);
    tcase_add_test(tcase,
                   a_note_of_what_is_removed_has_nothing_that_was_replaced);
    return run_suite("inventory_notes", tcase);
}

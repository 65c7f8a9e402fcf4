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
static void write_and_read(const struct xd_inventory_note *note)
{
    char *lines = xd_inventory_notes_write(&notes, note);

    ck_assert_ptr_nonnull(lines);
    read_all(lines);
    xd_free(lines);
}

/* A replica by each name, one that no upload has named, and one without anything that
 * manages it; and a shard of parity. */
static struct xd_exnode_part parts[] = {
    {.manage = OF_FIRST}, {.manage = OF_OTHER}, {.manage = STRANGE}};
static const struct xd_exnode_part *mappings[] = {&parts[0], &parts[1],
                                                  &parts[2], NULL};
static const struct xd_model_extent extent = {.length = 9, .n_replicas = 4};
static const struct xd_model_shard_replica parity[] = {{.manage = SHARD},
                                                       {.manage = NULL}};
static const struct xd_model_stripe stripe = {
    .k = 2, .n = 4, .n_replicas = 2, .replicas = parity};

START_TEST(an_upload_by_another_name_has_what_it_had)
{
    struct xd_model_rare rare = {

        .mappings = mappings, .stripes = &stripe, .n_stripes = 1};
    struct xd_model_extent e = extent;
    const struct xd_model_file f = {
        .size = 9, .n_extents = 1, .extents = &e, .rare = &rare};
    struct xd_inventory_note note = {.name = FIRST, .extent_bytes = 9};

    write_and_read(&note);
    ck_assert(xd_inventory_notes_has_named(&notes, OF_FIRST));
    ck_assert(!xd_inventory_notes_has_named(&notes, OF_OTHER));
    ck_assert(xd_inventory_notes_keep(&notes, &f));
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

int main(void)
{
    TCase *tcase = tcase_create("inventory_notes");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, an_upload_by_another_name_has_what_it_had);
    tcase_add_test(tcase, an_upload_that_has_no_name_owns_nothing);
    tcase_add_test(tcase, the_command_is_noted);
    tcase_add_test(tcase, what_goes_on_from_none_owns_nothing);
    return run_suite("inventory_notes", tcase);
}

/* SPDX-License-Identifier: MIT */
/*
 * Who lied, when nothing goes as it should meanwhile.  That a liar is found
 * out at all is the integration tests' business.
 */
#include <xdownload/download.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lifetime.h"
#include "engine/readers/drop.h"
#include "engine/trust/blame.h"
#include "engine/trust/discard.h"
#include "io/hash.h"
#include "io/mock_server.h"
#include "suite.h"

#define BLOCK 4096
#define SIZE (2 * BLOCK) /* one piece, of a block from each of two depots */

#define HEAD(first, last)                                    \
    SAY("HTTP/1.1 206 Partial Content\r\n"                   \
        "Content-Range: bytes " #first "-" #last "/8192\r\n" \
        "Content-Length: 4096\r\n\r\n")
#define FIRST HEAD(0, 4095), BODY(0, BLOCK)
#define LIE HEAD(0, 4095), BODY(1, BLOCK) /* in place of the first */
#define SECOND HEAD(4096, 8191), BODY(BLOCK, BLOCK)
#define GONE SAY("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n")

static char folder[SUITE_FOLDER];
static char path[64], part[80];
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_download *download;
static struct xd_engine *engine; /* of the tests that play its threads */
static struct xd_sink *memory;   /* likewise */
static struct xd_error error;

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, name, value, &error), 0);
}

static void setup(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.part", path);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("algorithm", "basic");
    set("block-size", "4k");
}

static void teardown(void)
{
    xd_download_unref(download);
    xd_engine_unref(engine);
    xd_sink_free(memory);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    unlink(path);
    unlink(part);
    rmdir(folder);
}

static void hash_of_piece(char hex[XD_HASH_HEX_MAX + 1])
{
    unsigned char bytes[SIZE];
    struct xd_hasher *hasher;

    for (unsigned i = 0; i < SIZE; i++)
        bytes[i] = mock_byte(i);
    ck_assert_int_eq(xd_hasher_new(&hasher, "sha-256", &error), 0);
    xd_hasher_add(hasher, bytes, sizeof bytes);
    xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
}

/* A file that is one piece, of which each URL is a copy. */
static void describe(const char *first_url, const char *second_url)
{
    char text[1000], hex[XD_HASH_HEX_MAX + 1];
    int n;

    hash_of_piece(hex);
    n = snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                 "<file name=\"f\"><size>%d</size>"
                 "<pieces type=\"sha-256\" length=\"%d\"><hash>%s</hash>"
                 "</pieces><url priority=\"1\">%s</url>"
                 "<url priority=\"2\">%s</url></file></metalink>",
                 SIZE, SIZE, hex, first_url, second_url);
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error), 0);
}

static int fetch(const char *first_url, const char *second_url)
{
    describe(first_url, second_url);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    return xd_download_wait(download, -1, &error);
}

/* What a depot is said to have done last. */
static const char *fault_of(unsigned depot)
{
    static struct xd_depot_stats stats;

    stats = (struct xd_depot_stats){.struct_size = sizeof stats};
    ck_assert_int_eq(xd_download_depot(download, depot, &stats), 0);
    return stats.last_error.msg;
}

static void assert_file_is_right(void)
{
    unsigned char bytes[SIZE + 1];
    int fd = open(path, O_RDONLY);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(read(fd, bytes, sizeof bytes), SIZE);
    close(fd);
    for (unsigned i = 0; i < SIZE; i++)
        ck_assert_uint_eq(bytes[i], mock_byte(i));
}

/* The piece is wrong; the liar, asked alone, lies again and is then gone. */
START_TEST(what_stays_of_one_asked_alone_is_not_blamed_on_the_next)
{
    static const struct mock_step lies[] = {LIE, NEXT, LIE, NEXT, GONE, END};
    static const struct mock_step honest[] = {SECOND, NEXT,   FIRST,
                                              NEXT,   SECOND, END};
    struct mock_server *liar = mock_start(lies);
    struct mock_server *other = mock_start(honest);
    int rc = fetch(mock_url(liar), mock_url(other));

    ck_assert_msg(rc == 0, "%s", error.msg);
    assert_file_is_right();
    ck_assert_ptr_nonnull(strstr(fault_of(0), "wrong bytes"));
    ck_assert_str_eq(fault_of(1), "");
    mock_stop(other);
    mock_stop(liar);
}
END_TEST

static const struct xd_range first_block = {0, BLOCK};
static const struct xd_range second_block = {BLOCK, SIZE};

/* A sink of wrong bytes; while they are read the first block is rejected: a
 * request must not write it anew before they are. */
static int read_and_reject(struct xd_sink *s, uint64_t offset, void *data,
                           size_t len, struct xd_error *err)
{
    (void)s;
    (void)offset;
    (void)err;
    memset(data, 0, len);
    xd_engine_lock(engine);
    xd_discard_locked(engine, first_block, XD_DISCARD_BAD_PIECE);
    ck_assert(xd_ledger_has(&engine->ledger, XD_BYTES_CLAIMED, first_block));
    xd_engine_unlock(engine);
    return 0;
}

static void keep(struct xd_sink *s)
{
    (void)s;
}

static int read_wrong(struct xd_sink *s, uint64_t offset, void *data,
                      size_t len, struct xd_error *err)
{
    (void)s;
    (void)offset;
    (void)err;
    memset(data, 0, len);
    return 0;
}

static const struct xd_sink_ops wrong_ops = {.read = read_wrong, .free = keep};
static struct xd_sink wrong_sink = {&wrong_ops};

/* An engine that would run if it had threads. */
static void prepare_engine(void)
{
    static const struct xd_sink_ops ops = {.read = read_and_reject,
                                           .free = keep};
    static struct xd_sink sink = {&ops};

    describe("http://a.example/f", "http://b.example/f");
    ck_assert_int_eq(xd_engine_new(&engine, manifest, 0, &xd_output_file, path,
                                   -1, options, &error),
                     0);
    engine->dest.sink = &sink;
    engine->session.phase = XD_PHASE_FETCH;
}

static void bring_locked(unsigned depot, struct xd_range range)
{
    ck_assert_int_eq(xd_ledger_change(&engine->ledger, XD_CLAIM, range), 0);
    ck_assert_int_eq(xd_ledger_written(&engine->ledger, range, depot), 0);
    xd_verify_written_locked(engine, range, NULL);
}

START_TEST(nobody_is_blamed_for_a_piece_that_changed_while_it_was_hashed)
{
    prepare_engine();
    xd_engine_lock(engine);
    bring_locked(0, first_block);
    bring_locked(1, second_block);
    xd_verify_work_locked(engine);
    ck_assert(!engine->depots.list[0]->is_banned);
    ck_assert(!engine->depots.list[1]->is_banned);
    ck_assert(!xd_ledger_has(&engine->ledger, XD_BYTES_CLAIMED, first_block));
    ck_assert(xd_ledger_has(&engine->ledger, XD_BYTES_STORED, second_block));
    xd_engine_unlock(engine);
}
END_TEST

START_TEST(what_is_written_while_its_piece_is_rejected_stays_claimed)
{
    prepare_engine();
    xd_engine_lock(engine);
    bring_locked(0, first_block);
    ck_assert_int_eq(xd_ledger_change(&engine->ledger, XD_CLAIM, second_block),
                     0);
    xd_discard_locked(engine, engine->wanted, XD_DISCARD_BAD_PIECE);
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_STORED), 0);
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_CLAIMED),
                      BLOCK);
    ck_assert(xd_ledger_has(&engine->ledger, XD_BYTES_CLAIMED, second_block));
    xd_engine_unlock(engine);
}
END_TEST

/* All of the piece is written by one who has hashed it in passing. */
static void bring_hashed_locked(uint64_t era, bool is_right)
{
    struct xd_piece_hash hash = {.has_ended = true, .ended_era = era};

    hash_of_piece(hash.hex);
    hash.hex[0] ^= !is_right;
    ck_assert_int_eq(
        xd_ledger_change(&engine->ledger, XD_CLAIM, engine->wanted), 0);
    ck_assert_int_eq(xd_ledger_written(&engine->ledger, engine->wanted, 0), 0);
    xd_verify_written_locked(engine, engine->wanted, &hash);
}

START_TEST(a_piece_that_was_hashed_in_passing_is_not_read_back)
{
    prepare_engine();
    xd_engine_lock(engine);
    bring_hashed_locked(engine->verify.era, true);
    ck_assert(!xd_verify_can_work_locked(engine));
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_READABLE),
                      SIZE);
    xd_engine_unlock(engine);
}
END_TEST

START_TEST(a_piece_that_is_wrong_in_passing_is_read_back)
{
    prepare_engine();
    xd_engine_lock(engine);
    bring_hashed_locked(engine->verify.era, false);
    ck_assert(xd_verify_can_work_locked(engine));
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_READABLE), 0);
    xd_engine_unlock(engine);
}
END_TEST

START_TEST(a_piece_that_was_rejected_while_it_was_hashed_is_read_back)
{
    uint64_t era;

    prepare_engine();
    xd_engine_lock(engine);
    era = engine->verify.era;
    xd_discard_locked(engine, first_block, XD_DISCARD_BAD_PIECE);
    bring_hashed_locked(era, true);
    ck_assert(xd_verify_can_work_locked(engine));
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_READABLE), 0);
    xd_engine_unlock(engine);
}
END_TEST

/* What is right now shows who lied before: a matter of the keeper's. */
START_TEST(a_piece_under_suspicion_is_read_back)
{
    prepare_engine();
    xd_engine_lock(engine);
    bring_locked(0, first_block);
    bring_locked(1, second_block);
    engine->dest.sink = &wrong_sink;
    xd_verify_work_locked(engine);
    bring_hashed_locked(engine->verify.era, true);
    ck_assert(xd_verify_can_work_locked(engine));
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_READABLE), 0);
    xd_engine_unlock(engine);
}
END_TEST

/* Three copies of two pieces: the first is zeros, as wrong_sink has it, and here
 * by `depot`; no bytes are right in the second. */
static void prepare_two_pieces(unsigned depot)
{
    static const char text[] =
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\"><size>16384</size>"
        "<pieces type=\"sha-256\" length=\"8192\"><hash>"
        "9f1dcbc35c350d6027f98be0f5c8b43b42ca52b7604459c0c42be3aa88913d47"
        "</hash><hash>"
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
        "</hash></pieces><url>http://a.example/f</url>"
        "<url>http://b.example/f</url><url>http://c.example/f</url>"
        "</file></metalink>";

    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, sizeof text - 1, NULL, &error), 0);
    ck_assert_int_eq(xd_engine_new(&engine, manifest, 0, &xd_output_file, path,
                                   -1, options, &error),
                     0);
    engine->dest.sink = &wrong_sink;
    engine->session.phase = XD_PHASE_FETCH;
    xd_engine_lock(engine);
    bring_locked(depot, (struct xd_range){0, SIZE});
    xd_verify_work_locked(engine);
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_READABLE),
                      SIZE);
}

/* A block of the second piece. */
static struct xd_range wrong_block(uint64_t i)
{
    return (struct xd_range){SIZE + i * BLOCK, SIZE + (i + 1) * BLOCK};
}

/* Half of the second piece is of each. */
static void bring_wrong_piece_locked(unsigned depot, unsigned other)
{
    bring_locked(depot, wrong_block(0));
    bring_locked(other, wrong_block(1));
    xd_verify_work_locked(engine);
    ck_assert(xd_blame_suspects(&engine->verify.blame, 1));
}

/* Of whom the scheduler has something fetched. */
static unsigned who_is_asked_locked(void)
{
    struct xd_sched_action action;

    do {
        action = xd_sched_next(engine->session.sched, xd_now());
        ck_assert(action.kind == XD_DO_OPEN || action.kind == XD_DO_FETCH);
    } while (action.kind != XD_DO_FETCH);
    return action.depot;
}

START_TEST(who_has_proved_most_is_asked_alone_first)
{
    prepare_two_pieces(1);
    engine->depots.list[2]->bytes = SIZE;
    bring_wrong_piece_locked(0, 1);
    ck_assert_uint_eq(who_is_asked_locked(), 1);
    xd_engine_unlock(engine);
}
END_TEST

START_TEST(who_brought_far_less_than_others_is_not_asked_alone_first)
{
    prepare_two_pieces(XD_HELD);
    engine->depots.list[0]->bytes = 2 * BLOCK;
    engine->depots.list[1]->bytes = 3 * BLOCK;
    engine->depots.list[2]->bytes = BLOCK;
    bring_wrong_piece_locked(0, 1);
    ck_assert_uint_eq(who_is_asked_locked(), 1);
    xd_engine_unlock(engine);
}
END_TEST

START_TEST(who_had_no_part_in_a_wrong_piece_is_asked_alone_first)
{
    prepare_two_pieces(XD_HELD);
    engine->depots.list[0]->bytes = 2 * BLOCK;
    engine->depots.list[1]->bytes = 3 * BLOCK;
    engine->depots.list[2]->bytes = 2 * BLOCK;
    bring_wrong_piece_locked(0, 1);
    ck_assert_uint_eq(who_is_asked_locked(), 2);
    xd_engine_unlock(engine);
}
END_TEST

static int read_ones(struct xd_sink *s, uint64_t offset, void *data, size_t len,
                     struct xd_error *err)
{
    (void)s;
    (void)offset;
    (void)err;
    memset(data, 1, len);
    return 0;
}

/* It brings the first piece as well, of ones. */
START_TEST(who_is_found_out_by_one_piece_explains_another)
{
    static const struct xd_sink_ops ops = {.read = read_ones, .free = keep};
    static struct xd_sink sink = {&ops};

    prepare_two_pieces(2);
    bring_wrong_piece_locked(0, 1);
    xd_discard_locked(engine, (struct xd_range){0, SIZE}, XD_DISCARD_BAD_PIECE);
    engine->dest.sink = &sink;
    bring_locked(0, (struct xd_range){0, SIZE});
    xd_verify_work_locked(engine);
    ck_assert(engine->depots.list[0]->is_banned);
    ck_assert(!xd_blame_suspects(&engine->verify.blame, 1));
    xd_engine_unlock(engine);
}
END_TEST

START_TEST(a_known_liar_explains_the_wrong_pieces_that_it_had_a_part_in)
{
    prepare_two_pieces(XD_HELD);
    engine->depots.list[2]->bytes = SIZE;
    bring_wrong_piece_locked(0, 1);
    bring_locked(0, wrong_block(0)); /* as if it were the one asked alone */
    bring_locked(0, wrong_block(1));
    xd_blame_ban_locked(engine, 0, &(struct xd_error){.msg = "it lied"});
    ck_assert(xd_blame_suspects(&engine->verify.blame, 1));
    bring_locked(2, wrong_block(0));
    bring_locked(2, wrong_block(1));
    xd_verify_work_locked(engine);
    ck_assert(!xd_blame_suspects(&engine->verify.blame, 1));
    xd_engine_unlock(engine);
}
END_TEST

/* Into a pipe, of a file with a hash of the whole alone. */
static void prepare_pipe(void)
{
    static const char text[] =
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\"><size>8192</size><hash type=\"sha-256\">"
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
        "</hash><url>http://a.example/f</url><url>http://b.example/f</url>"
        "</file></metalink>";

    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, sizeof text - 1, NULL, &error), 0);
    ck_assert_int_eq(xd_engine_new(&engine, manifest, 0, &xd_output_pipe, NULL,
                                   STDOUT_FILENO, options, &error),
                     0);
    engine->session.phase = XD_PHASE_FETCH;
}

/* A sink of zeros from which a pipe has read all that is right, and dropped it:
 * what is read of it now must stay. */
static int read_and_drop(struct xd_sink *s, uint64_t offset, void *data,
                         size_t len, struct xd_error *err)
{
    (void)s;
    (void)offset;
    (void)err;
    xd_engine_lock(engine);
    engine->readers.handed_out = xd_engine_readable_to_locked(engine, 0);
    xd_readers_drop_locked(engine);
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, 1 << XD_BYTE_EVICTED),
                      0);
    xd_engine_unlock(engine);
    memset(data, 0, len);
    return 0;
}

/* Into a pipe, of one piece of zeros that is one chunk of the memory. */
static void prepare_piece_in_memory(void)
{
    static const char text[] =
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        "<file name=\"f\"><size>65536</size>"
        "<pieces type=\"sha-256\" length=\"65536\"><hash>"
        "de2f256064a0af797747c2b97505dc0b9f3df0de4f489eac731c23ae9ca9cc31"
        "</hash></pieces><url>http://a.example/f</url>"
        "<url>http://b.example/f</url><url>http://c.example/f</url>"
        "</file></metalink>";

    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, sizeof text - 1, NULL, &error), 0);
    ck_assert_int_eq(xd_engine_new(&engine, manifest, 0, &xd_output_pipe, NULL,
                                   STDOUT_FILENO, options, &error),
                     0);
    ck_assert_int_eq(
        xd_bounded_sink_new(&memory, &engine->readers.store, NULL, &error), 0);
    engine->session.phase = XD_PHASE_FETCH;
}

START_TEST(a_piece_is_not_dropped_before_it_was_compared_with_its_wrong_copy)
{
    static const struct xd_sink_ops ones = {.read = read_ones, .free = keep};
    static const struct xd_sink_ops dropping = {.read = read_and_drop,
                                                .free = keep};
    static struct xd_sink wrong = {&ones}, right = {&dropping};

    prepare_piece_in_memory();
    xd_engine_lock(engine);
    engine->dest.sink = &wrong;
    bring_locked(0, (struct xd_range){0, BLOCK});
    bring_locked(1, (struct xd_range){BLOCK, engine->wanted.end});
    xd_verify_work_locked(engine);
    ck_assert(xd_blame_suspects(&engine->verify.blame, 0));
    engine->dest.sink = &right;
    bring_locked(2, engine->wanted);
    xd_verify_work_locked(engine);
    ck_assert(engine->depots.list[0]->is_banned);
    ck_assert(engine->depots.list[1]->is_banned);
    ck_assert(!engine->depots.list[2]->is_banned);
    xd_engine_unlock(engine);
}
END_TEST

/* What was handed out cannot be taken back. */
START_TEST(what_a_pipe_has_read_is_not_wanted_again)
{
    prepare_pipe();
    xd_engine_lock(engine);
    bring_locked(0, first_block);
    engine->readers.handed_out = first_block.end;
    bring_locked(0, second_block);
    xd_blame_ban_locked(engine, 0, &(struct xd_error){.msg = "it changed"});
    ck_assert(xd_ledger_has(&engine->ledger, XD_BYTES_STORED, first_block));
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_STORED), BLOCK);
    xd_engine_unlock(engine);
}
END_TEST

START_TEST(bytes_of_an_earlier_run_that_are_being_read_are_discarded_later)
{
    prepare_pipe();
    xd_engine_lock(engine);
    bring_locked(XD_HELD, first_block);
    bring_locked(XD_HELD, second_block);
    engine->verify.reading = first_block;
    xd_discard_held_locked(engine);
    ck_assert(xd_ledger_has(&engine->ledger, XD_BYTES_STORED, first_block));
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_STORED), BLOCK);
    engine->verify.reading = (struct xd_range){0, 0};
    xd_discard_postponed_locked(engine);
    ck_assert_uint_eq(xd_ledger_bytes(&engine->ledger, XD_BYTES_STORED), 0);
    xd_engine_unlock(engine);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("blame");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase,
                   what_stays_of_one_asked_alone_is_not_blamed_on_the_next);
    tcase_add_test(
        tcase, nobody_is_blamed_for_a_piece_that_changed_while_it_was_hashed);
    tcase_add_test(tcase,
                   what_is_written_while_its_piece_is_rejected_stays_claimed);
    tcase_add_test(tcase, a_piece_that_was_hashed_in_passing_is_not_read_back);
    tcase_add_test(tcase, a_piece_that_is_wrong_in_passing_is_read_back);
    tcase_add_test(tcase,
                   a_piece_that_was_rejected_while_it_was_hashed_is_read_back);
    tcase_add_test(tcase, a_piece_under_suspicion_is_read_back);
    tcase_add_test(tcase, who_has_proved_most_is_asked_alone_first);
    tcase_add_test(tcase,
                   who_brought_far_less_than_others_is_not_asked_alone_first);
    tcase_add_test(tcase,
                   who_had_no_part_in_a_wrong_piece_is_asked_alone_first);
    tcase_add_test(tcase, who_is_found_out_by_one_piece_explains_another);
    tcase_add_test(
        tcase, a_known_liar_explains_the_wrong_pieces_that_it_had_a_part_in);
    tcase_add_test(
        tcase,
        a_piece_is_not_dropped_before_it_was_compared_with_its_wrong_copy);
    tcase_add_test(tcase, what_a_pipe_has_read_is_not_wanted_again);
    tcase_add_test(
        tcase, bytes_of_an_earlier_run_that_are_being_read_are_discarded_later);
    return run_suite("blame", tcase);
}

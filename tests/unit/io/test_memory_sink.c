/* Bytes in memory, of which some are dropped. */
#include <string.h>

#include "io/sinks/sink.h"
#include "suite.h"

#define CHUNK XD_MEMORY_CHUNK

static struct xd_sink *sink;
static struct xd_memory_sink *memory;
static struct xd_error error;

static void setup(void)
{
    ck_assert_int_eq(xd_memory_sink_new(&sink, &memory, &error), 0);
}

static void teardown(void)
{
    xd_sink_free(sink);
}

static void put(uint64_t offset, const char *text)
{
    ck_assert_int_eq(xd_sink_write(sink, offset, text, strlen(text), &error),
                     0);
}

static void expect(uint64_t offset, const char *text)
{
    char got[100];

    ck_assert_int_eq(xd_sink_read(sink, offset, got, strlen(text), &error), 0);
    ck_assert_int_eq(memcmp(got, text, strlen(text)), 0);
}

START_TEST(what_was_written_is_read_also_across_chunks)
{
    put(5, "begin");
    put(CHUNK - 3, "edge of it");
    put(CHUNK * 5000, "far");
    expect(5, "begin");
    expect(CHUNK - 3, "edge of it");
    expect(CHUNK - 1, "ge");
    expect(CHUNK * 5000, "far");
    ck_assert_int_eq(xd_sink_finish(sink, 1, &error), 0);
}
END_TEST

START_TEST(what_is_dropped_is_gone_and_the_rest_stays)
{
    char byte;

    put(0, "first");
    put(CHUNK, "second");
    put(2 * CHUNK, "third");
    xd_memory_sink_drop(memory, CHUNK, 2 * CHUNK);
    expect(0, "first");
    expect(2 * CHUNK, "third");
    ck_assert_int_eq(xd_sink_read(sink, CHUNK, &byte, 1, &error), XD_E_BUG);
    ck_assert_int_eq(xd_sink_read(sink, 9 * CHUNK, &byte, 1, &error), XD_E_BUG);
    put(CHUNK, "again");
    expect(CHUNK, "again");
}
END_TEST

START_TEST(dropping_what_is_not_there_does_nothing)
{
    xd_memory_sink_drop(memory, 0, CHUNK * 3000);
    put(1, "x");
    xd_memory_sink_drop(memory, CHUNK, CHUNK * 3000);
    expect(1, "x");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("memory_sink");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_was_written_is_read_also_across_chunks);
    tcase_add_test(t, what_is_dropped_is_gone_and_the_rest_stays);
    tcase_add_test(t, dropping_what_is_not_there_does_nothing);
    return run_suite("io.memory_sink", t);
}

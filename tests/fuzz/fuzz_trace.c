/* SPDX-License-Identifier: MIT */
/*
 * A trace, which may be any program's.  Whatever is in it, times and numbers of
 * events are bounded, a refusal has its sentence, and a scenario can be written.
 */
#include <math.h>

#include "fuzz.h"
#include "trace/trace_reader.h"
#include "trace/trace_scenario.h"

static bool is_time(double s)
{
    return isfinite(s) && s >= 0 && s <= 1e9;
}

static void check_event(const struct trace_event *e)
{
    FUZZ_CHECK(e->run > 0 && e->depot <= 1000000);
    FUZZ_CHECK(is_time(e->at) && is_time(e->lasts));
    FUZZ_CHECK(e->first_byte == -1 || is_time(e->first_byte));
    FUZZ_CHECK(is_time(e->name_lookup) && is_time(e->connect));
    FUZZ_CHECK(memchr(e->name, '\0', sizeof e->name) != NULL);
    FUZZ_CHECK(memchr(e->host, '\0', sizeof e->host) != NULL);
}

static void read_events(FILE *from, size_t len)
{
    struct trace_event event;
    struct trace_reader r;
    char why[600] = "";
    size_t n = 0;
    int rc;

    trace_reader_init(&r, from, "a trace");
    while ((rc = trace_reader_next(&r, &event, why, sizeof why)) == 1) {
        check_event(&event);
        n++;
    }
    FUZZ_CHECK(n <= len / 2);
    FUZZ_CHECK((rc < 0) == (strstr(why, "a trace: ") == why));
}

static void write_scenario(const struct profile *p)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    FUZZ_CHECK(to != NULL);
    (void)scenario_put(to, p, "a trace");
    FUZZ_CHECK(fclose(to) == 0);
    FUZZ_CHECK(strstr(text, "nanmbit") == NULL);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct profile *p;
    char *copy = malloc(len + 1);
    FILE *from;

    FUZZ_CHECK(copy != NULL);
    memcpy(copy, data, len);
    copy[len] = '\0';
    from = len > 0 ? fmemopen(copy, len, "r") : NULL;
    if (from != NULL) {
        read_events(from, len);
        if (profile_read_stream(&p, from, "a trace", (unsigned)(len % 3)) == 0)
            write_scenario(p);
        else
            FUZZ_CHECK(p == NULL);
        profile_free(p);
        fclose(from);
    }
    free(copy);
    return 0;
}

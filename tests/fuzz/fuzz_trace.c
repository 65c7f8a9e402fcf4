/* SPDX-License-Identifier: MIT */
/*
 * A trace, which may be any program's.  Whatever is in it, times and numbers of
 * what is read are bounded, a refusal has its sentence, and what is drawn of it
 * has no markup but ours.
 */
#include <math.h>

#include "fuzz.h"
#include "trace/draw.h"
#include "trace/trace_reader.h"
#include "trace/trace_scenario.h"
#include "trace/trace_summary.h"

static bool is_time(double s)
{
    return isfinite(s) && s >= 0 && s <= 1e9;
}

static void check_event(const struct trace_event *e)
{
    FUZZ_CHECK(e->run > 0 && e->depot <= 1000000);
    FUZZ_CHECK(is_time(e->at) && is_time(e->lasts) && is_time(e->queued));
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

/* Whether a number in a tag is none; what stands between tags may be a depot's
 * name. */
static bool has_nan(const char *svg)
{
    const char *nan = strstr(svg, "nan"), *tag = svg;

    while (nan != NULL && (tag = strchr(tag, '<')) != NULL) {
        const char *end = tag + strcspn(tag, ">");

        if (nan < tag)
            nan = strstr(tag, "nan");
        if (nan != NULL && nan < end)
            return true;
        tag = end;
    }
    return false;
}

static void check_picture(const char *svg)
{
    const char *end = strstr(svg, "</svg>\n");

    FUZZ_CHECK(strncmp(svg, "<svg ", 5) == 0);
    FUZZ_CHECK(end != NULL && end[7] == '\0');
    FUZZ_CHECK(strstr(svg, "<script") == NULL && !has_nan(svg));
}

static void show(const struct profile *p)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    FUZZ_CHECK(to != NULL);
    draw_profile(to, p);
    FUZZ_CHECK(fclose(to) == 0);
    check_picture(text);
    free(text);
    to = open_memstream(&text, &len);
    FUZZ_CHECK(to != NULL);
    summary_of_trace(to, p);
    (void)scenario_put(to, p, "a trace");
    FUZZ_CHECK(fclose(to) == 0);
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
            show(p);
        else
            FUZZ_CHECK(p == NULL);
        profile_free(p);
        fclose(from);
    }
    free(copy);
    return 0;
}

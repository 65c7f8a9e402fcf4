/* SPDX-License-Identifier: MIT */
/* Sets, texts, URLs and options, when something runs out. */
#include <string.h>
#include <xdownload/options.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/range.h"
#include "base/servers.h"
#include "base/text.h"
#include "base/url.h"
#include "base/hosts.h"
#include "engine/options.h"
#include "engine/records.h"
#include "suite.h"
#include "torture.h"

static bool is_same_set(const struct xd_rangeset *a,
                        const struct xd_rangeset *b)
{
    return a->n == b->n && a->bytes == b->bytes &&
           memcmp(a->ranges, b->ranges, a->n * sizeof *a->ranges) == 0;
}

/* A change, made again if there was no memory: the set is then as before. */
static int change(struct xd_rangeset *s, struct xd_range r,
                  int (*change_set)(struct xd_rangeset *s, struct xd_range r))
{
    struct xd_rangeset before = {.n = s->n, .bytes = s->bytes};
    struct xd_range ranges[16];
    int rc;

    ck_assert_uint_le(s->n, 16);
    before.ranges = ranges;
    if (s->n > 0)
        memcpy(ranges, s->ranges, s->n * sizeof *ranges);
    torture_begin();
    rc = change_set(s, r);
    torture_end();
    if (rc < 0) {
        ck_assert(s->n == 0 || is_same_set(s, &before));
        ck_assert_int_eq(change_set(s, r), 0);
    }
    return rc;
}

static int change_a_set(void)
{
    struct xd_rangeset s;
    int rc = 0;

    xd_rangeset_init(&s);
    for (unsigned i = 0; i < 12; i++)
        rc |=
            change(&s, (struct xd_range){i * 10, i * 10 + 5}, xd_rangeset_add);
    for (unsigned i = 0; i < 4; i++)
        rc |= change(&s, (struct xd_range){i * 10 + 2, i * 10 + 3},
                     xd_rangeset_remove);
    rc |= change(&s, (struct xd_range){15, 55}, xd_rangeset_add);
    ck_assert_uint_eq(s.bytes, 78);
    xd_rangeset_fini(&s);
    return rc;
}

START_TEST(a_set_without_memory_is_as_before)
{
    torture(change_a_set);
}
END_TEST

static int build_a_text(void)
{
    struct xd_text t = {.s = NULL};
    bool failed;

    torture_begin();
    for (int i = 0; i < 100; i++)
        xd_text_addf(&t, "%d bottles; ", i);
    xd_text_add(&t, "none", 4);
    torture_end();
    failed = t.failed;
    ck_assert(failed || strstr(t.s, "99 bottles; none") != NULL);
    xd_text_fini(&t);
    return failed ? XD_E_NOMEM : 0;
}

START_TEST(a_text_without_memory_says_so_at_the_end)
{
    torture(build_a_text);
}
END_TEST

static int keep_an_error(void)
{
    struct xd_error err;
    const struct xd_kept_error *kept;

    xd_fail(&err, XD_E_NET, "depot d3");
    torture_begin();
    kept = xd_error_keep(&err);
    torture_end();
    err = xd_kept_error_get(kept);
    xd_kept_error_free(kept);
    return err.code == XD_E_NET ? 0 : err.code;
}

START_TEST(an_error_that_cannot_be_kept_becomes_that_of_memory)
{
    torture(keep_an_error);
}
END_TEST

static int read_urls(void)
{
    static const char web[] = "HTTP://u:p@Host.example:81/a?b",
                      disk[] = "file:///a%20b";
    struct xd_url u, v;
    char *depot, *shown, *path;
    struct xd_url *copy;
    bool is_complete;

    ck_assert(xd_url_parse(&u, web) && xd_url_parse(&v, disk));
    torture_begin();
    depot = xd_url_depot(&u);
    shown = xd_url_public(&u);
    copy = xd_url_copy(&u);
    path = xd_url_local_path(&v);
    torture_end();
    is_complete = depot && shown && copy && path;
    xd_free(depot);
    xd_free(shown);
    xd_free(copy);
    xd_free(path);
    return is_complete ? 0 : XD_E_NOMEM;
}

START_TEST(parts_of_a_url_need_memory)
{
    torture(read_urls);
}
END_TEST

/* Not set for want of memory, an option has the value that it had. */
static int set_options(void)
{
    struct xd_options *o, copy;
    struct xd_error error;
    int rc;

    torture_begin();
    rc = xd_options_new(&o, &error);
    torture_end();
    if (rc < 0) {
        ck_assert_ptr_null(o);
        return rc;
    }
    ck_assert_int_eq(xd_options_set(o, "exclude", "a.example", &error), 0);
    torture_begin();
    rc = xd_options_set(o, "exclude", "b.example", &error);
    torture_end();
    ck_assert_str_eq(o->exclude, rc < 0 ? "a.example" : "a.example b.example");
    if (rc == 0) {
        torture_begin();
        rc = xd_options_copy(&copy, o);
        torture_end();
    }
    if (rc == 0)
        xd_options_fini(&copy);
    xd_options_free(o);
    return rc;
}

START_TEST(an_option_without_memory_is_as_before)
{
    torture(set_options);
}
END_TEST

static int look_for_hosts(void)
{
    struct xd_url u;
    int rc;

    ck_assert(xd_url_parse(&u, "http://b.example:8080/x"));
    torture_begin();
    rc = xd_hosts_have("a.example b.example:8080", &u);
    torture_end();
    ck_assert(rc < 0 || rc == 1);
    return rc < 0 ? rc : 0;
}

START_TEST(a_host_is_looked_for_with_memory)
{
    torture(look_for_hosts);
}
END_TEST

static int keep_records(void)
{
    struct xd_records r;
    int rc;

    torture_begin();
    rc = xd_records_init(&r, true);
    torture_end();
    xd_records_fini(&r);
    return rc;
}

START_TEST(records_without_memory_are_none)
{
    torture(keep_records);
}
END_TEST

static const char two_servers[] = "xdownload depots 1\n"
                                  "10 1 1 0 http://a.example\n"
                                  "11 2 2 0 http://b.example\n";

/* Those that were read before memory ran out are whole. */
static int remember_servers(void)
{
    struct xd_servers s = {0};
    int rc;

    torture_begin();
    rc = xd_servers_parse(&s, two_servers, strlen(two_servers), 12);
    torture_end();
    ck_assert_int_eq(s.n == 2, rc == 0);
    for (size_t i = 0; i < s.n; i++)
        ck_assert_ptr_eq(xd_servers_find(&s, s.list[i].name), &s.list[i]);
    xd_servers_fini(&s);
    return rc;
}

START_TEST(servers_without_memory_are_not_remembered)
{
    torture(remember_servers);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("base");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, a_set_without_memory_is_as_before);
    tcase_add_test(t, a_text_without_memory_says_so_at_the_end);
    tcase_add_test(t, an_error_that_cannot_be_kept_becomes_that_of_memory);
    tcase_add_test(t, parts_of_a_url_need_memory);
    tcase_add_test(t, an_option_without_memory_is_as_before);
    tcase_add_test(t, a_host_is_looked_for_with_memory);
    tcase_add_test(t, records_without_memory_are_none);
    tcase_add_test(t, servers_without_memory_are_not_remembered);
    return run_suite("torture.base", t);
}

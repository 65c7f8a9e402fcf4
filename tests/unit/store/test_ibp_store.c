/* SPDX-License-Identifier: MIT */
/* lib/store/ibp: what a depot is asked for, and what becomes of its answers. */
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "url_of.h"

#define NOW 1800000000
#define DAY 86400
#define MONTH 2592000

#define DEPOT "ibp://depot.example:6714"
#define READ_OF DEPOT "/0#k/11/READ"
#define WRITE_OF DEPOT "/0#k/22/WRITE"
#define MANAGE_OF DEPOT "/0#k/33/MANAGE"

/* As a depot says it, which has another name for itself. */
#define GIVEN                                                       \
    "ibp://localhost:7/0#k/11/READ ibp://localhost:7/0#k/22/WRITE " \
    "ibp://localhost:7/0#k/33/MANAGE"

/* What a PROBE says: references, bytes and room, a lifetime, hard or soft. */
#define STATE(readers, writers, written, lifetime) \
    readers " " writers " " written " 1000 " lifetime " 2 1"

/* One call that is expected, and its answer. */
struct turn {
    const char *call; /* "METHOD FIELDS" */
    int64_t code;
    const char *words;
    enum xd_verdict verdict; /* not OK: no answer comes */
};

static struct xd_store *store;
static struct xd_task *task;
static struct xd_task_result result;
static struct xd_error err;
static int64_t now;
static struct xd_object object = {.read = (char[]){READ_OF},
                                  .write = (char[]){WRITE_OF},
                                  .manage = (char[]){MANAGE_OF},
                                  .size = 1000};

static void open_store(const char *target, uint64_t lifetime_s)
{
    struct xd_store_config config = {.target = url_of(target),
                                     .lifetime_s = lifetime_s};

    xd_store_free(store);
    store = NULL;
    ck_assert_int_eq(xd_store_new(&store, &config, &err), 0);
}

static void set_up(void)
{
    now = NOW;
    open_store(DEPOT, 0);
}

static void tear_down(void)
{
    xd_task_free(task);
    xd_store_free(store);
    task = NULL;
    store = NULL;
}

static const char *url_for(const char *method)
{
    if (strcmp(method, "ALLOCATE") == 0 || strcmp(method, "STATUS") == 0)
        return DEPOT;
    if (strcmp(method, "STORE") == 0)
        return WRITE_OF;
    return strcmp(method, "LOAD") == 0 ? READ_OF : MANAGE_OF;
}

static void check_call(const struct xd_call *c, const char *expected)
{
    char call[200];

    snprintf(call, sizeof call, "%s%s%s", c->method, c->fields ? " " : "",
             c->fields ? c->fields : "");
    if (!xd_range_is_empty(c->body))
        snprintf(call, sizeof call, "%s %u-%u", c->method,
                 (unsigned)c->body.begin, (unsigned)c->body.end);
    ck_assert_str_eq(call, expected);
    ck_assert_str_eq(xd_url_secret_text(c->url), url_for(c->method));
    ck_assert(!c->logs_in);
}

static void begin(struct xd_task_order order)
{
    xd_task_free(task);
    task = NULL;
    if (order.kind != XD_TASK_PUT && order.object == NULL)
        order.object = &object;
    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), 0);
}

static void play_turn(const struct turn *turn)
{
    struct xd_outcome outcome = {.verdict = turn->verdict,
                                 .retry_after = 7 * XD_SECOND};
    struct xd_reply reply = {.code = turn->code, .words = turn->words};
    struct xd_answer answer = {.outcome = &outcome,
                               .reply = &reply,
                               .body = "0123456789",
                               .body_len = 10};
    struct xd_call call;

    if (turn->verdict != XD_VERDICT_OK) {
        strcpy(outcome.error.msg, "ibp://depot.example:6714: broke off");
        outcome.error.code = XD_E_NET;
        answer.reply = NULL;
    }
    ck_assert_msg(xd_task_next(task, now, &call), "no %s", turn->call);
    check_call(&call, turn->call);
    ck_assert(!xd_task_next(task, now, &call));
    xd_task_answered(task, call.id, &answer);
}

/* All the calls are made, and no others.  It ends in `state`. */
static void play(struct xd_task_order order, const struct turn *turns,
                 enum xd_task_state state)
{
    struct xd_call call;

    begin(order);
    for (; turns->call; turns++)
        play_turn(turns);
    ck_assert(!xd_task_next(task, now, &call));
    xd_task_result(task, &result);
    ck_assert_msg(result.state == state, "state %d: %s", (int)result.state,
                  result.error.msg);
    /* The depot is named, and no secret. */
    ck_assert_ptr_null(strstr(result.error.msg, "0#k"));
    if (state == XD_TASK_FAILED)
        ck_assert_int_eq(strncmp(result.error.msg, DEPOT, strlen(DEPOT)), 0);
}

static void check_failed(enum xd_task_failure failure, const char *part)
{
    ck_assert_int_eq(result.state, XD_TASK_FAILED);
    ck_assert_msg(result.failure == failure, "failure %d: %s",
                  (int)result.failure, result.error.msg);
    ck_assert_int_ne(result.error.code, XD_OK);
    ck_assert_msg(strstr(result.error.msg, part) != NULL, "no \"%s\" in: %s",
                  part, result.error.msg);
}

static const struct xd_task_order put = {.kind = XD_TASK_PUT, .size = 1000},
                                  look = {.kind = XD_TASK_LOOK},
                                  delete_it = {.kind = XD_TASK_DELETE};

/* ---- the store ---- */

START_TEST(target_is_a_host_and_a_port)
{
    static const char *const bad[] = {
        "ibp://depot.example:6714//",
        "ibp://depot.example:6714/k",
        READ_OF,
        "ibp:///",
        "ibp://u:p@depot.example/",
        "ibp://depot.example?x",
        "ibp://depot.example:6714#x",
        "depot.example",
    };
    static const char *const good[][2] = {
        {"ibp://depot.example:6714", "ibp://depot.example:6714"},
        {"ibp://depot.example", "ibp://depot.example:6714"},
        {"ibp://depot.example/", "ibp://depot.example:6714"},
        {"IBP://DEPOT.example:7000", "ibp://depot.example:7000"},
        {"ibp://[::1]:7000", "ibp://[::1]:7000"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct xd_store_config config = {.target = url_of(bad[i])};
        struct xd_store *s = NULL;

        ck_assert_msg(xd_store_new(&s, &config, &err) == XD_E_INVAL, "%s",
                      bad[i]);
        ck_assert_ptr_null(s);
        ck_assert_ptr_null(strstr(err.msg, "0#k"));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        open_store(good[i][0], 0);
        ck_assert_str_eq(xd_store_name(store), good[i][1]);
    }
}
END_TEST

START_TEST(only_capabilities_of_the_typed_host_and_port_are_in_it)
{
    static const struct {
        const char *manage;
        bool has;
    } rows[] = {
        {MANAGE_OF, true},
        {"IBP://DEPOT.EXAMPLE:6714/0#k/33/MANAGE", true},
        {"ibp://depot.example/0#k/33/MANAGE", true},
        {READ_OF, false},
        {WRITE_OF, false},
        {"ibp://depot.example:6715/0#k/33/MANAGE", false},
        {"ibp://depot.example.net:6714/0#k/33/MANAGE", false},
        {"ibp://u@depot.example:6714/0#k/33/MANAGE", false},
        {"http://depot.example:6714/0/33/MANAGE", false},
        {DEPOT, false},
        {"", false},
        {NULL, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(xd_store_has(store, rows[i].manage) == rows[i].has, "%s",
                      rows[i].manage);
    ck_assert(xd_span_is_word(xd_store_host(store), "depot.example"));
}
END_TEST

START_TEST(object_elsewhere_is_not_touched)
{
    static const enum xd_task_kind kinds[] = {XD_TASK_LOOK, XD_TASK_READ,
                                              XD_TASK_RENEW, XD_TASK_DELETE,
                                              XD_TASK_ABORT};
    struct xd_object other = {
        .read = (char[]){"ibp://other.example:6714/0#k/11/READ"},
        .manage = (char[]){"ibp://other.example:6714/0#k/33/MANAGE"}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct xd_task_order order = {
            .kind = kinds[i], .object = &other, .range = {0, 10}};

        ck_assert_int_eq(xd_task_new(&task, store, &order, &err), XD_E_INVAL);
        ck_assert_ptr_null(task);
        ck_assert_ptr_null(strstr(err.msg, "0#k"));
    }
}
END_TEST

/* ---- PUT ---- */

START_TEST(object_is_allocated_stored_and_looked_at)
{
    static const struct turn turns[] = {
        {"ALLOCATE 2 1 86400 1000", 1, GIVEN, 0},
        {"STORE 0-1000", 1, "1000", 0},
        {"PROBE", 1, STATE("1", "1", "1000", "86390"), 0},
        {NULL, 0, NULL, 0}};

    play(put, turns, XD_TASK_DONE);
    ck_assert_str_eq(result.object->read, READ_OF);
    ck_assert_str_eq(result.object->write, WRITE_OF);
    ck_assert_str_eq(result.object->manage, MANAGE_OF);
    ck_assert_uint_eq(result.object->size, 1000);
    ck_assert_int_eq(result.object->expires_at, NOW + 86390);
}
END_TEST

START_TEST(capabilities_are_at_the_host_that_was_typed)
{
    static const struct {
        const char *target, *read;
    } rows[] = {
        {"ibp://depot.example:7000", "ibp://depot.example:7000/0#k/11/READ"},
        {"ibp://[::1]:7000", "ibp://[::1]:7000/0#k/11/READ"},
        {"ibp://::1:7000", "ibp://[::1]:7000/0#k/11/READ"},
        {"ibp://depot.example", "ibp://depot.example:6714/0#k/11/READ"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xd_outcome outcome = {.verdict = XD_VERDICT_OK};
        struct xd_reply reply = {.code = 1, .words = GIVEN};
        struct xd_answer answer = {.outcome = &outcome, .reply = &reply};
        struct xd_call call;

        open_store(rows[i].target, 0);
        begin(put);
        ck_assert(xd_task_next(task, now, &call));
        xd_task_answered(task, call.id, &answer);
        xd_task_result(task, &result);
        ck_assert_int_eq(result.state, XD_TASK_RUNS);
        ck_assert_str_eq(result.object->read, rows[i].read);
        ck_assert(xd_store_has(store, result.object->manage));
    }
}
END_TEST

START_TEST(empty_object_has_an_allocation_of_one_byte)
{
    static const struct turn turns[] = {
        {"ALLOCATE 2 1 86400 1", 1, GIVEN, 0},
        {"PROBE", 1, STATE("1", "1", "0", "9"), 0},
        {NULL, 0, NULL, 0}};

    play((struct xd_task_order){.kind = XD_TASK_PUT}, turns, XD_TASK_DONE);
}
END_TEST

START_TEST(depot_that_stops_short_is_sent_the_rest)
{
    static const struct turn turns[] = {
        {"ALLOCATE 2 1 86400 1000", 1, GIVEN, 0},
        {"STORE 0-1000", 1, "400", 0},
        {"STORE 400-1000", 1, "1", 0},
        {"STORE 401-1000", 1, "599", 0},
        {"PROBE", 1, STATE("1", "1", "1000", "100"), 0},
        {NULL, 0, NULL, 0}};

    play(put, turns, XD_TASK_DONE);
}
END_TEST

START_TEST(depot_that_stops_short_for_ever_fails)
{
    struct turn turn = {"ALLOCATE 2 1 86400 5000", 1, GIVEN, 0};
    char call[40];

    begin((struct xd_task_order){.kind = XD_TASK_PUT, .size = 5000});
    play_turn(&turn);
    turn = (struct turn){call, 1, "1", 0};
    for (int i = 0; i <= 1000; i++) {
        snprintf(call, sizeof call, "STORE %d-5000", i);
        play_turn(&turn);
    }
    xd_task_result(task, &result);
    check_failed(XD_TASK_BAD, "does not say how many of 4000 bytes");
}
END_TEST

START_TEST(depot_that_makes_no_sense_fails)
{
#define ALLOCATED                              \
    {                                          \
        "ALLOCATE 2 1 86400 1000", 1, GIVEN, 0 \
    }
#define STORED                       \
    {                                \
        "STORE 0-1000", 1, "1000", 0 \
    }
#define DONE             \
    {                    \
        NULL, 0, NULL, 0 \
    }
    static const struct turn scripts[][4] = {
        {{"ALLOCATE 2 1 86400 1000", 1, "", 0}, DONE},
        {{"ALLOCATE 2 1 86400 1000", 1, NULL, 0}, DONE},
        {{"ALLOCATE 2 1 86400 1000", 1, READ_OF " " WRITE_OF, 0}, DONE},
        {{"ALLOCATE 2 1 86400 1000", 1,
          "ibp://h/a\x01/1/READ ibp://h/a/2/WRITE ibp://h/a/3/MANAGE", 0},
         DONE},
        {ALLOCATED, {"STORE 0-1000", 1, "1001", 0}, DONE},
        {ALLOCATED, {"STORE 0-1000", 1, "0", 0}, DONE},
        {ALLOCATED, {"STORE 0-1000", 1, "", 0}, DONE},
        {ALLOCATED, {"STORE 0-1000", 1, "-1", 0}, DONE},
        {ALLOCATED, STORED, {"PROBE", 1, "1 1", 0}, DONE},
        {ALLOCATED,
         STORED,
         {"PROBE", 1, STATE("1", "1", "1000", "9223372036854775807"), 0},
         DONE},
        {ALLOCATED, STORED, {"PROBE", 1, STATE("1", "1", "999", "5"), 0}, DONE},
        {ALLOCATED,
         STORED,
         {"PROBE", 1, STATE("1", "1", "1001", "5"), 0},
         DONE},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        play(put, scripts[i], XD_TASK_FAILED);
        check_failed(XD_TASK_BAD, "");
        /* What is there can be removed. */
        ck_assert_int_eq(result.object->manage != NULL, i > 3);
    }
}
END_TEST

START_TEST(depot_that_loses_what_it_took_is_named_with_the_numbers)
{
    static const struct turn turns[] = {
        ALLOCATED, STORED, {"PROBE", 1, STATE("1", "1", "7", "5"), 0}, DONE};

    play(put, turns, XD_TASK_FAILED);
    check_failed(XD_TASK_BAD, DEPOT ": has 7 bytes of 1000 that it said");
}
END_TEST

START_TEST(depot_without_hard_room_is_asked_for_soft)
{
    static const int64_t codes[] = {-19, -22, -23, -34, -38};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const struct turn turns[] = {
            {"ALLOCATE 2 1 86400 1000", codes[i], "", 0},
            {"ALLOCATE 1 1 86400 1000", 1, GIVEN, 0},
            STORED,
            {"PROBE", 1, STATE("1", "1", "1000", "5"), 0},
            DONE};

        play(put, turns, XD_TASK_DONE);
    }
}
END_TEST

START_TEST(depot_that_is_full_says_so)
{
    static const int64_t codes[] = {-19, -23, -38};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const struct turn at_once[] = {
            {"ALLOCATE 2 1 86400 1000", codes[i], "", 0},
            {"ALLOCATE 1 1 86400 1000", codes[i], "", 0},
            DONE};
        const struct turn later[] = {
            ALLOCATED, {"STORE 0-1000", codes[i], "", 0}, DONE};

        play(put, at_once, XD_TASK_FAILED);
        check_failed(XD_TASK_FULL, "no space left for 1000 bytes");
        play(put, later, XD_TASK_FAILED);
        check_failed(XD_TASK_FULL, "no space left for 1000 bytes");
    }
}
END_TEST

START_TEST(other_errors_are_told_apart)
{
    static const struct {
        int64_t code;
        enum xd_task_failure failure;
    } rows[] = {
        {-4, XD_TASK_ABSENT},    {-48, XD_TASK_ABSENT},
        {-12, XD_TASK_REFUSED},  {-29, XD_TASK_REFUSED},
        {-45, XD_TASK_REFUSED},  {-53, XD_TASK_MAY_PASS},
        {-16, XD_TASK_MAY_PASS}, {-9999, XD_TASK_MAY_PASS},
        {-10, XD_TASK_BAD},      {-25, XD_TASK_BAD},
        {-20, XD_TASK_BAD},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct turn turns[] = {
            ALLOCATED, {"STORE 0-1000", rows[i].code, "", 0}, DONE};
        const struct turn probe[] = {{"PROBE", rows[i].code, "", 0}, DONE};

        play(put, turns, XD_TASK_FAILED);
        check_failed(rows[i].failure, "(-");
        play(look, probe, XD_TASK_FAILED);
        check_failed(rows[i].failure, "(-");
    }
}
END_TEST

START_TEST(request_that_fails_may_pass_or_not)
{
    static const struct turn may_pass[] = {
        ALLOCATED, {"STORE 0-1000", 0, NULL, XD_VERDICT_AGAIN}, DONE};
    static const struct turn local[] = {
        {"ALLOCATE 2 1 86400 1000", 0, NULL, XD_VERDICT_LOCAL}, DONE};
    static const struct turn gone[] = {
        {"ALLOCATE 2 1 86400 1000", 0, NULL, XD_VERDICT_GONE}, DONE};

    play(put, may_pass, XD_TASK_FAILED);
    check_failed(XD_TASK_MAY_PASS, "broke off");
    ck_assert_uint_eq(result.retry_after, 7 * XD_SECOND);
    ck_assert_str_eq(result.object->manage, MANAGE_OF);
    play(put, local, XD_TASK_FAILED);
    check_failed(XD_TASK_MAY_PASS, "broke off");
    play(put, gone, XD_TASK_FAILED);
    check_failed(XD_TASK_BAD, "broke off");
}
END_TEST

/* ---- lifetimes ---- */

START_TEST(lifetime_is_that_of_the_order_or_of_the_store)
{
    static const struct turn a_day[] = {
        {"ALLOCATE 2 1 86400 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "86400"), 0},
        DONE};
    static const struct turn an_hour[] = {
        {"ALLOCATE 2 1 3600 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "3600"), 0},
        DONE};
    static const struct turn the_most[] = {
        {"ALLOCATE 2 1 2147483647 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "2147483647"), 0},
        DONE};
    static const struct turn gone_by[] = {
        {"ALLOCATE 2 1 1 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "0"), 0},
        DONE};
    struct xd_task_order order = put;

    open_store(DEPOT, DAY);
    play(order, a_day, XD_TASK_DONE);
    order.until = NOW + 3600;
    play(order, an_hour, XD_TASK_DONE);
    order.until = NOW - 1;
    play(order, gone_by, XD_TASK_DONE);
    order.until = INT64_MAX;
    play(order, the_most, XD_TASK_DONE);
}
END_TEST

START_TEST(longest_lifetime_is_taken_where_none_was_asked_for)
{
    static const struct turn turns[] = {
        {"ALLOCATE 2 1 86400 1000", -28, "", 0},
        {"STATUS", 1, "200 0 200 0 3600", 0},
        {"ALLOCATE 2 1 3600 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "3590"), 0},
        DONE};

    play(put, turns, XD_TASK_DONE);
    ck_assert_int_eq(result.object->expires_at, NOW + 3590);
}
END_TEST

START_TEST(limit_is_said_where_a_longer_lifetime_was_asked_for)
{
    static const struct turn turns[] = {
        {"ALLOCATE 2 1 2592000 1000", -28, "", 0},
        {"STATUS", 1, "200 0 200 0 864000", 0},
        DONE};
    struct xd_task_order order = put;

    order.until = NOW + MONTH;
    play(order, turns, XD_TASK_FAILED);
    check_failed(XD_TASK_BEYOND,
                 "keeps objects for 864000 s at most, not for 2592000 s");
    ck_assert_uint_eq(result.limit, 864000);
    open_store(DEPOT, MONTH);
    play(put, turns, XD_TASK_FAILED);
    check_failed(XD_TASK_BEYOND, "864000 s at most");
}
END_TEST

START_TEST(limit_that_is_not_known_is_not_said)
{
    static const struct {
        int64_t code;
        const char *words;
    } rows[] = {{1, "200 0 200 0 -1"},
                {1, "200 0 200 0 0"},
                {-29, ""},
                {1, "151"},
                {1, NULL},
                {-25, "x"},
                {1, "200 0 200 0 86400"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct turn turns[] = {{"ALLOCATE 2 1 86400 1000", -28, "", 0},
                                     {"STATUS", rows[i].code, rows[i].words, 0},
                                     DONE};

        play(put, turns, XD_TASK_FAILED);
        check_failed(XD_TASK_BEYOND, "does not keep objects for 86400 s");
        ck_assert_uint_eq(result.limit, 0);
    }
}
END_TEST

START_TEST(depot_that_refuses_its_own_longest_fails)
{
    static const struct turn turns[] = {{"ALLOCATE 2 1 86400 1000", -28, "", 0},
                                        {"STATUS", 1, "200 0 200 0 3600", 0},
                                        {"ALLOCATE 2 1 3600 1000", -28, "", 0},
                                        {"STATUS", 1, "200 0 200 0 60", 0},
                                        DONE};

    play(put, turns, XD_TASK_FAILED);
    check_failed(XD_TASK_BEYOND, "60 s at most");
}
END_TEST

/* Without a word that it is shorter. */
START_TEST(lifetime_that_was_cut_is_noticed)
{
    static const struct turn cut[] = {
        {"ALLOCATE 2 1 3600 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "3539"), 0},
        DONE};
    static const struct turn near_enough[] = {
        {"ALLOCATE 2 1 3600 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "3540"), 0},
        DONE};

    open_store(DEPOT, 3600);
    play(put, near_enough, XD_TASK_DONE);
    play(put, cut, XD_TASK_FAILED);
    check_failed(XD_TASK_BEYOND, "keeps objects for 3539 s at most");
    ck_assert_uint_eq(result.limit, 3539);
}
END_TEST

/* The time for which its bytes were sent. */
START_TEST(lifetime_is_counted_from_the_allocation)
{
    static const struct turn turns[] = {
        {"ALLOCATE 2 1 3600 1000", 1, GIVEN, 0},
        STORED,
        {"PROBE", 1, STATE("1", "1", "1000", "2600"), 0}};

    open_store(DEPOT, 3600);
    begin(put);
    play_turn(&turns[0]);
    play_turn(&turns[1]);
    now = NOW + 1000;
    play_turn(&turns[2]);
    xd_task_result(task, &result);
    ck_assert_int_eq(result.state, XD_TASK_DONE);
    ck_assert_int_eq(result.object->expires_at, NOW + 3600);
}
END_TEST

/* ---- LOOK, READ ---- */

START_TEST(look_says_size_and_expiry)
{
    static const struct turn turns[] = {
        {"PROBE", 1, STATE("1", "1", "777", "3600"), 0}, DONE};

    play(look, turns, XD_TASK_DONE);
    ck_assert_uint_eq(result.object->size, 777);
    ck_assert_int_eq(result.object->expires_at, NOW + 3600);
    ck_assert_str_eq(result.object->manage, MANAGE_OF);
}
END_TEST

START_TEST(range_is_read)
{
    static const struct turn turns[] = {{"LOAD 90 10", 1, "10", 0}, DONE};

    play((struct xd_task_order){.kind = XD_TASK_READ, .range = {90, 100}},
         turns, XD_TASK_DONE);
    ck_assert_uint_eq(result.n_bytes, 10);
    ck_assert_mem_eq(result.bytes, "0123456789", 10);
}
END_TEST

START_TEST(range_is_neither_empty_nor_long)
{
    struct xd_task_order order = {
        .kind = XD_TASK_READ, .object = &object, .range = {5, 5}};

    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), XD_E_INVAL);
    order.range.end = 5 + 65537;
    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), XD_E_INVAL);
    order.range.end = 5 + 65536;
    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), 0);
}
END_TEST

START_TEST(range_that_comes_short_fails)
{
    static const struct turn turns[] = {{"LOAD 90 11", 1, "10", 0}, DONE};
    static const struct turn none[] = {{"LOAD 90 11", -19, "", 0}, DONE};
    const struct xd_task_order order = {.kind = XD_TASK_READ,
                                        .range = {90, 101}};

    play(order, turns, XD_TASK_FAILED);
    check_failed(XD_TASK_BAD, "sent 10 bytes of 11 at offset 90");
    play(order, none, XD_TASK_FAILED);
    check_failed(XD_TASK_BAD, "(-19)");
}
END_TEST

/* ---- RENEW ---- */

static struct xd_task_order renew_for(int64_t seconds)
{
    return (struct xd_task_order){.kind = XD_TASK_RENEW,
                                  .until = NOW + seconds};
}

START_TEST(lifetime_is_changed_and_looked_at)
{
    static const struct turn turns[] = {
        {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
        {"CHANGE 1000 86400 2", 1, "", 0},
        {"PROBE", 1, STATE("1", "1", "1000", "86400"), 0},
        DONE};
    static const struct turn soft[] = {
        {"PROBE", 1, "1 1 500 5000 60 1 1", 0},
        {"CHANGE 5000 86400 1", 1, "", 0},
        {"PROBE", 1, "1 1 500 5000 86400 1 1", 0},
        DONE};

    play(renew_for(DAY), turns, XD_TASK_DONE);
    ck_assert_int_eq(result.object->expires_at, NOW + DAY);
    play(renew_for(DAY), soft, XD_TASK_DONE);
}
END_TEST

START_TEST(lifetime_is_never_made_shorter)
{
    static const struct turn turns[] = {
        {"PROBE", 1, STATE("1", "1", "1000", "86400"), 0}, DONE};

    play(renew_for(DAY), turns, XD_TASK_DONE);
    ck_assert_int_eq(result.object->expires_at, NOW + DAY);
}
END_TEST

START_TEST(renewal_beyond_the_limit_says_it)
{
    static const int64_t codes[] = {-28, -45};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const struct turn turns[] = {
            {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
            {"CHANGE 1000 86400 2", codes[i], "", 0},
            {"STATUS", 1, "200 0 200 0 3600", 0},
            DONE};

        play(renew_for(DAY), turns, XD_TASK_FAILED);
        check_failed(XD_TASK_BEYOND, "3600 s at most, not for 86400 s");
        ck_assert_uint_eq(result.limit, 3600);
    }
}
END_TEST

START_TEST(renewal_that_was_cut_is_noticed)
{
    static const struct turn turns[] = {
        {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
        {"CHANGE 1000 86400 2", 1, "", 0},
        {"PROBE", 1, STATE("1", "1", "1000", "3600"), 0},
        DONE};

    play(renew_for(DAY), turns, XD_TASK_FAILED);
    check_failed(XD_TASK_BEYOND, "3600 s at most");
}
END_TEST

START_TEST(renewal_for_the_lifetime_of_the_store_does_not_allocate)
{
    static const struct turn turns[] = {
        {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
        {"CHANGE 1000 86400 2", -28, "", 0},
        {"STATUS", 1, "200 0 200 0 3600", 0},
        DONE};

    play((struct xd_task_order){.kind = XD_TASK_RENEW}, turns, XD_TASK_FAILED);
    check_failed(XD_TASK_BEYOND, "3600 s at most");
}
END_TEST

START_TEST(renewal_of_what_is_gone_says_so)
{
    static const struct turn turns[] = {{"PROBE", -4, "", 0}, DONE};

    play(renew_for(DAY), turns, XD_TASK_FAILED);
    check_failed(XD_TASK_ABSENT, "capability not found (-4)");
}
END_TEST

/* ---- DELETE, ABORT ---- */

/* Some depots remove what has no readers, others what has no writers either. */
START_TEST(references_are_taken_until_it_is_gone)
{
    static const struct turn readers[] = {
        {"PROBE", 1, STATE("2", "1", "1000", "60"), 0},
        {"DECREMENT 1", 1, "", 0},
        {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
        {"DECREMENT 1", 1, "", 0},
        {"PROBE", -4, "", 0},
        DONE};
    static const struct turn writers[] = {
        {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
        {"DECREMENT 1", 1, "", 0},
        {"PROBE", 1, STATE("0", "1", "1000", "60"), 0},
        {"DECREMENT 2", 1, "", 0},
        {"PROBE", -48, "", 0},
        DONE};
    static const struct turn none[] = {
        {"PROBE", 1, STATE("0", "0", "1000", "60"), 0}, DONE};
    struct xd_task_order abort_it = delete_it;

    abort_it.kind = XD_TASK_ABORT;
    play(delete_it, readers, XD_TASK_DONE);
    play(delete_it, writers, XD_TASK_DONE);
    play(abort_it, writers, XD_TASK_DONE);
    play(delete_it, none, XD_TASK_DONE);
}
END_TEST

START_TEST(what_is_not_there_is_removed)
{
    static const struct turn turns[] = {{"PROBE", -4, "", 0}, DONE};
    static const struct turn between[] = {
        {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
        {"DECREMENT 1", -4, "", 0},
        DONE};
    static const struct turn nothing[] = {DONE};
    struct xd_object unnamed = {.size = 10};

    play(delete_it, turns, XD_TASK_DONE);
    play(delete_it, between, XD_TASK_DONE);
    play((struct xd_task_order){.kind = XD_TASK_ABORT, .object = &unnamed},
         nothing, XD_TASK_DONE);
}
END_TEST

START_TEST(depot_that_removes_nothing_fails)
{
    static const struct turn probe = {
        "PROBE", 1, STATE("9223372036854775807", "1", "1000", "60"), 0};
    static const struct turn decrement = {"DECREMENT 1", 1, "", 0};

    begin(delete_it);
    for (int i = 0; i < 100; i++) {
        play_turn(&probe);
        play_turn(&decrement);
    }
    play_turn(&probe);
    xd_task_result(task, &result);
    check_failed(XD_TASK_BAD, "has the object still");
}
END_TEST

START_TEST(object_that_is_refused_is_not_removed)
{
    static const struct turn turns[] = {
        {"PROBE", 1, STATE("1", "1", "1000", "60"), 0},
        {"DECREMENT 1", -12, "", 0},
        DONE};

    play(delete_it, turns, XD_TASK_FAILED);
    check_failed(XD_TASK_REFUSED, "denied (-12)");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ibp_store");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, target_is_a_host_and_a_port);
    tcase_add_test(t, only_capabilities_of_the_typed_host_and_port_are_in_it);
    tcase_add_test(t, object_elsewhere_is_not_touched);
    tcase_add_test(t, object_is_allocated_stored_and_looked_at);
    tcase_add_test(t, capabilities_are_at_the_host_that_was_typed);
    tcase_add_test(t, empty_object_has_an_allocation_of_one_byte);
    tcase_add_test(t, depot_that_stops_short_is_sent_the_rest);
    tcase_add_test(t, depot_that_stops_short_for_ever_fails);
    tcase_add_test(t, depot_that_makes_no_sense_fails);
    tcase_add_test(t, depot_that_loses_what_it_took_is_named_with_the_numbers);
    tcase_add_test(t, depot_without_hard_room_is_asked_for_soft);
    tcase_add_test(t, depot_that_is_full_says_so);
    tcase_add_test(t, other_errors_are_told_apart);
    tcase_add_test(t, request_that_fails_may_pass_or_not);
    tcase_add_test(t, lifetime_is_that_of_the_order_or_of_the_store);
    tcase_add_test(t, longest_lifetime_is_taken_where_none_was_asked_for);
    tcase_add_test(t, limit_is_said_where_a_longer_lifetime_was_asked_for);
    tcase_add_test(t, limit_that_is_not_known_is_not_said);
    tcase_add_test(t, depot_that_refuses_its_own_longest_fails);
    tcase_add_test(t, lifetime_that_was_cut_is_noticed);
    tcase_add_test(t, lifetime_is_counted_from_the_allocation);
    tcase_add_test(t, look_says_size_and_expiry);
    tcase_add_test(t, range_is_read);
    tcase_add_test(t, range_is_neither_empty_nor_long);
    tcase_add_test(t, range_that_comes_short_fails);
    tcase_add_test(t, lifetime_is_changed_and_looked_at);
    tcase_add_test(t, lifetime_is_never_made_shorter);
    tcase_add_test(t, renewal_beyond_the_limit_says_it);
    tcase_add_test(t, renewal_that_was_cut_is_noticed);
    tcase_add_test(t, renewal_for_the_lifetime_of_the_store_does_not_allocate);
    tcase_add_test(t, renewal_of_what_is_gone_says_so);
    tcase_add_test(t, references_are_taken_until_it_is_gone);
    tcase_add_test(t, what_is_not_there_is_removed);
    tcase_add_test(t, depot_that_removes_nothing_fails);
    tcase_add_test(t, object_that_is_refused_is_not_removed);
    return run_suite("ibp_store", t);
}

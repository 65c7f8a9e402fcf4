/* SPDX-License-Identifier: MIT */
/*
 * A task of a store (lib/store/store.h) at a depot that is there:
 *
 *     store_task DEPOT put FILE SECONDS         (0: the default)
 *     store_task DEPOT look MANAGE
 *     store_task DEPOT read READ BEGIN END
 *     store_task DEPOT renew MANAGE SECONDS
 *     store_task DEPOT delete MANAGE
 *
 * It prints what became of it, a line for each thing that is known: "failure 5",
 * "limit 3600", "manage ibp://...", and of a range its bytes, after "bytes".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "io/transport.h"
#include "store/store.h"

#define SILENCE (2 * XD_SECOND)

static FILE *file;
static struct xd_url target;
static struct xd_task *task;
static struct xd_call call;

/* The answer. */
static bool has_ended;
static struct xd_outcome outcome;
static struct xd_reply reply;
static char words[8192];
static struct xd_text body;

static int64_t read_file(void *user, unsigned slot, uint64_t at, void *to,
                         size_t len)
{
    (void)user;
    (void)slot;
    if (fseek(file, (long)(call.body.begin + at), SEEK_SET) != 0)
        return XD_E_IO;
    len = fread(to, 1, len, file);
    return len > 0 ? (int64_t)len : XD_E_IO;
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    (void)user;
    (void)slot;
    reply = *head->reply;
    snprintf(words, sizeof words, "%s", reply.words ? reply.words : "");
    reply.words = words;
    return 0;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    (void)user;
    (void)slot;
    xd_text_add(&body, data, len);
    return 0;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *o)
{
    (void)user;
    (void)slot;
    outcome = *o;
    has_ended = true;
}

static const struct xd_transport_handler handler = {
    .head = on_head, .bytes = on_bytes, .end = on_end};

static void make_call(struct xd_transport *t)
{
    struct xd_sending sending = {.method = call.method,
                                 .fields = call.fields,
                                 .length = xd_range_length(call.body),
                                 .read = read_file};
    struct xd_request request = {.url = call.url, .sends = &sending};
    struct xd_answer answer = {.outcome = &outcome, .reply = &reply};
    struct xd_error err;

    has_ended = false;
    xd_text_clear(&body);
    if (xd_transport_start(t, 0, &request, &err) < 0)
        exit(2);
    while (!has_ended)
        xd_transport_poll(t, XD_SECOND);
    answer.body = body.s ? body.s : "";
    answer.body_len = body.len;
    xd_task_answered(task, call.id, &answer);
}

static void print_result(void)
{
    struct xd_task_result r;

    xd_task_result(task, &r);
    if (r.state == XD_TASK_FAILED)
        printf("failure %d\nlimit %" PRIu64 "\nerror %s\n", (int)r.failure,
               r.limit, r.error.msg);
    if (r.object->manage)
        printf("manage %s\n", r.object->manage);
    if (r.object->read)
        printf("read %s\n", r.object->read);
    printf("size %" PRIu64 "\nexpires %" PRId64 "\n", r.object->size,
           r.object->expires_at);
    if (r.bytes) {
        printf("bytes\n");
        fwrite(r.bytes, 1, r.n_bytes, stdout);
    }
}

static void run(struct xd_transport *t)
{
    while (xd_task_next(task, (int64_t)time(NULL), &call))
        make_call(t);
    print_result();
}

static uint64_t number(char **args)
{
    return *args ? strtoull(*args, NULL, 10) : 0;
}

static void set_until(struct xd_task_order *order, uint64_t seconds)
{
    if (seconds > 0)
        order->until = (int64_t)time(NULL) + (int64_t)seconds;
}

static bool read_order(char **args, struct xd_task_order *order,
                       struct xd_object *object)
{
    object->read = object->manage = args[1];
    order->object = object;
    if (strcmp(args[0], "put") == 0) {
        file = fopen(args[1], "rb");
        if (file == NULL || fseek(file, 0, SEEK_END) != 0)
            return false;
        order->kind = XD_TASK_PUT;
        order->size = (uint64_t)ftell(file);
        set_until(order, number(args + 2));
    } else if (strcmp(args[0], "look") == 0) {
        order->kind = XD_TASK_LOOK;
    } else if (strcmp(args[0], "read") == 0) {
        order->kind = XD_TASK_READ;
        order->range.begin = number(args + 2);
        order->range.end = number(args + 3);
    } else if (strcmp(args[0], "renew") == 0) {
        order->kind = XD_TASK_RENEW;
        set_until(order, number(args + 2));
    } else {
        order->kind = XD_TASK_DELETE;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct xd_transport_config transport_config = {.n_slots = 1,
                                                   .silence = SILENCE};
    struct xd_store_config config = {.target = &target};
    struct xd_task_order order = {.kind = XD_TASK_PUT};
    struct xd_object object = {.size = 0};
    struct xd_store *store;
    struct xd_transport *transport;
    struct xd_error err;

    if (argc < 4 || !xd_url_parse(&target, argv[1]) ||
        !read_order(argv + 2, &order, &object) ||
        xd_store_new(&store, &config, &err) < 0 ||
        xd_ibp_new(&transport, &transport_config, &handler, &err) < 0)
        return 2;
    if (xd_task_new(&task, store, &order, &err) < 0)
        printf("error %s\n", err.msg);
    else
        run(transport);
    xd_task_free(task);
    xd_text_fini(&body);
    xd_transport_free(transport);
    xd_store_free(store);
    if (file)
        fclose(file);
    return 0;
}

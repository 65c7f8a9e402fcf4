/* SPDX-License-Identifier: MIT */
#include "via/via_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args/interruptible.h"
#include "common/json.h"
#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"
#include "mesh/node_list.h"
#include "nodes/node_check.h"

/* Longest list of nodes in bytes.  1,024 nodes with the longest possible names
 * need less. */
#define LONGEST_LIST ((size_t)4 << 20)

struct checking {
    const struct args *args;
    struct xd_mesh *mesh;
    struct xd_mesh_check *check;
};

/* ---- the list of nodes ---- */

static int fail_read(const char *path, const char *why)
{
    words_error("%s: %s", path, why);
    return STATUS_LOCAL;
}

static int parse_list(struct checking *c, FILE *from, char *text)
{
    const char *path = c->args->inputs[0];
    const size_t len = fread(text, 1, LONGEST_LIST, from);
    struct xd_error err;

    if (ferror(from))
        return fail_read(path, strerror(errno));
    if (len == LONGEST_LIST)
        return fail_read(path, "too long for a list of nodes");
    if (xd_mesh_parse(&c->mesh, text, len, path, &err) == 0)
        return 0;
    words_error("%s", err.msg);
    return status_of(err.code);
}

static int read_list(struct checking *c)
{
    const char *path = c->args->inputs[0];
    FILE *from = fopen(path, "re");
    char *text = malloc(LONGEST_LIST);
    int status;

    if (from == NULL)
        status = fail_read(path, strerror(errno));
    else if (text == NULL)
        status = fail_read(path, "out of memory");
    else
        status = parse_list(c, from, text);
    if (from != NULL)
        fclose(from);
    free(text);
    return status;
}

/* ---- text ---- */

/* Prints a mark for each test: passed, failed or skipped. */
static void put_tests(const struct checking *c, size_t node)
{
    static const char *const marks[] = {[XD_MESH_SKIPPED] = "-",
                                        [XD_MESH_PASSED] = "ok",
                                        [XD_MESH_FAILED] = "FAILED"};

    for (enum xd_mesh_test t = 0; t < XD_MESH_TESTS; t++)
        printf("  %-*s", (int)strlen(xd_mesh_test_name(t)),
               marks[xd_mesh_check_result(c->check, node, t, NULL)]);
}

static void put_titles(int width)
{
    printf("%-*s", width, "node");
    for (enum xd_mesh_test t = 0; t < XD_MESH_TESTS; t++)
        printf("  %s", xd_mesh_test_name(t));
    printf("  chunks\n");
}

static void put_node(const struct checking *c, size_t i, int width,
                     const struct xd_mesh_check_sum *sum)
{
    struct xd_mesh_checked node;

    (void)xd_mesh_check_node(c->check, i, &node);
    printf("%-*s", width, node.id);
    put_tests(c, i);
    if (node.n_held == XD_SIZE_UNKNOWN)
        puts("  -");
    else
        printf("  %" PRIu64 "/%" PRIu64 "\n", node.n_held, sum->n_asked);
}

/* Prints lines like "b: origins: a server that is no origin is not refused",
 * one for each failed test. */
static void put_reasons(const struct checking *c, size_t i)
{
    const char *words;

    for (enum xd_mesh_test t = 0; t < XD_MESH_TESTS; t++) {
        (void)xd_mesh_check_result(c->check, i, t, &words);
        if (words == NULL)
            continue;
        printf("%s: %s: ", xd_mesh_node_id(c->mesh, i), xd_mesh_test_name(t));
        text_put(stdout, words);
        putchar('\n');
    }
}

static void put_sum(const struct xd_mesh_check_sum *sum)
{
    char size[UNITS_SIZE];

    printf("%zu of %zu %s sound; of %s in %" PRIu64
           " chunks the mesh had %" PRIu64 "%s",
           sum->n_sound, sum->n_nodes, sum->n_nodes == 1 ? "node" : "nodes",
           units_size(size, sum->size), sum->n_chunks, sum->n_held,
           sum->n_asked < sum->n_chunks ? "" : "\n");
    if (sum->n_asked < sum->n_chunks)
        printf(" of the %" PRIu64 " that it was asked for\n", sum->n_asked);
    if (sum->etag == NULL)
        puts("its origin gives the file no strong ETag: only hashes of its "
             "pieces can prove what the mesh delivers");
}

static void put_table(const struct checking *c,
                      const struct xd_mesh_check_sum *sum)
{
    int width = (int)strlen("node");

    for (size_t i = 0; i < sum->n_nodes; i++) {
        const int len = (int)strlen(xd_mesh_node_id(c->mesh, i));
        width = len > width ? len : width;
    }
    put_titles(width);
    for (size_t i = 0; i < sum->n_nodes; i++)
        put_node(c, i, width, sum);
    for (size_t i = 0; i < sum->n_nodes; i++)
        put_reasons(c, i);
    put_sum(sum);
}

/* ---- JSON ---- */

static void put_json_test(struct json *j, const struct checking *c, size_t i,
                          enum xd_mesh_test t)
{
    const char *words;
    const enum xd_mesh_result result =
        xd_mesh_check_result(c->check, i, t, &words);

    json_open_object(j, xd_mesh_test_name(t));
    if (result == XD_MESH_SKIPPED)
        json_null(j, "passed");
    else
        json_bool(j, "passed", result == XD_MESH_PASSED);
    json_string(j, "reason", words);
    json_close_object(j);
}

static void put_json_node(struct json *j, const struct checking *c, size_t i)
{
    struct xd_mesh_checked node;

    (void)xd_mesh_check_node(c->check, i, &node);
    json_open_object(j, NULL);
    json_string(j, "id", node.id);
    json_string(j, "address", node.address);
    json_bool(j, "sound", node.n_failed == 0);
    json_size(j, "chunks_held", node.n_held);
    json_open_object(j, "tests");
    for (enum xd_mesh_test t = 0; t < XD_MESH_TESTS; t++)
        put_json_test(j, c, i, t);
    json_close_object(j);
    json_close_object(j);
}

static void put_json(const struct checking *c,
                     const struct xd_mesh_check_sum *sum)
{
    struct json j;

    json_begin(&j, stdout);
    json_size(&j, "size", sum->size);
    json_string(&j, "etag", sum->etag);
    json_count(&j, "chunks", sum->n_chunks);
    json_count(&j, "chunks_asked", sum->n_asked);
    json_count(&j, "chunks_held", sum->n_held);
    json_count(&j, "sound", sum->n_sound);
    json_open_array(&j, "nodes");
    for (size_t i = 0; i < sum->n_nodes; i++)
        put_json_node(&j, c, i);
    json_close_array(&j);
    json_finish(&j);
}

/* ---- checking ---- */

static int look(void *user, struct xd_error *err)
{
    struct checking *c = user;

    return xd_mesh_check_new(&c->check, c->mesh, c->args->inputs[1],
                             c->args->options, err);
}

static int report(const struct checking *c)
{
    struct xd_mesh_check_sum sum;

    xd_mesh_check_get(c->check, &sum);
    if (c->args->json)
        put_json(c, &sum);
    else if (!c->args->quiet)
        put_table(c, &sum);
    return sum.n_sound == sum.n_nodes ? STATUS_COMPLETE : STATUS_FAILED;
}

int via_check_nodes(const struct args *a)
{
    struct checking c = {.args = a};
    struct xd_error err;
    int status = read_list(&c);

    if (status == 0 && interruptible_run(a, look, &c, &err) < 0)
        status = interruptible_fail(a, &err);
    if (status == 0)
        status = report(&c);
    xd_mesh_check_free(c.check);
    xd_mesh_free(c.mesh);
    return status;
}

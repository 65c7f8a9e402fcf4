/* SPDX-License-Identifier: MIT */
/*
 * Which node holds what of a file, and what it is asked.
 */
#include "engine/via.h"
#include "engine/via_watch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/choice.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/layout.h"
#include "engine/options.h"
#include "engine/source.h"
#include "manifest/model.h"
#include "manifest/parse.h"
#include "suite.h"

#define CHUNK ((uint64_t)64 << 10)
#define N_CHUNKS 16
#define SIZE (N_CHUNKS * CHUNK - 5)
#define ETAG "\"v1\""

static const char nodes[] = "xdownload nodes 1\nchunk 64k\nhops 2\n"
                            "origin http://o.example/\n"
                            "node a http://a.example:1 http://a2.example:1\n"
                            "node b http://b.example:1\n"
                            "node c http://c.example:1\n"
                            "node d http://d.example:1\n";

static const char text[] =
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
    "<file name=\"f\"><size>1048571</size>"
    "<url>http://mirror.example/f</url><url>http://o.example/f</url>"
    "<url>http://o.example/g</url></file></metalink>";

static struct xd_manifest *manifest;
static struct xd_depots depots;
static struct xd_via *via;
static struct xd_error error;

static const struct xd_model_file *file(void)
{
    return &manifest->files[0];
}

static void set_up(void)
{
    const struct xd_choice choice = {0};
    struct xd_via_origin origin;

    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, sizeof text - 1, NULL, &error), 0);
    ck_assert_int_eq(xd_depots_init(&depots, manifest, 0, &choice, &error), 0);
    via = xd_alloc(1, sizeof *via);
    ck_assert_int_eq(
        xd_mesh_parse(&via->mesh, nodes, sizeof nodes - 1, "nodes", &error), 0);
    via->copies = 2;
    via->n_depots = 5;
    via->depots = xd_alloc(5, sizeof(struct xd_depot *));
    depots.via = via;
    ck_assert(xd_via_find(via, file(), &file()->extents[0], &origin));
    ck_assert_int_eq(
        xd_via_add(&depots, (struct xd_range){0, SIZE}, &origin, ETAG, false),
        0);
}

static void tear_down(void)
{
    xd_depots_fini(&depots);
    xd_via_free(via);
    xd_manifest_unref(manifest);
}

static unsigned first_of(size_t chunk)
{
    return via->files[0]->owners[chunk * via->copies];
}

START_TEST(first_replica_at_an_origin_is_asked_by_the_nodes)
{
    const struct xd_via_file *f = via->files[0];

    ck_assert_str_eq(xd_url_secret_text(&f->in->urls[f->place]),
                     "http://o.example/f");
    ck_assert_uint_eq(f->n_chunks, N_CHUNKS);
    ck_assert_uint_eq(depots.n, 2 + 5);
    ck_assert_str_eq(via->depots[0]->host, "via a (a.example:1)");
    ck_assert_str_eq(via->depots[1]->host, "via a (a2.example:1)");
    ck_assert(via->depots[1]->is_other_address);
    ck_assert_str_eq(xd_url_secret_text(xd_source_url(xd_depot_source(
                         via->depots[2], (struct xd_range){0, SIZE}))),
                     "http://b.example:1/http/o.example/f");
}
END_TEST

START_TEST(each_chunk_has_as_many_owners_as_there_are_copies)
{
    size_t n[4] = {0};

    for (size_t i = 0; i < N_CHUNKS; i++) {
        unsigned owners = 0;

        for (size_t k = 0; k < via->n_depots; k++) {
            const uint8_t tier =
                xd_via_tier(via, via->files[0], i, via->depots[k]);

            owners += tier == XD_TIER_OWNER;
            n[via->depots[k]->node] += tier == XD_TIER_OWNER;
            if (via->depots[k]->is_other_address)
                ck_assert_uint_eq(tier, XD_TIER_NODE);
        }
        ck_assert_uint_ge(owners, 1); /* of one only its other address is */
        ck_assert_uint_le(owners, 2);
    }
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_gt(n[i], 0);
}
END_TEST

START_TEST(last_chunk_is_as_long_as_the_file)
{
    const struct xd_range last = xd_via_chunk(via, via->files[0], N_CHUNKS - 1);

    ck_assert_uint_eq(last.begin, (N_CHUNKS - 1) * CHUNK);
    ck_assert_uint_eq(last.end, SIZE);
}
END_TEST

START_TEST(layout_has_the_edges_of_chunks_and_direct_sources_behind_nodes)
{
    struct xd_layout layout;

    ck_assert_int_eq(
        xd_depots_layout(&depots, (struct xd_range){0, SIZE}, &layout, &error),
        0);
    ck_assert_uint_eq(layout.n_cuts, N_CHUNKS - 1);
    for (size_t i = 0; i < layout.n_cuts; i++)
        ck_assert_uint_eq(layout.cuts[i], (i + 1) * CHUNK);
    for (size_t i = 0; i < layout.n_depots; i++) {
        const struct xd_holding *h = &layout.depots[i];
        uint64_t at = 0;

        for (size_t k = 0; k < h->n_held; k++) {
            ck_assert_uint_eq(h->held[k].begin, at);
            at = h->held[k].end;
            if (k > 0)
                ck_assert_uint_ne(h->tiers[k], h->tiers[k - 1]);
            ck_assert(depots.list[i]->node_id ? h->tiers[k] < XD_TIER_DIRECT
                                              : h->tiers[k] == XD_TIER_DIRECT);
        }
        ck_assert_uint_eq(at, SIZE);
    }
    xd_layout_fini(&layout);
}
END_TEST

START_TEST(without_a_node_that_may_be_asked_there_are_no_chunks)
{
    struct xd_layout layout;

    for (size_t i = 0; i < via->n_depots; i++)
        xd_depot_drop_sources(via->depots[i]);
    ck_assert_int_eq(
        xd_depots_layout(&depots, (struct xd_range){0, SIZE}, &layout, &error),
        0);
    ck_assert_uint_eq(layout.n_cuts, 0);
    xd_layout_fini(&layout);
}
END_TEST

START_TEST(request_names_the_version_and_the_first_node_that_lives)
{
    char fields[XD_VIA_FIELDS], wanted[XD_VIA_FIELDS];
    const uint32_t *owners = &via->files[0]->owners[3 * via->copies];

    xd_via_fields(&depots, via->files[0], 3 * CHUNK + 7, fields);
    snprintf(wanted, sizeof wanted, "Xd-Match: " ETAG "\nXd-Owner: %s\n",
             via->mesh->nodes[first_of(3)].id);
    ck_assert_str_eq(fields, wanted);
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node == owners[0])
            via->depots[i]->state = XD_DEPOT_PAUSED;
    xd_via_fields(&depots, via->files[0], 3 * CHUNK, fields);
    snprintf(wanted, sizeof wanted, "Xd-Match: " ETAG "\nXd-Owner: %s\n",
             via->mesh->nodes[owners[1]].id);
    ck_assert_str_eq(fields, wanted);
    for (size_t i = 0; i < via->n_depots; i++)
        via->depots[i]->is_banned = true;
    xd_via_fields(&depots, via->files[0], 3 * CHUNK, fields);
    snprintf(wanted, sizeof wanted, "Xd-Match: " ETAG "\nXd-Owner: %s\n",
             via->mesh->nodes[owners[0]].id);
    ck_assert_str_eq(fields, wanted);
}
END_TEST

START_TEST(node_that_misleads_others_is_named_to_none)
{
    const struct xd_via_file *f = via->files[0];
    const uint32_t *owners = &f->owners[3 * via->copies];
    char fields[XD_VIA_FIELDS], wanted[XD_VIA_FIELDS];

    ck_assert_uint_eq(xd_via_named(via, f, 3 * CHUNK + 1), owners[0]);
    via->misleads[owners[0]] = true;
    ck_assert_uint_eq(xd_via_named(via, f, 3 * CHUNK + 1), owners[0]);
    xd_via_fields(&depots, f, 4 * CHUNK - 1, fields);
    ck_assert_uint_eq(xd_via_named(via, f, 3 * CHUNK + 1), owners[1]);
    snprintf(wanted, sizeof wanted,
             "Xd-Match: " ETAG "\nXd-Owner: %s\nXd-Instead: %s\n",
             via->mesh->nodes[owners[1]].id, via->mesh->nodes[owners[0]].id);
    ck_assert_str_eq(fields, wanted);
    via->misleads[owners[1]] = true;
    xd_via_fields(&depots, f, 3 * CHUNK, fields);
    ck_assert_uint_ne(xd_via_named(via, f, 3 * CHUNK), owners[0]);
    ck_assert_uint_ne(xd_via_named(via, f, 3 * CHUNK), owners[1]);
}
END_TEST

static const unsigned waited_for[] = {2, 2, 2, 2};

/* Each was asked for ten seconds. */
static void note_rates(const double *rates)
{
    for (size_t i = 0; i < via->n_depots; i++) {
        via->depots[i]->busy_time = 10 * XD_SECOND;
        via->depots[i]->bytes_received =
            (uint64_t)(10 * rates[via->depots[i]->node]);
    }
    xd_via_note_avoided(via, waited_for, XD_SECOND);
}

/* Of each address of the node; NULL: nothing. */
static void assert_says(size_t node, const char *what)
{
    for (size_t i = 0; i < via->n_depots; i++) {
        if (via->depots[i]->node != node)
            continue;
        if (!what)
            ck_assert_ptr_null(via->depots[i]->avoided_why);
        else
            ck_assert_str_eq(xd_kept_error_get(via->depots[i]->avoided_why).msg,
                             what);
    }
}

START_TEST(node_that_is_far_slower_than_the_others_is_named_to_none)
{
    const struct xd_via_file *f = via->files[0];
    const uint32_t *owners = &f->owners[3 * via->copies];
    double rates[] = {1e6, 1e6, 1e6, 1e6};
    char fields[XD_VIA_FIELDS];

    rates[owners[0]] = 0.26e6;
    note_rates(rates);
    xd_via_fields(&depots, f, 3 * CHUNK, fields);
    ck_assert_uint_eq(xd_via_named(via, f, 3 * CHUNK), owners[0]);
    assert_says(owners[0], NULL);
    rates[owners[0]] = 0.24e6;
    note_rates(rates);
    xd_via_fields(&depots, f, 3 * CHUNK, fields);
    ck_assert_uint_eq(xd_via_named(via, f, 3 * CHUNK), owners[1]);
    ck_assert_ptr_nonnull(strstr(fields, "Xd-Instead"));
    assert_says(owners[0], "delivers 234.4 KiB/s, and half of the nodes 976.6 "
                           "KiB/s or more: other nodes are not sent to it");
    rates[owners[0]] = 0.1e6;
    note_rates(rates); /* it is said once */
    assert_says(owners[0], "delivers 234.4 KiB/s, and half of the nodes 976.6 "
                           "KiB/s or more: other nodes are not sent to it");
    assert_says(owners[1], NULL);
}
END_TEST

START_TEST(node_that_hangs_while_another_sends_is_named_to_none)
{
    const xd_usec now = 100 * XD_SECOND;

    for (size_t i = 0; i < via->n_depots; i++) {
        via->depots[i]->lanes_busy = 1;
        via->depots[i]->bytes_received = UINT64_C(2) << 20;
        via->depots[i]->busy_since = now - 2 * XD_SECOND;
        via->depots[i]->last_byte_at = now - XD_SECOND;
    }
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node == 2)
            via->depots[i]->last_byte_at = now - 2 * XD_SECOND;
    xd_via_note_avoided(via, waited_for, now);
    ck_assert(!via->avoids[2]); /* all are silent */
    via->depots[0]->last_byte_at = now;
    xd_via_note_avoided(via, waited_for, now);
    ck_assert(!via->avoids[2]); /* most are */
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node != 2)
            via->depots[i]->last_byte_at = now;
    xd_via_note_avoided(via, (const unsigned[]){2, 2, 1, 2}, now);
    ck_assert(!via->avoids[2]); /* one node waits */
    xd_via_note_avoided(via, waited_for, now);
    ck_assert(via->avoids[2] && !via->avoids[0] && !via->avoids[1]);
    assert_says(2, "sent nothing for 2.0 s, while other nodes waited for it");
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node == 2)
            via->depots[i]->lanes_busy = 0;
    xd_via_note_avoided(via, waited_for, now + 1);
    ck_assert(via->avoids[2]); /* until it sends something */
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node == 2)
            via->depots[i]->last_byte_at = now + 2;
    xd_via_note_avoided(via, waited_for, now + 3);
    ck_assert(!via->avoids[2]);
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node == 2) {
            via->depots[i]->lanes_busy = 1;
            via->depots[i]->busy_since = now - XD_SECOND;
            via->depots[i]->last_byte_at = now - 9 * XD_SECOND;
        } else {
            via->depots[i]->last_byte_at = now + XD_SECOND;
        }
    xd_via_note_avoided(via, waited_for, now);
    ck_assert(!via->avoids[2]); /* it was not asked for long */
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node == 2)
            via->depots[i]->lanes_busy = 0;
    xd_via_note_avoided(via, waited_for, now + XD_SECOND);
    ck_assert(!via->avoids[2]); /* or is not at all */
}
END_TEST

START_TEST(a_short_time_and_few_nodes_say_nothing_of_rates)
{
    const double rates[] = {1, 1e6, 1e6, 1e6};

    note_rates((const double[]){1e6, 1e6, 1e6, 1e6});
    for (size_t i = 0; i < via->n_depots; i++)
        if (via->depots[i]->node == 0) {
            via->depots[i]->busy_time = 9 * XD_SECOND;
            via->depots[i]->bytes_received = 1;
        }
    xd_via_note_avoided(via, waited_for, XD_SECOND);
    ck_assert(!via->avoids[0]);
    note_rates(rates);
    ck_assert(via->avoids[0] && !via->avoids[1]);
}
END_TEST

START_TEST(node_is_no_witness_beside_its_origin)
{
    const struct xd_depot *origin = xd_via_origin(&depots);

    ck_assert_str_eq(origin->host, "o.example");
    for (unsigned i = 0; i < depots.n; i++)
        ck_assert_uint_eq(xd_via_witness(&depots, i),
                          depots.list[i]->node_id ? origin->number : i);
}
END_TEST

START_TEST(credentials_of_its_server_keep_a_file_from_the_mesh)
{
    struct xd_options *o;
    struct xd_url url;

    xd_url_parse(&url, "http://o.example/f");
    ck_assert_int_eq(xd_options_new(&o, &error), 0);
    ck_assert_int_eq(xd_options_set(o, "header", "X-Any: 1", &error), 0);
    ck_assert_int_eq(xd_options_set(o, "auth-host", "o.example", &error), 0);
    ck_assert_ptr_null(xd_via_refuses(o, &url));
    ck_assert_int_eq(xd_options_set(o, "header", "Cookie: 1", &error), 0);
    ck_assert_ptr_nonnull(xd_via_refuses(o, &url));
    xd_url_parse(&url, "http://other.example/f");
    ck_assert_ptr_null(xd_via_refuses(o, &url));
    xd_options_free(o);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("via");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, first_replica_at_an_origin_is_asked_by_the_nodes);
    tcase_add_test(tcase, each_chunk_has_as_many_owners_as_there_are_copies);
    tcase_add_test(tcase, last_chunk_is_as_long_as_the_file);
    tcase_add_test(
        tcase, layout_has_the_edges_of_chunks_and_direct_sources_behind_nodes);
    tcase_add_test(tcase, without_a_node_that_may_be_asked_there_are_no_chunks);
    tcase_add_test(tcase,
                   request_names_the_version_and_the_first_node_that_lives);
    tcase_add_test(tcase, node_that_misleads_others_is_named_to_none);
    tcase_add_test(tcase,
                   node_that_is_far_slower_than_the_others_is_named_to_none);
    tcase_add_test(tcase, node_that_hangs_while_another_sends_is_named_to_none);
    tcase_add_test(tcase, a_short_time_and_few_nodes_say_nothing_of_rates);
    tcase_add_test(tcase, node_is_no_witness_beside_its_origin);
    tcase_add_test(tcase, credentials_of_its_server_keep_a_file_from_the_mesh);
    return run_suite("via", tcase);
}

/* SPDX-License-Identifier: MIT */
/* Audits, and manifests for copies that exist, when something runs out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xdpublish/audit.h>
#include <xdpublish/make.h>

#include "io/hash.h"
#include "io/mock_server.h"
#include "suite.h"
#include "torture.h"

#define SIZE 100

/* Its last byte shows that the depot sends ranges; then come all. */
static const struct mock_step good[] = {
    SAY("HTTP/1.1 206 Partial Content\r\nETag: \"one\"\r\n"
        "Content-Range: bytes 99-99/100\r\nContent-Length: 1\r\n\r\n"),
    BODY(99, 1),
    NEXT,
    SAY("HTTP/1.1 206 Partial Content\r\nETag: \"one\"\r\n"
        "Content-Range: bytes 0-99/100\r\nContent-Length: 100\r\n\r\n"),
    BODY(0, SIZE),
    END};

/* The same of a file of which the size is not known before. */
static const struct mock_step unknown[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-1/100\r\nContent-Length: 2\r\n\r\n"),
    BODY(0, 2),
    NEXT,
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 99-99/100\r\nContent-Length: 1\r\n\r\n"),
    BODY(99, 1),
    NEXT,
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-99/100\r\nContent-Length: 100\r\n\r\n"),
    BODY(0, SIZE),
    END};

static char folder[SUITE_FOLDER], path[64];
static struct mock_server *servers[2];
static const char *urls[2];
static struct xd_options *options;
static struct xd_error error;

static void ignore_line(void *user, enum xd_log_level level, const char *line)
{
    (void)user, (void)level, (void)line;
}

static void setup(void)
{
    FILE *f;

    setenv("NO_PROXY", "*", 1);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/original", folder);
    f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    for (uint64_t i = 0; i < SIZE; i++)
        fputc(mock_byte(i), f);
    fclose(f);
    ck_assert_int_eq(xd_options_new(&options, NULL), 0);
    xd_options_set_log(options, ignore_line, NULL);
}

static void teardown(void)
{
    xd_options_free(options);
    unlink(path);
    rmdir(folder);
}

static void begin(const struct mock_step *script)
{
    for (size_t i = 0; i < 2; i++) {
        servers[i] = mock_start(script);
        urls[i] = mock_url(servers[i]);
    }
    error = (struct xd_error){.code = XD_OK};
}

static void end(void)
{
    mock_stop(servers[0]);
    mock_stop(servers[1]);
}

static void assert_sound(const struct xd_audit *audit)
{
    struct xd_audit_sum sum = {.struct_size = sizeof sum};

    xd_audit_get(audit, &sum);
    ck_assert_uint_eq(sum.n_usable, 2);
    ck_assert_uint_eq(sum.size, SIZE);
    ck_assert_uint_eq(sum.bytes_with_one + sum.bytes_with_none, 0);
}

static int audit(void)
{
    const struct xd_audit_options what = {.struct_size = sizeof what,
                                          .is_full = true};
    struct xd_manifest *list;
    struct xd_audit *made;
    int rc;

    begin(good);
    ck_assert_int_eq(xd_manifest_from_urls(&list, urls, 2, SIZE, NULL), 0);
    torture_begin();
    rc = xd_audit_new(&made, list, 0, &what, options, &error);
    torture_end();
    ck_assert((rc == 0) == (made != NULL));
    ck_assert_int_eq(rc, error.code);
    if (rc == 0)
        assert_sound(made);
    xd_audit_free(made);
    xd_manifest_unref(list);
    end();
    return rc;
}

START_TEST(an_audit_that_lacks_something_has_no_verdict)
{
    torture(audit);
}
END_TEST

#define VALUE(name, value) "<e:metadata name='" name "'>" value "</e:metadata>"
#define META(name, content) \
    "<e:metadata name='" name "' type='meta'>" content "</e:metadata>"

/* Of one shard of data, whose parity is the same bytes. */
static const char coded[] =
    "<exnode xmlns:e='http://loci.cs.utk.edu/exnode'>" META(
        "parity",
        META(
            "stripe.0",
            VALUE("code", "reed-solomon") VALUE("polynomial", "0x11d")
                VALUE("matrix", "cauchy") VALUE("k", "1") VALUE("n", "2") VALUE(
                    "shard_length", "100") VALUE("exnode_offset", "0")
                    VALUE("logical_length", "100") META(
                        "shard.1",
                        VALUE("sha256", "%s") META(
                            "replica.0",
                            VALUE("read",
                                  "%s"))))) "<e:mapping>" VALUE("exnode_offset",
                                                                "0")
        VALUE("logical_length",
              "100") "<e:read>%s</e:read></e:mapping></exnode>";

static struct xd_manifest *make_coded(void)
{
    char text[sizeof coded + 400], hex[XD_HASH_HEX_MAX + 1];
    struct xd_hasher *hasher;
    struct xd_manifest *m;
    unsigned char bytes[SIZE];

    for (uint64_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)mock_byte(i);
    ck_assert_int_eq(xd_hasher_new(&hasher, "sha-256", NULL), 0);
    xd_hasher_add(hasher, bytes, SIZE);
    xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
    snprintf(text, sizeof text, coded, hex, urls[1], urls[0]);
    ck_assert_int_eq(xd_manifest_parse(&m, text, strlen(text), NULL, &error),
                     0);
    return m;
}

static int audit_coded(void)
{
    const struct xd_audit_options what = {.struct_size = sizeof what,
                                          .is_full = true};
    struct xd_audited_stripe stripe = {.struct_size = sizeof stripe};
    struct xd_manifest *m;
    struct xd_audit *made;
    int rc;

    begin(good);
    m = make_coded();
    torture_begin();
    rc = xd_audit_new(&made, m, 0, &what, options, &error);
    torture_end();
    ck_assert((rc == 0) == (made != NULL));
    ck_assert_int_eq(rc, error.code);
    if (rc == 0) {
        assert_sound(made);
        ck_assert_int_eq(xd_audit_stripe(made, 0, &stripe), 0);
        ck_assert_uint_eq(stripe.n_good, 2);
        ck_assert_int_eq(stripe.n_losses, 1);
    }
    xd_audit_free(made);
    xd_manifest_unref(m);
    end();
    return rc;
}

START_TEST(an_audit_of_parity_that_lacks_something_has_no_verdict)
{
    torture(audit_coded);
}
END_TEST

static int make(const struct xd_make_options *what)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_manifest *made;
    int rc;

    torture_begin();
    rc = xd_manifest_make(&made, urls, 2, what, options, &error);
    torture_end();
    ck_assert((rc == 0) == (made != NULL));
    ck_assert_int_eq(rc, error.code);
    if (rc == 0) {
        ck_assert_int_eq(xd_manifest_file(made, 0, &file), 0);
        ck_assert_int_eq(xd_manifest_extent(made, 0, 0, &extent), 0);
        ck_assert_uint_eq(file.size, SIZE);
        ck_assert_uint_eq(file.n_hashes, 1);
        ck_assert_uint_eq(extent.n_replicas, 2);
    }
    xd_manifest_unref(made);
    return rc;
}

static int make_of_file(void)
{
    const struct xd_make_options what = {.struct_size = sizeof what,
                                         .path = path};
    int rc;

    begin(good);
    rc = make(&what);
    end();
    return rc;
}

static int make_of_depots(void)
{
    const struct xd_make_options what = {.struct_size = sizeof what};
    int rc;

    begin(unknown);
    rc = make(&what);
    end();
    return rc;
}

START_TEST(a_manifest_that_lacks_something_is_none)
{
    torture(make_of_file);
    torture(make_of_depots);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("torture.audit");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 600);
    tcase_add_test(t, an_audit_that_lacks_something_has_no_verdict);
    tcase_add_test(t, an_audit_of_parity_that_lacks_something_has_no_verdict);
    tcase_add_test(t, a_manifest_that_lacks_something_is_none);
    return run_suite("torture.audit", t);
}

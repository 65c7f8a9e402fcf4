/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "io/hash.h"
#include "store/sigv4.h"
#include "suite.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define WELCOME \
    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
#define TOKEN "Fwo/GXIvYXdzE+=="

/* Of the test suite of Signature Version 4, and of the examples in "Signature
 * Calculations for the Authorization Header" of the S3 API reference. */
#define SUITE_TIME 1440938160 /* 2015-08-30 12:36:00 */
#define S3_TIME 1369353600    /* 2013-05-24 00:00:00 */
/* Of what botocore 1.x has computed. */
#define BOTO_TIME 1795543200 /* 2026-11-24 18:00:00 */

static const struct xd_sigv4_signer suite_signer = {
    "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", NULL,
    "us-east-1", "service"};
static const struct xd_sigv4_signer s3_signer = {
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL,
    "us-east-1", "s3"};
static const struct xd_sigv4_signer boto_signer = {
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL,
    "eu-west-3", "s3"};
static const struct xd_sigv4_signer temporary_signer = {
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", TOKEN,
    "eu-west-3", "s3"};

static char line[65];

/* The signature, which stands last. */
static const char *signature_of(const struct xd_text *t)
{
    const char *at = strstr(t->s, "ignature=");

    ck_assert_ptr_nonnull(at);
    snprintf(line, sizeof line, "%s", at + strlen("ignature="));
    return line;
}

static const struct published {
    const struct xd_sigv4_signer *signer;
    int64_t at;
    const char *method, *host, *path;
    struct xd_sigv4_pair query[2], headers[3];
    const char *payload, *signed_headers, *signature;
} published[] = {
    {&suite_signer,
     SUITE_TIME,
     "GET",
     "example.amazonaws.com",
     "/",
     {{NULL, NULL}},
     {{NULL, NULL}},
     EMPTY,
     "host;x-amz-date",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {&suite_signer,
     SUITE_TIME,
     "GET",
     "example.amazonaws.com",
     "/",
     {{"Param2", "value2"}, {"Param1", "value1"}},
     {{NULL, NULL}},
     EMPTY,
     "host;x-amz-date",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {&suite_signer,
     SUITE_TIME,
     "POST",
     "example.amazonaws.com",
     "/",
     {{NULL, NULL}},
     {{NULL, NULL}},
     EMPTY,
     "host;x-amz-date",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {&s3_signer,
     S3_TIME,
     "GET",
     "examplebucket.s3.amazonaws.com",
     "/test.txt",
     {{NULL, NULL}},
     {{"range", "bytes=0-9"}, {"x-amz-content-sha256", EMPTY}},
     EMPTY,
     "host;range;x-amz-content-sha256;x-amz-date",
     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
    {&s3_signer,
     S3_TIME,
     "PUT",
     "examplebucket.s3.amazonaws.com",
     "/test%24file.text",
     {{NULL, NULL}},
     {{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
      {"x-amz-content-sha256", WELCOME},
      {"date", "Fri, 24 May 2013 00:00:00 GMT"}},
     WELCOME,
     "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
    {&s3_signer,
     S3_TIME,
     "GET",
     "examplebucket.s3.amazonaws.com",
     "/",
     {{"lifecycle", ""}},
     {{"x-amz-content-sha256", EMPTY}},
     EMPTY,
     "host;x-amz-content-sha256;x-amz-date",
     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    {&s3_signer,
     S3_TIME,
     "GET",
     "examplebucket.s3.amazonaws.com",
     "/",
     {{"prefix", "J"}, {"max-keys", "2"}},
     {{"x-amz-content-sha256", EMPTY}},
     EMPTY,
     "host;x-amz-content-sha256;x-amz-date",
     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
    {&boto_signer,
     BOTO_TIME,
     "PUT",
     "h.example:8443",
     "/bucket/k",
     {{"uploadId", "a/b+c= d"}, {"partNumber", "7"}},
     {{"x-amz-content-sha256", WELCOME}},
     WELCOME,
     "host;x-amz-content-sha256;x-amz-date",
     "78139374d8f1af18455a331613a1ca3c9d5925fd12549d81705efc29fef1dac2"},
    {&boto_signer,
     BOTO_TIME,
     "POST",
     "h.example:8443",
     "/bucket/k",
     {{"uploads", ""}},
     {{"content-type", "application/octet-stream"},
      {"x-amz-content-sha256", EMPTY}},
     EMPTY,
     "content-type;host;x-amz-content-sha256;x-amz-date",
     "6316085088fd90f36fec396ae975a931072a73e783c23659f04a4899dbe1c9d6"},
};

static size_t count_of(const struct xd_sigv4_pair *pairs, size_t most)
{
    size_t n = 0;

    while (n < most && pairs[n].name)
        n++;
    return n;
}

START_TEST(published_requests_have_their_published_signatures)
{
    const struct published *row = &published[_i];
    struct xd_sigv4_request r = {
        .method = row->method,
        .host = row->host,
        .path = row->path,
        .query = row->query,
        .n_query = count_of(row->query, N_OF(row->query)),
        .headers = row->headers,
        .n_headers = count_of(row->headers, N_OF(row->headers)),
        .payload = row->payload};
    struct xd_text out = {.s = NULL};
    char names[100];

    ck_assert_int_eq(xd_sigv4_sign(&out, row->signer, &r, row->at), 0);
    ck_assert_str_eq(signature_of(&out), row->signature);
    snprintf(names, sizeof names, " SignedHeaders=%s, ", row->signed_headers);
    ck_assert_ptr_nonnull(strstr(out.s, names));
    ck_assert_ptr_null(strstr(out.s, "host:"));
    ck_assert_ptr_null(strstr(out.s, "SECRET"));
    xd_text_fini(&out);
}
END_TEST

/* Keys as people have them, with a port and without, with a session token and
 * without. */
static const struct odd {
    const char *host, *key;
    bool is_temporary;
    const char *path, *signature;
} odd[] = {
    {"127.0.0.1:9000", "a b+c%d~e", false, "/bucket/a%20b%2Bc%25d~e",
     "33a02f64192b1eac917cb294c55e6a0b90be1c74a87c3fc0acd8a4b0d0ce2ab6"},
    {"127.0.0.1:9000", "\303\274mlaut/\346\274\242\345\255\227", true,
     "/bucket/%C3%BCmlaut/%E6%BC%A2%E5%AD%97",
     "1e5c9e81af1a8b34382a575f10dd62af1abc4770673baf174c8090db6cb3400f"},
    {"127.0.0.1:9000", "//two//", false, "/bucket///two//",
     "3bf35615309d49c4d65263bfc52182badcb811f2f2ac5efc8ae84d5e3fb8f944"},
    {"127.0.0.1:9000", "a/b.c-d_e", true, "/bucket/a/b.c-d_e",
     "70b3791aebcdb5b4a2d82280c68711116f58c243289ba3b0b5207593215b9d86"},
    {"127.0.0.1:9000", "(x)!*'@:&=,;$?#[]", false,
     "/bucket/%28x%29%21%2A%27%40%3A%26%3D%2C%3B%24%3F%23%5B%5D",
     "90980bc9ef517aba0e9dfe9ee965450ec8b665651fd3eb00c58d91191fdbb4d8"},
    {"127.0.0.1:9000", "..a/b..", true, "/bucket/..a/b..",
     "dba755199107d5e9be115a22656cfb7760d8d3fb6b20b6324268b1052d31085a"},
    {"s3.example", "a b+c%d~e", false, "/bucket/a%20b%2Bc%25d~e",
     "30029eaa73765b36a57bc5c437cea1b276f0a23eeecd1bcc58bfc1f21d06e935"},
    {"s3.example", "\303\274mlaut/\346\274\242\345\255\227", true,
     "/bucket/%C3%BCmlaut/%E6%BC%A2%E5%AD%97",
     "b64f72510364255dac7356a9449c9a4da5142f8eb8f704b323c06788d8e147c2"},
    {"s3.example", "//two//", false, "/bucket///two//",
     "057be18601903efcb08217712a61252d1adac03366fafa75e8e01df9e9742250"},
    {"s3.example", "a/b.c-d_e", true, "/bucket/a/b.c-d_e",
     "519a5848224b8f3dd4518258168330f70816787cfdaed6af2a1ee2402fd65e05"},
    {"s3.example", "(x)!*'@:&=,;$?#[]", false,
     "/bucket/%28x%29%21%2A%27%40%3A%26%3D%2C%3B%24%3F%23%5B%5D",
     "790d1f759e37a641e370aa56b5a5ea78750a3cfd06b81afcce0be22c811d84bb"},
    {"s3.example", "..a/b..", true, "/bucket/..a/b..",
     "67b40dc7eb11c04b640362060829164318e12113e24830e852e39f07e2405785"},
};

START_TEST(odd_keys_are_encoded_once)
{
    const struct odd *row = &odd[_i];
    const struct xd_sigv4_pair headers[] = {{"x-amz-content-sha256", WELCOME}};
    struct xd_sigv4_request r = {.method = "PUT",
                                 .host = row->host,
                                 .headers = headers,
                                 .n_headers = 1,
                                 .payload = WELCOME};
    struct xd_text out = {.s = NULL}, path = {.s = NULL};

    xd_text_addf(&path, "/bucket/");
    xd_sigv4_encode(&path, xd_span_of(row->key), true);
    ck_assert_str_eq(path.s, row->path);
    r.path = path.s;
    ck_assert_int_eq(
        xd_sigv4_sign(&out,
                      row->is_temporary ? &temporary_signer : &boto_signer, &r,
                      BOTO_TIME),
        0);
    ck_assert_str_eq(signature_of(&out), row->signature);
    ck_assert_int_eq(strstr(out.s, "x-amz-security-token: " TOKEN "\n") != NULL,
                     row->is_temporary);
    xd_text_fini(&path);
    xd_text_fini(&out);
}
END_TEST

/* "Authenticating Requests: Using Query Parameters", and of botocore. */
static const struct presigned {
    const struct xd_sigv4_signer *signer;
    int64_t at;
    uint64_t seconds;
    const char *host, *path, *query;
} presigned[] = {
    {&s3_signer, S3_TIME, 86400, "examplebucket.s3.amazonaws.com", "/test.txt",
     "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE"
     "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
     "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
     "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"},
    {&boto_signer, BOTO_TIME, 604800, "127.0.0.1:9000",
     "/bucket/a%20b%2Bc%25d~e",
     "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE"
     "%2F20261124%2Feu-west-3%2Fs3%2Faws4_request&X-Amz-Date=20261124T180000Z"
     "&X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature="
     "b213d30d7e9ed7fe398e14bdea88ad48d3918d949d9a21191e2e2fffcdf24376"},
    {&temporary_signer, BOTO_TIME, 604800, "127.0.0.1:9000",
     "/bucket/a%20b%2Bc%25d~e",
     "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE"
     "%2F20261124%2Feu-west-3%2Fs3%2Faws4_request&X-Amz-Date=20261124T180000Z"
     "&X-Amz-Expires=604800&X-Amz-Security-Token=Fwo%2FGXIvYXdzE%2B%3D%3D"
     "&X-Amz-SignedHeaders=host&X-Amz-Signature="
     "d5add236749b8228fdbc8df24ce4feab02f5175e284e54110446a4f420da715c"},
};

START_TEST(a_presigned_query_is_that_of_the_documents)
{
    const struct presigned *row = &presigned[_i];
    const struct xd_sigv4_request r = {.method = "GET",
                                       .host = row->host,
                                       .path = row->path,
                                       .payload = XD_SIGV4_UNSIGNED};
    struct xd_text out = {.s = NULL};

    ck_assert_int_eq(
        xd_sigv4_presign(&out, row->signer, &r, row->at, row->seconds), 0);
    ck_assert_str_eq(out.s, row->query);
    xd_text_fini(&out);
}
END_TEST

START_TEST(a_query_is_sent_as_it_is_signed)
{
    const struct xd_sigv4_pair query[] = {{"uploadId", "a/b+c= d"},
                                          {"partNumber", "7"}};
    const struct xd_sigv4_request r = {.query = query, .n_query = 2};
    struct xd_text out = {.s = NULL};

    xd_sigv4_query(&out, &r);
    ck_assert_str_eq(out.s, "partNumber=7&uploadId=a%2Fb%2Bc%3D%20d");
    xd_text_fini(&out);
}
END_TEST

START_TEST(a_clock_beyond_all_years_is_no_crash)
{
    const struct xd_sigv4_request r = {
        .method = "GET", .host = "h", .path = "/", .payload = EMPTY};
    struct xd_text out = {.s = NULL};

    ck_assert_int_eq(xd_sigv4_sign(&out, &s3_signer, &r, INT64_MAX), 0);
    ck_assert_int_eq(xd_sigv4_sign(&out, &s3_signer, &r, 999999999999), 0);
    ck_assert_ptr_nonnull(strstr(out.s, "x-amz-date: 19700101T000000Z\n"));
    xd_text_fini(&out);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sigv4");

    tcase_add_loop_test(tcase,
                        published_requests_have_their_published_signatures, 0,
                        (int)N_OF(published));
    tcase_add_loop_test(tcase, odd_keys_are_encoded_once, 0, (int)N_OF(odd));
    tcase_add_loop_test(tcase, a_presigned_query_is_that_of_the_documents, 0,
                        (int)N_OF(presigned));
    tcase_add_test(tcase, a_query_is_sent_as_it_is_signed);
    tcase_add_test(tcase, a_clock_beyond_all_years_is_no_crash);
    return run_suite("store/sigv4", tcase);
}

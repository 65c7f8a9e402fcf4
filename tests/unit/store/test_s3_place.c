/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/alloc.h"
#include "store/s3_place.h"
#include "store/store.h"
#include "suite.h"
#include "url_of.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

static int place(struct xd_s3_place *out, const char *target,
                 const char *endpoint, const char *region, bool host_style,
                 struct xd_error *err)
{
    struct xd_store_config config = {.target = url_of(target),
                                     .s3_endpoint = endpoint,
                                     .s3_region = region,
                                     .s3_host_style = host_style};

    return xd_s3_place_init(out, &config, err);
}

static const struct row {
    const char *target, *endpoint, *region;
    bool host_style;
    const char *name, *origin, *host, *path, *key_name, *key_path;
} rows[] = {
    {"s3://bucket", NULL, NULL, false, "s3://bucket/",
     "https://bucket.s3.us-east-1.amazonaws.com",
     "bucket.s3.us-east-1.amazonaws.com", "/", "s3://bucket/k%2B", "/k%2B"},
    {"s3://bucket/a", NULL, "eu-west-3", false, "s3://bucket/a/",
     "https://bucket.s3.eu-west-3.amazonaws.com",
     "bucket.s3.eu-west-3.amazonaws.com", "/", "s3://bucket/a/k%2B", "/a/k%2B"},
    {"s3://bucket/a", NULL, "cn-north-1", true, "s3://bucket/a/",
     "https://bucket.s3.cn-north-1.amazonaws.com.cn",
     "bucket.s3.cn-north-1.amazonaws.com.cn", "/", "s3://bucket/a/k%2B",
     "/a/k%2B"},
    /* No certificate covers it. */
    {"s3://my.bucket/a/", NULL, NULL, false, "s3://my.bucket/a/",
     "https://s3.us-east-1.amazonaws.com", "s3.us-east-1.amazonaws.com",
     "/my.bucket/", "s3://my.bucket/a/k%2B", "/my.bucket/a/k%2B"},
    {"S3://Bucket_1/", "http://127.0.0.1:9000", NULL, false, "s3://Bucket_1/",
     "http://127.0.0.1:9000", "127.0.0.1:9000", "/Bucket_1/",
     "s3://Bucket_1/k%2B", "/Bucket_1/k%2B"},
    {"s3://bucket//a//", "https://AZ3.Example:443/", NULL, false,
     "s3://bucket//a//", "https://az3.example", "az3.example", "/bucket/",
     "s3://bucket//a//k%2B", "/bucket//a//k%2B"},
    {"s3://bucket/a%20b+%25", "https://s3.example:8443", NULL, true,
     "s3://bucket/a%20b%2B%25/", "https://bucket.s3.example:8443",
     "bucket.s3.example:8443", "/", "s3://bucket/a%20b%2B%25/k%2B",
     "/a%20b%2B%25/k%2B"},
    {"s3://bucket", "https://x.example/storage/v1/s3/", "local", false,
     "s3://bucket/", "https://x.example", "x.example", "/storage/v1/s3/bucket/",
     "s3://bucket/k%2B", "/storage/v1/s3/bucket/k%2B"},
    {"s3://bucket", "http://[::1]:9000", NULL, false, "s3://bucket/",
     "http://[::1]:9000", "[::1]:9000", "/bucket/", "s3://bucket/k%2B",
     "/bucket/k%2B"},
    {"s3://bucket", "http://minio1", NULL, true, "s3://bucket/",
     "http://bucket.minio1", "bucket.minio1", "/", "s3://bucket/k%2B", "/k%2B"},
};

START_TEST(a_bucket_has_its_host_and_path)
{
    const struct row *row = &rows[_i];
    struct xd_error error = {.code = XD_OK};
    struct xd_s3_place p;
    char *key, *name, *path, *again = NULL;

    ck_assert_msg(place(&p, row->target, row->endpoint, row->region,
                        row->host_style, &error) == 0,
                  "%s", error.msg);
    ck_assert_str_eq(p.name, row->name);
    ck_assert_str_eq(p.origin, row->origin);
    ck_assert_str_eq(p.host, row->host);
    ck_assert_str_eq(p.path, row->path);
    ck_assert_str_eq(p.region, row->region ? row->region : "us-east-1");
    key = malloc(strlen(p.prefix) + 3);
    sprintf(key, "%sk+", p.prefix);
    name = xd_s3_place_name(&p, key);
    path = xd_s3_place_path(&p, key);
    ck_assert_str_eq(name, row->key_name);
    ck_assert_str_eq(path, row->key_path);
    ck_assert_int_eq(xd_s3_place_key(&p, name, &again, NULL), 0);
    ck_assert_str_eq(again, key);
    free(key);
    xd_free(name);
    xd_free(path);
    xd_free(again);
    xd_s3_place_fini(&p);
}
END_TEST

#define LONG_64 \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct bad {
    const char *target, *endpoint, *region;
    bool host_style;
    const char *words;
} bad[] = {
    {"s3://", NULL, NULL, false, "no bucket has such a name"},
    {"s3://ab/k", NULL, NULL, false, "no bucket has such a name"},
    {"s3://b\303\274cket/k", NULL, NULL, false, "no bucket has such a name"},
    {"http://bucket/k", NULL, NULL, false, "s3://BUCKET/KEY"},
    {"s3://u:p@bucket/k", NULL, NULL, false, "s3://BUCKET/KEY"},
    {"s3://bucket:80/k", NULL, NULL, false, "s3://BUCKET/KEY"},
    {"s3://bucket/k?a", NULL, NULL, false, "%3F"},
    {"s3://bucket/k#a", NULL, NULL, false, "%23"},
    {"s3://bucket/a%2", NULL, NULL, false, "two hex digits"},
    {"s3://bucket/a%", NULL, NULL, false, "two hex digits"},
    {"s3://bucket/a%00", NULL, NULL, false, "two hex digits"},
    {"s3://bucket/a/../b", NULL, NULL, false, "'.' or '..'"},
    {"s3://bucket/a/%2e%2E/b", NULL, NULL, false, "'.' or '..'"},
    {"s3://bucket/.", NULL, NULL, false, "'.' or '..'"},
    {"s3://bucket/a%0Ab", NULL, NULL, false, "UTF-8"},
    {"s3://bucket/a%7Fb", NULL, NULL, false, "UTF-8"},
    {"s3://bucket/a%ffb", NULL, NULL, false, "UTF-8"},
    {"s3://bucket", NULL, "eu/west", false, "s3-region"},
    {"s3://bucket", NULL, "a..b@", false, "s3-region"},
    {"s3://bucket", "http://h", LONG_64 "0", false, "s3-region"},
    {"s3://-bucket", "http://h", NULL, true, "s3-host-style"},
    {"s3://" LONG_64, "http://h", NULL, true, "s3-host-style"},
    {"s3://bucket", "s3.example", NULL, false, "s3-endpoint"},
    {"s3://bucket", "ftp://s3.example", NULL, false, "s3-endpoint"},
    {"s3://bucket", "https://u:pw@s3.example", NULL, false, "s3-endpoint"},
    {"s3://bucket", "https://s3.example/?a", NULL, false, "s3-endpoint"},
    {"s3://bucket", "https://s3.example/#a", NULL, false, "s3-endpoint"},
    {"s3://bucket", "https://s3.example/a%20b", NULL, false, "s3-endpoint"},
    {"s3://bucket", "https://s3.example/a/..", NULL, false, "s3-endpoint"},
    {"s3://bucket", "https://s3.\303\274.example", NULL, false, "s3-endpoint"},
    {"s3://bucket", "http://127.0.0.1", NULL, true, "s3-host-style"},
    {"s3://bucket", "http://[::1]", NULL, true, "s3-host-style"},
    {"s3://my.bucket", "http://s3.example", NULL, true, "s3-host-style"},
};

START_TEST(what_is_no_place_is_refused)
{
    const struct bad *row = &bad[_i];
    struct xd_error error = {.code = XD_OK};
    struct xd_s3_place p;

    ck_assert_int_eq(place(&p, row->target, row->endpoint, row->region,
                           row->host_style, &error),
                     XD_E_INVAL);
    ck_assert_msg(strstr(error.msg, row->words) != NULL, "%s", error.msg);
    ck_assert_ptr_null(strstr(error.msg, "pw"));
}
END_TEST

START_TEST(a_key_has_its_bounds)
{
    char key[1026];

    ck_assert_ptr_null(xd_s3_key_fault("a./.a/.../..a/b..//"));
    memset(key, 'k', sizeof key);
    key[1024] = '\0';
    ck_assert_ptr_null(xd_s3_key_fault(key));
    key[1024] = 'k';
    key[1025] = '\0';
    ck_assert_ptr_nonnull(xd_s3_key_fault(key));
}
END_TEST

/* What is not in the place that was typed must not be touched. */
static const struct other {
    const char *name;
    bool is_in;
} others[] = {
    {"s3://bucket/dir/k", true},    {"s3://bucket/dir/a/k", true},
    {"s3://bucket/dir%2Fk", true},  {"s3://bucket/dir/", false},
    {"s3://bucket/dir", false},     {"s3://bucket/dirk", false},
    {"s3://bucket/k", false},       {"s3://bucket2/dir/k", false},
    {"s3://Bucket/dir/k", false},   {"s3://bucket/dir/../k", false},
    {"s3://bucket//dir/k", false},  {"https://bucket/dir/k", false},
    {"s3://bucket:9/dir/k", false}, {"s3://a@bucket/dir/k", false},
    {"s3://bucket/dir/k?a", false}, {"", false},
    {"/etc/passwd", false},
};

START_TEST(only_what_lies_below_the_target_is_in_it)
{
    struct xd_error error;
    struct xd_s3_place p;
    char *key = NULL;
    int rc;

    ck_assert_int_eq(place(&p, "s3://bucket/dir", NULL, NULL, false, NULL), 0);
    rc = xd_s3_place_key(&p, others[_i].name, &key, &error);
    ck_assert_int_eq(rc, others[_i].is_in ? 0 : XD_E_INVAL);
    ck_assert_int_eq(key != NULL, others[_i].is_in);
    xd_free(key);
    xd_s3_place_fini(&p);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("s3_place");

    tcase_add_loop_test(tcase, a_bucket_has_its_host_and_path, 0,
                        (int)N_OF(rows));
    tcase_add_loop_test(tcase, what_is_no_place_is_refused, 0, (int)N_OF(bad));
    tcase_add_test(tcase, a_key_has_its_bounds);
    tcase_add_loop_test(tcase, only_what_lies_below_the_target_is_in_it, 0,
                        (int)N_OF(others));
    return run_suite("store/s3_place", tcase);
}

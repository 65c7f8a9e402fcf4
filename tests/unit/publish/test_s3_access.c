/* SPDX-License-Identifier: MIT */
#include "publish/s3_access.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "os/small_file.h"
#include "suite.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

static char home[SUITE_FOLDER];

static void write_file(const char *name, const char *text)
{
    char path[SUITE_FOLDER + 30];

    snprintf(path, sizeof path, "%s/.aws/%s", home, name);
    ck_assert_int_eq(xd_small_file_replace(path, text, strlen(text), NULL), 0);
}

static void set_up(void)
{
    static const char *const names[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_ENDPOINT_URL_S3",
                                        "AWS_ENDPOINT_URL",
                                        "AWS_PROFILE",
                                        "AWS_SHARED_CREDENTIALS_FILE",
                                        "AWS_CONFIG_FILE"};

    for (size_t i = 0; i < N_OF(names); i++)
        unsetenv(names[i]);
    suite_folder(home);
    setenv("HOME", home, 1);
    write_file("credentials", "[default]\naws_access_key_id=fa\n"
                              "aws_secret_access_key=fs\n"
                              "aws_session_token=ft\n"
                              "[half]\naws_access_key_id=ha\n"
                              "[work]\naws_access_key_id=wa\n"
                              "aws_secret_access_key=ws\nregion=wr\n");
    write_file("config", "[default]\nregion=fr\nendpoint_url=http://f\n"
                         "[profile work]\nregion=other\n"
                         "endpoint_url=http://w\n"
                         "[profile single]\nsso_session=x\n"
                         "[profile keys]\naws_access_key_id=ka\n"
                         "aws_secret_access_key=ks\n");
}

static void tear_down(void)
{
    char path[SUITE_FOLDER + 30];

    snprintf(path, sizeof path, "%s/.aws/credentials", home);
    unlink(path);
    snprintf(path, sizeof path, "%s/.aws/config", home);
    unlink(path);
    snprintf(path, sizeof path, "%s/.aws", home);
    rmdir(path);
    rmdir(home);
}

static char given_oa[] = "oa", given_os[] = "os", given_ot[] = "ot",
            given_or[] = "or", given_url[] = "http://o";

/* The environment, as "NAME=VALUE" with blanks between, and what is found, as
 * "ACCESS SECRET TOKEN REGION ENDPOINT"; else words of the error. */
static const struct row {
    struct xd_s3_options options;
    const char *environment, *found, *words;
} rows[] = {
    {{.region = NULL}, "", "fa fs ft fr http://f", NULL},
    {{.region = given_or, .endpoint = given_url},
     "",
     "fa fs ft or http://o",
     NULL},
    {{.access_key = given_oa, .secret_key = given_os},
     "AWS_ACCESS_KEY_ID=ea AWS_SECRET_ACCESS_KEY=es AWS_SESSION_TOKEN=et",
     "oa os - fr http://f",
     NULL},
    {{.access_key = given_oa,
      .secret_key = given_os,
      .session_token = given_ot},
     "",
     "oa os ot fr http://f",
     NULL},
    {{.region = NULL},
     "AWS_ACCESS_KEY_ID=ea AWS_SECRET_ACCESS_KEY=es",
     "ea es - fr http://f",
     NULL},
    {{.region = NULL},
     "AWS_ACCESS_KEY_ID=ea AWS_SECRET_ACCESS_KEY=es AWS_SESSION_TOKEN=et "
     "AWS_REGION=er AWS_DEFAULT_REGION=dr AWS_ENDPOINT_URL=http://e "
     "AWS_ENDPOINT_URL_S3=http://s",
     "ea es et er http://s",
     NULL},
    {{.region = NULL},
     "AWS_DEFAULT_REGION=dr AWS_ENDPOINT_URL=http://e",
     "fa fs ft dr http://e",
     NULL},
    {{.region = NULL},
     "AWS_ACCESS_KEY_ID= AWS_SECRET_ACCESS_KEY= AWS_REGION=",
     "fa fs ft fr http://f",
     NULL},
    {{.region = NULL}, "AWS_PROFILE=work", "wa ws - wr http://w", NULL},
    {{.region = NULL}, "AWS_PROFILE=keys", "ka ks - - -", NULL},
    {{.region = NULL}, "HOME=/nowhere", "- - - - -", NULL},
    {{.region = NULL}, "HOME=", "- - - - -", NULL},
    {{.region = NULL},
     "AWS_SHARED_CREDENTIALS_FILE=/nowhere/x",
     "- - - fr http://f",
     NULL},
    {{.region = NULL}, "AWS_CONFIG_FILE=/nowhere/x", "fa fs ft - -", NULL},
    {{.region = NULL}, "AWS_PROFILE=nobody", NULL, "no profile nobody in "},
    {{.region = NULL},
     "AWS_PROFILE=half",
     NULL,
     ".aws/credentials: there is one key"},
    {{.region = NULL}, "AWS_PROFILE=single", NULL, "by sso_session"},
    {{.region = NULL},
     "AWS_PROFILE=single AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=s",
     "a s - - -",
     NULL},
    {{.region = NULL},
     "AWS_ACCESS_KEY_ID=ea",
     NULL,
     "AWS_SECRET_ACCESS_KEY: there is"},
    {{.secret_key = given_os}, "", NULL, "s3-secret-key: there is one"},
    {{.region = NULL}, "AWS_CONFIG_FILE=/", NULL, "/"},
};

static void set_environment(const char *text)
{
    char copy[300], *rest = NULL;

    snprintf(copy, sizeof copy, "%s", text);
    for (char *s = strtok_r(copy, " ", &rest); s;
         s = strtok_r(NULL, " ", &rest)) {
        char *sign = strchr(s, '=');

        *sign = '\0';
        setenv(s, sign + 1, 1);
    }
}

static const char *shown(const char *s)
{
    return s ? s : "-";
}

START_TEST(the_first_place_that_says_it_counts)
{
    const struct row *row = &rows[_i];
    struct xd_error error = {.code = XD_OK};
    struct xd_store_config config = {.target = NULL};
    struct xd_s3_access a;
    char found[200];
    int rc;

    set_environment(row->environment);
    rc = xd_s3_access_find(&a, &row->options, &error);
    if (row->words) {
        ck_assert_int_lt(rc, 0);
        ck_assert_msg(strstr(error.msg, row->words) != NULL, "%s", error.msg);
        return;
    }
    ck_assert_msg(rc == 0, "%s", error.msg);
    xd_s3_access_apply(&a, &config);
    snprintf(found, sizeof found, "%s %s %s %s %s", shown(config.s3_access_key),
             shown(config.s3_secret_key), shown(config.s3_session_token),
             shown(config.s3_region), shown(config.s3_endpoint));
    ck_assert_str_eq(found, row->found);
    xd_s3_access_fini(&a);
}
END_TEST

START_TEST(the_style_and_the_parts_are_those_of_the_options)
{
    const struct xd_s3_options o = {.host_style = 1, .part_bytes = 77};
    struct xd_store_config config = {.target = NULL};
    struct xd_s3_access a;

    ck_assert_int_eq(xd_s3_access_find(&a, &o, NULL), 0);
    xd_s3_access_apply(&a, &config);
    ck_assert(config.s3_host_style);
    ck_assert_uint_eq(config.s3_part_bytes, 77);
    xd_s3_access_fini(&a);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("s3_access");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, the_first_place_that_says_it_counts, 0,
                        (int)N_OF(rows));
    tcase_add_test(tcase, the_style_and_the_parts_are_those_of_the_options);
    return run_suite("publish/s3_access", tcase);
}

/* SPDX-License-Identifier: MIT */
#include "publish/aws_profile.h"
#include "suite.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* A profile's settings, in their order, as "ACCESS SECRET TOKEN REGION ENDPOINT
 * ELSEWHERE"; "-": not set. */
static const struct row {
    const char *text, *name;
    bool is_config, is_there;
    const char *settings;
} rows[] = {
    {"[default]\naws_access_key_id = A\naws_secret_access_key=S/+=\n"
     "aws_session_token =\tT==\n",
     "default", false, true, "A S/+= T== - - -"},
    {"[default]\naws_access_key_id=A\n[work]\naws_access_key_id=B\n", "work",
     false, true, "B - - - - -"},
    {"[default]\r\nAWS_Access_Key_ID=A\r\nregion=eu-west-3\r\n", "default",
     false, true, "A - - eu-west-3 - -"},
    {"[default]\nregion=a\n[profile work]\nregion=b\n", "work", true, true,
     "- - - b - -"},
    {"[work]\nregion=b\n", "work", true, false, "- - - - - -"},
    {"[profile]\nregion=b\n[profilework]\nregion=c\n", "work", true, false,
     "- - - - - -"},
    {"[profile work]\nregion=b\n", "work", false, false, "- - - - - -"},
    {"[default]\nregion=a\n", "default", true, true, "- - - a - -"},
    {"[profile default]\nregion=a\n", "default", true, true, "- - - a - -"},
    {"[ profile \"at home\" ] # x\nregion=a\n", "at home", true, true,
     "- - - a - -"},
    {"[profile 'a b']\nregion=a\n", "a b", true, true, "- - - a - -"},
    {"[profile 'a b\"]\nregion=a\n", "a b", true, false, "- - - - - -"},
    {"[Default]\nregion=a\n", "default", false, false, "- - - - - -"},
    {"# region=a\n[default]\n#region=b\n;region=c\n region=d\n\tregion=e\n",
     "default", false, true, "- - - - - -"},
    {"[default]\ns3 =\n  endpoint_url = http://x\nendpoint_url = http://y/#a\n",
     "default", false, true, "- - - - http://y/#a -"},
    {"[default]\nregion = a # b\n", "default", false, true, "- - - a - -"},
    {"[default]\nregion = a\t;b\n", "default", false, true, "- - - a - -"},
    {"[default]\nregion = # b\n", "default", false, true, "- - - - - -"},
    {"[default]\nregion=a\nregion=b\n[x]\n[default]\nregion=c", "default",
     false, true, "- - - c - -"},
    {"[default]\nregion\nregion\n=a\n= b\n", "default", false, true,
     "- - - - - -"},
    {"region=a\n[default\nregion=b\n", "default", false, false, "- - - - - -"},
    {"[default]\nregion=a\n[x\nregion=b\n", "default", false, true,
     "- - - a - -"},
    {"[default]\nsso_session = x\n", "default", true, true,
     "- - - - - sso_session"},
    {"[default]\nrole_arn = x\n", "default", true, true, "- - - - - role_arn"},
    {"[]\nregion=a\n", "", false, true, "- - - a - -"},
    {"[", "default", false, false, "- - - - - -"},
    {"[default]", "default", false, true, "- - - - - -"},
    {"\n\n", "default", false, false, "- - - - - -"},
    {"", "default", false, false, "- - - - - -"},
};

START_TEST(a_profile_is_read)
{
    const struct row *row = &rows[_i];
    /* Of its own length, so that a sanitizer sees what reads beyond it. */
    size_t len = strlen(row->text), n = 0;
    char *text = malloc(len > 0 ? len : 1), found[100];
    struct xd_aws_profile p;

    memcpy(text, row->text, len);
    xd_aws_profile_read(&p, xd_span(text, len), row->name, row->is_config);
    ck_assert_int_eq(p.is_there, row->is_there);
    for (size_t i = 0; i < XD_AWS_N_SETTINGS; i++)
        n += (size_t)snprintf(
            found + n, sizeof found - n, "%s%.*s", i > 0 ? " " : "",
            p.settings[i].len > 0 ? (int)p.settings[i].len : 1,
            p.settings[i].len > 0 ? p.settings[i].s : "-");
    ck_assert_str_eq(found, row->settings);
    free(text);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("aws_profile");

    tcase_add_loop_test(tcase, a_profile_is_read, 0, (int)N_OF(rows));
    return run_suite("publish/aws_profile", tcase);
}

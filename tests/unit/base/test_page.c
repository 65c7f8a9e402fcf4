/* SPDX-License-Identifier: MIT */
#include "base/page.h"

#include <string.h>

#include "suite.h"
#include "url_of.h"

START_TEST(html_is_known_by_its_beginning)
{
    static const struct {
        const char *text;
        enum { IS_NOT, MAY_BE, IS } html;
    } texts[] = {
        {"<!DOCTYPE html><html>", IS},
        {"<!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">", IS},
        {"<html>", IS},
        {"<HTML lang=\"en\">", IS},
        {" \r\n\t<head>", IS},
        {"\xef\xbb\xbf<title>Sign in</title>", IS},
        {"<!-- saved -->\n<!-- twice --><body>", IS},
        {"<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"x\">", IS},
        {"<script>location='/login'</script>", IS},
        {"<meta charset=utf-8>", IS},
        {"<h1>502 Bad Gateway</h1>", IS},
        {"<br/>", IS},
        {"<", MAY_BE},
        {"<ht", MAY_BE},
        {"<html", MAY_BE},
        {"\n<!DOCTYPE htm", MAY_BE},
        {" ", MAY_BE},
        {"<!-- only this", MAY_BE},
        {"", IS_NOT},
        {"<?xml version='1.0'?><metalink xmlns='urn:x'>", IS_NOT},
        {"<metalink>", IS_NOT},
        {"<!-- by us --><e:exnode>", IS_NOT},
        {"<!DOCTYPE metalink>", IS_NOT},
        {"<htmlx>", IS_NOT},
        {"<apple>", IS_NOT},
        {"<svg xmlns=\"http://www.w3.org/2000/svg\">", IS_NOT},
        {"http://a/x", IS_NOT},
        {"PK\x03\x04", IS_NOT},
        {"x<html>", IS_NOT},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i].text;
        ck_assert_msg(xd_is_html(text, strlen(text)) == (texts[i].html == IS),
                      "%s", text);
        ck_assert_msg(xd_may_be_html(text, strlen(text)) ==
                          (texts[i].html != IS_NOT),
                      "%s", text);
    }
}
END_TEST

START_TEST(what_lies_behind_the_first_bytes_tells_nothing)
{
    char text[XD_PAGE_LOOK + 10];

    memset(text, ' ', sizeof text);
    memcpy(text + XD_PAGE_LOOK - 6, "<html>", 6);
    ck_assert(xd_is_html(text, sizeof text));
    memset(text, ' ', sizeof text);
    memcpy(text + XD_PAGE_LOOK, "<html>", 6);
    ck_assert(!xd_is_html(text, sizeof text));
}
END_TEST

START_TEST(a_page_is_likely_where_a_file_is_asked_for_and_html_comes)
{
    static const struct {
        const char *url, *type;
        bool is_likely;
    } answers[] = {
        {"http://a/fedora.meta4", "text/html", true},
        {"http://a/d.iso", "text/html; charset=utf-8", true},
        {"http://a/d.iso", "Text/HTML;charset=utf-8", true},
        {"http://a/d.iso", "application/xhtml+xml", true},
        {"http://a/d/x.tar.GZ?token=1#top", "text/html", true},
        {"http://a/film.mkv", "text/html ", true},
        {"http://a/pkg.deb", "text/html", true},
        {"http://a/photo.JPG", "text/html", true},
        {"http://a/model.safetensors", "text/html", true},
        {"http://a/model.gguf", "text/html", true},
        {"http://a/model.onnx?download=true", "text/html", true},
        {"http://a/model.pth", "text/html", true},
        {"http://a/model.ckpt", "text/html", true},
        {"http://a/disk.vmdk", "text/html", true},
        {"http://a/rows.parquet", "text/html", true},
        {"http://a/rows.csv", "text/html", true},
        {"http://a/rows.json", "text/html", true},
        {"http://a/rows.sqlite", "text/html", true},
        {"http://a/book.pdf", "text/html", true},
        {"http://a/d.iso", NULL, false},
        {"http://a/d.iso", "", false},
        {"http://a/d.iso", "application/octet-stream", false},
        {"http://a/d.iso", "text/htmlx", false},
        {"http://a/d.iso", "text/plain", false},
        {"http://a/index.html", "text/html", false},
        {"http://a/notes.txt", "text/html", false},
        {"http://a/", "text/html", false},
        {"http://a", "text/html", false},
        {"http://a/iso", "text/html", false},
        {"http://a/iso.d/page", "text/html", false},
        {"http://a.iso/page", "text/html", false},
        {"http://a/get?file=d.iso", "text/html", false},
        {"http://a/d.", "text/html", false},
        {"no URL.iso", "text/html", false},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        ck_assert_msg(
            xd_page_is_likely(url_of(answers[i].url), NULL, answers[i].type) ==
                answers[i].is_likely,
            "%s", answers[i].url);
}
END_TEST

START_TEST(page_is_likely_where_the_file_is_to_be_saved_as_data)
{
    static const struct {
        const char *url, *name;
        bool is_likely;
    } answers[] = {
        {"http://a/get?id=5", "model.gguf", true},
        {"http://a/get?id=5", "out/model.GGUF", true},
        {"http://a/get", "model.gguf/notes", false},
        {"http://a/get", "notes", false},
        {"http://a/index.html", "model.gguf", false},
        {"http://a/model.gguf", "notes", true},
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        ck_assert_msg(xd_page_is_likely(url_of(answers[i].url), answers[i].name,
                                        "text/html") == answers[i].is_likely,
                      "%s as %s", answers[i].url, answers[i].name);
}
END_TEST

START_TEST(the_sentence_names_the_url_without_its_secrets)
{
    struct xd_error err;

    ck_assert_int_eq(xd_page_fail(&err, url_of("http://u:p@a/d.iso?token=1")),
                     XD_E_DIFFERENT);
    ck_assert_int_eq(err.code, XD_E_DIFFERENT);
    ck_assert_str_eq(err.msg,
                     "http://a/d.iso: sent a web page (text/html) instead of "
                     "the file; --accept-html takes it for the file");
    ck_assert_str_eq(err.url, "http://a/d.iso");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("page");

    tcase_add_test(t, html_is_known_by_its_beginning);
    tcase_add_test(t, what_lies_behind_the_first_bytes_tells_nothing);
    tcase_add_test(t,
                   a_page_is_likely_where_a_file_is_asked_for_and_html_comes);
    tcase_add_test(t, page_is_likely_where_the_file_is_to_be_saved_as_data);
    tcase_add_test(t, the_sentence_names_the_url_without_its_secrets);
    return run_suite("page", t);
}

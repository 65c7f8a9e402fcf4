/* SPDX-License-Identifier: MIT */
#include "base/page.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

/* What a document of HTML may begin with (WHATWG, MIME Sniffing, section 7.1,
 * where comments are in the list too). */
static const char *const beginnings[] = {"<!doctype html",
                                         "<html",
                                         "<head",
                                         "<script",
                                         "<iframe",
                                         "<h1",
                                         "<div",
                                         "<font",
                                         "<table",
                                         "<a",
                                         "<style",
                                         "<title",
                                         "<b",
                                         "<body",
                                         "<br",
                                         "<p",
                                         "<meta",
                                         "<link"};

/* Manifests, archives, packages, images of disks and of people, films and
 * sound. */
static const char *const extensions[] = {
    "meta4",    "metalink", "xnd",     "exnode", "torrent", "zip",   "tar",
    "gz",       "tgz",      "bz2",     "tbz",    "tbz2",    "xz",    "txz",
    "zst",      "tzst",     "lz",      "lz4",    "lzma",    "z",     "7z",
    "rar",      "cab",      "cpio",    "ar",     "jar",     "war",   "deb",
    "rpm",      "apk",      "whl",     "msi",    "exe",     "dmg",   "pkg",
    "appimage", "snap",     "flatpak", "crate",  "gem",     "nupkg", "xpi",
    "iso",      "img",      "bin",     "qcow2",  "vmdk",    "vdi",   "vhd",
    "vhdx",     "wim",      "ova",     "png",    "jpg",     "jpeg",  "gif",
    "webp",     "avif",     "tif",     "tiff",   "bmp",     "mkv",   "mp4",
    "m4v",      "webm",     "avi",     "mov",    "mpg",     "mpeg",  "ts",
    "m2ts",     "ogv",      "flv",     "wmv",    "mp3",     "m4a",   "flac",
    "ogg",      "opus",     "wav"};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Up to behind the first `end`; to the end of the text, if there is none. */
static void skip_past(struct xd_span *t, const char *end)
{
    size_t n = strlen(end);

    while (t->len >= n && memcmp(t->s, end, n) != 0)
        xd_span_skip(t, 1);
    xd_span_skip(t, t->len >= n ? n : t->len);
}

/* A byte order mark, white space, comments and instructions. */
static void skip_front(struct xd_span *t)
{
    const char *before = NULL;

    if (t->len >= 3 && memcmp(t->s, "\xef\xbb\xbf", 3) == 0)
        xd_span_skip(t, 3);
    while (t->s != before) {
        before = t->s;
        while (t->len > 0 && is_blank(t->s[0]))
            xd_span_skip(t, 1);
        if (xd_span_begins_with(*t, "<!--"))
            skip_past(t, "-->");
        else if (xd_span_begins_with(*t, "<?"))
            skip_past(t, "?>");
    }
}

static bool is_tag(const struct xd_span *t, const char *tag)
{
    size_t n = strlen(tag);

    return xd_span_begins_with(*t, tag) && t->len > n &&
           (is_blank(t->s[n]) || t->s[n] == '>' || t->s[n] == '/');
}

/* Whether the text ends within the tag. */
static bool is_part_of_tag(const struct xd_span *t, const char *tag)
{
    return t->len <= strlen(tag) && strncasecmp(t->s, tag, t->len) == 0;
}

static struct xd_span behind_front(const void *text, size_t len)
{
    struct xd_span t = {text, len < XD_PAGE_LOOK ? len : XD_PAGE_LOOK};

    skip_front(&t);
    return t;
}

bool xd_is_html(const void *text, size_t len)
{
    struct xd_span t = behind_front(text, len);

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (is_tag(&t, beginnings[i]))
            return true;
    }
    return false;
}

bool xd_may_be_html(const void *text, size_t len)
{
    struct xd_span t = behind_front(text, len);

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (len > 0 && is_part_of_tag(&t, beginnings[i]))
            return true;
    }
    return xd_is_html(text, len);
}

/* What stands behind the last dot of the last component; "" if there is none. */
static struct xd_span extension_of(const struct xd_url *url)
{
    struct xd_span path = xd_url_path(url);
    size_t dot = path.len;

    while (dot > 0 && path.s[dot - 1] != '.' && path.s[dot - 1] != '/')
        dot--;
    if (dot == 0 || path.s[dot - 1] == '/')
        dot = path.len;
    return xd_span(path.s + dot, path.len - dot);
}

static bool is_html(const char *media_type)
{
    static const char *const types[] = {"text/html", "application/xhtml+xml"};
    size_t len = media_type ? strcspn(media_type, "; \t") : 0;

    return xd_span_is_among(xd_span(media_type, len), types,
                            sizeof types / sizeof *types);
}

bool xd_page_is_likely(const struct xd_url *url, const char *media_type)
{
    struct xd_span extension = extension_of(url);

    return is_html(media_type) &&
           xd_span_is_among(extension, extensions,
                            sizeof extensions / sizeof *extensions);
}

int xd_page_fail(struct xd_error *err, const struct xd_url *url)
{
    xd_fail(err, XD_E_DIFFERENT,
            "%s: sent a web page (text/html) instead of the file; "
            "--accept-html takes it for the file",
            xd_url_name(url).s);
    xd_url_locate(err, NULL, url);
    return XD_E_DIFFERENT;
}

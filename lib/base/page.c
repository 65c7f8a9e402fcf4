/* SPDX-License-Identifier: MIT */
#include "base/page.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

/* Beginnings of HTML documents (WHATWG MIME Sniffing, section 7.1).  Comments,
 * which are in that list too, are skipped beforehand. */
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

/* Extensions of files that are never HTML. */
static const char *const extensions[] = {
    /* manifests, checksum lists, signatures */
    "meta4", "metalink", "xnd", "exnode", "torrent", "sig", "asc", "minisig",
    "md5", "sha1", "sha256", "sha512",
    /* archives */
    "zip", "tar", "gz", "tgz", "bz2", "tbz", "tbz2", "xz", "txz", "zst", "tzst",
    "br", "lz", "lz4", "lzma", "z", "7z", "rar", "cab", "cpio", "ar",
    /* packages and programs */
    "jar", "war", "deb", "rpm", "apk", "aab", "ipa", "whl", "egg", "msi",
    "msix", "exe", "dll", "so", "wasm", "dmg", "pkg", "appimage", "snap",
    "flatpak", "crate", "gem", "nupkg", "xpi", "crx", "vsix", "uf2", "hex",
    /* disk images */
    "iso", "img", "bin", "raw", "qcow2", "vmdk", "vdi", "vhd", "vhdx", "wim",
    "ova", "ovf", "squashfs",
    /* machine learning */
    "safetensors", "gguf", "ggml", "onnx", "pt", "pth", "ckpt", "pb", "tflite",
    "mlmodel", "keras", "h5", "pkl", "pickle", "joblib", "npy", "npz",
    "tfrecord", "mat", "llamafile",
    /* tables and databases */
    "parquet", "arrow", "feather", "avro", "orc", "csv", "tsv", "json", "jsonl",
    "ndjson", "geojson", "sqlite", "sqlite3", "db", "sql", "dump", "mdb",
    "duckdb", "rds", "rdata", "sav", "dta",
    /* scientific and geographic data */
    "hdf", "hdf5", "nc", "grib", "grib2", "fits", "root", "zarr", "fasta", "fa",
    "fastq", "fq", "bam", "cram", "vcf", "bcf", "bed", "sra", "shp", "gpkg",
    "kmz", "mbtiles", "pmtiles", "pbf", "osm", "las", "laz", "dcm", "nii",
    "stl",
    /* documents and fonts */
    "pdf", "ps", "djvu", "epub", "mobi", "doc", "docx", "odt", "xls", "xlsx",
    "ods", "ppt", "pptx", "odp", "ttf", "otf", "woff", "woff2",
    /* images, video, audio */
    "png", "jpg", "jpeg", "gif", "webp", "avif", "heic", "jxl", "tif", "tiff",
    "bmp", "ico", "psd", "mkv", "mp4", "m4v", "webm", "avi", "mov", "mpg",
    "mpeg", "ts", "m2ts", "ogv", "flv", "wmv", "vob", "m3u8", "mpd", "srt",
    "mp3", "m4a", "m4b", "aac", "flac", "ogg", "oga", "opus", "wav", "wma",
    "aiff", "mid"};

/* Extensions of HTML pages. */
static const char *const page_extensions[] = {"html", "htm", "xhtml", "shtml"};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Skips past the first `end`, or to the end of the text. */
static void skip_past(struct xd_span *t, const char *end)
{
    size_t n = strlen(end);

    while (t->len >= n && memcmp(t->s, end, n) != 0)
        xd_span_skip(t, 1);
    xd_span_skip(t, t->len >= n ? n : t->len);
}

/* Skips a byte order mark, white space, comments and processing
 * instructions. */
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

/* Returns whether the text is the beginning of `tag`. */
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

/* Returns the text after the last dot of the last component, or "". */
static struct xd_span extension_of(struct xd_span path)
{
    size_t dot = path.len;

    while (dot > 0 && path.s[dot - 1] != '.' && path.s[dot - 1] != '/')
        dot--;
    if (dot == 0 || path.s[dot - 1] == '/')
        dot = path.len;
    return xd_span(path.s + dot, path.len - dot);
}

static bool names_data(struct xd_span path)
{
    return xd_span_is_among(extension_of(path), extensions,
                            sizeof extensions / sizeof *extensions);
}

static bool names_page(struct xd_span path)
{
    return xd_span_is_among(extension_of(path), page_extensions,
                            sizeof page_extensions / sizeof *page_extensions);
}

static bool is_html(const char *media_type)
{
    static const char *const types[] = {"text/html", "application/xhtml+xml"};
    size_t len = media_type ? strcspn(media_type, "; \t") : 0;

    return xd_span_is_among(xd_span(media_type, len), types,
                            sizeof types / sizeof *types);
}

bool xd_page_is_likely(const struct xd_url *url, const char *file_name,
                       const char *media_type)
{
    const struct xd_span path = xd_url_path(url);

    if (!is_html(media_type))
        return false;
    return names_data(path) ||
           (file_name && !names_page(path) &&
            names_data(xd_span(file_name, strlen(file_name))));
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

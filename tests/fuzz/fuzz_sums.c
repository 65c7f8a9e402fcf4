/* SPDX-License-Identifier: MIT */
/*
 * A file of checksums, or a single one, for a manifest that has a file called
 * "f".  What the reader finds says the same when it is written anew, in each of
 * the forms; and what the file is given is of the algorithms that can be
 * computed, each once.
 */
#include <xdownload/check.h>

#include "command/checks.h"
#include "fuzz.h"
#include "manifest/names.h"
#include "manifest/sums.h"

static bool is_one_line(const char *s)
{
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

static bool is_same(const struct xd_sum *a, const struct xd_sum *b)
{
    return a->algorithm == b->algorithm && strcmp(a->hex, b->hex) == 0 &&
           a->path.len == b->path.len &&
           (a->path.len == 0 ||
            memcmp(a->path.s, b->path.s, a->path.len) == 0) &&
           a->is_escaped == b->is_escaped;
}

/* `line` says what `sum` does, and nothing more. */
static void check_line(const struct xd_sum *sum, const char *line)
{
    struct xd_sums again;
    struct xd_sum same;

    xd_sums_init(&again, xd_span_of(line));
    FUZZ_CHECK(xd_sums_next(&again, &same));
    FUZZ_CHECK(is_same(sum, &same));
    FUZZ_CHECK(!xd_sums_next(&again, &same));
}

static void write_anew(const struct xd_sum *sum)
{
    const char *escape = sum->is_escaped ? "\\" : "";
    int len = (int)sum->path.len;
    size_t size = sum->path.len + 300;
    char *line = malloc(size);

    FUZZ_CHECK(line != NULL);
    if (sum->path.len > 0 && xd_span_trim(sum->path).len == sum->path.len) {
        snprintf(line, size, "%s%s *%.*s\n", escape, sum->hex, len,
                 sum->path.s);
        check_line(sum, line);
        snprintf(line, size, "%s%s (%.*s) = %s\r\n", escape,
                 sum->algorithm->name, len, sum->path.s, sum->hex);
        check_line(sum, line);
    } else if (sum->path.len == 0) {
        snprintf(line, size, "%s%s", escape, sum->hex);
        check_line(sum, line);
    }
    free(line);
}

static void check_sum(const struct xd_sum *sum)
{
    size_t len = strlen(sum->hex);
    char *path = malloc(sum->path.len + 1);

    FUZZ_CHECK(sum->algorithm != NULL && sum->algorithm->checks_pieces);
    FUZZ_CHECK(len == sum->algorithm->hex_len);
    FUZZ_CHECK(strspn(sum->hex, "0123456789abcdef") == len);
    FUZZ_CHECK(path != NULL && xd_sum_path(sum, path) <= sum->path.len);
    free(path);
    if (sum->path.len == 0 || memchr(sum->path.s, '\0', sum->path.len) == NULL)
        write_anew(sum);
}

static size_t read_lines(const uint8_t *data, size_t len)
{
    struct xd_sums reader;
    struct xd_sum sum;
    size_t n = 0;

    xd_sums_init(&reader, xd_span((const char *)data, len));
    for (; xd_sums_next(&reader, &sum); n++)
        check_sum(&sum);
    return n;
}

static void check_given(const struct xd_manifest *m)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_hash a = {.struct_size = sizeof a}, b = a;

    FUZZ_CHECK(xd_manifest_file(m, 0, &file) == 0 && file.n_hashes > 0);
    FUZZ_CHECK(strcmp(file.name, "f") == 0 && file.n_extents == 1);
    for (size_t i = 0; i < file.n_hashes; i++) {
        FUZZ_CHECK(xd_manifest_hash(m, 0, i, &a) == 0 && a.is_given);
        FUZZ_CHECK(strspn(a.hex, "0123456789abcdef") == strlen(a.hex));
        for (size_t k = 0; k < i; k++) {
            FUZZ_CHECK(xd_manifest_hash(m, 0, k, &b) == 0);
            FUZZ_CHECK(strcmp(a.algorithm, b.algorithm) != 0);
            FUZZ_CHECK(strlen(a.hex) < strlen(b.hex));
        }
    }
}

static void apply(const struct xd_checksums *c)
{
    static const char *const urls[] = {"http://a.example/x/y/f"};
    struct xd_manifest *m, *made;
    struct xd_error error = {.code = XD_OK};

    FUZZ_CHECK(xd_manifest_from_urls(&m, urls, 1, XD_SIZE_UNKNOWN, NULL) == 0);
    int rc = xd_checksums_apply(&made, c, m, XD_ALL_FILES, &error);
    xd_manifest_unref(m);
    FUZZ_CHECK((rc == 0) == (made != NULL) && rc == error.code);
    if (rc == 0)
        check_given(made);
    else
        FUZZ_CHECK(rc == XD_E_MANIFEST && is_one_line(error.msg));
    xd_manifest_unref(made);
}

/* The first line as somebody types it. */
static void try_value(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct xd_error error = {.code = XD_OK};
    struct xd_checksums *c;
    size_t line_len;
    char *line = fuzz_line(&in, &line_len);

    if (line == NULL)
        return;
    FUZZ_CHECK(xd_checksums_new(&c, NULL) == 0);
    int rc = xd_checksums_add(c, line, &error);
    FUZZ_CHECK(rc == 0 || (rc == XD_E_INVAL && is_one_line(error.msg)));
    FUZZ_CHECK(rc < 0 || xd_checksum_is_value(line));
    FUZZ_CHECK((rc == 0) == xd_checksums_are_of_one(c));
    if (rc == 0)
        apply(c);
    xd_checksums_free(c);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct xd_checksums *c;
    struct xd_error error = {.code = XD_OK};
    size_t n = read_lines(data, len);

    try_value(data, len);
    FUZZ_CHECK(xd_checksums_new(&c, NULL) == 0);
    int rc = xd_checksums_parse(c, data, len, "http://a.example/S", &error);
    FUZZ_CHECK(rc == 0 || (rc == XD_E_MANIFEST && is_one_line(error.msg)));
    FUZZ_CHECK(rc < 0 || n > 0);
    if (rc == 0)
        apply(c);
    xd_checksums_free(c);
    return 0;
}

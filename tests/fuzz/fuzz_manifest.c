/* SPDX-License-Identifier: MIT */
/*
 * A manifest of any format, as it came from three places.  What is made of it
 * keeps the promises of <xdownload/manifest.h>, or the sentence says why not.
 */
#include <libxml/xmlerror.h>
#include <xdownload/manifest.h>
#include <xdpublish/parity.h>

#include "base/text.h"
#include "base/url.h"
#include "command/lists.h"
#include "command/manifests.h"
#include "fuzz.h"
#include "manifest/edit.h"
#include "manifest/join.h"
#include "manifest/more_copies.h"
#include "manifest/names.h"
#include "manifest/parse.h"
#include "manifest/xml_copy.h"

static bool is_one_line(const char *s)
{
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

static bool is_hex(const char *s)
{
    return *s != '\0' && s[strspn(s, "0123456789abcdef")] == '\0';
}

static void check_path(const char *path, const char *name)
{
    char again[XD_PATH_MAX + 1];

    FUZZ_CHECK(xd_path_safe(xd_span_of(path), again));
    FUZZ_CHECK(strcmp(path, again) == 0);
    FUZZ_CHECK(name == xd_path_name(path));
    FUZZ_CHECK(path[0] != '/' && strstr(path, "//") == NULL);
    FUZZ_CHECK(strstr(path, "/.") == NULL && strstr(path, "/~") == NULL);
}

static void check_name(const char *name)
{
    char again[XD_NAME_MAX + 1];

    FUZZ_CHECK(xd_name_safe(xd_span_of(name), again));
    FUZZ_CHECK(strcmp(name, again) == 0);
    FUZZ_CHECK(strpbrk(name, "/\\") == NULL && is_one_line(name));
    FUZZ_CHECK(strchr(".-~", name[0]) == NULL);
    FUZZ_CHECK(strlen(name) <= XD_NAME_MAX);
}

static void check_replica(const struct xd_replica *r, uint64_t length,
                          bool may_be_local)
{
    struct xd_url u;

    FUZZ_CHECK(xd_url_parse(&u, r->url) && u.scheme != XD_SCHEME_OTHER);
    FUZZ_CHECK(u.scheme != XD_SCHEME_FILE ||
               (may_be_local && xd_url_is_local(&u)));
    FUZZ_CHECK(length == XD_SIZE_UNKNOWN || r->offset <= UINT64_MAX - length);
    FUZZ_CHECK(r->priority >= 1 && r->priority <= XD_PRIORITY_NONE);
    FUZZ_CHECK(r->location == NULL || strlen(r->location) == 2);
}

/* Sorted, of some bytes each, with a replica each, and without a hole. */
static void check_extents(const struct xd_manifest *m, size_t file,
                          const struct xd_file *f, bool may_be_local)
{
    struct xd_extent e = {.struct_size = sizeof e}, last = {.offset = 0};
    struct xd_replica r = {.struct_size = sizeof r};
    uint64_t covered = 0;

    if (f->n_extents == 0 && m->files[file].rare->metaurls) {
        FUZZ_CHECK(xd_manifest_has_strong_hash(m, file) || f->size == 0);
        return;
    }
    for (size_t i = 0; i < f->n_extents; i++, last = e) {
        FUZZ_CHECK(xd_manifest_extent(m, file, i, &e) == 0);
        FUZZ_CHECK(e.length > 0 && e.n_replicas > 0);
        FUZZ_CHECK(e.sha256 == NULL ||
                   (is_hex(e.sha256) && strlen(e.sha256) == 64));
        FUZZ_CHECK(i == 0 || e.offset > last.offset ||
                   (e.offset == last.offset && e.length > last.length));
        FUZZ_CHECK(e.offset <= covered);
        if (e.offset + e.length > covered)
            covered = e.offset + e.length;
        for (size_t k = 0; k < e.n_replicas; k++) {
            FUZZ_CHECK(xd_manifest_replica(m, file, i, k, &r) == 0);
            check_replica(&r, e.length, may_be_local);
        }
        FUZZ_CHECK(xd_manifest_replica(m, file, i, e.n_replicas, &r) ==
                   XD_E_INVAL);
    }
    FUZZ_CHECK(xd_manifest_extent(m, file, f->n_extents, &e) == XD_E_INVAL);
    if (f->size == XD_SIZE_UNKNOWN)
        FUZZ_CHECK(f->n_extents == 1);
    else
        FUZZ_CHECK(covered == f->size);
}

static void check_hashes(const struct xd_manifest *m, size_t file,
                         const struct xd_file *f)
{
    struct xd_hash h = {.struct_size = sizeof h};

    for (size_t i = 0; i < f->n_hashes; i++) {
        FUZZ_CHECK(xd_manifest_hash(m, file, i, &h) == 0);
        FUZZ_CHECK(is_one_line(h.algorithm) && is_hex(h.hex));
    }
    FUZZ_CHECK(xd_manifest_hash(m, file, f->n_hashes, &h) == XD_E_INVAL);
    FUZZ_CHECK((f->n_pieces > 0) == (f->piece_algorithm != NULL));
    for (size_t i = 0; i < f->n_pieces; i++)
        FUZZ_CHECK(is_hex(xd_manifest_piece(m, file, i)));
    FUZZ_CHECK(xd_manifest_piece(m, file, f->n_pieces) == NULL);
    if (f->n_pieces > 0 && f->size != XD_SIZE_UNKNOWN)
        FUZZ_CHECK(f->n_pieces == (f->size - 1) / f->piece_bytes + 1);
}

static void check_shard(const struct xd_manifest *m, size_t file, size_t stripe,
                        const struct xd_stripe *s, size_t i, bool may_be_local)
{
    struct xd_shard shard = {.struct_size = sizeof shard};
    struct xd_replica r = {.struct_size = sizeof r};

    FUZZ_CHECK(xd_manifest_shard(m, file, stripe, i, &shard) == 0);
    FUZZ_CHECK(shard.length <= s->shard_bytes);
    FUZZ_CHECK(shard.sha256 == NULL ||
               (is_hex(shard.sha256) && strlen(shard.sha256) == 64));
    FUZZ_CHECK(shard.n_replicas == 0 || (i >= s->k && shard.sha256 != NULL));
    for (size_t k = 0; k < shard.n_replicas; k++) {
        FUZZ_CHECK(xd_manifest_shard_replica(m, file, stripe, i, k, &r) == 0);
        check_replica(&r, shard.length, may_be_local);
    }
    FUZZ_CHECK(xd_manifest_shard_replica(m, file, stripe, i, shard.n_replicas,
                                         &r) == XD_E_INVAL);
}

/* Sorted, disjoint, and of shards which have all their bytes, one behind the
 * other. */
static void check_stripes(const struct xd_manifest *m, size_t file,
                          const struct xd_file *f, bool may_be_local)
{
    struct xd_stripe s = {.struct_size = sizeof s};
    struct xd_shard shard = {.struct_size = sizeof shard};
    uint64_t end = 0;

    for (size_t i = 0; i < f->n_stripes; i++) {
        FUZZ_CHECK(xd_manifest_stripe(m, file, i, &s) == 0);
        FUZZ_CHECK(s.k >= 1 && s.k < s.n && s.n <= 255);
        FUZZ_CHECK(s.n_losses <= s.n - s.k && s.shard_bytes > 0);
        FUZZ_CHECK(s.offset >= end && s.length > 0);
        end = s.offset;
        for (size_t k = 0; k < s.n; k++) {
            check_shard(m, file, i, &s, k, may_be_local);
            FUZZ_CHECK(xd_manifest_shard(m, file, i, k, &shard) == 0);
            FUZZ_CHECK(k >= s.k || shard.offset == end);
            end += k < s.k ? shard.length : 0;
        }
        FUZZ_CHECK(end == s.offset + s.length && end <= f->size);
        FUZZ_CHECK(xd_manifest_shard(m, file, i, s.n, &shard) == XD_E_INVAL);
    }
    FUZZ_CHECK(xd_manifest_stripe(m, file, f->n_stripes, &s) == XD_E_INVAL);
}

static void check_part(const struct xd_exnode_part *p)
{
    const size_t len = p && p->xml ? strlen(p->xml) : 0;
    size_t at = 0;

    for (size_t i = 0; p && i < p->n_secrets; i++) {
        const struct xd_xml_secret *s = &p->secrets[i];

        FUZZ_CHECK(s->begin >= at && s->begin < s->end && s->end <= len);
        at = s->end;
    }
}

/* Each secret lies in the text that it is left out of, and none in another. */
static void check_parts(const struct xd_model_file *f)
{
    const struct xd_model_rare *r = f->rare;

    for (const struct xd_exnode_part *p = r->parts; p; p = p->next)
        check_part(p);
    for (size_t i = 0; r->mappings && i < xd_model_n_replicas(f); i++)
        check_part(r->mappings[i]);
    for (size_t i = 0; i < r->n_stripes + r->n_unused_stripes; i++)
        check_part(r->stripes[i].part);
}

/* What is written says the same when it is read. */
static void check_written(const struct xd_manifest *m, size_t file,
                          const char *format)
{
    struct xd_file f = {.struct_size = sizeof f}, g = f;
    struct xd_manifest *again = NULL;
    struct xd_error error = {.code = XD_OK};
    char *text = NULL;
    size_t len;
    int rc = xd_manifest_write(&text, m, file, format, &len, &error);

    FUZZ_CHECK(rc == 0 || rc == XD_E_INVAL);
    FUZZ_CHECK((rc == 0) == (text != NULL));
    if (rc < 0)
        return;
    FUZZ_CHECK(strlen(text) == len);
    FUZZ_CHECK(xd_manifest_parse(&again, text, len, "dir/x", &error) == 0);
    FUZZ_CHECK(xd_manifest_n_files(again) == 1);
    FUZZ_CHECK(xd_manifest_file(m, file, &f) == 0);
    FUZZ_CHECK(xd_manifest_file(again, 0, &g) == 0);
    FUZZ_CHECK(f.size == g.size && f.n_extents == g.n_extents);
    FUZZ_CHECK(g.n_stripes ==
               (strcmp(format, "exnode") == 0 ? f.n_stripes : 0));
    FUZZ_CHECK((f.name == NULL) == (g.name == NULL));
    FUZZ_CHECK(f.name == NULL || strcmp(f.name, g.name) == 0);
    xd_manifest_unref(again);
    xd_manifest_text_free(text);
}

static void check_manifest(const struct xd_manifest *m, bool may_be_local)
{
    struct xd_file f = {.struct_size = sizeof f};
    size_t n = xd_manifest_n_files(m), warnings = 0;
    const char *warning;

    FUZZ_CHECK(n > 0 && xd_manifest_format(m) != NULL);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(xd_manifest_file(m, i, &f) == 0);
        FUZZ_CHECK(f.size == XD_SIZE_UNKNOWN || f.size <= INT64_MAX);
        FUZZ_CHECK((f.path != NULL) == (f.name != NULL));
        if (f.path != NULL) {
            check_path(f.path, f.name);
            check_name(f.name);
        }
        check_extents(m, i, &f, may_be_local);
        check_hashes(m, i, &f);
        check_stripes(m, i, &f, may_be_local);
        check_parts(&m->files[i]);
        if (may_be_local) { /* once for each text is enough */
            check_written(m, i, "metalink");
            check_written(m, i, "exnode");
        }
    }
    FUZZ_CHECK(xd_manifest_file(m, n, &f) == XD_E_INVAL);
    while ((warning = xd_manifest_warning(m, warnings)) != NULL) {
        FUZZ_CHECK(warning[0] != '\0' && is_one_line(warning));
        warnings++;
    }
    FUZZ_CHECK(warnings <= 101); /* the last one counts those not kept */
}

/* Every byte of the extent has one hash, or none has. */
static void check_proof(const struct xd_manifest *joined, size_t extent,
                        uint64_t length)
{
    struct xd_joined_proof proof;

    FUZZ_CHECK(xd_manifest_joined_proof(joined, extent, &proof));
    for (size_t i = 0; i < proof.n; i++)
        FUZZ_CHECK(strspn(proof.hex + i * proof.stride, "0123456789abcdef") >=
                   2);
    if (proof.n > 0)
        FUZZ_CHECK(proof.n == (length - 1) / proof.piece_bytes + 1);
}

/* The files lie one behind the other. */
static void check_joined(const struct xd_manifest *joined, size_t n)
{
    struct xd_file all = {.struct_size = sizeof all};
    struct xd_extent e = {.struct_size = sizeof e};
    uint64_t end = 0;

    FUZZ_CHECK(xd_manifest_n_files(joined) == 1);
    FUZZ_CHECK(xd_manifest_file(joined, 0, &all) == 0);
    FUZZ_CHECK(all.n_extents == n);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(xd_manifest_extent(joined, 0, i, &e) == 0);
        FUZZ_CHECK(e.offset == end && e.length > 0);
        check_proof(joined, i, e.length);
        end += e.length;
    }
    FUZZ_CHECK(all.size == end);
}

static void join(struct xd_manifest *m)
{
    struct xd_manifest *joined = NULL;
    struct xd_error error = {.code = XD_OK};
    size_t n = 0, *files = calloc(xd_manifest_n_files(m), sizeof *files);

    FUZZ_CHECK(files != NULL);
    for (size_t i = 0; i < xd_manifest_n_files(m); i++)
        if (xd_manifest_can_join(m, i))
            files[n++] = i;
    if (n > 0 && xd_manifest_join(&joined, m, files, n, &error) == 0)
        check_joined(joined, n);
    else
        FUZZ_CHECK(n == 0 || error.code == XD_E_MANIFEST);
    xd_manifest_unref(joined);
    free(files);
}

/* Its files twice, as if two manifests named them. */
static void gather(struct xd_manifest *m)
{
    struct xd_manifest *gathered = NULL, **from;
    struct xd_error error = {.code = XD_OK};
    struct xd_file f = {.struct_size = sizeof f}, g = f;
    size_t n = xd_manifest_n_files(m), *files;

    from = calloc(2 * n, sizeof *from);
    files = calloc(2 * n, sizeof *files);
    FUZZ_CHECK(from != NULL && files != NULL);
    for (size_t i = 0; i < 2 * n; i++) {
        from[i] = m;
        files[i] = i % n;
    }
    FUZZ_CHECK(
        xd_manifest_gather(&gathered, from, files, NULL, 2 * n, &error) == 0);
    FUZZ_CHECK(xd_manifest_n_files(gathered) == 2 * n);
    for (size_t i = 0; i < 2 * n; i++) {
        FUZZ_CHECK(xd_manifest_file(m, i % n, &f) == 0);
        FUZZ_CHECK(xd_manifest_file(gathered, i, &g) == 0);
        FUZZ_CHECK(f.size == g.size && f.n_extents == g.n_extents);
        FUZZ_CHECK(f.path == g.path && f.n_hashes == g.n_hashes);
    }
    join(gathered);
    xd_manifest_unref(gathered);
    free(files);
    free(from);
}

/* A stripe of which nothing is stored and nothing else is known means nothing
 * outside an upload. */
static size_t lasting_stripes(const struct xd_model_rare *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_stripes; i++)
        n += r->stripes[i].n_shards > 0 || r->stripes[i].part;
    return n;
}

/* Every second replica of a file is dropped, the others live until another day,
 * and an IBP depot has all of it. */
static void edit_file(struct xd_manifest *m, size_t file, uint64_t size,
                      size_t n)
{
    const struct xd_edit_replica added = {
        .range = {0, size},
        .read = "ibp://depot.example:6714/0#key/1/READ",
        .write = "ibp://depot.example:6714/0#key/2/WRITE",
        .manage = "ibp://depot.example:6714/0#key/3/MANAGE",
        .expires_at = 1800000000};
    struct xd_edit edit = {.added = &added, .n_added = 1};
    struct xd_file f = {.struct_size = sizeof f};
    struct xd_error error = {.code = XD_OK};
    struct xd_manifest *edited = NULL;
    int64_t *expires_at = calloc(n, sizeof *expires_at);
    bool *dropped = calloc(n, sizeof *dropped);

    FUZZ_CHECK(expires_at != NULL && dropped != NULL);
    for (size_t i = 0; i < n; i++) {
        dropped[i] = i % 2 == 0;
        expires_at[i] = i % 4 == 1 ? added.expires_at : 0;
    }
    edit.dropped = dropped;
    edit.expires_at = expires_at;
    FUZZ_CHECK(xd_manifest_edit(&edited, m, file, &edit, &error) == 0);
    FUZZ_CHECK(xd_manifest_file(edited, 0, &f) == 0 && f.size == size);
    check_extents(edited, 0, &f, true);
    check_hashes(edited, 0, &f);
    check_stripes(edited, 0, &f, true);
    check_parts(&edited->files[0]);
    FUZZ_CHECK(f.n_stripes == lasting_stripes(m->files[file].rare));
    check_written(edited, 0, "exnode");
    xd_manifest_unref(edited);
    free(dropped);
    free(expires_at);
}

static void edit(struct xd_manifest *m)
{
    struct xd_file f = {.struct_size = sizeof f};
    struct xd_extent e = {.struct_size = sizeof e};

    for (size_t i = 0; i < xd_manifest_n_files(m); i++) {
        size_t n = 0;

        FUZZ_CHECK(xd_manifest_file(m, i, &f) == 0);
        for (size_t k = 0; k < f.n_extents; k++) {
            FUZZ_CHECK(xd_manifest_extent(m, i, k, &e) == 0);
            n += e.n_replicas;
        }
        if (n > 0 && f.size != XD_SIZE_UNKNOWN)
            edit_file(m, i, f.size, n);
    }
}

/* Its metaurls lead to itself, as a server's own would, and to nothing. */
static void follow(struct xd_manifest *m)
{
    struct xd_more_copies more[2] = {
        {.manifest = m, .reach = XD_REACH_PUBLIC},
        {.why = {.code = XD_E_NET, .msg = "it is not there"}}};
    struct xd_error error = {.code = XD_OK};
    struct xd_file f = {.struct_size = sizeof f};
    struct xd_manifest *with = NULL;

    for (size_t i = 0; i < xd_manifest_n_files(m); i++) {
        if (!m->files[i].rare->metaurls)
            continue;
        more[0].file = more[1].file = i;
        more[0].from = more[1].from = m->files[i].rare->metaurls;
        FUZZ_CHECK(xd_manifest_add_copies(&with, m, more, 2, &error) == 0);
        FUZZ_CHECK(xd_manifest_file(with, i, &f) == 0);
        check_extents(with, i, &f, false);
        FUZZ_CHECK(with->n_warnings > m->n_warnings);
        xd_manifest_unref(with);
    }
}

static bool parse(const uint8_t *data, size_t len, const char *origin)
{
    struct xd_manifest *m = NULL;
    struct xd_error error = {.code = XD_OK};
    int rc = xd_manifest_parse(&m, data, len, origin, &error);

    if (rc == 0) {
        check_manifest(m, origin && strstr(origin, "://") == NULL);
        if (!origin) { /* once for each text is enough */
            gather(m);
            follow(m);
            edit(m);
        }
    } else {
        FUZZ_CHECK(rc == XD_E_MANIFEST && m == NULL);
        FUZZ_CHECK(error.code == XD_E_MANIFEST);
        FUZZ_CHECK(error.msg[0] != '\0' && is_one_line(error.msg));
    }
    xd_manifest_unref(m);
    return rc == 0;
}

/* Each file of a list has a path within its folder, or none if its server names
 * it, and URLs. */
static void parse_list(const uint8_t *data, size_t len, bool servers_name)
{
    struct xd_listed f = {.struct_size = sizeof f};
    struct xd_error error = {.code = XD_OK};
    struct xd_list *list = NULL;
    int rc = xd_list_parse(&list, data, len, "list", servers_name, &error);

    FUZZ_CHECK((rc == 0) == (list != NULL));
    if (rc < 0) {
        FUZZ_CHECK(error.msg[0] != '\0' && is_one_line(error.msg));
        return;
    }
    for (size_t i = 0; i < xd_list_n_files(list); i++) {
        FUZZ_CHECK(xd_list_file(list, i, &f) == 0);
        FUZZ_CHECK(f.n_urls > 0 && f.directory != NULL);
        FUZZ_CHECK(f.path == NULL ||
                   (f.path[0] != '/' && strstr(f.path, "..") != f.path));
    }
    FUZZ_CHECK(xd_list_file(list, xd_list_n_files(list), &f) == XD_E_INVAL);
    for (size_t i = 0; xd_list_warning(list, i) != NULL; i++)
        FUZZ_CHECK(is_one_line(xd_list_warning(list, i)));
    xd_list_free(list);
}

/* Libxml2 says here what it has told nobody else: the library prints nothing,
 * so there must be none. */
static void refuse_to_print(void *user, const char *format, ...)
{
    (void)user;
    fprintf(stderr, "libxml2 says: %s\n", format);
    FUZZ_CHECK(format == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    bool is_one;

    xmlSetGenericErrorFunc(NULL, refuse_to_print);
    is_one = parse(data, len, "dir/some.xnd");

    parse(data, len, "http://origin.example/a/b?secret");
    parse(data, len, NULL);
    parse_list(data, len, false);
    parse_list(data, len, true);
    if (xd_manifest_recognise(data, len) > 0)
        FUZZ_CHECK(xd_manifest_may_begin(data, len) &&
                   xd_manifest_may_begin(data, len / 2));
    else if (is_one)
        FUZZ_CHECK(memchr(data, '<', len) != data);
    return 0;
}

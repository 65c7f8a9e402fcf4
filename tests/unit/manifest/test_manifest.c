/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "command/manifests.h"
#include "manifest/parse.h"
#include "reading.h"

START_TEST(getters_say_inval_past_the_end)
{
    read_data("copies.xnd");
    struct xd_file f = {.struct_size = sizeof f};
    struct xd_hash h = {.struct_size = sizeof h};
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_replica r = {.struct_size = sizeof r};
    ck_assert_int_eq(xd_manifest_file(manifest, 1, &f), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_hash(manifest, 0, 0, &h), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_hash(manifest, 1, 0, &h), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_extent(manifest, 0, 2, &e), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_extent(manifest, 1, 0, &e), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_replica(manifest, 0, 1, 3, &r), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_replica(manifest, 0, 2, 0, &r), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_replica(manifest, 1, 0, 0, &r), XD_E_INVAL);
    ck_assert_int_eq(xd_manifest_file(manifest, SIZE_MAX, &f), XD_E_INVAL);
    ck_assert_ptr_null(xd_manifest_piece(manifest, 0, 0));
    ck_assert_ptr_null(xd_manifest_piece(manifest, 1, 0));
    ck_assert_ptr_null(xd_manifest_warning(manifest, 0));
    ck_assert_ptr_null(f.name);
}
END_TEST

START_TEST(an_older_program_gets_as_many_bytes_as_it_knows)
{
    read_data("tiny.xnd");
    struct {
        struct xd_file file;
        unsigned char behind[8];
    } old;
    memset(&old, 0xaa, sizeof old);
    old.file.struct_size = offsetof(struct xd_file, n_extents);
    ck_assert_int_eq(xd_manifest_file(manifest, 0, &old.file), 0);
    ck_assert_uint_eq(old.file.struct_size,
                      offsetof(struct xd_file, n_extents));
    ck_assert_str_eq(old.file.name, "tiny");
    ck_assert_uint_eq(old.file.size, 20);
    ck_assert_uint_eq(*(unsigned char *)&old.file.n_extents, 0xaa);
}
END_TEST

START_TEST(a_newer_program_gets_zeros_for_what_is_not_known_here)
{
    read_data("tiny.xnd");
    struct {
        struct xd_replica replica;
        unsigned char more[16], behind;
    } newer;
    memset(&newer, 0xaa, sizeof newer);
    newer.replica.struct_size = sizeof newer.replica + sizeof newer.more;
    ck_assert_int_eq(xd_manifest_replica(manifest, 0, 0, 0, &newer.replica), 0);
    ck_assert_uint_eq(newer.replica.struct_size,
                      sizeof newer.replica + sizeof newer.more);
    ck_assert_ptr_nonnull(newer.replica.url);
    for (size_t i = 0; i < sizeof newer.more; i++)
        ck_assert_uint_eq(newer.more[i], 0);
    ck_assert_uint_eq(newer.behind, 0xaa);
}
END_TEST

START_TEST(a_struct_without_its_size_is_inval)
{
    read_data("tiny.xnd");
    struct xd_file f = {.struct_size = 0};
    ck_assert_int_eq(xd_manifest_file(manifest, 0, &f), XD_E_INVAL);
    ck_assert_ptr_null(f.name);
}
END_TEST

START_TEST(a_manifest_lives_until_its_last_reference_goes)
{
    read_data("tiny.xnd");
    struct xd_manifest *second = xd_manifest_ref(manifest);
    ck_assert_ptr_eq(second, manifest);
    forget_manifest();
    ck_assert_uint_eq(xd_manifest_n_files(second), 1);
    xd_manifest_unref(second);
    xd_manifest_unref(NULL);
}
END_TEST

static void *ref_and_unref(void *arg)
{
    struct xd_manifest *m = arg;
    for (int i = 0; i < 10000; i++)
        xd_manifest_unref(xd_manifest_ref(m));
    xd_manifest_unref(m);
    return NULL;
}

START_TEST(references_are_counted_right_by_several_threads)
{
    pthread_t threads[4];
    read_data("tiny.xnd");
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, ref_and_unref,
                       xd_manifest_ref(manifest));
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_str_eq(file_at(0).name, "tiny");
}
END_TEST

static void *parse_often(void *arg)
{
    const char *text = arg;
    for (int i = 0; i < 100; i++) {
        struct xd_manifest *m;
        if (xd_manifest_parse(&m, text, strlen(text), NULL, NULL) < 0)
            return arg;
        xd_manifest_unref(m);
    }
    return NULL;
}

START_TEST(several_threads_parse_at_once)
{
    static char text[] =
        METALINK "<file name='f'><url>http://a/x</url></file></metalink>";
    pthread_t threads[4];
    void *failure;
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, parse_often, text);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], &failure);
        ck_assert_ptr_null(failure);
    }
}
END_TEST

START_TEST(a_file_that_is_not_there_is_an_io_error_with_its_name)
{
    struct xd_manifest *m = (struct xd_manifest *)&error;
    int rc = xd_manifest_read(&m, "no/such/manifest.xml", &error);
    ck_assert_int_eq(rc, XD_E_IO);
    ck_assert_int_eq(error.os_errno, ENOENT);
    ck_assert_ptr_nonnull(strstr(error.msg, "no/such/manifest.xml"));
    ck_assert_ptr_null(m);
}
END_TEST

START_TEST(a_directory_is_an_io_error)
{
    ck_assert_int_eq(xd_manifest_read(&manifest, XD_TEST_DATA, &error),
                     XD_E_IO);
}
END_TEST

START_TEST(a_dash_is_standard_input)
{
    int fd = open(XD_TEST_DATA "/tiny.xnd", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    dup2(fd, STDIN_FILENO);
    close(fd);
    ck_assert_int_eq(xd_manifest_read(&manifest, "-", &error), 0);
    ck_assert_str_eq(file_at(0).name, "tiny");
    /* Read to its end, and still open. */
    forget_manifest();
    ck_assert_int_eq(xd_manifest_read(&manifest, "-", &error), XD_E_MANIFEST);
    ck_assert_ptr_nonnull(strstr(error.msg, "standard input: it is empty"));
}
END_TEST

static void *write_slowly(void *arg)
{
    int fd = *(int *)arg;
    static const char text[] = "http://a/x\nhttp://b/x\n";
    for (size_t i = 0; i < sizeof text - 1; i++) {
        if (write(fd, text + i, 1) != 1)
            break;
    }
    close(fd);
    return NULL;
}

START_TEST(a_pipe_is_read_to_its_end)
{
    int fds[2];
    pthread_t writer;
    ck_assert_int_eq(pipe(fds), 0);
    dup2(fds[0], STDIN_FILENO);
    close(fds[0]);
    pthread_create(&writer, NULL, write_slowly, &fds[1]);
    ck_assert_int_eq(xd_manifest_read(&manifest, "-", &error), 0);
    pthread_join(writer, NULL);
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 2);
}
END_TEST

static void *write_endlessly(void *end)
{
    static char blanks[1 << 16];
    int fd = *(int *)end;
    memset(blanks, ' ', sizeof blanks);
    if (write(fd, "<exnode>", 8) == 8)
        while (write(fd, blanks, sizeof blanks) > 0)
            ;
    close(fd);
    return NULL;
}

START_TEST(what_is_longer_than_64_mib_is_refused)
{
    int fds[2];
    pthread_t writer;
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(fds), 0);
    dup2(fds[0], STDIN_FILENO);
    close(fds[0]);
    pthread_create(&writer, NULL, write_endlessly, &fds[1]);
    ck_assert_int_eq(xd_manifest_read(&manifest, "-", &error), XD_E_MANIFEST);
    close(STDIN_FILENO);
    pthread_join(writer, NULL);
    ck_assert_ptr_nonnull(strstr(error.msg, "longer than 64 MiB"));
}
END_TEST

START_TEST(what_is_no_text_is_refused)
{
    ck_assert_int_eq(xd_manifest_read(&manifest, "/dev/zero", &error),
                     XD_E_MANIFEST);
    ck_assert_ptr_nonnull(strstr(error.msg, "byte 0 is zero"));
}
END_TEST

/* Whatever does not fit the first block: blanks before the text, a long comment
 * before its root, and what ends it too early. */
static void read_long(const char *head, size_t n_blanks, const char *tail)
{
    FILE *f = tmpfile();
    fputs(head, f);
    for (size_t i = 0; i < n_blanks; i++)
        putc(i % 64 ? ' ' : '\n', f);
    fputs(tail, f);
    rewind(f);
    dup2(fileno(f), STDIN_FILENO);
    fclose(f);
    int rc = xd_manifest_read(&manifest, "-", &error);
    ck_assert_int_eq(rc, manifest ? 0 : XD_E_MANIFEST);
}

START_TEST(a_text_of_many_blocks_is_read_as_one)
{
    static const char text[] =
        EXNODE "<e:mapping><e:metadata name='exnode_offset'>0</e:metadata>"
               "<e:metadata name='logical_length'>10</e:metadata>"
               "<e:read>http://a.example/f</e:read></e:mapping></exnode>";

    read_long("", 300000, text);
    ck_assert_ptr_nonnull(manifest);
    ck_assert_uint_eq(file_at(0).size, 10);
    xd_manifest_unref(manifest);
    read_long("<!--", 300000, "-->http://b.example/f");
    ck_assert_ptr_null(manifest);
    ck_assert_ptr_nonnull(strstr(error.msg, "line 4689: the XML is broken"));
    read_long("<?xml version='1.0'?><!--", 300000, "");
    ck_assert_ptr_null(manifest);
}
END_TEST

START_TEST(an_origin_that_is_a_url_is_said_without_its_secrets)
{
    int rc = parse_from("<x", "http://me:secret@a.example/m.xml?token=1");
    ck_assert_int_eq(rc, XD_E_MANIFEST);
    ck_assert_ptr_null(strstr(error.msg, "secret"));
    ck_assert_ptr_null(strstr(error.msg, "token"));
    ck_assert_ptr_nonnull(strstr(error.msg, "http://a.example/m.xml: line 1"));
}
END_TEST

START_TEST(no_error_struct_is_needed)
{
    ck_assert_int_eq(xd_manifest_parse(&manifest, "<x", 2, NULL, NULL),
                     XD_E_MANIFEST);
    ck_assert_int_eq(xd_manifest_parse(&manifest, NULL, 0, NULL, NULL),
                     XD_E_MANIFEST);
}
END_TEST

static bool may_begin(const char *text)
{
    return xd_manifest_may_begin(text, strlen(text));
}

START_TEST(the_first_element_tells_what_is_no_manifest)
{
    static const char metalink[] =
        "\n<?xml version='1.0'?><!-- of ours --><metalink "
        "xmlns='urn:ietf:params:xml:ns:metalink'><file name='a'>";

    for (size_t n = 0; n < sizeof metalink; n++)
        ck_assert_msg(xd_manifest_may_begin(metalink, n), "%zu", n);
    ck_assert_int_eq(xd_manifest_recognise(metalink, sizeof metalink - 1), 1);
    ck_assert(may_begin("<metalink xmlns='http://www.metalinker.org/'"));
    ck_assert(may_begin("<!DOCTYPE x [ <!ENTITY"));
    ck_assert(!may_begin("<svg xmlns='http://www.w3.org/2000/svg'>"));
    ck_assert(!may_begin("<metalink xmlns='urn:other'><file>"));
    ck_assert(!may_begin("<!DOCTYPE html><p>"));
    ck_assert(!may_begin("film"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("manifest");
    tcase_add_checked_fixture(t, NULL, forget_manifest);
    tcase_add_test(t, getters_say_inval_past_the_end);
    tcase_add_test(t, an_older_program_gets_as_many_bytes_as_it_knows);
    tcase_add_test(t, a_newer_program_gets_zeros_for_what_is_not_known_here);
    tcase_add_test(t, a_struct_without_its_size_is_inval);
    tcase_add_test(t, a_manifest_lives_until_its_last_reference_goes);
    tcase_add_test(t, references_are_counted_right_by_several_threads);
    tcase_add_test(t, several_threads_parse_at_once);
    tcase_add_test(t, a_file_that_is_not_there_is_an_io_error_with_its_name);
    tcase_add_test(t, a_directory_is_an_io_error);
    tcase_add_test(t, a_dash_is_standard_input);
    tcase_add_test(t, a_pipe_is_read_to_its_end);
    tcase_add_test(t, what_is_longer_than_64_mib_is_refused);
    tcase_add_test(t, what_is_no_text_is_refused);
    tcase_add_test(t, a_text_of_many_blocks_is_read_as_one);
    tcase_add_test(t, an_origin_that_is_a_url_is_said_without_its_secrets);
    tcase_add_test(t, no_error_struct_is_needed);
    tcase_add_test(t, the_first_element_tells_what_is_no_manifest);
    return run_suite("manifest", t);
}

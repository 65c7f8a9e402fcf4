/*
 * The power goes at any moment: whatever the disk has kept by then, no byte
 * that it has not is taken for one that is there.
 *
 * The system's calls that change files are defined here, in front of the
 * real ones, and recorded.  After the run, disks are made up: for every moment,
 * all that was synced by then, and any of what was not.  The clock runs a
 * thousand times too fast, so that a short run syncs often.
 */
#include <xdownload/download.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/journal.h"
#include "suite.h"

#define SIZE ((size_t)2 << 20)
#define MAX_FD 200
#define MAX_OPS 4000
#define DISKS 8 /* made up for every moment */

/* ---- the files of the download ---- */

enum file { NONE, PART, JOURNAL, FOLDER, N_FILES };
enum name { OUT, OUT_PART, OUT_JOURNAL, N_NAMES };

static char folder[64], paths[N_NAMES][100], source[100];
static const char *const endings[N_NAMES] = {"out", "out.part",
                                             "out.part.journal"};

static unsigned char right[SIZE]; /* none is zero, as holes are */

/* ---- the recorder ---- */

enum kind {
    WRITE, /* data at offset */
    CUT,   /* to the length offset */
    NAME,  /* `name` is `file` now; NONE: nothing */
    SYNC   /* all before this op that is the file's is on the disk */
};

struct op {
    enum kind kind;
    enum file file;
    enum name name;
    size_t offset, len;
    unsigned char *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct op ops[MAX_OPS];
static size_t n_ops;
static enum file files[MAX_FD]; /* by descriptor */
static bool clock_is_fast;      /* during a run: Check measures time too */
static enum file forgets;       /* the disk lies of this one's syncs */

static void record(struct op op)
{
    ck_assert_uint_lt(n_ops, MAX_OPS);
    ops[n_ops++] = op;
}

static enum name name_of(const char *path)
{
    int i = 0;

    while (i < N_NAMES && strcmp(path, paths[i]) != 0)
        i++;
    return (enum name)i;
}

static enum file file_of(enum name name)
{
    return name == OUT_PART ? PART : name == OUT_JOURNAL ? JOURNAL : NONE;
}

int open(const char *path, int flags, ...)
{
    static const char boot_id[] = "/proc/sys/kernel/random/boot_id";
    enum name name = name_of(path);
    va_list args;
    mode_t mode;
    int fd;

    va_start(args, flags);
    mode = flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    if (strcmp(path, boot_id) == 0)
        path = "/dev/null";
    pthread_mutex_lock(&lock);
    fd = openat(AT_FDCWD, path, flags, mode);
    if (fd >= 0 && fd < MAX_FD) {
        files[fd] = name < N_NAMES              ? file_of(name)
                    : strcmp(path, folder) == 0 ? FOLDER
                                                : NONE;
        if (flags & O_CREAT && name < N_NAMES)
            record(
                (struct op){.kind = NAME, .file = file_of(name), .name = name});
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    ssize_t n = -1;

    if (fd < MAX_FD && files[fd] == PART)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_mutex_lock(&lock);
    if (lseek(fd, offset, SEEK_SET) >= 0)
        n = write(fd, data, len);
    if (n > 0 && fd < MAX_FD && files[fd] != NONE) {
        struct op op = {.kind = WRITE,
                        .file = files[fd],
                        .offset = (size_t)offset,
                        .len = (size_t)n,
                        .data = malloc((size_t)n)};

        ck_assert_ptr_nonnull(op.data);
        memcpy(op.data, data, (size_t)n);
        record(op);
    }
    pthread_mutex_unlock(&lock);
    return n;
}

int ftruncate(int fd, off_t length)
{
    enum file file = fd < MAX_FD ? files[fd] : NONE;
    int rc;

    if (file == NONE)
        return -1;
    pthread_mutex_lock(&lock);
    rc = truncate(paths[file == PART ? OUT_PART : OUT_JOURNAL], length);
    record((struct op){.kind = CUT, .file = file, .offset = (size_t)length});
    pthread_mutex_unlock(&lock);
    return rc;
}

/* What is written while it takes may not be in it. */
static int sync_file(int fd)
{
    enum file file = fd < MAX_FD ? files[fd] : NONE;
    size_t at;

    pthread_mutex_lock(&lock);
    at = n_ops;
    record((struct op){.kind = SYNC, .file = NONE});
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    pthread_mutex_lock(&lock);
    record((struct op){
        .kind = SYNC, .file = file == forgets ? NONE : file, .offset = at});
    pthread_mutex_unlock(&lock);
    return 0;
}

int fdatasync(int fd)
{
    return sync_file(fd);
}

int fsync(int fd)
{
    return sync_file(fd);
}

int link(const char *from, const char *to)
{
    int rc = linkat(AT_FDCWD, from, AT_FDCWD, to, 0);

    pthread_mutex_lock(&lock);
    if (rc == 0)
        record((struct op){
            .kind = NAME, .file = file_of(name_of(from)), .name = name_of(to)});
    pthread_mutex_unlock(&lock);
    return rc;
}

int unlink(const char *path)
{
    int rc = unlinkat(AT_FDCWD, path, 0);

    pthread_mutex_lock(&lock);
    if (rc == 0 && name_of(path) < N_NAMES)
        record((struct op){.kind = NAME, .file = NONE, .name = name_of(path)});
    pthread_mutex_unlock(&lock);
    return rc;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    uint64_t ns;

    (void)clock;
    timespec_get(out, TIME_UTC);
    if (!clock_is_fast)
        return 0;
    ns = (uint64_t)out->tv_sec % 1000000 * 1000000000 + (uint64_t)out->tv_nsec;
    ns *= 1000;
    out->tv_sec = (time_t)(ns / 1000000000);
    out->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

/* The kernel knows nothing of our time: look again every millisecond. */
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                           const struct timespec *until)
{
    struct timespec now;

    (void)c;
    pthread_mutex_unlock(m);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_mutex_lock(m);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > until->tv_sec ? ETIMEDOUT : 0;
}

/* ---- disks that are made up ---- */

struct content {
    unsigned char *data;
    size_t len;
};

struct disk {
    struct content files[N_FILES];
    enum file names[N_NAMES];
};

static struct disk first, made; /* before the run; after the power is back */

static void copy_content(struct content *to, const struct content *from)
{
    if (!to->data)
        to->data = malloc(2 * SIZE);
    ck_assert_ptr_nonnull(to->data);
    if (from->len > 0)
        memcpy(to->data, from->data, from->len);
    memset(to->data + from->len, 0, 2 * SIZE - from->len);
    to->len = from->len;
}

static void apply(struct disk *d, const struct op *op)
{
    struct content *c = &d->files[op->file];

    switch (op->kind) {
    case WRITE:
        memcpy(c->data + op->offset, op->data, op->len);
        if (c->len < op->offset + op->len)
            c->len = op->offset + op->len;
        break;
    case CUT:
        if (op->offset < c->len)
            memset(c->data + op->offset, 0, c->len - op->offset);
        c->len = op->offset;
        break;
    case NAME:
        d->names[op->name] = op->file;
        break;
    case SYNC:
        break;
    }
}

/* Whether what ops[i] did is on the disk for certain at `moment`. */
static bool is_safe(size_t i, size_t moment)
{
    enum file file = ops[i].kind == NAME ? FOLDER : ops[i].file;

    for (size_t j = i + 1; j < moment; j++) {
        if (ops[j].kind == SYNC && ops[j].file == file && ops[j].offset > i)
            return true;
    }
    return false;
}

/* How much of what was not synced is lost: nothing, all, or some. */
static void make_disk(size_t moment, unsigned how)
{
    for (int i = PART; i < N_FILES; i++)
        copy_content(&made.files[i], &first.files[i]);
    memcpy(made.names, first.names, sizeof made.names);
    for (size_t i = 0; i < moment; i++) {
        bool is_kept = how == 0 || (how > 1 && rand() % 4 < 2);

        if (how % 3 == 2 && ops[i].kind == NAME)
            is_kept = true;
        if (is_kept || is_safe(i, moment))
            apply(&made, &ops[i]);
    }
}

static bool is_right(const struct content *c, size_t begin, size_t end)
{
    return end <= c->len &&
           memcmp(c->data + begin, right + begin, end - begin) == 0;
}

/* Bytes that the next run would believe though they are wrong. */
static uint64_t wrong_bytes(uint64_t *out_believed)
{
    const struct content *part = &made.files[made.names[OUT_PART]];
    const struct content *text = &made.files[made.names[OUT_JOURNAL]];
    struct xd_journal_story story = {0};
    struct xd_rangeset believed;
    uint64_t wrong = 0;
    bool is_bad;

    *out_believed = 0;
    if (made.names[OUT] != NONE &&
        (made.files[made.names[OUT]].len != SIZE ||
         !is_right(&made.files[made.names[OUT]], 0, SIZE)))
        return SIZE;
    if (made.names[OUT_PART] == NONE || made.names[OUT_JOURNAL] == NONE)
        return 0;
    ck_assert_int_ge(xd_journal_take(&story, text->data, text->len, &is_bad),
                     0);
    ck_assert_int_eq(
        xd_journal_believed(&story, "another", part->len, &believed), 0);
    for (size_t i = 0; i < believed.n; i++) {
        struct xd_range r = believed.ranges[i];

        if (!is_right(part, (size_t)r.begin, (size_t)r.end))
            wrong += xd_range_length(r);
    }
    *out_believed = believed.bytes;
    xd_rangeset_fini(&believed);
    xd_journal_story_fini(&story);
    return wrong;
}

/* Over all moments; the most that is believed at any goes to *out_believed. */
static uint64_t wrong_bytes_ever(uint64_t *out_believed)
{
    uint64_t wrong = 0, believed;

    *out_believed = 0;
    srand(1);
    for (size_t moment = 0; moment <= n_ops; moment++) {
        for (unsigned how = 0; how < DISKS; how++) {
            make_disk(moment, how);
            wrong += wrong_bytes(&believed);
            if (*out_believed < believed)
                *out_believed = believed;
        }
    }
    return wrong;
}

/* ---- the run ---- */

static void put(const char *path, size_t len)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(right, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

static void set_up(void)
{

    for (size_t i = 0; i < SIZE; i++)
        right[i] = (unsigned char)(1 + (i * 7 + i / 251) % 255);
    n_ops = 0;
    forgets = NONE;
    first = (struct disk){.names = {NONE}};
    strcpy(folder, "/tmp/xd-power-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < N_NAMES; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, endings[i]);
    snprintf(source, sizeof source, "%s/source", folder);
    put(source, SIZE);
}

static void tear_down(void)
{
    for (size_t i = 0; i < n_ops; i++)
        free(ops[i].data);
    n_ops = 0;
    for (int i = 0; i < N_NAMES; i++)
        unlinkat(AT_FDCWD, paths[i], 0);
    unlinkat(AT_FDCWD, source, 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void run(const char *option, const char *value)
{
    struct xd_options *options;
    struct xd_manifest *manifest;
    struct xd_download *download;
    struct xd_error err;
    char text[400];
    int n = snprintf(text, sizeof text,
                     "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                     "<file name=\"out\"><size>%zu</size>"
                     "<url>file://%s</url></file></metalink>",
                     SIZE, source);

    clock_is_fast = true;
    ck_assert_int_eq(xd_options_new(&options, &err), 0);
    ck_assert_int_eq(xd_options_set(options, "block-size", "64k", &err), 0);
    ck_assert_int_eq(xd_options_set(options, option, value, &err), 0);
    ck_assert_msg(
        xd_manifest_parse(&manifest, text, (size_t)n, "a.meta4", &err) == 0,
        "%s", err.msg);
    ck_assert_msg(
        xd_download_new(&download, manifest, 0, paths[OUT], options, &err) == 0,
        "%s", err.msg);
    ck_assert_msg(xd_download_start(download, &err) == 0, "%s", err.msg);
    ck_assert_msg(xd_download_wait(download, -1, &err) == 0, "%s", err.msg);
    xd_download_free(download);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    clock_is_fast = false;
}

/* What is there now is what the disk had before the run. */
static void remember_first(void)
{
    for (int i = OUT_PART; i < N_NAMES; i++) {
        struct content c = {.data = malloc(SIZE)};
        FILE *f = fopen(paths[i], "r");

        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(c.data);
        c.len = fread(c.data, 1, SIZE, f);
        fclose(f);
        first.names[i] = file_of((enum name)i);
        copy_content(&first.files[file_of((enum name)i)], &c);
        free(c.data);
    }
    for (size_t i = 0; i < n_ops; i++)
        free(ops[i].data);
    n_ops = 0;
}

START_TEST(no_wrong_byte_is_believed_after_the_power_went)
{
    uint64_t believed;

    run("retry", "5");
    ck_assert_uint_eq(wrong_bytes_ever(&believed), 0);
    ck_assert_uint_ge(believed, SIZE / 4); /* it did sync meanwhile */
}
END_TEST

START_TEST(without_the_sync_of_the_file_wrong_bytes_would_be_believed)
{
    uint64_t believed;

    forgets = PART;
    run("retry", "5");
    ck_assert_uint_gt(wrong_bytes_ever(&believed), 0);
}
END_TEST

/* A quarter of the file is there and synced, and is to be forgotten. */
static void leave_a_quarter(void)
{
    static const struct xd_journal_identity identity = {
        .name = "out", .size = SIZE, .wanted = {0, SIZE}, .hashes = ""};
    struct xd_journal_story story;
    struct xd_journal *journal;
    struct xd_error err;

    put(paths[OUT_PART], SIZE / 4);
    ck_assert_int_eq(
        xd_journal_open(&journal, &story, paths[OUT_JOURNAL], &err), 0);
    ck_assert_int_eq(xd_journal_restart(journal, &identity, "one", &err), 0);
    ck_assert_int_eq(
        xd_journal_written(journal, (struct xd_range){0, SIZE / 4}, &err), 0);
    ck_assert_int_eq(xd_journal_synced(journal, xd_journal_mark(journal), &err),
                     0);
    xd_journal_story_fini(&story);
    xd_journal_free(journal);
    remember_first();
}

START_TEST(what_is_begun_anew_is_not_taken_for_what_was_there)
{
    uint64_t believed;

    leave_a_quarter();
    run("no-continue", "yes");
    ck_assert_uint_eq(wrong_bytes_ever(&believed), 0);
}
END_TEST

START_TEST(without_the_sync_of_the_journal_it_would_be)
{
    uint64_t believed;

    leave_a_quarter();
    forgets = JOURNAL;
    run("no-continue", "yes");
    ck_assert_uint_gt(wrong_bytes_ever(&believed), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("power");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, no_wrong_byte_is_believed_after_the_power_went);
    tcase_add_test(tcase,
                   without_the_sync_of_the_file_wrong_bytes_would_be_believed);
    tcase_add_test(tcase, what_is_begun_anew_is_not_taken_for_what_was_there);
    tcase_add_test(tcase, without_the_sync_of_the_journal_it_would_be);
    return run_suite("power", tcase);
}

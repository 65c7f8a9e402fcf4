/* SPDX-License-Identifier: MIT */
/*
 * The power goes at any moment: whatever the disk has kept by then, no byte
 * that it has not is taken for one that is there.
 *
 * The system's calls that change files are defined here, in front of the
 * real ones, and recorded.  After the run, disks are made up: for every moment,
 * all that was synced by then, and any of what was not, in part or whole.  Of
 * each it is looked at what a journal makes believe, and from a sample of them
 * (all of them with XD_ALL_DISKS, unless the disk lies) another run goes on.  The
 * clock runs a thousand times too fast, so that a short run syncs often.
 */
#define _DEFAULT_SOURCE /* syscall() */

#include <xdownload/download.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/journal/journal.h"
#include "os/file.h"
#include "suite.h"

#define SIZE ((size_t)2 << 20)
#define MAX_FD 200
#define MAX_OPS 4000
#define UNSYNCED (SIZE / 16) /* the run waits for the keeper from here on */
#define MOST_WAITS 2000      /* milliseconds, for all of a run */
#define DISKS 10             /* made up for every moment */
#define RESTARTS 10          /* in a sample */

/* ---- the files of the download ---- */

enum file { NONE, PART, JOURNAL, NEW_JOURNAL, FOLDER, N_FILES };
enum name { OUT, OUT_PART, OUT_JOURNAL, OUT_NEW, N_NAMES };

static char folder[SUITE_FOLDER], paths[N_NAMES][100], source[100];
static const char *const endings[N_NAMES] = {
    "out", "out.part", "out.part.journal", "out.part.journal.new"};
static const enum file made_as[N_NAMES] = {NONE, PART, JOURNAL, NEW_JOURNAL};

static unsigned char right[SIZE]; /* none is zero, as holes are */

/* ---- the recorder ---- */

enum kind {
    WRITE, /* data at offset */
    CUT,   /* to the length offset */
    NAME,  /* `name` is `file` now; NONE: nothing */
    MOVE,  /* so it is, and `from` is nothing, at once */
    SYNC   /* all before this op that is the file's is on the disk */
};

struct op {
    enum kind kind;
    enum file file;
    enum name name, from;
    size_t offset, len;
    unsigned char *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct op ops[MAX_OPS];
static size_t n_ops;
static enum file files[MAX_FD];     /* by descriptor */
static enum file leads_to[N_NAMES]; /* what each name leads to */
static bool is_recorded;            /* the run, on a clock that is fast */
static enum file forgets;           /* the disk lies of this one's syncs */
static size_t unsynced;             /* bytes of the file, before the lie */
static unsigned waits;

static void record(struct op op)
{
    if (!is_recorded) {
        free(op.data);
        return;
    }
    ck_assert_uint_lt(n_ops, MAX_OPS);
    ops[n_ops++] = op;
}

/* What `path` is of ours, by way of its open folder. */
static enum name name_of(int at, const char *path)
{
    int i = 0;

    if (at < 0 || at >= MAX_FD || files[at] != FOLDER)
        return N_NAMES;
    while (i < N_NAMES && strcmp(path, endings[i]) != 0)
        i++;
    return (enum name)i;
}

static int open_recorded(int at, const char *path, int flags, mode_t mode)
{
    enum name name = name_of(at, path);
    int fd;

    pthread_mutex_lock(&lock);
    fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < MAX_FD) {
        if (flags & O_CREAT && name < N_NAMES) {
            leads_to[name] = made_as[name];
            record((struct op){
                .kind = NAME, .file = leads_to[name], .name = name});
        }
        files[fd] = name < N_NAMES              ? leads_to[name]
                    : strcmp(path, folder) == 0 ? FOLDER
                                                : NONE;
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

int openat(int at, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    return open_recorded(at, path, flags, mode);
}

/* What hardened headers (_FORTIFY_SOURCE) make of an openat() whose flags the
 * compiler does not know. */
int __openat64_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags)
{
    return open_recorded(at, path, flags, 0);
}

int open(const char *path, int flags, ...)
{
    static const char boot_id[] = "/proc/sys/kernel/random/boot_id";
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    if (strcmp(path, boot_id) == 0)
        path = "/dev/null";
    return open_recorded(AT_FDCWD, path, flags, mode);
}

/* However seldom the keeper comes to run, it has synced several times when the
 * last byte is written. */
static void wait_for_sync(void)
{
    bool is_behind = true;

    while (is_behind) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        pthread_mutex_lock(&lock);
        is_behind = unsynced >= UNSYNCED && ++waits < MOST_WAITS;
        pthread_mutex_unlock(&lock);
    }
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    ssize_t n = -1;

    if (is_recorded && fd < MAX_FD && files[fd] == PART)
        wait_for_sync();
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
        unsynced += files[fd] == PART ? (size_t)n : 0;
    }
    pthread_mutex_unlock(&lock);
    return n;
}

int ftruncate(int fd, off_t length)
{
    enum file file = fd < MAX_FD ? files[fd] : NONE;
    enum name name = OUT_PART;
    int rc;

    if (file == NONE)
        return -1;
    pthread_mutex_lock(&lock);
    while (leads_to[name] != file)
        name = (enum name)(name + 1);
    rc = truncate(paths[name], length);
    record((struct op){.kind = CUT, .file = file, .offset = (size_t)length});
    pthread_mutex_unlock(&lock);
    return rc;
}

/* What is written while it takes may not be in it. */
static int sync_file(int fd)
{
    enum file file = fd < MAX_FD ? files[fd] : NONE;
    size_t at;

    if (!is_recorded)
        return 0;
    pthread_mutex_lock(&lock);
    at = n_ops;
    record((struct op){.kind = SYNC, .file = NONE});
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    pthread_mutex_lock(&lock);
    record((struct op){
        .kind = SYNC, .file = file == forgets ? NONE : file, .offset = at});
    if (file == PART)
        unsynced = 0;
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

/* So that names are given in two steps. */
int renameat2(int from_at, const char *from, int at, const char *to,
              unsigned flags);
int renameat2(int from_at, const char *from, int at, const char *to,
              unsigned flags)
{
    (void)from_at, (void)from, (void)at, (void)to, (void)flags;
    errno = ENOSYS;
    return -1;
}

int linkat(int from_at, const char *from, int at, const char *to, int flags)
{
    enum name name = name_of(at, to);
    int rc;

    pthread_mutex_lock(&lock);
    rc = (int)syscall(SYS_linkat, from_at, from, at, to, flags);
    if (rc == 0) {
        leads_to[name] = leads_to[name_of(from_at, from)];
        record((struct op){.kind = NAME, .file = leads_to[name], .name = name});
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int renameat(int from_at, const char *from, int at, const char *to)
{
    enum name name = name_of(at, to), old = name_of(from_at, from);
    int rc;

    pthread_mutex_lock(&lock);
    rc = (int)syscall(SYS_renameat2, from_at, from, at, to, 0);
    if (rc == 0) {
        leads_to[name] = leads_to[old];
        leads_to[old] = NONE;
        record((struct op){
            .kind = MOVE, .file = leads_to[name], .name = name, .from = old});
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int unlinkat(int at, const char *path, int flags)
{
    enum name name = name_of(at, path);
    int rc;

    pthread_mutex_lock(&lock);
    rc = (int)syscall(SYS_unlinkat, at, path, flags);
    if (rc == 0 && name < N_NAMES) {
        leads_to[name] = NONE;
        record((struct op){.kind = NAME, .file = NONE, .name = name});
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    uint64_t ns;

    (void)clock;
    timespec_get(out, TIME_UTC);
    if (!is_recorded)
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
    unsigned char *data; /* zeros behind its end */
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
        to->data = calloc(2, SIZE);
    ck_assert_ptr_nonnull(to->data);
    if (from->len > 0)
        memcpy(to->data, from->data, from->len);
    if (from->len < to->len)
        memset(to->data + from->len, 0, to->len - from->len);
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
    case MOVE:
        d->names[op->from] = NONE;
        d->names[op->name] = op->file;
        break;
    case NAME:
        d->names[op->name] = op->file;
        break;
    case SYNC:
        break;
    }
}

static bool is_name(const struct op *op)
{
    return op->kind == NAME || op->kind == MOVE;
}

/* Whether what ops[i] did is on the disk for certain at `moment`. */
static bool is_safe(size_t i, size_t moment)
{
    enum file file = is_name(&ops[i]) ? FOLDER : ops[i].file;

    for (size_t j = i + 1; j < moment; j++) {
        if (ops[j].kind == SYNC && ops[j].file == file && ops[j].offset > i)
            return true;
    }
    return false;
}

/* A write of which only the beginning has come to the disk. */
static void apply_torn(struct disk *d, struct op op)
{
    op.len = (size_t)rand() % op.len;
    apply(d, &op);
}

/* How much of what was not synced is lost: nothing, all, or some; or all of the
 * journal and some of the rest; or all of the file and nothing of the rest. */
static void make_disk(size_t moment, unsigned how)
{
    for (int i = PART; i < N_FILES; i++)
        copy_content(&made.files[i], &first.files[i]);
    memcpy(made.names, first.names, sizeof made.names);
    for (size_t i = 0; i < moment; i++) {
        bool is_kept = how == 0 || (how > 1 && rand() % 4 < 2);

        if ((how % 3 == 2 && is_name(&ops[i])) || how == 9)
            is_kept = true;
        if (ops[i].file == (how == 8   ? JOURNAL
                            : how == 9 ? PART
                                       : NONE) &&
            !is_name(&ops[i]))
            is_kept = false;
        if (is_safe(i, moment) ||
            (is_kept && (how <= 4 || rand() % 4 > 0 || ops[i].kind != WRITE)))
            apply(&made, &ops[i]);
        else if (is_kept)
            apply_torn(&made, ops[i]);
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
    struct xd_journal_contents contents = {0};
    struct xd_rangeset believed;
    uint64_t wrong = 0;
    bool is_bad;

    ck_assert_int_ge(xd_journal_take(&contents, text->data, text->len, &is_bad),
                     0);
    ck_assert_int_eq(
        xd_journal_believed(&contents, "another", part->len, &believed), 0);
    for (size_t i = 0; i < believed.n; i++) {
        struct xd_range r = believed.ranges[i];

        if (!is_right(part, (size_t)r.begin, (size_t)r.end))
            wrong += xd_range_length(r);
    }
    *out_believed = believed.bytes;
    xd_rangeset_fini(&believed);
    xd_journal_contents_fini(&contents);
    return wrong;
}

/* What the disks were like that were made up for all moments. */
struct findings {
    uint64_t wrong;            /* bytes that would be believed */
    uint64_t most, least;      /* that would be believed */
    unsigned restarts, spoilt; /* runs that went on; whose file was wrong */
    uint64_t resumed;          /* the most that one of them did not fetch */
};

static void restart(struct findings *f);

/* Whether something is wrong with it. */
static bool look_at_disk(struct findings *f)
{
    uint64_t before = f->wrong;
    const struct content *out = &made.files[made.names[OUT]];
    uint64_t believed;

    if (made.names[OUT] != NONE &&
        (out->len != SIZE || !is_right(out, 0, SIZE)))
        f->wrong += SIZE;
    if (made.names[OUT] != NONE || made.names[OUT_PART] == NONE ||
        made.names[OUT_JOURNAL] == NONE)
        return f->wrong > before;
    f->wrong += wrong_bytes(&believed);
    if (f->most < believed)
        f->most = believed;
    if (f->least > believed)
        f->least = believed;
    return f->wrong > before;
}

static struct findings look_at_all_disks(void)
{
    struct findings f = {.least = UINT64_MAX};
    bool is_wrong;
    size_t disk = 0, disks = (n_ops + 1) * DISKS;
    bool is_all = getenv("XD_ALL_DISKS") && forgets == NONE;
    size_t step = is_all ? 1 : disks / RESTARTS + 1;

    srand(1);
    for (size_t moment = 0; moment <= n_ops; moment++) {
        for (unsigned how = 0; how < DISKS; how++) {
            make_disk(moment, how);
            is_wrong = look_at_disk(&f);
            if (disk++ % step == 0 || (is_wrong && f.spoilt == 0))
                restart(&f);
        }
    }
    return f;
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
    n_ops = unsynced = waits = 0;
    forgets = NONE;
    memset(leads_to, 0, sizeof leads_to);
    first = (struct disk){.names = {NONE}};
    suite_folder(folder);
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
        unlink(paths[i]);
    unlink(source);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* How it ends, and how much of it was there already. */
static int download(const char *option, const char *value,
                    uint64_t *out_resumed, struct xd_error *err)
{
    struct xd_progress progress = {.struct_size = sizeof progress};
    struct xd_options *options;
    struct xd_manifest *manifest;
    struct xd_download *d;
    char text[400];
    int n = snprintf(text, sizeof text,
                     "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                     "<file name=\"out\"><size>%zu</size>"
                     "<url>file://%s</url></file></metalink>",
                     SIZE, source);
    int rc;

    ck_assert_int_eq(xd_options_new(&options, err), 0);
    ck_assert_int_eq(xd_options_set(options, "allow-file", "yes", err), 0);
    ck_assert_int_eq(xd_options_set(options, "block-size", "64k", err), 0);
    /* Blocks come from several places of the file at a time. */
    ck_assert_int_eq(xd_options_set(options, "algorithm", "basic", err), 0);
    ck_assert_int_eq(xd_options_set(options, "threads-per-depot", "2", err), 0);
    ck_assert_int_eq(xd_options_set(options, option, value, err), 0);
    ck_assert_msg(
        xd_manifest_parse(&manifest, text, (size_t)n, "a.meta4", err) == 0,
        "%s", err->msg);
    ck_assert_msg(
        xd_download_new(&d, manifest, 0, NULL, paths[OUT], options, err) == 0,
        "%s", err->msg);
    ck_assert_msg(xd_download_start(d, err) == 0, "%s", err->msg);
    rc = xd_download_wait(d, -1, err);
    xd_download_progress(d, &progress);
    *out_resumed = progress.bytes_resumed;
    xd_download_unref(d);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    return rc;
}

static void run(const char *option, const char *value)
{
    struct xd_error err;
    uint64_t resumed;

    is_recorded = true;
    ck_assert_msg(download(option, value, &resumed, &err) == 0, "%s", err.msg);
    is_recorded = false;
}

/* The machine comes up with the disk that was made up. */
static void put_disk(void)
{
    for (int i = OUT_PART; i < N_NAMES; i++) {
        const struct content *c = &made.files[made.names[i]];
        FILE *f;

        unlink(paths[i]);
        leads_to[i] = made.names[i];
        if (leads_to[i] == NONE)
            continue;
        f = fopen(paths[i], "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(c->data, 1, c->len, f), c->len);
        ck_assert_int_eq(fclose(f), 0);
    }
    unlink(paths[OUT]);
    leads_to[OUT] = NONE;
}

static bool out_is_right(void)
{
    static unsigned char data[SIZE + 1];
    struct content c = {.data = data};
    FILE *f = fopen(paths[OUT], "r");

    ck_assert_ptr_nonnull(f);
    c.len = fread(data, 1, sizeof data, f);
    fclose(f);
    return c.len == SIZE && is_right(&c, 0, SIZE);
}

/* What has its name is not begun again; what has lost its journal is left
 * alone, and that is said; of wrong bytes a comparison may find it out. */
static void restart(struct findings *f)
{
    struct xd_error err;
    uint64_t resumed;

    if (made.names[OUT] != NONE)
        return;
    put_disk();
    if (download("retry", "5", &resumed, &err) < 0) {
        bool is_spoilt = strstr(err.msg, "differ from those of") != NULL;

        ck_assert_msg(is_spoilt || strstr(err.msg, "no journal says"), "%s",
                      err.msg);
        f->spoilt += is_spoilt;
        return;
    }
    f->restarts++;
    f->spoilt += !out_is_right();
    if (f->resumed < resumed)
        f->resumed = resumed;
}

/* What is there now is what the disk had before the run. */
static void remember_first(void)
{
    for (int i = OUT_PART; i <= OUT_JOURNAL; i++) {
        struct content c = {.data = malloc(SIZE)};
        FILE *f = fopen(paths[i], "r");

        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(c.data);
        c.len = fread(c.data, 1, SIZE, f);
        fclose(f);
        first.names[i] = leads_to[i] = made_as[i];
        copy_content(&first.files[made_as[i]], &c);
        free(c.data);
    }
}

START_TEST(no_wrong_byte_is_believed_after_the_power_went)
{
    struct findings f;

    run("retry", "5");
    f = look_at_all_disks();
    ck_assert_uint_eq(f.wrong, 0);
    ck_assert_uint_ge(f.most, SIZE / 4); /* it did sync meanwhile */
    ck_assert_uint_ge(f.restarts, RESTARTS / 2);
    ck_assert_uint_eq(f.spoilt, 0);
    ck_assert_uint_ge(f.resumed, SIZE / 4); /* and they did go on */
}
END_TEST

/* Of a disk that keeps nothing but what is synced: a .part without a journal
 * would be left alone. */
START_TEST(when_the_journal_is_gone_the_name_is_on_the_disk)
{
    forgets = _i == 0 ? NONE : FOLDER;
    run("retry", "5");
    make_disk(n_ops, 1);
    ck_assert_int_eq(made.names[OUT], _i == 0 ? PART : NONE);
}
END_TEST

START_TEST(without_the_sync_of_the_file_wrong_bytes_would_be_believed)
{
    struct findings f;

    forgets = PART;
    run("retry", "5");
    f = look_at_all_disks();
    ck_assert_uint_gt(f.wrong, 0);
    ck_assert_uint_gt(f.spoilt, 0);
}
END_TEST

static int write_validator(struct xd_journal *journal)
{
    char url[120], stamp[XD_FILE_STAMP_SIZE];
    uint64_t size;
    int fd, rc;

    snprintf(url, sizeof url, "file://%s", source);
    ck_assert_int_eq(xd_file_open(&fd, &size, source, NULL), 0);
    xd_file_stamp(fd, stamp);
    rc = xd_journal_validator(journal, url, stamp, NULL);
    xd_file_close(fd);
    return rc;
}

/* A quarter of the file is there and synced, as `records` records say. */
static void leave_a_quarter(unsigned records)
{
    static const struct xd_journal_identity identity = {
        .name = "out", .size = SIZE, .wanted = {0, SIZE}, .hashes = ""};
    struct xd_journal_contents contents;
    struct xd_journal *journal;
    struct xd_error err;
    int in;

    put(paths[OUT_PART], SIZE / 4);
    ck_assert_int_eq(xd_folder_open(&in, paths[OUT_JOURNAL], &err), 0);
    ck_assert_int_eq(
        xd_journal_open(&journal, &contents, in, paths[OUT_JOURNAL], &err), 0);
    ck_assert_int_eq(xd_journal_restart(journal, &identity, "one", &err), 0);
    ck_assert_int_eq(write_validator(journal), 0);
    for (unsigned i = 0; i < records; i++)
        ck_assert_int_eq(
            xd_journal_written(journal, (struct xd_range){0, SIZE / 4}, &err),
            0);
    ck_assert_int_eq(xd_journal_synced(journal, xd_journal_mark(journal), &err),
                     0);
    xd_journal_contents_fini(&contents);
    xd_journal_free(journal);
    xd_file_close(in);
    remember_first();
}

START_TEST(what_is_begun_anew_is_not_taken_for_what_was_there)
{
    struct findings f;

    leave_a_quarter(1);
    run("no-continue", "yes");
    f = look_at_all_disks();
    ck_assert_uint_eq(f.wrong, 0);
    ck_assert_uint_eq(f.spoilt, 0);
}
END_TEST

START_TEST(without_the_sync_of_the_journal_it_would_be)
{
    leave_a_quarter(1);
    forgets = JOURNAL;
    run("no-continue", "yes");
    ck_assert_uint_gt(look_at_all_disks().wrong, 0);
}
END_TEST

/* So many records are more than 1 MiB. */
#define MANY 44000

START_TEST(nothing_is_lost_while_a_journal_is_written_anew)
{
    struct findings f;

    leave_a_quarter(MANY);
    run("retry", "5");
    f = look_at_all_disks();
    ck_assert_uint_eq(f.wrong, 0);
    ck_assert_uint_eq(f.spoilt, 0);
    ck_assert_uint_ge(f.least, SIZE / 4);
    ck_assert_uint_gt(f.most, SIZE / 4);
}
END_TEST

START_TEST(without_the_sync_of_the_new_journal_it_would_be)
{
    leave_a_quarter(MANY);
    forgets = NEW_JOURNAL;
    run("retry", "5");
    ck_assert_uint_lt(look_at_all_disks().least, SIZE / 4);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("power");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, no_wrong_byte_is_believed_after_the_power_went);
    tcase_add_loop_test(tcase, when_the_journal_is_gone_the_name_is_on_the_disk,
                        0, 2);
    tcase_add_test(tcase,
                   without_the_sync_of_the_file_wrong_bytes_would_be_believed);
    tcase_add_test(tcase, what_is_begun_anew_is_not_taken_for_what_was_there);
    tcase_add_test(tcase, without_the_sync_of_the_journal_it_would_be);
    tcase_add_test(tcase, nothing_is_lost_while_a_journal_is_written_anew);
    tcase_add_test(tcase, without_the_sync_of_the_new_journal_it_would_be);
    return run_suite("power", tcase);
}

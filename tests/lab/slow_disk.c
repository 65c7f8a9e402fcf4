/* SPDX-License-Identifier: MIT */
/*
 * slow_disk - the files of a folder as if they were on a disk with one arm.
 *
 *     server --> page cache --> FUSE --> queue --> arm --> files of the folder
 *
 * One read after the other, in the order in which the kernel asks: a read that does
 * not go on where the last one ended waits for the arm first, and each byte takes its
 * time.  What the kernel keeps of them it does not ask for again; an open drops none
 * of it.  That memory belongs to the process that reads, and to its control group,
 * as it would with a disk; what the files behind are kept in saves no time here.
 *
 * What was read stands in a file of the mounted folder, .disk: names and numbers.
 *
 * Life: ends on SIGTERM, with the process that has started it, or when it is
 * unmounted.  Prints a line when it is mounted.
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fuse_lowlevel.h>

#define COUNTS ".disk"

enum {
    FILES_MOST = 64,
    FIRST_INODE = FUSE_ROOT_ID + 1, /* of the counts; files follow */
    READ_MOST = 1 << 20,            /* the kernel asks for no more at a time */
    WAITING_MOST = 1024,            /* reads ahead under way, for all readers */
};

/* Nothing changes while it is mounted: the kernel need not ask again, s. */
static const double for_ever = 1e6;

struct file {
    char *name;
    int fd; /* -1: the counts */
    struct stat is;
};

struct job {
    struct job *next;
    fuse_req_t req;
    const struct file *file;
    uint64_t at;
    size_t len;
};

struct disk {
    /* Constant once it is mounted. */
    double seek_s, bytes_per_s;
    struct file files[FILES_MOST];
    size_t n;

    pthread_mutex_t lock;
    pthread_cond_t work_ready; /* the arm: there is a job, or the end */
    /* Guarded by lock. */
    struct job *first, **last;
    bool is_over;
    uint64_t bytes, reads, seeks;

    /* Owned by the arm's thread. */
    char *memory;
    const struct file *file; /* where it is */
    uint64_t at;
    double free_at;
};

static void die(const char *what)
{
    fprintf(stderr, "slow_disk: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- the arm ---- */

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void sleep_until(double s)
{
    struct timespec ts = {.tv_sec = (time_t)s};

    ts.tv_nsec = (long)((s - (double)ts.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        ;
}

/* Each read takes its time from the end of the one before it, so that a late thread
 * does not make a slower disk. */
static bool move(struct disk *d, const struct job *j)
{
    const bool is_seek = j->file != d->file || j->at != d->at;
    const double now = now_s();

    if (d->free_at < now)
        d->free_at = now;
    d->free_at += (is_seek ? d->seek_s : 0) + (double)j->len / d->bytes_per_s;
    d->file = j->file;
    d->at = j->at + j->len;
    sleep_until(d->free_at);
    return is_seek;
}

static void carry_out(struct disk *d, const struct job *j)
{
    const bool is_seek = move(d, j);
    const ssize_t n = pread(j->file->fd, d->memory, j->len, (off_t)j->at);
    const int failed = errno;

    /* Before the reader can ask for it. */
    pthread_mutex_lock(&d->lock);
    d->bytes += n > 0 ? (uint64_t)n : 0;
    d->seeks += is_seek;
    d->reads++;
    pthread_mutex_unlock(&d->lock);
    if (n >= 0)
        fuse_reply_buf(j->req, d->memory, (size_t)n);
    else
        fuse_reply_err(j->req, failed);
}

static struct job *take(struct disk *d)
{
    pthread_mutex_lock(&d->lock);
    while (d->first == NULL && !d->is_over)
        pthread_cond_wait(&d->work_ready, &d->lock);
    struct job *j = d->is_over ? NULL : d->first;
    if (j != NULL) {
        d->first = j->next;
        if (d->first == NULL)
            d->last = &d->first;
    }
    pthread_mutex_unlock(&d->lock);
    return j;
}

static void *move_arm(void *arg)
{
    struct disk *d = arg;
    struct job *j;

    while ((j = take(d)) != NULL) {
        carry_out(d, j);
        free(j);
    }
    return NULL;
}

/* ---- what the kernel asks ---- */

static struct disk *disk_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

static const struct file *file_of(fuse_req_t req, fuse_ino_t ino)
{
    const struct disk *d = disk_of(req);

    return ino >= FIRST_INODE && ino - FIRST_INODE < d->n
               ? &d->files[ino - FIRST_INODE]
               : NULL;
}

static void on_init(void *user, struct fuse_conn_info *conn)
{
    (void)user;
    conn->max_background = WAITING_MOST;
    conn->congestion_threshold = WAITING_MOST;
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    const struct disk *d = disk_of(req);
    struct fuse_entry_param e = {.attr_timeout = for_ever,
                                 .entry_timeout = for_ever};

    for (size_t i = 0; i < d->n && parent == FUSE_ROOT_ID; i++)
        if (strcmp(d->files[i].name, name) == 0) {
            e.ino = FIRST_INODE + i;
            e.attr = d->files[i].is;
            e.attr.st_ino = e.ino;
        }
    if (e.ino != 0)
        fuse_reply_entry(req, &e);
    else
        fuse_reply_err(req, ENOENT);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino,
                       struct fuse_file_info *fi)
{
    const struct file *f = file_of(req, ino);
    struct stat is = {.st_mode = S_IFDIR | 0755, .st_nlink = 2};

    (void)fi;
    if (f != NULL)
        is = f->is;
    else if (ino != FUSE_ROOT_ID) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    is.st_ino = ino;
    fuse_reply_attr(req, &is, for_ever);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    const struct file *f = file_of(req, ino);

    if (f == NULL || (fi->flags & O_ACCMODE) != O_RDONLY) {
        fuse_reply_err(req, f == NULL ? EISDIR : EROFS);
        return;
    }
    fi->direct_io = f->fd < 0;
    fi->keep_cache = f->fd >= 0;
    fuse_reply_open(req, fi);
}

static void reply_counts(fuse_req_t req, uint64_t at)
{
    struct disk *d = disk_of(req);
    char text[120];

    pthread_mutex_lock(&d->lock);
    const int len =
        snprintf(text, sizeof text,
                 "bytes %" PRIu64 "\nreads %" PRIu64 "\nseeks %" PRIu64 "\n",
                 d->bytes, d->reads, d->seeks);
    pthread_mutex_unlock(&d->lock);
    const size_t from = at < (uint64_t)len ? (size_t)at : (size_t)len;
    fuse_reply_buf(req, text + from, (size_t)len - from);
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t len, off_t at,
                    struct fuse_file_info *fi)
{
    struct disk *d = disk_of(req);
    const struct file *f = file_of(req, ino);

    (void)fi;
    if (f == NULL || f->fd < 0 || at >= f->is.st_size) {
        if (f != NULL && f->fd < 0)
            reply_counts(req, (uint64_t)at);
        else
            fuse_reply_buf(req, NULL, 0);
        return;
    }
    struct job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    if (len > (uint64_t)(f->is.st_size - at))
        len = (size_t)(f->is.st_size - at);
    if (len > READ_MOST)
        len = READ_MOST;
    *j = (struct job){.req = req, .file = f, .at = (uint64_t)at, .len = len};
    pthread_mutex_lock(&d->lock);
    *d->last = j;
    d->last = &j->next;
    pthread_cond_signal(&d->work_ready);
    pthread_mutex_unlock(&d->lock);
}

static const struct fuse_lowlevel_ops operations = {.init = on_init,
                                                    .lookup = on_lookup,
                                                    .getattr = on_getattr,
                                                    .open = on_open,
                                                    .read = on_read};

/* ---- the command line ---- */

static void usage(void)
{
    fputs(
        "usage: slow_disk --seek MS --rate BYTES_PER_S FOLDER MOUNTPOINT\n"
        "The files that FOLDER has now; MOUNTPOINT/.disk says what was read.\n"
        "Ends on SIGTERM.\n",
        stderr);
    exit(2);
}

static double number(const char *text)
{
    char *end;
    const double value = strtod(text, &end);

    if (*text == '\0' || *end != '\0' || !(value >= 0 && value <= 1e18))
        usage();
    return value;
}

static void add(struct disk *d, const char *name, int fd)
{
    struct file *f = &d->files[d->n];

    *f = (struct file){.name = strdup(name),
                       .fd = fd,
                       .is = {.st_mode = S_IFREG | 0444, .st_nlink = 1}};
    if (f->name == NULL || (fd >= 0 && fstat(fd, &f->is) != 0))
        die(name);
    if (fd >= 0 && !S_ISREG(f->is.st_mode)) {
        close(fd);
        free(f->name);
    } else {
        d->n++;
    }
}

static void read_folder(struct disk *d, const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;

    if (dir == NULL)
        die(folder);
    add(d, COUNTS, -1);
    while ((e = readdir(dir)) != NULL && d->n < FILES_MOST) {
        const int fd = e->d_name[0] == '.' ? -1
                                           : openat(dirfd(dir), e->d_name,
                                                    O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            add(d, e->d_name, fd);
    }
    closedir(dir);
}

static int serve(struct disk *d, const char *mountpoint)
{
    char name[] = "slow_disk", flag[] = "-o";
    char options[] = "allow_other,ro,fsname=slow_disk";
    char *argv[] = {name, flag, options, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(3, argv);
    struct fuse_session *se =
        fuse_session_new(&args, &operations, sizeof operations, d);
    pthread_t arm;

    if (se == NULL || fuse_set_signal_handlers(se) != 0 ||
        fuse_session_mount(se, mountpoint) != 0)
        return 1; /* it has said why */
    if (pthread_create(&arm, NULL, move_arm, d) != 0)
        die("thread");
    puts("mounted");
    fflush(stdout);
    const int rc = fuse_session_loop(se);
    pthread_mutex_lock(&d->lock);
    d->is_over = true;
    pthread_cond_signal(&d->work_ready);
    pthread_mutex_unlock(&d->lock);
    pthread_join(arm, NULL);
    fuse_session_unmount(se);
    fuse_remove_signal_handlers(se);
    fuse_session_destroy(se);
    fuse_opt_free_args(&args);
    return rc < 0; /* above: a signal */
}

int main(int argc, char **argv)
{
    static struct disk d = {.seek_s = -1,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .work_ready = PTHREAD_COND_INITIALIZER};

    for (int i = 1; i + 1 < argc - 2; i += 2)
        if (strcmp(argv[i], "--seek") == 0)
            d.seek_s = number(argv[i + 1]) / 1000;
        else if (strcmp(argv[i], "--rate") == 0)
            d.bytes_per_s = number(argv[i + 1]);
        else
            usage();
    if (argc != 7 || d.seek_s < 0 || d.bytes_per_s <= 0)
        usage();
    d.last = &d.first;
    d.memory = malloc(READ_MOST);
    if (d.memory == NULL)
        die("memory");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    read_folder(&d, argv[argc - 2]);
    return serve(&d, argv[argc - 1]);
}

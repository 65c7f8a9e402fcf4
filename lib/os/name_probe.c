/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* for mkdtemp() */

#include "os/name_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/text.h"

struct xd_name_probe {
    char *folder;
    int fd;       /* the open folder */
    char **paths; /* owned: paths that were added */
    size_t n, capacity;
};

/* Removes the last component; leaves "" if there is only one. */
static void go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == path)
        slash++;
    *(slash ? slash : path) = '\0';
}

static char *template_in(const char *directory)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(&t, "%s%s.xdownload-names-XXXXXX", directory,
                 directory[0] != '\0' ? "/" : "");
    if (t.failed)
        xd_text_fini(&t);
    return t.s;
}

/* Creates the temporary folder; shortens `directory` until it exists. */
static char *make_folder(char *directory)
{
    for (;;) {
        char *folder = template_in(directory);

        if (!folder || mkdtemp(folder))
            return folder;
        xd_free(folder);
        if (errno != ENOENT || directory[0] == '\0' ||
            strcmp(directory, "/") == 0)
            return NULL;
        go_up(directory);
    }
}

struct xd_name_probe *xd_name_probe_new(const char *directory)
{
    struct xd_name_probe *p = xd_alloc(1, sizeof *p);
    char *above = xd_strdup(directory ? directory : "");

    if (p && above)
        p->folder = make_folder(above);
    xd_free(above);
    if (!p || !p->folder) {
        xd_free(p);
        return NULL;
    }
    p->fd = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->fd < 0) {
        xd_name_probe_free(p);
        return NULL;
    }
    return p;
}

/* Creates the folders of the path.  Temporarily cuts `path` at each slash.
 * Returns 0 or an errno. */
static int make_folders(const struct xd_name_probe *p, char *path)
{
    int failure = 0;

    for (char *slash = strchr(path, '/'); slash && failure == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(p->fd, path, 0700) != 0 && errno != EEXIST)
            failure = errno;
        *slash = '/';
    }
    return failure;
}

static int keep(struct xd_name_probe *p, char *path)
{
    char **paths = xd_grow(p->paths, p->n, &p->capacity, sizeof *paths);

    if (!paths)
        return ENOMEM;
    p->paths = paths;
    p->paths[p->n++] = path;
    return 0;
}

int xd_name_probe_add(struct xd_name_probe *p, const char *path)
{
    char *own = xd_strdup(path);
    int failure = own ? keep(p, own) : ENOMEM, fd;

    if (failure != 0) {
        xd_free(own);
        return failure;
    }
    failure = make_folders(p, own);
    if (failure != 0)
        return failure;
    fd = openat(p->fd, own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

bool xd_name_probe_is_same(const struct xd_name_probe *p, const char *a,
                           const char *b)
{
    struct stat x, y;

    return fstatat(p->fd, a, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(p->fd, b, &y, AT_SYMLINK_NOFOLLOW) == 0 &&
           x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Removes the file and then each of its folders that is empty. */
static void remove_path(const struct xd_name_probe *p, char *path)
{
    (void)unlinkat(p->fd, path, 0);
    for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
        *slash = '\0';
        if (unlinkat(p->fd, path, AT_REMOVEDIR) != 0)
            return;
    }
}

void xd_name_probe_free(struct xd_name_probe *p)
{
    if (!p)
        return;
    for (size_t i = p->n; i-- > 0;) {
        remove_path(p, p->paths[i]);
        xd_free(p->paths[i]);
    }
    if (p->fd >= 0)
        close(p->fd);
    (void)rmdir(p->folder);
    xd_free(p->folder);
    xd_free(p->paths);
    xd_free(p);
}

/* SPDX-License-Identifier: MIT */
#include "args/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "common/status.h"
#include "common/words.h"

/* Returns "DIR/NAMETAIL", which the caller frees.  Omits "DIR/" if `dir` is
 * NULL or the name is absolute.  Returns NULL if memory runs out. */
static char *join(const char *dir, const char *name, const char *tail)
{
    const bool uses_dir = dir != NULL && name[0] != '/';
    const size_t dir_len = uses_dir ? strlen(dir) : 0;
    const bool has_slash = dir_len > 0 && dir[dir_len - 1] == '/';
    const size_t size = dir_len + 1 + strlen(name) + strlen(tail) + 1;
    char *path = malloc(size);

    if (path != NULL)
        snprintf(path, size, "%s%s%s%s", uses_dir ? dir : "",
                 uses_dir && !has_slash ? "/" : "", name, tail);
    return path;
}

int target_init(struct target *t, const struct args *a, const char *inner,
                const char *input)
{
    const char *name = a->output != NULL ? a->output : inner;

    *t = (struct target){.fd = -1};
    if (args_to_stdout(a)) {
        t->fd = STDOUT_FILENO;
        return 0;
    }
    if (name == NULL)
        return words_usage("%s does not name the file: %s%s", input,
                           a->list != NULL ? "write out=NAME in an indented "
                                             "line below it"
                                           : "give -o FILE",
                           args_is_on(a, "content-disposition")
                               ? ""
                               : ", or let the server name it with "
                                 "--content-disposition");
    t->path = join(a->directory, name, "");
    t->part = join(a->directory, name, ".part");
    if (a->output == NULL)
        t->inner = strdup(inner);
    if (t->path != NULL && t->part != NULL &&
        (t->inner != NULL || a->output != NULL))
        return 0;
    target_fini(t);
    words_error("out of memory");
    return STATUS_FAILED;
}

void target_fini(struct target *t)
{
    if (t->path != NULL && t->fd >= 0)
        close(t->fd);
    free(t->path);
    free(t->part);
    free(t->inner);
    *t = (struct target){.fd = -1};
}

bool target_is_ordered(const struct target *t)
{
    struct stat st;

    return t->path != NULL && t->inner == NULL && stat(t->path, &st) == 0 &&
           !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool target_exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

bool target_is_behind_link(const struct target *t)
{
    struct stat st;
    bool is_link = false;

    if (t->inner == NULL)
        return false;
    char *const inner = t->path + strlen(t->path) - strlen(t->inner);
    for (char *end = inner; !is_link && (end = strchr(end, '/')) != NULL;
         end++) {
        *end = '\0';
        is_link = lstat(t->path, &st) == 0 && S_ISLNK(st.st_mode);
        *end = '/';
    }
    return is_link;
}

int target_check(const struct target *t, const struct args *a, char *why,
                 size_t size)
{
    struct stat st, end;

    if (t->path == NULL || target_is_ordered(t) || target_is_behind_link(t) ||
        lstat(t->path, &st) < 0)
        return 0;
    if (stat(t->path, &end) == 0 && S_ISDIR(end.st_mode))
        snprintf(why, size, "%s is a folder: --directory puts files into it",
                 t->path);
    else if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        snprintf(why, size, "%s is no regular file: -o writes to it", t->path);
    else if (!t->replaces && !args_is_on(a, "force"))
        snprintf(why, size, "%s exists already: --force replaces it", t->path);
    else
        return 0;
    return STATUS_LOCAL;
}

static bool is_writable(int fd)
{
    const int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* Returns true if the folder of the path that the user gave does not exist.
 * (Folders for paths in a manifest are created.) */
static bool lacks_folder(const struct target *t, size_t *out_len)
{
    const char *slash = t->path != NULL ? strrchr(t->path, '/') : NULL;
    struct stat st;

    if (slash == NULL || slash == t->path || t->inner != NULL)
        return false;
    char *const folder = strndup(t->path, (size_t)(slash - t->path));
    const bool lacks =
        folder != NULL && stat(folder, &st) < 0 && errno == ENOENT;
    *out_len = (size_t)(slash - t->path);
    free(folder);
    return lacks;
}

int target_open(struct target *t, const struct args *a, char *why, size_t size)
{
    struct stat st;

    if (t->path == NULL && !is_writable(t->fd)) {
        snprintf(why, size, "standard output is not open for writing");
        return STATUS_LOCAL;
    }
    size_t len;
    if (lacks_folder(t, &len)) {
        snprintf(why, size, "%s: there is no folder %.*s: make it first",
                 t->path, (int)len, t->path);
        return STATUS_LOCAL;
    }
    const int status = target_check(t, a, why, size);
    if (status != 0 || !target_is_ordered(t))
        return status;
    t->fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (t->fd < 0)
        snprintf(why, size, "%s: %s", t->path, strerror(errno));
    else if (fstat(t->fd, &st) == 0 && S_ISREG(st.st_mode))
        snprintf(why, size, "%s has become a regular file meanwhile", t->path);
    else
        return 0;
    return STATUS_LOCAL;
}

const char *target_path(const struct target *t)
{
    return t->path != NULL ? t->path : "-";
}

const char *target_name(const struct target *t)
{
    if (t->path == NULL)
        return "standard output";
    if (t->inner != NULL)
        return t->inner;
    const char *slash = strrchr(t->path, '/');
    return slash != NULL ? slash + 1 : t->path;
}

/* SPDX-License-Identifier: MIT */
#include "bench/results.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/status.h"
#include "common/words.h"

static int no_memory(void)
{
    words_error("out of memory");
    return STATUS_FAILED;
}

static int fail(const struct results *r, const char *what)
{
    words_error("%s cannot be %s: %s",
                r->path != NULL ? r->path : "standard output", what,
                strerror(errno));
    return STATUS_LOCAL;
}

/* ---- reading ---- */

static int bad_line(const struct results *r, size_t number)
{
    if (number == 1)
        words_error("%s holds no results of this version of xdownload bench "
                    "(format " ROW_FORMAT "), and is left as it is: use the "
                    "version that wrote it, or another file",
                    r->path);
    else
        words_error("%s: line %zu is no result: remove that line, or use "
                    "another file",
                    r->path, number);
    return STATUS_LOCAL;
}

/* Appends a row.  The capacity doubles as the list grows. */
static bool keep(struct results *r, const struct row *row)
{
    if ((r->n & (r->n - 1)) == 0) {
        const size_t room = r->n > 0 ? 2 * r->n : 1;
        struct row *rows = realloc(r->rows, room * sizeof *rows);
        if (rows == NULL)
            return false;
        r->rows = rows;
    }
    r->rows[r->n++] = *row;
    return true;
}

static int read_line(struct results *r, const char *line, size_t number)
{
    struct row row;

    if (number == 1)
        r->is_json = line[0] == '{';
    if (number == 1 && !r->is_json)
        return row_are_titles(line) ? 0 : bad_line(r, number);
    if (!(r->is_json ? row_read_json(&row, line) : row_read_csv(&row, line)))
        return bad_line(r, number);
    if (keep(r, &row))
        return 0;
    row_fini(&row);
    return no_memory();
}

/* Reads all complete lines.  Sets *out_end to the end of the last complete
 * line. */
static int read_lines(struct results *r, FILE *f, int64_t *out_end)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t len;
    int status = 0;

    *out_end = 0;
    while (status == 0 && (len = getline(&line, &room, f)) > 0) {
        number++;
        if (line[len - 1] != '\n') {
            words_error("warning: %s: line %zu, the last, is incomplete and "
                        "does not count",
                        r->path, number);
            break;
        }
        line[len - 1] = '\0';
        if (len > 1 && line[len - 2] == '\r')
            line[len - 2] = '\0';
        *out_end += len;
        status = strlen(line) + 2 < (size_t)len ? bad_line(r, number)
                                                : read_line(r, line, number);
    }
    free(line);
    if (status == 0 && ferror(f))
        return fail(r, "read");
    return status;
}

static int read_from(struct results *r, int fd, int64_t *out_end)
{
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (f == NULL) {
        const int status = fail(r, "read");
        if (fd >= 0)
            close(fd);
        return status;
    }
    const int status = read_lines(r, f, out_end);
    fclose(f);
    return status;
}

int results_read(struct results *r, const char *path)
{
    int64_t end;

    *r = (struct results){.path = path, .fd = -1};
    return read_from(r, open(path, O_RDONLY | O_CLOEXEC), &end);
}

/* ---- writing ---- */

static int put(struct results *r, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(r->fd, text, len);
        if (n < 0 && errno == EPIPE)
            return STATUS_PIPE;
        if (n < 0 && errno != EINTR)
            return fail(r, "written");
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

int results_add(struct results *r, const struct row *row)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return no_memory();
    if (r->needs_titles)
        row_put_titles(to);
    if (r->is_json)
        row_put_json(to, row);
    else
        row_put_csv(to, row);
    const int status = fclose(to) == 0 ? put(r, text, len) : no_memory();
    free(text);
    r->needs_titles = false;
    return status;
}

/* Locks the results file, because two sweeps at the same time would repeat each
 * other's runs. */
static int lock(const struct results *r)
{
    /* Unlike a lock of fcntl(), it outlives the descriptor that is closed after
     * reading. */
    if (flock(r->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0; /* some file systems have no locks */
    words_error("%s is being written by another xdownload bench", r->path);
    return STATUS_LOCAL;
}

static int check_form(const struct results *r, bool is_json, int64_t end)
{
    if (end == 0 || r->is_json == is_json)
        return 0;
    return words_usage("%s holds results as %s: add to it %s --json, or use "
                       "another file",
                       r->path, is_json ? "CSV" : "JSON",
                       is_json ? "without" : "with");
}

static int open_file(struct results *r)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;

    r->fd = open(r->path, flags | O_EXCL, 0666);
    r->is_new = r->fd >= 0;
    if (r->fd < 0 && errno == EEXIST)
        r->fd = open(r->path, flags, 0666);
    return r->fd < 0 ? fail(r, "written") : lock(r);
}

static int open_for_more(struct results *r, bool is_json)
{
    int64_t end = 0;

    int status = open_file(r);
    /* reading closes the descriptor, so it gets a copy */
    if (status == 0)
        status = read_from(r, dup(r->fd), &end);
    if (status == 0)
        status = check_form(r, is_json, end);
    if (status == 0 && lseek(r->fd, 0, SEEK_END) > end &&
        ftruncate(r->fd, end) < 0)
        status = fail(r, "written");
    r->is_json = is_json;
    r->needs_titles = end == 0 && !is_json;
    return status;
}

int results_open(struct results *r, const char *path, bool is_json)
{
    *r = (struct results){.path = path, .is_json = is_json, .fd = -1};
    if (path != NULL && strcmp(path, "-") != 0)
        return open_for_more(r, is_json);
    r->path = NULL;
    r->fd = STDOUT_FILENO;
    r->needs_titles = !is_json;
    return 0;
}

void results_fini(struct results *r)
{
    for (size_t i = 0; i < r->n; i++)
        row_fini(&r->rows[i]);
    free(r->rows);
    if (r->is_new && lseek(r->fd, 0, SEEK_END) == 0)
        (void)unlink(r->path);
    if (r->fd > STDERR_FILENO)
        close(r->fd);
}

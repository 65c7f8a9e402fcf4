/* SPDX-License-Identifier: MIT */
#include "common/installed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "common/status.h"
#include "common/words.h"

bool installed_find(char out[INSTALLED_PATH_SIZE], const char *name)
{
    static const char *const folders[] = {".", XD_SHARE};
    char command[INSTALLED_PATH_SIZE];
    const ssize_t len = readlink("/proc/self/exe", command, sizeof command - 1);

    if (len < 0)
        return false;
    command[len] = '\0';
    char *slash = strrchr(command, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const int n = snprintf(out, INSTALLED_PATH_SIZE, "%s/%s/%s", command,
                               folders[i], name);
        if (n > 0 && n < INSTALLED_PATH_SIZE && access(out, F_OK) == 0)
            return true;
    }
    return false;
}

int installed_run(const char *name, const char *const *arguments)
{
    char path[INSTALLED_PATH_SIZE], file[80];
    size_t n = 0;

    snprintf(file, sizeof file, "scripts/%s", name);
    if (!installed_find(path, file)) {
        words_error("the script %s is not installed with the command", name);
        return STATUS_LOCAL;
    }
    while (arguments[n] != NULL)
        n++;
    /* -I makes Python ignore modules in the current folder and in the
     * environment. */
    const char *const head[] = {"python3", "-I", path};
    char **argv = calloc(n + 4, sizeof *argv);
    if (argv == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    memcpy(argv, head, sizeof head);
    memcpy(argv + 3, arguments, n * sizeof *argv);
    fflush(NULL);
    execvp(argv[0], argv);
    words_error("python3 is needed to run %s, and cannot be started: %s", path,
                strerror(errno));
    free(argv);
    return STATUS_LOCAL;
}

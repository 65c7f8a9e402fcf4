/* SPDX-License-Identifier: MIT */
#include "play/browser.h"

#include <stdlib.h>
#include <string.h>

#include <sys/wait.h>

#include "common/status.h"
#include "common/words.h"

#define WORDS_MAX 20

/* Splits a command line in place into NULL-terminated words.  Returns their
 * number. */
static size_t cut_words(char *command, const char **words)
{
    size_t n = 0;
    char *rest;

    for (char *w = strtok_r(command, " ", &rest); w != NULL && n < WORDS_MAX;
         w = strtok_r(NULL, " ", &rest))
        words[n++] = w;
    words[n] = NULL;
    return n;
}

static bool open_by(struct player *p, char *command, const char *url)
{
    const char *words[WORDS_MAX + 2];
    const size_t n = cut_words(command, words);
    bool has_url = false;

    for (size_t i = 1; i < n; i++)
        if (strcmp(words[i], "%s") == 0) {
            words[i] = url;
            has_url = true;
        }
    if (!has_url) {
        words[n] = url;
        words[n + 1] = NULL;
    }
    if (n == 0 || player_spawn(p, words) != 0)
        return false;
    p->program = NULL; /* `program` points into `command`, which is freed */
    return true;
}

int browser_open(struct player *p, const char *url)
{
    const char *named = getenv("BROWSER");
    const char *programs = named != NULL && *named != '\0' ? named : "xdg-open";
    char *list = strdup(programs), *rest;
    bool is_open = false;

    if (list == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    for (char *c = strtok_r(list, ":", &rest); c != NULL && !is_open;
         c = strtok_r(NULL, ":", &rest))
        is_open = open_by(p, c, url);
    free(list);
    if (is_open)
        return 0;
    words_error("there is no browser %s: install xdg-utils, name one in "
                "BROWSER, or use xdownload serve and open its page yourself",
                programs);
    return STATUS_LOCAL;
}

void browser_look(struct player *p)
{
    int status;

    if (!p->has_ended && waitpid(p->pid, &status, WNOHANG) != 0)
        p->has_ended = true;
}

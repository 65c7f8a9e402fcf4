/* SPDX-License-Identifier: MIT */
#include "io/http/ftp_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct xd_ftp_object *xd_ftp_known(struct xd_ftp_shared *shared,
                                   const struct xd_url *url)
{
    return shared->url != NULL && xd_url_compare(shared->url, url) == 0
               ? &shared->object
               : NULL;
}

void xd_ftp_ask(struct xd_ftp_shared *shared, const struct xd_url *url)
{
    if (xd_ftp_known(shared, url) != NULL)
        return;
    if (shared->url == NULL || !xd_url_same_origin(shared->url, url))
        shared->proved_to = 0;
    xd_free(shared->url);
    shared->url = xd_url_copy(url);
    shared->object = (struct xd_ftp_object){.has_no_size = false};
}

/* Gets the path as libcurl sends it with RETR: decoded, without the first slash
 * and without a type suffix.  *out belongs to libcurl.  It is NULL if the path
 * cannot be used; libcurl would refuse such a path, too.  Returns false if out
 * of memory. */
static bool path_of(CURL *e, const struct xd_url *url, char **out)
{
    CURLU *u = curl_url();
    char *path = NULL, *type;
    CURLUcode rc;
    int len = 0;

    *out = NULL;
    if (u == NULL)
        return false;
    rc = curl_url_set(u, CURLUPART_URL, xd_url_secret_text(url), 0);
    if (rc == CURLUE_OK)
        rc = curl_url_get(u, CURLUPART_PATH, &path, 0);
    curl_url_cleanup(u);
    if (rc == CURLUE_OK) {
        type = strstr(path, ";type=");
        if (type != NULL)
            *type = '\0';
        *out = curl_easy_unescape(e, path[0] == '/' ? path + 1 : path, 0, &len);
        if (*out == NULL)
            rc = CURLUE_OUT_OF_MEMORY;
    }
    curl_free(path);
    for (int i = 0; i < len; i++) {
        /* a control character would end the command */
        if ((unsigned char)(*out)[i] < ' ') {
            len = 0;
            break;
        }
    }
    if (*out != NULL && (len == 0 || (*out)[len - 1] == '/')) {
        curl_free(*out);
        *out = NULL;
    }
    return rc != CURLUE_OUT_OF_MEMORY;
}

/* Makes a command like "SIZE path"; *out is NULL if the path is not usable.
 * Returns false if out of memory. */
static bool make_command(char **out, const char *verb, CURL *e,
                         const struct xd_url *url)
{
    struct xd_text command = {.s = NULL};
    char *path;

    if (!path_of(e, url, &path))
        return false;
    if (path == NULL)
        return true;
    xd_text_addf(&command, "%s %s", verb, path);
    curl_free(path);
    if (command.failed) {
        xd_text_fini(&command);
        return false;
    }
    *out = command.s;
    return true;
}

/* Prepends a command to the list unless it is NULL. */
static void put_first(struct xd_ftp_commands *c, size_t i, char *command,
                      struct curl_slist **first)
{
    if (command == NULL)
        return;
    c->list[i] = (struct curl_slist){.data = command, .next = *first};
    *first = &c->list[i];
}

bool xd_ftp_commands_apply(struct xd_ftp_commands *c, CURL *e,
                           const struct xd_url *url, uint64_t begin,
                           bool asks_size, bool asks_time)
{
    struct curl_slist *first = NULL;

    xd_ftp_commands_fini(c);
    /* "*" makes libcurl ignore a refusal of the command. */
    if (asks_size && (!make_command(&c->size, "SIZE", e, url) ||
                      (asks_time && !make_command(&c->time, "*MDTM", e, url))))
        return false;
    snprintf(c->rest, sizeof c->rest, "REST %" PRIu64, begin);
    put_first(c, 2, begin > 0 ? c->rest : NULL, &first);
    put_first(c, 1, c->time, &first);
    put_first(c, 0, c->size, &first);
    return curl_easy_setopt(e, CURLOPT_PREQUOTE, first) == CURLE_OK &&
           curl_easy_setopt(e, CURLOPT_IGNORE_CONTENT_LENGTH, 1L) == CURLE_OK;
}

bool xd_ftp_commands_clear(struct xd_ftp_commands *c, CURL *e)
{
    xd_ftp_commands_fini(c);
    return curl_easy_setopt(e, CURLOPT_PREQUOTE, NULL) == CURLE_OK &&
           curl_easy_setopt(e, CURLOPT_IGNORE_CONTENT_LENGTH, 0L) == CURLE_OK;
}

void xd_ftp_commands_fini(struct xd_ftp_commands *c)
{
    xd_free(c->size);
    xd_free(c->time);
    *c = (struct xd_ftp_commands){.size = NULL};
}

/* SPDX-License-Identifier: MIT */
#include "depot/depot_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/http_words.h"
#include "depot/depot_page.h"
#include "depot/stream.h"

#define ID_DIGITS 16

/* This bit is set in IDs that are made from connections, and clear in IDs that
 * clients send. */
#define OF_CONNECTION ((uint64_t)1 << 63)

/* Returns the ID that the client sent, or else an ID for its connection. */
static uint64_t client_id(const struct http_request *r)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *said = answer_asked(r->connection, DEPOT_CLIENT);

    if (said == NULL || strspn(said, digits) != ID_DIGITS ||
        said[ID_DIGITS] != '\0')
        return r->number | OF_CONNECTION;
    return strtoull(said, NULL, 16) & ~OF_CONNECTION;
}

/* Returns a number that identifies the client's host: its IPv4 address, or the
 * first 64 bits of its IPv6 address, which identify a network. */
static uint64_t host_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    uint64_t host = 0;

    if (i == NULL)
        return 0;
    if (i->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)i->client_addr;
        memcpy(&host, &in->sin_addr, sizeof in->sin_addr);
    } else if (i->client_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)i->client_addr;
        memcpy(&host, &in->sin6_addr, sizeof host);
    }
    return host;
}

/* A request for a file. */
struct asked {
    struct stream_of of;
    struct answer_file f;
    enum http_range kind;
    uint64_t begin, end;
    char next[60]; /* value of the header DEPOT_NEXT, or "" */
};

/* Registers the client and the range that it has requested.  Finds the range
 * that it should request next. */
static void enter_client(struct asked *a, const struct http_request *r)
{
    struct depot_file *file = a->of.file;
    uint64_t begin, end;

    pthread_mutex_lock(&a->of.files->lock);
    struct xd_circus_client *client =
        files_client_locked(file, a->of.is_for.id);
    a->of.client = client;
    if (client != NULL) {
        a->of.is_asked = r->is_get && a->kind != HTTP_RANGE_OUTSIDE &&
                         xd_circus_ask(file->circus, client, a->begin, a->end);
        if (xd_circus_next(file->circus, client, files_now(), &begin, &end))
            snprintf(a->next, sizeof a->next, "bytes=%" PRIu64 "-%" PRIu64,
                     begin, end - 1);
    }
    pthread_mutex_unlock(&a->of.files->lock);
}

/* Releases the client and the file because nothing will be sent.  Removes the
 * record of the requested range. */
static void leave(const struct asked *a)
{
    pthread_mutex_lock(&a->of.files->lock);
    if (a->of.client != NULL) {
        if (a->of.is_asked)
            xd_circus_drop(a->of.file->circus, a->of.client, a->begin, a->end);
        xd_circus_leave(a->of.file->circus, a->of.client, files_now());
    }
    files_leave_locked(a->of.files, a->of.file);
    pthread_mutex_unlock(&a->of.files->lock);
}

/* Responds with the file or with the requested range. */
static struct answer answer_bytes(const struct asked *a,
                                  const struct http_request *r)
{
    struct MHD_Response *response =
        r->is_get ? stream_new(&a->of, r->connection, a->begin, a->end)
                  : stream_head(a->f.size);

    struct answer answer = {0};
    if (response != NULL)
        answer = answer_part(&a->f, a->kind, a->begin, a->end, response);
    if (response == NULL || !r->is_get)
        leave(a);
    return answer;
}

static struct answer answer_file_asked(struct asked *a,
                                       const struct http_request *r)
{
    const unsigned unsent = answer_condition(r->connection, &a->f);
    struct answer answer;

    a->end = a->f.size;
    if (unsent == 0 && r->is_get)
        a->kind = answer_range(r->connection, &a->f, &a->begin, &a->end);
    if (unsent == 0)
        enter_client(a, r);
    if (unsent != 0 || a->kind == HTTP_RANGE_OUTSIDE) {
        answer =
            unsent != 0 ? answer_unsent(unsent, &a->f) : answer_outside(&a->f);
        leave(a);
    } else {
        answer = answer_bytes(a, r);
    }
    if (answer.response != NULL && a->next[0] != '\0')
        answer_header(answer.response, DEPOT_NEXT, a->next);
    return answer;
}

static struct answer answer_file_at(struct depot *d, const char *path,
                                    const struct http_request *r)
{
    unsigned status;
    const struct depot_client client = {host_of(r->connection), client_id(r)};
    struct depot_file *file = files_enter(&d->files, path, &client, &status);

    if (file == NULL)
        return answer_status(status);
    struct asked a = {
        .of = {.files = &d->files, .file = file, .is_for = client},
        .f = {.size = file->io.size,
              .type = http_type(path),
              .etag = file->etag,
              .modified = files_modified(file)},
        .kind = HTTP_RANGE_NONE};
    return answer_file_asked(&a, r);
}

static struct answer answer_page(struct depot *d, const struct http_request *r)
{
    const char *format = MHD_lookup_connection_value(
        r->connection, MHD_GET_ARGUMENT_KIND, "format");
    const bool is_json = format != NULL && strcmp(format, "json") == 0;
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return (struct answer){0};
    if (is_json)
        depot_json_put(to, d, r->server);
    else
        depot_page_put(to, d, r->server);
    fclose(to);
    return answer_text(MHD_HTTP_OK, text, len,
                       is_json ? "application/json"
                               : "text/html; charset=utf-8");
}

struct answer depot_answer(void *user, const struct http_request *r)
{
    struct depot *d = user;
    const size_t len = strlen(d->root);

    if (!r->is_get && !r->is_head)
        return answer_status(MHD_HTTP_METHOD_NOT_ALLOWED);
    if (strncmp(r->path, d->root, len) != 0)
        return answer_status(MHD_HTTP_NOT_FOUND);
    return r->path[len] == '\0' ? answer_page(d, r)
                                : answer_file_at(d, r->path + len, r);
}

/* SPDX-License-Identifier: MIT */
#include "via/via_nginx.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "common/status.h"
#include "common/text.h"
#include "common/words.h"
#include "make/whole_file.h"
#include "mesh/node_list.h"
#include "nodes/nginx.h"

#define CHUNK (UINT64_C(256) << 10)
#define HOPS 2

/* Paths at which distributions store the trusted CA certificates. */
static const char *const ca_files[] = {
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

struct writing {
    const struct args *args;
    struct xd_mesh *mesh;
    struct xd_mesh_nginx how;
    char ca_file[PATH_MAX];
};

static int fail(const struct xd_error *err)
{
    words_error("%s", err->msg);
    return err->code == XD_E_MANIFEST || err->code == XD_E_INVAL
               ? STATUS_USAGE
               : status_of(err->code);
}

/* ---- the list of nodes ---- */

/* Writes the ID of a node.  For a node without an ID, `word` is its address.
 * Unlike its position in the list, the address does not change when other nodes
 * are added or removed. */
static void put_id(FILE *to, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        putc(word[i] == ':' ? '-' : word[i], to);
}

/* Writes the node given as "[ID=]HOST:PORT[,HOST:PORT...]". */
static void put_node(FILE *to, const char *word)
{
    const char *equals = strchr(word, '='), *at = equals ? equals + 1 : word;

    fputs("node ", to);
    put_id(to, word, equals ? (size_t)(equals - word) : strcspn(word, ","));
    while (*at != '\0') {
        const size_t len = strcspn(at, ",");

        fprintf(to, " %s%.*s", strstr(at, "://") == NULL ? "http://" : "",
                (int)len, at);
        at += len + (at[len] == ',');
    }
    putc('\n', to);
}

static void put_list(FILE *to, const struct args *a)
{
    const struct via_args *v = &a->via;

    fprintf(to, "xdownload nodes 1\nchunk %" PRIu64 "\nhops %d\n",
            v->chunk > 0 ? v->chunk : CHUNK, v->hops > 0 ? (int)v->hops : HOPS);
    for (size_t i = 0; i < v->n_origins; i++)
        fprintf(to, "origin %s\n", v->origins[i]);
    for (size_t i = 0; i < a->n_inputs; i++)
        put_node(to, a->inputs[i]);
}

/* Refuses words with blanks, because blanks separate the words of the list.
 * Also refuses words without a port. */
static int check_words(const struct args *a)
{
    for (size_t i = 0; i < a->n_inputs; i++)
        if (strpbrk(a->inputs[i], " \t\r\n") != NULL ||
            strchr(a->inputs[i], ':') == NULL)
            return words_usage("invalid node '%s': use HOST:PORT, or "
                               "ID=HOST:PORT",
                               a->inputs[i]);
    for (size_t i = 0; i < a->via.n_origins; i++)
        if (strpbrk(a->via.origins[i], " \t\r\n") != NULL)
            return words_usage("invalid origin '%s': there is a blank in it",
                               a->via.origins[i]);
    return 0;
}

static int parse_words(struct writing *w)
{
    struct xd_error err;
    char *text = NULL;
    size_t len = 0;
    int rc, status = check_words(w->args);
    FILE *to;

    if (status != 0)
        return status;
    to = open_memstream(&text, &len);
    if (to != NULL)
        put_list(to, w->args);
    if (to == NULL || fclose(to) != 0) {
        free(text);
        words_error("out of memory");
        return STATUS_FAILED;
    }
    rc = xd_mesh_parse(&w->mesh, text, len, "the mesh", &err);
    free(text);
    return rc < 0 ? fail(&err) : 0;
}

/* ---- files ---- */

/* Makes the path DIR/NODES, DIR/ID or DIR/ID/nginx.conf.  Returns false if it
 * is too long. */
static bool path_of(char out[PATH_MAX], const struct args *a, const char *id,
                    const char *file)
{
    const int n = snprintf(out, PATH_MAX, "%s%s%s%s%s", a->output,
                           id != NULL ? "/" : "", id != NULL ? id : "",
                           file != NULL ? "/" : "", file != NULL ? file : "");

    return n > 0 && n < PATH_MAX;
}

static int make_folder(const struct args *a, const char *id)
{
    char path[PATH_MAX];

    if (!path_of(path, a, id, NULL))
        errno = ENAMETOOLONG;
    else if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    words_error("the folder %s cannot be made: %s", path, strerror(errno));
    return STATUS_LOCAL;
}

static int check_file(const struct args *a, const char *id, const char *file)
{
    char path[PATH_MAX];

    if (!path_of(path, a, id, file))
        return STATUS_LOCAL;
    return whole_file_check(path, args_is_on(a, "force"));
}

static int write_file(const struct args *a, const char *id, const char *file,
                      const char *text)
{
    char path[PATH_MAX];

    if (!path_of(path, a, id, file))
        return STATUS_LOCAL;
    return whole_file_write(path, text, strlen(text), args_is_on(a, "force"));
}

/* Creates all folders, and checks that none of the files exists already, so
 * that nothing is left half done. */
static int prepare(const struct writing *w)
{
    const char *id;
    int status = make_folder(w->args, NULL);

    if (status == 0)
        status = check_file(w->args, NULL, "NODES");
    for (size_t i = 0;
         status == 0 && (id = xd_mesh_node_id(w->mesh, i)) != NULL; i++) {
        status = make_folder(w->args, id);
        if (status == 0)
            status = check_file(w->args, id, "nginx.conf");
    }
    return status;
}

static int write_node(const struct writing *w, size_t i)
{
    struct xd_error err;
    char *text;
    int status;

    if (xd_mesh_nginx_text(w->mesh, i, &w->how, &text, &err) < 0)
        return fail(&err);
    status =
        write_file(w->args, xd_mesh_node_id(w->mesh, i), "nginx.conf", text);
    xd_mesh_text_free(text);
    return status;
}

/* Writes all files.  The list is written last, so that its existence means that
 * all configurations exist. */
static int write_all(const struct writing *w)
{
    char *text;
    int status = prepare(w);

    for (size_t i = 0; status == 0 && i < xd_mesh_n_nodes(w->mesh); i++)
        status = write_node(w, i);
    if (status != 0)
        return status;
    text = xd_mesh_write(w->mesh);
    if (text == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    status = write_file(w->args, NULL, "NODES", text);
    xd_mesh_text_free(text);
    return status;
}

/* ---- command ---- */

/* Makes the path absolute, because nginx would resolve a relative path in the
 * folder of the node. */
static bool make_absolute(char out[PATH_MAX], const char *path)
{
    char here[PATH_MAX] = "";
    int n;

    if (access(path, R_OK) < 0 ||
        (path[0] != '/' && getcwd(here, sizeof here) == NULL))
        return false;
    n = snprintf(out, PATH_MAX, "%s%s%s", here, path[0] != '/' ? "/" : "",
                 path);
    errno = ENAMETOOLONG;
    return n > 0 && n < PATH_MAX;
}

static int choose_ca_file(struct writing *w)
{
    const char *given = args_value(w->args, "cacert");

    if (given != NULL && !make_absolute(w->ca_file, given)) {
        words_error("%s: %s", given, strerror(errno));
        return STATUS_LOCAL;
    }
    if (given != NULL)
        w->how.ca_file = w->ca_file;
    for (size_t i = 0; i < sizeof ca_files / sizeof *ca_files; i++)
        if (w->how.ca_file == NULL && access(ca_files[i], R_OK) == 0)
            w->how.ca_file = ca_files[i];
    return 0;
}

static void print_written(const struct writing *w)
{
    const size_t n = xd_mesh_n_nodes(w->mesh);

    if (w->args->quiet)
        return;
    text_put(stderr, w->args->output);
    fprintf(stderr,
            "/NODES: %zu %s, for xdownload --via; each has a folder there: "
            "start it by nginx -p FOLDER -c nginx.conf\n",
            n, n == 1 ? "node" : "nodes");
}

int via_nginx(const struct args *a)
{
    struct writing w = {.args = a,
                        .how = {.cache_bytes = a->via.cache,
                                .fill_s = (uint64_t)a->via.fill_s}};
    int status = choose_ca_file(&w);

    if (status == 0)
        status = parse_words(&w);
    if (status == 0)
        status = write_all(&w);
    if (status == 0)
        print_written(&w);
    xd_mesh_free(w.mesh);
    return status;
}

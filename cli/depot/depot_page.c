/* SPDX-License-Identifier: MIT */
#include "depot/depot_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/http_words.h"
#include "common/json.h"
#include "common/units.h"
#include "depot/depot_answer.h"
#include "http/page.h"

/* The statistics of one file. */
struct standing {
    char *name; /* a copy; NULL: memory ran out */
    uint64_t size, disk_bytes, sent;
    bool has_region;
    struct xd_circus_state state;
};

/* The statistics of all files. */
struct standings {
    struct standing files[FILES_MOST];
    size_t n;
    uint64_t disk_bytes, sent; /* sums, including files that were closed */
    unsigned n_clients;
};

static struct standing look_locked(struct depot_file *file)
{
    struct standing s = {.name = strdup(file->name),
                         .size = file->io.size,
                         .disk_bytes = file->io.bytes,
                         .sent = file->sent,
                         .has_region = file->circus != NULL};

    if (s.has_region)
        xd_circus_get(file->circus, files_now(), &s.state);
    return s;
}

/* Returns the statistics, which the caller releases with free_standings(), or
 * NULL if memory runs out. */
static struct standings *look(struct depot_files *f)
{
    struct standings *all = calloc(1, sizeof *all);

    if (all == NULL)
        return NULL;
    pthread_mutex_lock(&f->lock);
    all->disk_bytes = f->disk_bytes;
    all->sent = f->sent;
    for (size_t i = 0; i < FILES_MOST; i++) {
        if (f->files[i].name == NULL)
            continue;
        const struct standing s = look_locked(&f->files[i]);
        all->disk_bytes += s.disk_bytes;
        all->sent += s.sent;
        all->n_clients += s.state.n_clients;
        all->files[all->n++] = s;
    }
    pthread_mutex_unlock(&f->lock);
    return all;
}

static void free_standings(struct standings *all)
{
    for (size_t i = 0; all != NULL && i < all->n; i++)
        free(all->files[i].name);
    free(all);
}

/* Returns the number of bytes read from disk per byte sent; NAN if no bytes
 * were sent. */
static double ratio(uint64_t disk_bytes, uint64_t sent)
{
    return sent > 0 ? (double)disk_bytes / (double)sent : (double)NAN;
}

static const char *name_of(const struct standing *s)
{
    return s->name != NULL ? s->name : "";
}

static void put_traffic(struct json *j, uint64_t disk_bytes, uint64_t sent)
{
    json_count(j, "disk_bytes", disk_bytes);
    json_count(j, "sent_bytes", sent);
    json_number(j, "disk_bytes_per_sent", ratio(disk_bytes, sent));
}

static void put_file(struct json *j, const struct standing *s)
{
    json_open_object(j, NULL);
    json_string(j, "name", name_of(s));
    json_count(j, "size", s->size);
    put_traffic(j, s->disk_bytes, s->sent);
    if (s->has_region) {
        json_open_object(j, "region");
        json_count(j, "begin", s->state.begin);
        json_count(j, "end", s->state.end);
        json_number(j, "bytes_per_s", s->state.bytes_per_s);
        json_close_object(j);
        json_count(j, "clients", s->state.n_clients);
        json_count(j, "following", s->state.n_following);
        json_count(j, "independent", s->state.n_independent);
    }
    json_close_object(j);
}

void depot_json_put(FILE *to, struct depot *d, const struct http_server *s)
{
    struct standings *all = look(&d->files);
    struct json j;

    if (all == NULL)
        return;
    json_begin(&j, to);
    json_count(&j, "connections", http_server_connections(s));
    json_count(&j, "clients", all->n_clients);
    put_traffic(&j, all->disk_bytes, all->sent);
    json_open_array(&j, "files");
    for (size_t i = 0; i < all->n; i++)
        put_file(&j, &all->files[i]);
    json_close_array(&j);
    json_finish(&j);
    free_standings(all);
}

static const char columns[] =
    "<table>\n<thead><tr><th scope=\"col\">file<th scope=\"col\">size"
    "<th scope=\"col\">in memory<th scope=\"col\">moves at"
    "<th scope=\"col\">clients<th scope=\"col\">following"
    "<th scope=\"col\">independent<th scope=\"col\">from the disk"
    "<th scope=\"col\">sent</thead>\n<tbody>\n";

static void put_region(FILE *to, const struct standing *s)
{
    char begin[UNITS_SIZE], end[UNITS_SIZE], rate[UNITS_SIZE];

    if (!s->has_region) {
        fputs("<td>all of it<td><td><td><td>", to);
        return;
    }
    fprintf(to, "<td>%s to %s<td>%s<td>%u<td>%u<td>%u",
            units_size(begin, s->state.begin), units_size(end, s->state.end),
            units_rate(rate, s->state.bytes_per_s), s->state.n_clients,
            s->state.n_following, s->state.n_independent);
}

static void put_row(FILE *to, const struct standing *s)
{
    char size[UNITS_SIZE], disk[UNITS_SIZE], sent[UNITS_SIZE];

    fputs("<tr><td>", to);
    http_put_html(to, name_of(s));
    fprintf(to, "<td>%s", units_size(size, s->size));
    put_region(to, s);
    fprintf(to, "<td>%s<td>%s\n", units_size(disk, s->disk_bytes),
            units_size(sent, s->sent));
}

void depot_page_put(FILE *to, struct depot *d, const struct http_server *s)
{
    struct standings *all = look(&d->files);
    char disk[UNITS_SIZE], sent[UNITS_SIZE];

    if (all == NULL)
        return;
    page_begin(to, "xdownload depot");
    fputs("</head>\n<body>\n<h1>xdownload depot</h1>\n", to);
    fprintf(to, "<p>%u connections, %u clients; %s read, %s sent",
            http_server_connections(s), all->n_clients,
            units_size(disk, all->disk_bytes), units_size(sent, all->sent));
    if (all->sent > 0)
        fprintf(to, ": %.3f bytes from the disk for each",
                ratio(all->disk_bytes, all->sent));
    fputs(".  <a href=\"?format=json\">As JSON</a></p>\n", to);
    fputs(columns, to);
    for (size_t i = 0; i < all->n; i++)
        put_row(to, &all->files[i]);
    fputs("</tbody></table>\n</body>\n</html>\n", to);
    free_standings(all);
}

/* SPDX-License-Identifier: MIT */
#include "serve/serve_page.h"

#include <inttypes.h>
#include <string.h>

#include "common/http_words.h"
#include "common/snapshot.h"
#include "common/text.h"
#include "common/units.h"
#include "http/page.h"
#include "serve/board.h"

/* The addresses are relative to the page, because the address of the page may
 * contain a token. */
static const char head[] =
    "<link rel=\"icon\" type=\"image/svg+xml\" href=\"icon.svg\">\n"
    "<link rel=\"stylesheet\" href=\"page.css\">\n"
    "<script src=\"page.js\" defer></script>\n"
    "</head>\n<body>\n"
    "<header>\n<h1>xdownload</h1>\n"
    "<p><a href=\"playlist.m3u\">playlist.m3u</a></p>\n"
    "<p id=\"live\" role=\"status\"></p>\n"
    "<noscript><p>These are the figures of when the page was loaded; "
    "<a href=\"?\">load it again</a>.</p></noscript>\n"
    "</header>\n<main>\n";

/* Prints the rows of the depots.  Returns how many depots were left out. */
static size_t put_depot_rows(FILE *to, struct xd_download *d)
{
    struct xd_depot_stats depot = {.struct_size = sizeof depot};
    char rate[UNITS_SIZE], bytes[UNITS_SIZE];
    size_t i = 0, n = 0;

    for (; xd_download_depot(d, i, &depot) == 0; i++) {
        if (!board_lists_depot(i, depot.state, depot.requests, n))
            continue;
        n++;
        fputs("<tr><td>", to);
        http_put_html(to, depot.host);
        fprintf(
            to, "<td>%s<td>%s<td>%s<td>%u<td>%u\n", snapshot_state(depot.state),
            units_rate(rate, depot.bytes_per_s), units_size(bytes, depot.bytes),
            depot.connections, depot.failures);
    }
    return i - n;
}

/* Prints the table of depots.  `d` is NULL if the file is not open. */
static void put_depots(FILE *to, struct xd_download *d)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Depots\"><table>\n<caption>Depots</caption>\n"
          "<thead><tr><th scope=\"col\">depot<th scope=\"col\">state"
          "<th scope=\"col\">rate<th scope=\"col\">bytes"
          "<th scope=\"col\">connections<th scope=\"col\">failures</thead>\n"
          "<tbody>\n",
          to);
    const size_t n_more = d != NULL ? put_depot_rows(to, d) : 0;
    fputs("</tbody></table></div>\n<p class=\"more\">", to);
    if (n_more > 0)
        fprintf(to, "and %zu more, in reserve", n_more);
    fputs("</p>\n", to);
}

/* Returns the name of the HTML element for a media type that browsers can play,
 * or NULL. */
static const char *player_element(const char *type)
{
    static const char *const videos[] = {"video/mp4", "video/webm",
                                         "video/ogg"};

    if (strncmp(type, "audio/", 6) == 0)
        return "audio";
    for (size_t i = 0; i < sizeof videos / sizeof *videos; i++)
        if (strcmp(type, videos[i]) == 0)
            return "video";
    return NULL;
}

/* Prints the player.  It loads nothing before the user starts it. */
static void put_player(FILE *to, const struct catalog_file *f)
{
    const char *element = player_element(f->type);

    if (element == NULL)
        return;
    fprintf(to,
            "<div class=\"player\"><%s controls preload=\"none\" src=\"%s\" "
            "data-type=\"%s\" aria-label=\"",
            element, f->link, f->type);
    http_put_html(to, f->name);
    fprintf(to, "\"></%s>\n<p class=\"stalls\"></p></div>\n", element);
}

static void put_summary(FILE *to, const struct catalog_file *f,
                        struct xd_download *d)
{
    struct xd_progress p = {.struct_size = sizeof p, .bytes_total = f->size};
    char here[UNITS_SIZE], all[UNITS_SIZE], rate[UNITS_SIZE];

    if (d != NULL)
        xd_download_progress(d, &p);
    fprintf(to, "<p class=\"summary\">%s", units_size(here, p.bytes_done));
    if (p.bytes_total != XD_SIZE_UNKNOWN)
        fprintf(to, " of %s", units_size(all, p.bytes_total));
    fprintf(to, " here, %s</p>\n", units_rate(rate, p.bytes_per_s));
}

static void put_file(FILE *to, const struct catalog_file *f, size_t number,
                     struct xd_download *d)
{
    fprintf(to,
            "<section data-file=\"%zu\" aria-labelledby=\"name-%zu\">\n"
            "<h2 id=\"name-%zu\"><a href=\"%s\">",
            number, number, number, f->link);
    http_put_html(to, f->name[0] != '\0' ? f->name : "(without a name)");
    fputs("</a></h2>\n", to);
    put_player(to, f);
    fputs("<div class=\"figures\">\n", to);
    put_summary(to, f, d);
    fputs("<div class=\"charts\"></div>\n", to);
    put_depots(to, d);
    fputs("</div>\n</section>\n", to);
}

void serve_page_put(FILE *to, struct catalog *s)
{
    page_begin(to, "xdownload");
    fputs(head, to);
    for (size_t i = 0; i < s->n; i++) {
        struct catalog_source *of = catalog_look_at(s, &s->files[i]);
        put_file(to, &s->files[i], i + 1,
                 of != NULL ? xd_source_download(of->source) : NULL);
        if (of != NULL)
            catalog_leave(s, of, CATALOG_OTHER);
    }
    fputs("</main>\n</body>\n</html>\n", to);
}

void serve_playlist_put(FILE *to, const struct catalog *s, const char *host)
{
    fputs("#EXTM3U\n", to);
    for (size_t i = 0; i < s->n; i++) {
        fputs("#EXTINF:-1,", to);
        text_put(to, s->files[i].name);
        fprintf(to, "\nhttp://%s%s\n", host, s->files[i].link);
    }
}

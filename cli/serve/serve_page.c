#include "serve/serve_page.h"

#include <inttypes.h>

#include "common/http_words.h"
#include "common/snapshot.h"
#include "common/text.h"
#include "common/units.h"

/* It asks for itself again, without a script. */
static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"refresh\" content=\"2\">\n"
    "<title>xdownload</title>\n"
    "<style>body { font-family: sans-serif } td, th { padding: 0 1em 0 0;\n"
    "text-align: left }</style></head><body>\n";

static void put_depots(FILE *to, struct xd_download *d)
{
    struct xd_depot_stats depot = {.struct_size = sizeof depot};
    char rate[UNITS_SIZE], bytes[UNITS_SIZE];

    fputs("<table>\n<tr><th>depot<th>state<th>rate<th>bytes<th>failures\n", to);
    for (size_t i = 0; xd_download_depot(d, i, &depot) == 0; i++) {
        fputs("<tr><td>", to);
        http_put_html(to, depot.host);
        fprintf(to, "<td>%s<td>%s<td>%s<td>%u\n", snapshot_state(depot.state),
                units_rate(rate, depot.bytes_per_s),
                units_size(bytes, depot.bytes), depot.failures);
    }
    fputs("</table>\n", to);
}

static void put_file(FILE *to, const struct shelf_file *f)
{
    struct xd_download *d = xd_source_download(f->source);
    struct xd_progress p = {.struct_size = sizeof p};
    char here[UNITS_SIZE], all[UNITS_SIZE], rate[UNITS_SIZE];

    xd_download_progress(d, &p);
    fprintf(to, "<h2><a href=\"%s\">", f->link);
    http_put_html(to, f->name[0] != '\0' ? f->name : "(without a name)");
    fputs("</a></h2>\n<p>", to);
    if (p.bytes_total == XD_SIZE_UNKNOWN)
        fprintf(to, "%s here", units_size(here, p.bytes_done));
    else
        fprintf(to, "%s of %s here", units_size(here, p.bytes_done),
                units_size(all, p.bytes_total));
    fprintf(to, ", %s</p>\n", units_rate(rate, p.bytes_per_s));
    put_depots(to, d);
}

void serve_page_put(FILE *to, const struct shelf *s)
{
    fputs(head, to);
    fprintf(to, "<p><a href=\"%splaylist.m3u\">playlist.m3u</a></p>\n",
            s->root);
    for (size_t i = 0; i < s->n; i++)
        put_file(to, &s->files[i]);
    fputs("</body></html>\n", to);
}

void serve_playlist_put(FILE *to, const struct shelf *s, const char *host)
{
    fputs("#EXTM3U\n", to);
    for (size_t i = 0; i < s->n; i++) {
        fputs("#EXTINF:-1,", to);
        text_put(to, s->files[i].name);
        fprintf(to, "\nhttp://%s%s\n", host, s->files[i].link);
    }
}

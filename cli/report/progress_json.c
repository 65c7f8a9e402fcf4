/* SPDX-License-Identifier: MIT */
#include "report/progress_json.h"

#include "common/json.h"

void progress_json_put(FILE *to, const struct snapshot *s, const char *file,
                       const char *outcome, const char *error)
{
    const struct xd_progress *p = &s->progress;
    uint64_t connections = 0;
    struct json j;

    for (size_t i = 0; i < s->n_depots; i++)
        connections += s->depots[i].connections;

    json_init(&j, to);
    json_open_object(&j, NULL);
    json_string(&j, "file", file);
    json_size(&j, "size", p->bytes_total);
    json_number(&j, "seconds", p->seconds);
    json_count(&j, "bytes_done", p->bytes_done);
    json_count(&j, "bytes_received", p->bytes_received);
    json_count(&j, "bytes_redundant", p->bytes_redundant);
    json_number(&j, "rate", p->bytes_per_s);
    json_count(&j, "requests_running", p->lanes_busy);
    json_count(&j, "connections", connections);
    json_count(&j, "depots_open", p->depots_open);
    json_count(&j, "depots_reserve", p->depots_reserve);
    json_count(&j, "depots_failed", p->depots_failed);
    json_string(&j, "outcome", outcome);
    json_string(&j, "error", error);
    json_close_object(&j);
    json_end(&j);
}

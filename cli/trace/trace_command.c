/* SPDX-License-Identifier: MIT */
#include "trace/trace_command.h"

#include <string.h>

#include "common/output.h"
#include "common/status.h"
#include "common/words.h"
#include "trace/draw.h"
#include "trace/profile.h"
#include "trace/trace_scenario.h"
#include "trace/trace_summary.h"

/* What the trace lacks, which the user sees in what is made of it. */
static void print_warnings(const struct args *a, const struct profile *p)
{
    const char *path = a->inputs[0];

    if (a->quiet)
        return;
    if (p->is_torn)
        words_error("%s: ends in the middle: what is missing had not been "
                    "written when its run ended",
                    path);
    if (p->lost > 0)
        words_error("%s: %llu requests were lost: more than 4096 ended in a "
                    "tenth of a second",
                    path, (unsigned long long)p->lost);
    if (p->n_runs > 1 && a->trace_run == 0)
        words_error("%s: has %u runs, and this is run %u: --run N chooses",
                    path, p->n_runs, p->run);
}

static int put(const struct args *a, const struct profile *p, FILE *to)
{
    if (a->scenario != NULL)
        return scenario_put(to, p, a->inputs[0]);
    if (a->in_words)
        summary_of_trace(to, p);
    else
        draw_profile(to, p);
    return 0;
}

int trace_command(const struct args *a)
{
    const char *path = a->scenario != NULL ? a->scenario : a->output;
    struct profile *p;
    FILE *to = stdout;

    int status = profile_read(&p, a->inputs[0], a->trace_run);
    if (status != 0)
        return status;
    print_warnings(a, p);
    if (path != NULL && strcmp(path, "-") != 0)
        status = output_open(&to, path,
                             a->scenario != NULL ? "the scenario"
                             : a->in_words       ? "the summary"
                                                 : "the picture");
    if (status == 0)
        status = put(a, p, to);
    if (to != NULL && to != stdout) {
        const bool has_failed = ferror(to);
        if (fclose(to) != 0 || has_failed) {
            words_error("%s: could not be written", path);
            status = STATUS_LOCAL;
        }
    }
    profile_free(p);
    return status;
}

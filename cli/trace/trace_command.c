/* SPDX-License-Identifier: MIT */
#include "trace/trace_command.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "common/installed.h"
#include "common/output.h"
#include "common/status.h"
#include "common/words.h"
#include "trace/profile.h"
#include "trace/trace_scenario.h"

/* Warns about gaps in the trace.  They also affect the scenario. */
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

static int write_scenario(const struct args *a)
{
    const bool is_file = strcmp(a->scenario, "-") != 0;
    struct profile *p;
    FILE *to = stdout;

    int status = profile_read(&p, a->inputs[0], a->trace_run);
    if (status != 0)
        return status;
    print_warnings(a, p);
    if (is_file)
        status = output_open(&to, a->scenario, "the scenario");
    if (status == 0)
        status = scenario_put(to, p, a->inputs[0]);
    profile_free(p);
    if (to == NULL || !is_file)
        return status;
    const bool has_failed = ferror(to);
    if (fclose(to) == 0 && !has_failed)
        return status;
    words_error("%s: could not be written", a->scenario);
    return STATUS_LOCAL;
}

/* Redirects standard output to the file of --output, if it is given. */
static int redirect(const struct args *a)
{
    FILE *to;

    if (a->output == NULL || args_to_stdout(a))
        return 0;
    const int status = output_open(&to, a->output,
                                   a->in_words ? "the summary" : "the picture");
    if (status != 0)
        return status;
    if (dup2(fileno(to), STDOUT_FILENO) >= 0)
        return 0;
    words_error("%s: could not be written", a->output);
    return STATUS_LOCAL;
}

/* Runs a script that draws the run, or describes it in words. */
static int show(const struct args *a)
{
    const char *words[7];
    char run[20];
    size_t n = 0;

    if (a->quiet)
        words[n++] = "-q";
    if (a->in_words)
        words[n++] = "--summary";
    snprintf(run, sizeof run, "--run=%u", a->trace_run);
    words[n++] = run;
    words[n++] = "--";
    words[n++] = a->inputs[0];
    words[n] = NULL;
    const int status = redirect(a);
    return status != 0 ? status : installed_run("trace-show.py", words);
}

int trace_command(const struct args *a)
{
    return a->scenario != NULL ? write_scenario(a) : show(a);
}

/* SPDX-License-Identifier: MIT */
/*
 * The xdownload command.  For downloads and uploads it uses the public headers,
 * so a program that links the library can do the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "args/args.h"
#include "bench/bench.h"
#include "check/check.h"
#include "common/status.h"
#include "common/words.h"
#include "complete/complete.h"
#include "depot/depot.h"
#include "get/get.h"
#include "get/present.h"
#include "make/make.h"
#include "play/play.h"
#include "put/put.h"
#include "serve/serve.h"
#include "show/show.h"
#include "trace/trace.h"
#include "trace/trace_command.h"
#include "upkeep/upkeep.h"
#include "via/via.h"

/* If descriptor 0, 1 or 2 is closed, a file opened later could get its number,
 * and messages would be written to that file.  So this function opens /dev/null
 * with that number.  The mode is wrong on purpose, so that using the descriptor
 * fails. */
static bool has_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int unusable = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", unusable) != fd)
            return false;
    }
    return true;
}

static int run(const struct args *a)
{
    switch (a->command) {
    case COMMAND_GET:
        return get_all(a);
    case COMMAND_SHOW:
        return show_manifest(a);
    case COMMAND_VERIFY:
        return present_verify(a);
    case COMMAND_PLAY:
        return play_inputs(a);
    case COMMAND_SERVE:
        return serve_inputs(a);
    case COMMAND_BENCH:
        return bench_run(a);
    case COMMAND_TRACE:
        return trace_command(a);
    case COMMAND_PUT:
        return put_file(a);
    case COMMAND_ADD:
        return put_copies(a);
    case COMMAND_MAKE:
        return make_manifest(a);
    case COMMAND_CHECK:
        return check_depots(a);
    case COMMAND_DROP:
        return upkeep_drop(a);
    case COMMAND_RENEW:
        return upkeep_renew(a);
    case COMMAND_DEPOT:
        return depot_serve(a);
    case COMMAND_VIA:
        return via_command(a);
    }
    return STATUS_USAGE;
}

/* Runs the command.  If --trace is given, opens the trace first. */
static int run_traced(struct args *a)
{
    int status = 0, closed;

    if (a->trace != NULL && !a->dry_run)
        status = trace_open(&a->tracer, a->trace);
    if (status != 0)
        return status;
    status = run(a);
    closed = trace_close(a->tracer);
    return status != 0 ? status : closed;
}

/* Reports an error if standard output could not be written. */
static int close_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == EPIPE)
        return STATUS_PIPE;
    words_error("standard output cannot be written: %s", strerror(errno));
    return status != 0 ? status : STATUS_LOCAL;
}

int main(int argc, char **argv)
{
    struct args args;

    if (!has_standard_files())
        return STATUS_LOCAL;
    /* writing to a closed pipe reports EPIPE instead */
    signal(SIGPIPE, SIG_IGN);
    /* for the encoding of host names on the command line */
    setlocale(LC_CTYPE, "");
    setvbuf(stderr, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], COMPLETE_WORD) == 0)
        return close_output(complete_print(argc - 2, argv + 2));
    int status = args_parse(&args, argc, argv);
    if (status == 0 && !args.done)
        status = run_traced(&args);
    args_fini(&args);
    return close_output(status);
}

/* SPDX-License-Identifier: MIT */
/*
 * Records what downloads do in the Chrome trace event format, as a JSON array
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU),
 * which Perfetto opens.  Times are microseconds since the trace began.
 *
 *     event                     ph  what
 *     xdownload_trace           M   the version of this format
 *     process_name              M   a run, which is one download; pid counts them
 *     thread_name               M   a lane: requests of a depot, one at a time
 *     begin, end                i   of a run
 *     ok, canceled, net...      X   a request, named by its outcome
 *     bytes, player, a depot    C   counters
 *     read                      B,E a reader of a file that is served
 *     a line of the log         i   what was decided, and why
 *
 * The file is written as it goes: of a run that is killed all is there but the
 * last moment, and the closing bracket, which the format does not require.
 * URLs in it are those that messages show, without logins and queries.
 *
 * It stands in the command, and on the public headers alone: a program that
 * links the library has its own format, or none.
 *
 * Threads: a run is looked at by one thread at a time; all else by any.
 * NULL in place of a trace or a run: nothing is recorded.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <xdownload/simulate.h>
#include <xdownload/stream.h>

struct trace;
struct trace_run;

/* The file is made, or emptied.  Returns 0, or a status after the reason was
 * said.  Ownership: *out is the caller's, to release with trace_close(). */
int trace_open(struct trace **out, const char *path);

/* Returns 0, or a status after it was said that not all could be written. */
int trace_close(struct trace *t);

/*
 * A run begins, whose options have `records`.  NULL also without memory.
 * Ownership: the run is the caller's, to release with trace_end(), after which
 *            `d` and `viewer` may be released.
 */
struct trace_run *trace_begin(struct trace *t, const char *name,
                              struct xd_download *d);

/* What is played is what is reported to this reader; NULL: nothing any more. */
void trace_viewer(struct trace_run *r, struct xd_reader *viewer);

/* While `yes`, looks leave the records to the caller, which passes them to
 * trace_record(). */
void trace_leave_records(struct trace_run *r, bool yes);

/* Record what is new: to be called about ten times a second. */
void trace_look(struct trace_run *r);

/* A record that the caller has taken of the download. */
void trace_record(struct trace_run *r, const struct xd_fetch_record *record);

/* It has ended with `rc`, for which err->msg stands if it failed; XD_E_AGAIN:
 * it is left as it is. */
void trace_end(struct trace_run *r, int rc, const struct xd_error *err);

/* A whole run in virtual time, as `what` says. */
void trace_simulation(struct trace *t, const char *name, const char *algorithm,
                      const struct xd_simulation *sim,
                      const struct xd_simulate_what *what);

/* The xd_log_fn; `user` is the struct trace. */
void trace_log(void *user, enum xd_log_level level, const char *line);

/* A reader of the run's file begins at a byte; its number, for the other
 * two. */
unsigned trace_reader_begin(struct trace_run *r, uint64_t at);
void trace_reader_at(struct trace_run *r, unsigned reader, uint64_t at);
void trace_reader_end(struct trace_run *r, unsigned reader, uint64_t at);

#endif
